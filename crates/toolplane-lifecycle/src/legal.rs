//! Which status may follow which (semantics contract §2.3).

use toolplane_records::vocabulary::InvocationStatus::{self, *};

/// Whether `to` may follow `from`. `None` stands for an invocation that does not exist yet.
///
/// `canceled` and `timed_out` are legal from every non-terminal status; nothing follows a terminal one. A waiting call whose
/// permission is withdrawn before it starts goes from `queued` to `denied`.
pub fn is_legal(from: Option<InvocationStatus>, to: InvocationStatus) -> bool {
    let Some(from) = from else { return to == Planned };
    if from.is_terminal() {
        return false;
    }
    if matches!(to, Canceled | TimedOut) {
        return true;
    }
    match from {
        Planned => matches!(to, Selected | Failed | Blocked),
        Selected => matches!(to, ArgumentsReady | SchemaParseFailed | Blocked),
        ArgumentsReady => {
            matches!(to, PreHooksRunning | AwaitingApproval | Approved | Queued | ValidationFailed | Denied | Blocked)
        }
        PreHooksRunning => matches!(to, AwaitingApproval | Approved | Queued | Denied | Blocked | Failed),
        AwaitingApproval => matches!(to, Approved | Denied),
        Approved => matches!(to, Queued | Denied),
        Queued => matches!(to, Running | AwaitingApproval | Denied | Blocked | Failed),
        Running => matches!(to, PartialResult | NeedsInput | PostHooksRunning | Queued | Succeeded | Failed),
        PartialResult | NeedsInput => matches!(to, Running | PostHooksRunning | Queued | Succeeded | Failed),
        PostHooksRunning => matches!(to, Succeeded | Failed | Blocked | Queued),
        _ => false,
    }
}
