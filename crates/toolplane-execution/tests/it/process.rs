use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolplane_records::profile::{ExecutionBinding, ProcessBinding, ProcessStdin};

use crate::support::{call, execute, failure, structured, text, toolbox};

fn binding(argv: &[&str]) -> ProcessBinding {
    ProcessBinding { argv: argv.iter().map(|argument| (*argument).to_owned()).collect(), ..ProcessBinding::default() }
}

async fn run(binding: ProcessBinding, input: Value) -> toolplane_execution::Outcome {
    let workspace = tempfile::tempdir().unwrap();
    let toolbox = toolbox(workspace.path()).await;
    execute(&toolbox, &call(ExecutionBinding::Process(binding), input)).await
}

#[tokio::test]
async fn fields_become_single_arguments() {
    let outcome = run(binding(&["printf", "[%s]", "{q}", "{n}"]), json!({"q": "a b; $(id) '\"", "n": 5})).await;
    assert_eq!(text(&outcome), "[a b; $(id) '\"][5]");
    let outcome = run(binding(&["printf", "{missing}"]), json!({"q": 1})).await;
    assert_eq!(failure(&outcome), ("invalid_arguments", "input.invalid"));
    let outcome = run(binding(&["{program}"]), json!({"program": "sh"})).await;
    assert_eq!(failure(&outcome), ("setup_required", "exec.binding_invalid"));
}

#[tokio::test]
async fn the_input_arrives_on_standard_input_byte_for_byte() {
    let stdin = ProcessBinding { stdin: ProcessStdin::Json, ..binding(&["cat"]) };
    assert_eq!(
        text(&run(stdin, json!({"b": 18_446_744_073_709_551_615_u64, "a": "é"})).await),
        r#"{"a":"é","b":18446744073709551615}"#
    );
    assert_eq!(text(&run(binding(&["cat"]), json!({"a": 1})).await), "");
}

#[tokio::test]
async fn declared_output_and_exit_codes_are_respected() {
    let json_tool = |text: &str| ProcessBinding { json_output: true, ..binding(&["printf", "%s", text]) };
    let outcome = run(json_tool(r#" {"n": 12345678901234567890} "#), json!({})).await;
    assert_eq!(outcome.structured_content.unwrap().text(), r#"{"n": 12345678901234567890}"#);
    let outcome = run(json_tool("not json"), json!({})).await;
    assert_eq!(failure(&outcome), ("execution_failed", "exec.output_invalid"));
    let grep = ProcessBinding { success_exit_codes: vec![0, 1], ..binding(&["sh", "-c", "exit 1"]) };
    let outcome = run(grep.clone(), json!({})).await;
    assert!(outcome.is_success());
    assert_eq!(structured(&outcome)["exit_code"], json!(1));
    let outcome = run(ProcessBinding { argv: binding(&["sh", "-c", "exit 2"]).argv, ..grep }, json!({})).await;
    assert_eq!(failure(&outcome), ("execution_failed", "exec.exit_code"));
}

#[tokio::test]
async fn the_declaration_may_set_variables_but_not_take_ours() {
    let env = BTreeMap::from([
        ("PYTHONPATH".to_owned(), "/x".to_owned()),
        ("TOOLPLANE_FENCE".to_owned(), "forged".to_owned()),
    ]);
    let outcome = run(ProcessBinding { env, ..binding(&["env"]) }, json!({})).await;
    assert!(text(&outcome).contains("PYTHONPATH=/x\n") && text(&outcome).contains("TOOLPLANE_FENCE=7\n"));
    assert!(text(&outcome).contains("TOOLPLANE_IDEMPOTENCY_KEY=key-1\n"));
}

#[tokio::test]
async fn a_missing_program_is_a_failed_setup_that_names_the_step() {
    let outcome = run(binding(&["no-such-program-at-all"]), json!({})).await;
    assert_eq!(failure(&outcome), ("dependency_unavailable", "sandbox.setup_failed"));
    let error = outcome.error.unwrap();
    assert_eq!(error.native_error_ref.as_deref(), Some("stage=exec,errno=2"));
    assert_eq!(error.side_effects.as_deref(), Some("none"));
}
