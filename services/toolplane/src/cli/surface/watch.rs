//! `toolplane surface watch`: what changes about a surface, over broken connections and restarts.

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use serde_json::json;
use toolplane_proto::v1;
use toolplane_proto::v1::SurfaceToolChangeKind as Kind;

use crate::cli::connection::Connection;
use crate::cli::failure::Failure;
use crate::cli::follow::is_break;
use crate::cli::outage::{Outage, PAUSE};
use crate::cli::outcome::CommandOutcome;
use crate::cli::output::Output;

/// What is followed.
#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// Its id; the default surface when absent.
    #[arg(default_value = "")]
    id: String,
    /// What changed since this moment of the surface, too. This command says moments: with the first line, and in JSON with each.
    #[arg(long, value_name = "MOMENT", conflicts_with = "from_revision", value_parser = NonEmptyStringValueParser::new())]
    from: Option<String>,
    /// The same since a revision. Of a surface that was itself changed since it was made, all is told.
    #[arg(long, default_value_t = 0, value_name = "N")]
    from_revision: u64,
    /// End once so many changes were told; those of one moment are told together. Never when 0.
    #[arg(long, default_value_t = 0, value_name = "N")]
    limit: usize,
}

/// Where the watcher is.
struct Place {
    /// Empty until there was one.
    moment: String,
    /// The cluster has told a moment: what was given by hand may be none.
    heard: bool,
    printed: usize,
    limit: usize,
    over: bool,
}

