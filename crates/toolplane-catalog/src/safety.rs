//! Safety facts of one call: what is known about this tool with this very input, and what is not.
//!
//! Nothing is assumed to be safe. A fact that is absent, or whose rule has no answer for the input, takes the standard's
//! fail-closed default and is listed as unknown, so that a permission rule never takes a default for knowledge.

#[cfg(test)]
mod tests;

use std::fmt;

use serde_json::Value;
use toolplane_matching::command::effect::is_read_only;
use toolplane_records::interface::{SafetyFact, ToolInterface};
use toolplane_records::invocation::InputSafety;
use toolplane_records::payload::JsonPayload;

use crate::registration::Registration;

/// The safety facts of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SafetyFactName {
    /// `is_read_only`
    ReadOnly,
    /// `is_concurrency_safe`
    ConcurrencySafe,
    /// `is_destructive`
    Destructive,
    /// `is_open_world`
    OpenWorld,
    /// `is_idempotent`
    Idempotent,
}

impl SafetyFactName {
    /// Every fact.
    pub const ALL: &'static [Self] =
        &[Self::ReadOnly, Self::ConcurrencySafe, Self::Destructive, Self::OpenWorld, Self::Idempotent];

    /// The field's name in the interface.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "is_read_only",
            Self::ConcurrencySafe => "is_concurrency_safe",
            Self::Destructive => "is_destructive",
            Self::OpenWorld => "is_open_world",
            Self::Idempotent => "is_idempotent",
        }
    }
}

impl fmt::Display for SafetyFactName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Safety facts of one input, and which of them are only defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SafetyEvaluation {
    /// The facts; unknown ones hold the fail-closed default.
    pub safety: InputSafety,
    /// Facts that no trusted source states, in the order of [`SafetyFactName::ALL`].
    pub unknown: Vec<SafetyFactName>,
}

/// Finds the safety facts of `input` for the declared tool.
///
/// Defaults of unknown facts: not read-only, not concurrency-safe, not destructive, open-world, not idempotent. A tool known
/// to be read-only is idempotent; a permission profile with `network_scope: none` vouches for not being open-world.
pub fn evaluate_safety(registration: &Registration, input: &JsonPayload) -> SafetyEvaluation {
    let command = classified_text(registration, input);
    let answer = |name| find(registration, name, input, command.as_deref(), SafetyFactName::ALL.len());
    let destructive = answer(SafetyFactName::Destructive);
    let mut read_only = answer(SafetyFactName::ReadOnly);
    if destructive == Some(true) {
        read_only = Some(false);
    }
    let idempotent = answer(SafetyFactName::Idempotent).or(read_only.filter(|known| *known));
    let answers =
        [read_only, answer(SafetyFactName::ConcurrencySafe), destructive, open_world(registration, answer), idempotent];
    let unknown = SafetyFactName::ALL.iter().zip(answers).filter(|(_, answer)| answer.is_none()).map(|(name, _)| *name);
    SafetyEvaluation {
        safety: InputSafety {
            is_read_only: answers[0].unwrap_or(false),
            is_concurrency_safe: answers[1].unwrap_or(false),
            is_destructive: answers[2].unwrap_or(false),
            is_open_world: answers[3].unwrap_or(true),
            is_idempotent: answers[4].unwrap_or(false),
            requires_exclusive_context: !answers[1].unwrap_or(false),
        },
        unknown: unknown.collect(),
    }
}

fn open_world(registration: &Registration, answer: impl Fn(SafetyFactName) -> Option<bool>) -> Option<bool> {
    let scope = registration.permission_profile.as_ref().and_then(|profile| profile.network_scope.as_deref());
    answer(SafetyFactName::OpenWorld).or_else(|| (scope == Some("none")).then_some(false))
}

fn find(
    registration: &Registration,
    name: SafetyFactName,
    input: &JsonPayload,
    command: Option<&str>,
    steps: usize,
) -> Option<bool> {
    match declared(registration.interface.as_ref()?, name)? {
        SafetyFact::Known(known) => Some(*known),
        SafetyFact::Rule(text) => match SafetyRule::parse(text)? {
            SafetyRule::CommandReadOnly => is_read_only(command?),
            SafetyRule::CommandDestructive => is_read_only(command?).map(|read_only| !read_only),
            // Registration refuses rings of `same_as`; the count keeps this total for records that skipped it.
            SafetyRule::SameAs(other) if steps > 0 => find(registration, other, input, command, steps - 1),
            SafetyRule::SameAs(_) => None,
            // Left out is no answer: what that means is the tool's business, unless its schema has a default.
            SafetyRule::Input(field) => input.to_value().get(field)?.as_bool(),
        },
    }
}

/// A rule that finds a fact for each input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SafetyRule<'a> {
    CommandReadOnly,
    CommandDestructive,
    SameAs(SafetyFactName),
    /// What this top-level field of the input says: the fact is a switch of the tool.
    Input(&'a str),
}

impl<'a> SafetyRule<'a> {
    pub(crate) const KNOWN: &'static str =
        "`classifier:command_read_only`, `classifier:command_destructive`, `same_as:<fact>` and `input.<field>`";

    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        match text {
            "classifier:command_read_only" => Some(Self::CommandReadOnly),
            "classifier:command_destructive" => Some(Self::CommandDestructive),
            _ => {
                if let Some(field) = text.strip_prefix("input.") {
                    return (!field.is_empty()).then_some(Self::Input(field));
                }
                let named = text.strip_prefix("same_as:")?;
                SafetyFactName::ALL.iter().find(|name| name.as_str() == named).copied().map(Self::SameAs)
            }
        }
    }

    /// Whether the rule can answer the fact: "destructive" is an alarm and never makes something safe.
    pub(crate) fn answers(self, name: SafetyFactName) -> bool {
        let alarm = |name| matches!(name, SafetyFactName::Destructive | SafetyFactName::OpenWorld);
        match self {
            Self::CommandReadOnly => !alarm(name),
            Self::CommandDestructive => name == SafetyFactName::Destructive,
            Self::SameAs(other) => alarm(name) == alarm(other),
            Self::Input(_) => true,
        }
    }
}

/// The fact as the interface declares it.
pub(crate) fn declared(interface: &ToolInterface, name: SafetyFactName) -> Option<&SafetyFact> {
    match name {
        SafetyFactName::ReadOnly => interface.is_read_only.as_ref(),
        SafetyFactName::ConcurrencySafe => interface.is_concurrency_safe.as_ref(),
        SafetyFactName::Destructive => interface.is_destructive.as_ref(),
        SafetyFactName::OpenWorld => interface.is_open_world.as_ref(),
        SafetyFactName::Idempotent => interface.is_idempotent.as_ref(),
    }
}

/// The top-level input field classifiers look at, from `classifier_input: "input.<field>"`.
pub(crate) fn classified_field(registration: &Registration) -> Option<String> {
    let place = registration.interface.as_ref()?.classifier_input.as_ref()?;
    let place: String = place.parse().ok()?;
    place.strip_prefix("input.").filter(|field| !field.is_empty()).map(str::to_owned)
}

fn classified_text(registration: &Registration, input: &JsonPayload) -> Option<String> {
    let field = classified_field(registration)?;
    match input.to_value() {
        Value::Object(mut fields) => match fields.remove(&field)? {
            Value::String(text) => Some(text),
            _ => None,
        },
        _ => None,
    }
}
