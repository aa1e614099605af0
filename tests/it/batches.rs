//! Batches: accepted together, scheduled under one policy, every call with its one result in the declared order.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tonic::Code;
use tonic_types::StatusExt as _;
use toolplane_proto::v1;
use toolplane_testkit::clients::payload;
use toolplane_testkit::tools::TestTool;
use toolplane_testkit::{Options, binary};

use crate::bed::{Bed, RULES, assert_gapless, register};

mod crash;
mod modifiers;
mod shared;
mod stream;

use stream::{Follower, follow};

/// The call of the example that fails, those that depend on it, and the one nothing cancels.
const FAILS: usize = 12;
const DEPENDS: [usize; 3] = [13, 14, 15];
const UNAFFECTED: usize = 20;

pub(crate) fn example_file() -> PathBuf {
    binary::root().join("deploy/examples/batches/notes.json")
}

/// What the example reads; the one it does not find is not there.
pub(crate) fn write_notes(bed: &Bed) {
    let folder = bed.cluster.workspace().join("notes");
    std::fs::create_dir_all(&folder).unwrap();
    for number in 0..27 {
        std::fs::write(folder.join(format!("{number:02}.txt")), format!("note {number}\n")).unwrap();
    }
}

/// The example's calls, in `bed`'s surface.
fn example(bed: &Bed, policy: v1::SchedulerPolicy) -> v1::BatchSpec {
    let file: Value = serde_json::from_str(&std::fs::read_to_string(example_file()).unwrap()).unwrap();
    let calls = file["calls"].as_array().unwrap().iter().map(|call| v1::BatchCall {
        spec: Some(bed.spec(call["tool"].as_str().unwrap(), call["input"].to_string())),
        depends_on: call["depends_on"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|edge| edge.as_u64().unwrap() as u32)
            .collect(),
        sibling_failure_policy: match call["sibling_failure_policy"].as_str() {
            Some("ignore") => v1::SiblingFailurePolicy::Ignore.into(),
            _ => v1::SiblingFailurePolicy::Unspecified.into(),
        },
    });
    v1::BatchSpec { calls: calls.collect(), policy: Some(policy), ..Default::default() }
}

fn policy(sibling: v1::SiblingFailurePolicy, ordering: v1::OrderingPolicy) -> v1::SchedulerPolicy {
    v1::SchedulerPolicy {
        sibling_failure_policy: sibling.into(),
        ordering_policy: ordering.into(),
        ..Default::default()
    }
}

/// Which calls ended as canceled siblings; each says that it was not executed, and because of which call.
fn synthetic(follower: &Follower) -> Vec<usize> {
    let mut found = Vec::new();
    for (index, result) in follower.results.iter().map(|(index, result)| (*index as usize, result)) {
        let Some(error) = &result.error else { continue };
        if error.error_class == "sibling_canceled" {
            assert_eq!((result.status.as_str(), error.error_code.as_str()), ("canceled", "sibling.canceled"));
            assert_eq!(error.abort_reason, "sibling_error");
            let cause = if index == 15 { 14 } else { FAILS };
            let named = format!("sibling {cause} `files.read_file` ({})", follower.ids[&(cause as u32)]);
            let direct = format!("sibling {FAILS} `files.read_file` ({})", follower.ids[&(FAILS as u32)]);
            assert!(error.message.starts_with("not executed: "), "{}", error.message);
            assert!(error.message.contains(&named) || error.message.contains(&direct), "{}", error.message);
            found.push(index);
        }
    }
    found.sort_unstable();
    found
}

