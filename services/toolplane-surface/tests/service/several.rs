//! Several processes of the role on one Redis: what one changes, all others and their schedulers know.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio::time::timeout;
use tonic::Code;
use toolplane_backend::{Backend, Keeper};
use toolplane_proto::v1;
use toolplane_proto::v1::SurfaceToolState as State;
use toolplane_proto::v1::catalog_change::Subject;
use toolplane_proto::v1::list_events_request::Subject as LogOf;
use toolplane_runtime::Config;
use toolplane_runtime::config::StoreBackend;
use toolplane_surface::SurfaceOptions;
use toolplane_testkit::redis::{RedisOptions, RedisServer};

use crate::role::{PATIENCE, Role, changed, options, tool};
use crate::sync::Subscriber;
use crate::watch::Watch;

/// The configuration of a role that keeps its state in this server.
pub(crate) fn on(server: &RedisServer) -> Config {
    let mut config = Config::default();
    config.store.backend = StoreBackend::Redis;
    config.store.redis.url = Some(server.url());
    config
}

/// Processes of the role over one Redis.
pub(crate) async fn several<const N: usize>(options: &SurfaceOptions) -> (RedisServer, [Role; N]) {
    let server = RedisServer::start(RedisOptions::default()).await.unwrap();
    let mut roles = Vec::new();
    for _ in 0..N {
        let backend = Backend::open(&on(&server), Keeper::Surface).await.unwrap();
        roles.push(Role::start_on(backend, options.clone()).await);
    }
    (server, roles.try_into().unwrap_or_else(|_| panic!("not {N} roles")))
}

fn titled(namespace: &str, name: &str, title: &str) -> v1::ToolRegistration {
    changed(tool(namespace, name), |tool| tool.title = title.to_owned())
}

fn deferred() -> v1::CreateSurfaceRequest {
    v1::CreateSurfaceRequest { defer_policy: v1::DeferPolicy::All.into(), ..Default::default() }
}

/// Whatever was answered by one is known to the other at once, in every order of who is asked.
#[tokio::test]
async fn what_one_process_answered_the_other_knows() {
    let (_server, [one, other]) = several(&options()).await;
    for round in 1..=20 {
        let (here, there) = if round % 2 == 0 { (&one, &other) } else { (&other, &one) };
        here.register(vec![titled("files", "read", &format!("round {round}"))]).await.unwrap();
        let surface = there.surface(deferred()).await.surface_id;
        assert_eq!(here.refusal(&surface, "files.read").await.kind(), v1::NotCallableKind::NotLoaded);
        here.load(&surface, &["files.read"]).await;
        let found = there.resolved(&surface, "files.read").await;
        assert_eq!(
            (found.revision, found.registration.unwrap().declaration.unwrap().title),
            (round, format!("round {round}"))
        );
    }
    let surface = other.surface(deferred()).await.surface_id;
    one.retire("tool_files_read").await.unwrap();
    assert_eq!(other.refusal(&surface, "files.read").await.kind(), v1::NotCallableKind::Retired);
    one.stop().await;
    other.stop().await;
}

/// A change through one process waits for the schedulers that follow the other, as it does for its own.
#[tokio::test]
async fn a_change_waits_for_the_schedulers_of_every_process() {
    let patient = SurfaceOptions { sync_patience: PATIENCE, ..options() };
    let (_server, [one, other]) = several(&patient).await;
    let mut follower = Subscriber::connect(&other).await;
    let mut registering = Box::pin(one.register(vec![tool("files", "read")]));
    let update = tokio::select! {
        update = follower.next() => update,
        _ = &mut registering => panic!("answered before anyone was told"),
    };
    assert_eq!(update.changes[0].subject, Some(Subject::ToolId("tool_files_read".to_owned())));
    assert!(
        timeout(Duration::from_millis(300), &mut registering).await.is_err(),
        "the scheduler has not acknowledged yet"
    );
    follower.acknowledge(update.catalog_revision).await;
    timeout(PATIENCE, registering).await.unwrap().unwrap();
    // What it is trusted with lasts, and is given anew whenever it asks.
    for beat in 2..5 {
        let answer = follower.ask(beat).await;
        assert!(answer.beat == beat && answer.trusted_for_ms > 0 && answer.changes.is_empty(), "{answer:?}");
        assert_eq!(answer.catalog_revision, update.catalog_revision);
    }
    follower.leave().await;
    one.stop().await;
    other.stop().await;
}

