//! Sessions are kept, shared, replaced and given up when they should be.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use tokio::time::Instant;
use toolplane_wait::pause;

use super::*;
use crate::tests::script::{Calling, Script, options, pair};
use crate::{CloseReason, Failure, Limits};

const WHY: &str = "the clock is paused, and time is what this is about";

/// What the servers of a test do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Behave {
    Well,
    NotStart,
    EndAtOnce,
    EndAfterOneCall,
    EndAtTheFirstCall,
    Hang,
    BeginSlowly,
}

/// Starts servers and counts them.
struct Servers {
    started: AtomicUsize,
    running: Arc<AtomicUsize>,
    behave: Mutex<Behave>,
    tasks: Mutex<JoinSet<()>>,
}

struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Servers {
    fn new() -> Self {
        Self {
            started: AtomicUsize::new(0),
            running: Arc::default(),
            behave: Mutex::new(Behave::Well),
            tasks: Mutex::default(),
        }
    }

    fn counts(&self) -> (usize, usize) {
        (self.started.load(Ordering::SeqCst), self.running.load(Ordering::SeqCst))
    }

    fn start(&self) -> BoxFuture<'_, Result<Started, String>> {
        let behave = *self.behave.lock();
        self.started.fetch_add(1, Ordering::SeqCst);
        if behave == Behave::NotStart {
            return async { Err("no such program".to_owned()) }.boxed();
        }
        self.running.fetch_add(1, Ordering::SeqCst);
        let (transport, script) = pair(64 * 1024);
        self.tasks.lock().spawn(serve(script, behave));
        let guard: Guard = Box::new(Running(self.running.clone()));
        async { Ok(Started { transport, guard, on_change: None, is_shared: true }) }.boxed()
    }

    async fn lend(&self, pool: &Sessions<&'static str>, key: &'static str) -> Result<Lent, LendError> {
        pool.lend(&key, &|| self.start()).await
    }

    /// One call, and what it was like.
    async fn call(&self, pool: &Sessions<&'static str>, key: &'static str) -> Result<(), Failure> {
        let lent = self.lend(pool, key).await.map_err(|error| Failure::NotSent(error.to_string()))?;
        Calling::default().on(&lent).await.map(drop)
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_slow_to_begin_is_there_for_the_next_call() {
    let (servers, pool) = (Servers::new(), pool(PoolLimits::default()));
    *servers.behave.lock() = Behave::BeginSlowly;
    for _ in 0..2 {
        let gave_up = tokio::time::timeout(Duration::from_secs(2), servers.lend(&pool, "a")).await;
        assert!(gave_up.is_err(), "it takes five seconds");
    }
    servers.call(&pool, "a").await.unwrap();
    assert_eq!(servers.counts(), (1, 1), "one server, for all three");
    *servers.behave.lock() = Behave::Hang;
    let hanging = tokio::time::timeout(Duration::from_secs(2), servers.lend(&pool, "b")).await;
    assert!(hanging.is_err());
    drop(pool);
    pause(Duration::from_secs(1), WHY).await;
    assert_eq!(servers.counts(), (2, 0), "what began ends with the pool");
}

async fn serve(mut script: Script, behave: Behave) {
    if behave == Behave::Hang {
        std::future::pending::<()>().await;
    }
    if behave == Behave::EndAtOnce {
        return;
    }
    if behave == Behave::BeginSlowly {
        pause(Duration::from_secs(5), WHY).await;
    }
    script.begin_new().await;
    while let Some(message) = script.maybe_next().await {
        if behave == Behave::EndAtTheFirstCall {
            return;
        }
        if message["method"] == "tools/call" {
            script.done(&message["id"]).await;
        }
        if behave == Behave::EndAfterOneCall {
            return;
        }
    }
}

fn pool(limits: PoolLimits) -> Sessions<&'static str> {
    Sessions::new(limits, options(Limits::default()))
}

