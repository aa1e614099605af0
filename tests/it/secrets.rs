//! A field declared sensitive reaches only the tool.

use serde_json::json;
use toolplane_proto::v1;
use toolplane_testkit::otlp::OtlpReceiver;
use toolplane_testkit::tools::TestTool;
use toolplane_testkit::trace::AgentTrace;
use toolplane_testkit::{Options, clients};

use crate::bed::{Bed, PATIENCE, register, surface};
use crate::hooks::{context, hook, text};
use crate::shell::Shell;

const SECRET: &str = "hunter2-swordfish";

/// Prints the digest of the token, which proves that it got the true one.
fn sign_in() -> v1::ToolRegistration {
    let tool = TestTool {
        name: "test.sign_in".to_owned(),
        schema: json!({
            "type": "object",
            "properties": { "user": { "type": "string" }, "token": { "type": "string", "minLength": 8 } },
            "required": ["user", "token"], "additionalProperties": false,
        }),
        argv: ["sh", "-c", "printf %s \"$1\" | sha256sum", "sign-in", "{token}"].map(str::to_owned).to_vec(),
        idempotent: true,
        read_only: true,
        timeout_ms: 20_000,
    };
    let mut registration = tool.registration().unwrap();
    let declaration = registration.declaration.as_mut().unwrap();
    declaration.input_contract.as_mut().unwrap().sensitive_fields = vec!["/token".to_owned()];
    registration
}

