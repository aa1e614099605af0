//! What hooks make of an ending; pure.

use toolplane_hooks::bounds::cut;
use toolplane_hooks::fold::{HookText, Keeping};
use toolplane_hooks::{Folded, Replacement};
use toolplane_records::SmolStr;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::hook::ToolHook;
use toolplane_records::payload::JsonPayload;
use toolplane_records::payload::REDACTED;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::{PersistenceStrategy, ResultStatus};

use super::report::{Report, is_error};

/// Most characters of all that hooks add for the model: it is kept beside the output in a bounded report.
const MAX_CONTEXT_CHARS: usize = 16_000;
/// Most bytes of all records of one ending; of later ones only the outline is kept.
const MAX_RECORDS_BYTES: u64 = 256 * 1024;

/// What hooks made of an ending, beside changing it.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// Hooks were asked, or should have been.
    pub(super) asked: bool,
    /// Addresses of outputs that are too large to be shown to hooks.
    pub(super) unseen: Vec<SmolStr>,
    /// What the model is given after the output, in order.
    pub(super) context: Vec<String>,
    /// How what is left may be kept.
    pub(super) keeping: Keeping,
    /// Only the tool's own persistence policy says so, and no hook.
    pub(super) by_policy: bool,
    /// What was taken away as a whole.
    pub(super) withheld: Option<Withheld>,
    /// Something was taken out or replaced.
    pub(super) redacted: bool,
    /// One record per hook that was asked, in order.
    pub(super) records: Vec<ToolHook>,
}

/// An output that is given to no reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Withheld {
    /// How, in the words of the standard.
    pub(super) strategy: PersistenceStrategy,
    /// How large it was.
    pub(super) bytes: u64,
}

impl Effects {
    /// Takes over how the tool's own policy has its outputs kept; what a hook says goes first.
    pub(super) fn keep_by_policy(&mut self, keeping: Keeping) {
        if self.keeping == Keeping::AsUsual {
            self.keeping = keeping;
            self.by_policy = true;
        }
    }

    /// Takes over what the hooks of one point want.
    pub(super) fn apply(&mut self, report: &mut Report, folded: Folded) {
        self.say(&folded);
        self.record(folded.records);
        if let Some(failed) = &folded.failed {
            return self.withhold_for(report, failed.message());
        }
        let replaced = folded.updated_output.is_some();
        if let Some(replacement) = folded.updated_output {
            self.replace(report, replacement);
        }
        match folded.keeping {
            Keeping::Drop => {
                let reason = folded.blocks.last().map_or("", |said| said.text.as_str());
                self.drop_output(report, reason);
            }
            Keeping::Redact if replaced => redacted(report),
            Keeping::Redact => {
                self.take_away(report, PersistenceStrategy::Redact);
                report.output.content = vec![ContentBlock::Text { text: REDACTED.to_owned() }];
                redacted(report);
            }
            less => self.keeping = self.keeping.and(less),
        }
    }

    /// The hooks could not be asked: as if one of them had failed.
    pub(super) fn unasked(&mut self, report: &mut Report, why: &str) {
        self.withhold_for(report, format!("its hooks did not all answer: {why}"));
    }

    fn say(&mut self, folded: &Folded) {
        let spoken = |said: &HookText| format!("hook `{}`: {}", said.hook_id, said.text);
        let context = folded.additional_context.iter().map(|said| said.text.clone());
        let stop = folded.stop.iter().map(|said| format!("hook `{}` asks to stop: {}", said.hook_id, said.text));
        let mut room = MAX_CONTEXT_CHARS.saturating_sub(self.context.iter().map(|text| text.chars().count()).sum());
        for text in folded.blocks.iter().map(spoken).chain(context).chain(stop) {
            let text = cut(&text, room);
            room -= text.chars().count();
            if !text.is_empty() {
                self.context.push(text);
            }
        }
    }

    fn record(&mut self, records: Vec<ToolHook>) {
        let size = |record: &ToolHook| JsonPayload::of(record).size();
        let mut taken: u64 = self.records.iter().map(size).sum();
        for mut record in records {
            if taken + size(&record) > MAX_RECORDS_BYTES {
                let omitted = serde_json::json!({ "type": "omitted", "size_bytes": size(&record) });
                record.outputs = vec![JsonPayload::of(&omitted)];
                record.additional_context.clear();
                record.updated_output = None;
            }
            taken += size(&record);
            self.records.push(record);
        }
    }

    fn replace(&mut self, report: &mut Report, replacement: Replacement) {
        report.output.content = replacement.content;
        report.output.structured_content = replacement.structured_content;
        forget_the_rest(report);
        self.redacted = true;
    }

    /// A hook failed: what the tool gave is withheld, and a success is none any more.
    fn withhold_for(&mut self, report: &mut Report, why: String) {
        self.take_away(report, PersistenceStrategy::DropWithReason);
        if is_error(report.status) {
            return speechless(report, &why);
        }
        let message = format!("the tool ended and its effect is done, but its output is withheld: {why}");
        report.status = ResultStatus::Failed;
        report.error = Some(done(codes::HOOKS_FAILED, message));
    }

    /// A hook wants the output to be withheld.
    fn drop_output(&mut self, report: &mut Report, reason: &str) {
        self.take_away(report, PersistenceStrategy::DropWithReason);
        let why = if reason.is_empty() { "a hook withheld it" } else { reason };
        if is_error(report.status) {
            return speechless(report, why);
        }
        let message = format!("the tool succeeded, but its output is withheld: {why}");
        report.status = ResultStatus::Redacted;
        report.error = Some(done(codes::RESULT_WITHHELD, message));
    }

    fn take_away(&mut self, report: &mut Report, strategy: PersistenceStrategy) {
        self.withheld = Some(Withheld { strategy, bytes: report.size() });
        self.redacted = true;
        report.output.content.clear();
        report.output.structured_content = None;
        forget_the_rest(report);
    }
}

/// What was made from an output that is not to be seen, or refers to it.
fn forget_the_rest(report: &mut Report) {
    report.beside.context_modifiers.clear();
    report.output.kept.clear();
    report.words.facing.clear();
    if let Some(error) = &mut report.error {
        // They may quote it.
        error.field_violations.clear();
    }
    report.beside.resource_refs.clear();
    report.beside.artifact_refs.clear();
    report.execution.refs.clear();
}

/// A success that shows less than the tool gave.
fn redacted(report: &mut Report) {
    if matches!(report.status, ResultStatus::Succeeded | ResultStatus::PartialSucceeded | ResultStatus::TooLarge) {
        report.status = ResultStatus::Redacted;
    }
}

/// A failure keeps its kind, and loses the words that may be the tool's.
fn speechless(report: &mut Report, why: &str) {
    if let Some(error) = &mut report.error {
        error.evidence_refs.clear();
        error.message = format!("the tool failed, and its output is withheld: {why}");
        error.field_violations.clear();
        error.native_error_ref = None;
        error.blocked_path = None;
    }
}

/// An error after an effect that is done.
fn done(code: codes::Code, message: String) -> ToolError {
    let mut error = ToolError::of(code, message);
    error.side_effects = Some("completed".to_owned());
    error
}

#[cfg(test)]
mod tests;
