use super::*;
use toolplane_records::codes;

/// Checks code, reason and text of an error, and that a client reads back what was sent.
#[track_caller]
fn check(error: ApiError, code: Code, reason_word: &str, shown: &str) -> Description {
    let status = Status::from(&error);
    let sent = status.into_http::<()>();
    let received = Status::from_header_map(sent.headers()).expect("a status");
    assert_eq!((received.code(), received.message()), (code, error.to_string().as_str()));
    assert_eq!(reason(&received).as_deref(), Some(reason_word));
    let description = describe(&received);
    assert_eq!(description.to_string(), shown);
    description
}

#[test]
fn wrong_fields_are_named() {
    let one = ApiError::invalid_argument("spec.model_input", "is not valid JSON");
    let read = check(
        one,
        Code::InvalidArgument,
        "INVALID_ARGUMENT",
        "`spec.model_input` is not valid JSON [INVALID_ARGUMENT]",
    );
    assert_eq!(
        read.violations,
        [Violation { field: "spec.model_input".to_owned(), rule: "is not valid JSON".to_owned() }]
    );

    let two = ["a", "b"].map(|field| (field.to_owned(), "must not be empty".to_owned()));
    check(
        ApiError::invalid_arguments(two),
        Code::InvalidArgument,
        "INVALID_ARGUMENT",
        "`a` must not be empty (and 1 more fields are wrong) [INVALID_ARGUMENT]\n  `a` must not be empty\n  `b` must not be empty",
    );
}

#[test]
fn every_code_has_its_details() {
    let read = check(
        ApiError::not_found("invocation", "inv_1"),
        Code::NotFound,
        "NOT_FOUND",
        "invocation `inv_1` does not exist [NOT_FOUND]\n  check the id, and that you ask the cluster that made it",
    );
    assert_eq!(read.resource.as_deref(), Some("invocation inv_1"));

    let full = ApiError::Exhausted {
        reason: codes::TENANT_QUEUE_FULL,
        subject: "tenant/acme".to_owned(),
        message: "tenant `acme` has 10000 calls waiting".to_owned(),
        retry_after: Some(Duration::from_millis(250)),
    };
    let quota = Status::from(&full).get_details_quota_failure().expect("quota failure");
    assert_eq!(quota.violations[0].subject, "tenant/acme");
    let read = check(
        full,
        Code::ResourceExhausted,
        "TENANT_QUEUE_FULL",
        "tenant `acme` has 10000 calls waiting [TENANT_QUEUE_FULL]\n  may be tried again in 250 ms",
    );
    assert_eq!(read.retry_after, Some(Duration::from_millis(250)));

    let terminal = ApiError::FailedPrecondition {
        reason: codes::INVOCATION_STATE,
        subject: "invocation/inv_1".to_owned(),
        message: "invocation `inv_1` has already ended".to_owned(),
    };
    let details = Status::from(&terminal).get_details_precondition_failure().expect("precondition failure");
    assert_eq!(details.violations[0].subject, "invocation/inv_1");
    check(
        terminal,
        Code::FailedPrecondition,
        "INVOCATION_STATE",
        "invocation `inv_1` has already ended [INVOCATION_STATE]\n  Read the call (`toolplane get`): its state says what it waits for, or how \
         it ended.",
    );

    check(
        ApiError::unavailable(codes::DRAINING, "this process is stopping"),
        Code::Unavailable,
        "DRAINING",
        "this process is stopping [DRAINING]\n  may be tried again in 1000 ms",
    );
}

/// The caller of a call lacks no role: it is the one who must not answer.
#[test]
fn whoever_asked_is_told_that_somebody_else_answers() {
    let said = |reason| describe(&ApiError::PermissionDenied { reason, message: "no".to_owned() }.into()).advice;
    assert!(said(codes::SELF_APPROVAL).starts_with("Another person answers it"));
    assert!(said(codes::ROLE_REQUIRED).contains("a key with one of the roles"));
    assert!(said(codes::FOREIGN_TENANT).contains("a key of that tenant"), "a role does not help");
    let expired = ApiError::Unauthenticated { reason: codes::TOKEN_EXPIRED, message: "no".to_owned() };
    assert_eq!(describe(&expired.into()).advice, "Get a new token from its issuer.");
}

#[test]
fn no_internals_leave() {
    let error = ApiError::internal(codes::RECORD_UNREADABLE, "/secret/path: bad magic");
    let status = Status::from(&error);
    assert_eq!(status.message(), "internal error");
    assert!(!String::from_utf8_lossy(status.details()).contains("secret"));
}

#[test]
fn a_status_of_somebody_else_is_readable_too() {
    let foreign = Status::unavailable("tcp connect error");
    assert_eq!(reason(&foreign), None);
    assert_eq!(describe(&foreign).to_string(), "tcp connect error\n  is the server running and is the address right?");
}

#[test]
fn no_refusal_grows_with_what_was_sent() {
    let long = "x".repeat(100_000);
    let many = (0..5_000).map(|n| (format!("tools[{n}].{long}"), format!("is wrong: {long}")));
    for error in [
        ApiError::invalid_arguments(many),
        ApiError::not_found("tool", long.clone()),
        ApiError::AlreadyExists { reason: codes::REQUEST_ID_REUSED, message: long.clone() },
        ApiError::FailedPrecondition { reason: codes::INVOCATION_STATE, subject: long.clone(), message: long.clone() },
        ApiError::Exhausted {
            reason: codes::TENANT_QUEUE_FULL,
            subject: long.clone(),
            message: long.clone(),
            retry_after: None,
        },
    ] {
        let status = Status::from(&error);
        // As they travel: the text escaped, the details in base64. Clients take 8 KiB of trailers.
        let trailers = status.message().len() * 3 + status.details().len() * 4 / 3;
        // The text is plain here, so its escaped form is no longer than itself.
        let plain = status.message().len() + status.details().len() * 4 / 3;
        assert!(plain < 8 * 1024 - 512, "{plain} ({trailers} at most) for {}", error.reason());
    }
    let status =
        Status::from(ApiError::invalid_arguments((0..5_000).map(|n| (format!("f{n}"), "is wrong".to_owned()))));
    assert!(status.message().contains("4999 more"), "{}", status.message());
}