/// Prints changes until the surface is deleted, the limit, Ctrl-C, or a cluster that stays away.
pub(super) async fn run(args: WatchArgs, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let WatchArgs { id, from, from_revision, limit } = args;
    let mut place = Place { moment: from.unwrap_or_default(), heard: false, printed: 0, limit, over: false };
    let mut outage = Outage::none();
    loop {
        let before = place.moment.clone();
        // A moment says more than a revision.
        let from_revision = if before.is_empty() { from_revision } else { 0 };
        let request = v1::WatchSurfaceRequest { surface_id: id.clone(), from_moment: before.clone(), from_revision };
        let followed = tokio::select! {
            followed = follow(&mut place, &mut outage, request, connection, out) => followed,
            _ = tokio::signal::ctrl_c() => return Ok(CommandOutcome::Done),
        };
        match followed {
            Ok(()) if place.over => return Ok(CommandOutcome::Done),
            Ok(()) => {}
            Err(Failure::Api(status)) if is_break(&status) && outage.may_end() => {
                if outage.is_news() {
                    out.note(&format!("connection lost ({}); following again", status.message()))?;
                }
            }
            Err(failure) => {
                if place.heard && !out.json() {
                    out.note(&format!(
                        "everything up to the moment {} was told; go on with `--from {0}`",
                        place.moment
                    ))?;
                }
                return Err(failure);
            }
        }
        if place.moment != before {
            outage.heard();
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// One stream, until its end or the limit. What was not told to its end is told again by the next one.
async fn follow(
    place: &mut Place,
    outage: &mut Outage,
    request: v1::WatchSurfaceRequest,
    connection: &Connection,
    out: &mut Output,
) -> Result<(), Failure> {
    let mut stream = connection.surfaces().watch_surface(request).await?.into_inner();
    outage.opened();
    let mut parts: Vec<v1::WatchSurfaceResponse> = Vec::new();
    while !place.over {
        let Some(message) = stream.message().await? else { break };
        if !message.ended.is_empty() {
            place.over = true;
            return ended(&message, out);
        }
        let leads_to = message.moment.clone();
        if !place.heard && !leads_to.is_empty() && !out.json() {
            out.note(&format!("following from revision {} on (moment {leads_to})", message.revision))?;
            place.heard = true;
        }
        parts.push(message);
        if leads_to.is_empty() {
            continue;
        }
        print(&parts, out)?;
        place.printed += parts.iter().map(|part| part.changes.len()).sum::<usize>();
        (place.moment, place.heard) = (leads_to, true);
        place.over = place.limit > 0 && place.printed >= place.limit;
        parts.clear();
    }
    Ok(())
}

fn ended(last: &v1::WatchSurfaceResponse, out: &mut Output) -> Result<(), Failure> {
    match out.json() {
        true => out.serialized(&json!({ "ended": last.ended })),
        false => out.line(ending(&last.ended)),
    }
}

/// Why nothing more is told.
fn ending(why: &str) -> String {
    match why {
        "parent_gone" => "the surface shows nothing any more: one that it is within is not there any more".to_owned(),
        why => format!("the surface is {why}"),
    }
}

/// A whole difference. The first one of a stream has no changes: it says from where on they are told.
fn print(parts: &[v1::WatchSurfaceResponse], out: &mut Output) -> Result<(), Failure> {
    let (anew, last) = (parts.iter().any(|part| part.anew), parts.last());
    let (moment, revision) = last.map(|last| (last.moment.as_str(), last.revision)).unwrap_or_default();
    let changes = parts.iter().flat_map(|part| &part.changes);
    if out.json() {
        let changes: Vec<_> = changes.map(object).collect();
        let told = json!({ "moment": moment, "revision": revision, "anew": anew, "changes": changes });
        return out.serialized(&told);
    }
    if anew {
        out.line("what was known before cannot be compared any more; these are all tools it shows:")?;
    }
    for change in changes {
        out.line(line(revision, change))?;
    }
    Ok(())
}

fn line(revision: u64, change: &v1::SurfaceToolChange) -> String {
    let name = match change.name_before.as_str() {
        "" => change.name.clone(),
        before => format!("{} (before: {before})", change.name),
    };
    let (verb, what) = match change.kind() {
        Kind::Added => ("added", format!("{}{}", state(change.state()), why(change))),
        Kind::Removed if change.message.is_empty() => ("removed", String::new()),
        Kind::Removed => ("removed", format!("{}: {}", change.reason, change.message)),
        Kind::Changed | Kind::Unspecified => ("changed", changed(change)),
    };
    format!("{revision:>4}  {verb:<7}  {name}  {what}").trim_end().to_owned()
}

fn changed(change: &v1::SurfaceToolChange) -> String {
    let (before, now) = (change.state_before(), change.state());
    let state = match before == now || before == v1::SurfaceToolState::Unspecified {
        true => state(now).to_owned(),
        false => format!("{} -> {}", state(before), state(now)),
    };
    let declared = if change.digest_before == change.digest { "" } else { ", declared anew" };
    let load = match change.changed.as_str() {
        "" => String::new(),
        what => format!("  (its schema changed: {what}; load it again)"),
    };
    format!("{state}{}{declared}{load}", why(change))
}

/// Why a tool is shown like that.
fn why(change: &v1::SurfaceToolChange) -> String {
    match change.reason.as_str() {
        "" => String::new(),
        "budget" => " for the budget".to_owned(),
        _ => format!(" ({})", change.message),
    }
}

fn state(state: v1::SurfaceToolState) -> &'static str {
    match state {
        v1::SurfaceToolState::Loaded => "loaded",
        v1::SurfaceToolState::Deferred => "deferred",
        v1::SurfaceToolState::Unspecified => "",
    }
}

fn object(change: &v1::SurfaceToolChange) -> serde_json::Value {
    let kind = match change.kind() {
        Kind::Added => "added",
        Kind::Removed => "removed",
        Kind::Changed | Kind::Unspecified => "changed",
    };
    let fields = [
        ("tool_id", change.tool_id.as_str()),
        ("name", &change.name),
        ("kind", kind),
        ("state", state(change.state())),
        ("state_before", state(change.state_before())),
        ("digest", &change.digest),
        ("digest_before", &change.digest_before),
        ("name_before", &change.name_before),
        ("changed", &change.changed),
        ("reason", &change.reason),
        ("message", &change.message),
    ];
    fields.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_one_line() {
        let told = |kind: Kind, change: v1::SurfaceToolChange| {
            line(7, &v1::SurfaceToolChange { name: "a.b".to_owned(), kind: kind.into(), ..change })
        };
        let (loaded, deferred) = (v1::SurfaceToolState::Loaded.into(), v1::SurfaceToolState::Deferred.into());
        let new = v1::SurfaceToolChange { state: deferred, digest: "sha256:1".to_owned(), ..Default::default() };
        assert_eq!(told(Kind::Added, new.clone()), "   7  added    a.b  deferred");
        let load = v1::SurfaceToolChange { state: loaded, state_before: deferred, ..Default::default() };
        assert_eq!(told(Kind::Changed, load), "   7  changed  a.b  deferred -> loaded");
        let anew = v1::SurfaceToolChange {
            state: loaded,
            changed: "it takes arguments now".to_owned(),
            name_before: "a.c".to_owned(),
            ..new
        };
        assert_eq!(
            told(Kind::Changed, anew),
            "   7  changed  a.b (before: a.c)  loaded, declared anew  (its schema changed: it takes arguments now; load it again)"
        );
        let away = v1::SurfaceToolChange {
            state: loaded,
            state_before: loaded,
            reason: "provider.away".to_owned(),
            message: "its provider `p` is away".to_owned(),
            ..Default::default()
        };
        assert_eq!(told(Kind::Changed, away), "   7  changed  a.b  loaded (its provider `p` is away)");
        let gone = v1::SurfaceToolChange {
            reason: "retired".to_owned(),
            message: "is retired".to_owned(),
            ..Default::default()
        };
        assert_eq!(told(Kind::Removed, gone), "   7  removed  a.b  retired: is retired");
        assert_eq!(told(Kind::Removed, v1::SurfaceToolChange::default()), "   7  removed  a.b");
    }

    #[test]
    fn a_stream_says_why_it_ends() {
        assert_eq!(ending("deleted"), "the surface is deleted");
        assert!(ending("parent_gone").contains("one that it is within is not there"));
    }
}
