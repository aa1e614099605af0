//! `Call`: one request, one answer, and what it says of a call that has not ended.

use std::time::Duration;

use tonic::{Code, Request};
use toolplane_proto::v1;
use toolplane_testkit::clients::payload_bytes;

use crate::bed::Bed;

async fn call(bed: &Bed, spec: v1::InvocationSpec, wait_ms: u32) -> v1::CallResponse {
    let request = v1::CallRequest { spec: Some(spec), wait_ms, ..Default::default() };
    bed.clients.invocations().call(request).await.unwrap().into_inner()
}

#[tokio::test]
async fn one_request_is_answered_with_the_one_result() {
    let bed = Bed::start().await;
    let spec = v1::InvocationSpec { idempotency_key: "once".to_owned(), ..bed.spec("native.echo", r#"{"a":1}"#) };
    let answer = call(&bed, spec.clone(), 0).await;
    let (accepted, result) = (answer.accepted.unwrap(), answer.result.unwrap());
    assert_eq!((accepted.duplicate, accepted.durability.as_str()), (false, "fsynced"));
    assert_eq!(answer.invocation, None, "the result says it all");
    assert_eq!(&payload_bytes(result.structured_content.as_ref())[..], br#"{"a":1}"#);

    // Every event and the same result are there for whoever asks.
    let (events, replayed) = bed.replay(&accepted.invocation_id, 1).await;
    assert_eq!(replayed, *result);
    assert_eq!(events.last().unwrap().event_class(), v1::EventClass::ToolInvocationSucceeded);

    // Who asks beyond the end hears where it is.
    let beyond = v1::WatchInvocationRequest {
        invocation_id: accepted.invocation_id.clone(),
        from_seq: 1_000,
        ..Default::default()
    };
    let mut stream = bed.clients.invocations().watch_invocation(beyond).await.unwrap().into_inner();
    let message = stream.message().await.unwrap().unwrap();
    assert_eq!((message.events.len(), message.head_seq), (0, events.last().unwrap().sequence));

    // The same request again is the same call.
    let again = call(&bed, spec, 0).await;
    assert!(again.accepted.unwrap().duplicate);
    assert_eq!(again.result.unwrap(), result);

    // What is wrong is a result where the call was accepted, and an error where it was not.
    let refused = call(&bed, bed.spec("native.no_such_tool", "{}"), 0).await.result.unwrap();
    assert!(refused.is_error, "{refused:?}");
    let wrong = v1::CallRequest { spec: Some(bed.spec("native.echo", "{'a'}")), wait_ms: 0, ..Default::default() };
    assert_eq!(bed.clients.invocations().call(wrong).await.unwrap_err().code(), Code::InvalidArgument);
}

#[tokio::test]
async fn a_call_that_goes_on_is_named_before_the_caller_is_gone() {
    let bed = Bed::start().await;
    let spec = bed.spec("local.shell.exec", r#"{"command":"true"}"#);
    let spec = v1::InvocationSpec { idempotency_key: "asked".to_owned(), ..spec };
    let waiting = call(&bed, spec.clone(), 1).await;
    assert_eq!(waiting.result, None);
    let record = waiting.invocation.unwrap();
    assert_eq!(record.status_code(), v1::InvocationStatus::AwaitingApproval);
    assert_eq!(record.invocation_id, waiting.accepted.unwrap().invocation_id);
    let approval_id = record.approval_request_ref;

    // The caller's own deadline is earlier than its wait: it hears which call it is, not that time is up.
    let mut request = Request::new(v1::CallRequest { spec: Some(spec.clone()), wait_ms: 60_000, ..Default::default() });
    request.set_timeout(Duration::from_secs(2));
    let answer = bed.clients.invocations().call(request).await.unwrap().into_inner();
    assert_eq!(answer.invocation.unwrap().invocation_id, record.invocation_id);

    // So does a caller that waits for a call it knows.
    let wait = v1::WaitInvocationRequest {
        invocation_id: record.invocation_id.clone(),
        timeout_ms: 60_000,
        ..Default::default()
    };
    let mut request = Request::new(wait);
    request.set_timeout(Duration::from_secs(2));
    let answer = bed.clients.invocations().wait_invocation(request).await.unwrap().into_inner();
    assert!(!answer.done && answer.invocation.unwrap().invocation_id == record.invocation_id);

    // A request that waits is answered when the call ends, whoever ends it.
    let (bed, clients) = (&bed, bed.clients.clone());
    let deny = async move {
        let option = v1::PermissionOption::RejectOnce.into();
        let request = v1::ResolveApprovalRequest { approval_id, option, ..Default::default() };
        clients.permissions().resolve_approval(request).await.unwrap();
    };
    let (answer, ()) = tokio::join!(call(bed, spec, 60_000), deny);
    assert_eq!(answer.result.unwrap().status, "rejected");
}

#[tokio::test]
async fn a_key_is_one_call_whatever_ids_come_with_it() {
    let bed = Bed::start().await;
    let with = |id: &str, text: &str| v1::InvocationSpec {
        idempotency_key: "one".to_owned(),
        invocation_id: id.to_owned(),
        ..bed.spec("native.echo", format!(r#"{{"text":"{text}"}}"#))
    };
    let first = call(&bed, with("mine-1", "a"), 0).await;
    assert_eq!(first.accepted.as_ref().map(|accepted| accepted.invocation_id.as_str()), Some("mine-1"));
    for id in ["mine-2", "", "mine-1"] {
        let again = call(&bed, with(id, "a"), 0).await;
        let accepted = again.accepted.unwrap();
        assert_eq!((accepted.invocation_id.as_str(), accepted.duplicate), ("mine-1", true), "asked as `{id}`");
        assert_eq!(again.result, first.result);
    }
    for id in ["mine-3", ""] {
        let request = v1::CallRequest { spec: Some(with(id, "b")), wait_ms: 0, ..Default::default() };
        let status = bed.clients.invocations().call(request).await.unwrap_err();
        assert_eq!(status.code(), Code::AlreadyExists, "{status:?}");
    }
    // The other way round: the key first, and then with an id.
    let key = |id: &str| v1::InvocationSpec { idempotency_key: "two".to_owned(), ..with(id, "a") };
    let first = call(&bed, key(""), 0).await.accepted.unwrap();
    let again = call(&bed, key("mine-4"), 0).await.accepted.unwrap();
    assert_eq!((again.invocation_id, again.duplicate), (first.invocation_id, true));
    let wanted = v1::ListInvocationsRequest { idempotency_key: "one".to_owned(), ..Default::default() };
    let listed = bed.clients.invocations().list_invocations(wanted).await.unwrap().into_inner().invocations;
    assert_eq!(listed.iter().map(|call| call.invocation_id.as_str()).collect::<Vec<_>>(), ["mine-1"]);
}
