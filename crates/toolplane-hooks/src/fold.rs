//! From the answers of several hooks to one.
//!
//! - Hooks answer in order; a later one saw what the earlier ones changed. Of two replacements the last counts, and both
//!   are recorded.
//! - `stop` outranks everything. Of hints the strictest counts: deny before ask before allow.
//! - A hook that failed before the call counts as a deny, after it as a wish to withhold the output.
//! - Adding a run leaves the fold as strict or makes it stricter.

use crate::hook_meta::HookMeta;
use crate::run::HookRun;
use toolplane_records::explanation::{ClassifierCheck, HookVerdict};
use toolplane_records::hook::ToolHook;
use toolplane_records::payload::JsonPayload;
use toolplane_records::vocabulary::{Behavior, ClassifierAuthority, HookEvent, PersistenceStrategy};

use crate::failure::HookFailure;
use crate::input::HookInput;
use crate::output::{Classified, HookOutput, is_before, strictness};
use crate::record;
use crate::replacement::Replacement;

/// A text of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookText {
    /// The hook.
    pub hook_id: String,
    /// What it said.
    pub text: String,
}

/// A new input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputUpdate {
    /// The hook.
    pub hook_id: String,
    /// The whole input; redacted fields the hook left alone are still marked.
    pub input: JsonPayload,
    /// Why, in the words of its hint; may be empty.
    pub reason: String,
}

/// A hook that gave no answer that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// The hook.
    pub hook_id: String,
    /// How it failed.
    pub failure: HookFailure,
}

impl Failed {
    /// For people and models: which hook failed, and how. Quotes nothing.
    pub fn message(&self) -> String {
        format!("hook `{}` {}", self.hook_id, self.failure)
    }
}

/// How the bytes of an output may be kept; each later one keeps less than the one before, but for the two in the middle,
/// which forbid different things.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Keeping {
    /// As without hooks.
    #[default]
    AsUsual,
    /// Shown within the inline bounds; nothing goes to the object store.
    NeverPersist,
    /// Kept in the object store; the result only refers to it.
    RefOnly,
    /// Neither shown nor kept: the result holds a mark, or what a hook put there.
    Redact,
    /// Neither shown nor kept, and the result says why.
    Drop,
}

impl Keeping {
    /// What a strategy of the standard asks for.
    pub const fn of(strategy: PersistenceStrategy) -> Self {
        match strategy {
            PersistenceStrategy::Inline | PersistenceStrategy::PreviewAndPersist => Self::AsUsual,
            PersistenceStrategy::NeverPersist => Self::NeverPersist,
            PersistenceStrategy::RefOnly => Self::RefOnly,
            PersistenceStrategy::Redact => Self::Redact,
            PersistenceStrategy::DropWithReason => Self::Drop,
        }
    }

    /// What satisfies both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        use Keeping::{AsUsual, Drop, NeverPersist, Redact, RefOnly};
        match (self, other) {
            (AsUsual, one) | (one, AsUsual) => one,
            (Drop, _) | (_, Drop) | (NeverPersist, RefOnly) | (RefOnly, NeverPersist) => Drop,
            (Redact, _) | (_, Redact) => Redact,
            (one, _) => one,
        }
    }
}

/// What all hooks of one point want together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Folded {
    /// The first wish to end the call.
    pub stop: Option<HookText>,
    /// Permission hints in order, those of failed hooks included. Not those of classifiers.
    pub verdicts: Vec<HookVerdict>,
    /// New inputs in order; the last one counts.
    pub updates: Vec<InputUpdate>,
    /// Context for the model, in order.
    pub additional_context: Vec<HookText>,
    /// For people and logs, in order.
    pub messages: Vec<HookText>,
    /// Progress in order.
    pub progress: Vec<HookText>,
    /// After the call: what the model must be told of the output, in order.
    pub blocks: Vec<HookText>,
    /// The output that replaces the tool's.
    pub updated_output: Option<Replacement>,
    /// How bytes may be kept.
    pub keeping: Keeping,
    /// What the classifiers say together: the strictest of them.
    pub classifier: Option<ClassifierCheck>,
    /// The first hook that failed.
    pub failed: Option<Failed>,
    /// One record per run, in order.
    pub records: Vec<ToolHook>,
}

