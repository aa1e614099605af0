//! How long a connection lives: until its age asks the client to come anew, or the server stops.
//!
//! A connection that has reached its age takes no new calls (the transport says so to the client); what runs on it may go
//! on for a while. Then its streams end in words, so that a watcher knows to resume, and a moment later it is closed.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;
use toolplane_records::codes;

use tokio_util::sync::{CancellationToken, DropGuard};

use super::seats::{Seat, SeatGuard};
use crate::status::ApiError;

/// Different ages a server gives to its connections. Clients that came together must not leave together.
const LANES: u32 = 8;
/// Between the last message on a stream and the end of its connection.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// What a client waits at least before it comes back.
const COME_BACK: Duration = Duration::from_millis(20);

/// How old connections may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionAge {
    /// When a client is asked to connect anew; give or take a tenth.
    pub most: Duration,
    /// How long calls may go on after that.
    pub grace: Duration,
}

impl ConnectionAge {
    /// The ages of the lanes: spread over a tenth to either side, shifted by chance so that servers differ too.
    pub(super) fn lanes(self) -> Vec<Self> {
        let shift = (RandomState::new().hash_one(self.most) % 1000) as f64 / 1000.0;
        let age = |lane: u32| self.most.mul_f64(0.9 + 0.2 * (f64::from(lane) + shift) / f64::from(LANES));
        (0..LANES).map(|lane| Self { most: age(lane), ..self }).collect()
    }
}

/// What a call may know about the connection it came over. It is among the extensions of the request.
#[derive(Clone, Debug, Default)]
pub struct ConnectionLife {
    leaving: CancellationToken,
    ends: CancellationToken,
    seat: Option<Arc<Seat>>,
}

impl ConnectionLife {
    /// The life of the connection of `request`; one without an end for a call from this very process.
    pub fn of<T>(request: &tonic::Request<T>) -> Self {
        request.extensions().get::<Self>().cloned().unwrap_or_default()
    }

    /// Waits until the client has been asked to connect anew, because of the connection's age. For streams that have a way
    /// of their own to say goodbye; all others are ended with `UNAVAILABLE` when the grace is nearly over.
    pub async fn leaving(&self) {
        self.leaving.cancelled().await;
    }

    /// The place of the connection; none for a call from this very process.
    pub(super) fn seat(&self) -> Option<&Arc<Seat>> {
        self.seat.as_ref()
    }

    pub(super) fn until(&self) -> Until {
        let last_words = ApiError::Unavailable {
            reason: codes::CONNECTION_ENDS,
            message: "this connection ends: connect again and resume".to_owned(),
            retry_after: COME_BACK,
        };
        Until { token: self.ends.clone(), last_words }
    }
}

/// When a stream is ended from outside, and with which words.
#[derive(Clone, Debug)]
pub(crate) struct Until {
    pub(super) token: CancellationToken,
    pub(super) last_words: ApiError,
}

/// The tokens of one connection. Dropped with it.
#[derive(Debug)]
pub(super) struct Lifeline {
    pub(super) life: ConnectionLife,
    /// The connection is to fail.
    pub(super) cut: CancellationToken,
    _place: Option<SeatGuard>,
    _gone: DropGuard,
}

impl Lifeline {
    /// Begins a connection's life. `ends` is the server's, the end of its streams; `cut` ends this connection alone.
    pub(super) fn begin(
        age: Option<ConnectionAge>,
        ends: &CancellationToken,
        cut: CancellationToken,
        place: Option<SeatGuard>,
    ) -> Self {
        let seat = place.as_ref().map(SeatGuard::seat);
        let life = ConnectionLife { leaving: CancellationToken::new(), ends: ends.child_token(), seat };
        let gone = CancellationToken::new();
        if let Some(age) = age {
            let aging = grow_old(age, life.clone(), cut.clone());
            let gone = gone.clone();
            crate::tasks::spawn("age of a connection", async move { gone.run_until_cancelled(aging).await });
        }
        Self { life, cut, _place: place, _gone: gone.drop_guard() }
    }
}

async fn grow_old(age: ConnectionAge, life: ConnectionLife, cut: CancellationToken) {
    let last_words = LAST_WORDS.min(age.grace / 2);
    tokio::time::sleep(age.most).await;
    life.leaving.cancel();
    tokio::time::sleep(age.grace - last_words).await;
    life.ends.cancel();
    tokio::time::sleep(last_words).await;
    cut.cancel();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_differ_and_stay_within_a_tenth() {
        let age = ConnectionAge { most: Duration::from_secs(900), grace: Duration::from_secs(30) };
        let lanes = age.lanes();
        assert_eq!(lanes.len(), LANES as usize);
        assert!(lanes.windows(2).all(|pair| pair[0].most < pair[1].most), "{lanes:?}");
        let range = Duration::from_secs(810)..=Duration::from_secs(990);
        assert!(lanes.iter().all(|lane| range.contains(&lane.most) && lane.grace == age.grace), "{lanes:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_grows_old_step_by_step() {
        let age = ConnectionAge { most: Duration::from_secs(60), grace: Duration::from_secs(30) };
        let begin = tokio::time::Instant::now();
        let line = Lifeline::begin(Some(age), &CancellationToken::new(), CancellationToken::new(), None);
        line.life.leaving().await;
        assert_eq!(begin.elapsed().as_secs(), 60);
        line.life.ends.cancelled().await;
        assert_eq!(begin.elapsed().as_secs(), 89);
        line.cut.cancelled().await;
        assert_eq!(begin.elapsed().as_secs(), 90);
    }

    #[tokio::test(start_paused = true)]
    async fn without_an_age_only_the_server_ends_it() {
        let (ends, cut) = (CancellationToken::new(), CancellationToken::new());
        let line = Lifeline::begin(None, &ends, cut.child_token(), None);
        toolplane_wait::pause(Duration::from_secs(1_000_000), "the clock of this test is paused").await;
        assert!(!line.life.leaving.is_cancelled() && !line.life.ends.is_cancelled());
        ends.cancel();
        assert!(line.life.ends.is_cancelled() && !line.cut.is_cancelled());
        cut.cancel();
        assert!(line.cut.is_cancelled());
    }
}
