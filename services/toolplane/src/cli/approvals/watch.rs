//! `toolplane approvals watch`: open questions, then every change, over broken connections and restarts.

use clap::Args;
use std::collections::HashSet;
use toolplane_proto::v1;
use toolplane_records::approval;

use super::{asker, reason, state};
use crate::cli::connection::Connection;
use crate::cli::failure::Failure;
use crate::cli::follow::is_break;
use crate::cli::outage::{Outage, PAUSE};
use crate::cli::outcome::CommandOutcome;
use crate::cli::output::{Output, instant};

/// What is followed.
#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// Every change after this revision, from the beginning when 0; open questions and what comes when absent.
    #[arg(long, value_name = "N")]
    from_revision: Option<u64>,
    /// End after this many lines; never when 0.
    #[arg(long, default_value_t = 0, value_name = "N")]
    limit: usize,
}

/// Where the watcher is.
struct WatchPosition {
    /// Nothing until the stream has said how far it is.
    revision: Option<u64>,
    printed: usize,
    limit: usize,
    /// Questions that were printed because they were open at the beginning.
    open: HashSet<String>,
}

impl WatchPosition {
    fn full(&self) -> bool {
        self.limit > 0 && self.printed >= self.limit
    }

    fn reached(&mut self, revision: u64) {
        self.revision = Some(self.revision.unwrap_or_default().max(revision));
    }
}

/// Prints changes until the limit, Ctrl-C, or a cluster that stays away.
pub(super) async fn run(args: WatchArgs, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let mut place = WatchPosition { revision: args.from_revision, printed: 0, limit: args.limit, open: HashSet::new() };
    let mut outage = Outage::none();
    loop {
        let before = place.revision;
        let followed = tokio::select! {
            followed = follow(&mut place, &mut outage, connection, out) => followed,
            _ = tokio::signal::ctrl_c() => return Ok(CommandOutcome::Done),
        };
        match followed {
            Ok(()) if place.full() => return Ok(CommandOutcome::Done),
            Ok(()) => {}
            Err(Failure::Api(status)) if is_break(&status) && outage.may_end() => {
                if outage.is_news() {
                    out.note(&format!("connection lost ({}); following again", status.message()))?;
                }
            }
            Err(failure) => return Err(failure),
        }
        if place.revision > before {
            outage.heard();
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// One stream, until its end or the limit. It begins before open questions are read, so that none falls in between.
async fn follow(
    place: &mut WatchPosition,
    outage: &mut Outage,
    connection: &Connection,
    out: &mut Output,
) -> Result<(), Failure> {
    let from_revision = place.revision.unwrap_or(u64::MAX);
    let request = v1::WatchApprovalsRequest { from_revision, ..Default::default() };
    let mut stream = connection.permissions().watch_approvals(request).await?.into_inner();
    outage.opened();
    if place.revision.is_none() {
        open_questions(place, connection, out).await?;
    }
    while !place.full() {
        let Some(message) = stream.message().await? else { break };
        for change in message.changes {
            place.reached(change.revision);
            let Some(approval) = change.approval else { continue };
            let asked = approval.state() == v1::ApprovalState::Pending;
            if place.full() || (asked && place.open.contains(&approval.approval_id)) {
                continue;
            }
            print(approval, out)?;
            place.printed += 1;
        }
        place.reached(message.revision);
    }
    Ok(())
}

/// The questions that are open now, oldest first.
async fn open_questions(place: &mut WatchPosition, connection: &Connection, out: &mut Output) -> Result<(), Failure> {
    let mut request =
        v1::ListApprovalsRequest { state: v1::ApprovalState::Pending.into(), page_size: 1000, ..Default::default() };
    let mut open = Vec::new();
    loop {
        let page = connection.permissions().list_approvals(request.clone()).await?.into_inner();
        open.extend(page.approvals);
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    for approval in open.into_iter().rev() {
        // Again after a broken connection: what was printed is known.
        if !place.full() && place.open.insert(approval.approval_id.clone()) {
            print(approval, out)?;
            place.printed += 1;
        }
    }
    Ok(())
}

fn print(approval: v1::Approval, out: &mut Output) -> Result<(), Failure> {
    if out.json() {
        return out.record::<approval::Approval, _>(approval);
    }
    let at = approval.resolved_at.as_ref().or(approval.created_at.as_ref());
    let what = what(&approval);
    let (id, tool) = (&approval.approval_id, &approval.tool_name);
    let line = format!("{}  {id}  {:<9}  {tool}  {what}", instant(at), state(&approval));
    out.line(line.trim_end())?;
    out.point_out(&format!("{tool} {what}"))
}

/// Who asked and why, or who answered and what was said to it, as far as that is known.
fn what(approval: &v1::Approval) -> String {
    let (verb, who, said) = match approval.state() {
        v1::ApprovalState::Pending => ("asked by", asker(approval), reason(approval)),
        _ => ("by", approval.resolved_by.as_str(), approval.feedback.clone()),
    };
    let who = if who.is_empty() { String::new() } else { format!("{verb} {who}") };
    [who, said].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_named_where_nobody_is_known() {
        let said = |state: v1::ApprovalState, who: &str, feedback: &str| {
            what(&v1::Approval {
                state: state.into(),
                resolved_by: who.to_owned(),
                feedback: feedback.to_owned(),
                ..Default::default()
            })
        };
        assert_eq!(said(v1::ApprovalState::Approved, "", ""), "");
        assert_eq!(said(v1::ApprovalState::Rejected, "", "use make"), "use make");
        assert_eq!(said(v1::ApprovalState::Rejected, "ann", "use make"), "by ann: use make");
        assert_eq!(said(v1::ApprovalState::Approved, "ann", ""), "by ann");
        assert_eq!(said(v1::ApprovalState::Pending, "", ""), "");
    }
}
