//! The message in which a worker says how an execution ended: every text in it that the tool may have written.

use std::borrow::Cow;

use bytes::Bytes;
use toolplane_cleaning::{Cleaner, Findings};
use toolplane_proto::v1;
use toolplane_proto::v1::content_block::Block;
use toolplane_proto::v1::json_payload::Body;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_results::outputs::MAX_NOTE;
use toolplane_results::payload::key::URI_PREFIX;
use toolplane_results::preview::Preview;
use toolplane_results::render::VIEW;

/// Cleans all of it.
pub(super) fn outcome(cleaner: &Cleaner, outcome: &mut v1::ExecutionOutcome, found: &mut Findings) {
    for block in &mut outcome.content {
        let before = length(block);
        content(cleaner, block, found);
        if let (Some(before), Some(after)) = (before, length(block)) {
            shown_length(&mut outcome.persisted, before, after);
        }
    }
    // The model and people are given the same in other words, and programs as a value: mostly the same things, found again.
    let mut facing = Findings::default();
    outcome.model_facing_content.iter_mut().for_each(|block| content(cleaner, block, &mut facing));
    let mut summary = Findings::default();
    text(cleaner, &mut outcome.ui_facing_summary, &mut summary);
    text(cleaner, &mut outcome.summary, &mut summary);
    let mut structured = Findings::default();
    outcome.structured_content.iter_mut().for_each(|value| json(cleaner, value, &mut structured));
    [facing, summary, structured].iter().for_each(|same| found.cover(same));
    outcome.context_modifiers.iter_mut().for_each(|value| json(cleaner, value, found));
    outcome.evidence.iter_mut().for_each(|value| json(cleaner, value, found));
    outcome.resource_refs.iter_mut().for_each(|resource| self::resource(cleaner, resource, found));
    outcome.artifact_refs.iter_mut().for_each(|artifact| self::artifact(cleaner, artifact, found));
    if let Some(said) = &mut outcome.error {
        error(cleaner, said, found);
    }
}

fn content(cleaner: &Cleaner, block: &mut v1::ContentBlock, found: &mut Findings) {
    match &mut block.block {
        Some(Block::Text(block)) => text(cleaner, &mut block.text, found),
        Some(Block::Diff(block)) => {
            text(cleaner, &mut block.text, found);
            text(cleaner, &mut block.path, found);
            // What it was made from says the same again.
            let texts = [&mut block.old_text, &mut block.new_text].into_iter().flatten();
            texts.for_each(|one| text(cleaner, one, &mut Findings::default()));
        }
        Some(Block::Image(media) | Block::Audio(media) | Block::Video(media)) => {
            text(cleaner, &mut media.description, found);
        }
        Some(Block::EmbeddedResource(resource)) => {
            text(cleaner, &mut resource.uri, found);
            resource.text.iter_mut().for_each(|one| text(cleaner, one, found));
        }
        Some(Block::HandoffRef(handoff)) => {
            let v1::HandoffRef { handoff_id, target, uri, reason } = handoff;
            [handoff_id, target, uri, reason].into_iter().for_each(|one| text(cleaner, one, found));
        }
        Some(Block::Log(block)) => {
            text(cleaner, &mut block.text, found);
            text(cleaner, &mut block.stream, found);
        }
        Some(Block::ResourceLink(resource)) => self::resource(cleaner, resource, found),
        Some(Block::ArtifactRef(artifact)) => self::artifact(cleaner, artifact, found),
        // Where bytes are is no text of a tool; the bytes are cleaned where they are.
        Some(Block::File(_) | Block::PersistedOutputRef(_) | Block::Empty(_)) | None => {}
    }
}

fn resource(cleaner: &Cleaner, resource: &mut v1::ResourceRef, found: &mut Findings) {
    let v1::ResourceRef { resource_id, uri, access, relation, .. } = resource;
    [resource_id, uri, access, relation].into_iter().for_each(|one| text(cleaner, one, found));
}

