//! What headers say of a call: until when, under which key, and from where on.

use std::time::Duration;

use http::HeaderMap;
use prost_reflect::{DynamicMessage, Kind, ReflectMessage as _, Value};
use toolplane_records::evidence::NativeIds;
use toolplane_runtime::ApiError;

/// How long the caller waits, in seconds, e.g. `2.5`.
const TIMEOUT: &str = "timeout";
/// The same as gRPC writes it, e.g. `2500m`.
const GRPC_TIMEOUT: &str = "grpc-timeout";
const IDEMPOTENCY_KEY: &str = "idempotency-key";
const LAST_EVENT_ID: &str = "last-event-id";
/// What the caller, or a proxy before this door, calls the request.
pub(crate) const REQUEST_ID: &str = "x-request-id";

/// Longest wait a caller can name; a longer one is none.
const MAX_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// How long the caller waits; for as long as it takes when absent. Of two, the shorter one counts.
///
/// Fails with [`ApiError::InvalidArgument`] when a header cannot be read.
pub(crate) fn timeout(headers: &HeaderMap) -> Result<Option<Duration>, ApiError> {
    let seconds = text(headers, TIMEOUT)?.map(|text| {
        let number: Option<f64> = text.trim().parse().ok();
        let wait = number.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).filter(|wait| !wait.is_zero());
        wait.ok_or_else(|| ApiError::invalid_argument(TIMEOUT, "must be a number of seconds above 0, e.g. `2.5`"))
    });
    let grpc = text(headers, GRPC_TIMEOUT)?.map(|text| {
        grpc(text).ok_or_else(|| ApiError::invalid_argument(GRPC_TIMEOUT, "must be digits and a unit, e.g. `2500m`"))
    });
    let waits = [seconds.transpose()?, grpc.transpose()?];
    Ok(waits.into_iter().flatten().min().filter(|wait| *wait <= MAX_TIMEOUT))
}

/// At most eight digits, and one of H, M, S, m, u, n.
fn grpc(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let number: u64 = digits.parse().ok()?;
    match unit {
        "H" => Some(Duration::from_secs(number * 60 * 60)),
        "M" => Some(Duration::from_secs(number * 60)),
        "S" => Some(Duration::from_secs(number)),
        "m" => Some(Duration::from_millis(number)),
        "u" => Some(Duration::from_micros(number)),
        "n" => Some(Duration::from_nanos(number)),
        _ => None,
    }
}

/// Puts the key of the header into the `spec` of a request that has none; requests without such a field take no key.
///
/// Fails with [`ApiError::InvalidArgument`] when the request has another one, or when the header cannot be read.
pub(crate) fn fill_key(headers: &HeaderMap, message: &mut DynamicMessage) -> Result<(), ApiError> {
    let Some(key) = text(headers, IDEMPOTENCY_KEY)?.filter(|key| !key.is_empty()) else { return Ok(()) };
    let Some(Value::Message(spec)) = message.get_field_by_name_mut("spec") else { return Ok(()) };
    let Some(field) = spec.descriptor().get_field_by_name("idempotency_key").filter(|one| one.kind() == Kind::String)
    else {
        return Ok(());
    };
    match spec.get_field(&field).as_str().unwrap_or_default() {
        "" => {
            spec.set_field(&field, Value::String(key.to_owned()));
            Ok(())
        }
        given if given == key => Ok(()),
        _ => Err(ApiError::invalid_argument(IDEMPOTENCY_KEY, "is not what `spec.idempotency_key` says")),
    }
}

/// Puts what the header calls the request into `native_ids` of its call, or of each call of its batch, where it is not said already. What
/// is no plain name is left out: a proxy may have written it, and no call fails because of it.
pub(crate) fn fill_request_id(headers: &HeaderMap, message: &mut DynamicMessage) {
    let said = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok()).unwrap_or_default();
    let id = NativeIds { http_request_id: said.trim().into(), ..NativeIds::default() }.plain().http_request_id;
    if id.is_empty() {
        return;
    }
    let Some(spec) = spec_of(message) else { return };
    fill_call(spec, &id);
    let Some(Value::List(calls)) = spec.get_field_by_name_mut("calls") else { return };
    calls.iter_mut().filter_map(Value::as_message_mut).filter_map(spec_of).for_each(|spec| fill_call(spec, &id));
}

/// The spec of a request or of a call, where it has one: none is made.
fn spec_of(message: &mut DynamicMessage) -> Option<&mut DynamicMessage> {
    let there = message.has_field_by_name("spec");
    message.get_field_by_name_mut("spec").filter(|_| there)?.as_message_mut()
}

/// The same for the spec of one call; others have no such field.
fn fill_call(spec: &mut DynamicMessage, id: &str) {
    let Some(field) = spec.descriptor().get_field_by_name("native_ids") else { return };
    let Value::Message(ids) = spec.get_field_mut(&field) else { return };
    if let Some(Value::String(own)) = ids.get_field_by_name_mut("http_request_id")
        && own.is_empty()
    {
        id.clone_into(own);
    }
}