#[tokio::test]
async fn the_example_has_27_results_in_order_under_every_policy() {
    use v1::{OrderingPolicy as Order, SiblingFailurePolicy as Sibling};
    let bed = Bed::start().await;
    write_notes(&bed);
    // One at a time, all that comes after the failure is unfinished, except what no failure of a sibling affects.
    let after: Vec<usize> = (FAILS + 1..27).filter(|index| *index != UNAFFECTED).collect();
    let table = [
        (Sibling::Ignore, Order::PreserveTerminalOrder, vec![]),
        (Sibling::Ignore, Order::Serial, vec![]),
        (Sibling::Ignore, Order::AllowUnordered, vec![]),
        (Sibling::CancelDependent, Order::PreserveTerminalOrder, DEPENDS.to_vec()),
        (Sibling::CancelDependent, Order::AllowUnordered, DEPENDS.to_vec()),
        (Sibling::CancelSiblings, Order::Serial, after),
    ];
    for (sibling, order, declared) in table {
        let follower = follow(&bed, example(&bed, policy(sibling, order))).await;
        let indexes: Vec<u32> = follower.results.iter().map(|(index, _)| *index).collect();
        let mut sorted = indexes.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..27).collect::<Vec<u32>>(), "{sibling:?} {order:?}: every call has one result");
        if order != Order::AllowUnordered {
            assert_eq!(indexes, sorted, "{sibling:?} {order:?}: results come in the declared order");
        }
        assert_eq!(synthetic(&follower), declared, "{sibling:?} {order:?}");
        let failed: Vec<u32> =
            follower.results.iter().filter(|(_, result)| result.status == "failed").map(|(index, _)| *index).collect();
        assert_eq!(failed, [FAILS as u32]);
        let succeeded = follower.results.iter().filter(|(_, result)| !result.is_error).count();
        assert_eq!(succeeded, 26 - declared.len(), "{sibling:?} {order:?}");
        for (index, events) in &follower.events {
            assert_gapless(events, 1);
            let last = events.last().unwrap();
            assert_eq!(last.event_type, "tool.invocation.yielded", "call {index}");
        }
        let batch = follower.batch.unwrap();
        assert_eq!((batch.yields, batch.next_yield, batch.ended_at.is_some()), (27, 27, true));
        for member in declared {
            assert!(batch.members[member].canceled_by.is_some(), "{member}");
        }
    }
}

#[tokio::test]
async fn with_ten_at_a_time_a_failure_cancels_only_what_has_not_finished() {
    let bed = Bed::start().await;
    write_notes(&bed);
    let ten = v1::SchedulerPolicy {
        max_parallel: Some(10),
        ..policy(v1::SiblingFailurePolicy::CancelSiblings, v1::OrderingPolicy::PreserveTerminalOrder)
    };
    let follower = follow(&bed, example(&bed, ten)).await;
    let batch = follower.batch.clone().unwrap();
    assert_eq!(follower.results.len(), 27);
    for (index, result) in &follower.results {
        let member = &batch.members[*index as usize];
        let canceled = result.status == "canceled";
        assert_eq!(member.canceled_by.is_some(), canceled, "call {index} is {}", result.status);
        if canceled {
            assert_eq!(result.error.as_ref().unwrap().error_class, "sibling_canceled");
        }
    }
    let error = |index: usize| follower.results[index].1.error.clone();
    assert_eq!(error(UNAFFECTED), None, "no failure of a sibling affects it");
    assert!(DEPENDS.iter().all(|index| error(*index).is_some_and(|error| error.message.starts_with("not executed"))));
}