#[tokio::test(start_paused = true)]
async fn a_session_is_kept_and_keys_share_nothing() {
    let (pool, servers) = (pool(PoolLimits::default()), Servers::new());
    for _ in 0..3 {
        servers.call(&pool, "a").await.unwrap();
    }
    servers.call(&pool, "b").await.unwrap();
    assert_eq!((servers.counts(), pool.len()), ((2, 2), 2));
    pool.let_go(|key| *key == "a");
    assert_eq!((servers.counts(), pool.len()), ((2, 1), 1));
    drop(pool);
    assert_eq!(servers.counts(), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn many_who_want_a_session_start_one() {
    let (pool, servers) = (pool(PoolLimits { at_once: 100, ..PoolLimits::default() }), Servers::new());
    let calls = (0..50).map(|_| servers.call(&pool, "a"));
    for ended in futures_util::future::join_all(calls).await {
        ended.unwrap();
    }
    assert_eq!(servers.counts(), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn an_idle_session_goes_and_one_in_use_does_not() {
    let limits = PoolLimits { idle: Duration::from_secs(30), ..PoolLimits::default() };
    let (pool, servers) = (pool(limits), Servers::new());
    let using = async {
        let lent = servers.lend(&pool, "a").await.unwrap();
        pause(Duration::from_secs(300), WHY).await;
        assert_eq!(servers.counts(), (1, 1));
        drop(lent);
        pause(Duration::from_secs(29), WHY).await;
        assert_eq!(servers.counts(), (1, 1));
        pause(Duration::from_secs(2), WHY).await;
        assert_eq!((servers.counts(), pool.is_empty()), ((1, 0), true));
    };
    tokio::select! {
        () = pool.tend() => {}
        () = using => {}
    }
}

#[tokio::test(start_paused = true)]
async fn an_old_session_ends_its_calls_before_it_goes() {
    let limits = PoolLimits { lifetime: Duration::from_secs(60), ..PoolLimits::default() };
    let (pool, servers) = (pool(limits), Servers::new());
    let using = async {
        let lent = servers.lend(&pool, "a").await.unwrap();
        pause(Duration::from_secs(61), WHY).await;
        servers.call(&pool, "a").await.unwrap();
        assert_eq!(servers.counts(), (2, 2));
        // The old one still works for who has it.
        Calling::default().on(&lent).await.unwrap();
        drop(lent);
        assert_eq!(servers.counts(), (2, 1));
    };
    tokio::select! {
        () = pool.tend() => {}
        () = using => {}
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_is_lent_so_often_and_to_so_many() {
    let (pool, servers) = (pool(PoolLimits { calls: 2, at_once: 1, ..PoolLimits::default() }), Servers::new());
    for started in [1, 1, 2, 2, 3] {
        servers.call(&pool, "a").await.unwrap();
        assert_eq!(servers.counts(), (started, 1));
    }
    let lent = servers.lend(&pool, "b").await.unwrap();
    let mut second = Box::pin(servers.lend(&pool, "b"));
    assert!(futures_util::poll!(&mut second).is_pending());
    drop(lent);
    second.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn sessions_have_so_many_places_and_idle_ones_make_room() {
    let (pool, servers) = (pool(PoolLimits { sessions: 2, ..PoolLimits::default() }), Servers::new());
    servers.call(&pool, "a").await.unwrap();
    pause(Duration::from_secs(1), WHY).await;
    let b = servers.lend(&pool, "b").await.unwrap();
    let c = servers.lend(&pool, "c").await.unwrap();
    assert_eq!(servers.counts(), (3, 2));
    assert_eq!(servers.lend(&pool, "d").await.unwrap_err(), LendError::AllInUse(2));
    drop((b, c));
    servers.call(&pool, "d").await.unwrap();
    // Being full is nobody's failure.
    servers.call(&pool, "b").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_start_is_tried_less_and_less_and_then_left_alone() {
    let (pool, servers) = (pool(PoolLimits::default()), Servers::new());
    *servers.behave.lock() = Behave::NotStart;
    let began = Instant::now();
    for waited in [0, 500, 1_500] {
        assert_eq!(servers.lend(&pool, "a").await.unwrap_err(), LendError::NotStarted("no such program".to_owned()));
        assert_eq!(began.elapsed(), Duration::from_millis(waited));
    }
    for _ in 0..10 {
        let error = servers.lend(&pool, "a").await.unwrap_err();
        let LendError::LeftAlone { failures: 3, wait, last } = error else { panic!("{error}") };
        assert_eq!((wait, last.contains("no such program")), (Duration::from_secs(2), true));
    }
    assert_eq!((servers.counts(), began.elapsed()), ((3, 0), Duration::from_millis(1_500)));
    // Others are not concerned.
    *servers.behave.lock() = Behave::Well;
    servers.call(&pool, "b").await.unwrap();
    // One tries when it is due; who comes at the same time waits for what it finds.
    *servers.behave.lock() = Behave::NotStart;
    pause(Duration::from_secs(2), WHY).await;
    let (one, other) = tokio::join!(servers.lend(&pool, "a"), servers.lend(&pool, "a"));
    assert!(matches!(one.unwrap_err(), LendError::NotStarted(_)));
    assert!(matches!(other.unwrap_err(), LendError::LeftAlone { failures: 4, .. }));
    *servers.behave.lock() = Behave::Well;
    pause(Duration::from_secs(60), WHY).await;
    servers.call(&pool, "a").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ends_before_any_answer_has_not_started() {
    for (behave, told) in [(Behave::EndAtOnce, "no session"), (Behave::EndAtTheFirstCall, "no answer")] {
        let (pool, servers) = (pool(PoolLimits::default()), Servers::new());
        *servers.behave.lock() = behave;
        for _ in 0..3 {
            let failure = servers.call(&pool, "a").await.unwrap_err();
            assert!(failure.to_string().contains(told), "{failure}");
        }
        let failure = servers.call(&pool, "a").await.unwrap_err();
        assert!(failure.to_string().contains("3 times"), "{failure}");
        assert_eq!(servers.counts(), (3, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_ends_after_answers_is_started_again_at_once() {
    let (pool, servers) = (pool(PoolLimits::default()), Servers::new());
    *servers.behave.lock() = Behave::EndAfterOneCall;
    let began = Instant::now();
    for started in 1..=5 {
        let lent = servers.lend(&pool, "a").await.unwrap();
        Calling::default().on(&lent).await.unwrap();
        assert_eq!(lent.closed().await, CloseReason::Ended);
        assert_eq!(servers.counts(), (started, 1));
        drop(lent);
    }
    assert_eq!(began.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_hangs_at_its_start_is_ended() {
    let (pool, servers) = (pool(PoolLimits::default()), Servers::new());
    *servers.behave.lock() = Behave::Hang;
    let error = servers.lend(&pool, "a").await.unwrap_err();
    assert_eq!((error, servers.counts()), (LendError::NoSession(StartError::TimedOut), (1, 0)));
    // So is one that nobody waits for any more.
    pause(Duration::from_secs(1), WHY).await;
    let waited = tokio::time::timeout(Duration::from_secs(5), servers.lend(&pool, "a")).await;
    assert!(waited.is_err());
    assert_eq!((servers.counts(), pool.len()), ((2, 1), 1), "the next call may need it");
    pause(Limits::default().start, WHY).await;
    assert_eq!((servers.counts(), pool.len()), ((2, 0), 0));
}