/// The last event that a caller has seen of a stream.
///
/// Fails with [`ApiError::InvalidArgument`] when the header cannot be read.
pub(crate) fn last_event_id(headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
    Ok(text(headers, LAST_EVENT_ID)?.filter(|id| !id.is_empty()))
}

fn text<'a>(headers: &'a HeaderMap, name: &'static str) -> Result<Option<&'a str>, ApiError> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(ApiError::invalid_argument(name, "is there more than once"));
    }
    value.to_str().map(Some).map_err(|_| ApiError::invalid_argument(name, "must be visible ASCII"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::json::{methods, read};

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (http::HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    #[test]
    fn a_wait_is_written_in_either_way() {
        let wait = |pairs: &[(&'static str, &str)]| timeout(&headers(pairs)).map_err(|error| error.to_string());
        assert_eq!(wait(&[]), Ok(None));
        assert_eq!(wait(&[("timeout", "2.5")]), Ok(Some(Duration::from_millis(2500))));
        assert_eq!(wait(&[("grpc-timeout", "90M")]), Ok(Some(Duration::from_secs(5400))));
        assert_eq!(wait(&[("timeout", "3"), ("grpc-timeout", "200m")]), Ok(Some(Duration::from_millis(200))));
        assert_eq!(wait(&[("timeout", "1e9")]), Ok(None), "longer than anything");
        for wrong in ["", "0", "-1", "soon", "NaN", "inf"] {
            assert!(wait(&[("timeout", wrong)]).is_err(), "{wrong}");
        }
        for wrong in ["", "m", "2500", "123456789S", "-1S", "1.5S", "1é"] {
            let mut headers = HeaderMap::new();
            headers.insert("grpc-timeout", http::HeaderValue::from_bytes(wrong.as_bytes()).unwrap());
            assert!(timeout(&headers).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_key_is_filled_in_where_there_is_none() {
        let filled = |route: &str, body: serde_json::Value, key: &str| {
            let method = methods::all().iter().find(|method| method.route == route).unwrap();
            let mut message = read::message(body.to_string().as_bytes(), &method.input).unwrap();
            fill_key(&headers(&[("idempotency-key", key)]), &mut message).map_err(|error| error.to_string())?;
            let spec = message.get_field_by_name("spec").unwrap().as_message().unwrap().clone();
            Ok::<_, String>(spec.get_field_by_name("idempotency_key").unwrap().as_str().unwrap().to_owned())
        };
        for route in ["/v1/call", "/v1/invoke", "/v1/submit-batch"] {
            assert_eq!(filled(route, json!({"spec": {}}), "k").as_deref(), Ok("k"), "{route}");
        }
        assert_eq!(filled("/v1/call", json!({"spec": {"idempotency_key": "k"}}), "k").as_deref(), Ok("k"));
        let refused = filled("/v1/call", json!({"spec": {"idempotency_key": "other"}}), "k").unwrap_err();
        assert_eq!(refused, "`idempotency-key` is not what `spec.idempotency_key` says");
    }

    #[test]
    fn an_id_of_a_request_is_given_to_its_calls() {
        let filled = |route: &str, body: serde_json::Value, id: &str| {
            let method = methods::all().iter().find(|method| method.route == route).unwrap();
            let mut message = read::message(body.to_string().as_bytes(), &method.input).unwrap();
            fill_request_id(&headers(&[("x-request-id", id)]), &mut message);
            message.get_field_by_name("spec").map(|spec| spec.as_message().unwrap().clone())
        };
        let of = |spec: &DynamicMessage| {
            let ids = spec.get_field_by_name("native_ids").unwrap().as_message().unwrap().clone();
            ids.get_field_by_name("http_request_id").unwrap().as_str().unwrap().to_owned()
        };
        for route in ["/v1/call", "/v1/invoke", "/v1/submit-invocation"] {
            assert_eq!(of(&filled(route, json!({"spec": {}}), "req-8").unwrap()), "req-8", "{route}");
        }
        let own = json!({"spec": {"native_ids": {"http_request_id": "mine", "json_rpc_id": "1"}}});
        assert_eq!(of(&filled("/v1/call", own, "req-8").unwrap()), "mine");
        assert_eq!(of(&filled("/v1/call", json!({"spec": {}}), &"x".repeat(NativeIds::MAX_BYTES + 1)).unwrap()), "");
        let batch =
            filled("/v1/submit-batch", json!({"spec": {"calls": [{"spec": {}}, {"spec": {}}]}}), "req-8").unwrap();
        let calls = batch.get_field_by_name("calls").unwrap().as_list().unwrap().to_vec();
        let ids = calls
            .iter()
            .map(|call| of(call.as_message().unwrap().get_field_by_name("spec").unwrap().as_message().unwrap()));
        assert_eq!(ids.collect::<Vec<_>>(), ["req-8", "req-8"]);
    }
}