fn artifact(cleaner: &Cleaner, artifact: &mut v1::ArtifactRef, found: &mut Findings) {
    let v1::ArtifactRef { artifact_id, uri, version, relation, .. } = artifact;
    [artifact_id, uri, version, relation].into_iter().for_each(|one| text(cleaner, one, found));
}

fn error(cleaner: &Cleaner, error: &mut v1::ToolError, found: &mut Findings) {
    text(cleaner, &mut error.message, found);
    let options = [&mut error.native_error_ref, &mut error.blocked_path, &mut error.recovery_suggestion];
    options.into_iter().flatten().for_each(|one| text(cleaner, one, found));
    error.evidence_refs.iter_mut().for_each(|one| text(cleaner, one, found));
    for violation in &mut error.field_violations {
        text(cleaner, &mut violation.field, found);
        text(cleaner, &mut violation.description, found);
    }
}

/// Cleans one text.
fn text(cleaner: &Cleaner, shown: &mut String, found: &mut Findings) {
    // Our own addresses of bytes are long and random.
    if shown.is_empty() || shown.starts_with(URI_PREFIX) {
        return;
    }
    if let Cow::Owned(cleaned) = cleaner.text(shown, found) {
        *shown = cleaned;
    }
}

/// Cleans one JSON value. What is no JSON stays, and is refused where it is read.
fn json(cleaner: &Cleaner, value: &mut v1::JsonPayload, found: &mut Findings) {
    let Some(Body::Inline(bytes)) = &value.body else { return };
    let Ok(meant) = std::str::from_utf8(bytes) else { return };
    if let Ok(Cow::Owned(cleaned)) = cleaner.json(meant, found) {
        // What was said of the bytes was said of others.
        value.sha256 = Bytes::new();
        value.size_bytes = 0;
        value.body = Some(Body::Inline(cleaned.into()));
    }
}

/// Cleans what is said while a tool runs, alone: a text with something to drop is left out as a whole.
pub(super) fn said(cleaner: &Cleaner, shown: &mut String) -> Findings {
    let mut found = Findings::default();
    text(cleaner, shown, &mut found);
    if let Some(rule) = found.dropped_for() {
        *shown = format!("[withheld: {rule}]");
    }
    found
}

/// The same of blocks of content.
pub(super) fn said_blocks(cleaner: &Cleaner, blocks: &mut Vec<v1::ContentBlock>) -> Findings {
    let mut found = Findings::default();
    blocks.iter_mut().for_each(|block| content(cleaner, block, &mut found));
    if let Some(rule) = found.dropped_for() {
        let withheld = v1::TextBlock { text: format!("[withheld: {rule}]") };
        *blocks = vec![v1::ContentBlock { block: Some(Block::Text(withheld)) }];
    }
    found
}

/// The same of a JSON value, which is `null` then.
pub(super) fn said_json(cleaner: &Cleaner, value: &mut v1::JsonPayload) -> Findings {
    let mut found = Findings::default();
    json(cleaner, value, &mut found);
    if found.dropped_for().is_some() {
        *value = v1::JsonPayload { body: Some(Body::Inline(Bytes::from_static(b"null"))), ..Default::default() };
    }
    found
}

/// Bytes of a text in content.
pub(super) fn length(block: &v1::ContentBlock) -> Option<u64> {
    let text = match &block.block {
        Some(Block::Text(block)) => &block.text,
        Some(Block::Diff(block)) => &block.text,
        Some(Block::Log(block)) => &block.text,
        _ => return None,
    };
    Some(text.len() as u64)
}

/// A text that is shown in the place of a kept output has another length now: it is still known by it.
pub(super) fn shown_length(kept: &mut [v1::PersistedOutput], before: u64, after: u64) {
    if before == after {
        return;
    }
    let sizes = kept.iter_mut().filter_map(|kept| kept.preview_size_bytes.as_mut());
    for size in sizes.filter(|size| (**size..**size + MAX_NOTE).contains(&before)) {
        *size = (*size + after).saturating_sub(before);
    }
}

