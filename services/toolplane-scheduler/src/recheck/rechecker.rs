//! Accepted calls that are decided about again: because what was decided may no longer be in force, or because the
//! answer to a question changed the input.

use std::sync::Arc;

use tonic::Code;
use toolplane_lifecycle::{Command, Replan};
use toolplane_records::codes;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::decision_request::{DecidedInput, DecisionRequest};
use toolplane_records::error::ToolError;
use toolplane_records::explanation::HookVerdict;
use toolplane_records::ids::{ApprovalId, InvocationKey};
use toolplane_records::invocation::{DispatchFacts, InputSafety, Invocation};
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{Behavior, ErrorClass, InvocationStatus, Recoverability};
use toolplane_runtime::Caller;

use super::in_force::DecisionsInForce;
use crate::calls::{Attached, Calls, Moment};
use crate::dispatch::Decisions as _;
use crate::environment::Environment;
use crate::error::CallError;
use crate::intake::{
    Asker, CallableTool, DecidedCall, Inputs, PermissionAnswer, Preparer, Resolved, Terms, ToolAddress,
    decision_request, denial, locks_again, tool_changed,
};
use crate::storage::RecordError;

/// Decides about accepted calls again.
#[derive(Clone, Debug)]
pub(crate) struct Rechecker {
    pub(crate) calls: Calls,
    preparer: Arc<Preparer>,
    in_force: Arc<DecisionsInForce>,
}

/// An accepted call with what a new decision about it needs.
pub(crate) struct Case {
    pub(crate) record: Arc<Invocation>,
    asker: Asker,
    caller: Arc<Caller>,
    pub(crate) tool: Arc<CallableTool>,
    /// What its surface says.
    terms: Terms,
    /// What the executor would get.
    pub(crate) call: JsonPayload,
}

/// Whether an accepted call can still be called.
pub(crate) enum CaseLookup {
    Callable(Box<Case>),
    /// Its tool is gone or hidden, or was declared anew: the error it ends with.
    NotCallable(Box<ToolError>),
}

impl Rechecker {
    pub(crate) fn new(calls: Calls, preparer: Arc<Preparer>, in_force: Arc<DecisionsInForce>) -> Self {
        Self { calls, preparer, in_force }
    }

    /// The process this is used in.
    pub(crate) fn environment(&self) -> Environment {
        self.calls.storage().environment().clone()
    }

