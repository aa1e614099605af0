//! What was heard of a provider while its tools were called: its circuit follows, and a look when one is worth it.

use std::sync::Arc;

use toolplane_providers::Outcome;
use toolplane_providers::health::Policy;
use toolplane_providers::health::blame::{Verdict, of_call};
use toolplane_records::error::ToolError;
use toolplane_records::ids::{ProviderId, TenantId};
use toolplane_records::provider::ProviderStatus;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::ProviderKind;
use toolplane_runtime::ApiError;

use super::Providers;
use super::change::Change;
use super::held::Held;
use super::looks::Looks;
use super::take_in::{jitter, state_fact};

/// What was heard of a provider.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard {
    /// Calls that ended, in order.
    pub(crate) calls: Vec<HeardCall>,
    /// A server of it, or a worker that has its tools, says that they have changed.
    pub(crate) tools_changed: bool,
}

/// How a call ended.
#[derive(Clone, Debug)]
pub(crate) struct HeardCall {
    pub(crate) invocation_id: String,
    pub(crate) error: Option<ToolError>,
}

impl Looks {
    /// Takes in what was heard of a provider; of one that is not known, or out of use, nothing.
    pub(crate) async fn hear(&self, tenant: &TenantId, id: &ProviderId, heard: Heard) -> Result<(), ApiError> {
        // Workers say what they like: a name that nothing has leaves nothing behind here.
        if self.shelf.get(tenant, id).is_none() {
            return Ok(());
        }
        let (providers, policy) = (self.providers.clone(), self.options.policy.clone());
        let (clock, heard) = (Arc::clone(&self.clock), Arc::new(heard));
        let change = move |held: Option<Arc<Held>>| -> super::turn::Try<()> {
            let (providers, policy, heard) = (providers.clone(), policy.clone(), Arc::clone(&heard));
            let now = clock();
            Box::pin(async move {
                match held.filter(|held| !held.is_retired()) {
                    Some(held) => take_in(&providers, &held, &policy, &heard, now.await?).await,
                    None => Ok(Some(())),
                }
            })
        };
        self.providers.in_turn(tenant, id, change).await
    }
}

/// Makes durable what follows for a provider; nothing when another process was faster.
async fn take_in(
    providers: &Providers,
    held: &Held,
    policy: &Policy,
    heard: &Heard,
    now: Timestamp,
) -> Result<Option<()>, ApiError> {
    // The worker that has the tools says so itself, so it is there, whatever failed before. A server may say so and go on failing.
    let is_back = heard.tools_changed && held.provider.source.kind() == ProviderKind::Worker;
    let (before, status) = (&held.status, follows(policy, &held.status, heard, is_back, now));
    if *before == status {
        return Ok(Some(()));
    }
    let is_told = (before.state, before.circuit) != (status.state, status.circuit);
    let facts = is_told.then(|| state_fact(&status)).into_iter().collect();
    let change = Change { provider: held.provider.clone(), status, tools: Vec::new(), facts, is_told };
    Ok(providers.change(Some(held), change, now).await?.map(drop))
}

/// How a provider is after what was heard. With `is_back` it is asked soon even if it did not answer before.
fn follows(policy: &Policy, before: &ProviderStatus, heard: &Heard, is_back: bool, now: Timestamp) -> ProviderStatus {
    let mut status = before.clone();
    let mut is_wanted = heard.tools_changed;
    for HeardCall { invocation_id, error } in &heard.calls {
        let outcome = match of_call(error.as_ref()) {
            Verdict::Nothing => continue,
            Verdict::Doubtful => {
                is_wanted = true;
                continue;
            }
            Verdict::Well => Outcome::Well,
            Verdict::Badly(fault) => {
                is_wanted = true;
                let said = error.as_ref().map_or("", |error| error.message.as_str());
                Outcome::Badly { fault, message: format!("{said} ({invocation_id})") }
            }
        };
        status = policy.called(&status, &outcome, now, jitter());
    }
    if is_wanted { policy.wanted(&status, !is_back, now) } else { status }
}

