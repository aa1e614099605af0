//! The tool of a call, as far as matchers need to know it.

use serde_json::Value;
use toolplane_records::ids::ToolId;
use toolplane_records::profile::PermissionProfile;
use toolplane_records::vocabulary::{AccessKind, RiskLevel, ToolKind, WriteEffect};

use crate::fit::Certainty;
use crate::path::PathAccess;
use crate::spelling::provider_spelling;
use crate::spelling::within;
use crate::subject::{self, SubjectKind, SubjectSpec, Subjects, Workspace};

/// The tool of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolFacts {
    /// Its id.
    pub tool_id: ToolId,
    /// Its full name, `namespace.name`.
    pub full_name: String,
    /// Its namespace.
    pub namespace: String,
    /// Every other name that leads to it. Deny and ask rules may use them; allow rules may not.
    pub aliases: Vec<String>,
    /// Its kind; none when it is not said.
    pub kind: Option<ToolKind>,
    /// How patterns match its input, e.g. `shell_pattern`; empty when its interface does not say.
    pub permission_matcher: String,
    /// Its risk facts.
    pub profile: Option<PermissionProfile>,
}

impl ToolFacts {
    /// A tool of which nothing is known but its names.
    pub fn named(tool_id: ToolId, full_name: impl Into<String>, namespace: impl Into<String>) -> Self {
        Self {
            tool_id,
            full_name: full_name.into(),
            namespace: namespace.into(),
            aliases: Vec::new(),
            kind: None,
            permission_matcher: String::new(),
            profile: None,
        }
    }

    /// The full name without the namespace.
    pub fn short_name(&self) -> &str {
        let rest = self.full_name.strip_prefix(self.namespace.as_str()).and_then(|rest| rest.strip_prefix('.'));
        rest.unwrap_or(&self.full_name)
    }

    /// The full name from the last part of the namespace on, as people call the tool: `shell.exec` for `local.shell.exec`. None
    /// where that is the full name, and for tools of providers, whose server a rule has to name.
    pub fn called_name(&self) -> Option<&str> {
        if within(&self.namespace, "mcp") {
            return None;
        }
        let rest = self.full_name.strip_prefix(self.namespace.as_str())?;
        let (above, _) = self.namespace.rsplit_once('.').filter(|_| rest.starts_with('.'))?;
        self.full_name.get(above.len() + 1..)
    }

    /// What patterns are compared with: as its interface says, otherwise as its kind suggests.
    pub fn subject_kind(&self) -> Option<SubjectKind> {
        match (self.permission_matcher.as_str(), self.kind) {
            ("shell_pattern", _) | ("", Some(ToolKind::ShellCommand)) => Some(SubjectKind::Command),
            ("path_pattern", _) | ("", Some(ToolKind::FileOperation)) => Some(SubjectKind::Path),
            ("url_pattern", _) => Some(SubjectKind::Url),
            _ => None,
        }
    }

    /// What it declares to touch; none when it declares nothing.
    pub fn access_kinds(&self) -> Option<&[AccessKind]> {
        self.profile.as_ref().map(|profile| profile.access_kinds.as_slice()).filter(|kinds| !kinds.is_empty())
    }

    /// Whether it touches that; unknown when it declares nothing.
    pub fn has_access(&self, kind: AccessKind) -> Certainty {
        self.access_kinds().map(|kinds| kinds.contains(&kind)).into()
    }

    /// Whether it leaves that behind; unknown when it declares nothing.
    pub fn has_effect(&self, effect: WriteEffect) -> Certainty {
        let effects = self.profile.as_ref().map(|profile| profile.write_effects.as_slice());
        effects.filter(|effects| !effects.is_empty()).map(|effects| effects.contains(&effect)).into()
    }

    /// Its declared risk.
    pub fn risk(&self) -> Option<RiskLevel> {
        self.profile.as_ref().map(|profile| profile.risk_level)
    }

    /// Adds the names that lead to a tool beside those its author gave: its name without the namespace, and each name as
    /// providers of function calling spell it. Every list of aliases is completed here, so that no second name is a way around
    /// a deny.
    #[must_use]
    pub fn with_every_name(mut self) -> Self {
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

    /// What an input of this tool names, in a workspace. Nothing is known of it where the tool does not say what kind that is.
    pub fn subjects(&self, input: &Value, workspace: &Workspace) -> Subjects {
        let Some(kind) = self.subject_kind() else { return Subjects::unknown() };
        let fields = self.profile.as_ref().map(|profile| profile.rule_matching_fields.clone()).unwrap_or_default();
        // A tool that does not say whether it writes is taken to.
        let reads = self.has_access(AccessKind::FileWrite) == Certainty::No;
        let access = if reads { PathAccess::Read } else { PathAccess::Write };
        subject::extract(&SubjectSpec { kind, fields, access }, input, workspace)
    }
}
