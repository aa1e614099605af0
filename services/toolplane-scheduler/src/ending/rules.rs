//! What a tool declares of its output, and whether a report keeps to it.

use std::sync::Arc;

use crate::hash::DashMap;
use toolplane_catalog::{AnswerValidator, CatalogLimits, InputLimits};
use toolplane_records::codes;
use toolplane_records::error::{FieldViolation, ToolError, named};
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{ErrorClass, Recoverability, ResultStatus};
use toolplane_results::PayloadStore;
use toolplane_results::outputs::STRUCTURED;

use super::report::{Report, is_error};
use crate::plan::DispatchPlan;

/// How what cleaning puts in the place of a value begins.
const REPLACED: &str = "[redacted ";
/// Schemas remembered at once; beyond it the memory starts anew.
const MAX_SCHEMAS: usize = 2_000;

/// Output schemas, compiled once each.
#[derive(Debug, Default)]
pub(super) struct Schemas(DashMap<Digest, Arc<AnswerValidator>>);

impl Schemas {
    /// What `schema` asks for; `None` when it cannot be used, which registration refuses.
    fn of(&self, schema: &JsonPayload) -> Option<Arc<AnswerValidator>> {
        if let Some(known) = self.0.get(&schema.digest()) {
            return Some(known.clone());
        }
        let compiled = Arc::new(AnswerValidator::new(Some(schema), &CatalogLimits::default()).ok()?);
        if self.0.len() >= MAX_SCHEMAS {
            self.0.clear();
        }
        self.0.insert(schema.digest(), compiled.clone());
        Some(compiled)
    }
}

/// Holds a report against what its tool declares.
///
/// Context modifiers of a tool that declares none are left out. Structured content that does not fit the declared
/// output schema makes a success a failure, because its reader relies on the schema; it is kept by reference and not
/// shown. What a failed execution gave is not checked against anything.
pub(super) async fn apply(
    report: &mut Report,
    plan: &DispatchPlan,
    idempotent: bool,
    schemas: &Schemas,
    payloads: &PayloadStore,
    now: Timestamp,
) {
    if !plan.supports_context_modifiers {
        report.beside.undeclared_modifiers = std::mem::take(&mut report.beside.context_modifiers).len();
    }
    let Some(schema) = plan.output_schema.as_ref().filter(|_| !is_error(report.status)) else { return };
    let Some(value) = structured(report, payloads, now).await else { return };
    let Some(schema) = schemas.of(schema) else { return };
    let violations = schema.validate(&value).err().unwrap_or_default();
    let violations = by_the_tool(violations, &value);
    if !violations.is_empty() {
        report.status = ResultStatus::Failed;
        report.error = Some(mismatch(violations, idempotent));
        report.output.by_reference = true;
        report.words.facing.clear();
        report.words.summary.clear();
    }
}

/// The violations that are not what cleaning has put in the place of a value: its tool gave one that nobody sees any more.
fn by_the_tool(mut violations: Vec<FieldViolation>, value: &JsonPayload) -> Vec<FieldViolation> {
    if !violations.is_empty() && value.text().contains(REPLACED) {
        let value = value.to_value();
        let replaced = |place: &str| {
            value.pointer(place).and_then(|value| value.as_str()).is_some_and(|text| text.starts_with(REPLACED))
        };
        violations.retain(|violation| !replaced(&violation.field));
    }
    violations
}

/// The structured content, also where the worker has kept it elsewhere; nothing when it is too large to be one JSON value here.
async fn structured(report: &Report, payloads: &PayloadStore, now: Timestamp) -> Option<JsonPayload> {
    if report.output.structured_content.is_some() {
        return report.output.structured_content.clone();
    }
    let kept = report.output.kept.iter().find(|kept| kept.name == STRUCTURED)?.decision.persisted_ref.as_ref()?;
    let most = InputLimits::default().json.max_bytes as u64;
    let bytes = Box::pin(payloads.read_verified(kept, most, now)).await.ok()?;
    Some(JsonPayload::from_checked(bytes))
}

fn mismatch(violations: Vec<FieldViolation>, idempotent: bool) -> ToolError {
    let message = "the tool ended, but its structured output does not fit the schema it declares; its output is kept by \
                   reference";
    let code = codes::RESULT_SCHEMA;
    let advice = if idempotent { Recoverability::NotRetryable } else { Recoverability::VerifyBeforeRetry };
    let mut error = ToolError::new(code, ErrorClass::ExecutionFailed, advice, message);
    error.side_effects = Some("completed".to_owned());
    error.field_violations = named("structured_content", violations);
    error
}