/// A scheduler that changes from one process to another is never told of less than it knew.
#[tokio::test]
async fn revisions_are_the_same_everywhere_and_never_go_back() {
    let (_server, roles) = several::<3>(&options()).await;
    let mut known = 0;
    for round in 0..12 {
        let (maker, next) = (&roles[round % 3], &roles[(round + 1) % 3]);
        maker.register(vec![titled("files", "read", &format!("round {round}"))]).await.unwrap();
        let (follower, first) = Subscriber::coming_from(next, known).await;
        assert!(first.catalog_revision > known, "{} after {known}", first.catalog_revision);
        known = first.catalog_revision;
        follower.leave().await;
    }
    let surface = roles[0].surface(v1::CreateSurfaceRequest::default()).await.surface_id;
    for role in &roles {
        assert_eq!(role.resolve(&surface, "files.read").await.catalog_revision, known);
    }
    for role in roles {
        role.stop().await;
    }
}

/// Many writers at once, through both: each change counts once, and no revision is given twice.
#[tokio::test]
async fn writers_in_two_processes_lose_nothing() {
    let (_server, [one, other]) = several(&options()).await;
    let made =
        join_all((0..20).map(|n| {
            let role = if n % 2 == 0 { &one } else { &other };
            async move {
                role.register(vec![titled("files", "read", &format!("by {n}")), tool("own", &format!("t{n}"))]).await
            }
        }));
    let made: Vec<_> = made.await.into_iter().map(|made| made.unwrap().tools).collect();
    let revisions: BTreeSet<u64> = made.iter().map(|tools| tools[0].revision).collect();
    assert_eq!(revisions, (1..=20).collect());
    let log = one.events(LogOf::ToolId("tool_files_read".to_owned())).await;
    assert_eq!(log.iter().map(|event| event.sequence).collect::<Vec<_>>(), (1..=20).collect::<Vec<_>>());

    let surface = one.surface(deferred()).await.surface_id;
    let names: Vec<String> = (0..20).map(|n| format!("own.t{n}")).collect();
    join_all(names.iter().enumerate().map(|(n, name)| {
        let (role, surface) = (if n % 2 == 0 { &one } else { &other }, surface.clone());
        async move {
            role.search(&surface, name).await;
            role.load(&surface, &[name]).await
        }
    }))
    .await;
    for role in [&one, &other] {
        assert_eq!(role.get(&surface).await.surface.unwrap().loaded_tools.len(), 20);
    }
    one.stop().await;
    other.stop().await;
}

/// A moment that one process told is understood by the other, at once and of every surface.
#[tokio::test]
async fn a_moment_is_the_same_everywhere() {
    use v1::resolve_tool_response::Resolution;
    let (_server, [one, other]) = several(&options()).await;
    one.register(vec![tool("files", "read"), tool("files", "write")]).await.unwrap();
    let made = one.surface(v1::CreateSurfaceRequest::default()).await;
    let id = made.surface_id.as_str();
    for round in 0..10 {
        let (here, there) = if round % 2 == 0 { (&one, &other) } else { (&other, &one) };
        here.unload(id, &["files.write"]).await.unwrap();
        let then = here.load(id, &["files.write"]).await.moment;
        assert!(matches!(there.resolve_at(id, "files.write", &then).await, Ok(Resolution::Resolved(_))), "{then}");
        here.register(vec![tool("later", &format!("t{round}"))]).await.unwrap();
        let Ok(Resolution::NotCallable(refusal)) = there.resolve_at(id, &format!("later.t{round}"), &then).await else {
            panic!("it came later")
        };
        let now = there.get(id).await.surface.unwrap().moment;
        assert_eq!(refusal.kind(), v1::NotCallableKind::Later);
        assert!(refusal.message.contains(&format!("`{then}`")) && refusal.message.contains(&format!("`{now}`")));
        assert!(there.resolve_at("default", "files.read", &format!("0.{round}")).await.is_ok(), "{round}");
    }
    let (_, catalog) = made.moment.split_once('.').unwrap();
    for (wrong, rule) in
        [("1.99999", "not come to"), ("1.0", "before this surface"), ("x", "no moment"), ("0.3", "before")]
    {
        let refused = other.resolve_at(id, "files.read", wrong).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{wrong}");
        assert!(refused.message().contains("surface_moment") && refused.message().contains(rule), "{refused:?}");
    }
    // What the surface was then by its own changes is remembered, too.
    assert!(matches!(other.resolve_at(id, "files.read", &format!("1.{catalog}")).await, Ok(Resolution::Resolved(_))));
    one.stop().await;
    other.stop().await;
}

