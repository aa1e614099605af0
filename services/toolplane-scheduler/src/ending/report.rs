//! A worker's report of an ended execution, read.

use std::sync::Arc;

use prost::Message;
use toolplane_hooks::bounds::cut;
use toolplane_lifecycle::ReportedOutcome;
use toolplane_proto::convert::{ConvertError, field, word};
use toolplane_proto::v1;
use toolplane_records::SmolStr;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::evidence::ExecutionSite;
use toolplane_records::ids::DecisionId;
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::{JsonPayload, PayloadRef};
use toolplane_records::persistence::{PersistenceThreshold, ResultPersistence};
use toolplane_records::refs::{ArtifactRef, ResourceRef};
use toolplane_records::result::{Cleaned, ContentBlock};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{PersistenceStrategy, RedactionState, ResultStatus};
use toolplane_results::outputs::Decided;
use toolplane_results::payload::key::{PayloadKey, URI_PREFIX};

use super::execution::ReportedExecution;
use super::told::text_of;

/// Most bytes of a report beside its outputs: answers repeat it up to four times, and stay below what clients take.
pub(super) const MAX_BESIDE: usize = 256 * 1024;

/// Longest advice of a tool, in characters.
const MAX_SUGGESTION: usize = 512;

/// How an execution ended, as its worker says and as far as it has been checked yet.
#[derive(Clone, Debug)]
pub(super) struct Report {
    pub(super) status: ResultStatus,
    pub(super) error: Option<ToolError>,
    /// What the tool gave.
    pub(super) output: ReportedOutput,
    /// What is said of it.
    pub(super) words: ReportedWords,
    /// What it left beside its outputs.
    pub(super) beside: ReportedBeside,
    /// What it says of the execution.
    pub(super) execution: ReportedExecution,
    pub(super) duration_ms: u64,
    /// Reports of its progress that are not in the log.
    pub(super) progress_left_out: u64,
    /// What cleaning found in it.
    pub(super) cleaned: Vec<Cleaned>,
    /// How its tool wants it shown.
    pub(super) hints: Option<JsonPayload>,
    /// What its tool has said where nothing of it can be shown.
    pub(super) fallback_summary: Option<String>,
    /// For how long its tool wants outputs kept, milliseconds.
    pub(super) keep_ms: Option<i64>,
    /// What its session is told to beware of.
    pub(super) taints: Vec<SmolStr>,
    /// What the scheduler has to say of it in the record.
    pub(super) notes: Vec<String>,
    /// Addresses of all its worker has kept for it, also of what is not to stay.
    pub(super) uploads: Vec<String>,
}

/// What a tool gave.
#[derive(Clone, Debug, Default)]
pub(super) struct ReportedOutput {
    pub(super) content: Vec<ContentBlock>,
    pub(super) structured_content: Option<JsonPayload>,
    /// The structured content must not be shown: it is only kept.
    pub(super) by_reference: bool,
    /// Outputs the worker has kept elsewhere, with how.
    pub(super) kept: Vec<Decided>,
    /// How many bytes there were; 0 where it is not said.
    pub(super) bytes: u64,
    pub(super) redaction: Option<RedactionState>,
}

/// What a worker says of an output, in its own words; each may be empty.
#[derive(Clone, Debug, Default)]
pub(super) struct ReportedWords {
    /// What the model is given.
    pub(super) facing: Vec<ContentBlock>,
    /// One line for people.
    pub(super) summary: String,
}

/// What a tool left beside its outputs.
#[derive(Clone, Debug, Default)]
pub(super) struct ReportedBeside {
    pub(super) resource_refs: Vec<ResourceRef>,
    pub(super) artifact_refs: Vec<ArtifactRef>,
    pub(super) context_modifiers: Vec<JsonPayload>,
    /// Context modifiers that were left out because the tool does not declare any.
    pub(super) undeclared_modifiers: usize,
}

/// Reads the report of lease `lease_no` of `record`, which was executed at `site`. A report that cannot be read is a failed
/// execution: the tool ran.
pub(super) fn read(
    record: &Invocation,
    lease_no: u32,
    reported: Option<Box<v1::ExecutionOutcome>>,
    site: Option<Arc<ExecutionSite>>,
    now: Timestamp,
) -> Report {
    let Some(reported) = reported else { return unreadable("the report has no outcome") };
    let read = decode(record, lease_no, *reported, now);
    let mut report = read.unwrap_or_else(|error| unreadable(&error.to_string()));
    report.uploads = report.uploaded().iter().map(|payload| payload.uri.to_string()).collect();
    // Where it ran is known by its lease, whatever it says.
    report.execution.site = site;
    report
}

