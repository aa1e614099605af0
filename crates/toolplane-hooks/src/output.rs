//! What a hook answers.

use toolplane_records::assurance::Confidence;
use toolplane_records::hook::{HookPermission, HookStop};
use toolplane_records::payload::JsonPayload;
use toolplane_records::vocabulary::{Behavior, HookEvent, PersistenceStrategy};

use crate::bounds::{MAX_PROGRESS, MAX_TEXT_CHARS, cut};
use crate::replacement::Replacement;

pub(crate) mod fields;
mod read;

pub(crate) use read::strictness;
pub use read::{read, refused};

/// What a classifier says of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Classified {
    /// Which classifier; the hook itself when empty.
    pub classifier_ref: String,
    /// It is still at work: nothing is known yet.
    pub pending: bool,
    /// How sure it is, from 0 to 1.
    pub confidence: Option<Confidence>,
    /// Why.
    pub reason: String,
    /// What it would do; absent while it is pending.
    pub behavior: Option<Behavior>,
}

/// The answer of one hook: what it wants. Everything is optional; an empty answer changes nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HookOutput {
    /// For people and logs, in order.
    pub messages: Vec<String>,
    /// Progress to show, in order.
    pub progress: Vec<String>,
    /// Replaces the whole input. Fields left as [`REDACTED`](toolplane_records::payload::REDACTED) stay as they are.
    pub updated_input: Option<JsonPayload>,
    /// A permission hint.
    pub permission: Option<HookPermission>,
    /// Context for the model, in order.
    pub additional_context: Vec<String>,
    /// Ends the call.
    pub stop: Option<HookStop>,
    /// Replaces the output.
    pub updated_output: Option<Replacement>,
    /// After the call: what the model must be told about the output.
    pub block: Option<String>,
    /// How bytes may be kept at most; see [`Keeping`](crate::fold::Keeping).
    pub persistence: Option<PersistenceStrategy>,
    /// What a classifier says.
    pub classifier: Option<Classified>,
    /// What was not understood or does not apply here, for operators. Never holds what the hook said.
    pub notes: Vec<String>,
}

impl HookOutput {
    /// The answer within its bounds, and without what does not apply at `event`; each such thing leaves a note.
    #[must_use]
    pub fn fit(mut self, event: HookEvent) -> Self {
        let mut notes = Vec::new();
        let mut drop_unless = |applies: bool, there: bool, what: &str| {
            if there && !applies {
                notes.push(format!("`{what}` does nothing at `{event}`"));
            }
            applies
        };
        let before = is_before(event);
        let rewrites = matches!(event, HookEvent::PreToolUse | HookEvent::PermissionRequest);
        if !drop_unless(rewrites, self.updated_input.is_some(), "updated_input") {
            self.updated_input = None;
        }
        if !drop_unless(before, self.permission.is_some(), "permission_result") {
            self.permission = None;
        }
        if !drop_unless(before, self.classifier.is_some(), "classifier") {
            self.classifier = None;
        }
        if !drop_unless(!before, self.updated_output.is_some(), "updated_output") {
            self.updated_output = None;
        }
        if !drop_unless(!before, self.block.is_some(), "block") {
            self.block = None;
        }
        let keeps = event == HookEvent::ResultPersistence;
        if !drop_unless(keeps, self.persistence.is_some(), "persistence") {
            self.persistence = None;
        }
        self.notes.extend(notes);
        self.bound();
        self
    }

    /// Cuts every text to its bound.
    fn bound(&mut self) {
        for texts in [&mut self.additional_context, &mut self.messages, &mut self.progress] {
            share(texts);
        }
        self.progress.truncate(MAX_PROGRESS);
        self.notes.truncate(MAX_PROGRESS);
        let texts = [
            self.permission.as_mut().map(|permission| &mut permission.message),
            self.stop.as_mut().map(|stop| &mut stop.reason),
            self.block.as_mut(),
            self.classifier.as_mut().map(|classified| &mut classified.reason),
        ];
        for text in texts.into_iter().flatten() {
            *text = cut(text, MAX_TEXT_CHARS);
        }
    }
}

/// Cuts texts so that all of them together keep the bound of one; what has no room goes.
fn share(texts: &mut Vec<String>) {
    let mut room = MAX_TEXT_CHARS;
    for text in texts.iter_mut() {
        *text = cut(text, room);
        room -= text.chars().count();
    }
    texts.retain(|text| !text.is_empty());
}

/// Whether `event` lies before the tool runs, where a refusal can still keep it from running.
pub const fn is_before(event: HookEvent) -> bool {
    matches!(event, HookEvent::PreToolUse | HookEvent::PermissionRequest | HookEvent::PermissionDecision)
}

#[cfg(test)]
mod tests;
