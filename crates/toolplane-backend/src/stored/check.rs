//! Holding everything stored to its checksum.

use std::path::Path;

use toolplane_runtime::Config;
use toolplane_store_embedded::{EmbeddedOptions, Idle};
use toolplane_store_redis::CheckReport;

use super::error::StoredError;
use super::objects;
use super::places::{in_redis, present};
use super::references::{PayloadsOf, References};
use super::report::{Named, Objects, Part, Report};
use crate::{Backend, Keeper};

/// Holds every record, index entry, event and payload to its checksum, looks whether every payload that a record names is there
/// (`payloads` says which those are), and changes nothing.
///
/// What is damaged is in the report and is not an error.
///
/// # Errors
///
/// - [`StoredError::NoStore`] when no role keeps its state in Redis and no directory of an embedded store exists.
/// - [`StoredError::InUse`] when another process has an embedded store open.
/// - [`StoredError::Store`] when the files of an embedded store are missing or cannot be locked.
/// - [`StoredError::Redis`] when Redis cannot be opened or read.
/// - [`StoredError::File`] when a payload or a directory of payloads cannot be read.
pub async fn check(config: &Config, payloads: PayloadsOf) -> Result<Report, StoredError> {
    let mut references = References::new(payloads);
    let mut stores = Vec::new();
    for (keeper, path) in present(config) {
        stores.push(embedded(keeper, &path, &mut references)?);
    }
    for keeper in in_redis(config) {
        stores.push(redis(config, keeper, &mut references).await?);
    }
    // To look in the wrong place is not to find everything sound.
    if stores.is_empty() {
        return Err(StoredError::NoStore(config.server.data_dir.clone()));
    }
    let objects = match config.objects_bucket() {
        // Each payload is held to its digest when it is read; a bucket has means of its own to prove all of them.
        Some(bucket) => Objects { elsewhere: Some(bucket.to_owned()), ..Objects::default() },
        None => {
            let mut objects = objects::check(&config.objects_dir())?;
            objects.damaged.extend(references.missing(config)?);
            objects
        }
    };
    let good = |part: &Part| part.damaged.is_empty() && part.fatal.is_none();
    Ok(Report { sound: stores.iter().all(good) && objects.damaged.is_empty(), stores, objects })
}

fn embedded(keeper: Keeper, path: &Path, references: &mut References) -> Result<Part, StoredError> {
    let idle = Idle::hold(path).map_err(StoredError::store(path))?;
    let found = idle.check_with(&EmbeddedOptions::default(), |key, bytes| references.see(keeper, key, bytes));
    Ok(Part {
        role: keeper.as_str(),
        place: path.display().to_string(),
        records: found.records,
        entries: found.entries,
        events: found.event_rows,
        damaged: found.damage.iter().map(Named::from).collect(),
        fatal: found.fatal,
    })
}

async fn redis(config: &Config, keeper: Keeper, references: &mut References) -> Result<Part, StoredError> {
    let unusable = |reason: String| StoredError::Redis { keeper, reason };
    let backend = Backend::open(config, keeper).await.map_err(|error| unusable(error.to_string()))?;
    let Backend::Redis(shards) = &backend else { return Err(unusable("it is not in Redis".to_owned())) };
    let mut found = CheckReport::default();
    for shard in shards.all() {
        let CheckReport { records, events, damage } =
            shard.prove().await.map_err(|error| unusable(error.to_string()))?;
        references.see_all(keeper, &**shard).await.map_err(|error| unusable(error.to_string()))?;
        found.records += records;
        found.events += events;
        found.damage.extend(damage);
    }
    Ok(Part {
        role: keeper.as_str(),
        place: format!("Redis, namespace `{}`", keeper.namespace(&config.store.redis.namespace)),
        records: found.records,
        entries: 0,
        events: found.events,
        damaged: found.damage.iter().map(Named::from).collect(),
        fatal: None,
    })
}
