//! After acceptance every refusal is an ordinary terminal result.

use toolplane_proto::v1;
use toolplane_proto::v1::ErrorClass as Class;
use toolplane_proto::v1::ResultStatus as Status;

use crate::bed::{Bed, kinds};

#[track_caller]
fn check(result: &v1::ToolResult, status: Status, class: Class) {
    let error = result.error.as_ref().unwrap_or_else(|| panic!("no error: {}", result.summary));
    assert!(result.is_error);
    assert_eq!((result.status_code(), error.error_class_code()), (status, class), "{}", error.message);
    assert!(!error.error_code.is_empty() && !error.message.is_empty());
    assert_ne!(error.recoverability_code(), v1::Recoverability::Unspecified);
}

#[tokio::test]
async fn refusals_are_results() {
    let bed = Bed::start().await;
    check(&bed.call("no.such_tool", "{}").await, Status::SyntheticError, Class::UnknownTool);

    let missing = bed.call("files.read_file", "{}").await;
    check(&missing, Status::Failed, Class::SchemaValidationFailed);
    let violations = missing.error.unwrap().field_violations;
    assert!(violations.iter().any(|wrong| wrong.field.contains("path")), "{violations:?}");
    let internal = bed.call("shell.exec", r#"{"command":"ls","sandbox_override_ref":"x"}"#).await;
    check(&internal, Status::Failed, Class::SchemaValidationFailed);

    check(&bed.call("http.fetch", r#"{"url":"http://127.0.0.1:9/"}"#).await, Status::Denied, Class::PermissionDenied);
    // No person is asked about a path outside the workspace: no answer helps.
    let outside = bed.spec("files.read_file", r#"{"path":"../../toolplane.toml"}"#);
    let (_, escape) = bed.followed(v1::InvocationSpec { no_approver: true, ..outside }).await;
    check(&escape, Status::Failed, Class::SandboxViolation);
    let absent = bed.call("files.read_file", r#"{"path":"not/there.txt"}"#).await;
    check(&absent, Status::Failed, absent.error.as_ref().unwrap().error_class_code());

    // There is no person to answer, so a question is a denial at once.
    let unattended = v1::InvocationSpec { no_approver: true, ..bed.spec("shell.exec", r#"{"command":"id"}"#) };
    let (events, result) = bed.followed(unattended).await;
    assert!(result.is_error && matches!(result.status_code(), Status::Denied | Status::Rejected), "{}", result.status);
    assert!(!kinds(&events).contains(&"tool.invocation.started"), "a denied call ran");
}

#[tokio::test]
async fn a_deferred_tool_must_be_loaded_first() {
    let bed = Bed::start().await;
    let request = v1::CreateSurfaceRequest { defer_policy: v1::DeferPolicy::All.into(), ..Default::default() };
    let surface = bed.clients.surfaces().create_surface(request).await.unwrap().into_inner().surface.unwrap();
    let spec = v1::InvocationSpec { surface_id: surface.surface_id.clone(), ..bed.spec("native.echo", r#"{"n":1}"#) };
    check(&bed.followed(spec.clone()).await.1, Status::SyntheticError, Class::SchemaNotLoaded);

    let request = v1::LoadToolsRequest {
        surface_id: surface.surface_id.clone(),
        names: vec!["native.echo".to_owned()],
        ..Default::default()
    };
    bed.clients.surfaces().load_tools(request).await.unwrap();
    // The scheduler may not answer from what it knew before.
    assert!(!bed.followed(spec.clone()).await.1.is_error);

    let request = v1::RetireToolRequest { tool_id: "tool_native_echo".to_owned(), reason: "test".to_owned() };
    bed.clients.surfaces().retire_tool(request).await.unwrap();
    assert!(bed.followed(spec).await.1.is_error, "a retired tool ran");
}
