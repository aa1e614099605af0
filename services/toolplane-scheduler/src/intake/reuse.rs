//! Decisions that stand for other calls too, so that the permission service is asked once for many.
//!
//! The service says of a plain decision what of the call it looked at, as HTTP's `Vary` does. Another call that differs in
//! nothing else is given a decision of its own, made from that one, for as long as the same rules are known to be in force.
//! What is not proved to be alike is asked about.

use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use parking_lot::RwLock;
use toolplane_matching::may_speak_of_sandbox;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::decision_request::{CallerContext, DecisionRequest, SafetyClaims};
use toolplane_records::ids::SurfaceId;
use toolplane_records::payload::Digest;
use toolplane_records::time::Timestamp;
use toolplane_records::tool_facts::ToolFacts;
use toolplane_records::vocabulary::Behavior;

/// Most decisions that are kept; one more, and all are forgotten.
const MOST: usize = 4_096;

/// The rules in force, as far as they are known at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RulesInForce {
    /// Digest of everything decisions are made from.
    pub(crate) digest: Arc<str>,
    /// Grows with everything that is heard of the rules.
    pub(crate) changes: u64,
}

/// Knows which rules are in force.
pub(crate) trait KnownRules: Debug + Send + Sync {
    /// The rules in force now, as sure as the permission service is when it decides; nothing where that cannot be known.
    fn rules(&self) -> BoxFuture<'_, Option<RulesInForce>>;
}

/// What of a call its decision was made from, beside what it always is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reach {
    /// The input, or what is hidden of it.
    pub(crate) input: bool,
    pub(crate) session: bool,
    pub(crate) surface: bool,
}

/// The decisions that may be reused.
#[derive(Debug)]
pub(crate) struct ReusableDecisions {
    rules: Arc<dyn KnownRules>,
    hasher: RandomState,
    kept: RwLock<Kept>,
}

/// Decisions under one set of rules.
#[derive(Debug, Default)]
struct Kept {
    /// How much had been heard of the rules when the first of them was asked for.
    changes: u64,
    decisions: HashMap<u64, Reusable>,
}

/// A decision and the calls it stands for.
#[derive(Debug)]
struct Reusable {
    caller: CallerContext,
    tool: Arc<ToolFacts>,
    declaration: Digest,
    safety: SafetyClaims,
    /// What its session was given is known.
    followed: bool,
    reach: Reach,
    decision: PermissionDecision,
}

impl ReusableDecisions {
    /// None so far. They are given as long as `rules` knows that nothing has changed.
    pub(crate) fn new(rules: Arc<dyn KnownRules>) -> Self {
        Self { rules, hasher: RandomState::new(), kept: RwLock::default() }
    }

    /// What is known of the rules now: to be asked before a decision is, and given to [`keep`](Self::keep).
    pub(crate) async fn rules(&self) -> Option<RulesInForce> {
        self.rules.rules().await
    }

    /// The decision about `request` at `now` that follows from one that was made about an earlier call.
    pub(crate) async fn find(&self, request: &DecisionRequest, now: Timestamp) -> Option<PermissionDecision> {
        if !stands_alone(request) {
            return None;
        }
        let rules = self.rules().await?;
        let kept = self.kept.read();
        if kept.changes != rules.changes {
            return None;
        }
        let found = kept.decisions.get(&self.hash(request))?;
        let stands = found.stands_for(request) && *found.decision.policy_digest == *rules.digest;
        stands.then(|| found.reused(request, now))
    }

