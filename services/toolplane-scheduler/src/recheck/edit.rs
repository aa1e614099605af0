//! Answers that change the input: checked like the words of the model, recorded, and decided about before anything runs.

use toolplane_cleaning::sent;
use toolplane_hooks::restore;
use toolplane_lifecycle::{Command, Edit, EditedInput};
use toolplane_records::approval::Approval;
use toolplane_records::codes;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::error::{FieldViolation, ToolError};
use toolplane_records::ids::InvocationKey;
use toolplane_records::payload::JsonPayload;
use toolplane_records::vocabulary::{Behavior, ErrorClass, MutationSource, Recoverability};

use super::rechecker::{Case, CaseLookup, Rechecker, decisions};
use crate::calls::Attached;
use crate::error::CallError;
use crate::intake::{Author, Inputs, PermissionAnswer, denial, locks_again};
use crate::storage::RecordError;

/// The command an answer amounts to, with what is stored beside it.
pub(crate) type Answered = (Attached, Command);

/// What an edited input does to a call.
enum EditOutcome {
    Changed,
    /// It is the input the call has.
    Unchanged,
    /// The tool cannot take it.
    Refused(Box<ToolError>),
}

impl Rechecker {
    /// What a yes with another input amounts to. A tool that cannot take the input ends the call: its question has had its
    /// one answer.
    pub(crate) async fn edited(
        &self,
        approval: &Approval,
        answer: &PermissionDecision,
        edited: &JsonPayload,
    ) -> Result<Answered, CallError> {
        let record = match self.calls.records().get(&call_of(approval)).await {
            Ok(record) => record,
            // The plain answer finds out the outcome of the call.
            Err(RecordError::NotFound) => return Ok(plain(approval, answer)),
            Err(error) => return Err(error.into()),
        };
        let case = match self.case(record).await? {
            CaseLookup::Callable(case) => case,
            CaseLookup::NotCallable(error) => return Ok(refused(approval, vec![answer.clone()], None, *error)),
        };
        let mut inputs = Inputs::of_call(&case.record.invocation_id, case.call.clone());
        match self.change(approval, &case, edited, &mut inputs).await? {
            EditOutcome::Changed => {}
            EditOutcome::Unchanged => return Ok(plain(approval, answer)),
            EditOutcome::Refused(error) => return Ok(refused(approval, vec![answer.clone()], None, *error)),
        }
        let word = self.ask(&case, &inputs, Some(&approval.approval_id)).await?;
        Ok(answered(approval, answer, &case, inputs, word))
    }

    /// Puts the edit into `inputs`.
    async fn change(
        &self,
        approval: &Approval,
        case: &Case,
        edited: &JsonPayload,
        inputs: &mut Inputs,
    ) -> Result<EditOutcome, CallError> {
        let sensitive = case.tool.sensitive();
        let unusable = |error: &dyn std::fmt::Display| {
            EditOutcome::Refused(invalid(format!("the edited input cannot be used: {error}"), Vec::new()))
        };
        let unmasked = match sent::unmasked(edited, &case.call) {
            Ok(input) => input,
            Err(error) => return Ok(unusable(&error)),
        };
        let input = match restore(&unmasked, &case.call, sensitive.pointers()) {
            Ok(input) => input,
            Err(error) => return Ok(unusable(&error)),
        };
        let reason = match approval.feedback.as_str() {
            "" => "the answer to the question changed the input",
            said => said,
        };
        let source_ref = approval.approval_id.to_string();
        let author = Author { source: MutationSource::PermissionPrompt, source_ref: &source_ref, reason };
        if !inputs.change(input, sensitive, author, self.calls.now().await?) {
            return Ok(EditOutcome::Unchanged);
        }
        if !case.tool.mutable.prompts {
            return Ok(EditOutcome::Refused(invalid(
                "the tool forbids that an approval changes its input".to_owned(),
                Vec::new(),
            )));
        }
        if let Err(violations) = case.tool.validator.validate_call(inputs.call()) {
            return Ok(EditOutcome::Refused(invalid("the edited input does not fit the tool".to_owned(), violations)));
        }
        if let Err(error) = case.tool.check_values(inputs.call()) {
            let message = format!("the tool cannot take the edited input: {}", error.message);
            return Ok(EditOutcome::Refused(invalid(message, error.field_violations)));
        }
        let safety = case.tool.evaluate(inputs.call()).safety;
        if case.record.started_at.is_some() && !safety.is_idempotent {
            return Ok(EditOutcome::Refused(invalid(
                "the call has been started before, and may not run with another input".to_owned(),
                Vec::new(),
            )));
        }
        Ok(EditOutcome::Changed)
    }
}

