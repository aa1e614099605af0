//! Bytes of workers: what they say they have.

use serde_json::json;
use toolplane_fuzz::fuzz;
use toolplane_records::profile::ExecutionBinding;
use toolplane_records::provider::Provider;

use super::read;

const ANSWERS: [&str; 3] = [
    r#"{"tools":[{"declaration":{"name":"acme.translate","description":"d"},"interface":null}]}"#,
    r#"{"tools":[{"declaration":{"name":"b","description":"d","input_contract":{"model_input_schema":{"type":"object"}}},
        "interface":{"is_read_only":true},"execution_profile":{"binding":{"type":"native","name":"acme.b"}}},7]}"#,
    r#"{"tools":[{"declaration":{"name":"list_tools","description":"d"},"permission_profile":{"risk_level":"low"}}]}"#,
];

#[test]
fn answers_of_workers() {
    let provider = json!({ "provider_id": "own", "tenant": "default", "namespace": "own",
        "source": { "kind": "worker", "native_prefix": "acme." } });
    let provider: Provider = serde_json::from_value(provider).unwrap();
    fuzz!("worker tools", ANSWERS, |bytes: &[u8]| {
        let Ok(said) = read(&provider, "acme.", bytes) else { return };
        for made in said.tools.into_iter().filter_map(|found| found.made.ok()) {
            assert!(made.declaration.tool_id.as_str().starts_with("provider:own/"));
            let Some(ExecutionBinding::Native { name }) = made.execution_profile.and_then(|profile| profile.binding)
            else {
                panic!("it would be run by something else")
            };
            assert!(name.len() > 5 && name.starts_with("acme.") && name != "acme.list_tools");
        }
    });
}
