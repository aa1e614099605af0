//! What the client asks for.

use toolplane_lifecycle::{Command, Transition, accept};
use toolplane_records::batch::{Batch, BatchMember, BatchPlace};
use toolplane_records::ids::{ApprovalId, InvocationId};
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::vocabulary::{AbortReason, Behavior, InterruptBehavior};
use toolplane_store::{CommitOutcome, Family};

use super::{Scheduler, waits_for_a_person};
use crate::calls::{self, WantedBatch, WantedCall};
use crate::env::{Env, Mutant};
use crate::message::{Address, Message};
use crate::storage::Draft;

impl Scheduler {
    pub(super) fn submit(&mut self, wanted: &WantedCall, env: &mut Env) {
        let mut wanted = wanted.clone();
        let asked = wanted.id.clone();
        if env.storage.invocation(&wanted.id).is_some() {
            if !env.is_broken(Mutant::SkipDedupe) {
                return self.accepted(&asked, env);
            }
            let fence = env.next_fence();
            wanted.id = InvocationId::from_trusted(format!("{asked}_again{fence}"));
        }
        let Some(transition) = accepted(&wanted, None, env) else { return };
        let mut draft = Draft::default();
        draft.transition(&transition, None);
        if env.storage.commit(draft.into_commit()) == CommitOutcome::Applied
            && self.applied(&transition, None, env).is_err()
        {
            return;
        }
        self.accepted(&asked, env);
    }

    fn accepted(&self, id: &InvocationId, env: &mut Env) {
        self.tell(Address::Client, Message::Accepted(id.clone()), env);
        self.remind(id, env);
    }

    /// Tells the client what the call waits for; a lost message is repeated with the next look.
    fn remind(&self, id: &InvocationId, env: &mut Env) {
        let Some((_, record)) = env.storage.invocation(id) else { return };
        if waits_for_a_person(record.status) {
            self.tell(Address::Client, Message::DecisionWanted(id.clone()), env);
        }
        if let Some(question) = record.pending_input.filter(|question| question.answer.is_none()) {
            self.tell(Address::Client, Message::InputWanted(id.clone(), question.input_id), env);
        }
    }

    /// All calls of a batch, or none.
    pub(super) fn submit_batch(&mut self, wanted: &WantedBatch, env: &mut Env) {
        let mut transitions = Vec::new();
        if env.storage.get::<Batch>(Family::Batch, wanted.id.as_str()).is_none() {
            for (index, (call, _)) in (0..).zip(&wanted.calls) {
                let place = BatchPlace { batch_id: wanted.id.clone(), index };
                transitions.extend(accepted(call, Some(place), env));
            }
            let mut draft = Draft::default();
            draft.put(Family::Batch, wanted.id.as_str(), None, &batch(wanted, env));
            transitions.iter().for_each(|transition| draft.transition(transition, None));
            if env.storage.commit(draft.into_commit()) == CommitOutcome::Applied {
                for transition in &transitions {
                    if self.applied(transition, None, env).is_err() {
                        return;
                    }
                }
            }
        }
        for (call, _) in &wanted.calls {
            self.accepted(&call.id, env);
        }
    }

    pub(super) fn cancel(&mut self, id: &InvocationId, env: &mut Env) {
        let command = Command::RequestCancel {
            requested_by: "client".to_owned(),
            message: String::new(),
            abort_reason: AbortReason::UserInterruption,
        };
        let _ = self.command(id, |_| command.clone(), env);
    }

    pub(super) fn decide(&mut self, id: &InvocationId, yes: bool, env: &mut Env) {
        let behavior = if yes { Behavior::Allow } else { Behavior::Deny };
        let decision = calls::decision(id, behavior, env.clock());
        let command = |record: &Invocation| {
            let approval_id = record.approval_request_ref.clone().unwrap_or_else(|| ApprovalId::from_trusted("none"));
            match yes {
                true => Command::Approve { approval_id, decision: decision.clone(), edit: None },
                false => Command::Reject { approval_id, decision: decision.clone(), expired: false },
            }
        };
        let _ = self.command(id, command, env);
    }

    pub(super) fn provide_input(&mut self, id: &InvocationId, question: &str, env: &mut Env) {
        let command = Command::ProvideInput {
            input_id: question.to_owned(),
            input: Some(JsonPayload::from_checked(&b"\"yes\""[..])),
            by: "client".to_owned(),
        };
        let _ = self.command(id, |_| command.clone(), env);
    }

    pub(super) fn look(&self, id: &InvocationId, env: &mut Env) {
        let Some((_, record)) = env.storage.invocation(id) else { return };
        let result = env.storage.result(id);
        self.tell(Address::Client, Message::Stands(id.clone(), record.status, result), env);
        self.remind(id, env);
    }
}

fn accepted(wanted: &WantedCall, place: Option<BatchPlace>, env: &Env) -> Option<Transition> {
    accept(calls::acceptance(wanted, place), calls::preparation(wanted, env.clock()), env.clock()).ok()
}

fn batch(wanted: &WantedBatch, env: &Env) -> Batch {
    let member = |(call, depends_on): &(WantedCall, Vec<u32>)| BatchMember {
        invocation_id: call.id.clone(),
        tool_name: "tool".to_owned(),
        depends_on: depends_on.clone(),
        sibling_failure_policy: None,
        interrupt_behavior: InterruptBehavior::Block,
        released: false,
        ended: None,
        yield_seq: None,
        canceled_by: None,
        discarded: false,
    };
    Batch {
        schema_version: toolplane_records::schema_version(),
        batch_id: wanted.id.clone(),
        tenant: toolplane_records::ids::TenantId::from_trusted("a"),
        policy: wanted.policy.clone(),
        session_ref: None,
        lock_domain: None,
        request_digest: Digest::of(wanted.id.as_str().as_bytes()),
        idempotency_key: None,
        created_at: env.clock(),
        members: wanted.calls.iter().map(member).collect(),
        next_yield: 0,
        yields: 0,
        ended_at: None,
    }
}
