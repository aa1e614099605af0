//! The stream that keeps schedulers' caches right.

use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Streaming};
use toolplane_proto::v1;
use toolplane_proto::v1::catalog_change::Subject;
use toolplane_records::payload::JsonPayload;

use crate::role::{PATIENCE, Role, changed, options, tool};

/// A scheduler's end of the stream.
pub(crate) struct Subscriber {
    acknowledgements: mpsc::Sender<v1::SyncCatalogRequest>,
    updates: Streaming<v1::SyncCatalogResponse>,
}

impl Subscriber {
    pub(crate) async fn connect(role: &Role) -> Self {
        Self::coming_from(role, 0).await.0
    }

    /// Who has heard of `revision` before, and what it is told first.
    pub(crate) async fn coming_from(role: &Role, revision: u64) -> (Self, v1::SyncCatalogResponse) {
        let (acknowledgements, outgoing) = mpsc::channel(16);
        let subscriber =
            v1::SyncCatalogRequest { subscriber: "test".to_owned(), acknowledged_revision: revision, beat: 1 };
        acknowledgements.send(subscriber).await.unwrap();
        let updates = role.client.clone().sync_catalog(ReceiverStream::new(outgoing)).await.unwrap().into_inner();
        let mut connected = Self { acknowledgements, updates };
        let first = connected.next().await;
        assert!(first.reset && first.beat == 1, "the first message resets the cache: {first:?}");
        (connected, first)
    }

    pub(crate) async fn next(&mut self) -> v1::SyncCatalogResponse {
        timeout(PATIENCE, self.updates.message()).await.unwrap().unwrap().unwrap()
    }

    /// Leaves in order: no change has to wait for its cache.
    pub(crate) async fn leave(self) {
        let Self { acknowledgements, mut updates } = self;
        drop(acknowledgements);
        while timeout(PATIENCE, updates.message()).await.unwrap().unwrap().is_some() {}
    }

    /// Asks for how long the cache may be used.
    pub(crate) async fn ask(&mut self, beat: u64) -> v1::SyncCatalogResponse {
        self.acknowledgements.send(v1::SyncCatalogRequest { beat, ..Default::default() }).await.unwrap();
        self.next().await
    }

    pub(crate) async fn acknowledge(&self, acknowledged_revision: u64) {
        let message = v1::SyncCatalogRequest { acknowledged_revision, ..Default::default() };
        self.acknowledgements.send(message).await.unwrap();
    }
}

#[tokio::test]
async fn a_change_is_answered_only_after_every_scheduler_knows() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start_with(
        dir.path(),
        toolplane_surface::SurfaceOptions {
            // Long: only an acknowledgement can end the wait.
            sync_patience: PATIENCE,
            ..options()
        },
    )
    .await;
    role.register(vec![tool("files", "read")]).await.unwrap();
    let deferred = v1::CreateSurfaceRequest { defer_policy: v1::DeferPolicy::All.into(), ..Default::default() };
    let surface = role.surface(deferred).await.surface_id;
    let (mut one, mut two) = (Subscriber::connect(&role).await, Subscriber::connect(&role).await);
    let mut loading = Box::pin(role.load(&surface, &["files.read"]));
    let update = tokio::select! {
        update = one.next() => update,
        _ = &mut loading => panic!("answered before anyone was told"),
    };
    assert_eq!(update.changes[0].subject, Some(Subject::SurfaceId(surface.clone())));
    let resolved = role.resolve(&surface, "files.read").await;
    assert!(resolved.catalog_revision >= update.catalog_revision, "who was told sees the change");
    role.resolved(&surface, "files.read").await;
    one.acknowledge(update.catalog_revision).await;
    assert!(timeout(Duration::from_millis(200), &mut loading).await.is_err(), "one has not acknowledged yet");
    let told = two.next().await;
    two.acknowledge(told.catalog_revision).await;
    timeout(PATIENCE, loading).await.unwrap();
    let mut retiring = Box::pin(role.retire("tool_files_read"));
    let update = tokio::select! {
        update = one.next() => update,
        _ = &mut retiring => panic!("answered before anyone was told"),
    };
    assert_eq!(update.changes[0].subject, Some(Subject::ToolId("tool_files_read".to_owned())));
    one.acknowledge(update.catalog_revision).await;
    // The other scheduler leaves; no change waits for it any longer.
    drop(two);
    timeout(PATIENCE, retiring).await.unwrap().unwrap();
    drop(one);
    role.stop().await;
}