    /// Finds out whether a waiting call may still run, and stores what that is now. Returns the question it waits for when it is
    /// asked about again: that may have its answer already. Returns an error when the store or a service does not answer.
    pub(crate) async fn recheck(&self, id: &InvocationKey) -> Result<Option<ApprovalId>, CallError> {
        // Whatever changes from here on is later than what is found.
        let decided = self.in_force.moment();
        let record = match self.calls.records().get(id).await {
            Ok(record) => record,
            Err(RecordError::NotFound) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let waits = record.status == InvocationStatus::Queued && record.lease.is_none() && record.holds.is_empty();
        if !waits {
            return Ok(None);
        }
        let case = match self.case(record.clone()).await? {
            CaseLookup::Callable(case) => case,
            CaseLookup::NotCallable(error) => {
                self.refuse(id, Attached::default(), *error).await?;
                return Ok(None);
            }
        };
        let now = self.calls.now().await?;
        let plan = self.calls.plans().of(&record).await?;
        let same = plan.is_some_and(|plan| plan.tool.declaration_digest == case.tool.digest);
        if same && self.in_force.in_force(&record, now) {
            self.calls.found_to_hold(id, decided).await;
            return Ok(None);
        }
        let replan = if same { None } else { self.replan(&case) };
        if !same && replan.is_none() {
            self.refuse(id, Attached::default(), tool_changed(&record.tool_name)).await?;
            return Ok(None);
        }
        let inputs = Inputs::of_call(&record.invocation_id, case.call.clone());
        // Whether an approval it has is still valid is for the permission service to say.
        let word = self.ask(&case, &inputs, record.approval_request_ref.as_ref()).await?;
        self.settle(&case, word, replan, decided).await
    }

    async fn settle(
        &self,
        case: &Case,
        word: PermissionAnswer,
        replan: Option<Replan>,
        decided: Moment,
    ) -> Result<Option<ApprovalId>, CallError> {
        let (id, decision) = (&case.record.key(), word.decision);
        let attached = Attached { decisions: vec![decision.clone()], hooks: word.hooks, ..Attached::default() };
        match (decision.behavior, word.approval) {
            (Behavior::Allow, _) => {
                let plan = replan.is_some().then(|| case.tool.plan.clone()).flatten();
                let attached = Attached { plan, ..attached };
                let confirm = |_: &Invocation| Command::Confirm {
                    decision: decision.clone(),
                    replan: replan.clone().map(Box::new),
                };
                if self.command(id, attached, confirm).await? {
                    self.calls.found_to_hold(id, decided).await;
                }
            }
            (Behavior::Ask, Some(approval)) => {
                tracing::info!(invocation_id = %id, "a waiting call is asked about again");
                let ask = |_: &Invocation| Command::AskAgain {
                    decision: decision.clone(),
                    approval_id: approval.approval_id.clone(),
                    expires_at: approval.expires_at,
                };
                if self.command(id, attached, ask).await? {
                    return Ok(Some(approval.approval_id));
                }
            }
            _ => {
                let mut error = denial(&decision);
                error.error_code = codes::PERMISSION_REVOKED.into();
                self.refuse(id, attached, error).await?;
            }
        }
        Ok(None)
    }

    /// Ends a waiting call.
    async fn refuse(&self, id: &InvocationKey, attached: Attached, error: ToolError) -> Result<(), CallError> {
        tracing::info!(invocation_id = %id, code = error.error_code, "a waiting call may not run any more");
        let decisions = attached.decisions.clone();
        let refuse = |_: &Invocation| Command::Refuse {
            approval_id: None,
            decisions: decisions.clone(),
            edited: None,
            error: error.clone(),
        };
        self.command(id, attached, refuse).await.map(drop)
    }

    /// Stores a command, unless the call has moved on meanwhile; says whether it did.
    async fn command(
        &self,
        id: &InvocationKey,
        attached: Attached,
        command: impl Fn(&Invocation) -> Command,
    ) -> Result<bool, CallError> {
        match self.calls.command_with(id, attached, command).await {
            Ok(_) => Ok(true),
            Err(RecordError::Refused { .. } | RecordError::NotFound) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// The call with its tool as it is declared now.
    pub(crate) async fn case(&self, record: Arc<Invocation>) -> Result<CaseLookup, CallError> {
        let asker = match self.calls.records().facts(&record.key()).await? {
            Some(facts) => facts.parse().map_err(RecordError::from)?,
            None => Asker::anybody(),
        };
        let caller = asker.caller(&record);
        let Some(address) = ToolAddress::of(&record) else {
            return Ok(CaseLookup::NotCallable(Box::new(gone(&record))));
        };
        // The arguments were made for the declaration it was accepted with.
        let known = self.calls.plans().of(&record).await?.map(|plan| plan.tool.declaration_digest);
        let (tool, terms) = match self.preparer.surface().resolve(&address, &caller, known).await {
            Ok(Resolved::Callable(tool, terms)) => (tool, terms),
            Ok(Resolved::NotCallable { error, .. }) => return Ok(CaseLookup::NotCallable(error)),
            // The surface itself is gone.
            Err(CallError::Peer { status, .. }) if matches!(status.code(), Code::NotFound | Code::InvalidArgument) => {
                return Ok(CaseLookup::NotCallable(Box::new(gone(&record))));
            }
            // The store of the surfaces was put back to before the moment it goes by.
            Err(CallError::Invalid(_)) => {
                return Ok(CaseLookup::NotCallable(Box::new(tool_changed(&record.tool_name))));
            }
            Err(error) => return Err(error),
        };
        let Some(call) = self.calls.records().inputs(&record).await?.call else {
            return Err(CallError::Internal("an accepted call has no input".to_owned()));
        };
        Ok(CaseLookup::Callable(Box::new(Case { record, asker, caller, tool, terms, call })))
    }

    /// How the call runs with its changed declaration; `None` when it does not fit it any more.
    fn replan(&self, case: &Case) -> Option<Replan> {
        let record = &case.record;
        let before = record.dispatch.as_ref()?;
        let safety = case.tool.evaluate(&case.call).safety;
        let dispatch = case.dispatch(&case.call, safety)?;
        // Its place in the queue, its locks and what it has done already were those of the old declaration.
        let fits = record.started_at.is_none()
            && dispatch.pool == before.pool
            && locks_again(record, safety).0 == record.resource_locks
            && case.tool.validator.validate_call(&case.call).is_ok()
            && case.tool.check_values(&case.call).is_ok();
        fits.then_some(Replan { dispatch, safety })
    }

    /// Asks the permission service about the call with `inputs`.
    pub(crate) async fn ask(
        &self,
        case: &Case,
        inputs: &Inputs,
        approval_ref: Option<&ApprovalId>,
    ) -> Result<PermissionAnswer, CallError> {
        let record = &case.record;
        let evaluation = case.tool.evaluate(inputs.call());
        let asker = (&*case.caller, &case.asker);
        let request =
            decision_request(DecidedCall::from(&**record).on(&case.terms), asker, &case.tool, inputs, &evaluation)?;
        let approval_ref = approval_ref.cloned();
        let request = DecisionRequest { deadline_at: record.deadline_at, approval_ref, ..request };
        self.preparer.permission().decide(&case.caller, &request).await
    }
}

impl Rechecker {
    /// Asks people whether the result of a call is given out as it is. `digest` says which result it is; what the call does was decided.
    pub(crate) async fn ask_about_result(
        &self,
        case: &Case,
        message: String,
        digest: Digest,
        until: Option<Timestamp>,
    ) -> Result<PermissionAnswer, CallError> {
        let hook_id = HookVerdict::OF_RESULT.to_owned();
        let verdict = HookVerdict { hook_id, behavior: Behavior::Ask, message, authoritative: false };
        let mut asker = case.asker.clone();
        // What hooks said of the call was decided.
        asker.verdicts = vec![verdict];
        let inputs = Inputs::of_call(&case.record.invocation_id, case.call.clone());
        let evaluation = case.tool.evaluate(inputs.call());
        let who = (&*case.caller, &asker);
        let request =
            decision_request(DecidedCall::from(&*case.record).on(&case.terms), who, &case.tool, &inputs, &evaluation)?;
        let input = DecidedInput { call_digest: digest, ..request.input };
        let request = DecisionRequest { input, deadline_at: until, ..request };
        self.preparer.permission().decide(&case.caller, &request).await
    }
}

impl Case {
    /// How the call runs with `input`; `None` when the tool has nothing to run it with any more.
    pub(crate) fn dispatch(&self, input: &JsonPayload, safety: InputSafety) -> Option<DispatchFacts> {
        let (plan, digest) = self.tool.plan.as_ref().zip(self.tool.plan_digest)?;
        let mut dispatch = self.tool.dispatch(&self.record.tenant, None, plan, digest, safety.is_idempotent, input);
        if let Some(before) = self.record.dispatch.as_ref().filter(|_| self.record.batch.is_some()) {
            // What its batch said of it still holds.
            dispatch.interrupt_behavior = before.interrupt_behavior;
            dispatch.context_modifier_policy = before.context_modifier_policy;
        }
        Some(dispatch)
    }
}

pub(crate) fn decisions(decision: &PermissionDecision) -> Attached {
    Attached { decisions: vec![decision.clone()], ..Attached::default() }
}

/// Where the call was made is no longer there.
fn gone(record: &Invocation) -> ToolError {
    let mut error = ToolError::new(
        codes::PERMISSION_REVOKED,
        ErrorClass::PolicyBlocked,
        Recoverability::NotRetryable,
        format!("the surface in which `{}` was called no longer exists", record.tool_name),
    );
    error.side_effects = Some("none".to_owned());
    error
}
