//! Taking something damaged out of which there is no backup.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use toolplane_results::payload::key::URI_PREFIX;
use toolplane_runtime::Config;
use toolplane_runtime::clock;
use toolplane_store::{Commit, CommitOutcome, Damage, DamageLocation, IndexOp, Store, Write};
use toolplane_store_embedded::{EmbeddedOptions, EmbeddedStore, Idle};

use super::error::StoredError;
use super::forgotten::{Forgotten, KEPT, Kept};
use super::places::{in_redis, present};
use super::{files, objects};
use crate::forget::{Along, Entries, Verdict};
use crate::{Backend, Keeper};

/// Most index entries taken out by one commit.
const ENTRIES: usize = 1_000;

/// Takes the damaged `kind` and `name` out of the store that has it, as [`check`](super::check) names them, together with what
/// `judge` says is of no use without it. All of it is kept in a file first.
///
/// # Errors
///
/// - [`StoredError::NotDamaged`] when nothing damaged has this kind and name.
/// - [`StoredError::Stays`] when `judge` says that it must stay.
/// - [`StoredError::InUse`] when another process has an embedded store open.
/// - [`StoredError::Store`], [`StoredError::Files`] or [`StoredError::Redis`] when a store cannot be opened, read or
///   changed.
/// - [`StoredError::NotForgotten`] when an embedded store is open and then does not read or remove the rows.
/// - [`StoredError::File`] when the file that keeps what is taken out cannot be written, or a payload cannot be read
///   or moved.
/// - [`StoredError::Changing`] when a payload changes while it is copied.
pub async fn forget(
    config: &Config,
    kind: &str,
    name: &str,
    judge: impl Fn(Keeper, &DamageLocation) -> Verdict,
) -> Result<Forgotten, StoredError> {
    // Records of the same kind have no address.
    if kind == objects::KIND && name.starts_with(URI_PREFIX) {
        return objects::forget(config, name);
    }
    let is_meant = |damage: &&Damage| damage.place.kind() == kind && damage.place.name() == name;
    for (keeper, path) in present(config) {
        let found = Idle::hold(&path).map_err(StoredError::store(&path))?.check(&EmbeddedOptions::default());
        let Some(damage) = found.damage.iter().find(is_meant) else { continue };
        let along = agreed(&damage.place, judge(keeper, &damage.place))?;
        let taken = Taken { config, keeper, place: &damage.place };
        return taken.take_from_directory(&path, &along).await;
    }
    for keeper in in_redis(config) {
        let unusable = |reason: String| StoredError::Redis { keeper, reason };
        let backend = Backend::open(config, keeper).await.map_err(|error| unusable(error.to_string()))?;
        let Backend::Redis(shards) = &backend else { continue };
        // What goes with a record lies in its shard.
        for store in shards.all() {
            let found = store.prove().await.map_err(|error| unusable(error.to_string()))?;
            let Some(damage) = found.damage.iter().find(is_meant) else { continue };
            let along = agreed(&damage.place, judge(keeper, &damage.place))?;
            let rows = store.raw(&along.records, &along.streams).await.map_err(|error| unusable(error.to_string()))?;
            let taken = Taken { config, keeper, place: &damage.place };
            let kept = taken.keep(rows.iter().map(|(key, value)| Kept::new(key.as_bytes(), value)).collect())?;
            remove(&**store, &along).await.map_err(unusable)?;
            return Ok(kept);
        }
    }
    Err(StoredError::NotDamaged { kind: kind.to_owned(), name: name.to_owned() })
}

fn agreed(place: &DamageLocation, verdict: Verdict) -> Result<Along, StoredError> {
    match verdict {
        Verdict::Goes(along) => Ok(along),
        Verdict::Stays(instead) => Err(StoredError::Stays { place: place.to_string(), instead }),
    }
}

/// What is being taken out.
struct Taken<'a> {
    config: &'a Config,
    keeper: Keeper,
    place: &'a DamageLocation,
}

impl Taken<'_> {
    async fn take_from_directory(&self, path: &Path, along: &Along) -> Result<Forgotten, StoredError> {
        if let DamageLocation::Part(part) = self.place {
            let mut kept = None;
            let idle = Idle::hold(path).map_err(StoredError::store(path))?;
            idle.take_out(part, &EmbeddedOptions::default(), |rows| {
                let values = rows.iter().map(|row| Kept::new(&row.key, &row.value)).collect();
                kept = Some(self.keep(values)?);
                Ok::<_, StoredError>(())
            })?;
            return kept.ok_or_else(|| self.failed("nothing was kept".to_owned()));
        }
        let store = EmbeddedStore::open(path, EmbeddedOptions::default()).map_err(StoredError::store(path))?;
        let rows = store.rows(&along.records, &along.streams).await.map_err(|error| self.failed(error.to_string()))?;
        let kept = self.keep(rows.iter().map(|row| Kept::new(&row.key, &row.value)).collect())?;
        remove(&store, along).await.map_err(|reason| self.failed(reason))?;
        // Only a checkpoint takes rows out that were set aside.
        store.close().await.map_err(|error| self.failed(error.to_string()))?;
        Ok(kept)
    }

    fn failed(&self, reason: String) -> StoredError {
        StoredError::NotForgotten { keeper: self.keeper, reason }
    }

    /// Keeps what is about to go, durably, in a file of its own.
    fn keep(&self, values: Vec<Kept>) -> Result<Forgotten, StoredError> {
        let folder = self.config.server.data_dir.join(KEPT);
        files::make(&folder)?;
        let file = folder.join(format!("{}-{}.json", self.keeper.as_str(), clock::since_epoch().as_micros()));
        let forgotten = Forgotten {
            role: self.keeper.as_str(),
            kind: self.place.kind().to_owned(),
            name: self.place.name().to_owned(),
            at: clock::now().to_string(),
            values,
            file: file.clone(),
        };
        let written = serde_json::to_vec_pretty(&forgotten).map_err(std::io::Error::from).and_then(|text| {
            let mut kept = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file)?;
            kept.write_all(&text)?;
            kept.sync_all()
        });
        written.map_err(StoredError::file(&file))?;
        files::flush_names(&file)?;
        Ok(forgotten)
    }
}

async fn remove(store: &dyn Store, along: &Along) -> Result<(), String> {
    let mut entries = Vec::new();
    if let Some(Entries { member, stand_for_it }) = &along.entries {
        let indexes = store.indexes("").await.map_err(|error| error.to_string())?;
        let meant = indexes.into_iter().filter(|index| stand_for_it(index));
        entries.extend(meant.map(|index| IndexOp::Remove { index, member: member.clone() }));
    }
    // The lists first: what is in none of them and still stored is found and taken out again.
    for index in entries.chunks(ENTRIES) {
        apply(store, Commit { index: index.to_vec(), essential: true, ..Commit::default() }).await?;
    }
    let writes = along.records.iter().map(|key| Write::Delete { key: key.clone() }).collect();
    apply(store, Commit { writes, forget: along.streams.clone(), essential: true, ..Commit::default() }).await
}

async fn apply(store: &dyn Store, commit: Commit) -> Result<(), String> {
    match store.commit(commit).await {
        Ok(CommitOutcome::Applied) => Ok(()),
        Ok(other) => Err(format!("{other:?}")),
        Err(error) => Err(error.to_string()),
    }
}
