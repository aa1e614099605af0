//! What a call shows before its end, and what it says of going on: partial results, stages in the background, where a repeated execution
//! goes on, tools that may help, artifacts that were expected, and results nobody reads.

use super::*;

fn text(text: &str) -> v1::ContentBlock {
    v1::ContentBlock { block: Some(v1::content_block::Block::Text(v1::TextBlock { text: text.to_owned() })) }
}

fn partial(lease: &v1::LeaseRef, shown: &str, resume_token: Option<&str>) -> Report {
    Report::Partial(v1::PartialReported {
        lease: Some(lease.clone()),
        content: vec![text(shown)],
        append: true,
        resume_token: resume_token.map(str::to_owned),
    })
}

fn data(event: &v1::Event) -> serde_json::Value {
    match event.data.as_ref().and_then(|data| data.body.as_ref()) {
        Some(v1::json_payload::Body::Inline(bytes)) => serde_json::from_slice(bytes).unwrap(),
        _ => serde_json::Value::Null,
    }
}

async fn get(room: &Room, id: &str) -> v1::Invocation {
    let request = v1::GetInvocationRequest { invocation_id: id.to_owned(), ..Default::default() };
    let invocation = room.clients.invocations().get_invocation(request).await.unwrap().into_inner().invocation.unwrap();
    crate::coverage::call(&invocation);
    invocation
}

async fn until(room: &Room, id: &str, status: v1::InvocationStatus) -> v1::Invocation {
    let start = std::time::Instant::now();
    loop {
        let invocation = get(room, id).await;
        if invocation.status_code() == status {
            return invocation;
        }
        assert!(start.elapsed() < PATIENCE, "still {} instead of {status:?}", invocation.status);
        toolplane_wait::look_again().await;
    }
}

