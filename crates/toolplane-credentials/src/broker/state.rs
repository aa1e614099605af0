//! What is known of one credential, and when its source is looked at again. Pure: it is told the time and what a source gave.

#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use crate::config::CredentialConfig;
use crate::credential::Credential;
use crate::error::SourceFault;
use crate::source::{FileStamp, Plain, Source};

/// Age at which a command is run again.
const REFRESH: Duration = Duration::from_secs(300);
/// How long a value is used while its source gives nothing that can be used.
const MAX_AGE: Duration = Duration::from_secs(3600);
/// A token is renewed when this part of its lifetime is left, and at least this long before its end.
const RENEW_PART: u32 = 5;
const RENEW_BEFORE: Duration = Duration::from_secs(60);
/// A token is not used in this last part of its lifetime, at most this long: a request takes its time.
const UNUSED_PART: u32 = 10;
const UNUSED_AT_MOST: Duration = Duration::from_secs(10);
/// Pause after the first failure of a source; doubled with each further one, up to the longest.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A token that was taken for so long was not refused at once.
const TRUSTED_AFTER: Duration = Duration::from_secs(60);

/// When a source is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) enum Policy {
    /// Before every use; what it gave last may be used for so long while it gives nothing.
    EveryUse { max_age: Duration },
    /// When the value has this age, and the same.
    ByAge { refresh: Duration, max_age: Duration },
    /// As the lifetime of the token says.
    ByLifetime,
}

/// What is to be done for somebody who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// Nothing: there is a value.
    Use,
    /// There is a value, and one who asks should look for a newer one.
    Renew,
    /// The source has to be looked at first.
    Read,
    /// There is none, and it was looked for a moment ago.
    Fail,
}

/// What is known.
#[derive(Debug, Default)]
pub(super) struct State {
    current: Option<Held>,
    /// What was wrong when the source was looked at last.
    fault: Option<SourceFault>,
    /// How often it was looked at: who waited for another one's look sees that it has happened.
    pub(super) looks: u64,
    /// The generation of the newest value there was.
    generation: u64,
    failures: u32,
    /// Tokens refused one after the other.
    refusals: u32,
    not_before: Option<Instant>,
    /// A provider refused the value: its source is looked at, whatever its age is.
    due: bool,
    /// Somebody asked since it was renewed.
    pub(super) used: bool,
}

/// A value.
#[derive(Debug)]
struct Held {
    credential: Credential,
    /// When it was read.
    since: Instant,
    /// When its source gave it last.
    seen_at: Instant,
    stamp: Option<FileStamp>,
    /// When a token is renewed, and when it is not used any more.
    ends: Option<(Instant, Instant)>,
}

// === impl Policy ===

impl Policy {
    pub(super) fn of(source: &Source, config: &CredentialConfig) -> Self {
        let max_age = config.max_age_ms.map_or(MAX_AGE, Duration::from_millis);
        match source {
            Source::Token { .. } => Self::ByLifetime,
            Source::Plain(Plain::Command(_)) => {
                let refresh = config.refresh_ms.map_or(REFRESH, Duration::from_millis).min(max_age);
                Self::ByAge { refresh, max_age }
            }
            Source::Plain(_) => Self::EveryUse { max_age },
        }
    }
}

// === impl State ===

impl State {
    pub(super) fn want(&self, policy: Policy, now: Instant) -> Want {
        let paused = self.not_before.is_some_and(|at| now < at);
        let Some(held) = self.current.as_ref().filter(|held| held.is_usable(policy, now)) else {
            let must_wait = paused && !matches!(policy, Policy::EveryUse { .. });
            return if must_wait { Want::Fail } else { Want::Read };
        };
        let is_due = self.due
            || match policy {
                Policy::EveryUse { .. } => return Want::Read,
                Policy::ByAge { refresh, .. } => now.duration_since(held.seen_at) >= refresh,
                Policy::ByLifetime => held.ends.is_some_and(|(renew, _)| now >= renew),
            };
        if is_due && !paused { Want::Renew } else { Want::Use }
    }

    /// The value, if it may be used now.
    pub(super) fn usable(&self, policy: Policy, now: Instant) -> Option<&Credential> {
        self.current.as_ref().filter(|held| held.is_usable(policy, now)).map(|held| &held.credential)
    }

