//! One call as an evaluation sees it: its parts, and how rules reach them.

use std::borrow::Cow;

use toolplane_records::vocabulary::{Behavior, ReasonType};

use crate::call::{CallFacts, FactName};
use crate::command::{Shell, SimpleCommand};
use crate::condition::Input;
use crate::fit::{Certainty, Fit};
use crate::path::{PathAccess, PathFact, protected};
use crate::rule::{Rule, SubjectPattern};
use crate::settings::PolicySettings;
use crate::subject::{NamedPath, PathSubject, SubjectKind, Subjects};
use crate::tools::{Family, ToolPattern};
use crate::url::{InvalidUrl, UrlFact};

/// A call with what is worked out of it once.
#[derive(Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) settings: &'a PolicySettings,
    pub(crate) call: &'a CallFacts,
    /// The author of the tool is not trusted.
    pub(crate) untrusted: bool,
    pub(crate) subjects: &'a Subjects,
    pub(crate) kind: Option<SubjectKind>,
    /// What must each be allowed, and what only deny and ask rules look at.
    pub(crate) parts: Vec<Part<'a>>,
    input: Input<'a>,
}

/// A piece of a call that is decided about on its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part<'a> {
    pub(crate) what: What<'a>,
    /// Something must allow it; otherwise it only has to escape denial.
    pub(crate) needs_cover: bool,
    /// No pattern can allow it, only a rule about the tool as a whole.
    pub(crate) only_whole: bool,
    /// It is in a command, not an argument of its own.
    pub(crate) by_command: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum What<'a> {
    Command(&'a SimpleCommand),
    /// A shell text in which no command can be told.
    Shell(&'a Shell),
    Path(&'a PathSubject),
    Url(&'a Result<UrlFact, InvalidUrl>),
}

/// What of a call a rule is about, its other conditions aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reach {
    /// About all of the call, whatever its parts.
    pub(crate) whole: bool,
    /// How well: the best fit to any part when it is about parts.
    pub(crate) fit: Fit,
}

/// How a rule can be held against the call.
enum About<'r> {
    Nothing,
    Whole(Fit),
    /// Its pattern, against the call's own subjects.
    Subjects(Fit, &'r SubjectPattern),
    /// A rule for file tools, against what a command redirects to or from and the files it names; without a pattern, against all
    /// of it.
    Redirections(PathAccess, Option<&'r SubjectPattern>),
}

const NOTHING: Reach = Reach { whole: false, fit: Fit::No };

// === impl Scene ===

impl<'a> Scene<'a> {
    pub(crate) fn new(settings: &'a PolicySettings, call: &'a CallFacts) -> Self {
        let subjects = call.subjects_in(settings);
        let kind = call.tool.subject_kind();
        Self {
            settings,
            call,
            untrusted: settings.is_untrusted(&call.tool.namespace),
            subjects,
            kind,
            parts: if kind.is_some() { parts(kind, subjects) } else { Vec::new() },
            input: Input::new(&call.input, &call.redacted),
        }
    }

    pub(crate) fn believed(&self, name: FactName) -> Certainty {
        self.call.safety.believed(name, self.untrusted)
    }

    /// Every subject of the call is among its parts.
    pub(crate) fn is_complete(&self) -> bool {
        self.kind.is_none() || self.subjects.complete()
    }

    pub(crate) fn conditions_fit(&self, rule: &Rule) -> Fit {
        rule.conditions_fit(self.call, self.untrusted, &self.input)
    }

    /// What of the call the matcher of `rule` is about.
    pub(crate) fn reach(&self, rule: &Rule) -> Reach {
        let behavior = rule.behavior();
        match self.about(rule) {
            About::Nothing => NOTHING,
            About::Whole(fit) => Reach { whole: true, fit },
            About::Subjects(tool, pattern) => {
                let best = if self.kind == Some(SubjectKind::Command) && behavior != Behavior::Allow {
                    // What cannot be seen of a text may be what the rule is about.
                    let shells = self.subjects.commands().iter();
                    pattern.command.as_ref().and_then(|pattern| shells.map(|shell| pattern.fit(behavior, shell)).max())
                } else {
                    self.parts.iter().map(|part| own_fit(behavior, pattern, part)).max()
                };
                let unseen = if self.is_complete() || behavior == Behavior::Allow { Fit::No } else { Fit::Unknown };
                Reach { whole: false, fit: best.unwrap_or(Fit::No).max(unseen).min(tool) }
            }
            About::Redirections(access, pattern) => {
                let redirected = self.parts.iter().map(|part| redirection_fit(behavior, access, pattern, part));
                let named = self.subjects.named().iter().map(|file| named_fit(behavior, access, pattern, file));
                Reach { whole: false, fit: redirected.chain(named).max().unwrap_or(Fit::No) }
            }
        }
    }

    /// How well the matcher of `rule` fits one part.
    pub(crate) fn part_fit(&self, rule: &Rule, part: &Part<'_>) -> Fit {
        match self.about(rule) {
            About::Nothing => Fit::No,
            About::Whole(fit) => fit,
            About::Subjects(tool, pattern) => own_fit(rule.behavior(), pattern, part).min(tool),
            About::Redirections(access, pattern) => redirection_fit(rule.behavior(), access, pattern, part),
        }
    }

    /// The file a command names that the matcher of `rule` fits that well.
    pub(crate) fn named(&self, rule: &Rule, fit: Fit) -> Option<&'a PathSubject> {
        let About::Redirections(access, pattern) = self.about(rule) else { return None };
        let fits = |file: &&NamedPath| named_fit(rule.behavior(), access, pattern, file) == fit;
        self.subjects.named().iter().find(fits).map(|file| &file.path)
    }

    /// How well the matcher of `rule` fits the call if there were no other rule.
    pub(crate) fn alone(&self, rule: &Rule) -> Fit {
        let reach = self.reach(rule);
        if rule.behavior() != Behavior::Allow || reach.whole {
            return reach.fit;
        }
        if !self.is_complete() {
            return Fit::No;
        }
        let needed = self.parts.iter().filter(|part| part.needs_cover);
        needed.map(|part| self.part_fit(rule, part)).min().unwrap_or(Fit::No)
    }

    /// Whether an allow rule says in so many words that a part out of the ordinary is fine.
    pub(crate) fn names_part(&self, rule: &Rule, part: &Part<'_>) -> bool {
        let Some(pattern) = &rule.matcher().pattern else { return false };
        let protected = part.concern() == Some(ReasonType::SafetyCheck);
        let kind = if part.by_command { Some(SubjectKind::Path) } else { self.kind };
        !pattern.is_any(kind) && (!protected || pattern.names_protected()) && self.part_fit(rule, part) == Fit::Yes
    }

    fn about<'r>(&self, rule: &'r Rule) -> About<'r> {
        let matcher = rule.matcher();
        let tool = matcher.tools.fit(rule.behavior(), &self.call.tool);
        let pattern = matcher.pattern.as_ref();
        if tool == Fit::No {
            let pattern = pattern.filter(|pattern| !pattern.is_any(Some(SubjectKind::Path)));
            return match (self.kind, &matcher.tools) {
                (Some(SubjectKind::Command), ToolPattern::Family(Family::Read, _)) => {
                    About::Redirections(PathAccess::Read, pattern)
                }
                (Some(SubjectKind::Command), ToolPattern::Family(Family::Edit, _)) => {
                    About::Redirections(PathAccess::Write, pattern)
                }
                _ => About::Nothing,
            };
        }
        let kind = matcher.kind().or(self.kind);
        let Some(pattern) = pattern.filter(|pattern| !pattern.is_any(kind)) else { return About::Whole(tool) };
        let readable = match kind {
            Some(SubjectKind::Command) => pattern.command.is_some(),
            Some(SubjectKind::Path) => pattern.path.is_some(),
            Some(SubjectKind::Url) => pattern.url.is_some(),
            None => false,
        };
        match () {
            () if readable && kind == self.kind => About::Subjects(tool, pattern),
            // Nobody can hold the pattern against this tool.
            () if rule.behavior() == Behavior::Allow => About::Nothing,
            () => About::Whole(Fit::Unknown),
        }
    }
}

