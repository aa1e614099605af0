//! What a person says to a question, and whether that person may.

use toolplane_records::approval::Approval;
use toolplane_records::ids::ApprovalId;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::rule::PermissionRule;
use toolplane_records::vocabulary::{ApprovalState, PermissionOption};

/// Who answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolver {
    /// The name that is kept with the answer; may be empty.
    pub name: String,
    /// The authenticated actor, when authentication names one.
    pub actor: Option<String>,
    /// The authenticated caller; empty without authentication.
    pub caller_ref: String,
    /// Whether a caller may answer about its own calls.
    pub may_be_the_caller: bool,
}

impl Resolver {
    /// Whether this is the one who asked, as far as authentication tells: the same credential, or the same person
    /// behind another one. Without authentication no caller's identity is known.
    pub fn is_the_caller_of(&self, approval: &Approval) -> bool {
        if self.caller_ref.is_empty() || approval.caller_ref.is_empty() {
            return false;
        }
        let same_person = self.actor.as_ref().is_some_and(|actor| *actor == approval.actor_ref);
        same_person || self.caller_ref == approval.caller_ref
    }
}

/// What a person says to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What may happen to the call, and to later ones like it.
    pub option: PermissionOption,
    /// Which suggested update an `always` accepts; the first, which is the narrowest, when empty.
    pub suggestion_id: String,
    /// Input to run in place of the one that was shown.
    pub updated_input: Option<JsonPayload>,
    /// Content added for the model; objects.
    pub content_blocks: Vec<JsonPayload>,
    /// What the person says about it; may be empty.
    pub feedback: String,
    /// Who the person is.
    pub by: Resolver,
    /// Makes the answer repeatable.
    pub request_id: Option<String>,
}

impl Answer {
    /// The state it brings a question into.
    pub fn state(&self) -> ApprovalState {
        if self.option.allows() { ApprovalState::Approved } else { ApprovalState::Rejected }
    }

    /// Whether `settled` is what this answer wanted, even if another person gave it. Words and names do not count,
    /// effects do.
    pub(super) fn agrees_with(&self, settled: &Approval, rules: &[PermissionRule]) -> bool {
        let kept = settled.resolution.as_ref().map_or(&[][..], |decision| &decision.rule_refs);
        if !rules.iter().all(|rule| kept.iter().any(|kept| *kept == rule.rule_id)) {
            return false;
        }

        let chosen = settled.chosen_option.unwrap_or(match settled.state {
            ApprovalState::Approved => PermissionOption::AllowOnce,
            _ => PermissionOption::RejectOnce,
        });
        settled.state == self.state() && chosen == self.option && settled.updated_input == self.updated_input
    }

    pub(super) fn digest(&self, id: &ApprovalId) -> Digest {
        let Self { option, suggestion_id, updated_input, content_blocks, feedback, by, request_id: _ } = self;
        let input = updated_input.as_ref().map(|input| input.digest().hex());
        let blocks: Vec<String> = content_blocks.iter().map(|block| block.digest().hex()).collect();
        let body = (id, option.as_str(), suggestion_id, input, blocks, feedback, &by.name, &by.caller_ref);
        Digest::of(format!("{body:?}").as_bytes())
    }
}