/// What one process deletes, no process knows any more, nor has it in a list or a log; and its request makes another one.
#[tokio::test]
async fn a_deleted_surface_is_gone_everywhere() {
    let (_server, [one, other]) = several(&options()).await;
    one.register(vec![tool("files", "read")]).await.unwrap();
    let request = v1::CreateSurfaceRequest { request_id: uuid::Uuid::now_v7().to_string(), ..deferred() };
    let (gone, stays) = (one.surface(request.clone()).await.surface_id, one.surface(deferred()).await.surface_id);
    other.load(&gone, &["files.read"]).await;
    assert_eq!(one.delete(&gone).await.unwrap().revision, 2);
    for role in [&one, &other] {
        let asked = v1::ResolveToolRequest { surface_id: gone.clone(), name: "read".to_owned(), ..Default::default() };
        assert_eq!(role.client.clone().resolve_tool(asked).await.unwrap_err().code(), Code::NotFound);
        let asked = v1::SearchToolsRequest { surface_id: gone.clone(), query: "read".to_owned(), ..Default::default() };
        assert_eq!(role.client.clone().search_tools(asked).await.unwrap_err().code(), Code::NotFound);
        assert_eq!(role.delete(&gone).await.unwrap_err().code(), Code::NotFound);
        let listed = role.client.clone().list_surfaces(v1::ListSurfacesRequest::default()).await.unwrap().into_inner();
        let ids: Vec<_> = listed.surfaces.iter().map(|surface| surface.surface_id.as_str()).collect();
        assert_eq!((ids, listed.damaged_ids), (vec![stays.as_str()], Vec::new()));
    }
    assert_eq!(one.delete("").await.unwrap_err().code(), Code::InvalidArgument);
    let again = other.surface(request).await;
    assert_eq!((again.surface_id.as_str(), again.revision, again.loaded_tools.len()), (gone.as_str(), 1, 0));
    assert_eq!(other.events(LogOf::SurfaceId(gone.clone())).await.len(), 1, "its log begins anew");
    assert_eq!(one.get(&gone).await.surface.unwrap().counts.unwrap().deferred, 1);
    one.stop().await;
    other.stop().await;
}

/// Two tools cannot take the same name, even if different processes register them.
#[tokio::test]
async fn a_name_is_given_once() {
    let (_server, [one, other]) = several(&options()).await;
    for round in 0..10 {
        let name = format!("cat{round}");
        let with = |id: &str| changed(tool(&format!("{id}{round}"), "x"), |tool| tool.aliases = vec![name.clone()]);
        let (first, second) = tokio::join!(one.register(vec![with("a")]), other.register(vec![with("b")]));
        let refused = match (first, second) {
            (Ok(_), Err(status)) | (Err(status), Ok(_)) => status,
            both => panic!("{both:?}"),
        };
        assert_eq!(refused.code(), Code::InvalidArgument, "{refused:?}");
        assert!(refused.message().contains(&name), "{refused:?}");
    }
    one.stop().await;
    other.stop().await;
}

/// A process that is gone without a word holds others up until its lease is over, and not longer.
#[tokio::test]
async fn a_process_that_died_is_not_waited_for_twice() {
    let (server, [one]) = several(&options()).await;
    let dead = on(&server);
    let died = std::thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let role = runtime.block_on(async {
            let backend = Backend::open(&dead, Keeper::Surface).await.unwrap();
            Role::start_on(backend, options()).await
        });
        // Its work ends where it is, and its lease stays.
        runtime.shutdown_background();
        drop(role);
    });
    tokio::task::spawn_blocking(|| died.join().unwrap()).await.unwrap();
    one.register(vec![tool("files", "read")]).await.unwrap();
    let began = Instant::now();
    one.register(vec![tool("files", "write")]).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    one.stop().await;
}

/// Who follows a surface at one process hears within a second of what another one changes, and goes on there from where it was.
#[tokio::test]
async fn a_surface_is_followed_at_any_process() {
    let (_server, [one, other]) = several(&options()).await;
    let surface = one.surface(deferred()).await.surface_id;
    let mut watch = Watch::from(&other, &surface, "").await;
    for round in 1..=10 {
        one.register(vec![titled("files", "read", &format!("round {round}"))]).await.unwrap();
        let answered = Instant::now();
        assert_eq!(watch.change().await.name, "files.read");
        assert!(answered.elapsed() < Duration::from_secs(1), "{:?}", answered.elapsed());
    }
    let moment = watch.moment.clone();
    other.load(&surface, &["files.read"]).await;
    let at_once = Watch::from(&one, &surface, &moment).await.change().await;
    assert_eq!((at_once.state_before(), at_once.state()), (State::Deferred, State::Loaded));
    assert_eq!(watch.change().await, at_once);
    one.delete(&surface).await.unwrap();
    assert_eq!(watch.next().await.unwrap().ended, "deleted");
    one.stop().await;
    other.stop().await;
}