fn parts(kind: Option<SubjectKind>, subjects: &Subjects) -> Vec<Part<'_>> {
    let by_command = kind == Some(SubjectKind::Command);
    let part = |what, needs_cover, only_whole| Part { what, needs_cover, only_whole, by_command };
    let mut parts = Vec::new();
    for shell in subjects.commands() {
        let (before, only_whole) = (parts.len(), !shell.is_plain());
        parts.extend(shell.parts().map(|command| part(What::Command(command), true, only_whole)));
        if parts.len() == before {
            parts.push(part(What::Shell(shell), true, true));
        }
    }
    for path in subjects.paths() {
        // A command may read beneath the workspace; what it writes by redirection is an edit.
        let harmless = by_command && path.access == PathAccess::Read && path.fact.is_inside();
        parts.push(part(What::Path(path), !harmless, false));
    }
    parts.extend(subjects.urls().iter().map(|url| part(What::Url(url), true, false)));
    parts
}

fn own_fit(behavior: Behavior, pattern: &SubjectPattern, part: &Part<'_>) -> Fit {
    let fit = match part.what {
        What::Command(_) | What::Shell(_) if part.only_whole && behavior == Behavior::Allow => return Fit::No,
        What::Command(command) => pattern.command.as_ref().map(|pattern| pattern.fit_part(behavior, command)),
        What::Shell(shell) => pattern.command.as_ref().map(|pattern| pattern.fit(behavior, shell)),
        // A pattern of a tool that runs commands is about commands, not about what they redirect to.
        What::Path(_) if part.by_command => None,
        What::Path(path) => pattern.path.as_ref().map(|pattern| pattern.fit(behavior, path)),
        What::Url(Ok(url)) => pattern.url.as_ref().map(|pattern| pattern.fit(behavior, url)),
        What::Url(Err(_)) => Some(Fit::Unknown),
    };
    fit.unwrap_or(Fit::No)
}