    /// How the file was, of a value that was read from one.
    pub(super) fn stamp(&self) -> Option<FileStamp> {
        self.current.as_ref().filter(|_| !self.due).and_then(|held| held.stamp)
    }

    pub(super) fn current(&self) -> Option<&Credential> {
        self.current.as_ref().map(|held| &held.credential)
    }

    pub(super) fn fault(&self) -> Option<SourceFault> {
        self.fault
    }

    pub(super) fn next_generation(&self) -> u64 {
        self.generation + 1
    }

    /// How long ago the value was read, and how long it may still be used, of a token.
    pub(super) fn age(&self, now: Instant) -> Option<(Duration, Option<Duration>)> {
        let held = self.current.as_ref()?;
        let left = held.ends.map(|(_, over)| over.saturating_duration_since(now));
        Some((now.saturating_duration_since(held.since), left))
    }

    /// When to ask again.
    pub(super) fn retry_after(&self, now: Instant) -> Duration {
        self.not_before.map_or(PAUSE, |at| at.saturating_duration_since(now)).max(PAUSE)
    }

    /// The source has what it had.
    pub(super) fn saw_the_same(&mut self, now: Instant) {
        self.well();
        if let Some(held) = &mut self.current {
            held.seen_at = now;
        }
    }

    /// The file is another one with the same in it.
    pub(super) fn restamp(&mut self, stamp: Option<FileStamp>) {
        if let Some(held) = &mut self.current {
            held.stamp = stamp;
        }
    }

    /// The source gave a new value. `asked` is when it was asked for it.
    pub(super) fn took(
        &mut self,
        credential: Credential,
        stamp: Option<FileStamp>,
        lifetime: Option<Duration>,
        asked: Instant,
    ) {
        self.well();
        self.generation = credential.generation();
        let ends = lifetime.map(|lifetime| ends(asked, lifetime));
        self.current = Some(Held { credential, since: asked, seen_at: asked, stamp, ends });
        // One that is refused at once is not asked for again at once.
        self.not_before = (self.refusals > 0).then(|| asked + pause(self.refusals));
    }

    /// The source gave nothing that can be used. Says what was wrong before.
    pub(super) fn failed(&mut self, fault: SourceFault, now: Instant) -> Option<SourceFault> {
        self.looks += 1;
        self.used = false;
        self.failures = self.failures.saturating_add(1);
        self.not_before = Some(now + pause(self.failures));
        if fault.ends_at_once() {
            self.current = None;
        }
        self.fault.replace(fault)
    }

    /// A provider refused this value. Says whether it is the one in force.
    pub(super) fn refused(&mut self, generation: u64, policy: Policy, now: Instant) -> bool {
        let Some(held) = self.current.as_ref().filter(|held| held.credential.generation() == generation) else {
            return false;
        };
        if !matches!(policy, Policy::ByLifetime) {
            self.due = true;
            return true;
        }
        let was_taken = now.saturating_duration_since(held.since) >= TRUSTED_AFTER;
        self.refusals = if was_taken { 1 } else { self.refusals.saturating_add(1) };
        self.current = None;
        if was_taken {
            self.not_before = None;
        }
        self.fault = Some(SourceFault::TokensRefused);
        true
    }

    fn well(&mut self) {
        self.looks += 1;
        self.used = false;
        self.fault = None;
        self.failures = 0;
        self.not_before = None;
        self.due = false;
    }
}

impl Held {
    fn is_usable(&self, policy: Policy, now: Instant) -> bool {
        match (policy, self.ends) {
            (_, Some((_, over))) => now < over,
            (Policy::EveryUse { max_age } | Policy::ByAge { max_age, .. }, None) => {
                now.saturating_duration_since(self.seen_at) <= max_age
            }
            (Policy::ByLifetime, None) => false,
        }
    }
}

/// When a token that was asked for at `asked` is renewed, and when it is not used any more.
fn ends(asked: Instant, lifetime: Duration) -> (Instant, Instant) {
    let over = lifetime - (lifetime / UNUSED_PART).min(UNUSED_AT_MOST);
    let renew_before = (lifetime / RENEW_PART).max(RENEW_BEFORE).min(lifetime / 2);
    (asked + (lifetime - renew_before).min(over), asked + over)
}

fn pause(failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1).min(5);
    (PAUSE * 2_u32.pow(doublings)).min(LONGEST_PAUSE)
}
