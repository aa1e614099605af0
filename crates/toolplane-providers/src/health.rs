//! How a provider is: what follows from how it answered, when it is asked again, and whether calls of its tools are let through.
//!
//! Two things are counted, because one may work while the other does not: looks at what it has (*tries*), and *calls* of its tools.
//!
//! | state | when |
//! | --- | --- |
//! | `pending` | it was never asked, or the first answer is still waited for |
//! | `ready` | it said what it has when last asked, and calls come through |
//! | `degraded` | the last try or some calls in a row failed; what it said before stands, and calls are let through until the circuit opens |
//! | `failed` | it never said what it has, or did not three times in a row; what it said before stands, and is marked |
//! | `retired` | somebody took it out of use, which ends everything |
//!
//! The circuit opens when too many calls in a row or three tries in a row fail, and at once for a flood or a lie. While it is open, calls
//! are answered without the provider. After a while one call is let through (half open), and its end closes or opens the circuit. A
//! list that is said again closes only what failed lists opened: a provider cannot talk its own circuit shut.
//!
//! A failure here is one of the provider, as [`blame`] tells. A tool that ran and says that it failed is an answer like any other.

pub mod blame;
#[cfg(test)]
mod tests;
mod told;

use toolplane_records::provider::{FaultReport, Provider, ProviderStatus, ToolCounts};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{CircuitState, ProviderFault, ProviderState};

pub use told::{away, line, loading_state};

/// Most characters that are kept of what went wrong.
pub const MAX_MESSAGE: usize = 500;

/// How a try or a call went, as far as the provider is concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It answered as it should.
    Well,
    /// It did not.
    Badly {
        /// What kind of thing went wrong.
        fault: ProviderFault,
        /// For people; may hold what the provider wrote.
        message: String,
    },
}

/// Chance, from outside: any number is one as good as another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Jitter(pub u32);

/// Whether a call is let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It is.
    Pass,
    /// It is the one that tries: [`Policy::probing`] has to be stored before it goes, so that no other one does.
    Probe,
    /// It is not; milliseconds after which another one may be.
    Refuse {
        /// At least 1.
        retry_after_ms: u64,
    },
    /// It is not, and none ever will be.
    Retired,
}

/// How patient the platform is with providers. Times are milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The longest wait after the first failure; it doubles with each further one.
    pub first_wait_ms: u64,
    /// The longest wait there is, and the wait where only a person can mend it.
    pub max_wait_ms: u64,
    /// How many tries in a row may fail before a provider that was well has failed.
    pub failed_after: u32,
    /// How many calls in a row may fail before it is degraded.
    pub degraded_after: u32,
    /// How many calls in a row may fail before the circuit opens.
    pub open_after: u32,
    /// After which time the call that tries is given up.
    pub probe_ms: u64,
    /// The shortest time between two tries, whoever asks for them.
    pub between_tries_ms: u64,
}

impl Default for Policy {
    /// 5 seconds to 15 minutes; failed after 3 tries; degraded after 2 calls, open after 5; one minute for a probe; 5 seconds
    /// between tries.
    fn default() -> Self {
        Self {
            first_wait_ms: 5_000,
            max_wait_ms: 15 * 60_000,
            failed_after: 3,
            degraded_after: 2,
            open_after: 5,
            probe_ms: 60_000,
            between_tries_ms: 5_000,
        }
    }
}

/// The status of a provider that was just made: it is asked at once.
pub fn fresh(provider: &Provider, now: Timestamp) -> ProviderStatus {
    ProviderStatus {
        schema_version: toolplane_records::schema_version(),
        provider_id: provider.provider_id.clone(),
        tenant: provider.tenant.clone(),
        state: ProviderState::Pending,
        fault: None,
        circuit: CircuitState::Closed,
        circuit_until: None,
        times_opened: 0,
        last_success_at: None,
        last_try_at: None,
        next_try_at: Some(now),
        consecutive_failures: 0,
        call_failures: 0,
        tools: ToolCounts::default(),
        server_name: String::new(),
        server_version: String::new(),
        protocol_version: String::new(),
        list_digest: None,
    }
}

