//! A rule's own examples: calls it must match and calls it must not.
//!
//! A text is a command, path or URL for the pattern in brackets (the name of a tool when there is none), whatever facts and
//! arguments the rule asks for. An object `{ "tool", "input", "facts" }` is a whole call. Scopes do not count.

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use toolplane_matching::SubjectPattern;
use toolplane_records::assurance::CallAssurance;
use toolplane_records::error::FieldViolation;
use toolplane_records::ids::{InvalidId, ProfileId, ToolId, check_id};
use toolplane_records::payload::JsonPayload;
use toolplane_records::profile::PermissionProfile;
use toolplane_records::vocabulary::{AccessKind, Behavior, RiskLevel, ToolKind, WriteEffect};

use super::compiled::Rule;
use crate::call::{CallFacts, SafetyFacts};
use crate::scene::Scene;
use crate::settings::PolicySettings;
use toolplane_matching::ToolFacts;
use toolplane_matching::fit::Fit;
use toolplane_matching::subject::SubjectKind;
use toolplane_matching::tools::{Family, ToolPattern};

/// A whole call as an example. What is left out is unknown.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Example {
    tool: Option<String>,
    input: Option<Box<RawValue>>,
    facts: ExampleFacts,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ExampleFacts {
    read_only: Option<bool>,
    destructive: Option<bool>,
    open_world: Option<bool>,
    sensitive_sink: Option<bool>,
    approval_required: Option<bool>,
    risk: Option<RiskLevel>,
    access: Vec<AccessKind>,
    effects: Vec<WriteEffect>,
    network: Option<String>,
    kind: Option<ToolKind>,
    taints: Option<Vec<String>>,
}

