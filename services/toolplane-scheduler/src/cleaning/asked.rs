//! What the declaration of a tool asks of cleaning: that all values are taken out that are found (`redaction_required`), and what else is
//! (`redaction_rules`). What cannot be looked through as it asks is withheld: it is not known to be clean.

use toolplane_cleaning::Declared;
use toolplane_cleaning::fields::{self, FieldPath, Looked};
use toolplane_proto::v1;
use toolplane_proto::v1::content_block::Block;
use toolplane_proto::v1::json_payload::Body;
use toolplane_records::SmolStr;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::result::Cleaned;

use super::{MAX_JSON, kept, message};
use crate::plan::PlannedOutput;

/// Stands for a text of which it is not known what is in it.
pub(super) const UNREADABLE: &str = "[withheld: it is not readable JSON, and its tool declares fields that are masked]";

/// What one tool asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Asked {
    /// Its results may be released cleaned, or not at all.
    pub(super) required: bool,
    rules: Vec<String>,
}

impl Asked {
    pub(super) fn of(declared: &PlannedOutput) -> Self {
        Self { required: declared.redaction_required, rules: declared.redaction_rules.clone() }
    }

    /// Whether it is cleaned as all others are.
    pub(super) fn is_usual(&self) -> bool {
        !self.required && self.rules.is_empty()
    }

    pub(super) fn declared(&self) -> Declared {
        Declared::new(self.required, &self.rules)
    }
}

/// Masks the declared fields in all that is shown of an ending; in how many places.
pub(super) fn mask_fields(outcome: &mut v1::ExecutionOutcome, paths: &[FieldPath]) -> u64 {
    if paths.is_empty() {
        return 0;
    }
    // The same is said in several forms, mostly: what is told is the form with the most.
    let mut places = 0;
    for block in &mut outcome.content {
        let before = message::length(block);
        places += mask_block(block, paths);
        if let (Some(before), Some(after)) = (before, message::length(block)) {
            message::shown_length(&mut outcome.persisted, before, after);
        }
    }
    let facing: u64 = outcome.model_facing_content.iter_mut().map(|block| mask_block(block, paths)).sum();
    let values = outcome.structured_content.iter_mut().chain(&mut outcome.evidence);
    let values: u64 = values.map(|value| mask_value(value, paths)).sum();
    for summary in [&mut outcome.ui_facing_summary, &mut outcome.summary] {
        mask_text(summary, paths);
    }
    if let Some(error) = &mut outcome.error {
        mask_text(&mut error.message, paths);
    }
    places = places.max(facing).max(values);
    outcome.context_modifiers.iter_mut().for_each(|value| places += mask_value(value, paths));
    places
}

fn mask_block(block: &mut v1::ContentBlock, paths: &[FieldPath]) -> u64 {
    match &mut block.block {
        Some(Block::Text(block)) => mask_text(&mut block.text, paths),
        Some(Block::Log(block)) => mask_text(&mut block.text, paths),
        Some(Block::EmbeddedResource(resource)) => resource.text.as_mut().map_or(0, |text| mask_text(text, paths)),
        _ => 0,
    }
}

fn mask_text(text: &mut String, paths: &[FieldPath]) -> u64 {
    match fields::mask(text, paths) {
        Looked::Same => 0,
        Looked::Masked(masked, places) => {
            *text = masked;
            places
        }
        Looked::Unreadable => {
            UNREADABLE.clone_into(text);
            1
        }
    }
}

fn mask_value(value: &mut v1::JsonPayload, paths: &[FieldPath]) -> u64 {
    let Some(Body::Inline(bytes)) = &value.body else { return 0 };
    let (masked, places) = match std::str::from_utf8(bytes).map(|text| fields::mask(text, paths)) {
        Ok(Looked::Same) => return 0,
        Ok(Looked::Masked(masked, places)) => (masked, places),
        Ok(Looked::Unreadable) | Err(_) => ("null".to_owned(), 1),
    };
    *value = v1::JsonPayload { body: Some(Body::Inline(masked.into())), ..Default::default() };
    places
}

/// Why outputs that are kept cannot be looked through as the tool asks; nothing when they can.
pub(super) fn unseen(outcome: &v1::ExecutionOutcome, asked: &Asked, paths: &[FieldPath]) -> Option<&'static str> {
    let blocks = outcome.content.iter().chain(&outcome.model_facing_content).filter_map(v1::ContentBlock::kept);
    let kept = blocks.chain(outcome.persisted.iter().filter_map(|kept| kept.payload.as_ref()));
    let mut kept = kept.chain(outcome.artifact_refs.iter().filter_map(|artifact| artifact.payload.as_ref()));
    kept.find_map(|payload| {
        let readable = kept::is_readable(&payload.media_type);
        if asked.required && !readable {
            return Some("redaction is required, and in pictures, sounds and archives nothing is looked for");
        }
        let too_large = !paths.is_empty() && readable && payload.size_bytes > MAX_JSON;
        too_large.then_some("fields are to be masked, and an output is too large to look for them")
    })
}

/// Takes the whole output out, because it is not known to be clean: an error, whatever the tool did.
pub(super) fn withhold(outcome: &mut v1::ExecutionOutcome, why: &str) {
    message::drop_output(outcome, why);
    if outcome.is_error {
        return;
    }
    let message = format!("the tool ended and its effect is done, but its output is withheld: {why}");
    let mut error = ToolError::of(codes::RESULT_NOT_CLEANED, message);
    error.side_effects = Some("completed".to_owned());
    outcome.status = "failed".to_owned();
    outcome.status_code = v1::ResultStatus::Failed.into();
    outcome.is_error = true;
    outcome.error = Some(v1::ToolError::from(&error));
}

/// So many places of declared fields, as they go into the record.
pub(super) fn told(places: u64) -> Option<Cleaned> {
    (places > 0).then(|| Cleaned {
        class: SmolStr::new_static("declared"),
        rule: SmolStr::new_static("declared_field"),
        treatment: SmolStr::new_static("mask"),
        places,
        taints: false,
    })
}
