//! Hooks before and after a call: they rewrite, refuse, add and withhold, and one that fails stops what it was asked about.

use serde_json::json;
use toolplane_proto::v1;
use toolplane_proto::v1::{HookEvent, ResultStatus};
use toolplane_testkit::clients::payload_bytes;

use crate::bed::{Bed, kinds};
use crate::permissions::{RULES, command, decisions, parked, shell, with};

/// A hook that is a line of shell.
pub(crate) fn hook(id: &str, events: &str, script: &str) -> String {
    format!(
        "[[hooks]]\nid = {id:?}\nevents = [{events:?}]\nmatcher = \"Bash|test.*\"\ncommand = [\"/bin/sh\", \"-c\", {script:?}]\n\
         timeout_ms = 10000\n"
    )
}

/// Reads the call, and answers with this JSON.
fn answers(json: &serde_json::Value) -> String {
    format!("cat > /dev/null; printf '%s' '{json}'")
}

fn pre(output: &serde_json::Value) -> String {
    let mut output = output.clone();
    output["hookEventName"] = "PreToolUse".into();
    answers(&json!({ "hookSpecificOutput": output }))
}

async fn hooked(hooks: &[String]) -> Bed {
    with(&format!("{RULES}\n{}", hooks.join("\n"))).await
}

async fn records(bed: &Bed, invocation_id: &str) -> Vec<v1::ToolHook> {
    let request = v1::ListHooksRequest { invocation_id: invocation_id.to_owned(), ..Default::default() };
    bed.clients.invocations().list_hooks(request).await.unwrap().into_inner().hooks
}

/// Everything a result says, as text.
pub(crate) fn text(result: &v1::ToolResult) -> String {
    let blocks = result.content.iter().chain(&result.model_facing_content);
    let blocks = blocks.map(|block| match &block.block {
        Some(v1::content_block::Block::Text(text)) => text.text.clone(),
        other => format!("{other:?}"),
    });
    let structured = String::from_utf8(payload_bytes(result.structured_content.as_ref()).to_vec()).unwrap();
    let error = result.error.as_ref().map(|error| format!("{} {}", error.error_code, error.message));
    blocks.chain([structured]).chain(error).collect::<Vec<_>>().join("\n")
}