/// A hook that says aloud what it was shown, so that what it saw is on record.
fn echoing(event: &str) -> String {
    hook(&format!("echo-{event}"), event, r#"printf '{"systemMessage":"%s"}' "$(base64 -w0)""#)
}

fn config() -> String {
    let events = ["pre_tool_use", "permission_request", "post_tool_use"].map(echoing).join("\n");
    format!(
        "[log]\nfilter = \"debug\"\n\n[[permission.rules]]\nbehavior = \"ask\"\ntool = \"test.sign_in\"\n\n{events}"
    )
}

#[tokio::test]
async fn a_sensitive_field_is_seen_by_the_tool_alone() {
    let receiver = OtlpReceiver::start().await.unwrap();
    let options = Options::new(config()).env("TOOLPLANE__TELEMETRY__OTLP_ENDPOINT", receiver.endpoint());
    let mut bed = Bed::with(options).await;
    register(&bed.clients, vec![sign_in()]).await;
    bed.surface_id = surface(&bed.clients).await;

    let agent = AgentTrace::start();
    let spec = bed.spec("test.sign_in", json!({ "user": "ann", "token": SECRET }).to_string());
    let request = agent.request(v1::SubmitInvocationRequest { spec: Some(spec) });
    let call = bed.clients.invocations().submit_invocation(request).await.unwrap().into_inner().invocation.unwrap();
    let call = bed.until(&call.invocation_id, v1::InvocationStatus::AwaitingApproval).await;

    let shell = Shell::at(bed.cluster.endpoint());
    let mut seen = vec![
        ("the question", shell.says(0, &["-o", "json", "approvals", "show", &call.approval_request_ref])),
        ("the question as text", shell.says(0, &["approvals", "show", &call.approval_request_ref])),
        ("the list of questions", shell.says(0, &["-o", "json", "approvals", "ls"])),
    ];
    assert!(seen[0].1.contains("[redacted]") && seen[0].1.contains("ann"), "{}", seen[0].1);
    shell.says(0, &["approvals", "approve", &call.approval_request_ref]);
    let (events, result) = bed.replay(&call.invocation_id, 1).await;
    assert!(!result.is_error, "{:?}", result.error);
    let digest = sha256(SECRET);
    assert!(text(&result).contains(&digest), "the tool got something else: {}", text(&result));

    let id = &call.invocation_id;
    seen.push(("events", context(&events)));
    seen.push(("events at the command line", shell.says(0, &["-o", "json", "watch", id])));
    seen.push(("decisions", shell.says(0, &["-o", "json", "get", "decision", id])));
    seen.push(("mutations", shell.says(0, &["-o", "json", "get", "mutations", id])));
    // A view is not a request for secrets, for any reader.
    let record = shell.json(0, &["get", id]);
    assert!(record.get("model_input").is_none() && record["observable_input"]["token"] == "[redacted]", "{record}");
    seen.push(("the record without its inputs", record.to_string()));
    seen.push(("the record for people", shell.says(0, &["get", id])));
    let request = v1::GetInvocationRequest {
        invocation_id: id.clone(),
        view: v1::RecordView::Json.into(),
        include_inputs: false,
        ..Default::default()
    };
    let view = bed.clients.invocations().get_invocation(request).await.unwrap().into_inner();
    seen.push(("the JSON view", String::from_utf8_lossy(&clients::payload_bytes(view.json.as_ref())).into_owned()));
    // The model's own words and what ran are for those who may call and ask for them; everything beside them is for
    // every caller.
    let mut record = shell.json(0, &["get", id, "--inputs"]);
    for own in ["model_input", "call_input"] {
        let shown = record.as_object_mut().unwrap().remove(own).unwrap_or_default().to_string();
        assert!(shown.contains(SECRET), "`{own}` is not what it was: {shown}");
    }
    assert_eq!(record["observable_input"]["token"], "[redacted]", "{record}");
    seen.push(("the record", record.to_string()));
    let hooks = shell.says(0, &["-o", "json", "hooks", "ls", id]);
    assert!(hooks.lines().count() >= 3, "{hooks}");
    assert!(decoded(&hooks).contains("[redacted]"), "hooks are shown the call: {hooks}");
    seen.push(("what hooks were shown", decoded(&hooks)));
    seen.push(("hook records", hooks));
    let trace = receiver.wait_for(agent.trace_id(), PATIENCE, |trace| !trace.named("execute_tool").is_empty()).await;
    let spans = format!("{:?}", trace.unwrap());
    assert!(spans.contains("test.sign_in"), "{spans}");
    seen.push(("spans", spans));
    seen.push(("the log", std::fs::read_to_string(bed.cluster.log_file()).unwrap()));
    for (what, text) in seen {
        assert!(!text.contains(SECRET), "the secret is in {what}");
    }
}

/// Wrong arguments are explained without the secret that was wrong.
#[tokio::test]
async fn a_violation_does_not_quote_a_sensitive_value() {
    let bed = Bed::with(Options::new(config())).await;
    register(&bed.clients, vec![sign_in()]).await;
    let surface_id = surface(&bed.clients).await;
    for input in [json!({ "user": "ann", "token": [SECRET] }), json!({ "user": "ann", "token": { SECRET: SECRET } })] {
        let spec = v1::InvocationSpec {
            surface_id: surface_id.clone(),
            tool_name: "test.sign_in".to_owned(),
            model_input: Some(clients::payload(input.to_string())),
            ..Default::default()
        };
        let (events, result) = bed.followed(spec).await;
        assert!(result.is_error);
        let said = format!("{}\n{}", context(&events), text(&result));
        assert!(said.contains("token") && !said.contains(SECRET), "{said}");
    }
}

fn sha256(text: &str) -> String {
    use sha2::Digest as _;
    hex::encode(sha2::Sha256::digest(text))
}

/// What hooks were shown: the base64 words of their records, read.
fn decoded(records: &str) -> String {
    let words = records.split(|character: char| !(character.is_ascii_alphanumeric() || "+/=".contains(character)));
    let read = words.filter(|word| word.len() > 40).filter_map(|word| base64(word.as_bytes()));
    read.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect::<Vec<_>>().join("\n")
}

fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let (mut bits, mut held) = (0_u32, 0);
    for &letter in text.iter().filter(|letter| **letter != b'=') {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        (bits, held) = (bits << 6 | u32::from(value), held + 6);
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff).ok()?);
        }
    }
    Some(bytes)
}
