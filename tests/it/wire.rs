//! The contract on the wire: health, reflection, and what is refused before anything is accepted.

use bytes::Bytes;
use http::uri::PathAndQuery;
use prost::Message as _;
use sha2::{Digest as _, Sha256};
use tonic::{Code, Request, Status};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_prost::ProstCodec;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;
use tonic_types::StatusExt as _;
use toolplane_proto::v1;
use toolplane_proto::v1::json_payload::Body;
use toolplane_testkit::{binary, polyglot};

use crate::bed::Bed;

const SERVICES: [&str; 4] = [
    "toolplane.v1.InvocationService",
    "toolplane.v1.PermissionService",
    "toolplane.v1.SurfaceService",
    "toolplane.v1.WorkerService",
];

#[tokio::test]
async fn health_and_reflection_are_served() {
    let bed = Bed::start().await;
    let mut health = HealthClient::new(bed.clients.channel());
    for service in SERVICES.into_iter().chain([""]) {
        let request = HealthCheckRequest { service: service.to_owned() };
        let answer = health.check(request).await.unwrap().into_inner();
        assert_eq!(answer.status(), ServingStatus::Serving, "{service}");
    }
    let request = HealthCheckRequest { service: "toolplane.v1.NoSuchService".to_owned() };
    assert_eq!(health.check(request).await.unwrap_err().code(), Code::NotFound);

    let listed = reflect(&bed, MessageRequest::ListServices(String::new())).await;
    let MessageResponse::ListServicesResponse(listed) = listed else { panic!("{listed:?}") };
    let names: Vec<&str> = listed.service.iter().map(|service| service.name.as_str()).collect();
    for service in SERVICES {
        assert!(names.contains(&service), "{service} is not among {names:?}");
    }
    let symbol = MessageRequest::FileContainingSymbol("toolplane.v1.InvocationService.Invoke".to_owned());
    let MessageResponse::FileDescriptorResponse(files) = reflect(&bed, symbol).await else { panic!("no descriptor") };
    let file = prost_types::FileDescriptorProto::decode(&files.file_descriptor_proto[0][..]).unwrap();
    assert_eq!(file.package(), "toolplane.v1");
}

async fn reflect(bed: &Bed, request: MessageRequest) -> MessageResponse {
    let mut client = ServerReflectionClient::new(bed.clients.channel());
    let request = ServerReflectionRequest { host: String::new(), message_request: Some(request) };
    let answers = client.server_reflection_info(tokio_stream::once(request)).await.unwrap();
    answers.into_inner().message().await.unwrap().unwrap().message_response.unwrap()
}

