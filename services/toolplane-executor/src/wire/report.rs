//! Reports of a worker, as they travel.

use toolplane_execution::ChangedProvider;
use toolplane_proto::convert::field;
use toolplane_proto::convert::word::{Word as _, optional_number};
use toolplane_proto::v1;
use toolplane_proto::v1::worker_report::Report;
use toolplane_results::outputs::Decided;

use super::fields::{lease_ref, lease_refs, millis};
use crate::messages::{Ended, ExecutionReport, Hello, InputRequest, WorkerReport};
use crate::worker::PREVIOUS_INCARNATION_DEAD;

/// One message for all of `reports`.
pub(super) fn request(reports: Vec<WorkerReport>) -> v1::WorkRequest {
    let reports = reports.into_iter().map(|told| v1::WorkerReport { report: Some(report(told)) });
    v1::WorkRequest { reports: reports.collect() }
}

fn report(report: WorkerReport) -> Report {
    match report {
        WorkerReport::Hello(told) => Report::Hello(hello(&told)),
        WorkerReport::Ready { free_slots } => Report::Ready(v1::WorkerReady { free_slots }),
        WorkerReport::Received(lease) => Report::Received(v1::LeaseReceived { lease: Some(lease_ref(&lease)) }),
        WorkerReport::StartRequested(lease) => {
            Report::StartRequested(v1::StartRequested { lease: Some(lease_ref(&lease)) })
        }
        WorkerReport::Progress { lease, progress } => Report::Progress(v1::ProgressReported {
            lease: Some(lease_ref(&lease)),
            progress: Some((&*progress).into()),
        }),
        WorkerReport::Partial { lease, content } => Report::Partial(v1::PartialReported {
            lease: Some(lease_ref(&lease)),
            content: field::outs(&content),
            append: true,
            resume_token: None,
        }),
        WorkerReport::Ended(told) => Report::Done(done(&told)),
        WorkerReport::CancelAcknowledged { lease, supported } => {
            Report::CancelAcknowledged(v1::CancelAcknowledged { lease: Some(lease_ref(&lease)), supported })
        }
        WorkerReport::Heartbeat { leases, free_slots } => {
            Report::Heartbeat(v1::WorkerHeartbeat { leases: lease_refs(&leases), free_slots })
        }
        WorkerReport::Released { lease, reason } => {
            Report::Released(v1::LeaseReleased { lease: Some(lease_ref(&lease)), reason: reason.as_str().to_owned() })
        }
        WorkerReport::InputRequested(question) => Report::InputRequested(input_requested(question)),
        WorkerReport::ProviderChanged(ChangedProvider { tenant, provider_id }) => {
            Report::ProviderChanged(v1::ProviderChanged { tenant, provider_id })
        }
        WorkerReport::Credentials(names) => Report::Credentials(v1::WorkerCredentials { names }),
        WorkerReport::Goodbye => Report::Goodbye(v1::WorkerGoodbye {}),
    }
}

fn hello(hello: &Hello) -> v1::WorkerHello {
    let worker = &hello.introduction;
    let served = &worker.capabilities;
    let gaps = served.gaps.iter().map(|gap| v1::PoolGap {
        pool: gap.pool.clone(),
        reason_code: gap.reason_code.clone(),
        message: gap.message.clone(),
    });
    v1::WorkerHello {
        worker_id: worker.identity.worker_id.to_string(),
        incarnation: worker.identity.incarnation.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        slots: worker.slots,
        pools: served.pools.clone(),
        native_tools: served.native_tools.clone(),
        gaps: gaps.collect(),
        posture: Some((&served.posture).into()),
        image: worker.image.clone(),
        credentials: Some(v1::WorkerCredentials { names: hello.credentials.clone() }),
        held: lease_refs(&hello.held),
        finished: hello.finished.iter().map(|ended| done(ended)).collect(),
        previous_incarnation_dead: PREVIOUS_INCARNATION_DEAD && !hello.endings_follow,
        kept_endings_follow: PREVIOUS_INCARNATION_DEAD && hello.endings_follow,
    }
}

fn input_requested(question: InputRequest) -> v1::InputRequested {
    v1::InputRequested {
        lease: Some(lease_ref(&question.lease)),
        input_id: question.input_id,
        prompt: question.prompt,
        schema: field::out(&question.schema),
        ttl_ms: question.ttl.map_or(0, |ttl| u32::try_from(ttl.as_millis()).unwrap_or(u32::MAX).max(1)),
    }
}