fn decode(
    record: &Invocation,
    lease_no: u32,
    mut reported: v1::ExecutionOutcome,
    now: Timestamp,
) -> Result<Report, ConvertError> {
    let beside = beside(&reported);
    if beside > MAX_BESIDE {
        let rule = format!("must have at most {MAX_BESIDE} bytes beside its outputs, and has {beside}");
        return Err(ConvertError::new("outcome", &rule));
    }
    let execution = ReportedExecution::read(&mut reported)?;
    let kept = reported.persisted.into_iter().map(|kept| kept_output(record, kept, now));
    let report = Report {
        status: word::open::<ResultStatus>("outcome.status", &reported.status, reported.status_code)?,
        error: field::optional("outcome.error", reported.error)?.map(with_own_advice),
        output: ReportedOutput {
            content: field::list("outcome.content", reported.content)?.into_iter().map(by_kind).collect(),
            structured_content: field::optional("outcome.structured_content", reported.structured_content)?,
            by_reference: false,
            kept: kept.collect::<Result<_, _>>()?,
            bytes: reported.output_bytes,
            redaction: word::optional_closed("outcome.redaction_state", reported.redaction_state)?,
        },
        words: ReportedWords {
            facing: field::list("outcome.model_facing_content", reported.model_facing_content)?,
            summary: if reported.ui_facing_summary.is_empty() { reported.summary } else { reported.ui_facing_summary },
        },
        beside: ReportedBeside {
            resource_refs: field::list("outcome.resource_refs", reported.resource_refs)?,
            artifact_refs: field::list("outcome.artifact_refs", reported.artifact_refs)?,
            context_modifiers: field::list("outcome.context_modifiers", reported.context_modifiers)?,
            undeclared_modifiers: 0,
        },
        execution,
        duration_ms: reported.duration_ms,
        progress_left_out: 0,
        cleaned: Vec::new(),
        hints: None,
        fallback_summary: None,
        keep_ms: None,
        taints: Vec::new(),
        notes: Vec::new(),
        uploads: Vec::new(),
    };
    let refs = report.output.content.iter().chain(&report.words.facing).filter_map(reference);
    let beside = report.beside.artifact_refs.iter().filter_map(|artifact| artifact.payload.as_ref());
    let refs =
        refs.chain(beside).chain(report.output.kept.iter().filter_map(|kept| kept.decision.persisted_ref.as_ref()));
    match refs.into_iter().all(|payload| is_own(record, lease_no, payload)) {
        true => Ok(report),
        false => Err(ConvertError::new("outcome", "names bytes that were not uploaded under this lease")),
    }
}

/// A file of a kind that has a block of its own is in that block, whatever its worker calls it.
fn by_kind(block: ContentBlock) -> ContentBlock {
    match block {
        ContentBlock::File { payload } => ContentBlock::kept(payload, String::new()),
        other => other,
    }
}

/// Bytes of what records hold as it is reported: outputs are cut or kept elsewhere, this is not.
fn beside(reported: &v1::ExecutionOutcome) -> usize {
    let sizes = [
        reported.error.as_ref().map_or(0, Message::encoded_len),
        reported.resource_refs.iter().map(Message::encoded_len).sum(),
        reported.artifact_refs.iter().map(Message::encoded_len).sum(),
        reported.context_modifiers.iter().map(Message::encoded_len).sum(),
        reported.persisted.iter().map(Message::encoded_len).sum(),
        reported.ui_facing_summary.len() + reported.summary.len(),
    ];
    sizes.iter().sum()
}

/// Whether a worker may name these bytes: its own of this lease, or some the cluster does not keep at all.
fn is_own(record: &Invocation, lease_no: u32, payload: &PayloadRef) -> bool {
    if payload.uri.starts_with("payload:") {
        return false;
    }
    if !payload.uri.starts_with(URI_PREFIX) {
        return true;
    }
    let key = payload.uri.parse::<PayloadKey>();
    key.is_ok_and(|key| key.is_of(&record.tenant, &record.invocation_id, lease_no))
}

/// The words of a tool on what to do next, within their bound. Whether the call may be made again is not for it to say.
fn with_own_advice(mut error: ToolError) -> ToolError {
    error.can_retry = None;
    error.recovery_suggestion =
        error.recovery_suggestion.filter(|text| !text.trim().is_empty()).map(|text| cut(&text, MAX_SUGGESTION));
    error
}

fn kept_output(record: &Invocation, kept: v1::PersistedOutput, now: Timestamp) -> Result<Decided, ConvertError> {
    let decision = ResultPersistence {
        strategy: word::closed("outcome.persisted.strategy", kept.strategy)?,
        threshold: kept.threshold.map(|threshold| PersistenceThreshold {
            max_inline_chars: threshold.max_inline_chars,
            max_inline_bytes: threshold.max_inline_bytes,
        }),
        original_size_bytes: kept.original_size_bytes,
        preview_size_bytes: kept.preview_size_bytes,
        persisted_ref: field::optional("outcome.persisted.payload", kept.payload)?,
        redaction_state: word::optional_closed("outcome.persisted.redaction_state", kept.redaction_state)?,
        reason: kept.reason.into(),
        ..inline(record, 0, now)
    };
    Ok(Decided { name: kept.name, decision })
}

