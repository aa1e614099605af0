//! Following a surface over its stream.

use serde_json::json;
use tokio::time::timeout;
use tonic::{Code, Status, Streaming};
use toolplane_proto::v1;
use toolplane_proto::v1::{SurfaceToolChangeKind as Kind, SurfaceToolState as State};
use toolplane_records::payload::JsonPayload;

use crate::role::{PATIENCE, Role, changed, tool};

/// Somebody who follows a surface.
pub(crate) struct Watch {
    stream: Streaming<v1::WatchSurfaceResponse>,
    /// The last moment there was.
    pub(crate) moment: String,
}

impl Watch {
    pub(crate) async fn of(role: &Role, request: v1::WatchSurfaceRequest) -> Result<Self, Status> {
        let mut stream = role.client.clone().watch_surface(request).await?.into_inner();
        let first = timeout(PATIENCE, stream.message()).await.unwrap()?.unwrap();
        if !first.changes.is_empty() || first.anew || first.moment.is_empty() {
            return Err(Status::internal(format!("no beginning: {first:?}")));
        }
        Ok(Self { stream, moment: first.moment })
    }

    pub(crate) async fn from(role: &Role, surface: &str, moment: &str) -> Self {
        let (surface_id, from_moment) = (surface.to_owned(), moment.to_owned());
        Self::of(role, v1::WatchSurfaceRequest { surface_id, from_moment, ..Default::default() }).await.unwrap()
    }

    /// The next message, and nothing at the end.
    pub(crate) async fn next(&mut self) -> Option<v1::WatchSurfaceResponse> {
        let message = timeout(PATIENCE, self.stream.message()).await.unwrap().unwrap()?;
        if !message.moment.is_empty() {
            self.moment.clone_from(&message.moment);
        }
        Some(message)
    }

    /// The one change of the next message.
    pub(crate) async fn change(&mut self) -> v1::SurfaceToolChange {
        let message = self.next().await.unwrap();
        assert!(!message.anew && !message.moment.is_empty(), "{message:?}");
        let [change] = <[_; 1]>::try_from(message.changes).unwrap();
        change
    }
}

fn described(name: &str, text: &str) -> v1::ToolRegistration {
    changed(tool("files", name), |tool| text.clone_into(&mut tool.description))
}

fn without_arguments(name: &str) -> v1::ToolRegistration {
    changed(tool("files", name), |tool| tool.input_contract = None)
}

async fn digest(role: &Role, id: &str) -> String {
    let request =
        v1::GetToolRequest { tool: Some(v1::get_tool_request::Tool::ToolId(id.to_owned())), ..Default::default() };
    role.client.clone().get_tool(request).await.unwrap().into_inner().digest
}

#[tokio::test]
async fn whoever_follows_a_surface_hears_of_every_change() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(vec![tool("files", "read")]).await.unwrap();
    let files = v1::CreateSurfaceRequest { namespaces: vec!["files".to_owned()], ..Default::default() };
    let made = role.surface(files).await;
    let surface = made.surface_id.as_str();
    let mut watch = Watch::from(&role, surface, &made.moment).await;
    assert_eq!(watch.moment, made.moment);

    role.register(vec![tool("files", "write"), tool("other", "thing")]).await.unwrap();
    let change = watch.change().await;
    assert_eq!((change.kind(), change.name.as_str(), change.state()), (Kind::Added, "files.write", State::Deferred));
    assert_eq!((change.digest, change.digest_before), (digest(&role, "tool_files_write").await, String::new()));
    let before = watch.moment.clone();

    role.load(surface, &["files.write"]).await;
    let change = watch.change().await;
    assert_eq!((change.kind(), change.state_before(), change.state()), (Kind::Changed, State::Deferred, State::Loaded));
    let old = digest(&role, "tool_files_write").await;
    role.register(vec![without_arguments("write")]).await.unwrap();
    let change = watch.change().await;
    let new = digest(&role, "tool_files_write").await;
    assert_eq!(
        (change.digest_before, change.digest, change.changed.as_str()),
        (old.clone(), new, "it takes no arguments any more")
    );
    role.retire("tool_files_read").await.unwrap();
    let change = watch.change().await;
    assert_eq!((change.kind(), change.name.as_str(), change.reason.as_str()), (Kind::Removed, "files.read", "retired"));
    let read = role.get(surface).await.surface.unwrap();
    assert_eq!(watch.moment, read.moment, "it knows what there is");

    // Who comes again with an older moment hears of all that together, and who knows a revision, of all there is.
    let mut again = Watch::from(&role, surface, &before).await;
    let message = again.next().await.unwrap();
    let told: Vec<_> =
        message.changes.iter().map(|change| (change.name.as_str(), change.kind(), change.state())).collect();
    assert_eq!(
        told,
        [("files.write", Kind::Changed, State::Loaded), ("files.read", Kind::Removed, State::Unspecified)]
    );
    assert_eq!((message.changes[0].digest_before.as_str(), message.revision), (old.as_str(), read.revision));
    let request = v1::WatchSurfaceRequest { surface_id: surface.to_owned(), from_revision: 1, ..Default::default() };
    let mut anew = role.client.clone().watch_surface(request).await.unwrap().into_inner();
    anew.message().await.unwrap().unwrap();
    let message = anew.message().await.unwrap().unwrap();
    assert_eq!((message.anew, message.changes.len(), message.moment), (true, 1, read.moment));

    role.delete(surface).await.unwrap();
    let last = watch.next().await.unwrap();
    assert_eq!((last.ended.as_str(), last.moment.as_str()), ("deleted", ""));
    assert!(watch.next().await.is_none(), "nothing comes behind the end");
    role.stop().await;
}

