//! Calls as they are stored, one for each kind of ending and one for each state in between.

use bytes::Bytes;
use toolplane_forms::{Kept, Reader, Story, Tool};
use toolplane_records::approval::Approval;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::event::ToolEvent;
use toolplane_records::invocation::Invocation;
use toolplane_records::mutation::InputMutation;
use toolplane_records::payload::{Digest, JsonPayload, PayloadRef};
use toolplane_records::persistence::ResultPersistence;
use toolplane_records::result::{ContentBlock, ToolResult};
use toolplane_records::vocabulary::ToolKind;

/// One call with everything that is known of it.
pub(crate) struct Sample {
    pub(crate) name: &'static str,
    call: Invocation,
    input: JsonPayload,
    kind: ToolKind,
    pub(crate) result: Option<ToolResult>,
    persistence: Option<ResultPersistence>,
    decisions: Vec<PermissionDecision>,
    mutations: Vec<InputMutation>,
    pub(crate) events: Vec<ToolEvent>,
    kept: Kept,
}

impl Sample {
    pub(crate) fn story(&self) -> Story<'_> {
        Story {
            input: Some(&self.input),
            tool: Tool {
                kind: Some(self.kind),
                provider: Some("local"),
                declaration: Some(Digest::of(b"registration")),
            },
            result: self.result.as_ref(),
            persistence: self.persistence.as_ref(),
            decisions: &self.decisions,
            mutations: &self.mutations,
            events: &self.events,
            reader: Reader { root: Some("/home/ann/project"), ..Reader::default() },
            ..Story::of(&self.call, &self.kept)
        }
    }
}

fn read<T: serde::de::DeserializeOwned>(json: &str) -> T {
    match serde_json::from_str(json) {
        Ok(record) => record,
        Err(error) => panic!("{error} in {json}"),
    }
}

/// A call of `tool` in `status`, with the arguments `input`.
fn call(tool: &str, status: &str, input: &str) -> Invocation {
    let digest = Digest::of(input.as_bytes());
    let size = input.len();
    read(&format!(
        r#"{{"invocation_id":"inv_1","tenant":"acme","tool_id":"tool:{tool}","tool_name":"{tool}","native_call_id":"call_7",
        "status":"{status}","session_ref":"sess_1","actor_ref":"agent:coder",
        "inputs":{{"model":{{"uri":"payload:inv_1/m","media_type":"application/json","digest":"{digest}","size_bytes":{size}}}}},
        "telemetry_refs":[{{"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","span_id":"00f067aa0ba902b7"}}],
        "created_at":"2026-05-17T06:40:00Z","started_at":"2026-05-17T06:40:00.020Z","ended_at":"2026-05-17T06:40:01.270Z",
        "attempt":1,"request_digest":"{digest}"}}"#
    ))
}

fn result(status: &str, rest: &str) -> ToolResult {
    let is_error = !matches!(status, "succeeded" | "partial_succeeded");
    read(&format!(
        r#"{{"result_id":"res_1","invocation_id":"inv_1","status":"{status}","is_error":{is_error},
        "created_at":"2026-05-17T06:40:01.270Z",{rest}}}"#
    ))
}

fn event(sequence: u64, class: &str, data: &str) -> ToolEvent {
    read(&format!(
        r#"{{"event_id":"inv_1:{sequence}","event_type":"{class}","source":"/tenants/acme/invocations/inv_1","subject":"inv_1",
        "time":"2026-05-17T06:40:00.{:03}Z","invocation_id":"inv_1","tool_id":"tool:x","data":{data},"sequence":{sequence},
        "trace_refs":[{{"trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","span_id":"00f067aa0ba902b7"}}]}}"#,
        sequence * 10
    ))
}

