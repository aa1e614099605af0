use opentelemetry_proto::tonic::common::v1::any_value;
use opentelemetry_proto::tonic::trace::v1::Span as WireSpan;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use prost::Message as _;
use toolplane_records::vocabulary::{AbortReason, ErrorClass, InvocationStatus, ResultStatus};

use super::semconv::general;
use super::spans::{AttemptFacts, CallEnding, CallFacts};
use super::*;
use crate::config::QueueParenting;

/// Finished spans of this thread, as a receiver reads them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder(FinishedSpans);

/// Ends the recording when it is dropped.
#[derive(Debug)]
pub(crate) struct Recording;

impl Drop for Recording {
    fn drop(&mut self) {
        super::span::TEST_TRACER.set(None);
    }
}

impl Recorder {
    /// Records the spans of this thread for as long as the guard lives.
    pub(crate) fn start() -> (Self, Recording) {
        Self::sampled(1.0)
    }

    fn sampled(ratio: f64) -> (Self, Recording) {
        Self::keeping(ratio, Keep::default())
    }

    fn keeping(ratio: f64, keep: Keep) -> (Self, Recording) {
        let recorder = Self::default();
        super::span::TEST_TRACER.set(Some(Tracer::new(ratio, keep, recorder.0.clone())));
        (recorder, Recording)
    }

    pub(crate) fn spans(&self) -> Vec<WireSpan> {
        self.0.waiting().into_iter().map(|span| WireSpan::decode(span).expect("a span")).collect()
    }

    #[track_caller]
    pub(crate) fn find(&self, name: &str) -> WireSpan {
        let spans = self.spans();
        let names: Vec<_> = spans.iter().map(|span| span.name.clone()).collect();
        spans.into_iter().find(|span| span.name == name).unwrap_or_else(|| panic!("no `{name}` among {names:?}"))
    }
}

#[track_caller]
pub(crate) fn attribute_of(span: &WireSpan, key: &str) -> Option<String> {
    let found = span.attributes.iter().find(|one| one.key == key)?;
    Some(match found.value.as_ref()?.value.as_ref()? {
        any_value::Value::StringValue(text) => text.clone(),
        any_value::Value::IntValue(number) => number.to_string(),
        any_value::Value::BoolValue(truth) => truth.to_string(),
        any_value::Value::DoubleValue(fraction) => fraction.to_string(),
        other => panic!("`{key}` is {other:?}"),
    })
}

/// Whether the span says that what it is about failed.
pub(crate) fn failed(span: &WireSpan) -> bool {
    span.status.as_ref().is_some_and(|status| status.code() == StatusCode::Error)
}

const CALL: CallFacts<'static> = CallFacts {
    invocation_id: "inv_1",
    tool_name: "files.read_file",
    tool_id: "t1",
    tenant: "default",
    native_call_id: "",
};

fn attempt(queued_in: &CarriedContext, attempt: u32, waited: u64, parenting: QueueParenting) -> AttemptFacts<'_> {
    AttemptFacts { attempt, waited: Duration::from_secs(waited), queued_in, parenting }
}

