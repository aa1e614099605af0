//! `toolplane approvals`: questions that wait for a person.

use clap::{Args, Subcommand, ValueEnum};
use toolplane_proto::v1;
use toolplane_records::approval;

use super::connection::Connection;
use super::output::{Output, Table, age, instant, payload_text, pretty};
use super::tools::word;
use super::{Ending, Failure};

/// What can be done with approvals.
#[derive(Debug, Subcommand)]
pub(crate) enum ApprovalsCommand {
    /// List approvals, newest first; only the open ones unless told otherwise.
    Ls {
        /// Which ones.
        #[arg(long, value_enum, default_value_t = Which::Pending)]
        state: Which,
    },
    /// Show one approval: the exact call it is about, and why it was asked.
    Show {
        /// Its id.
        id: String,
    },
    /// Let the call run, once.
    Approve(AnswerArgs),
    /// Refuse the call.
    Reject(AnswerArgs),
}

/// An answer.
#[derive(Debug, Args)]
pub(crate) struct AnswerArgs {
    /// The approval.
    id: String,
    /// What you say to it; it is kept with the decision.
    #[arg(long, default_value = "")]
    feedback: String,
    /// Who answers, where the cluster does not know by itself.
    #[arg(long = "as", env = "USER", default_value = "")]
    who: String,
}

/// Which approvals are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Which {
    /// Waiting for an answer.
    Pending,
    /// All of them.
    All,
}

/// Runs one of the commands.
pub(crate) async fn run(
    command: ApprovalsCommand,
    connection: &Connection,
    out: &mut Output,
) -> Result<Ending, Failure> {
    match command {
        ApprovalsCommand::Ls { state } => list(state, connection, out).await,
        ApprovalsCommand::Show { id } => show(id, connection, out).await,
        ApprovalsCommand::Approve(answer) => resolve(answer, v1::Behavior::Allow, connection, out).await,
        ApprovalsCommand::Reject(answer) => resolve(answer, v1::Behavior::Deny, connection, out).await,
    }
}

async fn list(which: Which, connection: &Connection, out: &mut Output) -> Result<Ending, Failure> {
    let state = match which {
        Which::Pending => v1::ApprovalState::Pending,
        Which::All => v1::ApprovalState::Unspecified,
    };
    let mut request = v1::ListApprovalsRequest { state: state.into(), page_size: 200, ..Default::default() };
    let mut table = Table::new(&["APPROVAL", "STATE", "TOOL", "AGE", "ASKED BY", "WHY"]);
    loop {
        let page = connection.permissions().list_approvals(request.clone()).await?.into_inner();
        for approval in page.approvals {
            if out.json() {
                out.record::<approval::Approval, _>(approval)?;
                continue;
            }
            table.row([
                approval.approval_id.clone(),
                word(approval.state().as_str_name(), "APPROVAL_STATE_"),
                approval.tool_name.clone(),
                age(approval.created_at.as_ref()),
                approval.actor_ref.clone(),
                reason(&approval),
            ]);
        }
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    if !out.json() {
        out.table(&table, "nothing waits for an answer")?;
    }
    Ok(Ending::Done)
}

/// Shows one approval; shared with `toolplane get`.
pub(crate) async fn show(id: String, connection: &Connection, out: &mut Output) -> Result<Ending, Failure> {
    let request = v1::GetApprovalRequest { approval_id: id, view: v1::RecordView::Json.into() };
    let answer = connection.permissions().get_approval(request).await?.into_inner();
    if out.json() {
        out.payload(answer.json)?;
    } else {
        print(&answer.approval.ok_or_else(missing)?, out)?;
    }
    Ok(Ending::Done)
}

async fn resolve(
    answer: AnswerArgs,
    behavior: v1::Behavior,
    connection: &Connection,
    out: &mut Output,
) -> Result<Ending, Failure> {
    let request = v1::ResolveApprovalRequest {
        approval_id: answer.id,
        request_id: uuid::Uuid::now_v7().to_string(),
        behavior: behavior.into(),
        feedback: answer.feedback,
        resolved_by: answer.who,
    };
    let approval = connection.permissions().resolve_approval(request).await?.into_inner().approval;
    let approval = approval.ok_or_else(missing)?;
    if out.json() {
        out.record::<approval::Approval, _>(approval)?;
    } else {
        let state = word(approval.state().as_str_name(), "APPROVAL_STATE_");
        out.line(format!("{}  {state}", approval.approval_id))?;
        out.note(&format!("follow the call with `toolplane watch {}`", approval.invocation_id))?;
    }
    Ok(Ending::Done)
}

fn print(approval: &v1::Approval, out: &mut Output) -> Result<(), Failure> {
    let state = word(approval.state().as_str_name(), "APPROVAL_STATE_");
    out.line(format!("{}  {state}", approval.approval_id))?;
    out.line(format!("  tool     {} ({})", approval.tool_name, approval.tool_id))?;
    out.line(format!("  call     {}", approval.invocation_id))?;
    out.line(format!("  asked    {} by {}", instant(approval.created_at.as_ref()), approval.actor_ref))?;
    out.line(format!("  why      {}", reason(approval)))?;
    out.line(format!("  expires  {}", instant(approval.expires_at.as_ref())))?;
    if !approval.resolved_by.is_empty() || !approval.feedback.is_empty() {
        out.line(format!("  answer   by {}: {}", approval.resolved_by, approval.feedback))?;
    }
    match payload_text(approval.permission_input.as_ref()) {
        Some(input) => out.line(format!("  input ({}):\n{}", approval.input_digest, pretty(&input))),
        None => out.line(format!("  input    {}", approval.input_digest)),
    }
}

fn reason(approval: &v1::Approval) -> String {
    let reason = approval.request.as_ref().and_then(|decision| decision.reason.as_ref());
    reason.map(|reason| reason.message.clone()).unwrap_or_default()
}

fn missing() -> Failure {
    Failure::Answer("the approval is missing".to_owned())
}
