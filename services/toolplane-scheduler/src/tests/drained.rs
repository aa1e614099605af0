//! Who waits for a call when the process is told to stop: told at once what there is, and nothing is lost of the call.

use futures_util::StreamExt as _;
use tonic::{Code, Request, Status};
use toolplane_proto::v1;
use toolplane_proto::v1::invocation_service_server::InvocationService as _;

use super::{World, spec};

fn is_last_words(status: &Status) -> bool {
    let reason = toolplane_runtime::status::reason(status);
    (status.code(), reason.as_deref()) == (Code::Unavailable, Some("DRAINING"))
}

fn told() -> Option<v1::CutShort> {
    Some(v1::CutShort { reason: "DRAINING".to_owned(), retry_after_ms: 1000 })
}

#[tokio::test]
async fn who_waits_hears_which_call_goes_on_and_a_stream_says_first_what_it_began() {
    let world = World::new().await;
    let api = world.api();
    // Nobody runs it; without the stop these would be answered after the longest wait.
    let mut followed = api
        .invoke(Request::new(v1::InvokeRequest { spec: Some(spec(r#"{"path":"a"}"#)), form: None }))
        .await
        .unwrap()
        .into_inner();
    let accepted = followed.next().await.unwrap().unwrap().accepted.unwrap();
    world.stop.cancel();
    let request = v1::CallRequest { spec: Some(spec(r#"{"path":"a"}"#)), wait_ms: 60_000, form: None };
    let call = api.call(Request::new(request)).await.unwrap().into_inner();
    assert_eq!((call.cut_short.clone(), call.result), (told(), None));
    let id = call.accepted.unwrap().invocation_id;
    assert_eq!(call.invocation.unwrap().invocation_id, id);
    let wait = v1::WaitInvocationRequest { invocation_id: id.clone(), timeout_ms: 60_000, form: None };
    let waited = api.wait_invocation(Request::new(wait)).await.unwrap().into_inner();
    assert_eq!((waited.done, waited.cut_short, waited.invocation.unwrap().invocation_id), (false, told(), id.clone()));

    let last = loop {
        match followed.next().await.unwrap() {
            Ok(message) => assert_eq!(message.result, None),
            Err(status) => break status,
        }
    };
    assert!(is_last_words(&last) && followed.next().await.is_none(), "{last:?}");
    let mut begun = api
        .invoke(Request::new(v1::InvokeRequest { spec: Some(spec(r#"{"path":"a"}"#)), form: None }))
        .await
        .unwrap()
        .into_inner();
    assert!(begun.next().await.unwrap().unwrap().accepted.is_some(), "it could not be found otherwise");
    let watch = v1::WatchInvocationRequest { invocation_id: accepted.invocation_id, ..Default::default() };
    let mut watched = api.watch_invocation(Request::new(watch)).await.unwrap().into_inner();
    let last = loop {
        match watched.next().await.unwrap() {
            Ok(message) => assert_eq!(message.result, None),
            Err(status) => break status,
        }
    };
    assert!(is_last_words(&last), "{last:?}");
}
