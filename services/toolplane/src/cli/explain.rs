//! `toolplane explain`: the whole story of one call on one screen.

use clap::Args;
use toolplane_proto::v1;

use super::connection::Connection;
use super::failure::Failure;
use super::kept;
use super::outcome::CommandOutcome;
use super::output::{Output, duration};

mod chapters;
mod next;
mod steps;
mod story;

use story::Story;

/// Columns of the waterfall.
const WIDTH: usize = 32;

/// Which call.
#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The call.
    id: String,
    /// Everything of each chapter, and not only what fits one screen.
    #[arg(long)]
    all: bool,
}

/// Tells the story of a call.
pub(crate) async fn run(
    args: ExplainArgs,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let request = v1::GetInvocationRequest {
        invocation_id: args.id,
        view: v1::RecordView::Json.into(),
        include_trail: true,
        ..v1::GetInvocationRequest::default()
    };
    let told = connection.invocations().get_invocation(request).await?.into_inner();
    let approvals = approvals(&told, connection).await?;
    let story = Story::of(&told, &approvals, kept::now())
        .ok_or_else(|| Failure::Answer("the invocation is missing".to_owned()))?;
    if out.json() {
        out.serialized(&story)?;
    } else {
        print(&story, args.all, out)?;
    }
    Ok(CommandOutcome::Done)
}

/// The questions people were asked about the call, as far as this caller may look at them.
async fn approvals(told: &v1::GetInvocationResponse, connection: &Connection) -> Result<Vec<v1::Approval>, Failure> {
    let decisions = told.trail.iter().flat_map(|trail| &trail.decisions).map(|made| &made.approval_request_ref);
    let mut ids: Vec<&String> =
        told.invocation.iter().map(|call| &call.approval_request_ref).chain(decisions).collect();
    ids.retain(|id| !id.is_empty());
    ids.sort_unstable();
    ids.dedup();
    let mut found = Vec::new();
    for id in ids.into_iter().take(story::SHOWN) {
        let request = v1::GetApprovalRequest { approval_id: id.clone(), ..v1::GetApprovalRequest::default() };
        match connection.permissions().get_approval(request).await {
            Ok(answer) => found.extend(answer.into_inner().approval),
            Err(status) => match Failure::from(status) {
                failure if failure.is_not_found() || failure.is_denied() => {}
                failure => return Err(failure),
            },
        }
    }
    Ok(found)
}

fn print(story: &Story, all: bool, out: &mut Output) -> Result<(), Failure> {
    let took = story.took_ms.map(|ms| format!("  {}", span(ms))).unwrap_or_default();
    out.line(format!("{}  {}  {}{took}", story.invocation_id, story.tool, story.status))?;
    for chapter in &story.chapters {
        let shown = if all { chapter.lines.len() } else { story::SHOWN.min(chapter.lines.len()) };
        for (at, line) in chapter.lines[..shown].iter().enumerate() {
            let name = if at == 0 { chapter.name } else { "" };
            out.line(format!("  {name:<8}  {line}"))?;
        }
        if shown < chapter.lines.len() {
            out.line(format!("  {:<8}  and {} more; `--all` shows them", "", chapter.lines.len() - shown))?;
        }
    }
    let whole = story.steps.iter().map(|step| step.at_ms + step.took_ms).max().unwrap_or_default();
    for (at, step) in story.steps.iter().enumerate() {
        let name = if at == 0 { "time" } else { "" };
        let bar = steps::bar(step, whole, WIDTH);
        out.line(format!("  {name:<8}  {:<22} {bar} {:>10}", step.name, span(step.took_ms)))?;
    }
    for (at, line) in story.next.iter().enumerate() {
        out.line(format!("  {:<8}  {line}", if at == 0 { "next" } else { "" }))?;
    }
    Ok(())
}

fn span(millis: u64) -> String {
    duration(std::time::Duration::from_millis(millis))
}
