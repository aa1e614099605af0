//! Reports that are said again while a slow store keeps the first in work.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::Semaphore;
use tokio_stream::wrappers::UnboundedReceiverStream;
use toolplane_proto::v1::worker_report::Report;
use toolplane_records::time::Timestamp;
use toolplane_runtime::Shutdown;
use toolplane_runtime::server::ConnectionLife;
use toolplane_store::{
    Commit, CommitOutcome, Durability, EventPage, Family, Found, IndexEntry, RecordKey, ScoreRange, Store, StoreFuture,
    Versioned,
};

use super::*;
use crate::error::CallError;
use crate::rpc::{Session, WorkerParts, WorkerTerms};

/// Most tasks of one stream at which more of its messages are read.
const MOST: usize = 1_024;

/// A store that does not get through with some of its work until it is let go.
struct Slow {
    inner: Arc<MemoryStore>,
    /// How many reads pass before others are held.
    passes: AtomicUsize,
    /// How many more reads are held.
    gets: AtomicUsize,
    /// How many are held now.
    held: AtomicUsize,
    open: Semaphore,
}

impl Slow {
    async fn read(&self) {
        let spend = |budget: &AtomicUsize| {
            budget.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
        };
        if !spend(&self.passes) && spend(&self.gets) {
            self.held.fetch_add(1, Ordering::SeqCst);
            // Fails once it is closed: from then on everything passes.
            assert!(self.open.acquire().await.is_err());
            self.held.fetch_sub(1, Ordering::SeqCst);
        }
    }

    fn held(&self) -> usize {
        self.held.load(Ordering::SeqCst)
    }
}

impl Store for Slow {
    fn commit(&self, commit: Commit) -> StoreFuture<'_, CommitOutcome> {
        self.inner.commit(commit)
    }
    fn get<'a>(&'a self, key: &'a RecordKey) -> StoreFuture<'a, Option<Versioned>> {
        Box::pin(async move {
            self.read().await;
            self.inner.get(key).await
        })
    }
    fn get_each<'a>(&'a self, keys: &'a [RecordKey]) -> StoreFuture<'a, Vec<Found>> {
        Box::pin(async move {
            self.read().await;
            self.inner.get_each(keys).await
        })
    }
    fn scan<'a>(&'a self, index: &'a str, range: ScoreRange, limit: usize) -> StoreFuture<'a, Vec<IndexEntry>> {
        self.inner.scan(index, range, limit)
    }
    fn indexes<'a>(&'a self, prefix: &'a str) -> StoreFuture<'a, Vec<String>> {
        self.inner.indexes(prefix)
    }
    fn index_len<'a>(&'a self, index: &'a str) -> StoreFuture<'a, u64> {
        self.inner.index_len(index)
    }
    fn events<'a>(&'a self, stream: &'a str, from: u64, limit: usize) -> StoreFuture<'a, EventPage> {
        self.inner.events(stream, from, limit)
    }
    fn keys<'a>(
        &'a self,
        family: Family,
        after: Option<&'a str>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<(String, Versioned)>> {
        self.inner.keys(family, after, limit)
    }
    fn now(&self) -> StoreFuture<'_, Timestamp> {
        self.inner.now()
    }
    fn durability(&self) -> Durability {
        self.inner.durability()
    }
}

/// A scheduler that has just started on a slow store, and so has nothing cached.
struct Cold {
    store: Arc<Slow>,
    sessions: WorkerParts,
}

/// A worker's stream to it.
struct Connection {
    reports: mpsc::UnboundedSender<v1::WorkRequest>,
    messages: mpsc::UnboundedReceiver<WorkerMessage>,
}

fn hello(incarnation: &str) -> v1::WorkerHello {
    let worker_id = "w1".to_owned();
    v1::WorkerHello { worker_id, incarnation: incarnation.to_owned(), slots: 4, ..Default::default() }
}

fn end_of(lease: v1::LeaseRef) -> v1::ExecutionDone {
    let outcome = Some(Box::new(endings::success("done")));
    v1::ExecutionDone { lease: Some(lease), outcome }
}

fn message(report: Report) -> v1::WorkRequest {
    v1::WorkRequest { reports: vec![v1::WorkerReport { report: Some(report) }] }
}

fn lease_ref(lease: &LeaseKey) -> v1::LeaseRef {
    v1::LeaseRef {
        invocation_id: lease.invocation_id.to_string(),
        lease_no: lease.lease_no,
        lease_id: lease.lease_id.to_string(),
    }
}

/// A lease of a call that is not there.
fn gone(number: usize) -> v1::LeaseRef {
    v1::LeaseRef { invocation_id: format!("inv_gone_{number}"), lease_no: 1, lease_id: format!("lease_{number}") }
}

impl Cold {
    async fn beside(world: &World) -> Self {
        let none = AtomicUsize::default;
        let store =
            Slow { inner: world.store.clone(), passes: none(), gets: none(), held: none(), open: Semaphore::new(0) };
        let store = Arc::new(store);
        let outside = Outside {
            environment: Environment::real(),
            decisions: world.in_force.clone(),
            asks_hooks: ending::asks_hooks(hooks_of(&[], ending::HOOK_EVENTS, &world.fakes.url).await),
            questions: Arc::new(crate::keeping::NoQuestions),
        };
        let opened = Parts::open(store.clone(), world.objects.clone(), PartsOptions::default(), outside).await.unwrap();
        let Parts { calls, starts, fleet, taints, .. } = opened.parts;
        let endings = Endings::new(
            calls.clone(),
            hooks_of(&[], ending::HOOK_EVENTS, &world.fakes.url).await,
            (world.objects.clone(), Cleaning::usual(), world.originals.clone(), taints.clone()),
            (ProviderNews::default(), NextSteps::default()),
            65_536,
            false,
            None,
        );
        let (cleaning, news) = (Cleaning::usual(), ProviderNews::default());
        let terms = WorkerTerms { heartbeat_ms: 5_000, lease_ms: 15_000, max_inline_bytes: 65_536 };
        Self { store, sessions: WorkerParts { calls, starts, fleet, endings, cleaning, taints, news, terms } }
    }