    /// Keeps `decision`, which was made about `request` after `rules` were known, when it reaches further than this call.
    pub(crate) async fn keep(
        &self,
        request: &DecisionRequest,
        rules: Option<RulesInForce>,
        reach: Option<Reach>,
        decision: &PermissionDecision,
    ) {
        let (Some(rules), Some(reach)) = (rules, reach) else { return };
        let plain = matches!(decision.behavior, Behavior::Allow | Behavior::Deny) && decision.reused_from.is_none();
        // A change that was heard meanwhile may have come before the decision or after it.
        let unchanged = self.rules().await.as_ref() == Some(&rules) && *decision.policy_digest == *rules.digest;
        if reach.input || !plain || !unchanged || !stands_alone(request) {
            return;
        }
        let reusable = Reusable {
            caller: request.caller.clone(),
            tool: Arc::clone(&request.tool.facts),
            declaration: request.tool.declaration_digest,
            safety: request.safety.clone(),
            followed: request.signals.taints.is_some(),
            reach,
            decision: decision.clone(),
        };
        let mut kept = self.kept.write();
        if kept.changes > rules.changes {
            return;
        }
        if kept.changes != rules.changes || kept.decisions.len() >= MOST {
            *kept = Kept { changes: rules.changes, ..Kept::default() };
        }
        kept.decisions.insert(self.hash(request), reusable);
    }

    /// Of what is always looked at, what differs most. Everything is compared afterwards.
    fn hash(&self, request: &DecisionRequest) -> u64 {
        let DecisionRequest { caller, tool, safety, .. } = request;
        let facts = safety.facts.map(|facts| {
            [
                facts.is_read_only,
                facts.is_destructive,
                facts.is_open_world,
                facts.is_idempotent,
                facts.is_concurrency_safe,
            ]
        });
        let CallerContext { tenant, actor_ref, caller_ref, mode, .. } = caller;
        let mode = mode.map(|mode| mode as u8);
        self.hasher.hash_one((tenant, actor_ref, caller_ref, mode, &tool.declaration_digest, facts))
    }
}

/// Nobody but rules, policies and the mode has a say in the decision about this call, and its input cannot ask to leave its
/// sandbox.
fn stands_alone(request: &DecisionRequest) -> bool {
    let DecisionRequest { signals, approval_ref, dry_run, input, .. } = request;
    let silent = signals.is_silent() && approval_ref.is_none();
    silent && !dry_run && !may_speak_of_sandbox(&input.shown)
}

impl Reusable {
    fn stands_for(&self, request: &DecisionRequest) -> bool {
        let DecisionRequest { caller, tool, safety, signals, .. } = request;
        let CallerContext {
            tenant,
            actor_ref,
            caller_ref,
            roles,
            session_ref,
            surface_id,
            surface_policies,
            mode,
            can_ask,
        } = caller;
        let surface = |caller: &CallerContext| {
            caller.surface_id.as_ref().map(SurfaceId::as_str) == surface_id.as_ref().map(SurfaceId::as_str)
        };
        let same_caller = self.caller.tenant == *tenant
            && self.caller.actor_ref == *actor_ref
            && self.caller.caller_ref == *caller_ref
            && self.caller.roles == *roles
            && self.caller.mode == *mode
            && self.caller.can_ask == *can_ask
            && self.caller.surface_policies == *surface_policies
            && (!self.reach.session || self.caller.session_ref == *session_ref)
            && (!self.reach.surface || surface(&self.caller));
        // A rule may be about taints: nothing found is another thing than nothing known.
        let same_session = self.followed == signals.taints.is_some();
        let same_tool = Arc::ptr_eq(&self.tool, &tool.facts) || self.tool == tool.facts;
        same_caller
            && same_session
            && same_tool
            && self.declaration == tool.declaration_digest
            && self.safety == *safety
    }

    /// The decision about another call that it stands for.
    fn reused(&self, request: &DecisionRequest, now: Timestamp) -> PermissionDecision {
        let made = &self.decision;
        let voice = made.source.as_deref().unwrap_or_default();
        PermissionDecision {
            decision_id: request.decision_id(&made.policy_digest, made.behavior, voice),
            invocation_id: request.invocation_id.clone(),
            decided_at: now,
            // What the rules say has no end, or it would stand for its own call alone.
            expires_at: request.deadline_at,
            reused_from: Some(made.decision_id.clone()),
            ..made.clone()
        }
    }
}

#[cfg(test)]
mod tests;