#[test]
fn one_call_is_one_trace() {
    let (recorder, _guard) = Recorder::start();
    let agent = CarriedContext {
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned(),
        tracestate: "vendor=1".to_owned(),
    };
    let server = spans::rpc::server("toolplane.v1.InvocationService/Invoke", true, agent.parent());
    let queued_in = server.in_scope(|| {
        let invocation = spans::invocation(&CALL);
        invocation.in_scope(|| {
            let sent = spans::enqueue(&CALL);
            CarriedContext::of_span(&sent)
        })
    });
    drop(server);
    assert_eq!(queued_in.tracestate, "vendor=1");
    // Somewhere else, later: only the strings of the queue entry are known.
    let other_work = spans::rpc::server("toolplane.v1.WorkerService/Work", true, None);
    other_work.in_scope(|| {
        let process = spans::process(&CALL, &attempt(&queued_in, 1, 1, QueueParenting::Parent));
        process.in_scope(|| {
            let tool = spans::execute_tool(&CALL);
            spans::end_execution(&tool, Some(ErrorClass::ExecutionFailed));
        });
        spans::end_execution(&process, None);
    });

    let server = recorder.find("toolplane.v1.InvocationService/Invoke");
    let invocation = recorder.find("agenttool.invocation files.read_file");
    let send = recorder.find("send agenttool.invocations");
    let process = recorder.find("process agenttool.invocations");
    let tool = recorder.find("execute_tool files.read_file");
    assert_eq!(hex::encode(&server.parent_span_id), "b7ad6b7169203331");
    assert_eq!(server.flags, 0x301, "sampled, and its parent is of another process");
    assert_eq!(invocation.parent_span_id, server.span_id);
    assert_eq!(invocation.flags, 0x101, "and this one's parent is not");
    assert_eq!(send.parent_span_id, invocation.span_id);
    assert_eq!(process.parent_span_id, send.span_id);
    assert_eq!(tool.parent_span_id, process.span_id);
    for span in [&server, &invocation, &send, &process, &tool] {
        assert_eq!(hex::encode(&span.trace_id), "0af7651916cd43dd8448eb211c80319c", "{}", span.name);
        assert_eq!(span.trace_state, "vendor=1", "{}", span.name);
        assert!(span.start_time_unix_nano > 0 && span.start_time_unix_nano <= span.end_time_unix_nano, "{span:?}");
    }
    assert_eq!(process.links.len(), 1);
    assert_eq!(process.links[0].span_id, send.span_id);
    let kinds = [&server, &invocation, &send, &process, &tool].map(WireSpan::kind);
    let (internal, consumer) = (SpanKind::Internal, SpanKind::Consumer);
    assert_eq!(kinds, [SpanKind::Server, internal, SpanKind::Producer, consumer, internal]);

    assert_eq!(attribute_of(&tool, "gen_ai.operation.name").as_deref(), Some("execute_tool"));
    assert_eq!(attribute_of(&tool, "error.type").as_deref(), Some("execution_failed"));
    assert_eq!(attribute_of(&tool, "gen_ai.tool.call.id"), None, "the model gave none");
    assert_eq!(attribute_of(&process, "agenttool.attempt").as_deref(), Some("1"));
    assert!(failed(&tool) && !failed(&process));
}

#[test]
fn retries_old_work_and_link_mode_are_only_linked() {
    let queued_in = CarriedContext {
        traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned(),
        tracestate: String::new(),
    };
    for facts in [
        attempt(&queued_in, 2, 1, QueueParenting::Parent),
        attempt(&queued_in, 1, 3600, QueueParenting::Parent),
        attempt(&queued_in, 1, 1, QueueParenting::Link),
    ] {
        let (recorder, _guard) = Recorder::start();
        drop(spans::process(&CALL, &facts));
        let span = recorder.find("process agenttool.invocations");
        assert!(span.parent_span_id.is_empty(), "{facts:?}");
        assert_eq!(hex::encode(&span.links[0].span_id), "b7ad6b7169203331");
    }
}

#[track_caller]
fn check_ending(
    status: InvocationStatus,
    result: ResultStatus,
    class: Option<ErrorClass>,
    abort: Option<AbortReason>,
    error_type: Option<&str>,
) {
    let (recorder, _guard) = Recorder::start();
    let span = spans::invocation(&CALL);
    let ending = CallEnding { status, result_status: result, error_class: class, error_code: "", abort_reason: abort };
    spans::end_invocation(&span, &ending);
    drop(span);
    let span = recorder.find("agenttool.invocation files.read_file");
    assert_eq!(attribute_of(&span, general::ERROR_TYPE).as_deref(), error_type, "{ending:?}");
    assert_eq!(failed(&span), error_type.is_some(), "{ending:?}");
    assert_eq!(attribute_of(&span, "agenttool.invocation.status").as_deref(), Some(status.as_str()));
    assert_eq!(attribute_of(&span, "agenttool.error_class").as_deref(), class.map(ErrorClass::as_str));
}

#[test]
fn only_faults_are_errors() {
    use {AbortReason as A, ErrorClass as E, InvocationStatus as I, ResultStatus as R};
    check_ending(I::Succeeded, R::Succeeded, None, None, None);
    check_ending(I::Succeeded, R::PartialSucceeded, Some(E::PartialFailure), None, None);
    check_ending(I::Failed, R::Failed, Some(E::ExecutionFailed), None, Some("execution_failed"));
    check_ending(I::Failed, R::TooLarge, Some(E::ResultTooLarge), None, None);
    check_ending(I::Denied, R::Denied, Some(E::PermissionDenied), None, None);
    check_ending(I::ValidationFailed, R::Failed, Some(E::InvalidArguments), None, None);
    check_ending(I::Blocked, R::Failed, Some(E::CapabilityGap), None, None);
    check_ending(I::Blocked, R::Failed, Some(E::CredentialMissing), None, Some("credential_missing"));
    check_ending(I::Canceled, R::Canceled, Some(E::Canceled), Some(A::UserInterruption), None);
    check_ending(I::Canceled, R::Canceled, Some(E::Canceled), Some(A::RuntimeShutdown), Some("canceled"));
    check_ending(I::TimedOut, R::TimedOut, Some(E::Timeout), Some(A::Timeout), Some("timeout"));
}