/// Of the surface nobody made, and of one that nobody changed, a revision says enough.
#[tokio::test]
async fn a_surface_is_followed_from_now_from_a_revision_and_from_no_other_text() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(vec![tool("files", "read")]).await.unwrap();
    let made = role.surface(v1::CreateSurfaceRequest::default()).await;
    let default = role.get("").await.surface.unwrap();
    role.register(vec![described("read", "Reads.")]).await.unwrap();
    for (surface, revision) in [(made.surface_id.clone(), made.revision), (String::new(), default.revision)] {
        let request =
            v1::WatchSurfaceRequest { surface_id: surface.clone(), from_revision: revision, ..Default::default() };
        let mut watch = Watch::of(&role, request).await.unwrap();
        assert_eq!(watch.change().await.name, "files.read");
        let mut now = Watch::from(&role, &surface, "").await;
        assert_eq!(now.moment, watch.moment);
        role.register(vec![described("read", &format!("Reads {revision}{surface}."))]).await.unwrap();
        assert_eq!((now.change().await.kind(), watch.change().await.kind()), (Kind::Changed, Kind::Changed));
    }
    let wrong = |request: v1::WatchSurfaceRequest| async {
        let mut client = role.client.clone();
        client.watch_surface(request).await.map(drop).unwrap_err().code()
    };
    let moment =
        |from_moment: &str| v1::WatchSurfaceRequest { from_moment: from_moment.to_owned(), ..Default::default() };
    assert_eq!(wrong(moment("yesterday")).await, Code::InvalidArgument);
    assert_eq!(wrong(v1::WatchSurfaceRequest { from_revision: 1, ..moment("1.1") }).await, Code::InvalidArgument);
    let gone = v1::WatchSurfaceRequest { surface_id: "surf_gone".to_owned(), ..Default::default() };
    assert_eq!(wrong(gone).await, Code::NotFound);
    role.stop().await;
}

/// A difference of any size comes in messages of bounded size, and only the last one says where it leads.
#[tokio::test]
async fn a_large_difference_comes_in_parts() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    let made = role.surface(v1::CreateSurfaceRequest::default()).await;
    role.register((0..450).map(|n| tool("files", &format!("t{n}"))).collect()).await.unwrap();
    let mut watch = Watch::from(&role, &made.surface_id, &made.moment).await;
    let mut parts = Vec::new();
    while watch.moment == made.moment {
        parts.push(watch.next().await.unwrap());
    }
    assert_eq!(parts.iter().map(|part| part.changes.len()).collect::<Vec<_>>(), [200, 200, 50]);
    assert!(parts[..2].iter().all(|part| part.moment.is_empty() && !part.anew && part.revision == 0));
    assert_eq!(parts[2].revision, made.revision + 450);
    role.stop().await;
}

