//! Moving what the role kept in a directory of its own to Redis, once.
//!
//! Earlier versions kept tools and surfaces in a directory also where `store.backend` was `redis`. The first start that finds such
//! a directory moves everything and gives the directory another name. A record in Redis says that a move has begun, so no other
//! process changes anything meanwhile and one that broke off is gone on with, and that it was done, so it is done once.

use std::path::Path;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use toolplane_backend::{Backend, Keeper};
use toolplane_runtime::Config;
use toolplane_store::{
    Commit, CommitOutcome, Expect, Family, IndexOp, RecordKey, ScoreRange, Store, StoreError, Write,
};

use crate::error::SurfaceError;
use crate::keys;

/// What the directory is called once everything in it was moved, beside it.
const AFTERWARDS: &str = "surface.moved-to-redis";
/// How many records, entries or events are moved at once: a surface can have a megabyte.
const AT_ONCE: usize = 8;
/// How many entries of an index are moved at once.
const ENTRIES: usize = 1_000;

/// How far the move is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stage {
    Begun,
    Done,
}

/// Moves what lies in the role's directory to `backend`, when that is Redis and anything does.
///
/// # Errors
///
/// - [`SurfaceError::Open`] when the directory cannot be used, e.g. by a process that still runs.
/// - [`SurfaceError::Store`] when a store cannot be read or written.
/// - [`SurfaceError::Moved`] when Redis holds tools or surfaces of its own already, the directory was moved before, or
///   another process is moving its own right now.
pub(crate) async fn take_over(config: &Config, backend: &Backend) -> Result<(), SurfaceError> {
    if matches!(backend, Backend::Embedded(_)) {
        return Ok(());
    }
    let (directory, to) = (Keeper::Surface.directory(config), backend.store());
    let refuse = |reason: String| Err(SurfaceError::Moved { directory: directory.clone(), reason });
    let stage = stage(&*to).await?;
    let Some(old) = old_store(&directory, config.store.cache_bytes).await? else {
        return match stage {
            Some((_, Stage::Begun)) => {
                refuse("another process is moving them from its directory; start again when that is done".to_owned())
            }
            _ => Ok(()),
        };
    };
    match stage {
        None if holds_anything(&*to).await? => {
            let away = "move the directory away to go on with those, or the namespace in Redis to take these over";
            return refuse(format!("Redis has tools or surfaces of its own; {away}"));
        }
        None => set_stage(&*to, Expect::Absent, Stage::Begun).await?,
        Some((_, Stage::Begun)) => {}
        Some((_, Stage::Done)) => {
            return refuse("they were moved before, and Redis has newer ones; move the directory away".to_owned());
        }
    }
    let count = copy(&*old.store(), &*to).await?;
    // The name it gets says that everything is in Redis, so that is made certain first.
    let version = stage_version(&*to).await?;
    set_stage(&*to, Expect::Version(version), Stage::Done).await?;
    old.close().await?;
    drop(old);
    let afterwards = directory.with_file_name(AFTERWARDS);
    if let Err(error) = std::fs::rename(&directory, &afterwards) {
        return refuse(format!("they are in Redis now; move the directory away: {error}"));
    }
    tracing::info!(count, directory = %afterwards.display(), "tools and surfaces were moved to Redis; this is where they were");
    Ok(())
}

/// The store in the directory, when there is one that holds anything.
async fn old_store(directory: &Path, cache_bytes: usize) -> Result<Option<Backend>, SurfaceError> {
    if std::fs::read_dir(directory).map_or(true, |mut entries| entries.next().is_none()) {
        return Ok(None);
    }
    let old = Backend::in_directory(directory, cache_bytes)?;
    match holds_anything(&*old.store()).await? {
        true => Ok(Some(old)),
        false => {
            old.close().await?;
            Ok(None)
        }
    }
}

async fn holds_anything(store: &dyn Store) -> Result<bool, StoreError> {
    for family in [Family::Declaration, Family::Surface] {
        if !store.keys(family, None, 1).await?.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

async fn stage(store: &dyn Store) -> Result<Option<(u64, Stage)>, StoreError> {
    let Some(found) = store.get(&keys::takeover()).await? else { return Ok(None) };
    let unreadable =
        |error| StoreError::Corrupt { reason: format!("the record `{}` cannot be read: {error}", keys::takeover()) };
    Ok(Some((found.version, serde_json::from_slice(&found.bytes).map_err(unreadable)?)))
}

async fn stage_version(store: &dyn Store) -> Result<u64, StoreError> {
    Ok(stage(store).await?.map_or(0, |(version, _)| version))
}

async fn set_stage(store: &dyn Store, before: Expect, stage: Stage) -> Result<(), StoreError> {
    let key = keys::takeover();
    let bytes = Bytes::from(serde_json::to_vec(&stage).unwrap_or_default());
    let commit =
        Commit { compare: vec![(key.clone(), before)], writes: vec![Write::Put { key, bytes }], ..Commit::default() };
    match store.commit(commit).await? {
        CommitOutcome::Applied | CommitOutcome::Replayed => Ok(()),
        CommitOutcome::Lost { .. } | CommitOutcome::Full { .. } => {
            Err(StoreError::Unavailable { reason: "another process moves tools to the same place".to_owned() })
        }
    }
}

/// Copies everything, and says how many records that are. What was copied before is left as it is.
async fn copy(from: &dyn Store, to: &dyn Store) -> Result<usize, StoreError> {
    let mut count = 0;
    for family in [Family::Meta, Family::Surface, Family::Declaration] {
        let mut after: Option<String> = None;
        loop {
            let page = from.keys(family, after.as_deref(), AT_ONCE).await?;
            let Some((last, _)) = page.last() else { break };
            after = Some(last.clone());
            count += page.len();
            for (id, found) in page {
                let key = RecordKey::new(family, id);
                if let Some(log) = keys::log_of(&key) {
                    copy_log(from, to, &log).await?;
                }
                let absent = vec![(key.clone(), Expect::Absent)];
                let writes = vec![Write::Put { key, bytes: found.bytes }];
                // Lost: it was copied before.
                to.commit(Commit { compare: absent, writes, ..Commit::default() }).await?;
            }
        }
    }
    for index in from.indexes("").await? {
        copy_index(from, to, index).await?;
    }
    Ok(count)
}

async fn copy_log(from: &dyn Store, to: &dyn Store, stream: &str) -> Result<(), StoreError> {
    loop {
        let next = to.events(stream, u64::MAX, 1).await?.head_seq + 1;
        let page = from.events(stream, next, AT_ONCE).await?;
        if page.events.is_empty() {
            return Ok(());
        }
        let events = page.events.into_iter().map(|(_, bytes)| bytes).collect();
        let append = toolplane_store::Append { stream: stream.to_owned(), first_seq: next, events };
        to.commit(Commit { events: vec![append], ..Commit::default() }).await?;
    }
}

async fn copy_index(from: &dyn Store, to: &dyn Store, index: String) -> Result<(), StoreError> {
    let mut range = ScoreRange::all();
    loop {
        let page = from.scan(&index, range.clone(), ENTRIES).await?;
        let Some(last) = page.last() else { return Ok(()) };
        range = range.after(last);
        let put = |entry: toolplane_store::IndexEntry| IndexOp::Put {
            index: index.clone(),
            score: entry.score,
            member: entry.member,
        };
        to.commit(Commit { index: page.into_iter().map(put).collect(), ..Commit::default() }).await?;
    }
}