/// Why an example is no call.
#[derive(Debug, thiserror::Error)]
enum ExampleError {
    #[error("must be a text, or an object of `tool`, `input` and `facts`: {0}")]
    Form(serde_json::Error),
    #[error("the name of the tool {0}")]
    ToolName(#[from] InvalidId),
}

/// Every example that does not hold, by its place.
///
/// What a text stands for depends on the tool: where the rule leaves that open, all texts must be of one kind.
pub(super) fn faults(rule: &Rule) -> Vec<FieldViolation> {
    let kinds: Vec<Option<SubjectKind>> = match &rule.matcher().pattern {
        Some(pattern) => kinds(pattern).map(Some).collect(),
        None => vec![None],
    };
    let mut first = None;
    for kind in kinds {
        let faults = faults_of_kind(rule, kind);
        if faults.is_empty() {
            return faults;
        }
        first.get_or_insert(faults);
    }
    first.unwrap_or_default()
}

fn faults_of_kind(rule: &Rule, kind: Option<SubjectKind>) -> Vec<FieldViolation> {
    let record = rule.record();
    let mut faults = Vec::new();
    for (field, examples, wanted) in [("match", &record.matches, true), ("not_match", &record.not_matches, false)] {
        for (index, example) in examples.iter().enumerate() {
            let wrong = match holds(rule, kind, example, wanted) {
                Ok(true) => continue,
                Ok(false) if wanted => "the rule does not surely match this example".to_owned(),
                Ok(false) => "the rule matches this example, or may match it".to_owned(),
                Err(error) => error.to_string(),
            };
            faults.push(FieldViolation { field: format!("{field}[{index}]"), description: wrong });
        }
    }
    faults
}

fn holds(rule: &Rule, kind: Option<SubjectKind>, example: &JsonPayload, wanted: bool) -> Result<bool, ExampleError> {
    let text = example.parse::<String>().ok();
    let call = match &text {
        Some(text) => of_text(rule, kind, text)?,
        None => of_call(rule, example)?,
    };
    // An example is about the text of the rule, independent of who is trusted.
    let settings =
        PolicySettings { untrusted_namespaces: Vec::new(), trust_repositories: true, ..PolicySettings::default() };
    let scene = Scene::new(&settings, &call);
    let fit = scene.alone(rule);
    let fit = if text.is_some() { fit } else { fit.min(scene.conditions_fit(rule)) };
    let surely_not = fit == Fit::No || (rule.behavior() == Behavior::Allow && fit == Fit::Unknown);
    Ok(if wanted { fit == Fit::Yes } else { surely_not })
}

/// The call a text stands for.
fn of_text(rule: &Rule, kind: Option<SubjectKind>, text: &str) -> Result<CallFacts, ExampleError> {
    let input = match kind {
        None => return Ok(CallFacts::new(tool(rule, Some(text), None)?, JsonPayload::of(&json!({})))),
        Some(SubjectKind::Command) => json!({ "command": text }),
        Some(SubjectKind::Path) => json!({ "path": text }),
        Some(SubjectKind::Url) if text.contains("://") => json!({ "url": text }),
        Some(SubjectKind::Url) => json!({ "url": format!("https://{text}") }),
    };
    Ok(CallFacts::new(tool(rule, None, kind)?, JsonPayload::of(&input)))
}

fn kinds(pattern: &SubjectPattern) -> impl Iterator<Item = SubjectKind> {
    let command = pattern.command.as_ref().map(|_| SubjectKind::Command);
    let path = pattern.path.as_ref().map(|_| SubjectKind::Path);
    let url = pattern.url.as_ref().map(|_| SubjectKind::Url);
    command.into_iter().chain(path).chain(url)
}

fn of_call(rule: &Rule, example: &JsonPayload) -> Result<CallFacts, ExampleError> {
    let Example { tool: name, input, facts } = example.parse().map_err(ExampleError::Form)?;
    let input = JsonPayload::from_checked(input.map_or_else(|| "{}".to_owned(), |raw| raw.get().to_owned()));
    let fields = input.to_value();
    let kind = [
        (SubjectKind::Command, &["command", "cmd"][..]),
        (SubjectKind::Path, &["path", "file_path"][..]),
        (SubjectKind::Url, &["url", "uri"][..]),
    ]
    .into_iter()
    .find(|(_, names)| names.iter().any(|name| fields.get(name).is_some()))
    .map(|(kind, _)| kind);
    let mut tool = tool(rule, name.as_deref(), kind)?;
    tool.kind = facts.kind.or(tool.kind);
    if let Some(profile) = profile(&facts) {
        tool.profile = Some(profile);
    }
    let mut call = CallFacts::new(tool, input);
    call.safety = SafetyFacts {
        read_only: facts.read_only.into(),
        destructive: facts.destructive.into(),
        open_world: facts.open_world.into(),
        sensitive_sink: facts.sensitive_sink.into(),
        approval_required: facts.approval_required.into(),
        trusted: Vec::new(),
    };
    call.signals.assurance = facts.taints.map(|taints| CallAssurance { taints, ..CallAssurance::default() });
    Ok(call)
}

fn profile(facts: &ExampleFacts) -> Option<PermissionProfile> {
    let said = facts.risk.is_some() || !facts.access.is_empty() || !facts.effects.is_empty() || facts.network.is_some();
    said.then(|| PermissionProfile {
        risk_level: facts.risk.unwrap_or(RiskLevel::Medium),
        access_kinds: facts.access.clone(),
        write_effects: facts.effects.clone(),
        network_scope: facts.network.clone(),
        ..PermissionProfile::new(ProfileId::from_trusted("example"), RiskLevel::Medium)
    })
}

/// The tool of an example: the one it names, otherwise one the rule is about.
fn tool(rule: &Rule, name: Option<&str>, kind: Option<SubjectKind>) -> Result<ToolFacts, ExampleError> {
    let pattern = &rule.matcher().tools;
    let (name, namespace) = match name {
        Some(name) => {
            check_id(name)?;
            let dotted = if name.starts_with("mcp__") { name.replacen("__", ".", 2) } else { name.to_owned() };
            let namespace = dotted.rsplit_once('.').map_or(String::new(), |(namespace, _)| namespace.to_owned());
            (dotted, namespace)
        }
        None => of_pattern(pattern),
    };
    let mut tool = ToolFacts::named(ToolId::from_trusted(name.replace(':', "_")), name, namespace);
    tool.permission_matcher = match kind {
        Some(SubjectKind::Command) => "shell_pattern".to_owned(),
        Some(SubjectKind::Path) => "path_pattern".to_owned(),
        Some(SubjectKind::Url) => "url_pattern".to_owned(),
        None => String::new(),
    };
    if let ToolPattern::Family(family, _) = pattern {
        tool.kind = match family {
            Family::WebSearch => Some(ToolKind::WebSearch),
            Family::Agent => Some(ToolKind::PeerAgentTool),
            Family::Skill => Some(ToolKind::SkillTool),
            _ => None,
        };
        let access: &[AccessKind] = match family {
            Family::Read | Family::Glob | Family::Grep => &[AccessKind::FileRead],
            Family::Edit => &[AccessKind::FileWrite],
            Family::WebFetch => &[AccessKind::Network],
            _ => &[],
        };
        let effects = if access == [AccessKind::Network] { vec![WriteEffect::None] } else { Vec::new() };
        tool.profile = (!access.is_empty()).then(|| PermissionProfile {
            access_kinds: access.to_vec(),
            write_effects: effects,
            ..PermissionProfile::new(ProfileId::from_trusted("example"), RiskLevel::Medium)
        });
    }
    Ok(tool)
}

/// A name and namespace that the pattern fits.
fn of_pattern(pattern: &ToolPattern) -> (String, String) {
    let split = |name: String| {
        let namespace = name.rsplit_once('.').map_or(String::new(), |(namespace, _)| namespace.to_owned());
        (name, namespace)
    };
    match pattern {
        ToolPattern::Any => split("any.tool".to_owned()),
        ToolPattern::Named(name) | ToolPattern::Family(_, name) => split(name.clone()),
        ToolPattern::Beginning(prefix) => split(format!("{prefix}x")),
        ToolPattern::Namespace(namespace) => (format!("{namespace}.tool"), namespace.clone()),
        ToolPattern::Mcp { server, tool } => {
            let namespace = format!("mcp.{}", server.replace('*', "x"));
            (format!("{namespace}.{}", tool.replace('*', "x")), namespace)
        }
    }
}
