//! `toolplane taints`: what taints the calls of sessions, and clearing it.

use clap::{Args, Subcommand};
use serde_json::json;
use toolplane_proto::v1;

use super::connection::Connection;
use super::failure::Failure;
use super::outcome::CommandOutcome;
use super::output::{Output, Table, age, instant};

/// What can be done about taints.
#[derive(Debug, Subcommand)]
pub(crate) enum TaintsCommand {
    /// List the sessions that were given something that taints what they call, the newest first.
    Ls {
        /// Only this session.
        #[arg(long, value_name = "SESSION", default_value = "")]
        session: String,
    },
    /// Clear what taints a session, after you have read what it was given.
    Clear(ClearArgs),
}

/// What is cleared, and why.
#[derive(Debug, Args)]
pub(crate) struct ClearArgs {
    /// The session.
    session: String,
    /// Only this label, e.g. `markup`; may be given several times.
    #[arg(long = "label", value_name = "LABEL")]
    labels: Vec<String>,
    /// Why; kept with the session.
    #[arg(long)]
    reason: String,
}

/// Runs one of the commands.
pub(crate) async fn run(
    command: TaintsCommand,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let sessions = match command {
        TaintsCommand::Ls { session } => listed(session, connection).await?,
        TaintsCommand::Clear(ClearArgs { session, labels, reason }) => {
            let request = v1::ClearSessionTaintsRequest { session_ref: session, labels, reason };
            connection.invocations().clear_session_taints(request).await?.into_inner().session.into_iter().collect()
        }
    };
    if out.json() {
        sessions.iter().try_for_each(|session| out.value(&record(session)))?;
    } else {
        table(&sessions, out)?;
    }
    Ok(CommandOutcome::Done)
}

async fn listed(session_ref: String, connection: &Connection) -> Result<Vec<v1::SessionTaints>, Failure> {
    let mut request = v1::ListSessionTaintsRequest { session_ref, page_size: 1000, page_token: String::new() };
    let mut sessions = Vec::new();
    loop {
        let page = connection.invocations().list_session_taints(request.clone()).await?.into_inner();
        sessions.extend(page.sessions);
        if page.next_page_token.is_empty() {
            return Ok(sessions);
        }
        request.page_token = page.next_page_token;
    }
}

fn table(sessions: &[v1::SessionTaints], out: &mut Output) -> Result<(), Failure> {
    let mut table = Table::new(&["SESSION", "LABEL", "LAST", "FROM CALLS", "CLEARED"]);
    for session in sessions {
        let cleared = session.cleared.last().map_or("-".to_owned(), |last| {
            let by = if last.by.is_empty() { String::new() } else { format!(" by {}", last.by) };
            format!("{}{by} at {}: {}", last.labels.join(","), instant(last.at.as_ref()), last.reason)
        });
        let at = age(session.tainted_at.as_ref());
        let row = |label: &str, calls: String| {
            [session.session_ref.clone(), label.to_owned(), at.clone(), calls, cleared.clone()]
        };
        if session.taints.is_empty() {
            table.row(row("-", "-".to_owned()));
        }
        session.taints.iter().for_each(|taint| table.row(row(&taint.label, taint.invocation_ids.join(","))));
    }
    out.table(&table, "no session was given anything that taints its calls")
}

fn record(session: &v1::SessionTaints) -> String {
    let taints = session.taints.iter().map(|taint| {
        json!({ "label": taint.label, "invocation_ids": taint.invocation_ids, "since": instant(taint.since.as_ref()) })
    });
    let cleared = session
        .cleared
        .iter()
        .map(|one| json!({ "labels": one.labels, "by": one.by, "at": instant(one.at.as_ref()), "reason": one.reason }));
    json!({
        "session_ref": session.session_ref,
        "taints": taints.collect::<Vec<_>>(),
        "tainted_at": instant(session.tainted_at.as_ref()),
        "kept_until": instant(session.kept_until.as_ref()),
        "cleared": cleared.collect::<Vec<_>>(),
    })
    .to_string()
}
