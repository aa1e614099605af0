use std::fmt::Debug;

use bytes::Bytes;
use prost::Message;
use serde::Serialize;
use serde::de::DeserializeOwned;
use toolplane_records as records;

use super::ConvertError;
use crate::v1;

mod decision_request;
mod rules;
mod words;

/// From the golden JSON of a record over its encoded message back to the same JSON.
fn check<R, M>(golden: &str)
where
    R: Serialize + DeserializeOwned + TryFrom<M, Error = ConvertError> + PartialEq + Debug,
    M: for<'a> From<&'a R> + Message + Default + PartialEq + Debug,
{
    let record: R = serde_json::from_str(golden).unwrap();
    let message = M::from(&record);
    let decoded = M::decode(Bytes::from(message.encode_to_vec())).unwrap();
    assert_eq!(decoded, message);
    let back = R::try_from(decoded).unwrap();
    assert_eq!(back, record);
    assert_eq!(format!("{}\n", serde_json::to_string_pretty(&back).unwrap()), golden);
}

macro_rules! golden {
    ($name:literal, $kind:literal) => {
        include_str!(concat!("../../../toolplane-records/tests/golden/", $name, ".", $kind, ".json"))
    };
}

/// Whatever bytes come, they are refused, or they are a record that is sent so that it is read as the same.
fn mutated<R, M>(name: &str, golden: [&str; 2])
where
    R: DeserializeOwned + TryFrom<M, Error = ConvertError> + PartialEq + Debug,
    M: for<'a> From<&'a R> + Message + Default,
{
    let example = |golden| M::from(&serde_json::from_str::<R>(golden).unwrap()).encode_to_vec();
    toolplane_fuzz::fuzz!(name, golden.map(example), |bytes: &[u8]| {
        let Ok(message) = M::decode(bytes) else { return };
        let Ok(record) = R::try_from(message) else { return };
        let again = M::decode(Bytes::from(M::from(&record).encode_to_vec())).unwrap();
        assert_eq!(R::try_from(again).as_ref(), Ok(&record));
    });
}

macro_rules! round_trips {
    ($($test:ident: $record:path => $message:path, $name:literal;)*) => {
        $(
            #[test]
            fn $test() {
                check::<$record, $message>(golden!($name, "full"));
                check::<$record, $message>(golden!($name, "minimal"));
            }
        )*

        mod fuzz {
            use super::{mutated, records, v1};

            $(
                #[test]
                fn $test() {
                    mutated::<$record, $message>($name, [golden!($name, "full"), golden!($name, "minimal")]);
                }
            )*
        }
    };
}

round_trips! {
    declaration: records::declaration::ToolDeclaration => v1::ToolDeclaration, "tool-declaration";
    interface: records::interface::ToolInterface => v1::ToolInterface, "tool-interface";
    process_profile: records::profile::ExecutionProfile => v1::ExecutionProfile, "execution-profile";
    http_and_shell_profile: records::profile::ExecutionProfile => v1::ExecutionProfile, "execution-profile-http";
    native_profile: records::profile::ExecutionProfile => v1::ExecutionProfile, "execution-profile-native";
    permission_profile: records::profile::PermissionProfile => v1::PermissionProfile, "permission-profile";
    deferred_tool: records::surface::DeferredToolRef => v1::DeferredToolRef, "deferred-tool";
    surface: records::surface::ToolSurface => v1::ToolSurface, "tool-surface";
    search_result: records::search::SearchResult => v1::SearchResult, "search-result";
    mutation: records::mutation::InputMutation => v1::InputMutation, "input-mutation";
    hook: records::hook::ToolHook => v1::ToolHook, "hook";
    progress: records::progress::ToolProgress => v1::ToolProgress, "progress";
    event: records::event::ToolEvent => v1::Event, "event";
    batch: records::batch::Batch => v1::Batch, "batch";
    scheduler_policy: records::scheduling::SchedulerPolicy => v1::SchedulerPolicy, "scheduler-policy";
    decision: records::decision::PermissionDecision => v1::PermissionDecision, "permission-decision";
    permission_rule: records::rule::PermissionRule => v1::PermissionRule, "permission-rule";
    hook_verdict: records::explanation::HookVerdict => v1::HookVerdict, "hook-verdict";
    classifier_check: records::explanation::ClassifierCheck => v1::ClassifierCheck, "classifier-check";
    explanation: records::explanation::DecisionExplanation => v1::DecisionExplanation, "decision-explanation";
    approval: records::approval::Approval => v1::Approval, "approval";
    result: records::result::ToolResult => v1::ToolResult, "result";
    execution_evidence: records::evidence::ExecutionEvidence => v1::ExecutionEvidence, "execution-evidence";
    persistence: records::persistence::ResultPersistence => v1::ResultPersistence, "result-persistence";
}

/// A number JSON cannot say would be kept as none at all.
#[test]
fn a_percentage_that_is_no_number_is_refused() {
    let record: records::progress::ToolProgress = serde_json::from_str(golden!("progress", "full")).unwrap();
    for percent in [f64::NAN, f64::INFINITY] {
        let message = v1::ToolProgress { percent: Some(percent), ..(&record).into() };
        let refused = records::progress::ToolProgress::try_from(message).unwrap_err();
        assert_eq!((refused.field.as_str(), refused.rule.as_str()), ("percent", "must be a finite number"));
    }
}

fn stored_invocation() -> records::invocation::Invocation {
    serde_json::from_str(golden!("invocation-record", "full")).unwrap()
}

/// Everything of an invocation comes back but the lease, whose name is a secret.
#[test]
fn invocation() {
    let record = stored_invocation();
    let message = v1::Invocation::from(&record);
    let lease = record.lease.clone().unwrap();
    assert_eq!(message.lease.as_ref().map(|facts| facts.fence), Some(lease.fence));
    let bytes = message.encode_to_vec();
    let secret = lease.lease_id.as_str().as_bytes();
    assert!(!bytes.windows(secret.len()).any(|part| part == secret));
    let back = records::invocation::Invocation::try_from(v1::Invocation::decode(Bytes::from(bytes)).unwrap()).unwrap();
    assert_eq!(back, records::invocation::Invocation { lease: None, last_execution: None, ..record });
    let minimal: records::invocation::Invocation =
        serde_json::from_str(golden!("invocation-record", "minimal")).unwrap();
    assert_eq!(records::invocation::Invocation::try_from(v1::Invocation::from(&minimal)).unwrap(), minimal);
}

/// Inputs travel by value only when they are handed in.
#[test]
fn inputs_by_value_are_a_choice() {
    let record = stored_invocation();
    assert_eq!(v1::Invocation::from(&record).model_input, None);
    let input = records::payload::JsonPayload::from_checked(r#"{"n":18446744073709551617}"#);
    let bodies = records::invocation::InputBodies { model: Some(input.clone()), ..Default::default() };
    let message = super::invocation::with_inputs(&record, &bodies);
    assert_eq!(message.model_input, Some((&input).into()));
    assert_eq!(message.call_input, None);
    assert_eq!(message.call_input_ref, record.inputs.call.as_ref().map(Into::into));
}