/// What the events say, as text.
pub(crate) fn context(events: &[v1::Event]) -> String {
    let data = events.iter().map(|event| payload_bytes(event.data.as_ref()));
    data.map(|data| String::from_utf8_lossy(&data).into_owned()).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn a_rewritten_call_is_checked_again() {
    let bed =
        hooked(&[hook("counts", "pre_tool_use", &pre(&json!({ "updatedInput": { "command": "wc -l notes/a.txt" } })))])
            .await;
    let (_, result) = bed.followed(command(&bed, "ls")).await;
    assert!(!result.is_error && text(&result).contains("2 notes/a.txt"), "{}", text(&result));
    let request = v1::GetInvocationRequest {
        invocation_id: result.invocation_id.clone(),
        include_inputs: true,
        ..Default::default()
    };
    let call = bed.clients.invocations().get_invocation(request).await.unwrap().into_inner().invocation.unwrap();
    assert_eq!(&payload_bytes(call.model_input.as_ref())[..], br#"{"command":"ls"}"#);
    let request = v1::ListMutationsRequest { invocation_id: result.invocation_id.clone(), ..Default::default() };
    let changes = bed.clients.invocations().list_mutations(request).await.unwrap().into_inner().mutations;
    let change = changes.iter().find(|change| change.source_type() == v1::MutationSource::Hook).unwrap();
    assert_eq!(
        (change.source_ref.as_str(), change.changed_fields.as_slice()),
        ("counts", &["/command".to_owned()][..])
    );
    let hooks = records(&bed, &result.invocation_id).await;
    assert_eq!((hooks[0].hook_id.as_str(), hooks[0].hook_event()), ("counts", HookEvent::PreToolUse));
    assert!(shell(&bed).says(0, &["hooks", "ls", &result.invocation_id]).contains("changed the input"));
    let shown = shell(&bed).says(0, &["get", &result.invocation_id, "--inputs"]);
    assert!(shown.contains("model_input") && shown.contains("sha256:") && shown.contains("counts"), "{shown}");
}

/// A rewrite does not get past rules or the schema.
#[tokio::test]
async fn a_rewrite_gets_past_nothing() {
    for (output, status) in [
        (json!({ "updatedInput": { "command": "rm notes/a.txt" } }), ResultStatus::Denied),
        (
            json!({ "updatedInput": { "command": "rm notes/a.txt" }, "permissionDecision": "allow" }),
            ResultStatus::Denied,
        ),
        (json!({ "updatedInput": { "commands": ["ls"] } }), ResultStatus::Failed),
    ] {
        let bed = hooked(&[hook("slips", "pre_tool_use", &pre(&output))]).await;
        let (events, result) = bed.followed(command(&bed, "ls")).await;
        assert!(result.is_error, "{output}: {}", text(&result));
        if status == ResultStatus::Denied {
            assert_eq!(result.status_code(), status, "{output}: {}", text(&result));
        }
        assert!(!kinds(&events).contains(&"tool.invocation.started"), "{output}: {:?}", kinds(&events));
        assert!(bed.cluster.workspace().join("notes/a.txt").exists());
    }
}

#[tokio::test]
async fn hooks_tighten_and_never_loosen() {
    let asks = hook(
        "asks",
        "pre_tool_use",
        &pre(&json!({ "permissionDecision": "ask", "permissionDecisionReason": "look first" })),
    );
    let allows = hook("allows", "pre_tool_use", &pre(&json!({ "permissionDecision": "allow" })));
    let bed = hooked(&[asks, allows]).await;
    let (call, _) = parked(&bed, command(&bed, "ls")).await;
    let decided = decisions(&bed, &call.invocation_id).await;
    assert_eq!(decided[0].reason.as_ref().unwrap().type_code(), v1::ReasonType::Hook, "{decided:?}");
    assert!(decided[0].reason.as_ref().unwrap().message.contains("look first"), "{decided:?}");
    // What a rule denies, and what no rule decides, is not for a hook to allow.
    assert_eq!(bed.followed(command(&bed, "rm x")).await.1.status_code(), ResultStatus::Denied);

    let bed = hooked(&[hook("allows", "pre_tool_use", &pre(&json!({ "permissionDecision": "allow" })))]).await;
    assert!(!bed.followed(command(&bed, "ls")).await.1.is_error);
    parked(&bed, command(&bed, "sort notes/a.txt")).await;
}

/// The reason of a hook that blocks is what the agent reads; one that breaks is no permission.
#[tokio::test]
async fn a_hook_that_blocks_or_fails_stops_the_call() {
    let broken = [
        ("exits", "cat > /dev/null; exit 3"),
        ("babbles", "cat > /dev/null; printf '{'"),
        ("sleeps", "sleep 30"),
        ("absent", "exec /no/such/program"),
    ];
    let blocks = "cat > /dev/null; echo 'not on a friday' >&2; exit 2";
    for (id, script) in broken.into_iter().chain([("blocks", blocks)]) {
        let hook = hook(id, "pre_tool_use", script).replace("timeout_ms = 10000", "timeout_ms = 2000");
        let bed = hooked(&[hook]).await;
        let (events, result) = bed.followed(command(&bed, "ls")).await;
        assert!(result.is_error, "{id}: {}", text(&result));
        assert!(!kinds(&events).contains(&"tool.invocation.started"), "{id}: {:?}", kinds(&events));
        assert_eq!(text(&result).contains("not on a friday"), id == "blocks", "{id}: {}", text(&result));
        // Other tools are none of its business.
        let words = bed.call("text.word_count", r#"{"path":"notes/a.txt"}"#).await;
        assert!(!words.is_error, "{id}: {}", text(&words));
    }
}

#[tokio::test]
async fn a_hook_after_the_call_replaces_or_withholds_its_output() {
    let replaces = answers(&json!({ "hookSpecificOutput": {
        "hookEventName": "PostToolUse", "updatedToolOutput": "two files", "additionalContext": "the folder is small",
    } }));
    let bed = hooked(&[hook("sums", "post_tool_use", &replaces)]).await;
    let (events, result) = bed.followed(command(&bed, "ls notes")).await;
    assert!(!result.is_error, "{}", text(&result));
    assert!(text(&result).contains("two files") && !text(&result).contains("a.txt"), "{}", text(&result));
    assert!(!context(&events).contains("a.txt"), "the replaced output is in the events");
    assert!(
        text(&result).contains("the folder is small") || context(&events).contains("the folder is small"),
        "{result:?}"
    );
    let hooks = records(&bed, &result.invocation_id).await;
    assert!(hooks.iter().any(|hook| hook.hook_event() == HookEvent::PostToolUse), "{hooks:?}");

    let bed = hooked(&[hook("breaks", "post_tool_use", "exit 1")]).await;
    let (_, result) = bed.followed(command(&bed, "ls notes")).await;
    assert!(result.is_error && !text(&result).contains("a.txt"), "{}", text(&result));
}

/// What a hook says of keeping an output holds for what is shown as well.
#[tokio::test]
async fn a_hook_says_how_an_output_is_kept() {
    for (persistence, status, class) in
        [("redact", ResultStatus::Redacted, ""), ("drop_with_reason", ResultStatus::Redacted, "result_redacted")]
    {
        let says = answers(&json!({ "persistence": persistence }));
        let bed = hooked(&[hook("keeps_less", "result_persistence", &says)]).await;
        let (_, result) = bed.followed(command(&bed, "ls notes")).await;
        assert_eq!(result.status_code(), status, "{persistence}: {}", text(&result));
        assert_eq!(result.error.as_ref().map_or("", |error| &error.error_class), class);
        assert!(!text(&result).contains("a.txt"), "{persistence}: {}", text(&result));
        let request = v1::GetPersistenceRequest { invocation_id: result.invocation_id.clone(), ..Default::default() };
        let decided = bed.clients.invocations().get_persistence(request).await.unwrap().into_inner().decisions;
        let wanted = format!("PERSISTENCE_STRATEGY_{}", persistence.to_uppercase());
        assert!(decided.iter().any(|decision| decision.strategy().as_str_name() == wanted), "{decided:?}");
    }
}

/// A hook sees every question before people do.
#[tokio::test]
async fn a_hook_may_refuse_what_would_be_asked() {
    let refuses = answers(&json!({ "hookSpecificOutput": {
        "hookEventName": "PermissionRequest", "decision": { "behavior": "deny", "message": "nobody is there at night" },
    } }));
    let bed = hooked(&[hook("night", "permission_request", &refuses)]).await;
    let (_, result) = bed.followed(command(&bed, "sort notes/a.txt")).await;
    assert_eq!(result.status_code(), ResultStatus::Denied, "{}", text(&result));
    assert!(text(&result).contains("nobody is there at night"), "{}", text(&result));
    assert!(!bed.followed(command(&bed, "ls")).await.1.is_error, "what is allowed is no question");
}