fn events() -> Vec<ToolEvent> {
    vec![
        event(1, "tool.invocation.planned", r#"{"attempt":0}"#),
        event(2, "ext.invocation.awaiting_approval", r#"{"approval_id":"appr_1"}"#),
        event(3, "tool.invocation.queued", "{}"),
        event(4, "tool.invocation.started", r#"{"attempt":1}"#),
        event(5, "tool.invocation.progress", r#"{"message":"half way","percent":50.0,"sequence":1}"#),
        event(6, "vendor.unheard_of", "{}"),
        event(7, "tool.invocation.partial_result", &shown(1, "one\\n", false)),
        event(8, "tool.invocation.partial_result", &shown(2, "two\\n", true)),
        event(9, "tool.invocation.succeeded", r#"{"n":18446744073709551617}"#),
    ]
}

fn shown(sequence: u64, text: &str, append: bool) -> String {
    format!(
        r#"{{"partial_id":"inv_1:r{sequence}","invocation_id":"inv_1","sequence":{sequence},"append":{append},
        "content":[{{"type":"text","text":"{text}"}}],"timestamp":"2026-05-17T06:40:00Z"}}"#
    )
}

fn sample(name: &'static str, tool: &str, status: &str, input: &str, ended: Option<ToolResult>) -> Sample {
    Sample {
        name,
        call: call(tool, status, input),
        input: JsonPayload::from_checked(input.to_owned()),
        kind: ToolKind::Function,
        result: ended,
        persistence: None,
        decisions: Vec::new(),
        mutations: Vec::new(),
        events: events(),
        kept: Kept::default(),
    }
}

const CITY: &str = r#"{"city":"Ulm","n":18446744073709551617}"#;

fn success() -> Sample {
    let ended = result(
        "succeeded",
        r#""content":[{"type":"text","text":"It is 21 °C in Ulm."}],
        "structured_content":{"city":"Ulm","sky":"blue","big":18446744073709551617,"exact":1.50}"#,
    );
    let mut sample = sample("success", "weather.now", "succeeded", CITY, Some(ended));
    sample.decisions = vec![read(
        r#"{"decision_id":"perm_inv_1_a","invocation_id":"inv_1","behavior":"allow","policy_digest":"v1:sha256:abc",
        "decided_at":"2026-05-17T06:40:00Z"}"#,
    )];
    sample.mutations = vec![read(
        r#"{"mutation_id":"m-1","invocation_id":"inv_1","source_type":"hook","created_at":"2026-05-17T06:40:00Z"}"#,
    )];
    sample
}

fn failed() -> Sample {
    let ended = result(
        "failed",
        r#""content":[{"type":"text","text":"the service is away [exec.rate_limited]"},{"type":"log","text":"429","stream":"stderr"}],
        "error":{"error_code":"exec.rate_limited","error_class":"rate_limited","message":"the service is away",
        "recoverability":"retry_later","retry_after_ms":1500,"side_effects":"none"}"#,
    );
    sample("error", "weather.now", "failed", CITY, Some(ended))
}

fn wrong_arguments() -> Sample {
    let ended = result(
        "failed",
        r#""error":{"error_code":"input.schema","error_class":"invalid_arguments","message":"the arguments do not fit the tool",
        "recoverability":"change_arguments","field_violations":[{"field":"/city","description":"is required"},
        {"field":"/town","description":"is not known"}]}"#,
    );
    sample("wrong-arguments", "weather.now", "validation_failed", r#"{"town":"Ulm"}"#, Some(ended))
}

fn denied() -> Sample {
    let ended = result(
        "denied",
        r#""error":{"error_code":"permission.denied","error_class":"permission_denied","message":"the rule `no-rm` forbids it",
        "recoverability":"change_arguments_or_policy","side_effects":"none"},"policy_refs":["policy:shell"]"#,
    );
    let mut sample = sample("denied", "local.shell", "denied", r#"{"command":"rm -rf /"}"#, Some(ended));
    sample.kind = ToolKind::ShellCommand;
    sample
}

fn canceled() -> Sample {
    let ended = result(
        "canceled",
        r#""error":{"error_code":"call.canceled","error_class":"canceled","message":"the caller canceled it",
        "recoverability":"verify_before_retry","side_effects":"unknown"}"#,
    );
    sample("canceled", "weather.now", "canceled", CITY, Some(ended))
}

fn shell() -> Sample {
    let ended = result(
        "succeeded",
        r#""content":[{"type":"text","text":"3 passed\n"},{"type":"log","text":"warning: slow\n","stream":"stderr"}],
        "structured_content":{"exit_code":0,"signal":null}"#,
    );
    let mut sample = sample("shell", "local.shell", "succeeded", r#"{"command":"cargo test"}"#, Some(ended));
    sample.call.partial_seq = 2;
    sample.kind = ToolKind::ShellCommand;
    sample
}

fn approval_pending() -> Sample {
    let mut sample = sample("approval-pending", "local.shell", "awaiting_approval", r#"{"command":"git push"}"#, None);
    sample.kind = ToolKind::ShellCommand;
    sample.call.approval_request_ref = Some("appr_1".parse().unwrap());
    (sample.call.started_at, sample.call.ended_at) = (None, None);
    sample
}

fn needs_input() -> Sample {
    let mut sample = sample("needs-input", "desk.book", "needs_input", "{}", None);
    sample.call.ended_at = None;
    sample.call.pending_input = Some(read(
        r#"{"input_id":"q1","prompt":"Which day?","requested_at":"2026-05-17T06:40:00Z","expires_at":"2026-05-17T06:50:00Z"}"#,
    ));
    sample
}

fn diff() -> Sample {
    let ended = result(
        "succeeded",
        r#""content":[{"type":"text","text":"src/main.rs: 1 place changed"},
        {"type":"diff","text":"--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1 +1 @@\n-a\n+b\n","path":"src/main.rs","lines":[1],"old_text":"a\n","new_text":"b\n"},
        {"type":"diff","text":"--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+n\n","path":"new.txt","lines":[1],"new_text":"n\n"},
        {"type":"diff","text":"--- a/large.txt\n+++ b/large.txt\n@@ -9 +9 @@\n-a\n+b\n","path":"large.txt","lines":[9]}]"#,
    );
    let mut sample = sample("diff", "files.edit_file", "succeeded", r#"{"path":"src/main.rs"}"#, Some(ended));
    sample.kind = ToolKind::FileOperation;
    sample
}

fn payload(media_type: &str, bytes: &[u8], size_bytes: u64) -> PayloadRef {
    let digest = Digest::of(bytes);
    PayloadRef {
        uri: format!("object:{}", &digest.hex()[..8]).into(),
        media_type: media_type.into(),
        digest,
        size_bytes,
    }
}

fn image() -> Sample {
    let png: &[u8] = b"\x89PNG\r\n\x1a\n";
    let (picture, paper) = (payload("image/png", png, 8), payload("application/pdf", b"%PDF-1.7", 8));
    let mut ended = result("succeeded", r#""content":[{"type":"text","text":"The map of Ulm."}]"#);
    ended.content.push(ContentBlock::Image { payload: picture.clone(), description: "a map".to_owned() });
    ended.content.push(ContentBlock::File { payload: paper.clone() });
    let mut sample = sample("image", "maps.draw", "succeeded", CITY, Some(ended));
    sample.kept.add(&picture, Bytes::from_static(png));
    sample.kept.add(&paper, Bytes::from_static(b"%PDF-1.7"));
    sample
}

fn large() -> Sample {
    let whole = payload("text/plain", b"whole", 5_000_000);
    let mut ended = result("succeeded", r#""content":[{"type":"text","text":"line 1\n[...]\nline 99999"}]"#);
    ended.content.push(ContentBlock::PersistedOutputRef { payload: whole.clone() });
    let mut sample = sample("large", "local.shell", "succeeded", r#"{"command":"seq 99999"}"#, Some(ended));
    sample.kind = ToolKind::ShellCommand;
    let mut kept: ResultPersistence = read(
        r#"{"decision_id":"keep_1","invocation_id":"inv_1","strategy":"preview_and_persist","original_size_bytes":5000000,
        "reason":"result_exceeded_inline_limit","created_at":"2026-05-17T06:40:01Z"}"#,
    );
    kept.persisted_ref = Some(whole);
    sample.persistence = Some(kept);
    sample
}

fn partial() -> Sample {
    let ended = result(
        "partial_succeeded",
        r#""content":[{"type":"text","text":"2 of 3 pages"}],"evidence_refs":["cleaning:mask:email:2","cleaning:mask:github_token:1"],
        "redaction_state":"redacted","artifact_refs":[{"artifact_id":"art_1","uri":"artifact://reports/1","media_type":"text/markdown",
        "digest":"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"}],
        "error":{"error_code":"exec.partial","error_class":"partial_failure","message":"page 3 did not load","recoverability":"retry_safe"}"#,
    );
    sample("partial", "web.pages", "succeeded", r#"{"url":"https://example.org"}"#, Some(ended))
}

fn empty() -> Sample {
    let ended = result("succeeded", r#""content":[{"type":"empty"}]"#);
    sample("empty", "weather.warnings", "succeeded", CITY, Some(ended))
}

/// Every call.
pub(crate) fn all() -> Vec<Sample> {
    vec![
        success(),
        failed(),
        wrong_arguments(),
        denied(),
        canceled(),
        shell(),
        approval_pending(),
        needs_input(),
        diff(),
        image(),
        large(),
        partial(),
        empty(),
    ]
}

/// The question `approval_pending` waits for.
pub(crate) fn approval() -> Approval {
    let digest = Digest::of(b"x");
    read(&format!(
        r#"{{"approval_id":"appr_1","tenant":"acme","invocation_id":"inv_1","tool_id":"tool:local.shell","tool_name":"local.shell",
        "declaration_digest":"{digest}","input_digest":"{digest}","permission_input":{{"command":"git push"}},"state":"pending",
        "request":{{"decision_id":"perm_inv_1_a","invocation_id":"inv_1","behavior":"ask","decided_at":"2026-05-17T06:40:00Z",
        "reason":{{"type":"rule","message":"pushing needs a person"}}}},
        "options":[{{"option_id":"allow_once","name":"Allow once","kind":"allow_once"}},
        {{"option_id":"allow_always","name":"Allow always","kind":"allow_always","suggestion_id":"s1"}},
        {{"option_id":"reject_once","name":"Reject once","kind":"reject_once"}}],
        "created_at":"2026-05-17T06:40:00Z","expires_at":"2026-05-17T07:40:00Z","session_ref":"sess_1"}}"#
    ))
}