#[tokio::test]
async fn a_batch_is_accepted_once_and_every_fault_is_named() {
    let bed = Bed::start().await;
    write_notes(&bed);
    let mut spec = example(&bed, v1::SchedulerPolicy::default());
    spec.idempotency_key = "notes-1".to_owned();
    let mut invocations = bed.clients.invocations();
    let submit = |spec: &v1::BatchSpec| v1::SubmitBatchRequest { spec: Some(spec.clone()) };
    let first = invocations.submit_batch(submit(&spec)).await.unwrap().into_inner();
    let batch_id = first.accepted.clone().unwrap().batch_id;
    assert_eq!((first.invocations.len(), first.accepted.unwrap().duplicate), (27, false));
    let again = invocations.submit_batch(submit(&spec)).await.unwrap().into_inner();
    let accepted = again.accepted.unwrap();
    assert_eq!((accepted.batch_id, accepted.duplicate), (batch_id.clone(), true));
    let ids = |calls: &[v1::Invocation]| calls.iter().map(|call| call.invocation_id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&again.invocations), ids(&first.invocations));

    let mut other = spec.clone();
    other.calls[0].spec.as_mut().unwrap().model_input = Some(payload(r#"{"path":"notes/01.txt"}"#));
    let refused = invocations.submit_batch(submit(&other)).await.unwrap_err();
    assert_eq!(refused.code(), Code::AlreadyExists, "{refused:?}");

    let mut faulty = spec.clone();
    faulty.idempotency_key = String::new();
    faulty.calls[3].spec.as_mut().unwrap().tool_name = String::new();
    faulty.calls[5].depends_on = vec![5];
    faulty.calls[7].spec.as_mut().unwrap().session_ref = "another".to_owned();
    faulty.calls[8].spec.as_mut().unwrap().resource_locks =
        vec![v1::ResourceLock { key: "a".into(), mode: "sideways".into(), mode_code: 0 }];
    faulty.policy.as_mut().unwrap().ordering_policy = 99;
    let refused = invocations.submit_batch(submit(&faulty)).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument);
    let fields: Vec<String> =
        refused.get_details_bad_request().unwrap().field_violations.into_iter().map(|fault| fault.field).collect();
    for expected in [
        "spec.policy.ordering_policy",
        "spec.calls[3].spec.tool_name",
        "spec.calls[5].depends_on[0]",
        "spec.calls[7].spec.session_ref",
        "spec.calls[8].spec.resource_locks[0].mode",
    ] {
        assert!(fields.iter().any(|field| field == expected), "{expected} is not among {fields:?}");
    }
    let many = v1::BatchSpec { calls: vec![spec.calls[0].clone(); 65], ..Default::default() };
    assert_eq!(invocations.submit_batch(submit(&many)).await.unwrap_err().code(), Code::InvalidArgument);
    let none = v1::BatchSpec::default();
    assert_eq!(invocations.submit_batch(submit(&none)).await.unwrap_err().code(), Code::InvalidArgument);

    // Of everything that was refused nothing is left.
    let request = v1::ListBatchesRequest { page_size: 10, ..Default::default() };
    let listed = invocations.list_batches(request).await.unwrap().into_inner().batches;
    assert_eq!(listed.iter().map(|batch| batch.batch_id.as_str()).collect::<Vec<_>>(), [batch_id.as_str()]);
    let request = v1::ListInvocationsRequest { batch_id: batch_id.clone(), page_size: 20, ..Default::default() };
    let page = invocations.list_invocations(request.clone()).await.unwrap().into_inner();
    assert_eq!(page.invocations.len(), 20);
    let request = v1::ListInvocationsRequest { page_token: page.next_page_token, ..request };
    let rest = invocations.list_invocations(request).await.unwrap().into_inner();
    assert_eq!((rest.invocations.len(), rest.next_page_token.as_str()), (7, ""));
    assert!(rest.invocations.iter().all(|call| !page.invocations.contains(call)), "no call is listed twice");
    assert_eq!(
        invocations
            .list_invocations(v1::ListInvocationsRequest::default())
            .await
            .unwrap()
            .into_inner()
            .invocations
            .len(),
        27
    );
}

