//! `toolplane rules add`: one rule as typed, or the rules of a file.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use prost_types::Timestamp;
use toolplane_proto::v1;
use toolplane_proto::v1::json_payload::Body;
use toolplane_records::payload::JsonPayload;
use toolplane_records::rule::PermissionRule;

use super::{condition, describe, expiry, files, remarks};
use crate::cli::argument::{ArgumentError, Words};
use crate::cli::connection::Connection;
use crate::cli::failure::Failure;
use crate::cli::outcome::CommandOutcome;
use crate::cli::output::{Output, payload_text};
use crate::cli::spelled::behavior;

/// A rule, or a file of them.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("behavior").args(["allow", "ask", "deny"]).conflicts_with("file"))]
#[command(group = ArgGroup::new("what").args(["matcher", "file"]).required(true))]
pub(crate) struct AddArgs {
    /// What it matches, e.g. `files.*`, `Bash(git diff:*)`, `Read(./secrets/**)` or `mcp__server__tool`.
    #[arg(requires = "behavior")]
    matcher: Option<String>,
    /// What matches runs without a question.
    #[arg(long)]
    allow: bool,
    /// What matches is asked about.
    #[arg(long)]
    ask: bool,
    /// What matches is refused.
    #[arg(long)]
    deny: bool,
    /// Name of the rule in decisions; made up when absent.
    #[arg(long, default_value = "")]
    id: String,
    /// Where it counts as coming from, e.g. `session`, `local_settings`, `project_settings` or `user_settings`.
    #[arg(long, default_value = "project_settings")]
    source: String,
    /// Which calls it is about: `tenant`, `namespace`, `actor`, `role`, `session` or `surface`. May be repeated.
    #[arg(long = "scope", value_name = "KEY=VALUE", value_parser = scope_part)]
    scope: Vec<(String, String)>,
    /// Why; shown with every decision it makes.
    #[arg(long, default_value = "")]
    reason: String,
    /// Until when: a time from now on (`30m`, `12h`, `7d`) or an instant.
    #[arg(long, value_parser = expiry::parse)]
    expires: Option<Timestamp>,
    /// A fact that must hold, e.g. `read_only`, `!open_world` or `risk>=high`. May be repeated.
    #[arg(long = "fact", value_name = "FACT")]
    facts: Vec<String>,
    /// A condition on an argument: `/path=prefix:/tmp`, `/limit=le:100`, `/force=absent`. May be repeated.
    #[arg(long = "arg", value_name = "POINTER=OP:VALUE", value_parser = condition::parse)]
    arguments: Vec<v1::ArgumentCondition>,
    /// An example it must match, or it is refused: a command, path or URL, or a JSON object. May be repeated.
    #[arg(long = "match", value_name = "EXAMPLE")]
    examples: Vec<String>,
    /// An example it must not match. May be repeated.
    #[arg(long = "not-match", value_name = "EXAMPLE")]
    counter_examples: Vec<String>,
    /// Bind the rule to this tool as it is declared now: once it is declared in another way, calls are asked about again. Goes with
    /// `--allow`.
    #[arg(long, value_name = "TOOL", requires = "allow")]
    pin: Option<String>,
    /// Only watch it: it is reported where it would match and never decides.
    #[arg(long)]
    shadow: bool,
    /// The rules of this file (TOML, JSON, or the settings of a coding agent) instead of one typed here.
    #[arg(short = 'f', long)]
    file: Option<PathBuf>,
    /// Only check; change nothing.
    #[arg(long)]
    check: bool,
}

/// Adds the rules, all of them or none.
pub(super) async fn run(args: AddArgs, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let check = args.check;
    let rules = match &args.file {
        Some(file) => files::read(file)?.iter().map(v1::PermissionRule::from).collect(),
        None => {
            let pin = match &args.pin {
                Some(tool) => Some(pin(tool, connection).await?),
                None => None,
            };
            vec![v1::PermissionRule { pin, ..typed(args) }]
        }
    };
    let request = v1::AddRulesRequest { rules, validate_only: check, request_id: uuid::Uuid::now_v7().to_string() };
    let answer = connection.permissions().add_rules(request).await?.into_inner();
    let said = remarks::about(&answer.rules, connection).await;
    for rule in answer.rules {
        if out.json() {
            out.record::<PermissionRule, _>(rule)?;
            continue;
        }
        let done = if check { "would be added" } else { "added" };
        out.line(format!("{}  {done}: {} {}", rule.rule_id, behavior(rule.behavior()), describe(&rule)))?;
    }
    if !out.json() {
        out.note(&format!("policy {}", answer.policy_digest))?;
    }
    said.iter().try_for_each(|remark| out.note(remark))?;
    Ok(CommandOutcome::Done)
}

