//! The one result of `ToolSpec` tools: `status`, `data`, `warnings`, `error`, `meta`.

use toolplane_records::codes::cure_of;
use toolplane_records::error::{ToolError, can_retry};
use toolplane_records::payload::{Digest, JsonPayload, PayloadRef};
use toolplane_records::result::{ContentBlock, ToolResult};
use toolplane_records::vocabulary::{PersistenceStrategy, RedactionState, ResultStatus};

use crate::object::Object;
use crate::story::Story;
use crate::words;

/// Longest diagnosis, in characters.
const MAX_DETAIL: usize = 4_000;

/// The result.
pub(crate) fn of(story: &Story<'_>, result: &ToolResult) -> Object {
    let warnings = warnings(story, result);
    let status = match result {
        _ if result.is_error => "error",
        _ if is_degraded(result, &warnings) => "degraded",
        _ if is_empty(result) => "empty",
        _ => "ok",
    };
    let error = result.error.as_ref().filter(|_| result.is_error).map(|error| failure(story, error));
    let object = Object::new().with("status", status).raw("data", &data(result)).with("warnings", &warnings);
    let object = match error {
        Some(error) => object.object("error", &error),
        None => object.raw("error", "null"),
    };
    object.object("meta", &meta(story, result))
}

/// What is there: less than the tool had to say, or less than was asked for.
fn is_degraded(result: &ToolResult, warnings: &[String]) -> bool {
    let lessened =
        matches!(result.status, ResultStatus::PartialSucceeded | ResultStatus::Redacted | ResultStatus::TooLarge);
    lessened || result.error.is_some() || warnings.iter().any(|warning| warning == TRUNCATED || warning == WITHHELD)
}

/// The tool completed, and found nothing.
fn is_empty(result: &ToolResult) -> bool {
    let silent = result.content.iter().all(|block| *block == ContentBlock::Empty);
    match &result.structured_content {
        Some(value) => matches!(value.text().trim(), "null" | "[]" | "{}" | "\"\""),
        None => silent && result.artifact_refs.is_empty() && result.resource_refs.is_empty(),
    }
}

/// Structured content as it is when it is an object, under `value` when it is not; text where there is none; and what is kept.
fn data(result: &ToolResult) -> String {
    let kept: Vec<Object> = result.content.iter().filter_map(ContentBlock::payload).map(reference).collect();
    let structured = result.structured_content.as_ref();
    if let Some(value) = structured.filter(|value| value.text().trim_start().starts_with('{')) {
        return value.text().to_owned();
    }
    let data = match structured {
        Some(value) => Object::new().with("value", value),
        None => Object::new().text("text", &words::content(result)),
    };
    if kept.is_empty() { data.json() } else { data.list("kept", &kept).json() }
}

fn reference(kept: &PayloadRef) -> Object {
    Object::new()
        .with("uri", &kept.uri)
        .with("media_type", &kept.media_type)
        .with("size_bytes", &kept.size_bytes)
        .with("digest", &kept.digest)
}

const TRUNCATED: &str = "truncated_output";
const WITHHELD: &str = "output_withheld";

/// Stable words, each once.
fn warnings(story: &Story<'_>, result: &ToolResult) -> Vec<String> {
    let mut found = Vec::new();
    let mut warn = |word: &str| {
        if !found.iter().any(|one| one == word) {
            found.push(word.to_owned());
        }
    };
    let strategy = story.persistence.map(|kept| kept.strategy);
    match strategy {
        Some(PersistenceStrategy::PreviewAndPersist | PersistenceStrategy::RefOnly) => warn(TRUNCATED),
        Some(PersistenceStrategy::DropWithReason) => warn(WITHHELD),
        _ if result.status == ResultStatus::TooLarge => warn(TRUNCATED),
        _ => {}
    }
    for evidence in &result.evidence_refs {
        match evidence.split(':').collect::<Vec<_>>()[..] {
            ["cleaning", "ask" | "mask" | "drop", rule, _] if PERSONAL.contains(&rule) => warn("pii_redacted"),
            ["cleaning", "ask" | "mask" | "drop", ..] => warn("secrets_redacted"),
            ["cleaning", "mark", ..] => warn("tainted_output"),
            ["progress_left_out", _] => warn("progress_left_out"),
            _ => {}
        }
    }
    if result.status == ResultStatus::PartialSucceeded {
        warn("partial_result");
    }
    if result.redaction_state == Some(RedactionState::Redacted) && !found.iter().any(|one| one.ends_with("_redacted")) {
        found.push("output_redacted".to_owned());
    }
    found
}

