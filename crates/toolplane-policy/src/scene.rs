//! One call as an evaluation sees it: what matchers see of it, and what is trusted of it.

use std::borrow::Cow;

use toolplane_matching::path::PathFact;
use toolplane_matching::subject::{PathSubject, SubjectKind};
use toolplane_matching::target::{Reach, UnlistedPrograms};
use toolplane_matching::{Certainty, Fit, MatchTarget};
use toolplane_records::vocabulary::{Behavior, ReasonType};

pub(crate) use toolplane_matching::target::{TargetPart, What};

use crate::call::{CallFacts, FactName};
use crate::condition::CallInput;
use crate::rule::compiled::Rule;
use crate::settings::PolicySettings;
use toolplane_records::provider::is_list_tool;

/// A call with what is worked out of it once.
#[derive(Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) settings: &'a PolicySettings,
    pub(crate) call: &'a CallFacts,
    /// The author of the tool is not trusted.
    pub(crate) untrusted: bool,
    /// What matchers are compared with.
    pub(crate) target: MatchTarget<'a>,
    input: CallInput<'a>,
}

// === impl Scene ===

impl<'a> Scene<'a> {
    /// Whether the mode `bypass` counts: where the operator lets it, and for what the platform itself asks of a provider that an operator
    /// made. Denies and questions of rules come before any mode.
    pub(crate) fn may_bypass(&self) -> bool {
        self.settings.allow_bypass || is_list_tool(&self.call.tool.tool_id)
    }

    pub(crate) fn new(settings: &'a PolicySettings, call: &'a CallFacts) -> Self {
        Self {
            settings,
            call,
            untrusted: settings.is_untrusted(&call.tool.namespace),
            target: MatchTarget::new(&call.tool, call.subjects_in(settings)),
            input: CallInput::new(&call.input, &call.redacted),
        }
    }

    /// Whether what matchers are compared with comes from the input.
    pub(crate) fn reads_input(&self) -> bool {
        self.target.kind.is_some()
    }

    pub(crate) fn believed(&self, name: FactName) -> Certainty {
        self.call.safety.believed(name, self.untrusted)
    }

    pub(crate) fn conditions_fit(&self, rule: &Rule) -> Fit {
        rule.conditions_fit(self.call, self.untrusted, &self.input)
    }

    /// What of the call the matcher of `rule` is about, its other conditions aside.
    pub(crate) fn reach(&self, rule: &Rule) -> Reach {
        self.target.reach(rule.matcher(), rule.behavior())
    }

    /// The same of a rule whose pattern begins with a program that is nowhere in the call.
    pub(crate) fn reach_unlisted(&self, rule: &Rule, programs: &UnlistedPrograms<'_>) -> Reach {
        self.target.reach_unlisted(rule.matcher(), rule.behavior(), programs)
    }

    /// How well the matcher of `rule` fits one part.
    pub(crate) fn part_fit(&self, rule: &Rule, part: &TargetPart<'_>) -> Fit {
        self.target.part_fit(rule.matcher(), rule.behavior(), part)
    }

    /// The file a command names that the matcher of `rule` fits that well.
    pub(crate) fn named(&self, rule: &Rule, fit: Fit) -> Option<&'a PathSubject> {
        self.target.named(rule.matcher(), rule.behavior(), fit)
    }

    /// How well the matcher of `rule` fits the call if there were no other rule.
    pub(crate) fn alone(&self, rule: &Rule) -> Fit {
        let reach = self.reach(rule);
        if rule.behavior() != Behavior::Allow || reach.whole {
            return reach.fit;
        }
        if !self.target.is_complete() {
            return Fit::No;
        }
        let needed = self.target.parts.iter().filter(|part| part.needs_cover);
        needed.map(|part| self.part_fit(rule, part)).min().unwrap_or(Fit::No)
    }

    /// Whether an allow rule says in so many words that a part out of the ordinary is fine.
    pub(crate) fn names_part(&self, rule: &Rule, part: &TargetPart<'_>) -> bool {
        let Some(pattern) = &rule.matcher().pattern else { return false };
        let kind = if part.by_command { Some(SubjectKind::Path) } else { self.target.kind };
        let named = !part.writes_protected() || pattern.names_protected();
        !pattern.is_any(kind) && named && self.part_fit(rule, part) == Fit::Yes
    }
}

// === parts ===

/// A part as people read it.
pub(crate) fn text_of<'a>(part: &TargetPart<'a>) -> Cow<'a, str> {
    match part.what {
        What::Command(command) => Cow::Borrowed(command.text.as_str()),
        What::Shell(_) => Cow::Borrowed("the command"),
        What::Path(path) => Cow::Borrowed(path.given.as_str()),
        What::Url(Ok(url)) => match url.port {
            Some(port) => Cow::Owned(format!("{}://{}:{port}", url.scheme, url.host)),
            None => Cow::Owned(format!("{}://{}", url.scheme, url.host)),
        },
        What::Url(Err(_)) => Cow::Borrowed("the URL"),
    }
}

/// Why a rule about the tool as a whole does not allow a part: it lies outside the workspace, or is a protected file that would
/// be written.
pub(crate) fn concern(part: &TargetPart<'_>) -> Option<ReasonType> {
    let What::Path(path) = part.what else { return None };
    match &path.fact {
        PathFact::Outside(_) => Some(ReasonType::WorkingDir),
        _ => part.writes_protected().then_some(ReasonType::SafetyCheck),
    }
}

/// Whether a part is an edit of an ordinary file beneath the workspace.
pub(crate) fn is_plain_edit(part: &TargetPart<'_>) -> bool {
    match part.what {
        // Among everything beneath a directory there may be files that are not ordinary.
        What::Path(path) => path.fact.is_inside() && !path.tree && concern(part).is_none(),
        _ => false,
    }
}
