//! `toolplane rules explain`: what would be decided about a call, and how that comes about.

use clap::Args;
use toolplane_proto::v1;
use toolplane_proto::v1::json_payload::Body;
use toolplane_records::approval::Approval;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::error::ToolError;
use toolplane_records::explanation::DecisionExplanation;
use toolplane_records::hook::ToolHook;

use crate::cli::approvals::suggestion::Suggestion;
use crate::cli::connection::Connection;
use crate::cli::failure::Failure;
use crate::cli::hooks;
use crate::cli::invoke::{Manner, input};
use crate::cli::outcome::CommandOutcome;
use crate::cli::output::{Output, Table};
use crate::cli::spelled::{behavior, word};

/// A call that is not made.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Name, alias or id of the tool.
    tool: String,
    /// The surface to call in; the default one, of every tool as it is now, when absent.
    #[arg(long, env = "TOOLPLANE_SURFACE")]
    surface: Option<String>,
    /// The arguments: JSON, `@file`, or `-` for standard input.
    #[arg(short = 'i', long, default_value = "{}", allow_hyphen_values = true)]
    input: String,
    /// The session the call would belong to.
    #[arg(long)]
    session: Option<String>,
    /// Decide as if no person could answer an approval.
    #[arg(long)]
    no_approver: bool,
    #[command(flatten)]
    manner: Manner,
}

/// Asks, and prints the answer. The ending says whether the call would be let through, perhaps after a question.
pub(super) async fn run(
    args: ExplainArgs,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let model_input = input::read(&args.input, "--input")?;
    let mut spec = v1::InvocationSpec {
        surface_id: args.surface.unwrap_or_default(),
        tool_name: args.tool,
        model_input: Some(v1::JsonPayload { body: Some(Body::Inline(model_input)), ..Default::default() }),
        session_ref: args.session.unwrap_or_default(),
        no_approver: args.no_approver,
        ..Default::default()
    };
    args.manner.apply(&mut spec);
    let request = v1::ExplainInvocationRequest { spec: Some(spec) };
    let answer = connection.invocations().explain_invocation(request).await?.into_inner();
    let ending = match &answer.decision {
        Some(decision) if answer.error.is_none() && decision.behavior() != v1::Behavior::Deny => CommandOutcome::Done,
        _ => CommandOutcome::ToolFailed,
    };
    match out.json() {
        true => json(answer, out)?,
        false => print(&answer, out)?,
    }
    Ok(ending)
}

/// One object of the standard's records.
fn json(answer: v1::ExplainInvocationResponse, out: &mut Output) -> Result<(), Failure> {
    let wrong = |error: toolplane_proto::convert::ConvertError| Failure::Answer(error.to_string());
    let hooks: Result<Vec<ToolHook>, _> = answer.hooks.into_iter().map(ToolHook::try_from).collect();
    let value = Explained {
        decision: answer.decision.map(PermissionDecision::try_from).transpose().map_err(wrong)?,
        explanation: answer.explanation.map(DecisionExplanation::try_from).transpose().map_err(wrong)?,
        approval: answer.approval.map(Approval::try_from).transpose().map_err(wrong)?,
        error: answer.error.map(ToolError::try_from).transpose().map_err(wrong)?,
        hooks: hooks.map_err(wrong)?,
    };
    out.serialized(&value)
}

#[derive(serde::Serialize)]
struct Explained {
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<PermissionDecision>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<DecisionExplanation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<Approval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ToolError>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hooks: Vec<ToolHook>,
}

