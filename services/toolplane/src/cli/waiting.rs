//! How long a command waits for a person who has to do something before a call goes on.

use std::time::Duration;

use clap::Args;
use tokio::sync::watch;
use tokio::time::Instant;

use super::output::duration;
use super::span;

/// How long to wait without a person at a terminal.
const UNATTENDED: Duration = Duration::from_secs(5 * 60);

/// How long to wait for a person.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct WaitArgs {
    /// How long to wait for a person who has to approve or answer something, e.g. `30s` or `10m`; then the command ends with exit
    /// code 3 and the call goes on waiting. On a terminal there is no bound unless one is given, elsewhere it is 5 minutes.
    #[arg(long, value_name = "TIME", value_parser = span::duration)]
    wait: Option<Duration>,
}

impl WaitArgs {
    /// The bound; none on a terminal that was not told one.
    pub(crate) fn bound(self, attended: bool) -> Option<Duration> {
        self.wait.or((!attended).then_some(UNATTENDED))
    }
}

/// Since when nothing goes on because a person has to act. Clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct WaitTimer {
    since: watch::Sender<Option<Instant>>,
    bound: Option<Duration>,
}

impl WaitTimer {
    /// No person is waited for yet; later for at most `bound`.
    pub(crate) fn new(bound: Option<Duration>) -> Self {
        Self { since: watch::channel(None).0, bound }
    }

    /// A person is waited for from now on, or none any more.
    pub(crate) fn set(&self, waits: bool) {
        self.since.send_replace(waits.then(Instant::now));
    }

    /// What a person is told who is not there: how long this waits, and what then.
    pub(crate) fn notice(&self) -> Option<String> {
        let bound = duration(self.bound?);
        Some(format!("waiting for at most {bound} (--wait); after that the call goes on waiting without this command"))
    }

    /// Ends when a person was waited for as long as the bound allows; else never.
    pub(crate) async fn too_long(&self) {
        let mut since = self.since.subscribe();
        loop {
            let started = *since.borrow_and_update();
            let over = async {
                match started.zip(self.bound) {
                    Some((started, bound)) => tokio::time::sleep_until(started + bound).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = over => return,
                changed = since.changed() => if changed.is_err() { return std::future::pending().await },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_where_nobody_looks_there_is_a_bound_unless_one_is_given() {
        let second = Duration::from_secs(1);
        assert_eq!(WaitArgs { wait: None }.bound(true), None);
        assert_eq!(WaitArgs { wait: None }.bound(false), Some(UNATTENDED));
        assert_eq!(WaitArgs { wait: Some(second) }.bound(true), Some(second));
        assert_eq!(WaitTimer::new(None).notice(), None);
        assert!(WaitTimer::new(Some(UNATTENDED)).notice().unwrap().contains("5 min"));
    }

    #[tokio::test(start_paused = true)]
    async fn only_waiting_counts() {
        let waiting = WaitTimer::new(Some(Duration::from_secs(10)));
        let ends = |within: u64| tokio::time::timeout(Duration::from_secs(within), waiting.too_long());
        assert!(ends(60).await.is_err(), "nobody is waited for");
        waiting.set(true);
        assert!(ends(9).await.is_err());
        waiting.set(false);
        assert!(ends(60).await.is_err(), "somebody answered");
        waiting.set(true);
        assert!(ends(11).await.is_ok());
        let unbounded = WaitTimer::new(None);
        unbounded.set(true);
        assert!(tokio::time::timeout(Duration::from_secs(100_000), unbounded.too_long()).await.is_err());
    }
}