/// Each in a message of its own, as fast as they can be sent: they are in the log in their order, and none is missing or after the end.
#[tokio::test]
async fn partial_results_are_in_the_log_in_their_order_and_before_the_end() {
    let room = Room::open().await;
    let mut hand = Hand::connect(&room, hello("first")).await;
    let id = room.submit("hand.once").await;
    let lease = hand.start().await;
    let beats = beating(&room, &lease);
    for number in 1..=100 {
        hand.say(partial(&lease, &format!("row {number}"), None)).await;
    }
    let seen = until(&room, &id, v1::InvocationStatus::PartialResult).await;
    assert!(seen.partial_seq >= 1 && seen.ended_at.is_none());
    // Refused by its field, and the call goes on.
    let large = Report::Partial(v1::PartialReported {
        lease: Some(lease.clone()),
        content: vec![text(&"x".repeat(70_000))],
        ..Default::default()
    });
    hand.say(large).await;
    hand.say(Report::Done(done(&lease))).await;
    let refused = |command| match command {
        Command::ReportRefused(refused) => Some((refused.report, refused.field)),
        _ => None,
    };
    assert_eq!(hand.hear(refused).await, ("partial".to_owned(), "content".to_owned()));
    hand.hear(|command| matches!(command, Command::DoneAcknowledged(_)).then_some(())).await;
    beats.abort();
    let (events, result) = room.replay(&id).await;
    assert_eq!(result.status_code(), v1::ResultStatus::Succeeded);
    let shown: Vec<String> = events
        .iter()
        .filter(|event| event.event_type == "tool.invocation.partial_result")
        .map(|event| data(event)["content"][0]["text"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(shown, (1..=100).map(|number| format!("row {number}")).collect::<Vec<_>>());
    assert_eq!(get(&room, &id).await.partial_seq, 100);
}

#[tokio::test]
async fn a_repeated_execution_goes_on_where_the_lost_one_was() {
    let room = Room::with(&CONFIG.replace("lease_ms = 1500", "lease_ms = 60000")).await;
    let mut hand = Hand::connect(&room, hello("first")).await;
    let id = room.submit("hand.again").await;
    let lease = hand.offer().await;
    hand.say(partial(&lease, "rows 1 to 500", Some("row 500"))).await;
    until(&room, &id, v1::InvocationStatus::PartialResult).await;
    drop(hand);
    let back = v1::WorkerHello { previous_incarnation_dead: true, ..hello("second") };
    let mut hand = Hand::connect(&room, back).await;
    let pick = |command| match command {
        Command::Offer(offer) => Some((offer.dispatch?.resume_token, offer.lease?)),
        _ => None,
    };
    let (token, lease) = hand.hear(pick).await;
    assert_eq!(token.as_deref(), Some("row 500"));
    hand.say(Report::Done(done(&lease))).await;
    let (_, result) = room.replay(&id).await;
    assert!(!result.is_error, "{:?}", result.error);
}

#[tokio::test]
async fn a_failure_names_tools_of_its_surface_and_no_others() {
    let room = Room::open().await;
    let mut hand = Hand::connect(&room, hello("first")).await;
    let id = room.submit("hand.once").await;
    let lease = hand.start().await;
    let error = v1::ToolError {
        error_code: "hand.no_such_page".into(),
        error_class: "execution_failed".into(),
        message: "there is no such page".into(),
        recoverability: "change_arguments".into(),
        recovery_suggestion: Some("Search for the page first.".into()),
        next_steps: vec!["hand.again".into(), "hand.nowhere".into(), "hand.again".into()],
        can_retry: Some(true),
        ..Default::default()
    };
    let artifact = v1::ArtifactRef { artifact_id: "draft".into(), ..Default::default() };
    let outcome = v1::ExecutionOutcome {
        status: "failed".into(),
        is_error: true,
        error: Some(error),
        artifact_refs: vec![artifact],
        ..Default::default()
    };
    hand.say(Report::Done(v1::ExecutionDone { lease: Some(lease), outcome: Some(Box::new(outcome)) })).await;
    let (_, result) = room.replay(&id).await;
    let error = result.error.unwrap();
    assert_eq!(error.next_steps, ["hand.again"]);
    assert_eq!(error.recovery_suggestion.as_deref(), Some("Search for the page first."));
    assert_eq!(error.can_retry, Some(false), "whether it may be repeated is not for the tool to say");
    assert_eq!(result.artifact_refs.len(), 1, "the tool declares that it leaves artifacts");
    let spec = v1::InvocationSpec {
        surface_id: room.surface_id.clone(),
        tool_name: "hand.agian".into(),
        model_input: Some(payload("{}")),
        ..Default::default()
    };
    let request = v1::CallRequest { spec: Some(spec), ..Default::default() };
    let unknown = room.clients.invocations().call(request).await.unwrap().into_inner().result.unwrap();
    let error = unknown.error.unwrap();
    assert!(error.next_steps.contains(&"hand.again".to_owned()), "{error:?}");
    let rendering = unknown.ui_facing_rendering.unwrap();
    let Some(v1::json_payload::Body::Inline(bytes)) = rendering.body else { panic!("{rendering:?}") };
    assert!(String::from_utf8(bytes.to_vec()).unwrap().contains(r#""kind":"error""#));
    assert!(unknown.transcript_search_text.contains(&error.message), "{}", unknown.transcript_search_text);
}

/// A call in the background is answered at once, tells each stage, and is killed later as any other.
#[tokio::test]
async fn a_call_in_the_background_is_polled_streamed_and_killed() {
    let room = Room::open().await;
    let mut hand = Hand::connect(&room, hello("first")).await;
    let spec = |tool: &str| v1::InvocationSpec {
        surface_id: room.surface_id.clone(),
        tool_name: tool.to_owned(),
        model_input: Some(payload("{}")),
        background: true,
        ..Default::default()
    };
    let call = |tool: &str| v1::CallRequest { spec: Some(spec(tool)), wait_ms: 60_000, ..Default::default() };
    let answer = room.clients.invocations().call(call("hand.once")).await.unwrap().into_inner();
    let id = answer.accepted.unwrap().invocation_id;
    assert!(answer.result.is_none() && answer.invocation.unwrap().background, "nobody waits for it");
    let lease = hand.start().await;
    let beats = beating(&room, &lease);
    until(&room, &id, v1::InvocationStatus::Running).await;
    let cancel = v1::CancelInvocationRequest { invocation_id: id.clone(), ..Default::default() };
    room.clients.invocations().cancel_invocation(cancel).await.unwrap();
    hand.hear(|command| matches!(command, Command::Cancel(_)).then_some(())).await;
    let outcome = v1::ExecutionOutcome { status: "canceled".into(), is_error: true, ..Default::default() };
    hand.say(Report::Done(v1::ExecutionDone { lease: Some(lease), outcome: Some(Box::new(outcome)) })).await;
    let (events, result) = room.replay(&id).await;
    beats.abort();
    assert_eq!(result.status_code(), v1::ResultStatus::Canceled);
    let stages: Vec<serde_json::Value> = events
        .iter()
        .filter(|event| event.event_type == "tool.invocation.progress")
        .map(|event| data(event)["status"].clone())
        .collect();
    assert_eq!(stages, ["queued", "started", "backgrounded", "canceled"]);

    let plain = tool_of("hand.plain", true, "native.noop");
    let mut plain = plain;
    plain.execution_profile.as_mut().unwrap().supports_background = false;
    register(&room.clients, vec![plain]).await;
    let mut request = call("hand.plain");
    request.spec.as_mut().unwrap().surface_id = String::new();
    let refused = room.clients.invocations().call(request).await.unwrap().into_inner().result.unwrap();
    crate::coverage::result(&refused);
    let error = refused.error.unwrap();
    assert_eq!(
        (error.error_code.as_str(), error.field_violations[0].field.as_str()),
        ("exec.background_unsupported", "spec.background")
    );
}

/// People are waited for in the background as well, and who looks in sees for what.
#[tokio::test]
async fn a_call_in_the_background_says_what_it_waits_for() {
    let room = Room::open().await;
    let mut asked = tool_of("hand.asked", false, "native.noop");
    asked.permission_profile.as_mut().unwrap().approval_required = Some(true);
    register(&room.clients, vec![asked]).await;
    let mut hand = Hand::connect(&room, hello("first")).await;
    let spec = v1::InvocationSpec {
        tool_name: "hand.asked".to_owned(),
        model_input: Some(payload("{}")),
        background: true,
        ..Default::default()
    };
    let request = v1::SubmitInvocationRequest { spec: Some(spec) };
    let call = room.clients.invocations().submit_invocation(request).await.unwrap().into_inner().invocation.unwrap();
    let id = call.invocation_id;
    let parked = until(&room, &id, v1::InvocationStatus::AwaitingApproval).await;
    let answer = v1::ResolveApprovalRequest {
        approval_id: parked.approval_request_ref,
        behavior: v1::Behavior::Allow.into(),
        ..Default::default()
    };
    room.clients.permissions().resolve_approval(answer).await.unwrap();
    let lease = hand.start().await;
    let beats = beating(&room, &lease);
    hand.say(partial(&lease, "so far", None)).await;
    until(&room, &id, v1::InvocationStatus::PartialResult).await;
    let question = v1::InputRequested {
        lease: Some(lease.clone()),
        input_id: "q".into(),
        prompt: "which?".into(),
        ..Default::default()
    };
    hand.say(Report::InputRequested(question)).await;
    until(&room, &id, v1::InvocationStatus::NeedsInput).await;
    let answer = v1::ProvideInputRequest { invocation_id: id.clone(), declined: true, ..Default::default() };
    room.clients.invocations().provide_input(answer).await.unwrap();
    hand.hear(|command| matches!(command, Command::InputProvided(_)).then_some(())).await;
    hand.say(Report::Done(done(&lease))).await;
    let (events, _) = room.replay(&id).await;
    beats.abort();
    let stages: Vec<serde_json::Value> = events
        .iter()
        .filter(|event| event.event_type == "tool.invocation.progress")
        .map(|event| data(event)["status"].clone())
        .collect();
    let expected = [
        "waiting_for_permission",
        "queued",
        "started",
        "backgrounded",
        "partial_result",
        "running",
        "waiting_for_input",
        "running",
        "completed",
    ];
    assert_eq!(stages, expected);
}

#[tokio::test]
async fn what_a_model_stream_called_that_is_thrown_away_has_no_reader() {
    let room = Room::open().await;
    let id = room.submit("hand.once").await;
    let cancel = |reason: &str| v1::CancelInvocationRequest {
        invocation_id: id.clone(),
        abort_reason: reason.to_owned(),
        ..Default::default()
    };
    let refused = room.clients.invocations().cancel_invocation(cancel("timeout")).await.unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument, "callers do not say what only the cluster knows");
    room.clients.invocations().cancel_invocation(cancel("fallback")).await.unwrap();
    let (_, result) = room.replay(&id).await;
    assert_eq!(result.status_code(), v1::ResultStatus::Discarded);
    let error = result.error.unwrap();
    assert_eq!((error.error_class.as_str(), error.abort_reason.as_str()), ("streaming_fallback_discarded", "fallback"));
}

/// Upload under a lease, as workers do.
async fn upload(room: &Room, lease: &v1::LeaseRef, media_type: &str, bytes: &'static [u8]) -> v1::PayloadRef {
    use v1::upload_payload_request::Part;
    let header = v1::UploadHeader {
        lease: Some(lease.clone()),
        media_type: media_type.to_owned(),
        name: "kept".into(),
        worker_id: "by-hand".into(),
        incarnation: "first".into(),
        ..Default::default()
    };
    let parts = [Part::Header(header), Part::Chunk(bytes.into())];
    let parts = parts.map(|part| v1::UploadPayloadRequest { part: Some(part) });
    room.service().upload_payload(tokio_stream::iter(parts)).await.unwrap().into_inner().payload.unwrap()
}

/// What no tool of ours gives, another's may: each class of content is a block of its own, and a part that failed is said beside the rest.
#[tokio::test]
async fn every_other_class_of_content_is_a_block_of_its_own() {
    use v1::content_block::Block;
    let room = Room::open().await;
    let mut hand = Hand::connect(&room, hello("first")).await;
    let id = room.submit("hand.once").await;
    let lease = hand.start().await;
    let file = upload(&room, &lease, "application/zip", b"PK\x03\x04").await;
    let artifact = v1::ArtifactRef { artifact_id: "report".into(), ..Default::default() };
    let link = v1::ResourceRef { resource_id: "r".into(), uri: "https://example.org/r".into(), ..Default::default() };
    let embedded = v1::EmbeddedResource { uri: "note:1".into(), text: Some("a note".into()), ..Default::default() };
    let handoff = v1::HandoffRef { handoff_id: "h".into(), target: "team".into(), ..Default::default() };
    let blocks = [
        Block::File(file),
        Block::ArtifactRef(artifact.clone()),
        Block::ResourceLink(link),
        Block::EmbeddedResource(embedded),
        Block::HandoffRef(handoff),
    ];
    let error = v1::ToolError {
        error_code: "hand.half".into(),
        error_class: "partial_failure".into(),
        message: "the second half is missing".into(),
        recoverability: "retry_later".into(),
        side_effects: Some("none".into()),
        ..Default::default()
    };
    let outcome = v1::ExecutionOutcome {
        status: "partial_succeeded".into(),
        content: blocks.clone().map(|block| v1::ContentBlock { block: Some(block) }).into(),
        artifact_refs: vec![artifact],
        error: Some(error),
        ..Default::default()
    };
    hand.say(Report::Done(v1::ExecutionDone { lease: Some(lease), outcome: Some(Box::new(outcome)) })).await;
    let (_, result) = room.replay(&id).await;
    assert_eq!(result.status_code(), v1::ResultStatus::PartialSucceeded);
    let told: Vec<Block> = result.content.into_iter().filter_map(|block| block.block).collect();
    assert_eq!(told.len(), blocks.len(), "{told:?}");
    for (told, given) in told.iter().zip(&blocks) {
        assert_eq!(std::mem::discriminant(told), std::mem::discriminant(given));
    }
}
