//! `tools/list`: all tools where they are few; else those a client asked for, and the tools to find others with.

use std::collections::HashSet;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use serde::Deserialize;
use tonic::{Code, Status};
use toolplane_forms::mcp::Door;

use super::builtin::{Builtin, loaded_surface};
use super::definition::Definition;
use super::listing::{Entry, Listing};
use crate::mcp::client::SURFACE_MOMENT;
use crate::mcp::exchange::Exchange;
use crate::mcp::fault::Fault;
use crate::mcp::reply::Reply;

/// Tools of one page.
const PAGE: usize = 100;
/// Definitions asked for at a time.
const AT_ONCE: usize = 16;
/// How long a client may go by a list, in milliseconds. Those that listen are told of changes.
const KEPT_FOR: u64 = 30_000;

/// The tools.
pub(crate) async fn list(x: &Exchange, params: &Bytes) -> Result<Reply, Fault> {
    let after = cursor(params)?;
    let surface = x.front.surface();
    let listing = x.front.listings.now(&x.upstream, &surface).await?;
    let most = most(x);
    let (loaded, _) = listing.counts();
    let shown: Vec<Entry> = match loaded <= most {
        true => listing.entries.iter().filter(|entry| entry.loaded).cloned().collect(),
        false => chosen(x, &listing, most).await?,
    };
    let mut tools = match &after {
        None => Builtin::listed(hides(&listing, most)).map(|builtin| builtin.write(x.client.version)).collect(),
        Some(_) => Vec::new(),
    };
    let begin = after.map_or(0, |after| shown.partition_point(|entry| entry.name <= after));
    let page = &shown[begin.min(shown.len())..];
    let next = page.get(PAGE).and(page.get(PAGE - 1)).map(|last| URL_SAFE_NO_PAD.encode(&last.name));
    let page = &page[..page.len().min(PAGE)];
    for (entry, definition) in defined(x, page.to_vec()).await? {
        tools.push(definition.write(&entry, x.client.version));
    }
    let reply = Reply::new().raw("tools", &format!("[{}]", tools.join(",")));
    let reply = if let Some(next) = next { reply.value("nextCursor", &next) } else { reply };
    let reply = reply.meta(SURFACE_MOMENT, &listing.moment);
    Ok(reply.kept_for(KEPT_FOR, x.client.version))
}

/// Most tools that are listed without being asked for.
fn most(x: &Exchange) -> usize {
    usize::try_from(x.front.config.list_at_most).unwrap_or(usize::MAX)
}

/// Whether some tools are not listed.
fn hides(listing: &Listing, most: usize) -> bool {
    let (loaded, deferred) = listing.counts();
    loaded > most || deferred > 0
}

/// What this client is offered beside the tools themselves. Where that is not known, it may be told of a tool it does not see, which
/// answers all the same.
pub(crate) async fn door(x: &Exchange) -> Door {
    match x.front.listings.now(&x.upstream, &x.front.surface()).await {
        Ok(listing) if !hides(&listing, most(x)) => Door::Listing,
        _ => Door::Finding,
    }
}

/// The name after which the list goes on.
fn cursor(params: &Bytes) -> Result<Option<String>, Fault> {
    #[derive(Deserialize)]
    struct Params {
        #[serde(default)]
        cursor: Option<String>,
    }
    let wrong = || Fault::params("`cursor` is none of this list");
    let said: Params = serde_json::from_slice(params).map_err(|_| wrong())?;
    let Some(cursor) = said.cursor else { return Ok(None) };
    let name = URL_SAFE_NO_PAD.decode(cursor).ok().and_then(|name| String::from_utf8(name).ok());
    name.filter(|name| !name.is_empty()).map(Some).ok_or_else(wrong)
}

/// Of very many tools: those that want to be listed always, and those this client loaded, the newest ones.
async fn chosen(x: &Exchange, listing: &Listing, most: usize) -> Result<Vec<Entry>, Fault> {
    let loaded = listing.entries.iter().filter(|entry| entry.loaded).cloned().collect();
    let defined = defined(x, loaded).await?;
    let always = defined.into_iter().filter(|(_, definition)| definition.always_load);
    let mut chosen: HashSet<String> = always.map(|(entry, _)| entry.full_name).collect();
    chosen.extend(asked_for(x).await?.into_iter().take(most));
    Ok(listing.entries.iter().filter(|entry| chosen.contains(&entry.full_name)).cloned().collect())
}

/// The full names of the tools this client loaded, newest first.
async fn asked_for(x: &Exchange) -> Result<Vec<String>, Fault> {
    let request =
        toolplane_proto::v1::GetSurfaceRequest { surface_id: loaded_surface(x).surface_id, ..Default::default() };
    let surface = match x.upstream.surfaces().get_surface(request).await {
        Ok(answer) => answer.into_inner().surface.unwrap_or_default(),
        Err(status) if status.code() == Code::NotFound => return Ok(Vec::new()),
        Err(status) => return Err(status.into()),
    };
    let mut loaded = surface.loaded_tools;
    loaded.sort_by_key(|tool| tool.loaded_at.map(|at| std::cmp::Reverse((at.seconds, at.nanos))));
    Ok(loaded.into_iter().map(|tool| tool.name).collect())
}

/// The definitions of tools, in their order; a tool that is gone by now is left out.
async fn defined(x: &Exchange, entries: Vec<Entry>) -> Result<Vec<(Entry, Arc<Definition>)>, Status> {
    let asked = entries.into_iter().map(|entry| {
        let (front, upstream) = (Arc::clone(&x.front), x.upstream.clone());
        async move {
            let definition = front.definitions.of(&upstream, &entry).await?;
            Ok::<_, Status>(definition.map(|definition| (entry, definition)))
        }
    });
    let found: Vec<_> = futures_util::stream::iter(asked).buffered(AT_ONCE).try_collect().await?;
    Ok(found.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_the_last_name() {
        let of = |text: &str| cursor(&Bytes::copy_from_slice(text.as_bytes()));
        assert_eq!(of("{}").unwrap(), None);
        let there = URL_SAFE_NO_PAD.encode("a__b");
        assert_eq!(of(&format!(r#"{{"cursor":"{there}"}}"#)).unwrap().as_deref(), Some("a__b"));
        for wrong in [r#"{"cursor":"*"}"#, r#"{"cursor":""}"#, r#"{"cursor":1}"#] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