#[test]
fn protos_keep_the_lint_rules() {
    let buf = polyglot::buf().unwrap();
    let output = std::process::Command::new(buf).current_dir(binary::root()).args(["lint", "proto"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// What of `contract` would break a client of any release so far; nothing when it only grew.
fn breaks(contract: &std::path::Path) -> String {
    let released = std::fs::read_dir(binary::root().join("proto/released")).unwrap();
    let released: Vec<_> = released.map(|entry| entry.unwrap().path()).collect();
    assert!(!released.is_empty());
    let told = released.iter().map(|released| {
        let output = std::process::Command::new(polyglot::buf().unwrap())
            .current_dir(binary::root())
            .arg("breaking")
            .arg(contract)
            .args(["--config", r#"{"version":"v2","breaking":{"use":["FILE"]}}"#, "--against"])
            .arg(released)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.success(), said.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        said
    });
    told.collect()
}

/// Clients of any release go on working: nothing is taken away, renamed or renumbered.
#[test]
fn the_contract_only_grows() {
    let descriptor = binary::root().join("crates/toolplane-proto/src/gen/descriptor.bin");
    let folder = tempfile::tempdir().unwrap();
    let now = folder.path().join("now.binpb");
    std::fs::copy(&descriptor, &now).unwrap();
    assert_eq!(breaks(&now), "");

    // The check sees what it is for.
    let mut set = prost_types::FileDescriptorSet::decode(&std::fs::read(&descriptor).unwrap()[..]).unwrap();
    let files = set.file.iter_mut().flat_map(|file| &mut file.message_type);
    let spec = files.into_iter().find(|message| message.name() == "InvocationSpec").unwrap();
    spec.field.retain(|field| field.name() != "session_ref");
    let less = folder.path().join("less.binpb");
    std::fs::write(&less, set.encode_to_vec()).unwrap();
    let said = breaks(&less);
    assert!(said.contains("InvocationSpec") && said.contains("15"), "{said}");
}

/// Each wrong value is refused with the field it is in, and leaves no call behind.
#[tokio::test]
async fn wrong_json_is_refused_before_acceptance() {
    let bed = Bed::start().await;
    let good = br#"{"a":1}"#.as_slice();
    let inline = |bytes: &[u8]| v1::JsonPayload {
        body: Some(Body::Inline(Bytes::copy_from_slice(bytes))),
        ..Default::default()
    };
    let deep = format!("{}1{}", "[".repeat(65), "]".repeat(65));
    let long = format!("\"{}\"", "x".repeat(1024 * 1024));
    let cases: Vec<(&str, v1::JsonPayload)> = vec![
        ("duplicate key", inline(br#"{"a":1,"\u0061":2}"#)),
        ("duplicate key below", inline(br#"{"x":[{"a":1,"a":1}]}"#)),
        ("not UTF-8", inline(b"{\"a\":\"\xff\"}")),
        ("lone surrogate", inline(br#"{"a":"\ud800"}"#)),
        ("too deep", inline(deep.as_bytes())),
        ("too long", inline(long.as_bytes())),
        ("two values", inline(b"{} {}")),
        ("no value", inline(b"")),
        ("not JSON", inline(b"{'a':1}")),
        ("not a number", inline(b"{\"a\":NaN}")),
        ("wrong digest", v1::JsonPayload { sha256: Bytes::from(vec![7; 32]), ..inline(good) }),
        ("short digest", v1::JsonPayload { sha256: Bytes::from(vec![7; 3]), ..inline(good) }),
        ("wrong size", v1::JsonPayload { size_bytes: 8, ..inline(good) }),
        ("reference", v1::JsonPayload { body: Some(Body::Ref("toolplane://x".to_owned())), ..Default::default() }),
    ];
    for (name, model_input) in cases {
        let spec = v1::InvocationSpec { model_input: Some(model_input), ..bed.spec("native.echo", "{}") };
        let submitted =
            bed.clients.invocations().submit_invocation(v1::SubmitInvocationRequest { spec: Some(spec.clone()) }).await;
        check_violation(name, &submitted.unwrap_err(), "model_input");
        let invoked =
            bed.clients.invocations().invoke(v1::InvokeRequest { spec: Some(spec), ..Default::default() }).await;
        check_violation(name, &invoked.unwrap_err(), "model_input");
    }
    let listed = bed.clients.invocations().list_invocations(v1::ListInvocationsRequest::default()).await.unwrap();
    assert_eq!(listed.into_inner().invocations.len(), 0, "a refused call left a record");

    let digest = Bytes::from(Sha256::digest(good).to_vec());
    let right = v1::JsonPayload { sha256: digest, size_bytes: good.len() as u64, ..inline(good) };
    let spec = v1::InvocationSpec { model_input: Some(right), ..bed.spec("native.echo", "{}") };
    assert!(!bed.followed(spec).await.1.is_error);
}

#[track_caller]
fn check_violation(name: &str, status: &Status, field: &str) {
    assert_eq!(status.code(), Code::InvalidArgument, "{name}: {status:?}");
    let details = status.get_error_details();
    let violations = details.bad_request().map(|bad| bad.field_violations.clone()).unwrap_or_default();
    assert!(violations.iter().any(|wrong| wrong.field.contains(field)), "{name}: {violations:?}");
    let info = details.error_info().unwrap_or_else(|| panic!("{name}: no ErrorInfo"));
    assert_eq!(info.domain, "toolplane.dev", "{name}");
}

#[tokio::test]
async fn wrong_requests_have_their_own_codes() {
    let bed = Bed::start().await;
    let mut invocations = bed.clients.invocations();

    let elsewhere = v1::InvocationSpec { surface_id: "surf_none".to_owned(), ..bed.spec("native.echo", "{}") };
    let status =
        invocations.submit_invocation(v1::SubmitInvocationRequest { spec: Some(elsewhere) }).await.unwrap_err();
    assert_eq!(status.code(), Code::NotFound, "{status:?}");
    assert!(status.get_error_details().resource_info().is_some(), "no ResourceInfo: {status:?}");

    let status = invocations.submit_invocation(v1::SubmitInvocationRequest { spec: None }).await.unwrap_err();
    assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");

    let request = v1::GetInvocationRequest { invocation_id: "inv_none".to_owned(), ..Default::default() };
    assert_eq!(invocations.get_invocation(request).await.unwrap_err().code(), Code::NotFound);

    let request = v1::ListInvocationsRequest { page_token: "made up".to_owned(), ..Default::default() };
    assert_eq!(invocations.list_invocations(request).await.unwrap_err().code(), Code::InvalidArgument);

    let keyed = |input: &str| v1::InvocationSpec { idempotency_key: "k".to_owned(), ..bed.spec("native.echo", input) };
    let first = bed.submit(keyed(r#"{"a":1}"#)).await;
    let again = bed.submit(keyed(r#"{"a":1}"#)).await;
    assert_eq!(first.invocation_id, again.invocation_id);
    let other = v1::SubmitInvocationRequest { spec: Some(keyed(r#"{"a":2}"#)) };
    let status = invocations.submit_invocation(other).await.unwrap_err();
    assert_eq!(status.code(), Code::AlreadyExists, "{status:?}");
}

/// Bytes that are no message, and a message beyond the limit.
#[tokio::test]
async fn wrong_messages_are_the_callers_mistake() {
    let bed = Bed::start().await;
    let status = raw(&bed, Bytes::from_static(b"\xff\xff\xff\xff not a message")).await;
    assert_eq!(status.code(), Code::InvalidArgument, "{status:?}");
    let status = raw(&bed, Bytes::from(vec![b' '; 5 * 1024 * 1024])).await;
    assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
}

/// Sends `body` as the `surface_id` field's wrong neighbour: the field number of a message, the bytes of none.
async fn raw(bed: &Bed, body: Bytes) -> Status {
    #[derive(Clone, PartialEq, prost::Message)]
    struct Raw {
        /// Where `SubmitInvocationRequest` has its spec.
        #[prost(bytes = "bytes", tag = "1")]
        spec: Bytes,
    }
    let mut client = tonic::client::Grpc::new(bed.clients.channel());
    client.ready().await.unwrap();
    let path = PathAndQuery::from_static("/toolplane.v1.InvocationService/SubmitInvocation");
    let codec = ProstCodec::<Raw, v1::SubmitInvocationResponse>::default();
    client.unary(Request::new(Raw { spec: body }), path, codec).await.unwrap_err()
}