#[test]
fn rpc_status_rules_differ_between_the_sides() {
    let (recorder, _guard) = Recorder::start();
    spans::rpc::end_server(&spans::rpc::server("p.S/A", true, None), tonic::Code::NotFound);
    spans::rpc::end_server(&spans::rpc::server("p.S/B", true, None), tonic::Code::Internal);
    spans::rpc::end_client(&spans::rpc::client("p.S/C", "127.0.0.1", 7420), tonic::Code::NotFound);
    drop(spans::rpc::server("x.Y/Z", false, None));
    let shown = |name: &str| {
        let span = recorder.find(name);
        (failed(&span), attribute_of(&span, "rpc.status_code"), attribute_of(&span, "error.type"))
    };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(shown("p.S/A"), (false, text("NOT_FOUND"), None));
    assert_eq!(shown("p.S/B"), (true, text("INTERNAL"), text("INTERNAL")));
    assert_eq!(shown("p.S/C"), (true, text("NOT_FOUND"), text("NOT_FOUND")));
    assert_eq!(attribute_of(&recorder.find("_OTHER"), "rpc.method_original"), text("x.Y/Z"));
}

#[test]
fn content_stays_out_unless_asked_for() {
    let (recorder, _guard) = Recorder::start();
    for capture in [false, true] {
        let span = spans::execute_tool(&CALL);
        spans::content(&span, capture, semconv::gen_ai::TOOL_CALL_ARGUMENTS, "{\"path\":\"secret\"}");
    }
    let captured: Vec<_> =
        recorder.spans().iter().map(|span| attribute_of(span, "gen_ai.tool.call.arguments").is_some()).collect();
    assert_eq!(captured, [false, true]);
}

#[test]
fn a_trace_is_recorded_whole_or_not_at_all() {
    let (recorder, _guard) = Recorder::sampled(0.5);
    for _ in 0..200 {
        let first = spans::invocation(&CALL);
        let second = first.in_scope(|| spans::execute_tool(&CALL));
        assert_eq!(second.context().is_some(), first.context().is_some());
        spans::event(&second, "agenttool.permission.requested", &[("agenttool.tenant", "default")]);
    }
    let (firsts, seconds): (Vec<_>, Vec<_>) =
        recorder.spans().into_iter().partition(|span| span.parent_span_id.is_empty());
    assert!((50..150).contains(&firsts.len()), "about half of 200, not {}", firsts.len());
    assert_eq!(firsts.len(), seconds.len());
    for second in &seconds {
        assert!(firsts.iter().any(|first| first.span_id == second.parent_span_id && first.trace_id == second.trace_id));
        assert_eq!(second.events[0].name, "agenttool.permission.requested");
        assert_eq!(second.events[0].attributes[0].key, "agenttool.tenant");
    }
}

#[test]
fn a_span_ends_once_and_says_nothing_after_that() {
    let (recorder, _guard) = Recorder::start();
    let span = spans::execute_tool(&CALL);
    spans::attribute(&span, "agenttool.result.bytes", 1_i64 << 40);
    spans::attribute(&span, "agenttool.negative", -1_i64);
    spans::attribute(&span, "agenttool.truth", true);
    spans::attribute(&span, "agenttool.fraction", 0.5);
    span.end();
    spans::attribute(&span, "agenttool.late", "x");
    drop(span);
    let spans = recorder.spans();
    assert_eq!(spans.len(), 1);
    let said = |key| attribute_of(&spans[0], key);
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(said("agenttool.result.bytes"), text("1099511627776"));
    assert_eq!((said("agenttool.negative"), said("agenttool.truth")), (text("-1"), text("true")));
    assert_eq!((said("agenttool.fraction"), said("agenttool.late")), (text("0.5"), None));
}