fn done(ended: &Ended) -> v1::ExecutionDone {
    v1::ExecutionDone { lease: Some(lease_ref(&ended.lease)), outcome: Some(Box::new(outcome(&ended.report))) }
}

fn outcome(report: &ExecutionReport) -> v1::ExecutionOutcome {
    v1::ExecutionOutcome {
        status: report.status.as_str().to_owned(),
        status_code: report.status.number(),
        is_error: report.is_error(),
        model_facing_content: field::outs(&report.model_facing()),
        ui_facing_summary: report.ui_facing(),
        summary: report.summary.clone(),
        content: field::outs(&report.content),
        structured_content: field::out(&report.structured_content),
        error: field::out(&report.error),
        persisted: report.persisted.iter().map(persisted).collect(),
        output_bytes: report.output_bytes,
        started_at: field::instant(report.started_at),
        duration_ms: millis(report.duration),
        evidence: field::out(&report.evidence),
        context_modifiers: field::outs(&report.context_modifiers),
        artifact_refs: field::outs(&report.artifacts),
        // A worker of ours makes no resources, does not redact, and asks no hooks.
        resource_refs: Vec::new(),
        redaction_state: 0,
        hooks: Vec::new(),
        // The scheduler knows it by the lease and the hello.
        site: None,
    }
}

fn persisted(Decided { name, decision }: &Decided) -> v1::PersistedOutput {
    v1::PersistedOutput {
        name: name.clone(),
        strategy: decision.strategy.number(),
        threshold: field::out(&decision.threshold),
        original_size_bytes: decision.original_size_bytes,
        preview_size_bytes: decision.preview_size_bytes,
        payload: field::out(&decision.persisted_ref),
        redaction_state: optional_number(decision.redaction_state),
        reason: decision.reason.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use prost::Message as _;
    use toolplane_records::error::ToolError;
    use toolplane_records::payload::JsonPayload;
    use toolplane_records::refs::ArtifactRef;
    use toolplane_records::result::ContentBlock;
    use toolplane_records::time::Timestamp;
    use toolplane_records::vocabulary::{ErrorClass, Recoverability, ResultStatus};

    use super::done;
    use crate::messages::{Ended, ExecutionReport, Lease};

    /// The outbox fills messages by this estimate: too small, and a message is more than a peer accepts.
    #[test]
    fn a_report_is_never_larger_than_it_says() {
        let code = toolplane_records::codes::EXEC_CANCELED;
        for size in [0, 10, 1_000, 100_000] {
            let text = || "é".repeat(size);
            let value = || JsonPayload::of(&text());
            let artifact = ArtifactRef { artifact_id: text(), ..ArtifactRef::default() };
            let error = ToolError::new(code, ErrorClass::Canceled, Recoverability::RetrySafe, text());
            let report = ExecutionReport {
                status: ResultStatus::Canceled,
                summary: text(),
                content: vec![
                    ContentBlock::Text { text: text() },
                    ContentBlock::Log { text: text(), stream: "stderr".to_owned() },
                    ContentBlock::Diff {
                        text: text(),
                        path: "a.txt".to_owned(),
                        lines: vec![u32::MAX; 20],
                        old_text: Some(text()),
                        new_text: Some(text()),
                    },
                    ContentBlock::EmbeddedResource {
                        uri: "test://a".to_owned(),
                        media_type: String::new(),
                        text: Some(text()),
                        payload: None,
                    },
                    ContentBlock::ArtifactRef { artifact: artifact.clone() },
                    ContentBlock::Empty,
                ],
                artifacts: vec![artifact; 2],
                structured_content: Some(value()),
                error: Some(error),
                persisted: Vec::new(),
                output_bytes: 7,
                started_at: Timestamp::from_millis(1_790_000_000_000),
                duration: Duration::from_secs(3),
                evidence: Some(value()),
                context_modifiers: vec![value(), value()],
            };
            let ended = Ended { lease: Lease::example("inv_a"), report };
            let (said, is) = (ended.report.message_bytes(), done(&ended).encoded_len());
            assert!(is <= said && said <= 2 * is + 4_096, "{said} said, {is} sent");
        }
    }
}