/// What the catalog changed about a surface is one entry of its log: when it is next changed, and when somebody follows it.
#[tokio::test]
async fn the_log_tells_what_the_catalog_changed() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register((0..30).map(|n| tool("files", &format!("t{n}"))).collect()).await.unwrap();
    let only = v1::CreateSurfaceRequest { namespaces: vec!["files".to_owned()], ..Default::default() };
    let surface = role.surface(only).await.surface_id;
    let log = || async {
        let events = role.events(v1::list_events_request::Subject::SurfaceId(surface.clone())).await;
        let facts = events.into_iter().skip(1).map(|event| {
            let data = event.data.and_then(|data| JsonPayload::try_from(data).ok()).unwrap().to_value();
            (event.event_type, data)
        });
        facts.collect::<Vec<_>>()
    };
    let again = (0..25).map(|n| described(&format!("t{n}"), "Other."));
    role.register(again.chain([tool("files", "new"), tool("other", "thing")]).collect()).await.unwrap();
    role.retire("tool_files_t29").await.unwrap();
    assert_eq!(log().await, [], "nothing is written as long as nobody comes");

    role.load(&surface, &["files.new"]).await;
    let told = log().await;
    let types: Vec<_> = told.iter().map(|(class, _)| class.as_str()).collect();
    assert_eq!(types, ["tool.surface.updated", "tool.deferred.loaded", "tool.surface.updated"]);
    let catalog = &told[0].1["catalog"];
    let counts = ["added", "removed", "changed"].map(|kind| catalog[kind].as_u64().unwrap());
    assert_eq!((counts, catalog["tools"].as_array().unwrap().len()), ([1, 1, 25], 20));
    assert_eq!(catalog["tools"][0], json!({"tool_id": "tool_files_t0", "name": "files.t0", "change": "changed"}));
    assert_eq!(catalog["until"].as_u64().unwrap() - catalog["from"].as_u64().unwrap(), 28);
    role.load(&surface, &["files.t1"]).await;
    assert_eq!(log().await.len(), 5, "it is told once");

    role.register(vec![tool("other", "more")]).await.unwrap();
    let mut watch = Watch::from(&role, &surface, "").await;
    role.register(vec![tool("files", "later")]).await.unwrap();
    assert_eq!(watch.change().await.name, "files.later");
    let told = timeout(PATIENCE, async {
        loop {
            match log().await.pop() {
                Some((_, data)) if data.get("catalog").is_some() => return data,
                _ => tokio::task::yield_now().await,
            }
        }
    });
    let told = told.await.expect("the log is told while somebody follows");
    assert_eq!((told["catalog"]["added"].as_u64(), told["catalog"]["changed"].as_u64()), (Some(1), Some(0)));
    role.stop().await;
}

/// It says what it misses, and a call in it is told what a tool is by now.
#[tokio::test]
async fn a_pinned_surface_stays_what_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(vec![tool("files", "read"), tool("files", "write"), tool("files", "list")]).await.unwrap();
    let made = role.surface(v1::CreateSurfaceRequest { pinned: true, ..Default::default() }).await;
    let surface = made.surface_id.as_str();
    assert!(made.pinned && made.outdated.is_none(), "{made:?}");
    let mut watch = Watch::from(&role, surface, &made.moment).await;
    role.register(vec![tool("files", "later"), without_arguments("write")]).await.unwrap();
    let change = watch.change().await;
    assert_eq!((change.name.as_str(), change.kind()), ("files.write", Kind::Changed));
    role.retire("tool_files_read").await.unwrap();
    assert_eq!(watch.change().await.kind(), Kind::Removed);

    assert_eq!(role.refusal(surface, "files.read").await.kind(), v1::NotCallableKind::Retired);
    let refusal = role.refusal(surface, "files.write").await;
    assert_eq!(refusal.kind(), v1::NotCallableKind::Changed);
    assert!(refusal.message.contains("takes no arguments any more"), "{refusal:?}");
    let refusal = role.refusal(surface, "files.later").await;
    assert!(refusal.kind() == v1::NotCallableKind::Excluded && refusal.message.contains("pinned"), "{refusal:?}");
    role.resolved(surface, "files.list").await;
    let extended = role.extend(v1::ExtendSurfaceRequest {
        surface_id: surface.to_owned(),
        tool_refs: vec!["files.later".to_owned()],
        ..Default::default()
    });
    assert!(extended.await.unwrap_err().message().contains("pinned"));

    let read = role.get(surface).await.surface.unwrap();
    let missed = read.outdated.unwrap();
    assert_eq!((missed.added, missed.removed, missed.changed, missed.more), (1, 1, 1, false));
    let named: Vec<_> = missed.tools.iter().map(|tool| (tool.name.as_str(), tool.change.as_str())).collect();
    assert_eq!(named, [("files.later", "added"), ("files.write", "changed"), ("files.read", "removed")]);
    assert_eq!(read.counts.map(|counts| (counts.loaded, counts.deferred)), Some((2, 0)));
    role.load(surface, &["files.write"]).await;
    role.resolved(surface, "files.write").await;
    role.stop().await;
}
