//! Role by method: every method of the descriptor set is really called with every role, and the answers are a golden file.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use http::uri::PathAndQuery;
use prost::Message as _;
use tonic::metadata::MetadataValue;
use tonic::transport::Channel;
use tonic::{Code, Request};
use tonic_prost::ProstCodec;
use toolplane_proto::FILE_DESCRIPTOR_SET;
use toolplane_testkit::Options;

use super::callers::{Callers, ROLES};

/// What the layers before a handler say of a call; whatever the handler says is a yes.
async fn answer(channel: Channel, method: &str, token: Option<&str>) -> &'static str {
    let mut grpc = tonic::client::Grpc::new(channel);
    grpc.ready().await.unwrap();
    let mut request = Request::new(tokio_stream::once(()));
    if let Some(token) = token {
        request.metadata_mut().insert("authorization", MetadataValue::try_from(format!("Bearer {token}")).unwrap());
    }
    let path = PathAndQuery::try_from(format!("/{method}")).unwrap();
    // Any kind of method can be called like this: an empty message, and no more of them.
    let called = grpc.streaming(request, path, ProstCodec::<(), ()>::default());
    // A stream that has nothing to say yet has let the caller in.
    let Ok(outcome) = tokio::time::timeout(Duration::from_secs(5), called).await else { return "yes" };
    match outcome.map_err(|status| (status.code(), toolplane_runtime::status::reason(&status))) {
        Err((Code::Unauthenticated, _)) => "who?",
        Err((Code::PermissionDenied, reason)) if reason.as_deref() != Some("SELF_APPROVAL") => "-",
        Err((Code::Unimplemented, _)) => "none",
        _ => "yes",
    }
}

/// Every method there is, and those that are not ours.
fn methods() -> Vec<String> {
    let set = prost_types::FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap();
    let mut methods = Vec::new();
    for file in &set.file {
        for service in &file.service {
            let name = format!("{}.{}", file.package(), service.name());
            methods.extend(service.method.iter().map(|method| format!("{name}/{}", method.name())));
        }
    }
    methods.sort();
    methods.extend(
        [
            "grpc.health.v1.Health/Check",
            "grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
            "toolplane.v1.InvocationService/NoSuchMethod",
            "toolplane.v1.NoSuchService/Method",
        ]
        .map(str::to_owned),
    );
    methods
}

/// A method added to the API without a row in the server's table is refused to every caller, and without one here
/// fails.
#[tokio::test]
async fn who_may_call_what() {
    let callers = Callers::start("").await;
    let mut keys = Vec::new();
    for role in ROLES {
        keys.push(callers.key(&format!("the-{role}"), "acme", &[role]).await);
    }
    let channel = callers.cluster.clients().channel();
    let mut table = format!("{:<60}", "method");
    for column in ROLES.iter().chain(&["anonymous"]) {
        write!(table, "{column:<10}").unwrap();
    }
    for method in methods() {
        write!(table, "\n{method:<60}").unwrap();
        for key in keys.iter().map(|key| Some(key.as_str())).chain([None]) {
            write!(table, "{:<10}", answer(channel.clone(), &method, key).await).unwrap();
        }
    }
    let table: Vec<&str> = table.lines().map(str::trim_end).collect();
    golden("roles.txt", &format!("{}\n", table.join("\n")));
}

/// Compares with the file under `golden/`; `TOOLPLANE_WRITE_GOLDEN=1` writes it.
#[track_caller]
fn golden(name: &str, found: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("it/golden").join(name);
    if std::env::var_os("TOOLPLANE_WRITE_GOLDEN").is_some() {
        std::fs::write(&file, found).unwrap();
    }
    let expected = std::fs::read_to_string(&file).unwrap_or_default();
    for (line, (expected, found)) in expected.lines().zip(found.lines()).enumerate() {
        assert_eq!(expected, found, "{name}, line {}", line + 1);
    }
    assert_eq!(expected.lines().count(), found.lines().count(), "{name} has other rows:\n{found}");
}

/// Without authentication every caller may do everything, and all are one tenant.
#[tokio::test]
async fn without_authentication_every_row_is_open() {
    let cluster = toolplane_testkit::Cluster::start(Options::new(crate::bed::RULES)).await.unwrap();
    for method in methods().iter().filter(|method| method.starts_with("toolplane.v1.")) {
        let found = answer(cluster.clients().channel(), method, None).await;
        let expected = match method.as_str() {
            "toolplane.v1.NoSuchService/Method" | "toolplane.v1.InvocationService/NoSuchMethod" => "none",
            "toolplane.v1.HookService/RunHook" | "toolplane.v1.RerankService/Rerank" => "-",
            _ => "yes",
        };
        assert_eq!(found, expected, "{method}");
    }
}
