//! What policies say of calls, and which policies are refused.

mod answers;
mod looks;
mod refused;
mod tightening;
mod unseen;

use serde_json::{Value, json};
use toolplane_matching::ToolFacts;
use toolplane_policy::{CallFacts, CallerFacts, OrgPolicy as _, OrgVerdict, PolicySettings};
use toolplane_records::ids::ToolId;
use toolplane_records::payload::JsonPayload;
use toolplane_records::vocabulary::{Behavior, ToolKind};

use crate::{CedarPolicies, PolicyText};

fn load(text: &str) -> CedarPolicies {
    let loaded = CedarPolicies::load(&[PolicyText::new("org.cedar", text)], None, &PolicySettings::default());
    loaded.unwrap_or_else(|faults| panic!("{faults:#?}"))
}

/// The faults of a text, each as `file:line: rule`.
fn faults(text: &str) -> Vec<String> {
    let loaded = CedarPolicies::load(&[PolicyText::new("org.cedar", text)], None, &PolicySettings::default());
    loaded.err().unwrap_or_default().iter().map(ToString::to_string).collect()
}

/// A call of `files.read_file`, by an agent of the tenant `acme`.
fn reading(input: Value) -> CallFacts {
    let mut tool = ToolFacts::named(ToolId::from_trusted("tool_files_read_file"), "files.read_file", "files");
    tool.kind = Some(ToolKind::FileOperation);
    let mut facts = CallFacts::new(tool, JsonPayload::of(&input));
    facts.caller = CallerFacts {
        tenant: "acme".to_owned(),
        actor: "alice".to_owned(),
        roles: vec!["agent".to_owned()],
        ..CallerFacts::default()
    };
    facts
}

/// A call of `shell.exec`.
fn running(command: &str) -> CallFacts {
    let mut tool = ToolFacts::named(ToolId::from_trusted("tool_shell_exec"), "shell.exec", "local.shell");
    tool.kind = Some(ToolKind::ShellCommand);
    tool.permission_matcher = "shell_pattern".to_owned();
    CallFacts::new(tool, JsonPayload::of(&json!({ "command": command })))
}

fn decide(policies: &str, facts: &CallFacts) -> OrgVerdict {
    load(policies).decide(facts)
}

fn check(policies: &str, facts: &CallFacts, behavior: Behavior, ids: &[&str]) {
    let verdict = decide(policies, facts);
    assert_eq!((verdict.behavior, verdict.policy_ids.as_slice()), (behavior, as_strings(ids).as_slice()), "{policies}");
}

fn as_strings(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}
