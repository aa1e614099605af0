//! One call as matchers see it: its tool and what its input names, part by part.

use toolplane_records::tool_facts::ToolFacts;
use toolplane_records::vocabulary::Behavior;

use crate::command::{Shell, SimpleCommand};
use crate::fit::Fit;
use crate::matcher::{Matcher, SubjectPattern};
use crate::path::{PathAccess, PathFact};
use crate::subject::{NamedPath, PathSubject, SubjectKind, Subjects};
use crate::tool::ToolMatching as _;
use crate::tools::{Family, ToolPattern};
use crate::url::{InvalidUrl, UrlFact};

#[cfg(test)]
mod tests;
mod unlisted;

pub use unlisted::UnlistedPrograms;

/// What matchers are compared with.
#[derive(Debug)]
pub struct MatchTarget<'a> {
    /// The tool.
    pub tool: &'a ToolFacts,
    /// What the input names.
    pub subjects: &'a Subjects,
    /// The kind of what the input names; none where the tool does not say.
    pub kind: Option<SubjectKind>,
    /// What must each be allowed, and what only deny and ask rules look at.
    pub parts: Vec<TargetPart<'a>>,
}

/// A piece of a call that is decided about on its own.
#[derive(Clone, Copy, Debug)]
pub struct TargetPart<'a> {
    /// The piece.
    pub what: What<'a>,
    /// Something must allow it; otherwise it only has to escape denial.
    pub needs_cover: bool,
    /// No pattern can allow it, only a rule about the tool as a whole.
    pub only_whole: bool,
    /// It is in a command, not an argument of its own.
    pub by_command: bool,
}

/// What a part is.
#[derive(Clone, Copy, Debug)]
pub enum What<'a> {
    /// One command of a shell text.
    Command(&'a SimpleCommand),
    /// A shell text in which no command can be told.
    Shell(&'a Shell),
    /// A path.
    Path(&'a PathSubject),
    /// A URL.
    Url(&'a Result<UrlFact, InvalidUrl>),
}

/// What of a call a matcher is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// About all of the call, whatever its parts.
    pub whole: bool,
    /// How well: the best fit to any part when it is about parts.
    pub fit: Fit,
}

/// How a matcher can be compared with the call.
enum About<'r> {
    Nothing,
    Whole(Fit),
    /// Its pattern, against the call's own subjects.
    Subjects(Fit, &'r SubjectPattern),
    /// A matcher for file tools, against what a command redirects to or from and the files it names; without a pattern, against
    /// all of it.
    Redirections(PathAccess, Option<&'r SubjectPattern>),
}

const NOTHING: Reach = Reach { whole: false, fit: Fit::No };

// === impl MatchTarget ===

impl<'a> MatchTarget<'a> {
    /// A call of `tool` whose input names `subjects`.
    pub fn new(tool: &'a ToolFacts, subjects: &'a Subjects) -> Self {
        let kind = tool.subject_kind();
        Self { tool, subjects, kind, parts: if kind.is_some() { parts(kind, subjects) } else { Vec::new() } }
    }

    /// Every subject of the call is among its parts.
    pub fn is_complete(&self) -> bool {
        self.kind.is_none() || self.subjects.complete()
    }

    /// What of the call `matcher` is about under a rule of that behaviour.
    pub fn reach(&self, matcher: &Matcher, behavior: Behavior) -> Reach {
        match self.about(matcher, behavior) {
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

    /// How well `matcher` fits one part.
    pub fn part_fit(&self, matcher: &Matcher, behavior: Behavior, part: &TargetPart<'_>) -> Fit {
        match self.about(matcher, behavior) {
            About::Nothing => Fit::No,
            About::Whole(fit) => fit,
            About::Subjects(tool, pattern) => own_fit(behavior, pattern, part).min(tool),
            About::Redirections(access, pattern) => redirection_fit(behavior, access, pattern, part),
        }
    }

    /// The file a command names that `matcher` fits that well.
    pub fn named(&self, matcher: &Matcher, behavior: Behavior, fit: Fit) -> Option<&'a PathSubject> {
        let About::Redirections(access, pattern) = self.about(matcher, behavior) else { return None };
        let fits = |file: &&NamedPath| named_fit(behavior, access, pattern, file) == fit;
        self.subjects.named().iter().find(fits).map(|file| &file.path)
    }

    fn about<'r>(&self, matcher: &'r Matcher, behavior: Behavior) -> About<'r> {
        let tool = matcher.tools.fit(behavior, self.tool);
        let pattern = matcher.pattern.as_ref();
        if tool == Fit::No {
            let pattern = pattern.filter(|pattern| !pattern.is_any(Some(SubjectKind::Path)));
            return match by_command(&matcher.tools, self.kind) {
                Some(access) => About::Redirections(access, pattern),
                None => About::Nothing,
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
            // The pattern cannot be compared with calls of this tool.
            () if behavior == Behavior::Allow => About::Nothing,
            () => About::Whole(Fit::Unknown),
        }
    }
}

/// What a matcher for file tools is about in a tool that runs commands: the files these read or write.
pub(crate) fn by_command(tools: &ToolPattern, kind: Option<SubjectKind>) -> Option<PathAccess> {
    match (kind, tools) {
        (Some(SubjectKind::Command), ToolPattern::Family(Family::Read, _)) => Some(PathAccess::Read),
        (Some(SubjectKind::Command), ToolPattern::Family(Family::Edit, _)) => Some(PathAccess::Write),
        _ => None,
    }
}

fn parts(kind: Option<SubjectKind>, subjects: &Subjects) -> Vec<TargetPart<'_>> {
    let by_command = kind == Some(SubjectKind::Command);
    let part = |what, needs_cover, only_whole| TargetPart { what, needs_cover, only_whole, by_command };
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

fn own_fit(behavior: Behavior, pattern: &SubjectPattern, part: &TargetPart<'_>) -> Fit {
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

fn redirection_fit(
    behavior: Behavior,
    access: PathAccess,
    pattern: Option<&SubjectPattern>,
    part: &TargetPart<'_>,
) -> Fit {
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

impl<'a> TargetPart<'a> {
    /// The path as given, when it is one.
    pub fn path(&self) -> Option<&'a str> {
        match self.what {
            What::Path(path) => Some(&path.given),
            _ => None,
        }
    }

    /// Whether it would write a protected path beneath the workspace.
    pub fn writes_protected(&self) -> bool {
        let What::Path(path) = self.what else { return false };
        match &path.fact {
            PathFact::Inside(inside) => {
                path.access == PathAccess::Write && toolplane_records::workspace::protection(inside).is_some()
            }
            PathFact::Outside(_) | PathFact::Invalid(_) => false,
        }
    }
}
