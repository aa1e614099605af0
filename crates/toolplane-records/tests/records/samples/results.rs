//! Results with every kind of content, errors and persistence decisions.

use toolplane_records::error::{FieldViolation, ToolError};
use toolplane_records::persistence::{PersistenceThreshold, ResultPersistence};
use toolplane_records::refs::HandoffRef;
use toolplane_records::result::{ContentBlock, ToolResult};
use toolplane_records::vocabulary::{
    AbortReason, ErrorClass, PersistenceStrategy, Recoverability, RedactionState, ResultStatus,
};

use super::{Sample, artifact, at, id, json, payload_ref, published, resource, some, strings, trace};

const VERSION: &str = "0.2.0";

pub(super) fn samples() -> Vec<Sample> {
    vec![published("result", &result(), RESULT), published("result-persistence", &persistence(), PERSISTENCE)]
}

const RESULT: &str = r#"{"result_id":"r-1","invocation_id":"inv-1","status":"succeeded",
    "created_at":"2026-05-17T06:40:00Z"}"#;
const PERSISTENCE: &str = r#"{"decision_id":"d-1","invocation_id":"inv-1","strategy":"inline",
    "created_at":"2026-05-17T06:40:00Z"}"#;

fn content() -> Vec<ContentBlock> {
    vec![
        ContentBlock::Text { text: "hello\n\u{1F980}".to_owned() },
        ContentBlock::Log { text: "warning".to_owned(), stream: "stderr".to_owned() },
        ContentBlock::diff("-a\n+b\n".to_owned()),
        ContentBlock::Diff {
            text: "-a\n+b\n".to_owned(),
            path: "src/a.rs".to_owned(),
            lines: vec![1, 40],
            old_text: some("a\n"),
            new_text: some("b\n"),
        },
        ContentBlock::Image { payload: payload_ref("image"), description: "a cat".to_owned() },
        ContentBlock::Audio { payload: payload_ref("audio"), description: String::new() },
        ContentBlock::Video { payload: payload_ref("video"), description: String::new() },
        ContentBlock::EmbeddedResource {
            uri: "file:///a".to_owned(),
            media_type: "text/plain".to_owned(),
            text: some("hello"),
            payload: None,
        },
        ContentBlock::EmbeddedResource {
            uri: "file:///b".to_owned(),
            media_type: String::new(),
            text: None,
            payload: Some(payload_ref("resource")),
        },
        ContentBlock::HandoffRef {
            handoff: HandoffRef {
                handoff_id: "h-1".to_owned(),
                target: "agent:billing".to_owned(),
                uri: "a2a://billing/tasks/1".to_owned(),
                reason: "it is theirs".to_owned(),
            },
        },
        ContentBlock::File { payload: payload_ref("file") },
        ContentBlock::ResourceLink { resource: resource() },
        ContentBlock::ArtifactRef { artifact: artifact() },
        ContentBlock::PersistedOutputRef { payload: payload_ref("stdout") },
        ContentBlock::Empty,
    ]
}

fn error() -> ToolError {
    ToolError {
        error_code: "exec.outcome_unknown".to_owned(),
        error_class: ErrorClass::ExecutionFailed,
        message: "the worker was lost".to_owned(),
        recoverability: Recoverability::VerifyBeforeRetry,
        retry_after_ms: Some(500),
        native_error_ref: some("exit:137"),
        policy_refs: strings(&["policy:files"]),
        evidence_refs: strings(&["ev-1"]),
        abort_reason: Some(AbortReason::RuntimeShutdown),
        side_effects: some("unknown"),
        blocked_path: some("/etc"),
        field_violations: vec![FieldViolation { field: "/path".to_owned(), description: "is required".to_owned() }],
        recovery_suggestion: some("Give the path."),
        next_steps: strings(&["files.list_dir"]),
        can_retry: Some(false),
    }
}

fn result() -> ToolResult {
    ToolResult {
        schema_version: VERSION.into(),
        result_id: id("res-1"),
        invocation_id: id("inv-1"),
        status: ResultStatus::PartialSucceeded,
        is_error: false,
        content: content(),
        structured_content: Some(json(r#"{"n":18446744073709551617,"f":1.0}"#)),
        model_facing_content: vec![ContentBlock::Text { text: "hello".to_owned() }],
        ui_facing_summary: "read 1 file".to_owned(),
        ui_facing_rendering: Some(json(r#"{"kind":"text","title":"files.read_file"}"#)),
        transcript_search_text: "hello".to_owned(),
        resource_refs: vec![resource()],
        artifact_refs: vec![artifact()],
        evidence_refs: strings(&["ev-1"]),
        policy_refs: strings(&["policy:files"]),
        telemetry_refs: vec![trace()],
        persistence_refs: strings(&["dec-9"]),
        summary: "ok".to_owned(),
        redaction_state: Some(RedactionState::None),
        error: Some(error()),
        created_at: at(30),
        context_modifiers: vec![json(r#"{"cwd":"/workspace/a"}"#)],
    }
}

fn persistence() -> ResultPersistence {
    ResultPersistence {
        schema_version: VERSION.into(),
        decision_id: id("dec-9"),
        invocation_id: id("inv-1"),
        result_id: Some(id("res-1")),
        strategy: PersistenceStrategy::PreviewAndPersist,
        threshold: Some(PersistenceThreshold { max_inline_chars: Some(20_000), max_inline_bytes: Some(65_536) }),
        original_size_bytes: 1_000_000,
        preview_size_bytes: Some(4096),
        persisted_ref: Some(payload_ref("stdout")),
        redaction_state: Some(RedactionState::None),
        reason: "result_exceeded_inline_limit".into(),
        created_at: at(30),
        output: "stdout".into(),
        expires_at: Some(at(90)),
    }
}
