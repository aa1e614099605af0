//! `toolplane results`: what is kept of outputs, beside reading it (`toolplane fetch`).

use std::time::Duration;

use clap::{Args, Subcommand};
use serde_json::json;
use toolplane_proto::v1;
use toolplane_proto::v1::link_payload_request::Selector;

use super::connection::Connection;
use super::failure::Failure;
use super::outcome::CommandOutcome;
use super::output::{Output, Table, age, bytes, instant};
use super::span::duration;

/// What can be done with kept outputs.
#[derive(Debug, Subcommand)]
pub(crate) enum ResultsCommand {
    /// Make a link under which a kept output can be read from the object store. Whoever has it can read the output until it expires.
    Link(LinkArgs),
    /// List kept outputs that their ended call does not name, as a crash leaves them. Removes nothing: schedulers do, after a while.
    Orphans,
}

/// To what, and for how long.
#[derive(Debug, Args)]
pub(crate) struct LinkArgs {
    /// The call that keeps it.
    invocation: String,
    /// Which reference of the call, by uri or `sha256:` digest; the first one of its result when absent.
    #[arg(long = "ref", value_name = "URI|DIGEST")]
    reference: Option<String>,
    /// For how long, e.g. `10m`; at most 7 days.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10m")]
    expires: Duration,
}

pub(crate) async fn run(
    command: ResultsCommand,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    match command {
        ResultsCommand::Link(args) => link(args, connection, out).await,
        ResultsCommand::Orphans => orphans(connection, out).await,
    }
}

async fn link(args: LinkArgs, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let selector = args.reference.map(|text| match text.starts_with("sha256:") {
        true => Selector::Digest(text),
        false => Selector::Uri(text),
    });
    let expires_seconds = u32::try_from(args.expires.as_secs()).unwrap_or(u32::MAX);
    let request = v1::LinkPayloadRequest { invocation_id: args.invocation, selector, expires_seconds };
    let link = connection.invocations().link_payload(request).await?.into_inner();
    let payload = link.payload.unwrap_or_default();
    if out.json() {
        out.value(
            &json!({
                "url": link.url, "expires_at": instant(link.expires_at.as_ref()), "uri": payload.uri,
                "digest": payload.digest, "size_bytes": payload.size_bytes, "media_type": payload.media_type,
            })
            .to_string(),
        )?;
        return Ok(CommandOutcome::Done);
    }
    out.line(&link.url)?;
    let until = instant(link.expires_at.as_ref());
    out.note(&format!("{} of {}, until {until}; {}", bytes(payload.size_bytes), payload.media_type, payload.digest))?;
    Ok(CommandOutcome::Done)
}

async fn orphans(connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let found = connection.invocations().list_orphans(v1::ListOrphansRequest::default()).await?.into_inner();
    let mut table = Table::new(&["URI", "SIZE", "KEPT"]);
    for orphan in &found.orphans {
        if out.json() {
            let kept_at = instant(orphan.kept_at.as_ref());
            out.value(&json!({ "uri": orphan.uri, "size_bytes": orphan.size_bytes, "kept_at": kept_at }).to_string())?;
            continue;
        }
        table.row([orphan.uri.clone(), bytes(orphan.size_bytes), age(orphan.kept_at.as_ref())]);
    }
    if !out.json() {
        let none = "nothing: of the calls that are there, each kept output is named by its call; \
                    those of calls that are gone go by `objects.retention_days`";
        out.table(&table, none)?;
        if found.more {
            out.note("there are more")?;
        }
        match found.grace_seconds {
            _ if found.orphans.is_empty() => {}
            0 => out.note("none of them is removed: `objects.orphan_grace_seconds` is 0")?,
            grace => out.note(&format!("each is removed when it is {grace} seconds old"))?,
        }
    }
    Ok(CommandOutcome::Done)
}
