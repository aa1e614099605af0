//! What the names and facts of a tool mean to patterns.

use serde_json::Value;
use toolplane_records::tool_facts::ToolFacts;
use toolplane_records::vocabulary::{AccessKind, ToolKind, WriteEffect};

use crate::fit::Certainty;
use crate::path::PathAccess;
use crate::spelling::provider_spelling;
use crate::spelling::within;
use crate::subject::{self, SubjectKind, SubjectSpec, Subjects, Workspace};

/// How a tool is read by patterns.
pub trait ToolMatching: Sized {
    /// The full name without the namespace.
    fn short_name(&self) -> &str;

    /// The full name from the last part of the namespace on, as people call the tool: `shell.exec` for `local.shell.exec`. None
    /// where that is the full name, and for tools of providers, whose server a rule has to name.
    fn called_name(&self) -> Option<&str>;

    /// What patterns are compared with: as its interface says, otherwise as its kind suggests.
    fn subject_kind(&self) -> Option<SubjectKind>;

    /// Whether it touches that; unknown when it declares nothing.
    fn has_access(&self, kind: AccessKind) -> Certainty;

    /// Whether it leaves that behind; unknown when it declares nothing.
    fn has_effect(&self, effect: WriteEffect) -> Certainty;

    /// Adds the names that lead to a tool beside those its author gave: its name without the namespace, and each name as
    /// providers of function calling spell it. Every list of aliases is completed here, so that no second name is a way around
    /// a deny.
    #[must_use]
    fn with_every_name(self) -> Self;

    /// What an input of this tool names, in a workspace. Nothing is known of it where the tool does not say what kind that is.
    fn subjects(&self, input: &Value, workspace: &Workspace) -> Subjects;
}

impl ToolMatching for ToolFacts {
    fn short_name(&self) -> &str {
        let rest = self.full_name.strip_prefix(self.namespace.as_str()).and_then(|rest| rest.strip_prefix('.'));
        rest.unwrap_or(&self.full_name)
    }

    fn called_name(&self) -> Option<&str> {
        if within(&self.namespace, "mcp") {
            return None;
        }
        let rest = self.full_name.strip_prefix(self.namespace.as_str())?;
        let (above, _) = self.namespace.rsplit_once('.').filter(|_| rest.starts_with('.'))?;
        self.full_name.get(above.len() + 1..)
    }

    fn subject_kind(&self) -> Option<SubjectKind> {
        match (self.permission_matcher.as_str(), self.kind) {
            ("shell_pattern", _) | ("", Some(ToolKind::ShellCommand)) => Some(SubjectKind::Command),
            ("path_pattern", _) | ("", Some(ToolKind::FileOperation)) => Some(SubjectKind::Path),
            ("url_pattern", _) => Some(SubjectKind::Url),
            _ => None,
        }
    }

    fn has_access(&self, kind: AccessKind) -> Certainty {
        self.access_kinds().map(|kinds| kinds.contains(&kind)).into()
    }

    fn has_effect(&self, effect: WriteEffect) -> Certainty {
        let effects = self.profile.as_ref().map(|profile| profile.write_effects.as_slice());
        effects.filter(|effects| !effects.is_empty()).map(|effects| effects.contains(&effect)).into()
    }

    fn with_every_name(mut self) -> Self {
        let given = std::mem::take(&mut self.aliases);
        let short = self.short_name().to_owned();
        let spelt = given.iter().map(|name| provider_spelling(name)).collect::<Vec<_>>();
        let names = [provider_spelling(&self.full_name), short].into_iter().chain(given).chain(spelt);
        for name in names {
            if name != self.full_name && !self.aliases.contains(&name) {
                self.aliases.push(name);
            }
        }
        self
    }

    fn subjects(&self, input: &Value, workspace: &Workspace) -> Subjects {
        let Some(kind) = self.subject_kind() else { return Subjects::unknown() };
        let fields = self.profile.as_ref().map(|profile| profile.rule_matching_fields.clone()).unwrap_or_default();
        // A tool that does not say whether it writes is taken to.
        let reads = self.has_access(AccessKind::FileWrite) == Certainty::No;
        let access = if reads { PathAccess::Read } else { PathAccess::Write };
        subject::extract(&SubjectSpec { kind, fields, access }, input, workspace)
    }
}