fn print(answer: &v1::ExplainInvocationResponse, out: &mut Output) -> Result<(), Failure> {
    if let Some(decision) = &answer.decision {
        headline(decision, out)?;
    }
    if let Some(error) = &answer.error {
        out.line(format!("the call would end as {} ({}): {}", error.error_class, error.error_code, error.message))?;
        error
            .field_violations
            .iter()
            .try_for_each(|wrong| out.line(format!("  {}: {}", wrong.field, wrong.description)))?;
    }
    if let Some(explanation) = &answer.explanation {
        parts(&explanation.parts, out)?;
        rules(&explanation.rules, out)?;
        if !explanation.notes.is_empty() {
            out.gap()?;
            out.line("what else counted")?;
            explanation.notes.iter().try_for_each(|note| out.line(format!("  {note}")))?;
        }
    }
    if !answer.hooks.is_empty() {
        out.gap()?;
        out.line("hooks")?;
        hooks::table(&answer.hooks, out)?;
    }
    question(answer, out)?;
    let digest = answer.explanation.as_ref().map(|explanation| explanation.policy_digest.as_str());
    if let Some(digest) = digest.filter(|digest| !digest.is_empty()) {
        out.note(&format!("policy {digest}"))?;
    }
    Ok(())
}

/// `ask  by rule project_settings/1 (project_settings): a person checks commands`.
fn headline(decision: &v1::PermissionDecision, out: &mut Output) -> Result<(), Failure> {
    let reason = decision.reason.clone().unwrap_or_default();
    let by = reason.rule_ref.as_ref().map(|rule| format!(" {rule}")).unwrap_or_default();
    let source = decision.source.as_deref().map(|source| format!(" ({source})")).unwrap_or_default();
    out.line(format!("{}  by {}{by}{source}: {}", behavior(decision.behavior()), reason.r#type, reason.message))?;
    if let Some(path) = &decision.blocked_path {
        out.line(format!("  blocked path  {path}"))?;
    }
    if let Some(mode) = &decision.mode {
        out.line(format!("  mode          {mode}"))?;
    }
    for policy in &decision.policy_refs {
        out.line(format!("  policy        {policy}"))?;
    }
    Ok(())
}

fn parts(parts: &[v1::PartExplanation], out: &mut Output) -> Result<(), Failure> {
    if parts.is_empty() {
        return Ok(());
    }
    let mut table = Table::new(&["PART", "ALONE", "RULE", "WHY"]);
    for part in parts {
        out.point_out(&part.text)?;
        table.row([part.text.clone(), behavior(part.behavior()), part.rule_ref.clone(), part.why.clone()]);
    }
    out.line("")?;
    out.table(&table, "")
}

fn rules(rules: &[v1::RuleExplanation], out: &mut Output) -> Result<(), Failure> {
    out.line("")?;
    let mut table = Table::new(&["FITS", "BEHAVIOR", "MATCHER", "RULE", "SOURCE", "WHY"]);
    for rule in rules {
        let fit = match (rule.decided, rule.shadow) {
            (true, _) => "decided".to_owned(),
            (false, true) => format!("{} (only watched)", word(rule.fit().as_str_name(), "RULE_FIT_")),
            (false, false) => word(rule.fit().as_str_name(), "RULE_FIT_"),
        };
        let (id, source) = (rule.rule_id.clone(), rule.source.clone());
        table.row([fit, behavior(rule.behavior()), rule.matcher.clone(), id, source, rule.why.clone()]);
    }
    match table.is_empty() {
        true => out.line("no rule fits"),
        false => out.table(&table, ""),
    }
}

/// Who would be asked, and what would answer the question from then on.
fn question(answer: &v1::ExplainInvocationResponse, out: &mut Output) -> Result<(), Failure> {
    if let Some(approval) = &answer.approval {
        let options: Vec<&str> = approval.options.iter().map(|option| option.name.as_str()).collect();
        out.gap()?;
        out.line(format!("would be asked in the queue `{}`: {}", approval.queue, options.join(" · ")))?;
    }
    let decision = answer.decision.as_ref();
    let suggested = decision.map(|decision| Suggestion::all(&decision.suggested_updates)).unwrap_or_default();
    if !suggested.is_empty() {
        out.gap()?;
        out.line("would answer it from then on")?;
    }
    suggested.iter().try_for_each(|suggestion| suggestion.print(out))
}
