//! The tools, calls and rules the tests draw from.

use std::sync::Arc;

use toolplane_matching::ToolFacts;
use toolplane_policy::{
    CallFacts, CallerFacts, LookedAt, OrgPolicy, OrgVerdict, Policy, PolicySettings, RuleSet, SafetyFacts,
};
use toolplane_records::assurance::CallAssurance;
use toolplane_records::decision_request::CallSignals;
use toolplane_records::explanation::{ClassifierCheck, HookVerdict};
use toolplane_records::ids::{ProfileId, ToolId};
use toolplane_records::mode::Mode;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::profile::PermissionProfile;
use toolplane_records::rule::PermissionRule;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{AccessKind, Behavior, RiskLevel, RuleSource, ToolKind, WriteEffect};

/// When everything happens.
pub(crate) const NOW: i64 = 1_000_000;

pub(crate) fn now() -> Timestamp {
    Timestamp::from_millis(NOW)
}

/// One situation: rules, a call, and everything else with a say.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) rules: Vec<PermissionRule>,
    pub(crate) allow_bypass: bool,
    pub(crate) org: Behavior,
    pub(crate) tool: usize,
    /// The command, path or URL; none leaves the field out.
    pub(crate) subject: Option<String>,
    pub(crate) limit: Option<&'static str>,
    pub(crate) label: Option<&'static str>,
    pub(crate) tenant: &'static str,
    pub(crate) actor: &'static str,
    pub(crate) session: &'static str,
    pub(crate) role: &'static str,
    pub(crate) safety: SafetyFacts,
    pub(crate) mode: Mode,
    pub(crate) can_ask: bool,
    pub(crate) hooks: Vec<HookVerdict>,
    pub(crate) classifier: Option<ClassifierCheck>,
    pub(crate) assurance: Option<CallAssurance>,
}

/// A stand-in for the organisation's policies.
#[derive(Debug)]
pub(crate) struct Fixed(pub(crate) Behavior);

impl OrgPolicy for Fixed {
    fn decide(&self, _: &CallFacts) -> OrgVerdict {
        OrgVerdict { behavior: self.0, policy_ids: vec!["org-1".to_owned()], ..OrgVerdict::default() }
    }

    fn looks_at(&self) -> LookedAt {
        LookedAt::NOTHING
    }

    fn digest(&self) -> Digest {
        Digest::of(self.0.as_str().as_bytes())
    }
}

impl Case {
    /// A call of a tool with nothing else in the world.
    pub(crate) fn of(tool: usize, subject: &str) -> Self {
        Self {
            rules: Vec::new(),
            allow_bypass: false,
            org: Behavior::Passthrough,
            tool,
            subject: Some(subject.to_owned()),
            limit: None,
            label: None,
            tenant: "acme",
            actor: "",
            session: "",
            role: "agent",
            safety: SafetyFacts::default(),
            mode: Mode::Default,
            can_ask: true,
            hooks: Vec::new(),
            classifier: None,
            assurance: None,
        }
    }

    pub(crate) fn input(&self) -> String {
        let field = match TOOLS[self.tool].matcher {
            "shell_pattern" => "command",
            "url_pattern" => "url",
            _ => "path",
        };
        let mut members = Vec::new();
        if let Some(subject) = &self.subject {
            members.push(format!("\"{field}\":{}", serde_json::to_string(subject).unwrap()));
        }
        members.extend(self.limit.map(|limit| format!("\"limit\":{limit}")));
        members.extend(self.label.map(|label| format!("\"label\":{label}")));
        format!("{{{}}}", members.join(","))
    }

    pub(crate) fn call(&self) -> CallFacts {
        let mut call = CallFacts::new(TOOLS[self.tool].facts(), JsonPayload::from_checked(self.input()));
        call.caller = CallerFacts {
            tenant: self.tenant.to_owned(),
            actor: self.actor.to_owned(),
            roles: vec![self.role.to_owned()],
            session: self.session.to_owned(),
            mode: self.mode,
            can_ask: self.can_ask,
            ..CallerFacts::default()
        };
        call.safety = self.safety.clone();
        call.signals = CallSignals {
            hooks: self.hooks.clone(),
            classifier: self.classifier.clone(),
            assurance: self.assurance.clone(),
            taints: None,
        };
        call
    }

