//! A rule in a form that can be compared with calls.

use toolplane_records::rule::{PermissionRule, RuleScope};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{Behavior, RuleSource};

use crate::call::CallFacts;
use crate::condition::{ArgumentTest, CallInput, FactTest};
use crate::looked_at::LookedAt;
use toolplane_matching::Matcher;
use toolplane_matching::fit::Fit;
use toolplane_matching::subject::SubjectKind;
use toolplane_matching::tools::{Family, ToolPattern};

/// One rule in a form that can be compared with calls.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    pub(super) record: PermissionRule,
    pub(super) matcher: Matcher,
    pub(super) facts: Vec<FactTest>,
    pub(super) arguments: Vec<ArgumentTest>,
}

impl Rule {
    /// The rule as it was written.
    pub fn record(&self) -> &PermissionRule {
        &self.record
    }

    /// Its name, unique in its set.
    pub fn id(&self) -> &str {
        &self.record.rule_id
    }

    /// Where it comes from.
    pub fn source(&self) -> RuleSource {
        self.record.source
    }

    /// What it says.
    pub fn behavior(&self) -> Behavior {
        self.record.behavior
    }

    /// Which calls it is about, whatever the tool.
    pub fn scope(&self) -> &RuleScope {
        &self.record.scope
    }

    /// Which tools, commands, paths and URLs it is about.
    pub fn matcher(&self) -> &Matcher {
        &self.matcher
    }

    /// It only watches.
    pub fn is_shadow(&self) -> bool {
        self.record.shadow
    }

    /// Whether it is in force: neither expired nor revoked.
    pub fn is_in_force(&self, now: Timestamp) -> bool {
        self.record.revoked_at.is_none() && self.record.expires_at.is_none_or(|end| now < end)
    }

    /// Whether the call is in its scope. A call that does not say who or where it is, is in no scope that names one.
    pub fn is_in_scope(&self, call: &CallFacts) -> bool {
        let (scope, caller) = (self.scope(), &call.caller);
        let fits = |wanted: &String, own: &String| wanted.is_empty() || wanted == own;
        fits(&scope.tenant, &caller.tenant)
            && fits(&scope.actor, &caller.actor)
            && fits(&scope.session, &caller.session)
            && fits(&scope.surface, &caller.surface)
            && (scope.role.is_empty() || caller.roles.contains(&scope.role))
            && (scope.namespace.is_empty() || toolplane_matching::tools::within(&call.tool.namespace, &scope.namespace))
    }

    /// Whether it is bound to another declaration than that of the call: it says nothing about this one.
    pub(crate) fn is_pinned_elsewhere(&self, call: &CallFacts) -> bool {
        self.record.pin.as_ref().is_some_and(|pin| call.declaration != Some(pin.declaration_digest))
    }

    /// What it looks at of calls in its scope, beside what its matcher is compared with.
    pub(crate) fn looks_at(&self) -> LookedAt {
        LookedAt {
            input: !self.arguments.is_empty(),
            session: !self.scope().session.is_empty(),
            surface: !self.scope().surface.is_empty() || self.facts.iter().any(FactTest::is_about_surface),
            time: self.record.expires_at.is_some(),
        }
    }

    /// Whether it denies every call of its tools in its tenant, whoever makes it, for good: nothing of a call is looked at beside its tool.
    pub(crate) fn denies_outright(&self) -> bool {
        let RuleScope { tenant: _, namespace: _, actor, role, session, surface } = self.scope();
        let of_everybody = [actor, role, session, surface].into_iter().all(|scope| scope.is_empty());
        let PermissionRule { pin, expires_at, revoked_at, .. } = &self.record;
        let for_good = pin.is_none() && expires_at.is_none() && revoked_at.is_none() && !self.is_shadow();
        let of_every_call = self.matcher.pattern.is_none() && self.facts.is_empty() && self.arguments.is_empty();
        self.behavior() == Behavior::Deny && of_everybody && for_good && of_every_call
    }

    /// Whether it denies reading or editing some paths, and not only watches.
    pub(crate) fn denies_paths(&self) -> bool {
        let files = matches!(self.matcher.tools, ToolPattern::Family(Family::Read | Family::Edit, _));
        let some = self.matcher.pattern.as_ref().is_some_and(|pattern| !pattern.is_any(Some(SubjectKind::Path)));
        files && some && self.behavior() == Behavior::Deny && !self.is_shadow()
    }

    /// Whether it asks for a taint that the call is known to have.
    pub(crate) fn finds_taint(&self, call: &CallFacts) -> bool {
        self.facts.iter().any(|fact| fact.finds_taint(call))
    }

    /// How well its conditions on facts and arguments fit.
    pub(crate) fn conditions_fit(&self, call: &CallFacts, untrusted: bool, input: &CallInput<'_>) -> Fit {
        let facts = self.facts.iter().map(|fact| fact.fit(call, untrusted));
        facts.chain(self.arguments.iter().map(|argument| argument.fit(input))).min().unwrap_or(Fit::Yes)
    }
}