/// The rules of cleaning that find what is of a person.
const PERSONAL: [&str; 10] = [
    "email",
    "chinese_mobile",
    "chinese_telephone",
    "telephone",
    "american_telephone",
    "named_telephone",
    "chinese_id",
    "social_security",
    "card",
    "bank_account",
];

fn failure(story: &Story<'_>, error: &ToolError) -> Object {
    let wrong: Vec<String> =
        error.field_violations.iter().map(|one| format!("{}: {}", one.field, one.description)).collect();
    let detail: String = wrong.join("\n").chars().take(MAX_DETAIL).collect();
    let cure = error.recovery_suggestion.as_deref().unwrap_or_else(|| cure_of(&error.error_code, error.recoverability));
    let may_repeat = error.can_retry.unwrap_or_else(|| can_retry(error.recoverability));
    Object::new()
        .with("code", &code(story, error))
        .with("message", &error.message)
        .text("detail", &detail)
        .with("recovery_suggestion", cure)
        .with("next_steps", &error.next_steps)
        .with("can_retry", &may_repeat)
        .maybe("retry_after_seconds", error.retry_after_ms.map(|millis| millis.div_ceil(1000)))
}

/// `tool.SCOPE.CATEGORY.REASON`: the namespace of the tool, and the two halves of our code.
fn code(story: &Story<'_>, error: &ToolError) -> String {
    let name = story.call.tool_name.as_str();
    let scope = name.split_once('.').or_else(|| name.split_once("__")).map_or(name, |(scope, _)| scope);
    let own = error.error_code.as_str();
    let (category, reason) = own.split_once('.').unwrap_or((error.error_class.as_str(), own));
    let reason = if reason.is_empty() { "unspecified" } else { reason };
    format!("tool.{}.{}.{}", word(scope), word(category), word(reason))
}

/// A text as one part of a code.
fn word(text: &str) -> String {
    let part: String =
        text.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' }).collect();
    if part.is_empty() { "unknown".to_owned() } else { part }
}

fn meta(story: &Story<'_>, result: &ToolResult) -> Object {
    let call = story.call;
    let ended = call.ended_at.unwrap_or(result.created_at);
    let duration = ended.since_millis(call.started_at.unwrap_or(call.created_at)).max(0);
    let output = story.persistence.and_then(|kept| kept.persisted_ref.as_ref()).map(|kept| kept.digest);
    let output = output.or_else(|| result.structured_content.as_ref().map(JsonPayload::digest));
    let text = words::content(result);
    let output = output.or_else(|| (!text.is_empty()).then(|| Digest::of(text.as_bytes())));
    let input = call.inputs.call.as_ref().unwrap_or(&call.inputs.model).digest;
    Object::new()
        .with("duration_ms", &duration)
        .maybe("provider", story.tool.provider)
        // No result is ever taken from an earlier call.
        .with("cache_hit", &false)
        .with("input_fingerprint", &input)
        .maybe("output_fingerprint", output)
        .with("redaction_applied", &(result.redaction_state == Some(RedactionState::Redacted)))
        .with("tool", &call.tool_name)
        .with("invocation_id", &call.invocation_id)
        .with("attempt", &call.attempt)
}
