//! `toolplane approvals`: questions that wait for a person.

use clap::{Subcommand, ValueEnum};
use toolplane_proto::v1;
use toolplane_records::approval;

use super::advised;
use super::connection::Connection;
use super::failure::Failure;
use super::outcome::CommandOutcome;
use super::output::{Output, Table, age, instant, payload_text, readable};
use super::spelled::word;

mod answer;
pub(crate) mod suggestion;
mod watch;

use suggestion::Suggestion;

/// What can be done with approvals.
#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// List approvals, newest first; only the open ones unless told otherwise.
    Ls {
        /// Which ones.
        #[arg(long, value_enum, default_value_t = Which::Pending)]
        state: Which,
        /// Approvals in every state.
        #[arg(long, conflicts_with = "state")]
        all: bool,
        /// Only this queue: `approvals`, or `review` for calls the agent itself was not sure of.
        #[arg(long, default_value = "")]
        queue: String,
    },
    /// Show one approval: the exact call it is about, why it was asked, and what may be answered.
    Show {
        /// Its id.
        id: String,
    },
    /// Follow approvals: every open question, then every change, until Ctrl-C.
    Watch(watch::WatchArgs),
    /// Let the call run, once or from now on.
    Approve(answer::ApproveArgs),
    /// Refuse the call, once or from now on.
    Reject(answer::AnswerArgs),
}

/// Which approvals are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Which {
    /// Waiting for an answer.
    Pending,
    /// Answered with yes.
    Approved,
    /// Answered with no.
    Rejected,
    /// There was no answer in time.
    Expired,
    /// The call ended first.
    Withdrawn,
    /// All of them.
    All,
}

impl Which {
    fn state(self) -> v1::ApprovalState {
        match self {
            Self::Pending => v1::ApprovalState::Pending,
            Self::Approved => v1::ApprovalState::Approved,
            Self::Rejected => v1::ApprovalState::Rejected,
            Self::Expired => v1::ApprovalState::Expired,
            Self::Withdrawn => v1::ApprovalState::Withdrawn,
            Self::All => v1::ApprovalState::Unspecified,
        }
    }
}

/// Runs one of the commands.
pub(crate) async fn run(
    command: ApprovalsCommand,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    match command {
        ApprovalsCommand::Ls { state, all, queue } => {
            let state = if all { Which::All } else { state };
            list(state, queue, connection, out).await
        }
        ApprovalsCommand::Show { id } => show(id, connection, out).await,
        ApprovalsCommand::Watch(args) => watch::run(args, connection, out).await,
        ApprovalsCommand::Approve(args) => answer::approve(args, connection, out).await,
        ApprovalsCommand::Reject(args) => answer::reject(args, connection, out).await,
    }
}

