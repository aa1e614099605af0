//! `toolplane rules`: what may run without a question, what is asked about, what is refused.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use toolplane_proto::v1;
use toolplane_records::rule::PermissionRule;

use super::connection::Connection;
use super::failure::Failure;
use super::outcome::CommandOutcome;
use super::output::{Output, Table, instant};
use super::spelled::behavior;

mod add;
mod check;
mod condition;
mod expiry;
mod explain;
mod files;
mod remarks;

/// What can be done with rules.
#[derive(Debug, Subcommand)]
pub(crate) enum RulesCommand {
    /// List the rules in force, in the order they are evaluated.
    Ls(LsArgs),
    /// Add stored rules: one as typed here, or those of a file, all of them or none.
    Add(Box<add::AddArgs>),
    /// Check files of rules and their own examples, without a cluster: TOML, JSON, or the settings of a coding agent.
    Check {
        /// The files.
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Revoke a stored rule.
    Revoke {
        /// The rule.
        id: String,
        /// Why, for the record.
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Make the cluster read its configured rules again: it checks them first, then applies all of them or none.
    Reload {
        /// Only check; change nothing.
        #[arg(long)]
        check: bool,
    },
    /// Say what would be decided about a call, and why. Nothing is run or recorded.
    Explain(Box<explain::ExplainArgs>),
}

/// Which rules are listed.
#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    /// Only rules of this source, e.g. `session` or `project_settings`.
    #[arg(long, default_value = "")]
    source: String,
    /// Only rules about this tenant.
    #[arg(long, default_value = "")]
    tenant: String,
    /// With rules that are expired or revoked.
    #[arg(long)]
    all: bool,
}

/// Runs a command that needs no cluster; nothing when it needs one.
pub(crate) fn run_offline(command: &RulesCommand, out: &mut Output) -> Option<Result<CommandOutcome, Failure>> {
    match command {
        RulesCommand::Check { files } => Some(check::run(files, out)),
        _ => None,
    }
}

/// Runs one of the commands.
pub(crate) async fn run(
    command: RulesCommand,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    match command {
        RulesCommand::Ls(args) => list(args, connection, out).await,
        RulesCommand::Add(args) => add::run(*args, connection, out).await,
        RulesCommand::Check { files } => check::run(&files, out),
        RulesCommand::Revoke { id, reason } => revoke(id, reason, connection, out).await,
        RulesCommand::Reload { check } => reload(check, connection, out).await,
        RulesCommand::Explain(args) => explain::run(*args, connection, out).await,
    }
}

async fn list(args: LsArgs, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let mut request = v1::ListRulesRequest {
        source: args.source,
        tenant: args.tenant,
        include_ended: args.all,
        page_size: 1000,
        ..Default::default()
    };
    let mut table = Table::new(&["RULE", "BEHAVIOR", "MATCHER", "SOURCE", "SCOPE", "KEPT IN", "UNTIL", "REASON"]);
    let digest = loop {
        let page = connection.permissions().list_rules(request.clone()).await?.into_inner();
        for rule in page.rules {
            if out.json() {
                out.record::<PermissionRule, _>(rule)?;
            } else {
                table.row(row(&rule));
            }
        }
        if page.next_page_token.is_empty() {
            break page.policy_digest;
        }
        request.page_token = page.next_page_token;
    };
    if !out.json() {
        out.table(&table, "no rules; every call is asked about")?;
        out.note(&format!("policy {digest}"))?;
    }
    Ok(CommandOutcome::Done)
}

fn row(rule: &v1::PermissionRule) -> [String; 8] {
    let shadow = if rule.shadow { " (only watched)" } else { "" };
    let until = match (&rule.revoked_at, &rule.expires_at) {
        (Some(revoked), _) => format!("revoked {}", instant(Some(revoked))),
        (None, Some(expires)) => instant(Some(expires)),
        (None, None) => String::new(),
    };
    [
        rule.rule_id.clone(),
        format!("{}{shadow}", behavior(rule.behavior())),
        describe(rule),
        rule.source.clone(),
        scope(rule.scope.as_ref()),
        rule.origin.clone(),
        until,
        rule.reason.clone(),
    ]
}

/// What a rule matches: its matcher, facts and conditions on arguments.
pub(crate) fn describe(rule: &v1::PermissionRule) -> String {
    let arguments = rule.arguments.iter().map(condition::describe);
    let pin = rule.pin.as_ref().map(|pin| format!("while declared as {}", pin.declaration_digest));
    let parts: Vec<String> =
        std::iter::once(rule.matcher.clone()).chain(rule.facts.iter().cloned()).chain(arguments).chain(pin).collect();
    parts.join(" ")
}

fn scope(scope: Option<&v1::RuleScope>) -> String {
    let Some(scope) = scope else { return String::new() };
    let parts = [
        ("tenant", &scope.tenant),
        ("namespace", &scope.namespace),
        ("actor", &scope.actor),
        ("role", &scope.role),
        ("session", &scope.session),
        ("surface", &scope.surface),
    ];
    let named = parts.iter().filter(|(_, value)| !value.is_empty()).map(|(name, value)| format!("{name}={value}"));
    named.collect::<Vec<_>>().join(" ")
}

async fn revoke(
    id: String,
    reason: String,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let request = v1::RevokeRuleRequest { rule_id: id, reason };
    let answer = connection.permissions().revoke_rule(request).await?.into_inner();
    let rule = answer.rule.ok_or_else(missing)?;
    if out.json() {
        out.record::<PermissionRule, _>(rule)?;
    } else {
        out.line(format!("{}  revoked", rule.rule_id))?;
        out.note(&format!("policy {}", answer.policy_digest))?;
    }
    Ok(CommandOutcome::Done)
}

async fn reload(check: bool, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let request = v1::ReloadRulesRequest { validate_only: check };
    let answer = connection.permissions().reload_rules(request).await?.into_inner();
    if out.json() {
        out.serialized(&serde_json::json!({ "policy_digest": answer.policy_digest, "rules": answer.rules }))?;
    } else {
        let said = if check { "would be in force" } else { "in force" };
        out.line(format!("{} rules {said}", answer.rules))?;
        out.note(&format!("policy {}", answer.policy_digest))?;
    }
    Ok(CommandOutcome::Done)
}

fn missing() -> Failure {
    Failure::Answer("the rule is missing".to_owned())
}
