//! What is worth knowing about a rule before a person waits for it to take effect.

use serde_json::json;
use toolplane_matching::subject::SubjectKind;
use toolplane_matching::tools::ToolPattern;
use toolplane_matching::{Fit, ToolFacts, ToolMatching as _};
use toolplane_policy::{CallFacts, CallerFacts, Policy, PolicySettings, Rule, RuleSet, explain};
use toolplane_records::payload::JsonPayload;
use toolplane_records::rule::PermissionRule;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{Behavior, RuleFit};

/// What people should know about `added`, a checked rule, among the rules `in_force` and the registered `tools`: that it is about
/// no tool there is, or that others ask about or deny what it allows. One sentence each; empty when there is nothing to say.
pub fn remarks(
    added: &PermissionRule,
    in_force: &[PermissionRule],
    tools: &[ToolFacts],
    now: Timestamp,
) -> Vec<String> {
    let Ok(rule) = Rule::from_record(added) else { return Vec::new() };
    let tools: Vec<ToolFacts> = tools.iter().cloned().map(ToolFacts::with_every_name).collect();
    let meant = |behavior: Behavior| {
        let pattern = &rule.matcher().tools;
        tools.iter().filter(move |tool| pattern.fit(behavior, tool) != Fit::No)
    };
    if tools.is_empty() {
        return Vec::new();
    }
    if meant(added.behavior).next().is_none() {
        // A family is known by what its tools do, and a list does not say that of every tool.
        let family = matches!(rule.matcher().tools, ToolPattern::Family(..));
        if family && tools.iter().any(|tool| tool.subject_kind().is_none()) {
            return Vec::new();
        }
        let name = rule.matcher().tools.to_string();
        return vec![match meant(Behavior::Deny).next() {
            Some(tool) => format!("an allow knows a tool by its full name: write `{}`, not `{name}`", tool.full_name),
            None => format!("no registered tool is called `{name}`; the rule is about none of those there are"),
        }];
    }
    if added.behavior != Behavior::Allow || added.shadow {
        return Vec::new();
    }
    outranked(&rule, in_force, meant(Behavior::Allow), now)
}

/// The rules that ask about or deny a call the allow is surely about, whatever tool it is of.
fn outranked<'t>(
    rule: &Rule,
    in_force: &[PermissionRule],
    tools: impl Iterator<Item = &'t ToolFacts>,
    now: Timestamp,
) -> Vec<String> {
    let others: Vec<PermissionRule> = in_force.iter().filter(|other| other.rule_id != rule.id()).cloned().collect();
    let Ok(rules) = RuleSet::build(&others) else { return Vec::new() };
    let settings = PolicySettings { trust_repositories: true, ..PolicySettings::default() };
    let policy = Policy { settings: settings.into(), ..Policy::of(rules) };
    let mut found: Option<Vec<(String, Behavior)>> = None;
    for tool in tools {
        let (_, explained) = explain(&policy, &sample(rule, tool), now);
        let stricter = explained.rules.into_iter().filter(|other| {
            !other.shadow && other.fit == RuleFit::Yes && matches!(other.behavior, Behavior::Ask | Behavior::Deny)
        });
        let stricter: Vec<(String, Behavior)> = stricter.map(|other| (other.rule_id, other.behavior)).collect();
        match &mut found {
            None => found = Some(stricter),
            Some(found) => found.retain(|other| stricter.contains(other)),
        }
    }
    let says = |(id, behavior): (String, Behavior)| match behavior {
        Behavior::Deny => format!("the rule `{id}` denies this all the same; a deny outranks every allow"),
        _ => format!("the rule `{id}` asks about this all the same; an ask outranks every allow"),
    };
    found.unwrap_or_default().into_iter().map(says).collect()
}

/// A call of `tool` that the rule is about: its first example, or its pattern with something ordinary for what it leaves open.
fn sample(rule: &Rule, tool: &ToolFacts) -> CallFacts {
    let example = rule.record().matches.iter().find_map(|example| example.parse::<String>().ok());
    let pattern = rule.matcher().pattern.as_ref().map(|pattern| filled(pattern.text()));
    let named = rule.matcher().pattern.is_some();
    let text = example.filter(|_| named).or(pattern);
    let input = match tool.subject_kind() {
        Some(SubjectKind::Command) => json!({ field(tool, "command"): text.unwrap_or_else(|| "true".to_owned()) }),
        Some(SubjectKind::Path) => json!({ field(tool, "path"): text.unwrap_or_else(|| "file.txt".to_owned()) }),
        Some(SubjectKind::Url) => {
            let text = text.unwrap_or_else(|| "example.com".to_owned());
            let text = text.strip_prefix("domain:").unwrap_or(&text);
            json!({ field(tool, "url"): if text.contains("://") { text.to_owned() } else { format!("https://{text}/") } })
        }
        None => json!({}),
    };
    let mut call = CallFacts::new(tool.clone(), JsonPayload::of(&input));
    let scope = rule.scope();
    call.caller = CallerFacts {
        tenant: scope.tenant.clone(),
        actor: scope.actor.clone(),
        session: scope.session.clone(),
        surface: scope.surface.clone(),
        roles: Some(scope.role.clone()).filter(|role| !role.is_empty()).into_iter().collect(),
        ..CallerFacts::default()
    };
    call
}