#[test]
fn malformed_context_is_ignored_and_absent_context_is_none() {
    let parse = |traceparent: &str| {
        CarriedContext { traceparent: traceparent.to_owned(), tracestate: String::new() }.parent().is_some()
    };
    assert!(!parse(""));
    assert!(!parse("00-zz-yy-01"));
    assert!(!parse("00-00000000000000000000000000000000-b7ad6b7169203331-01"));
    assert!(parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"));
    assert_eq!(CarriedContext::current(), CarriedContext::default());
    assert_eq!(telemetry_ref(), None);
}

#[test]
fn context_passes_through_without_an_exporter() {
    let sent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let mut incoming = tonic::metadata::MetadataMap::new();
    incoming.insert("traceparent", sent.parse().expect("metadata"));
    let parent = parent_from_metadata(&incoming).expect("a context");
    let _attached = parent.attach();
    let span = spans::invocation(&CALL);
    let mut outgoing = tonic::metadata::MetadataMap::new();
    span.in_scope(|| inject_into_metadata(&mut outgoing));
    assert_eq!(outgoing.get("traceparent").expect("passed on"), sent);
    assert_eq!(telemetry_ref().expect("a position").span_id, "b7ad6b7169203331");
}

#[test]
fn the_log_filter_is_checked() {
    assert!(parse_filter("info,toolplane_scheduler=debug").is_ok());
    assert!(parse_filter("a=b=c").expect_err("malformed").to_string().contains("`a=b=c`"));
}

/// A call within a server's span; the worker's part continues from the strings alone, as in another process. Both end as they are told.
fn call_that_ends(error: Option<ErrorClass>) {
    let server = spans::rpc::server("toolplane.v1.InvocationService/Invoke", true, None);
    let (invocation, queued_in) = server.in_scope(|| {
        let invocation = spans::invocation(&CALL);
        let queued_in = invocation.in_scope(|| CarriedContext::of_span(&spans::enqueue(&CALL)));
        (invocation, queued_in)
    });
    assert!(queued_in.traceparent.ends_with("-00"), "what follows is told that the sampler said no");
    let process = spans::process(&CALL, &attempt(&queued_in, 1, 1, QueueParenting::Parent));
    process.in_scope(|| spans::end_execution(&spans::execute_tool(&CALL), error));
    let (status, result_status) = match error {
        Some(_) => (InvocationStatus::Failed, ResultStatus::Failed),
        None => (InvocationStatus::Succeeded, ResultStatus::Succeeded),
    };
    let ending = CallEnding { status, result_status, error_class: error, error_code: "", abort_reason: None };
    spans::end_invocation(&invocation, &ending);
}

#[test]
fn a_call_that_fails_is_kept_whole_when_the_sampler_says_no_and_one_that_succeeds_is_not() {
    let errors = Keep { errors: true, slow: None };
    let (recorder, _guard) = Recorder::keeping(0.0, errors);
    call_that_ends(None);
    assert!(recorder.spans().is_empty(), "{:?}", recorder.spans());
    call_that_ends(Some(ErrorClass::ExecutionFailed));
    let mut kept: Vec<_> = recorder.spans().into_iter().map(|span| span.name).collect();
    kept.sort();
    assert_eq!(
        kept,
        [
            "agenttool.invocation files.read_file",
            "execute_tool files.read_file",
            "process agenttool.invocations",
            "send agenttool.invocations",
            "toolplane.v1.InvocationService/Invoke",
        ]
    );
    let traces: std::collections::HashSet<_> = recorder.spans().into_iter().map(|span| span.trace_id).collect();
    assert_eq!(traces.len(), 1);
}

#[test]
fn a_call_that_takes_long_is_kept_and_a_refusal_that_is_no_fault_is_not() {
    let (recorder, guard) = Recorder::keeping(0.0, Keep { errors: false, slow: Some(Duration::ZERO) });
    call_that_ends(None);
    assert_eq!(recorder.spans().len(), 5, "any time is long enough here");
    drop(guard);
    let (recorder, _guard) = Recorder::keeping(0.0, Keep { errors: true, slow: Some(Duration::from_secs(3600)) });
    call_that_ends(None);
    let denied = spans::invocation(&CALL);
    let (status, result_status) = (InvocationStatus::Denied, ResultStatus::Denied);
    let error_class = Some(ErrorClass::PermissionDenied);
    let ending = CallEnding { status, result_status, error_class, error_code: "", abort_reason: None };
    spans::end_invocation(&denied, &ending);
    assert!(recorder.spans().is_empty());
}
