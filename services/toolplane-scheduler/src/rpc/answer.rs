//! Answers to questions of running tools.

use toolplane_catalog::{AnswerValidator, CatalogLimits};
use toolplane_lifecycle::Command;
use toolplane_proto::v1;
use toolplane_records::error::FieldViolation;
use toolplane_records::invocation::{Invocation, PendingInput};
use toolplane_records::payload::JsonPayload;
use toolplane_runtime::Caller;

use super::cancel::short;
use super::find;
use crate::calls::{Calls, is_race};
use crate::error::CallError;
use crate::intake::SpecLimits;
use crate::storage::RecordError;

/// The handler that takes answers in.
#[derive(Clone, Debug)]
pub(super) struct Answering {
    pub(super) calls: Calls,
    pub(super) limits: SpecLimits,
}

impl Answering {
    /// Takes the answer to a call's question. The first answer counts: the same again is answered alike, another is
    /// refused.
    pub(super) async fn answer(
        &self,
        caller: &Caller,
        request: v1::ProvideInputRequest,
    ) -> Result<v1::ProvideInputResponse, CallError> {
        let record = find::call(&self.calls, caller, &request.invocation_id).await?;
        let question = standing(&record, &request.input_id)?;
        let input = self.read_answer(&request, question)?;
        let by = short(caller.doer(&request.provided_by), 256);
        let command = |_: &Invocation| Command::ProvideInput {
            input_id: question.input_id.clone(),
            input: input.clone(),
            by: by.clone(),
        };
        let record = match self.calls.command(&record.key(), command).await {
            Ok(record) => record,
            Err(RecordError::Refused { refusal, record }) if is_race(&refusal) => {
                let answered = standing(&record, &question.input_id)?.answer.as_ref();
                if answered.is_none_or(|answer| answer.expired || answer.input != input) {
                    return Err(CallError::Precondition(format!(
                        "the question `{}` has another answer already",
                        question.input_id
                    )));
                }
                record
            }
            Err(error) => return Err(error.into()),
        };
        Ok(v1::ProvideInputResponse { invocation: Some((&*record).into()) })
    }

    fn read_answer(
        &self,
        request: &v1::ProvideInputRequest,
        question: &PendingInput,
    ) -> Result<Option<JsonPayload>, CallError> {
        let given = match (&request.input, request.declined) {
            (None, true) => return Ok(None),
            (Some(_), true) => return Err(CallError::invalid("declined", "must not be set beside an answer")),
            (None, false) => return Err(CallError::invalid("input", "must be given, or `declined` set")),
            (Some(given), false) => given.clone(),
        };
        let input = toolplane_proto::convert::payload::ingest(given, &self.limits.json).map_err(|refusal| {
            let refusal = refusal.within("input");
            CallError::invalid(&refusal.field, refusal.rule)
        })?;
        let validator = validator(question)?;
        match validator.validate(&input) {
            Ok(()) => Ok(Some(input)),
            Err(faults) => Err(CallError::Invalid(faults.into_iter().map(within_input).collect())),
        }
    }
}

/// The question of `record` that is meant.
fn standing<'a>(record: &'a Invocation, input_id: &str) -> Result<&'a PendingInput, CallError> {
    let pending = record.pending_input.as_ref();
    match pending.filter(|pending| input_id.is_empty() || pending.input_id == input_id) {
        Some(pending) => Ok(pending),
        None if record.status.is_terminal() => {
            Err(CallError::Precondition(format!("the invocation has already ended: {}", record.status)))
        }
        None => Err(CallError::Precondition("the invocation has no such question".to_owned())),
    }
}

/// Questions whose schema cannot be used are not let through, see [`is_askable`].
fn validator(question: &PendingInput) -> Result<AnswerValidator, CallError> {
    AnswerValidator::new(question.schema.as_ref(), &CatalogLimits::default()).map_err(|faults| {
        CallError::Internal(format!("the schema of a standing question does not compile: {faults:?}"))
    })
}

/// Whether a question with this schema can be answered at all.
pub(super) fn is_askable(schema: Option<&JsonPayload>) -> bool {
    AnswerValidator::new(schema, &CatalogLimits::default()).is_ok()
}

fn within_input(fault: FieldViolation) -> FieldViolation {
    let field = if fault.field.is_empty() { "input".to_owned() } else { format!("input{}", fault.field) };
    FieldViolation { field, ..fault }
}
