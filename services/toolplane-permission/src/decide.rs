//! From the facts of one call to its decision record. Nothing here is stored or waits.

mod edited;
mod facts;
mod record;
mod standing;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use toolplane_hooks::HookInput;
use toolplane_matching::{ToolFacts, ToolMatching as _};
use toolplane_policy::{CallFacts, LookedAt, Verdict, evaluate, evaluate_and_note};
use toolplane_records::approval::Approval;
use toolplane_records::decision_request::DecisionRequest;
use toolplane_records::explanation::HookVerdict;
use toolplane_records::ids::ApprovalId;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::Behavior;

use crate::rules::Active;
use toolplane_policy::verdict::source;

/// One call on its way to a decision, under one set of rules at one time.
#[derive(Debug)]
pub struct Deciding {
    active: Arc<Active>,
    request: DecisionRequest,
    facts: CallFacts,
    now: Timestamp,
    verdict: Verdict,
    /// What the verdict was made from; everything once hooks were heard.
    looked_at: LookedAt,
}

/// What happens to a call whose verdict is known.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It is decided.
    Decided(Box<toolplane_records::decision::PermissionDecision>),
    /// A person has to be asked; the question carries the decision that asks.
    Ask(Box<Approval>),
}

impl Deciding {
    /// Looks at the call for the first time.
    pub fn new(active: Arc<Active>, mut request: DecisionRequest, now: Timestamp) -> Self {
        // Rules and hooks know the tool by every name, whatever was sent of them.
        let tool = Arc::unwrap_or_clone(request.tool.facts);
        request.tool.facts = Arc::new(ToolFacts::with_every_name(tool));
        let facts = facts::call_facts(&request, active.settings().default_mode);
        let (verdict, looked_at) = evaluate_and_note(active.policy(), &facts, now);
        Self { active, request, facts, now, verdict, looked_at }
    }

    /// What was asked, with every name of the tool.
    pub fn request(&self) -> &DecisionRequest {
        &self.request
    }

    /// What rules see of the call.
    pub fn facts(&self) -> &CallFacts {
        &self.facts
    }

    /// What hooks are told of the call.
    pub fn hook_input(&self) -> HookInput {
        facts::hook_input(&self.request, self.facts.caller.mode)
    }

    /// What follows so far.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// The rules it is decided under.
    pub fn active(&self) -> &Active {
        &self.active
    }

    /// What the verdict was made from, when it stands for other calls too: nobody but rules, policies and the mode had a say in
    /// it, nothing of it ends with time, and no watching rule waits to be told of each call.
    pub fn reach(&self) -> Option<LookedAt> {
        let DecisionRequest { signals, approval_ref, .. } = &self.request;
        let alone = signals.is_silent() && approval_ref.is_none() && self.verdict.shadow.is_empty();
        (alone && !self.wants_a_person() && !self.looked_at.time).then_some(self.looked_at)
    }

    /// Whether a person would have to decide, be there one or not.
    pub fn wants_a_person(&self) -> bool {
        self.verdict.behavior == Behavior::Ask || self.verdict.source == source::NO_APPROVER
    }

    /// Takes in what hooks and classifiers say, and looks again. What that is worth is for the policy to say: hints only
    /// tighten, unless the operator gave the hook a say.
    pub fn hear(
        &mut self,
        verdicts: impl IntoIterator<Item = HookVerdict>,
        classifier: Option<toolplane_records::explanation::ClassifierCheck>,
    ) {
        self.facts.signals.hooks.extend(verdicts);
        if self.facts.signals.classifier.is_none() {
            self.facts.signals.classifier = classifier;
        }
        self.verdict = evaluate(self.active.policy(), &self.facts, self.now);
        self.looked_at = LookedAt::EVERYTHING;
    }

    /// Lets the approval the call has stand, if it is a yes to this very call and the answer to what is asked now. Gives
    /// the question that waits, if the approval is that. Deny stays deny, allow needs no approval.
    pub fn stands(&mut self, approval: &Approval) -> Standing {
        if !self.wants_a_person() {
            return Standing::NotNeeded;
        }
        if standing::is_waiting_for(approval, &self.request, self.active.digest()) && self.request.caller.can_ask {
            return Standing::Waiting;
        }
        if !standing::is_about(approval, &self.request, self.now) {
            return Standing::No;
        }
        // The person has been asked already, so whether one could be asked now does not matter.
        let asked = if self.verdict.behavior == Behavior::Ask {
            self.verdict.clone()
        } else {
            let mut facts = self.facts.clone();
            facts.caller.can_ask = true;
            evaluate(self.active.policy(), &facts, self.now)
        };
        let objects = |rule: &str| self.active.behavior_of(rule).is_some_and(|behavior| behavior != Behavior::Allow);
        let same = asked.behavior == Behavior::Ask && standing::is_same_question(&approval.request, &asked, objects);
        if same { Standing::Yes } else { Standing::No }
    }

    /// Makes what is asked another question than `approval`, which ended without an answer.
    pub fn ask_after(&mut self, approval: ApprovalId) {
        self.request.approval_ref = Some(approval);
    }

    /// Whether `approval` is a question about this very call that still waits, though not the one asked now.
    pub fn supersedes(&self, approval: &Approval) -> bool {
        standing::is_obsolete(approval, &self.request)
    }

    /// The decision, or the question to people that takes its place for `ttl_ms` from now, or until the call itself
    /// ends.
    pub fn outcome(&self, decided_at: Timestamp, ttl_ms: u64) -> Outcome {
        let decision = record::decision(self, decided_at);
        match decision.behavior {
            Behavior::Ask => Outcome::Ask(Box::new(record::park(self, decision, ttl_ms))),
            _ => Outcome::Decided(Box::new(decision)),
        }
    }

    /// The decision that lets the call go on under an approval that [stands](Self::stands).
    pub fn approved(
        &self,
        approval: &Approval,
        decided_at: Timestamp,
    ) -> toolplane_records::decision::PermissionDecision {
        record::approved(self, approval, decided_at)
    }
}

/// What an approval is to a call that is looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// There is no need to ask, or no answer could change anything.
    NotNeeded,
    /// It is the question that waits for its answer.
    Waiting,
    /// It is the answer.
    Yes,
    /// It is an answer to something else.
    No,
}