    pub(crate) fn policy(&self) -> Policy {
        let rules = RuleSet::build(&self.rules).unwrap_or_else(|faults| panic!("{faults:?}"));
        let settings =
            PolicySettings { allow_bypass: self.allow_bypass, trust_repositories: true, ..PolicySettings::default() };
        Policy { rules: Arc::new(rules), settings: Arc::new(settings), org: Some(Arc::new(Fixed(self.org))) }
    }
}

/// A rule with nothing but what must be said.
pub(crate) fn rule(id: &str, behavior: Behavior, source: RuleSource, matcher: &str) -> PermissionRule {
    PermissionRule::new(id.to_owned(), source, behavior, matcher.to_owned())
}

/// A tool of the tests.
pub(crate) struct Tool {
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    pub(crate) namespace: &'static str,
    pub(crate) aliases: &'static [&'static str],
    pub(crate) kind: ToolKind,
    pub(crate) matcher: &'static str,
    pub(crate) access: &'static [AccessKind],
    pub(crate) effects: &'static [WriteEffect],
    pub(crate) risk: Option<RiskLevel>,
}

pub(crate) const SHELL: usize = 0;
pub(crate) const READER: usize = 1;
pub(crate) const WRITER: usize = 2;
pub(crate) const FETCHER: usize = 3;
pub(crate) const NOTES: usize = 4;
pub(crate) const ISSUES: usize = 5;

pub(crate) const TOOLS: [Tool; 7] = [
    Tool {
        id: "tool_shell_exec",
        name: "local.shell.exec",
        namespace: "local.shell",
        aliases: &["shell.exec", "local__shell__exec"],
        kind: ToolKind::ShellCommand,
        matcher: "shell_pattern",
        access: &[AccessKind::FileRead, AccessKind::FileWrite, AccessKind::CodeExecution],
        effects: &[WriteEffect::LocalPersistent],
        risk: Some(RiskLevel::High),
    },
    Tool {
        id: "tool_read",
        name: "files.read_file",
        namespace: "files",
        aliases: &["read_file"],
        kind: ToolKind::FileOperation,
        matcher: "path_pattern",
        access: &[AccessKind::FileRead],
        effects: &[WriteEffect::None],
        risk: Some(RiskLevel::Low),
    },
    Tool {
        id: "tool_write",
        name: "files.write_file",
        namespace: "files",
        aliases: &["write_file"],
        kind: ToolKind::FileOperation,
        matcher: "path_pattern",
        access: &[AccessKind::FileRead, AccessKind::FileWrite],
        effects: &[WriteEffect::LocalPersistent],
        risk: Some(RiskLevel::Medium),
    },
    Tool {
        id: "tool_fetch",
        name: "http.fetch",
        namespace: "http",
        aliases: &[],
        kind: ToolKind::OpenapiOperation,
        matcher: "url_pattern",
        access: &[AccessKind::Network],
        effects: &[WriteEffect::None],
        risk: Some(RiskLevel::Medium),
    },
    Tool {
        id: "tool_notes",
        name: "notes.add",
        namespace: "notes",
        aliases: &["remember"],
        kind: ToolKind::Function,
        matcher: "",
        access: &[],
        effects: &[],
        risk: None,
    },
    Tool {
        id: "tool_issues",
        name: "mcp.github.search_issues",
        namespace: "mcp.github",
        aliases: &["mcp__github__search_issues"],
        kind: ToolKind::McpTool,
        matcher: "",
        access: &[AccessKind::Network],
        effects: &[WriteEffect::None],
        risk: Some(RiskLevel::Low),
    },
    Tool {
        id: "tool_grep",
        name: "mcp.disk.grep_files",
        namespace: "mcp.disk",
        aliases: &["mcp__disk__grep_files"],
        kind: ToolKind::McpTool,
        matcher: "path_pattern",
        access: &[],
        effects: &[],
        risk: None,
    },
];

impl Tool {
    pub(crate) fn facts(&self) -> ToolFacts {
        let mut facts = ToolFacts::named(ToolId::from_trusted(self.id), self.name, self.namespace);
        facts.aliases = self.aliases.iter().map(ToString::to_string).collect();
        facts.kind = Some(self.kind);
        facts.permission_matcher = self.matcher.to_owned();
        facts.profile = self.risk.map(|risk_level| PermissionProfile {
            access_kinds: self.access.to_vec(),
            write_effects: self.effects.to_vec(),
            ..PermissionProfile::new(ProfileId::from_trusted("p"), risk_level)
        });
        facts
    }
}