/// The declaration of a tool as it is now.
async fn pin(tool: &str, connection: &Connection) -> Result<v1::RulePin, Failure> {
    let found = crate::cli::tools::find(tool, connection).await?;
    // Kept with the rule so that a change can be shown; what is not the bytes of the digest is left out.
    let parts = [
        ("declaration", &found.declaration_json),
        ("interface", &found.interface_json),
        ("execution_profile", &found.execution_profile_json),
        ("permission_profile", &found.permission_profile_json),
    ];
    let members = parts.iter().filter_map(|(name, json)| Some(format!("\"{name}\":{}", payload_text(json.as_ref())?)));
    let registration = JsonPayload::from_checked(format!("{{{}}}", members.collect::<Vec<_>>().join(",")));
    let registration = (registration.digest().to_string() == found.digest).then(|| (&registration).into());
    Ok(v1::RulePin { declaration_digest: found.digest, registration })
}

/// The rule of the command line.
fn typed(args: AddArgs) -> v1::PermissionRule {
    let behavior = match (args.allow, args.ask) {
        (true, _) => v1::Behavior::Allow,
        (false, true) => v1::Behavior::Ask,
        (false, false) => v1::Behavior::Deny,
    };
    v1::PermissionRule {
        rule_id: args.id,
        source: args.source,
        behavior: behavior.into(),
        matcher: args.matcher.unwrap_or_default(),
        reason: args.reason,
        facts: args.facts,
        arguments: args.arguments,
        scope: Some(scope(args.scope)),
        expires_at: args.expires,
        r#match: args.examples.iter().map(|example| example_json(example)).collect(),
        not_match: args.counter_examples.iter().map(|example| example_json(example)).collect(),
        shadow: args.shadow,
        ..Default::default()
    }
}

fn scope_part(text: &str) -> Result<(String, String), ArgumentError> {
    const KEYS: [&str; 6] = ["tenant", "namespace", "actor", "role", "session", "surface"];
    match text.split_once('=') {
        Some((key, value)) if KEYS.contains(&key) && !value.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(ArgumentError::NotAScope(Words(KEYS.to_vec()))),
    }
}

fn scope(parts: Vec<(String, String)>) -> v1::RuleScope {
    let mut scope = v1::RuleScope::default();
    for (key, value) in parts {
        match key.as_str() {
            "tenant" => scope.tenant = value,
            "namespace" => scope.namespace = value,
            "actor" => scope.actor = value,
            "role" => scope.role = value,
            "session" => scope.session = value,
            _ => scope.surface = value,
        }
    }
    scope
}

/// An example as JSON: an object as it was typed, anything else as text.
fn example_json(text: &str) -> v1::JsonPayload {
    let is_object = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).is_ok();
    let bytes = if is_object { text.to_owned() } else { serde_json::Value::from(text).to_string() };
    v1::JsonPayload { body: Some(Body::Inline(bytes.into())), ..Default::default() }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        args: AddArgs,
    }

    fn parse(words: &[&str]) -> Result<AddArgs, clap::Error> {
        Line::try_parse_from([&["add"], words].concat()).map(|line| line.args)
    }

    #[test]
    fn a_rule_is_typed_in_one_line() {
        let words = [
            "Bash(git diff:*)",
            "--allow",
            "--source",
            "session",
            "--scope",
            "session=s1",
            "--scope",
            "actor=a=b",
            "--reason",
            "looking is fine",
            "--match",
            "git diff --stat",
            "--not-match",
            r#"{"input":{"command":"git push"}}"#,
            "--fact",
            "!destructive",
            "--arg",
            "/timeout_ms=le:1000",
            "--shadow",
        ];
        let rule = typed(parse(&words).unwrap());
        assert_eq!((rule.matcher.as_str(), rule.behavior()), ("Bash(git diff:*)", v1::Behavior::Allow));
        let scope = rule.scope.clone().unwrap();
        assert_eq!((scope.session.as_str(), scope.actor.as_str()), ("s1", "a=b"));
        assert_eq!(payload_text(rule.r#match.first()).unwrap(), "\"git diff --stat\"");
        assert_eq!(payload_text(rule.not_match.first()).unwrap(), r#"{"input":{"command":"git push"}}"#);
        assert_eq!(rule.facts, ["!destructive"]);
        assert!(rule.shadow && rule.expires_at.is_none());
        assert_eq!(describe(&rule), "Bash(git diff:*) !destructive /timeout_ms=le:1000");
    }

    #[test]
    fn a_rule_says_what_it_does_and_what_it_is_about() {
        assert!(parse(&["Bash"]).is_err(), "no behaviour");
        assert!(parse(&["Bash", "--allow", "--deny"]).is_err(), "two behaviours");
        assert!(parse(&["--allow"]).is_err(), "no matcher");
        assert!(parse(&["Bash", "--allow", "-f", "x.toml"]).is_err(), "both");
        assert!(parse(&["-f", "x.toml"]).is_ok());
        for (flag, value) in [("--scope", "user=x"), ("--scope", "session"), ("--expires", "soon"), ("--arg", "path")] {
            let error = parse(&["Bash", "--deny", flag, value]).unwrap_err().to_string();
            assert!(error.contains(flag), "{error}");
        }
    }
}
