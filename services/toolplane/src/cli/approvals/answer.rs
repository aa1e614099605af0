//! `toolplane approvals approve` and `reject`: one answer to one question, once or for all that is like it.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use clap::Args;
use toolplane_proto::v1;
use toolplane_proto::v1::json_payload::Body;
use toolplane_records::approval;

use super::missing;
use super::suggestion::Suggestion;
use crate::cli::advised;
use crate::cli::connection::Connection;
use crate::cli::failure::Failure;
use crate::cli::invoke::input;
use crate::cli::outcome::CommandOutcome;
use crate::cli::output::Output;
use crate::cli::spelled::{self, word};

/// A yes.
#[derive(Debug, Args)]
pub(crate) struct ApproveArgs {
    #[command(flatten)]
    answer: AnswerArgs,
    /// Run this input instead of the one that was shown: JSON, `@file`, or `-`. What is left as `[redacted]` stays as it is. Allowed
    /// only with an answer for once: a rule would be about the original input shown.
    #[arg(short = 'i', long, value_name = "JSON", allow_hyphen_values = true, conflicts_with = "always")]
    input: Option<String>,
}

/// What every answer may say.
#[derive(Debug, Args)]
pub(crate) struct AnswerArgs {
    /// The approval.
    id: String,
    /// From now on: adds the suggested rule, so that the same is not asked again.
    #[arg(long)]
    always: bool,
    /// Which suggested rule; the narrowest when absent.
    #[arg(long, value_name = "ID", requires = "always")]
    suggestion: Option<String>,
    /// Add the rule without asking back.
    #[arg(long)]
    yes: bool,
    /// What you say to it; it is kept with the decision and told to the agent.
    #[arg(long, default_value = "")]
    feedback: String,
    /// Who answers; counts only where the credential names no actor.
    #[arg(long = "as", env = "USER", default_value = "")]
    who: String,
}

/// Lets the call run.
pub(super) async fn approve(
    args: ApproveArgs,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let edited = args.input.as_deref().map(|input| input::read(input, "--input")).transpose()?;
    let edited = edited.map(|input| v1::JsonPayload { body: Some(Body::Inline(input)), ..Default::default() });
    resolve(args.answer, v1::Behavior::Allow, edited, connection, out).await
}

/// Refuses the call.
pub(super) async fn reject(
    args: AnswerArgs,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    resolve(args, v1::Behavior::Deny, None, connection, out).await
}

async fn resolve(
    args: AnswerArgs,
    behavior: v1::Behavior,
    updated_input: Option<v1::JsonPayload>,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let rule = match args.always {
        true => Some(accepted_rule(&args, behavior, connection, out).await?),
        false => None,
    };
    let request = v1::ResolveApprovalRequest {
        approval_id: args.id,
        request_id: uuid::Uuid::now_v7().to_string(),
        behavior: behavior.into(),
        feedback: args.feedback,
        resolved_by: args.who,
        option: option(behavior, args.always).into(),
        updated_input,
        suggestion_id: rule.as_ref().map(|rule| rule.suggestion_id.clone()).unwrap_or_default(),
        ..Default::default()
    };
    let approval = connection.permissions().resolve_approval(request).await?.into_inner().approval;
    let approval = approval.ok_or_else(missing)?;
    // Only now it is true: the cluster may have refused the answer.
    if let Some(rule) = &rule {
        out.note("added the rule")?;
        rule.note(out)?;
    }
    if out.json() {
        out.record::<approval::Approval, _>(approval)?;
    } else {
        let state = word(approval.state().as_str_name(), "APPROVAL_STATE_");
        out.line(format!("{}  {state}", approval.approval_id))?;
        let watch = advised::command(format_args!("watch {}", approval.invocation_id));
        out.note(&format!("follow the call with `{watch}`"))?;
    }
    Ok(CommandOutcome::Done)
}

fn option(behavior: v1::Behavior, always: bool) -> v1::PermissionOption {
    match (behavior == v1::Behavior::Allow, always) {
        (true, false) => v1::PermissionOption::AllowOnce,
        (true, true) => v1::PermissionOption::AllowAlways,
        (false, false) => v1::PermissionOption::RejectOnce,
        (false, true) => v1::PermissionOption::RejectAlways,
    }
}