/// What the answer and the decision about the edited input come to.
fn answered(
    approval: &Approval,
    answer: &PermissionDecision,
    case: &Case,
    mut inputs: Inputs,
    word: PermissionAnswer,
) -> Answered {
    let safety = case.tool.evaluate(inputs.call()).safety;
    let refs = inputs.refs_after(&case.record.inputs, case.tool.sensitive());
    let dispatch = case.dispatch(inputs.call(), safety);
    let (payloads, mutations) = inputs.into_parts();
    let input = EditedInput { inputs: refs, mutations, safety };
    let (hooks, mut decisions) = (word.hooks, vec![answer.clone()]);
    decisions.extend((word.decision.decision_id != answer.decision_id).then(|| word.decision.clone()));
    let may_run = matches!(word.decision.behavior, Behavior::Allow | Behavior::Ask);
    let (Some(dispatch), true) = (dispatch, may_run) else {
        let (mut attached, command) = refused(approval, decisions, Some(input), denial(&word.decision));
        (attached.payloads, attached.hooks) = (payloads, hooks);
        return (attached, command);
    };
    let again = word.approval.filter(|_| word.decision.behavior == Behavior::Ask);
    let (resource_locks, lock_domain) = locks_again(&case.record, safety);
    let edit = Edit {
        input,
        dispatch,
        resource_locks,
        lock_domain,
        decision: word.decision,
        again: again.map(|approval| (approval.approval_id, approval.expires_at)),
    };
    let attached = Attached { decisions, payloads, plan: case.tool.plan.clone(), hooks, ..Attached::default() };
    let approval_id = approval.approval_id.clone();
    (attached, Command::Approve { approval_id, decision: answer.clone(), edit: Some(Box::new(edit)) })
}

/// A yes to the input as it was shown.
pub(crate) fn plain(approval: &Approval, answer: &PermissionDecision) -> Answered {
    let (approval_id, decision) = (approval.approval_id.clone(), answer.clone());
    (decisions(answer), Command::Approve { approval_id, decision, edit: None })
}

fn refused(
    approval: &Approval,
    decisions: Vec<PermissionDecision>,
    edited: Option<EditedInput>,
    error: ToolError,
) -> Answered {
    let attached = Attached { decisions: decisions.clone(), ..Attached::default() };
    let approval_id = Some(approval.approval_id.clone());
    (attached, Command::Refuse { approval_id, decisions, edited: edited.map(Box::new), error })
}

fn invalid(message: String, violations: Vec<FieldViolation>) -> Box<ToolError> {
    let class = match violations.is_empty() {
        true => ErrorClass::InvalidArguments,
        false => ErrorClass::SchemaValidationFailed,
    };
    let mut error = ToolError::new(codes::APPROVAL_EDIT, class, Recoverability::RequestApprovalAgain, message);
    error.side_effects = Some("none".to_owned());
    error.field_violations = violations;
    Box::new(error)
}

/// The call a question is about.
pub(super) fn call_of(approval: &Approval) -> InvocationKey {
    InvocationKey::new(&approval.tenant, &approval.invocation_id)
}
