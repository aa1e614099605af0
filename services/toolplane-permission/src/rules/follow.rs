//! Noticing that rules have changed elsewhere: in a file, or in another process.

use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::RulesError;
use super::book::RuleBook;
use super::stored;
use crate::ledger::Stream;

impl RuleBook {
    /// Keeps the set in force what files and the store say, until `stop`.
    pub(crate) async fn follow(self: Arc<Self>, every: Duration, stop: CancellationToken) {
        let mut heads = self.ledger.heads(Stream::Rules);
        let mut look = tokio::time::interval(every);
        look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        // Where signals cannot be had, files are still looked at.
        let mut hangups = signal(SignalKind::hangup()).ok();
        loop {
            let hangup = async {
                match &mut hangups {
                    Some(hangups) => hangups.recv().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = stop.cancelled() => return,
                _ = hangup => self.reload_and_tell().await,
                // The ledger lives as long as the book.
                _ = heads.changed() => self.refresh_and_tell().await,
                _ = look.tick() => {
                    self.end_expired().await;
                    self.refresh_and_tell().await;
                    if self.files_have_changed().await {
                        self.reload_and_tell().await;
                    }
                }
            }
        }
    }

    async fn reload_and_tell(&self) {
        let before = self.active().digest().to_owned();
        match self.reload(false).await {
            Ok(active) if active.digest() == before => {}
            Ok(active) => {
                tracing::info!(
                    policy_digest = active.digest(),
                    rules = active.rules().len(),
                    "other rules are in force"
                );
            }
            Err(RulesError::Refused(faults)) => {
                for fault in &faults.0 {
                    tracing::error!(place = fault.place, rule = fault.rule, "a configured rule is refused");
                }
                tracing::error!(policy_digest = before, "the rules before stay in force");
            }
            Err(error) => tracing::warn!(%error, "the rules cannot be read again now"),
        }
    }

    async fn refresh_and_tell(&self) {
        let before = self.active().digest().to_owned();
        match self.refresh().await {
            Ok(()) => {
                let active = self.active();
                if active.digest() != before {
                    tracing::info!(policy_digest = active.digest(), "stored rules have changed");
                }
            }
            Err(error) => tracing::warn!(%error, code = error.code(), "stored rules cannot be read now"),
        }
    }

    async fn end_expired(&self) {
        match stored::expire_due(&self.ledger).await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "stored rules have expired"),
            Err(error) => tracing::warn!(%error, "expired rules cannot be taken out now"),
        }
    }
}