#[cfg(test)]
mod tests {
    use toolplane_providers::health::{Jitter, fresh};
    use toolplane_records::codes::{self, Code};
    use toolplane_records::vocabulary::{CircuitState, ProviderFault, ProviderState};

    use super::super::tests::provider;
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn ready() -> ProviderStatus {
        let status = fresh(&provider("acme", "tools", None), at(0));
        let asked = Policy::default().tried(&status, &Outcome::Well, Some(600_000), at(0), jitter());
        assert_eq!(asked.state, ProviderState::Ready);
        asked
    }

    fn calls(errors: &[Option<Code>]) -> Heard {
        let call = |code: &Option<Code>| HeardCall {
            invocation_id: "inv_a".to_owned(),
            error: code.map(|code| ToolError::of(code, "gone")),
        };
        Heard { calls: errors.iter().map(call).collect(), tools_changed: false }
    }

    #[test]
    fn failed_calls_open_the_circuit_and_a_success_closes_it() {
        let (policy, lost) = (Policy::default(), Some(codes::MCP_NO_ANSWER));
        let once = follows(&policy, &ready(), &calls(&[lost]), false, at(10_000));
        assert_eq!((once.circuit, once.next_try_at), (CircuitState::Closed, Some(at(10_000))), "it is looked at");
        let open = follows(&policy, &once, &calls(&[lost; 4]), false, at(10_001));
        assert_eq!((open.circuit, open.state), (CircuitState::Open, ProviderState::Degraded));
        assert!(open.fault.as_ref().is_some_and(|fault| fault.message.contains("gone (inv_a)")), "{:?}", open.fault);
        let closed = follows(&policy, &open, &calls(&[None]), false, at(60_000));
        assert_eq!((closed.circuit, closed.state), (CircuitState::Closed, ProviderState::Ready));
    }

    #[test]
    fn what_is_no_fault_of_the_provider_changes_nothing() {
        let (policy, before) = (Policy::default(), ready());
        let heard =
            calls(&[None, Some(codes::MCP_TOOL_FAILED), Some(codes::EXEC_CANCELED), Some(codes::EGRESS_DENIED)]);
        assert_eq!(follows(&policy, &before, &heard, false, at(10_000)), before);
    }

    #[test]
    fn a_changed_list_and_a_slow_call_are_looked_at_soon_and_not_too_often() {
        let (policy, before) = (Policy::default(), ready());
        let changed = Heard { tools_changed: true, ..Heard::default() };
        let after = follows(&policy, &before, &changed, false, at(60_000));
        assert_eq!((after.next_try_at, after.state), (Some(at(60_000)), ProviderState::Ready));
        let soon = follows(&policy, &before, &calls(&[Some(codes::EXEC_TIMEOUT)]), false, at(1));
        assert_eq!(soon.next_try_at, Some(at(5_000)), "never more often than that");
        assert_eq!((soon.call_failures, soon.circuit), (0, CircuitState::Closed));
    }

    #[test]
    fn a_worker_that_is_back_is_asked_soon_and_not_too_often() {
        let policy = Policy::default();
        let outcome = Outcome::Badly { fault: ProviderFault::Unreachable, message: String::new() };
        let away = (0..8).fold(ready(), |status, _| policy.tried(&status, &outcome, None, at(0), Jitter(0)));
        let changed = Heard { tools_changed: true, ..Heard::default() };
        let waits = follows(&policy, &away, &changed, false, at(1_000));
        assert_eq!(waits.next_try_at, away.next_try_at, "a server that fails waits as long as its failures say");
        let asked = follows(&policy, &away, &changed, true, at(1_000));
        assert_eq!((asked.next_try_at, asked.circuit), (Some(at(5_000)), CircuitState::Open), "it has to answer first");
        let again = follows(&policy, &asked, &changed, true, at(1_001));
        assert_eq!(again, asked, "however often that is said");
    }
}