impl Folded {
    /// The input that counts, when a hook gave one.
    pub fn updated_input(&self) -> Option<&InputUpdate> {
        self.updates.last()
    }

    /// The strictest hint; `passthrough` when there is none.
    pub fn behavior(&self) -> Behavior {
        let hints = self.verdicts.iter().map(|verdict| verdict.behavior);
        hints.max_by_key(|behavior| strictness(*behavior)).unwrap_or(Behavior::Passthrough)
    }

    /// Whether no hook was asked.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
}

/// Folds the runs of one point, in the order the hooks were asked.
pub fn fold(event: HookEvent, input: &HookInput, runs: Vec<HookRun>) -> Folded {
    let mut folded = Folded::default();
    for run in runs {
        folded.records.push(record::of(event, input, &run));
        match run.outcome {
            Ok(output) => folded.take(run.hook, output),
            Err(failure) => folded.fail(event, run.hook, failure),
        }
    }
    folded
}

impl Folded {
    fn take(&mut self, hook: HookMeta, output: HookOutput) {
        let hook_id = hook.hook_id.clone();
        let said = |text: String| HookText { hook_id: hook_id.clone(), text };
        if let Some(stop) = output.stop {
            self.stop.get_or_insert_with(|| said(stop.reason));
        }
        if let Some(input) = output.updated_input {
            let reason = output.permission.as_ref().map(|hint| hint.message.clone()).unwrap_or_default();
            self.updates.push(InputUpdate { hook_id: hook.hook_id.clone(), input, reason });
        }
        self.additional_context.extend(output.additional_context.into_iter().map(said));
        self.messages.extend(output.messages.into_iter().map(said));
        self.progress.extend(output.progress.into_iter().map(said));
        self.blocks.extend(output.block.map(said));
        if let Some(replacement) = output.updated_output {
            self.updated_output = Some(replacement);
        }
        self.keeping = self.keeping.and(output.persistence.map_or(Keeping::AsUsual, Keeping::of));
        match hook.classifier_authority {
            Some(authority) => {
                let hint = output.permission.map(|hint| Classified {
                    behavior: Some(hint.behavior),
                    reason: hint.message,
                    ..Classified::default()
                });
                if let Some(classified) = output.classifier.or(hint) {
                    self.classify(check(&hook, authority, classified));
                }
            }
            None => self.verdicts.extend(output.permission.map(|hint| HookVerdict {
                hook_id: hook.hook_id,
                behavior: hint.behavior,
                message: hint.message,
                authoritative: hook.authoritative,
            })),
        }
    }

    fn fail(&mut self, event: HookEvent, hook: HookMeta, failure: HookFailure) {
        let failed = Failed { hook_id: hook.hook_id, failure };
        if is_before(event) {
            self.verdicts.push(HookVerdict {
                hook_id: failed.hook_id.clone(),
                behavior: Behavior::Deny,
                message: failed.message(),
                authoritative: hook.authoritative,
            });
        } else {
            self.keeping = Keeping::Drop;
        }
        self.failed.get_or_insert(failed);
    }

    fn classify(&mut self, check: ClassifierCheck) {
        // One that is only recorded must not come before one that decides.
        let decides = |check: &ClassifierCheck| check.authority != ClassifierAuthority::Recommend;
        let strict = |check: &ClassifierCheck| match check.behavior.filter(|_| !check.pending) {
            Some(behavior) => strictness(behavior) * 2,
            // Not known yet: more than an allow, less than a question.
            None => strictness(Behavior::Allow) * 2 + 1,
        };
        let weight = |check: &ClassifierCheck| (decides(check), strict(check));
        if self.classifier.as_ref().is_none_or(|earlier| weight(earlier) < weight(&check)) {
            self.classifier = Some(check);
        }
    }
}

fn check(hook: &HookMeta, authority: ClassifierAuthority, said: Classified) -> ClassifierCheck {
    ClassifierCheck {
        classifier_ref: if said.classifier_ref.is_empty() { hook.hook_id.clone() } else { said.classifier_ref },
        pending: said.pending || said.behavior.is_none(),
        confidence: said.confidence,
        reason: said.reason,
        behavior: said.behavior.filter(|_| !said.pending),
        authority,
    }
}

#[cfg(test)]
mod tests;