#[tokio::test]
async fn what_changes_while_its_load_is_told_is_loaded_again() {
    let dir = tempfile::tempdir().unwrap();
    // Long: only an acknowledgement can end the wait.
    let role =
        Role::start_with(dir.path(), toolplane_surface::SurfaceOptions { sync_patience: PATIENCE, ..options() }).await;
    role.register(vec![tool("files", "read")]).await.unwrap();
    let deferred = v1::CreateSurfaceRequest { defer_policy: v1::DeferPolicy::All.into(), ..Default::default() };
    let surface = role.surface(deferred).await.surface_id;
    let mut scheduler = Subscriber::connect(&role).await;
    let mut loading = Box::pin(role.load(&surface, &["files.read"]));
    let told = tokio::select! {
        told = scheduler.next() => told,
        _ = &mut loading => panic!("answered before anyone was told"),
    };
    assert_eq!(told.changes[0].subject, Some(Subject::SurfaceId(surface.clone())));
    let newer = changed(tool("files", "read"), |tool| {
        let schema = r#"{"type":"object","properties":{"line":{"type":"integer"}},"required":["line"]}"#;
        let schema = JsonPayload::from_checked(schema);
        tool.input_contract =
            Some(v1::InputContract { model_input_schema: Some((&schema).into()), ..Default::default() });
    });
    let registering = Box::pin(role.register(vec![newer]));
    let acknowledging = async {
        // The load is let go on only when the tool is declared anew.
        loop {
            let told = scheduler.next().await;
            scheduler.acknowledge(told.catalog_revision).await;
        }
    };
    let both = async { tokio::join!(loading, registering) };
    let (loaded, registered) = tokio::select! {
        both = timeout(PATIENCE, both) => both.unwrap(),
        () = acknowledging => unreachable!("it goes on"),
    };
    registered.unwrap();
    let Some(v1::load_outcome::Outcome::Loaded(loaded)) = &loaded.outcomes[0].outcome else { panic!("{loaded:?}") };
    let schema = JsonPayload::try_from(loaded.model_input_schema.clone().unwrap()).unwrap();
    assert!(schema.text().contains("line"), "{schema:?}");
    role.resolved(&surface, "files.read").await;
    drop(scheduler);
    role.stop().await;
}

#[tokio::test]
async fn a_scheduler_that_stays_silent_is_cut_off() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    let mut silent = Subscriber::connect(&role).await;
    let started = Instant::now();
    role.register(vec![tool("files", "read")]).await.unwrap();
    assert!(started.elapsed() >= Duration::from_millis(500), "it had its time");
    let ended = async {
        loop {
            if let Err(status) = silent.updates.message().await {
                return status;
            }
        }
    };
    assert_eq!(timeout(PATIENCE, ended).await.unwrap().code(), Code::Unavailable);
    let newer = changed(tool("files", "read"), |tool| tool.title = "Read".to_owned());
    timeout(PATIENCE, role.register(vec![newer])).await.unwrap().unwrap();
    role.stop().await;
}

#[tokio::test]
async fn a_stop_ends_the_stream_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    let mut subscriber = Subscriber::connect(&role).await;
    let stopping = role.stop();
    let ended = async { subscriber.updates.message().await.unwrap() };
    let (ended, ()) = tokio::join!(timeout(PATIENCE, ended), stopping);
    assert!(ended.unwrap().is_none());
}

#[tokio::test]
async fn revisions_grow_over_restarts() {
    let dir = tempfile::tempdir().unwrap();
    let role = Role::start(dir.path()).await;
    role.register(vec![tool("files", "read")]).await.unwrap();
    let surface = role.surface(v1::CreateSurfaceRequest::default()).await.surface_id;
    let before = role.resolve(&surface, "files.read").await.catalog_revision;
    role.stop().await;
    let role = Role::start(dir.path()).await;
    assert!(role.resolve(&surface, "files.read").await.catalog_revision >= before);
    role.stop().await;
}