async fn list(
    which: Which,
    queue: String,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let mut request =
        v1::ListApprovalsRequest { state: which.state().into(), queue, page_size: 200, ..Default::default() };
    let mut table = Table::new(&["APPROVAL", "STATE", "QUEUE", "TOOL", "AGE", "ASKED BY", "WHY"]);
    let mut look_alikes = String::new();
    loop {
        let page = connection.permissions().list_approvals(request.clone()).await?.into_inner();
        for approval in page.approvals {
            if out.json() {
                out.record::<approval::Approval, _>(approval)?;
                continue;
            }
            look_alikes.push_str(&format!("{} {} {} ", approval.tool_name, asker(&approval), reason(&approval)));
            table.row([
                approval.approval_id.clone(),
                state(&approval),
                approval.queue.clone(),
                approval.tool_name.clone(),
                age(approval.created_at.as_ref()),
                asker(&approval).to_owned(),
                reason(&approval),
            ]);
        }
        super::surface::left_out(&page.damaged_ids, out)?;
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    if !out.json() {
        out.table(&table, "nothing waits for an answer")?;
        out.point_out(&look_alikes)?;
    }
    Ok(CommandOutcome::Done)
}

/// Shows one approval; shared with `toolplane get`.
pub(crate) async fn show(id: String, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let request = v1::GetApprovalRequest { approval_id: id, view: v1::RecordView::Json.into(), ..Default::default() };
    let answer = connection.permissions().get_approval(request).await?.into_inner();
    match answer.json {
        Some(json) if out.json() => out.payload(Some(json))?,
        // Too large to be told twice.
        None if out.json() => out.record::<approval::Approval, _>(answer.approval.ok_or_else(missing)?)?,
        _ => print(&answer.approval.ok_or_else(missing)?, out)?,
    }
    Ok(CommandOutcome::Done)
}

fn print(approval: &v1::Approval, out: &mut Output) -> Result<(), Failure> {
    out.line(format!("{}  {}", approval.approval_id, state(approval)))?;
    out.line(format!("  tool     {} ({})", approval.tool_name, approval.tool_id))?;
    described(approval, out)?;
    let risk = word(approval.risk_level().as_str_name(), "RISK_LEVEL_");
    if !risk.is_empty() {
        out.line(format!("  risk     {risk}"))?;
    }
    out.line(format!("  call     {}", approval.invocation_id))?;
    out.line(format!("  asked    {} by {}", instant(approval.created_at.as_ref()), asker(approval)))?;
    out.line(format!("  why      {}", reason(approval)))?;
    changes(approval, out)?;
    out.line(format!("  expires  {}", instant(approval.expires_at.as_ref())))?;
    if !approval.resolved_by.is_empty() || !approval.feedback.is_empty() {
        out.line(format!("  answer   by {}: {}", approval.resolved_by, approval.feedback))?;
    }
    match payload_text(approval.permission_input.as_ref()) {
        Some(input) => shown_input(&format!("  input ({}):", approval.input_digest), &input, out)?,
        None => out.line(format!("  input    {}", approval.input_digest))?,
    }
    if let Some(edited) = payload_text(approval.updated_input.as_ref()) {
        shown_input("  input put in its place:", &edited, out)?;
    }
    out.point_out(&format!("{} {}", approval.tool_name, reason(approval)))?;
    match approval.state() {
        v1::ApprovalState::Pending => choices(approval, out),
        _ => Ok(()),
    }
}

/// What the tool says of itself.
fn described(approval: &v1::Approval, out: &mut Output) -> Result<(), Failure> {
    #[derive(Default, serde::Deserialize)]
    #[serde(default)]
    struct ShownRegistration {
        declaration: Declaration,
    }
    #[derive(Default, serde::Deserialize)]
    #[serde(default)]
    struct Declaration {
        title: String,
        description: String,
    }
    let text = payload_text(approval.tool_registration.as_ref()).unwrap_or_default();
    let Declaration { title, description } =
        serde_json::from_str::<ShownRegistration>(&text).unwrap_or_default().declaration;
    if !title.is_empty() {
        out.line(format!("  title    {title}"))?;
    }
    if !description.is_empty() {
        out.line("  it says of itself:")?;
        out.block(&description)?;
    }
    out.point_out(&format!("{title} {description}"))
}

/// What of the tool has changed since it was allowed.
fn changes(approval: &v1::Approval, out: &mut Output) -> Result<(), Failure> {
    if approval.outdated_rule.is_empty() {
        return Ok(());
    }
    out.line(format!("  changed  since the rule {} allowed it, the tool was declared anew", approval.outdated_rule))?;
    if approval.definition_changes.is_empty() {
        out.line("           its earlier declaration is not kept; check it like a new tool")?;
    }
    for change in &approval.definition_changes {
        out.line(format!("    {}", change.field))?;
        let sides = [("-", &change.before), ("+", &change.after)].into_iter().filter(|(_, text)| !text.is_empty());
        for (sign, text) in sides {
            out.block(&format!("{sign} {text}"))?;
            out.point_out(text)?;
        }
    }
    Ok(())
}

/// An input as what it means, and what in it may be taken for something else.
fn shown_input(heading: &str, input: &str, out: &mut Output) -> Result<(), Failure> {
    let input = readable(input);
    out.line(heading)?;
    out.block(&input)?;
    out.point_out(&input)
}

/// What may be answered, in the order to offer it, and the rules an `always` would add.
fn choices(approval: &v1::Approval, out: &mut Output) -> Result<(), Failure> {
    let suggested = approval.request.as_ref().map(|request| Suggestion::all(&request.suggested_updates));
    let suggested = suggested.unwrap_or_default();
    out.line("  answers")?;
    for option in &approval.options {
        let command = match option.kind() {
            v1::PermissionOption::AllowOnce => "approve",
            v1::PermissionOption::AllowAlways => "approve --always",
            v1::PermissionOption::RejectOnce => "reject",
            v1::PermissionOption::RejectAlways => "reject --always",
            v1::PermissionOption::Unspecified => continue,
        };
        let which = match option.suggestion_id.as_str() {
            "" => String::new(),
            id => format!(" --suggestion {id}"),
        };
        let how = advised::command(format_args!("approvals {command} {}{which}", approval.approval_id));
        out.line(format!("    {}: `{how}`", option.name))?;
    }
    if !suggested.is_empty() {
        let denies = approval.options.iter().any(|option| option.kind() == v1::PermissionOption::RejectAlways);
        let heading = "  an `approve --always` adds one of";
        let turned = if denies { "; a `reject --always` adds the same as deny" } else { "" };
        out.line(format!("{heading}{turned}"))?;
    }
    suggested.iter().try_for_each(|suggestion| suggestion.print(out))
}

fn state(approval: &v1::Approval) -> String {
    word(approval.state().as_str_name(), "APPROVAL_STATE_")
}

/// Who asked: the actor, which is the authenticated one where there is authentication, else the credential.
fn asker(approval: &v1::Approval) -> &str {
    match approval.actor_ref.as_str() {
        "" => &approval.caller_ref,
        actor => actor,
    }
}

fn reason(approval: &v1::Approval) -> String {
    let reason = approval.request.as_ref().and_then(|decision| decision.reason.as_ref());
    reason.map(|reason| reason.message.clone()).unwrap_or_default()
}

fn missing() -> Failure {
    Failure::Answer("the approval is missing".to_owned())
}
