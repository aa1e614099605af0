//! Tools in the shapes of vendors, and the calls of models back: over gRPC, over HTTP, and typed.

use serde_json::{Value, json};
use toolplane_proto::v1;
use toolplane_proto::v1::mapped_call::Outcome;
use toolplane_testkit::clients::{payload, payload_bytes};
use toolplane_testkit::{Options, tools};

use crate::bed::{Bed, RULES, register};
use crate::http::Http;
use crate::shell::Shell;

/// The echo tool under a name, with a schema that no vendor holds as it is.
fn echo(name: &str) -> v1::ToolRegistration {
    let files = tools::example_files().unwrap();
    let file = files.into_iter().find(|file| file.ends_with("native.echo.json")).unwrap();
    let text = std::fs::read_to_string(file).unwrap();
    let mut tool: Value = serde_json::from_str(&text.replace("_native_echo", "_deep_echo")).unwrap();
    tool["declaration"]["namespace"] = "deep.er".into();
    tool["declaration"]["name"] = name.into();
    tool["declaration"]["input_contract"]["examples"] = json!([]);
    tool["declaration"]["input_contract"]["model_input_schema"] = json!({
        "type": "object",
        "properties": { "user-id": { "type": "integer" }, "note": { "type": "string", "minLength": 1 } },
        "required": ["user-id"],
        "additionalProperties": false,
    });
    tools::registration(&tool.to_string()).unwrap()
}

fn json_of(payload: Option<&v1::JsonPayload>) -> Value {
    serde_json::from_slice(&payload_bytes(payload)).unwrap()
}

fn target(call: &v1::MappedCall) -> &v1::CallTarget {
    match &call.outcome {
        Some(Outcome::Target(target)) => target,
        other => panic!("no target: {other:?}"),
    }
}

#[tokio::test]
async fn a_surface_goes_out_in_two_shapes_and_the_calls_come_back() {
    let bed = Bed::with(Options::new(RULES).http()).await;
    let (http, shell) = (Http::of(&bed.cluster.http().unwrap()), Shell::at(bed.cluster.endpoint()));
    register(&bed.clients, vec![echo("say.it")]).await;
    let alias = "deep__er__say__it";
    let surfaces = || bed.clients.surfaces();

    // OpenAI, strict: what may be left out is `null`, and is left out again on the way back. The call that was meant runs.
    let request = v1::ExportSurfaceRequest {
        shape: "openai-responses".to_owned(),
        strict: true,
        names: vec!["deep.er.say.it".to_owned(), "no.such".to_owned()],
        ..Default::default()
    };
    let exported = surfaces().export_surface(request).await.unwrap().into_inner();
    let [tool] = <[Value; 1]>::try_from(json_of(exported.tools_json.as_ref()).as_array().unwrap().clone()).unwrap();
    assert_eq!((&tool["name"], &tool["strict"]), (&json!(alias), &json!(true)));
    assert_eq!(tool["parameters"]["properties"]["note"]["type"], json!(["string", "null"]));
    assert_eq!((exported.left_out[0].name.as_str(), exported.left_out[0].reason.as_str()), ("no.such", "unknown"));
    let losses: Vec<_> = exported.tools[0].losses.iter().map(|loss| (&*loss.pointer, &*loss.done)).collect();
    assert_eq!(losses, [("/properties/note/minLength", "described"), ("/properties/note", "nullable")]);

    let said = json!({ "output": [
        { "type": "function_call", "call_id": "c1", "name": alias, "arguments": "{\"user-id\":18446744073709551617,\"note\":null}" },
        { "type": "function_call", "call_id": "c2", "name": "deep__er__say__if", "arguments": "{}" },
    ]});
    let request = v1::MapCallsRequest { said: Some(payload(said.to_string())), strict: true, ..Default::default() };
    let mapped = surfaces().map_calls(request).await.unwrap().into_inner().calls;
    let meant = target(&mapped[0]);
    assert_eq!(
        (&*mapped[0].call_id, &*meant.name, &*meant.left_out),
        ("c1", "deep.er.say.it", &["/note".to_owned()][..])
    );
    assert_eq!(meant.digest, exported.tools[0].digest);
    let Some(Outcome::Refusal(refusal)) = &mapped[1].outcome else { panic!("{mapped:?}") };
    assert_eq!((&*refusal.code, &*refusal.similar_aliases), ("surface.unknown_tool", &[alias.to_owned()][..]));
    let spec = v1::InvocationSpec {
        tool_name: meant.name.clone(),
        declaration_digest: meant.digest.clone(),
        model_input: meant.arguments.clone(),
        native_call_id: mapped[0].call_id.clone(),
        ..Default::default()
    };
    let request = v1::CallRequest { spec: Some(spec), wait_ms: 60_000, ..Default::default() };
    let result = bed.clients.invocations().call(request).await.unwrap().into_inner().result.unwrap();
    assert_eq!(&payload_bytes(result.structured_content.as_ref())[..], br#"{"user-id":18446744073709551617}"#);

    // Gemini, over HTTP: it has its own name for a parameter, and the call comes back by the declared one.
    let exported = http.good("export-surface", json!({ "shape": "gemini", "names": [alias] })).await;
    let declared = &exported["tools_json"][0]["functionDeclarations"][0];
    let renamed = declared["parametersJsonSchema"]["required"][0].as_str().unwrap().to_owned();
    assert!(renamed.starts_with("user_id_"), "{exported}");
    let part = json!({ "functionCall": { "name": alias, "args": { renamed: 7 } } });
    let mapped =
        http.good("map-calls", json!({ "said": { "candidates": [{ "content": { "parts": [part] } }] } })).await;
    assert_eq!(mapped["calls"][0]["target"]["arguments"], json!({ "user-id": 7 }));
    assert_eq!(http.ask("export-surface", json!({ "shape": "xml" })).await.0, 400);

    // Typed: the array itself, the report, the cards; and a call under the name the tool had before.
    let whole = shell.json(0, &["surface", "export", "--shape", "anthropic"]);
    assert!(whole.as_array().unwrap().iter().any(|tool| tool["name"] == alias), "{whole}");
    let report =
        shell.says(0, &["surface", "export", "--shape", "openai-chat", "--strict", "--tool", alias, "--report"]);
    assert!(report.contains("strict") && report.contains("/properties/note  required nullable"), "{report}");
    let cards = shell.says(0, &["tools", "cards", alias]);
    assert!(cards.contains(&format!("{alias}(user-id: integer, note?: string)")), "{cards}");
    register(&bed.clients, vec![echo("tell")]).await;
    let call = json!({ "type": "tool_use", "id": "t", "name": alias, "input": { "user-id": 1 } }).to_string();
    let mapped = shell.json(0, &["surface", "calls", "--said", &call]);
    assert_eq!((&mapped["name"], &mapped["arguments"]), (&json!("deep.er.tell"), &json!({ "user-id": 1 })));
    assert!(
        shell.says(1, &["surface", "calls", "--said", &call.replace("say", "sing")]).contains("[surface.unknown_tool]")
    );
}
