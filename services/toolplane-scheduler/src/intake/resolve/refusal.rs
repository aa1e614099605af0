//! Why a name cannot be called, as the caller is told.

use tonic::Code;
use toolplane_proto::v1;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::ids::ToolId;
use toolplane_records::vocabulary::{ErrorClass, HiddenReason, Recoverability};
use toolplane_runtime::status::describe;

use super::Resolved;
use crate::error::CallError;

/// Why the surface service does not say what a name means: the fault of the request, where it is that of its moment.
pub(super) fn unanswered(status: tonic::Status) -> CallError {
    let violations = if status.code() == Code::InvalidArgument { describe(&status).violations } else { Vec::new() };
    match violations.into_iter().find(|wrong| wrong.field == "surface_moment") {
        Some(wrong) => CallError::invalid("spec.surface_moment", wrong.rule),
        None => CallError::peer("surface")(status),
    }
}

/// The terminal error of a call to something that cannot be called.
pub(super) fn refusal(name: &str, answer: v1::NotCallable) -> Resolved {
    use v1::NotCallableKind as Kind;
    let kind = answer.kind();
    let code = match kind {
        Kind::Unknown | Kind::Unspecified => codes::SURFACE_UNKNOWN_TOOL,
        Kind::NotLoaded => codes::SURFACE_NOT_LOADED,
        Kind::Changed => codes::SURFACE_CHANGED,
        Kind::Retired => codes::SURFACE_RETIRED,
        Kind::Renamed => codes::SURFACE_RENAMED,
        Kind::Later => codes::SURFACE_LATER,
        Kind::NoCalls => codes::SURFACE_NO_CALLS,
        Kind::NotChosen => codes::SURFACE_NOT_CHOSEN,
        Kind::NoMoment => codes::SURFACE_NO_MOMENT,
        Kind::Blocked | Kind::Excluded => codes::SURFACE_HIDDEN,
        Kind::Provider => codes::PROVIDER_AWAY,
        Kind::ParentGone => codes::SURFACE_PARENT_GONE,
    };
    let tool_id = ToolId::parse(&answer.tool_id).ok();
    if let Some(error) = answer.error.and_then(|error| ToolError::try_from(error).ok()) {
        return Resolved::NotCallable { error: Box::new(error), blocked: true, tool_id };
    }
    let mut message = match (kind, answer.message.is_empty()) {
        (_, false) => answer.message.clone(),
        (Kind::NotLoaded, true) => format!("the schema of `{name}` is not loaded; load the tool first"),
        (Kind::Renamed, true) => format!("`{name}` has another name since the moment the call goes by"),
        (Kind::Later, true) => format!("`{name}` was not there at the moment the call goes by"),
        (Kind::Changed, true) => format!("the schema of `{name}` changed; load the tool again"),
        (Kind::Blocked | Kind::Excluded, true) => format!("`{name}` may not be used here: {}", answer.reason),
        (Kind::NoCalls | Kind::NotChosen | Kind::NoMoment, true) => {
            format!("the surface does not let `{name}` be called")
        }
        (Kind::ParentGone, true) => "a surface that this one is within is not there any more".to_owned(),
        (_, true) => format!("there is no tool `{name}` in this surface"),
    };
    if !answer.similar_names.is_empty() && kind != Kind::Renamed {
        message.push_str(&format!("; similar: {}", answer.similar_names.join(", ")));
    }
    let mut error = ToolError::of(code, message);
    if let (Kind::Renamed, [now]) = (kind, answer.similar_names.as_slice()) {
        let exact = format!("Call `{now}`, and read the surface again: it may have changed otherwise too.");
        error.recovery_suggestion = Some(exact);
    }
    error.next_steps = answer.similar_names;
    if code == codes::SURFACE_HIDDEN {
        (error.error_class, error.recoverability) = hidden_class(&answer.reason);
        error.error_code = code.of(&answer.reason);
    }
    error.side_effects = Some("none".to_owned());
    let by_choice = matches!(kind, Kind::NoCalls | Kind::NotChosen | Kind::NoMoment);
    let blocked =
        by_choice || matches!(kind, Kind::ParentGone | Kind::Blocked | Kind::Excluded | Kind::Retired | Kind::Provider);
    Resolved::NotCallable { error: Box::new(error), blocked, tool_id }
}

fn hidden_class(reason: &str) -> (ErrorClass, Recoverability) {
    match reason.parse() {
        Ok(HiddenReason::PolicyBlocked | HiddenReason::RoleNotAllowed | HiddenReason::RecursiveToolForbidden) => {
            (ErrorClass::PolicyBlocked, Recoverability::NotRetryable)
        }
        Ok(HiddenReason::CredentialMissing) => (ErrorClass::CredentialMissing, Recoverability::CompleteSetup),
        Ok(HiddenReason::SetupRequired) => (ErrorClass::SetupRequired, Recoverability::CompleteSetup),
        Ok(HiddenReason::DeferredUntilDiscovered) => (ErrorClass::SchemaNotLoaded, Recoverability::DiscoverToolFirst),
        Ok(HiddenReason::NotSelected) => (ErrorClass::CapabilityGap, Recoverability::DiscoverToolFirst),
        _ => (ErrorClass::CapabilityGap, Recoverability::NotRetryable),
    }
}