/// The field of the input that rules look at.
fn field(tool: &ToolFacts, usual: &str) -> String {
    let declared = tool.profile.as_ref().and_then(|profile| profile.rule_matching_fields.first());
    declared.filter(|name| !name.contains(['/', '.', '$'])).cloned().unwrap_or_else(|| usual.to_owned())
}

/// A pattern without its open ends.
fn filled(pattern: &str) -> String {
    let closed = pattern.strip_suffix(":*").or_else(|| pattern.strip_suffix(" *")).unwrap_or(pattern);
    closed.trim_start_matches("./").replace("**", "x").replace(['*', '?'], "x")
}

#[cfg(test)]
mod tests {
    use toolplane_records::ids::ToolId;
    use toolplane_records::vocabulary::{RuleSource, ToolKind};

    use super::super::text::bare;
    use super::*;

    fn tool(name: &str, namespace: &str, kind: ToolKind) -> ToolFacts {
        let tool = ToolFacts::named(ToolId::from_trusted(name.replace('.', "_")), name, namespace);
        ToolFacts { kind: Some(kind), ..tool }
    }

    fn rule(id: &str, behavior: Behavior, matcher: &str) -> PermissionRule {
        bare(id.to_owned(), behavior, matcher, RuleSource::ProjectSettings, "")
    }

    fn check(added: &PermissionRule, in_force: &[PermissionRule], expected: &[&str]) {
        let tools = [
            tool("local.shell.exec", "local.shell", ToolKind::ShellCommand),
            tool("files.read_file", "files", ToolKind::FileOperation),
        ];
        let found = remarks(added, in_force, &tools, Timestamp::from_millis(0));
        assert_eq!(found.len(), expected.len(), "{}: {found:?}", added.matcher);
        for (said, wanted) in found.iter().zip(expected) {
            assert!(said.contains(wanted), "{}: {said}", added.matcher);
        }
    }

    #[test]
    fn a_family_is_not_called_empty_while_what_a_tool_does_is_not_known() {
        let fetch = [tool("http.fetch", "http", ToolKind::Custom)];
        let said = |matcher: &str| {
            remarks(&rule("new", Behavior::Deny, matcher), &[], &fetch, Timestamp::from_millis(0)).join(" ")
        };
        assert_eq!(said("WebFetch(domain:localhost)"), "");
        assert!(said("Bsh(ls)").contains("no registered tool is called `Bsh`"));
    }

    #[test]
    fn an_allow_that_others_outrank_is_told_by_whom() {
        let allow = |matcher: &str| rule("new", Behavior::Allow, matcher);
        let whole = rule("commands", Behavior::Ask, "shell.exec");
        check(&allow("Bash(wc:*)"), std::slice::from_ref(&whole), &["`commands` asks"]);
        check(&allow("shell.exec"), std::slice::from_ref(&whole), &["`commands` asks"]);
        check(&allow("Bash(rm x)"), &[rule("no", Behavior::Deny, "Bash(rm:*)")], &["`no` denies"]);
        check(&allow("Read(./docs/**)"), &[rule("r", Behavior::Ask, "Read(./docs/**)")], &[]);
        check(&allow("files.read_file(docs/*)"), &[rule("r", Behavior::Deny, "files.*")], &["`r` denies"]);
        // Others are in force beside it, or only watch, or are about another caller.
        check(&allow("Bash(wc:*)"), &[rule("no", Behavior::Deny, "Bash(rm:*)")], &[]);
        check(&allow("Bash(wc:*)"), &[PermissionRule { shadow: true, ..whole.clone() }], &[]);
        let mut other = whole.clone();
        other.scope.actor = "bob".to_owned();
        check(&allow("Bash(wc:*)"), &[other], &[]);
        check(&rule("new", Behavior::Deny, "Bash(wc:*)"), &[whole], &[]);
    }

    #[test]
    fn a_name_of_no_tool_is_told() {
        check(&rule("new", Behavior::Allow, "shell.run"), &[], &["no registered tool is called `shell.run`"]);
        check(&rule("new", Behavior::Deny, "http.*"), &[], &["no registered tool"]);
        check(&rule("new", Behavior::Allow, "exec"), &[], &["write `local.shell.exec`"]);
        for known in ["shell.exec", "local.shell.exec", "files.*", "Bash(ls)", "*"] {
            check(&rule("new", Behavior::Allow, known), &[], &[]);
        }
        let none = remarks(&rule("new", Behavior::Allow, "x.y"), &[], &[], Timestamp::from_millis(0));
        assert!(none.is_empty(), "where no tool is registered yet, nothing is known: {none:?}");
    }
}