fn redirection_fit(behavior: Behavior, access: PathAccess, pattern: Option<&SubjectPattern>, part: &Part<'_>) -> Fit {
    match part.what {
        What::Path(path) if path.access == access => match pattern {
            None => Fit::Yes,
            Some(_) => pattern
                .and_then(|pattern| pattern.path.as_ref())
                .map_or(Fit::No, |path_pattern| path_pattern.fit(behavior, path)),
        },
        _ => Fit::No,
    }
}

/// A deny or an ask against a file that a command names. A rule without a pattern is about every file, but not about words that
/// may be none.
fn named_fit(behavior: Behavior, access: PathAccess, pattern: Option<&SubjectPattern>, file: &NamedPath) -> Fit {
    if behavior == Behavior::Allow || file.path.access != access {
        return Fit::No;
    }
    match (pattern, file.sure) {
        (None, sure) => Fit::from(sure),
        (Some(pattern), sure) => {
            let fit = pattern.path.as_ref().map_or(Fit::No, |pattern| pattern.fit(behavior, &file.path));
            if sure { fit } else { fit.min(Fit::Unknown) }
        }
    }
}

// === impl Part ===

impl<'a> Part<'a> {
    /// The part as people read it.
    pub(crate) fn text(&self) -> Cow<'a, str> {
        match self.what {
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

    /// The path as given, when it is one.
    pub(crate) fn path(&self) -> Option<&'a str> {
        match self.what {
            What::Path(path) => Some(&path.given),
            _ => None,
        }
    }

    /// Why a rule about the tool as a whole does not allow this part: it lies outside the workspace, or is a protected file
    /// that would be written.
    pub(crate) fn concern(&self) -> Option<ReasonType> {
        let What::Path(path) = self.what else { return None };
        match &path.fact {
            PathFact::Outside(_) => Some(ReasonType::WorkingDir),
            PathFact::Inside(inside) if path.access == PathAccess::Write && protected::is_protected(inside) => {
                Some(ReasonType::SafetyCheck)
            }
            PathFact::Inside(_) | PathFact::Invalid(_) => None,
        }
    }

    /// Whether it is an edit of an ordinary file beneath the workspace.
    pub(crate) fn is_plain_edit(&self) -> bool {
        match self.what {
            // Among everything beneath a directory there may be files that are not ordinary.
            What::Path(path) => path.fact.is_inside() && !path.tree && self.concern().is_none(),
            _ => false,
        }
    }
}