/// The decision about an ending of `bytes` bytes of which nothing is kept elsewhere.
pub(super) fn inline(record: &Invocation, bytes: u64, now: Timestamp) -> ResultPersistence {
    ResultPersistence {
        schema_version: toolplane_records::schema_version(),
        decision_id: decision_id(record),
        invocation_id: record.invocation_id.clone(),
        result_id: None,
        strategy: PersistenceStrategy::Inline,
        threshold: None,
        original_size_bytes: bytes,
        preview_size_bytes: None,
        persisted_ref: None,
        redaction_state: None,
        reason: "result_within_inline_limit".into(),
        created_at: now,
        output: SmolStr::default(),
        expires_at: None,
    }
}

/// The first persistence decision of a call. Those of its other outputs have its id with a number.
pub(super) fn decision_id(record: &Invocation) -> DecisionId {
    DecisionId::from_trusted(format!("persist_{}", record.invocation_id))
}

impl Report {
    /// An ending that gave nothing.
    pub(super) fn of(status: ResultStatus, error: Option<ToolError>) -> Self {
        Self {
            status,
            error,
            output: ReportedOutput::default(),
            words: ReportedWords::default(),
            beside: ReportedBeside::default(),
            execution: ReportedExecution::default(),
            duration_ms: 0,
            progress_left_out: 0,
            cleaned: Vec::new(),
            hints: None,
            fallback_summary: None,
            keep_ms: None,
            taints: Vec::new(),
            notes: Vec::new(),
            uploads: Vec::new(),
        }
    }

    /// Every output of this report the cluster keeps.
    pub(super) fn uploaded(&self) -> Vec<PayloadRef> {
        let named = self.output.content.iter().chain(&self.words.facing).filter_map(reference);
        let beside = self.beside.artifact_refs.iter().filter_map(|artifact| artifact.payload.as_ref());
        let named =
            named.chain(beside).chain(self.output.kept.iter().filter_map(|kept| kept.decision.persisted_ref.as_ref()));
        let mut uploaded: Vec<PayloadRef> = Vec::new();
        for payload in named.filter(|payload| payload.uri.starts_with(URI_PREFIX)) {
            if !uploaded.iter().any(|known| known.uri == payload.uri) {
                uploaded.push(payload.clone());
            }
        }
        uploaded
    }

    /// How many bytes of `payload` its worker shows, when it shows any.
    pub(super) fn preview_of(&self, payload: &PayloadRef) -> Option<u64> {
        let of_it = |kept: &&Decided| kept.decision.persisted_ref.as_ref().is_some_and(|kept| kept.uri == payload.uri);
        self.output.kept.iter().find(of_it)?.decision.preview_size_bytes
    }

    /// Bytes of what it holds, when it is not said.
    pub(super) fn size(&self) -> u64 {
        let block = |block: &ContentBlock| match text_of(block) {
            Some(text) => text.len() as u64,
            None => reference(block).map_or(0, |payload| payload.size_bytes),
        };
        let content: u64 = self.output.content.iter().map(block).sum();
        let held = content.max(self.output.structured_content.as_ref().map_or(0, JsonPayload::size));
        if self.output.bytes > 0 { self.output.bytes } else { held }
    }
}

/// Whether what is stored of an ending names the bytes at `uri`.
fn names(outcome: &ReportedOutcome, uri: &str) -> bool {
    let named = outcome.content.iter().chain(&outcome.model_facing_content).filter_map(reference);
    let decided = outcome.persistence.iter().filter_map(|kept| kept.persisted_ref.as_ref());
    named.chain(decided).any(|payload| payload.uri == uri)
}

/// Those of `uploads` that nothing of what is stored of an ending names.
pub(super) fn unnamed(uploads: Vec<String>, outcome: &ReportedOutcome) -> impl Iterator<Item = String> {
    uploads.into_iter().filter(|uri| !names(outcome, uri))
}

/// The bytes a block refers to.
pub(super) fn reference(block: &ContentBlock) -> Option<&PayloadRef> {
    block.payload()
}

/// Whether a result of this status is a failure of any kind.
pub(super) fn is_error(status: ResultStatus) -> bool {
    use ResultStatus::{PartialSucceeded, Redacted, Succeeded, TooLarge};
    !matches!(status, Succeeded | PartialSucceeded | Redacted | TooLarge)
}

fn unreadable(cause: &str) -> Report {
    let mut error =
        ToolError::of(codes::RESULT_MAPPING, format!("the tool ran, but its worker's report cannot be read: {cause}"));
    error.side_effects = Some("unknown".to_owned());
    Report::of(ResultStatus::Failed, Some(error))
}