/// The rule an `always` adds. On a terminal it is shown first, and asked whether that is meant; not where the question is settled,
/// because then there is nothing to agree to.
async fn accepted_rule(
    args: &AnswerArgs,
    behavior: v1::Behavior,
    connection: &Connection,
    out: &Output,
) -> Result<Suggestion, Failure> {
    let request = v1::GetApprovalRequest { approval_id: args.id.clone(), ..Default::default() };
    let approval = connection.permissions().get_approval(request).await?.into_inner().approval.ok_or_else(missing)?;
    let suggestion = choose(&approval, behavior, args.suggestion.as_deref())?;
    let open = approval.state() == v1::ApprovalState::Pending;
    if open && !args.yes && io::stdin().is_terminal() && out.terminal() {
        out.note("this adds the rule")?;
        suggestion.note(out)?;
        if !agreed()? {
            return Err(Failure::Local("nothing was answered".to_owned()));
        }
    }
    Ok(suggestion)
}

/// The suggestion that was named, or the one that goes with this answer. Suggestions are written as they would allow; a no for
/// always turns them round.
fn choose(approval: &v1::Approval, behavior: v1::Behavior, named: Option<&str>) -> Result<Suggestion, Failure> {
    let wanted = spelled::behavior(behavior);
    let offered =
        approval.options.iter().find(|offered| offered.kind() == option(behavior, true)).ok_or_else(|| {
            let rule = "this answer is not offered for always";
            let show = advised::command(format_args!("approvals show {}", approval.approval_id));
            Failure::Usage(format!("`{}`: {rule}; `{show}` lists the answers", approval.approval_id))
        })?;
    let id = named.unwrap_or(&offered.suggestion_id);
    let updates =
        approval.request.as_ref().map(|request| Suggestion::all(&request.suggested_updates)).unwrap_or_default();
    match updates.iter().find(|suggestion| suggestion.suggestion_id == id) {
        Some(suggestion) => Ok(suggestion.turned(&wanted)),
        None => {
            let ids: Vec<&str> = updates.iter().map(|suggestion| suggestion.suggestion_id.as_str()).collect();
            let there = ids.join(", ");
            Err(Failure::Usage(format!("`{}` suggests no rule `{id}`; there is {there}", approval.approval_id)))
        }
    }
}

fn agreed() -> Result<bool, Failure> {
    write!(io::stderr(), "add it? [y/N] ")?;
    io::stderr().flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suggestion(id: &str) -> v1::JsonPayload {
        let json = format!(r#"{{"suggestion_id":"{id}","behavior":"allow","rules":[{{"matcher":"Bash(ls)"}}]}}"#);
        v1::JsonPayload { body: Some(Body::Inline(json.into())), ..Default::default() }
    }

    fn approval(always: &[v1::PermissionOption]) -> v1::Approval {
        let suggested_updates = vec![suggestion("s1"), suggestion("s2")];
        let request = v1::PermissionDecision { suggested_updates, ..Default::default() };
        let options = always.iter().map(|&kind| v1::ApprovalOption {
            kind: kind.into(),
            suggestion_id: "s1".to_owned(),
            ..Default::default()
        });
        let options = options.collect();
        v1::Approval { approval_id: "appr_1".to_owned(), request: Some(request), options, ..Default::default() }
    }

    #[test]
    fn always_takes_the_rule_of_its_option_unless_told() {
        let approval = approval(&[v1::PermissionOption::AllowAlways, v1::PermissionOption::RejectAlways]);
        let chosen = |behavior, named| choose(&approval, behavior, named).map(|chosen| chosen.rules());
        assert_eq!(chosen(v1::Behavior::Allow, None).unwrap(), "allow Bash(ls)");
        assert_eq!(chosen(v1::Behavior::Deny, None).unwrap(), "deny Bash(ls)");
        assert_eq!(choose(&approval, v1::Behavior::Allow, Some("s2")).unwrap().suggestion_id, "s2");
        let error = chosen(v1::Behavior::Allow, Some("s3")).unwrap_err().to_string();
        assert!(error.contains("s1, s2"), "{error}");
    }

    #[test]
    fn what_is_not_offered_cannot_be_answered() {
        let approval = approval(&[v1::PermissionOption::RejectAlways]);
        let error = choose(&approval, v1::Behavior::Allow, None).unwrap_err().to_string();
        assert!(error.contains("appr_1") && error.contains("not offered"), "{error}");
    }
}