#[tokio::test]
async fn refused_and_parked_calls_are_members_like_others() {
    let bed = Bed::start().await;
    let calls = [
        ("http.fetch", r#"{"url":"http://127.0.0.1:9/"}"#),
        ("no.such_tool", "{}"),
        ("native.echo", r#"{"n":1}"#),
        ("shell.exec", r#"{"command":"echo never"}"#),
        ("native.noop", "{}"),
    ];
    let calls =
        calls.iter().map(|(tool, input)| v1::BatchCall { spec: Some(bed.spec(tool, input)), ..Default::default() });
    let spec = v1::BatchSpec { calls: calls.collect(), ..Default::default() };
    let request = v1::SubmitBatchRequest { spec: Some(spec) };
    let accepted = bed.clients.invocations().submit_batch(request).await.unwrap().into_inner();
    let batch_id = accepted.accepted.unwrap().batch_id;
    let state = |index: usize| accepted.invocations[index].status.clone();
    assert_eq!([state(0), state(1), state(3)], ["denied", "failed", "awaiting_approval"].map(str::to_owned));

    for index in [2, 4] {
        bed.until(&accepted.invocations[index].invocation_id, v1::InvocationStatus::Succeeded).await;
    }
    let batch = stream::until_yields(&bed, &batch_id, 3).await;
    assert_eq!((batch.yields, batch.next_yield), (3, 3), "the last result waits for the question before it");

    let cancel = v1::CancelBatchRequest { batch_id: batch_id.clone(), reason: "enough".into(), ..Default::default() };
    let wrong = v1::CancelBatchRequest { request_id: "not-a-uuid".into(), ..cancel.clone() };
    assert_eq!(bed.clients.invocations().cancel_batch(wrong).await.unwrap_err().code(), Code::InvalidArgument);
    bed.clients.invocations().cancel_batch(cancel.clone()).await.unwrap();
    bed.clients.invocations().cancel_batch(cancel).await.unwrap();
    let follower = stream::watch(&bed, &batch_id, Follower::default()).await;
    let statuses: Vec<&str> = follower.results.iter().map(|(_, result)| result.status.as_str()).collect();
    assert_eq!(statuses, ["denied", "synthetic_error", "succeeded", "canceled", "succeeded"]);
    let pending = v1::ListApprovalsRequest { state: v1::ApprovalState::Pending.into(), ..Default::default() };
    let approvals = bed.clients.permissions().list_approvals(pending).await.unwrap().into_inner().approvals;
    assert!(approvals.is_empty(), "a canceled call leaves no question: {approvals:?}");
}

/// All but the first have ended when it does: the results of the others were held back, and none of them asks for anything any more.
#[tokio::test]
async fn many_results_that_wait_for_one_are_all_given_out() {
    let bed = Bed::start().await;
    let one_at_a_time = v1::SchedulerPolicy { max_parallel: Some(1), ..Default::default() };
    let seconds: Vec<&str> = std::iter::once("60").chain(std::iter::repeat_n("0", 49)).collect();
    let request = v1::SubmitBatchRequest { spec: Some(sleeping(&bed, &seconds, one_at_a_time).await) };
    let accepted = bed.clients.invocations().submit_batch(request).await.unwrap().into_inner();
    let batch_id = accepted.accepted.unwrap().batch_id;
    let cancel = |id: &str| v1::CancelInvocationRequest { invocation_id: id.to_owned(), ..Default::default() };
    let ids: Vec<String> = accepted.invocations.iter().map(|call| call.invocation_id.clone()).collect();
    bed.until(&ids[0], v1::InvocationStatus::Running).await;
    for id in &ids[1..] {
        bed.clients.invocations().cancel_invocation(cancel(id)).await.unwrap();
        bed.until(id, v1::InvocationStatus::Canceled).await;
    }
    bed.clients.invocations().cancel_invocation(cancel(&ids[0])).await.unwrap();
    let follower = stream::watch(&bed, &batch_id, Follower::default()).await;
    assert_eq!(follower.order(), (0..50).collect::<Vec<_>>());
}

fn sleeper() -> TestTool {
    TestTool {
        name: "storm.sleep".to_owned(),
        schema: json!({ "type": "object", "properties": { "s": { "type": "string" } }, "required": ["s"] }),
        argv: ["/bin/sh", "-c", "sleep \"$1\"; echo \"$1\"", "sh", "{s}"].map(str::to_owned).to_vec(),
        idempotent: true,
        read_only: true,
        timeout_ms: 60_000,
    }
}

async fn sleeping(bed: &Bed, seconds: &[&str], policy: v1::SchedulerPolicy) -> v1::BatchSpec {
    register(&bed.clients, vec![sleeper().registration().unwrap()]).await;
    let surface_id = crate::bed::surface(&bed.clients).await;
    let call = |s: &&str| v1::BatchCall {
        spec: Some(v1::InvocationSpec {
            surface_id: surface_id.clone(),
            ..bed.spec("storm.sleep", json!({ "s": s }).to_string())
        }),
        ..Default::default()
    };
    v1::BatchSpec { calls: seconds.iter().map(call).collect(), policy: Some(policy), ..Default::default() }
}

#[tokio::test]
async fn results_wait_for_their_turn_and_progress_does_not_unless_all_is_ordered() {
    let bed = Bed::with(Options::new(format!("{RULES}\n[executor]\nslots = 4\n"))).await;
    let seconds = ["0.6", "0", "0.3"];
    let ordered = sleeping(&bed, &seconds, v1::SchedulerPolicy::default()).await;
    let follower = follow(&bed, ordered.clone()).await;
    assert_eq!(follower.order(), [0, 1, 2]);
    assert!(
        follower.first_seen(1) < follower.released_at(0),
        "what happens to the second is told before the first ends"
    );

    let unordered =
        v1::SchedulerPolicy { yield_policy: v1::YieldPolicy::UnorderedStreaming.into(), ..Default::default() };
    let follower = follow(&bed, v1::BatchSpec { policy: Some(unordered), ..ordered.clone() }).await;
    assert_eq!(follower.order(), [1, 2, 0]);

    let all = v1::SchedulerPolicy { yield_policy: v1::YieldPolicy::AllOrdered.into(), ..Default::default() };
    let follower = follow(&bed, v1::BatchSpec { policy: Some(all), ..ordered }).await;
    assert_eq!(follower.order(), [0, 1, 2]);
    assert!(
        follower.first_seen(1) > follower.released_at(0),
        "nothing of the second is told before the first has ended"
    );
}

#[tokio::test]
async fn no_more_calls_run_at_once_than_the_policy_allows_and_a_cancel_reaches_all_of_them() {
    let bed = Bed::with(Options::new(format!("{RULES}\n[executor]\nslots = 8\n"))).await;
    let two = v1::SchedulerPolicy { max_parallel: Some(2), ..Default::default() };
    let spec = sleeping(&bed, &["0.2"; 6], two.clone()).await;
    let follower = follow(&bed, spec).await;
    assert_eq!(follower.order(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(follower.most_at_once(), 2);

    let spec = sleeping(&bed, &["50"; 6], two).await;
    let request = v1::SubmitBatchRequest { spec: Some(spec) };
    let accepted = bed.clients.invocations().submit_batch(request).await.unwrap().into_inner();
    let batch_id = accepted.accepted.unwrap().batch_id;
    bed.until(&accepted.invocations[1].invocation_id, v1::InvocationStatus::Running).await;
    let cancel = v1::CancelBatchRequest { batch_id: batch_id.clone(), ..Default::default() };
    bed.clients.invocations().cancel_batch(cancel).await.unwrap();
    let watching = stream::watch(&bed, &batch_id, Follower::default());
    let follower = tokio::time::timeout(Duration::from_secs(30), watching).await.unwrap();
    assert!(follower.results.iter().all(|(_, result)| result.status == "canceled"), "{:?}", follower.results);
    assert_eq!(follower.results.len(), 6);
}

#[tokio::test]
async fn the_command_line_prints_results_in_order() {
    let bed = Bed::start().await;
    write_notes(&bed);
    let file = example_file();
    let run = |arguments: &[&str]| {
        let mut command = std::process::Command::new(binary::toolplane().unwrap());
        command.env("TOOLPLANE_ENDPOINT", bed.cluster.endpoint()).env("TOOLPLANE_SURFACE", &bed.surface_id);
        command.args(arguments).output().unwrap()
    };
    let output = run(&["-o", "json", "batch", file.to_str().unwrap(), "--policy", "cancel_dependent"]);
    let (said, noted) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{noted}");
    let results: Vec<Value> = said.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let statuses: Vec<&str> = results.iter().map(|result| result["status"].as_str().unwrap()).collect();
    let mut expected = ["succeeded"; 27];
    expected[FAILS] = "failed";
    DEPENDS.iter().for_each(|index| expected[*index] = "canceled");
    assert_eq!(statuses, expected);
    assert!(noted.contains("27 results: 23 succeeded, 4 did not"), "{noted}");

    let id = noted.split_whitespace().find(|word| word.starts_with("batch_")).unwrap().to_owned();
    let shown: Value = serde_json::from_slice(&run(&["-o", "json", "batches", "get", &id]).stdout).unwrap();
    assert_eq!((&shown["yields"], shown["members"].as_array().unwrap().len()), (&27.into(), 27));
    let again = run(&["-o", "json", "batches", "watch", &id]);
    assert_eq!(String::from_utf8_lossy(&again.stdout), said);
    let wrong = run(&["batch", file.to_str().unwrap(), "--policy", "explode"]);
    assert_eq!(wrong.status.code(), Some(2));
}