    async fn connect(&self, hello: v1::WorkerHello) -> Result<Connection, CallError> {
        let first = message(Report::Hello(hello));
        let (session, messages) = Session::open(self.sessions.clone(), &Caller::unauthenticated(), first).await?;
        let (reports, said) = mpsc::unbounded_channel();
        let said = UnboundedReceiverStream::new(said).map(Ok);
        tokio::spawn(session.run(said, Shutdown::new(), ConnectionLife::default()));
        Ok(Connection { reports, messages })
    }

    /// Lets everything that can go on do so. There is one thread, and nothing here waits for time.
    async fn settle(&self) {
        for _ in 0..20_000 {
            tokio::task::yield_now().await;
        }
    }
}

impl Connection {
    fn say(&self, report: Report) {
        self.reports.send(message(report)).unwrap();
    }

    /// How many acknowledgements have come.
    fn acknowledged(&mut self) -> usize {
        let mut count = 0;
        while let Ok(told) = self.messages.try_recv() {
            assert!(matches!(told, WorkerMessage::DoneAcknowledged { .. }), "{told:?}");
            count += 1;
        }
        count
    }
}

#[tokio::test]
async fn a_report_that_is_said_again_and_again_is_in_work_once_and_every_stream_hears_the_answer() {
    let world = World::new().await;
    let lease = world.leased().await;
    let cold = Cold::beside(&world).await;
    let mut streams = Vec::new();
    for _ in 0..3 {
        streams.push(cold.connect(hello("first")).await.unwrap());
    }
    // The first thing that is needed of the call is its record, and it does not come.
    cold.store.gets.store(usize::MAX, Ordering::SeqCst);
    for _ in 0..100 {
        streams.iter().for_each(|stream| stream.say(Report::Done(end_of(lease_ref(&lease)))));
    }
    cold.settle().await;
    assert_eq!(cold.store.held(), 1, "300 messages, one report, one read");
    cold.store.open.close();
    cold.settle().await;
    let heard: Vec<_> = streams.iter_mut().map(Connection::acknowledged).collect();
    assert_eq!(heard, [1, 1, 1]);
    assert_eq!(world.result(&lease.invocation_id).await.status, toolplane_records::vocabulary::ResultStatus::Succeeded);
    // Said once more after that it is known.
    streams[0].say(Report::Done(end_of(lease_ref(&lease))));
    cold.settle().await;
    assert_eq!(streams[0].acknowledged(), 1);
}

#[tokio::test]
async fn what_a_slow_store_leaves_undone_waits_at_the_worker() {
    let world = World::new().await;
    let cold = Cold::beside(&world).await;
    let mut stream = cold.connect(hello("first")).await.unwrap();
    cold.store.gets.store(usize::MAX, Ordering::SeqCst);
    (0..3 * MOST).for_each(|number| stream.say(Report::Done(end_of(gone(number)))));
    cold.settle().await;
    assert_eq!(cold.store.held(), MOST, "the rest is not read yet");
    cold.store.open.close();
    cold.settle().await;
    assert_eq!(stream.acknowledged(), 3 * MOST, "and nothing of it is lost");
}

#[tokio::test]
async fn a_stream_that_breaks_while_nothing_of_it_is_read_is_over() {
    let world = World::new().await;
    let cold = Cold::beside(&world).await;
    let stream = cold.connect(hello("first")).await.unwrap();
    cold.store.gets.store(usize::MAX, Ordering::SeqCst);
    (0..2 * MOST).for_each(|number| stream.say(Report::Done(end_of(gone(number)))));
    cold.settle().await;
    assert_eq!(cold.sessions.fleet.here().list().len(), 1, "it is connected");
    drop(stream.messages);
    cold.settle().await;
    assert_eq!(cold.sessions.fleet.here().list().len(), 0);
    cold.store.open.close();
}

#[tokio::test]
async fn a_restarted_worker_is_not_welcomed_before_its_report_in_work_is_stored() {
    let world = World::new().await;
    let lease = world.leased().await;
    let cold = Cold::beside(&world).await;
    let follows = v1::WorkerHello { kept_endings_follow: true, ..hello("second") };
    let mut stream = cold.connect(follows).await.unwrap();
    // The record of its call is read, and the plan of it does not come.
    cold.store.passes.store(1, Ordering::SeqCst);
    cold.store.gets.store(1, Ordering::SeqCst);
    stream.say(Report::Done(end_of(lease_ref(&lease))));
    cold.settle().await;
    assert_eq!(cold.store.held(), 1, "its report is in work");
    // The stream breaks, and on the next one it says that nothing of its earlier life is left: leases of that end after this.
    let finished = vec![end_of(lease_ref(&lease))];
    let anew = v1::WorkerHello { previous_incarnation_dead: true, finished, ..hello("second") };
    let mut welcome = Box::pin(cold.connect(anew));
    for _ in 0..20_000 {
        assert!(welcome.as_mut().now_or_never().is_none(), "not before the report is stored");
        tokio::task::yield_now().await;
    }
    assert!(!world.record(&lease.invocation_id).await.status.is_terminal());
    cold.store.open.close();
    let mut anew = welcome.await.unwrap();
    assert_eq!(world.result(&lease.invocation_id).await.status, toolplane_records::vocabulary::ResultStatus::Succeeded);
    cold.settle().await;
    assert_eq!((stream.acknowledged(), anew.acknowledged()), (1, 1));
}