/// Shows an output that is kept anew as it is now, and leaves the worker's other words about it out: they name what is there no more.
pub(super) fn shown_anew(cleaner: &Cleaner, outcome: &mut v1::ExecutionOutcome, uri: &str, preview: Preview) {
    outcome.model_facing_content.clear();
    outcome.ui_facing_summary.clear();
    outcome.summary.clear();
    let of_it = |kept: &&mut v1::PersistedOutput| kept.payload.as_ref().is_some_and(|payload| payload.uri == uri);
    let Some(kept) = outcome.persisted.iter_mut().find(of_it) else { return };
    let Some(size) = kept.preview_size_bytes else { return };
    let before =
        |block: &&mut v1::ContentBlock| length(block).is_some_and(|length| (size..size + MAX_NOTE).contains(&length));
    let Some(block) = outcome.content.iter_mut().find(before) else { return };
    let text = match &mut block.block {
        Some(Block::Text(block)) => &mut block.text,
        Some(Block::Log(block)) => &mut block.text,
        Some(Block::Diff(block)) => &mut block.text,
        _ => return,
    };
    let is_view = text.ends_with(VIEW);
    // What is kept has no characters written out.
    *text = cleaner.text(&preview.text, &mut Findings::default()).into_owned();
    if is_view {
        text.push('\n');
        text.push_str(VIEW);
    }
    kept.preview_size_bytes = Some(text.len() as u64);
}

/// Every artifact that is named, in the content and beside it.
pub(super) fn artifacts(outcome: &mut v1::ExecutionOutcome) -> impl Iterator<Item = &mut v1::ArtifactRef> {
    let blocks = outcome.content.iter_mut().chain(&mut outcome.model_facing_content);
    let in_blocks = blocks.filter_map(|block| match &mut block.block {
        Some(Block::ArtifactRef(artifact)) => Some(artifact),
        _ => None,
    });
    in_blocks.chain(&mut outcome.artifact_refs)
}

/// Addresses of the outputs that a worker has kept.
pub(super) fn uploaded(outcome: &v1::ExecutionOutcome) -> Vec<String> {
    let blocks = outcome.content.iter().chain(&outcome.model_facing_content).filter_map(v1::ContentBlock::kept);
    let beside = outcome.artifact_refs.iter().filter_map(|artifact| artifact.payload.as_ref());
    let persisted = outcome.persisted.iter().filter_map(|kept| kept.payload.as_ref()).chain(beside);
    let mut uris: Vec<String> = blocks.chain(persisted).map(|payload| payload.uri.clone()).collect();
    uris.retain(|uri| uri.starts_with(URI_PREFIX));
    uris.sort_unstable();
    uris.dedup();
    uris
}

/// Takes the whole output out, for what `rule` found in it. A failure stays what it is; a success shows nothing.
pub(super) fn drop_output(outcome: &mut v1::ExecutionOutcome, rule: &str) {
    let error = outcome.error.take();
    let failed = outcome.is_error || error.is_some();
    let ended = if failed { "failed" } else { "succeeded" };
    let message = format!("the tool {ended}, and its output is withheld: it holds what may not be shown ({rule})");
    let error = match error {
        // Its kind, and none of its words.
        Some(error) => v1::ToolError {
            message,
            native_error_ref: None,
            blocked_path: None,
            evidence_refs: Vec::new(),
            field_violations: Vec::new(),
            ..error
        },
        None => {
            let mut error = ToolError::of(codes::RESULT_WITHHELD, message);
            error.side_effects = Some("completed".to_owned());
            v1::ToolError::from(&error)
        }
    };
    *outcome = v1::ExecutionOutcome {
        status: if failed { outcome.status.clone() } else { "redacted".to_owned() },
        status_code: if failed { outcome.status_code } else { v1::ResultStatus::Redacted.into() },
        is_error: outcome.is_error,
        error: Some(error),
        output_bytes: outcome.output_bytes,
        started_at: outcome.started_at,
        duration_ms: outcome.duration_ms,
        ..v1::ExecutionOutcome::default()
    };
}
