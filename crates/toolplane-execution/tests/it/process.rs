use std::collections::BTreeMap;

use serde_json::{Value, json};
use toolplane_records::profile::{ExecutionBinding, ProcessBinding, ProcessStdin};

use crate::support::{call, context, execute, failure, structured, text, toolbox};

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
        text(&run(stdin, json!({"a": "é", "b": 18_446_744_073_709_551_615_u64})).await),
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
    assert!(text(&outcome).contains("TOOLPLANE_LOCK_FENCE=9\n"));
}

#[tokio::test]
async fn a_program_that_cannot_be_run_is_a_fault_of_the_declaration() {
    for (program, errno) in [("no-such-program-at-all", 2), ("/etc", 13), ("/usr/bin/env/x", 20)] {
        let outcome = run(binding(&[program]), json!({})).await;
        assert_eq!(failure(&outcome), ("setup_required", "exec.binding_invalid"), "{program}");
        let error = outcome.error.unwrap();
        assert_eq!(error.native_error_ref, Some(format!("stage=exec,errno={errno}")));
        assert_eq!((error.side_effects.as_deref(), error.recoverability.as_str()), (Some("none"), "complete_setup"));
    }
    let large = run(binding(&["echo", "{text}"]), json!({"text": "x".repeat(200_000)})).await;
    assert_eq!(failure(&large), ("invalid_arguments", "input.invalid"));
}

#[tokio::test]
async fn context_modifiers_leave_the_output_where_the_tool_may_have_them() {
    let workspace = tempfile::tempdir().unwrap();
    let toolbox = toolbox(workspace.path()).await;
    let answer = r#"{"n": 1.50, "_context_modifiers": [{"set": {"a": 1}}]}"#;
    let tool = ProcessBinding { json_output: true, ..binding(&["sh", "-c", &format!("printf %s '{answer}'")]) };
    let mut modifying = call(ExecutionBinding::Process(tool), json!({}));
    let kept = execute(&toolbox, &modifying).await;
    assert_eq!((text(&kept), kept.context_modifiers.len()), (answer, 0));
    modifying.context_modifiers = true;
    let split = execute(&toolbox, &modifying).await;
    let modifiers: Vec<_> = split.context_modifiers.iter().map(|modifier| modifier.text()).collect();
    assert_eq!(modifiers, [r#"{"set": {"a": 1}}"#]);
    assert_eq!((text(&split), split.structured_content.as_ref().unwrap().text()), (r#"{"n":1.50}"#, r#"{"n":1.50}"#));
}

#[tokio::test]
async fn a_thrown_switch_kills_at_once_and_prevents_the_next_run() {
    let workspace = tempfile::tempdir().unwrap();
    let toolbox = toolbox(workspace.path()).await;
    let stubborn = "trap '' TERM; touch begun; sleep 100";
    let (context, _) = context();
    let begun = async {
        while !workspace.path().join("begun").exists() {
            toolplane_wait::look_again().await;
        }
        let kill = context.kill.clone();
        // From a thread that knows nothing of the runtime.
        std::thread::spawn(move || kill.throw()).join().unwrap();
    };
    let call = crate::support::shell_call(stubborn);
    let (outcome, ()) = tokio::join!(toolbox.execute(&call, &context), begun);
    assert_eq!(failure(&outcome), ("dependency_unavailable", "sandbox.lost"));
    assert!(context.kill.is_thrown());
    std::fs::remove_file(workspace.path().join("begun")).unwrap();
    assert_eq!(failure(&toolbox.execute(&call, &context).await).1, "sandbox.lost");
}
