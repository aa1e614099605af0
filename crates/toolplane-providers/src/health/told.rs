//! How a provider is, in words.

use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::provider::ProviderStatus;
use toolplane_records::time::Timestamp;
use toolplane_records::visible::excerpt;
use toolplane_records::vocabulary::{CircuitState, LoadingState, ProviderFault, ProviderState, Recoverability};

use super::{Admission, admit, needs_a_person};

/// When to come back, while a call tries whether a provider is back.
const WHILE_TRIED_MS: u64 = 5_000;

/// What a caller of one of its tools is told while the provider is away; nothing while calls are let through. It holds no word that the
/// provider wrote: a model reads it.
pub fn away(status: &ProviderStatus, now: Timestamp) -> Option<ToolError> {
    let id = &status.provider_id;
    let mut error = match admit(status, now) {
        Admission::Pass | Admission::Probe => return None,
        Admission::Retired => ToolError::of(codes::PROVIDER_RETIRED, format!("the provider `{id}` is retired")),
        Admission::Refuse { retry_after_ms } => {
            let what = status.fault.as_ref().map_or("it does not answer", |fault| happened(fault.code));
            // Of a call that tries it is known when it is given up, which is no word for when it is over.
            let is_tried = status.circuit == CircuitState::HalfOpen;
            let retry_after_ms = if is_tried { retry_after_ms.min(WHILE_TRIED_MS) } else { retry_after_ms };
            let next = match is_tried {
                true => "a call tries whether it is back".to_owned(),
                false => format!("it is tried again in {}", duration(retry_after_ms)),
            };
            let message = format!("the provider `{id}` is away ({what}); {next}");
            let mut error = ToolError::of(codes::PROVIDER_AWAY, message);
            error.retry_after_ms = Some(retry_after_ms);
            error
        }
    };
    if status.fault.as_ref().is_some_and(|fault| needs_a_person(fault.code)) && error.retry_after_ms.is_some() {
        error.recoverability = Recoverability::CompleteSetup;
    }
    error.side_effects = Some("none".to_owned());
    Some(error)
}

/// How far the tools of a provider are from being callable, where it is the provider that keeps them from it.
pub fn loading_state(status: &ProviderStatus) -> Option<LoadingState> {
    match status.state {
        ProviderState::Pending => Some(LoadingState::PendingProvider),
        ProviderState::Failed | ProviderState::Retired => Some(LoadingState::Unavailable),
        ProviderState::Ready | ProviderState::Degraded => None,
    }
}

/// How it is, in one line for people: what happened, since when, and what comes next. What others wrote in it is as it is shown.
pub fn line(status: &ProviderStatus, now: Timestamp) -> String {
    let mut parts = vec![status.state.to_string()];
    if let Some(fault) = &status.fault {
        let mut what = happened(fault.code).to_owned();
        let times = status.consecutive_failures.max(status.call_failures);
        if times > 1 {
            what.push_str(&format!(", {times} times in a row"));
        }
        if !fault.message.is_empty() {
            what.push_str(&format!(": {}", excerpt(&fault.message, 200)));
        }
        parts.push(what);
    }
    if status.state == ProviderState::Retired {
        return parts.join("; ");
    }
    parts.push(match status.last_success_at {
        Some(at) => format!("said what it has {}", ago(at, now)),
        None => "never said what it has".to_owned(),
    });
    if let Some(at) = status.next_try_at {
        parts.push(format!("asked again {}", ahead(at, now)));
    }
    match (status.circuit, status.circuit_until) {
        (CircuitState::Open, Some(until)) => parts.push(format!("calls are let through again {}", ahead(until, now))),
        (CircuitState::Open, None) => parts.push("the next call tries whether it is back".to_owned()),
        (CircuitState::HalfOpen, _) => parts.push("a call tries whether it is back".to_owned()),
        (CircuitState::Closed, _) => {}
    }
    if status.fault.as_ref().is_some_and(|fault| needs_a_person(fault.code)) {
        parts.push("somebody has to mend it".to_owned());
    }
    parts.join("; ")
}

/// What happened, for anybody.
fn happened(fault: ProviderFault) -> &'static str {
    match fault {
        ProviderFault::Unreachable => "it cannot be reached",
        ProviderFault::TimedOut => "it does not answer in time",
        ProviderFault::Exited => "its process ended",
        ProviderFault::ProtocolError => "it does not speak its protocol",
        ProviderFault::Unauthorized => "it does not accept the credential",
        ProviderFault::CredentialMissing => "a credential is missing",
        ProviderFault::NotAllowed => "it may not be reached, or not be started",
        ProviderFault::Misconfigured => "it is configured in a way that cannot work",
        ProviderFault::Overloaded => "it says that it has too much to do",
        ProviderFault::Flooded => "it sent more than may be sent",
        ProviderFault::Lied => "it did something else than it said",
        ProviderFault::Internal => "the platform failed to ask it",
    }
}

fn ago(at: Timestamp, now: Timestamp) -> String {
    format!("{} ago", duration(u64::try_from(now.since_millis(at)).unwrap_or(0)))
}

fn ahead(at: Timestamp, now: Timestamp) -> String {
    match u64::try_from(at.since_millis(now)) {
        Ok(millis) if millis > 0 => format!("in {}", duration(millis)),
        _ => "now".to_owned(),
    }
}

/// A time as people say it, rounded up to what matters.
fn duration(millis: u64) -> String {
    let seconds = millis.div_ceil(1000);
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds.div_ceil(60)),
        7_200..172_800 => format!("{} h", seconds.div_ceil(3_600)),
        _ => format!("{} days", seconds.div_ceil(86_400)),
    }
}