/// The status of a provider that is taken out of use.
pub fn retired(status: &ProviderStatus) -> ProviderStatus {
    ProviderStatus { state: ProviderState::Retired, next_try_at: None, ..status.clone() }
}

/// Whether it is time to ask what it has.
pub fn is_due(status: &ProviderStatus, now: Timestamp) -> bool {
    status.state != ProviderState::Retired && status.next_try_at.is_some_and(|at| at <= now)
}

/// Whether a call is let through.
pub fn admit(status: &ProviderStatus, now: Timestamp) -> Admission {
    if status.state == ProviderState::Retired {
        return Admission::Retired;
    }
    match (status.circuit, status.circuit_until) {
        (CircuitState::Closed, _) => Admission::Pass,
        (_, Some(until)) if until > now => {
            Admission::Refuse { retry_after_ms: u64::try_from(until.since_millis(now)).unwrap_or(1) }
        }
        _ => Admission::Probe,
    }
}

impl Policy {
    /// The status after it was asked what it has. `interval_ms`: how long after a good answer it is asked again; not by itself when
    /// absent. A retired provider stays as it is.
    pub fn tried(
        &self,
        status: &ProviderStatus,
        outcome: &Outcome,
        interval_ms: Option<u64>,
        now: Timestamp,
        jitter: Jitter,
    ) -> ProviderStatus {
        if status.state == ProviderState::Retired {
            return status.clone();
        }
        let mut after = ProviderStatus { last_try_at: Some(now), ..status.clone() };
        match outcome {
            Outcome::Well => {
                after.last_success_at = Some(now);
                after.consecutive_failures = 0;
                let interval = interval_ms.map(|interval| interval.max(self.between_tries_ms));
                after.next_try_at = interval.map(|interval| later(now, spread(interval, 8, jitter)));
                if after.call_failures < self.open_after {
                    close(&mut after);
                }
                after.fault = after.fault.filter(|_| after.call_failures > 0);
            }
            Outcome::Badly { fault, message } => {
                let least = if opens_at_once(*fault) { self.failed_after } else { 1 };
                after.consecutive_failures = after.consecutive_failures.saturating_add(1).max(least);
                let wait = self.wait(*fault, after.consecutive_failures, jitter);
                let next = later(now, wait);
                after.next_try_at = Some(next);
                after.fault = Some(report(*fault, message, now));
                if after.consecutive_failures >= self.failed_after {
                    // The platform asks again, so that no call has to; one may when the platform does not.
                    let until = later(next, self.probe_ms);
                    let until = after.circuit_until.map_or(until, |before| before.max(until));
                    open(&mut after, until);
                }
            }
        }
        self.judged(after)
    }

    /// The status after a call of one of its tools. A retired provider stays as it is.
    pub fn called(&self, status: &ProviderStatus, outcome: &Outcome, now: Timestamp, jitter: Jitter) -> ProviderStatus {
        if status.state == ProviderState::Retired {
            return status.clone();
        }
        let mut after = status.clone();
        match outcome {
            Outcome::Well => {
                after.call_failures = 0;
                close(&mut after);
                // It is there, whatever became of the tries.
                after.consecutive_failures = after.consecutive_failures.min(self.failed_after.saturating_sub(1));
                after.fault = after.fault.filter(|_| after.consecutive_failures > 0);
            }
            Outcome::Badly { fault, message } => {
                let least = if opens_at_once(*fault) { self.open_after } else { 1 };
                after.call_failures = after.call_failures.saturating_add(1).max(least);
                after.fault = Some(report(*fault, message, now));
                let opens = match after.circuit {
                    CircuitState::Closed => after.call_failures >= self.open_after,
                    CircuitState::HalfOpen => true,
                    // Calls that were on their way when it opened say nothing new.
                    CircuitState::Open => false,
                };
                if opens {
                    let wait = self.wait(*fault, after.times_opened.saturating_add(1), jitter);
                    open(&mut after, later(now, wait));
                }
            }
        }
        self.judged(after)
    }

