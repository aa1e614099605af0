//! Requests that wait for the end of a call, when this process is told to stop: they are answered at once with the call as it is.
//!
//! A scheduler of this process is told to stop, too, and answers by itself. Another one knows nothing of it: it is asked the same once more,
//! without a wait. So a call has a name of its own, by which the second request finds what the first one made.

use std::time::Duration;

use prost_reflect::prost::Message as _;
use prost_reflect::{DynamicMessage, ReflectMessage as _, Value};
use tonic::Status;
use toolplane_proto::v1;
use toolplane_records::codes;
use toolplane_runtime::{ApiError, draining};
use uuid::Uuid;

use super::methods::Method;
use super::rpc;
use crate::door::Door;
use crate::upstream::Upstream;

/// In an answer: why a wait ended before its time. Methods that have it wait.
const CUT_SHORT: &str = "cut_short";
/// In a request: how long it waits, in milliseconds.
const WAITS: [&str; 2] = ["wait_ms", "timeout_ms"];

/// A message, and a message.
pub(crate) async fn unary(
    door: &Door,
    upstream: &Upstream,
    method: &Method,
    mut message: DynamicMessage,
    timeout: Option<Duration>,
) -> Result<DynamicMessage, Status> {
    let waits = method.output.get_field_by_name(CUT_SHORT).is_some();
    if !waits || door.roles.of(method.role).is_inside() {
        let answer = rpc::unary(upstream, method, rpc::request(&message, timeout)).await?;
        return rpc::read(answer.into_inner(), &method.output);
    }
    let named = name_call(&mut message);
    let asking = rpc::unary(upstream, method, rpc::request(&message, timeout));
    if let Some(answer) = draining::wait(&door.drains, asking).await {
        return rpc::read(answer?.into_inner(), &method.output);
    }
    wait_no_longer(&mut message);
    let answer = rpc::unary(upstream, method, rpc::request(&message, None)).await?;
    let mut answer = rpc::read(answer.into_inner(), &method.output)?;
    cut_short(&mut answer, named)?;
    Ok(answer)
}

/// When the caller of a wait that ended before its time may ask again.
pub(crate) fn comes_back_after(answer: &DynamicMessage) -> Option<Duration> {
    if !answer.has_field_by_name(CUT_SHORT) {
        return None;
    }
    let told = answer.get_field_by_name(CUT_SHORT)?;
    let millis = told.as_message()?.get_field_by_name("retry_after_ms")?.as_u32()?;
    Some(Duration::from_millis(millis.into()))
}

/// Gives the call of a request an id, where its caller gave none and no key either; whether it did.
fn name_call(request: &mut DynamicMessage) -> bool {
    if !request.has_field_by_name("spec") {
        return false;
    }
    let Some(spec) = request.get_field_by_name_mut("spec").and_then(Value::as_message_mut) else { return false };
    if ["invocation_id", "idempotency_key"].iter().any(|name| spec.has_field_by_name(name)) {
        return false;
    }
    spec.set_field_by_name("invocation_id", Value::String(format!("inv_{}", Uuid::now_v7().simple())));
    true
}

fn wait_no_longer(request: &mut DynamicMessage) {
    for name in WAITS {
        if let Some(field) = request.descriptor().get_field_by_name(name) {
            request.set_field(&field, Value::U32(1));
        }
    }
}

/// Says in the second answer about a call what the caller has to know of the wait. `named`: nobody but this gateway knows the id of the
/// call, so it was no call that had been there before.
fn cut_short(answer: &mut DynamicMessage, named: bool) -> Result<(), Status> {
    if named && let Some(accepted) = answer.get_field_by_name_mut("accepted").and_then(Value::as_message_mut) {
        accepted.clear_field_by_name("duplicate");
    }
    let Some(field) = answer.descriptor().get_field_by_name(CUT_SHORT) else { return Ok(()) };
    let kind = field.kind();
    let Some(descriptor) = kind.as_message().filter(|_| !answer.has_field_by_name("result")) else { return Ok(()) };
    let (reason, retry_after_ms) = draining::cut_short();
    let told = v1::CutShort { reason: reason.to_owned(), retry_after_ms };
    let told = DynamicMessage::decode(descriptor.clone(), told.encode_to_vec().as_slice())
        .map_err(|error| Status::from(ApiError::internal(codes::ANSWER_UNREADABLE, error)))?;
    answer.set_field(&field, Value::Message(told));
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::json::{methods, read, write};

    fn method(route: &str) -> &'static Method {
        methods::all().iter().find(|method| method.route == route).unwrap()
    }

    fn request(route: &str, body: &Json) -> DynamicMessage {
        read::message(body.to_string().as_bytes(), &method(route).input).unwrap()
    }

    fn told(message: &DynamicMessage) -> Json {
        serde_json::from_slice(&write::message(message)).unwrap()
    }

    #[test]
    fn a_call_without_a_name_gets_one_and_every_other_keeps_its_own() {
        let mut unnamed = request("/v1/call", &json!({"spec": {"tool_name": "a.b"}}));
        assert!(name_call(&mut unnamed));
        let id = told(&unnamed)["spec"]["invocation_id"].as_str().unwrap().to_owned();
        assert!(id.starts_with("inv_") && id.len() == 36, "{id}");
        for spec in [json!({"idempotency_key": "k"}), json!({"invocation_id": "inv_1"})] {
            let body = json!({ "spec": spec });
            let mut named = request("/v1/call", &body);
            assert!(!name_call(&mut named));
            assert_eq!(told(&named), body);
        }
        assert!(!name_call(&mut request("/v1/call", &json!({}))));
    }

    #[test]
    fn whoever_waits_can_be_asked_not_to() {
        let waiting: Vec<_> =
            methods::all().iter().filter(|one| one.output.get_field_by_name(CUT_SHORT).is_some()).collect();
        let routes: Vec<_> = waiting.iter().map(|one| one.route.as_str()).collect();
        assert_eq!(routes, ["/v1/call", "/v1/wait-invocation"]);
        for (route, field) in [("/v1/call", "wait_ms"), ("/v1/wait-invocation", "timeout_ms")] {
            let mut asked = request(route, &json!({}));
            wait_no_longer(&mut asked);
            assert_eq!(told(&asked), json!({ field: 1 }));
        }
    }

    #[test]
    fn an_answer_that_has_no_end_says_why() {
        let answer = |accepted: v1::CallResponse| {
            DynamicMessage::decode(method("/v1/call").output.clone(), accepted.encode_to_vec().as_slice()).unwrap()
        };
        let acceptance = v1::Acceptance { invocation_id: "inv_1".to_owned(), duplicate: true, ..Default::default() };
        let goes_on = v1::CallResponse { accepted: Some(acceptance), ..Default::default() };
        let mut open = answer(goes_on.clone());
        assert_eq!(comes_back_after(&open), None);
        cut_short(&mut open, true).unwrap();
        let expected = json!({
            "accepted": {"invocation_id": "inv_1"}, "cut_short": {"reason": "DRAINING", "retry_after_ms": 1000},
        });
        assert_eq!(told(&open), expected);
        assert_eq!(comes_back_after(&open), Some(Duration::from_secs(1)));
        let mut ended = answer(v1::CallResponse { result: Some(Box::default()), ..goes_on });
        cut_short(&mut ended, false).unwrap();
        assert_eq!((comes_back_after(&ended), &told(&ended)["accepted"]["duplicate"]), (None, &json!(true)));
    }
}