    /// The status while one call tries whether the provider is back; see [`Admission::Probe`].
    pub fn probing(&self, status: &ProviderStatus, now: Timestamp) -> ProviderStatus {
        let until = Some(later(now, self.probe_ms));
        ProviderStatus { circuit: CircuitState::HalfOpen, circuit_until: until, ..status.clone() }
    }

    /// The status after somebody, or the provider itself (`list_changed`), wants it to be asked again: soon, and never more often than
    /// [`between_tries_ms`](Self::between_tries_ms) allows, however often that is wanted. `patient`: the provider wants it, and waits
    /// as long as its failures say.
    pub fn wanted(&self, status: &ProviderStatus, patient: bool, now: Timestamp) -> ProviderStatus {
        if status.state == ProviderState::Retired {
            return status.clone();
        }
        let soonest = status.last_try_at.map_or(now, |last| later(last, self.between_tries_ms).max(now));
        let next = match status.next_try_at {
            Some(next) if next <= soonest || (patient && status.consecutive_failures > 0) => next,
            _ => soonest,
        };
        ProviderStatus { next_try_at: Some(next), ..status.clone() }
    }

    /// How long to wait after so many failures in a row.
    fn wait(&self, fault: ProviderFault, failures: u32, jitter: Jitter) -> u64 {
        if needs_a_person(fault) {
            return spread(self.max_wait_ms, 2, jitter);
        }
        let doubled = failures.saturating_sub(1).min(32);
        let longest = self.first_wait_ms.saturating_mul(1 << doubled).min(self.max_wait_ms);
        spread(longest, 2, jitter)
    }

    fn judged(&self, status: ProviderStatus) -> ProviderStatus {
        let never = status.last_success_at.is_none();
        let state = if never && status.consecutive_failures == 0 {
            ProviderState::Pending
        } else if never || status.consecutive_failures >= self.failed_after {
            ProviderState::Failed
        } else if status.consecutive_failures > 0
            || status.call_failures >= self.degraded_after
            || status.circuit != CircuitState::Closed
        {
            ProviderState::Degraded
        } else {
            ProviderState::Ready
        };
        ProviderStatus { state, ..status }
    }
}

fn open(status: &mut ProviderStatus, until: Timestamp) {
    if status.circuit != CircuitState::Open {
        status.times_opened = status.times_opened.saturating_add(1);
    }
    (status.circuit, status.circuit_until) = (CircuitState::Open, Some(until));
}

fn close(status: &mut ProviderStatus) {
    (status.circuit, status.circuit_until, status.times_opened) = (CircuitState::Closed, None, 0);
}

/// A provider that does such a thing is left alone at once: what it costs is not counted twice.
fn opens_at_once(fault: ProviderFault) -> bool {
    matches!(fault, ProviderFault::Flooded | ProviderFault::Lied)
}

/// Whether asking again changes nothing until somebody does something.
pub(crate) fn needs_a_person(fault: ProviderFault) -> bool {
    matches!(
        fault,
        ProviderFault::Unauthorized
            | ProviderFault::CredentialMissing
            | ProviderFault::NotAllowed
            | ProviderFault::Misconfigured
    )
}

fn report(code: ProviderFault, message: &str, at: Timestamp) -> FaultReport {
    FaultReport { code, message: message.chars().take(MAX_MESSAGE).collect(), at }
}

/// `longest` less up to one `part`th of it, as chance will have it.
fn spread(longest: u64, part: u64, jitter: Jitter) -> u64 {
    let room = longest / part;
    let less = (u128::from(room) * u128::from(jitter.0)) >> u32::BITS;
    longest - u64::try_from(less).unwrap_or(room)
}

fn later(now: Timestamp, millis: u64) -> Timestamp {
    now.plus_millis(i64::try_from(millis).unwrap_or(i64::MAX))
}
