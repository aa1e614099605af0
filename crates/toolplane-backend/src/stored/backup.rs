//! Copying everything stored.

use std::fs;
use std::path::{Path, PathBuf};

use toolplane_runtime::Config;
use toolplane_runtime::clock;
use toolplane_store_embedded::{EmbeddedOptions, Idle};

use super::error::StoredError;
use super::files::{self, Copied, Entry, FORMAT, MANIFEST, Manifest};
use super::objects;
use super::places::{in_redis, present};
use super::references::{PayloadsOf, References};
use crate::Keeper;

/// A store that no other process opens meanwhile.
type Held = (Keeper, Idle, PathBuf);

/// Copies every embedded store and every payload of `config` into the new directory `directory`, proved before and counted
/// while it is copied. What fails leaves nothing with that name, and no part of it. Payloads that records name (`payloads` says
/// which) and that are not there cannot be copied: they are told, and are no error, for a backup without them is still the best
/// there is.
pub fn backup(config: &Config, directory: &Path, payloads: PayloadsOf) -> Result<Copied, StoredError> {
    if directory.exists() {
        return Err(StoredError::Exists(directory.to_owned()));
    }
    // All of them at once, so that what one role says of another is of the same moment.
    let mut held = Vec::new();
    for (keeper, path) in present(config) {
        held.push((keeper, Idle::hold(&path).map_err(StoredError::store(&path))?, path));
    }
    if held.is_empty() {
        return Err(StoredError::NoStore(config.server.data_dir.clone()));
    }
    let mut references = References::new(payloads);
    for (keeper, store, path) in &held {
        if !store.check_with(&EmbeddedOptions::default(), |key, bytes| references.see(*keeper, key, bytes)).is_sound() {
            return Err(StoredError::Damaged(path.clone()));
        }
    }
    let missing = files::missing_above(directory);
    // Under another name until it is whole: what has the name of a backup is one.
    let partial = files::beside(directory, ".partial");
    let finished = write(config, &held, &partial).and_then(|manifest| {
        fs::rename(&partial, directory).map_err(StoredError::file(directory))?;
        Ok(manifest)
    });
    if finished.is_err() {
        // Of no use any more. What cannot be removed has a name of its own, and the next attempt removes it.
        drop(fs::remove_dir_all(&partial));
        files::remove_empty(&missing);
    }
    let manifest = finished?;
    files::flush_names(directory)?;
    Ok(Copied { missing: references.missing(config)?, ..Copied::of(&manifest) })
}

fn write(config: &Config, held: &[Held], target: &Path) -> Result<Manifest, StoredError> {
    if target.exists() {
        fs::remove_dir_all(target).map_err(StoredError::file(target))?;
    }
    let mut entries: Vec<Entry> = Vec::new();
    for (keeper, store, path) in held {
        for file in store.files().map_err(StoredError::store(path))? {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let place = format!("stores/{}/{name}", keeper.as_str());
            entries.push(files::copy(&file, &target.join(&place), place)?);
        }
    }
    let directory = config.objects_dir();
    let names = if config.objects_bucket().is_some() { Vec::new() } else { files::below(&directory)? };
    for name in names {
        let (file, place) = (directory.join(&name), format!("objects/{}", name.display()));
        let copied = files::copy(&file, &target.join(&place), place)?;
        if objects::damage(&name, &copied.sha256).is_some() {
            return Err(StoredError::Damaged(file));
        }
        entries.push(copied);
    }
    let manifest = Manifest {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        made_at: clock::now().to_string(),
        not_included: in_redis(config)
            .map(|keeper| keeper.as_str().to_owned())
            .chain(config.objects_bucket().map(|bucket| format!("payloads in {bucket}")))
            .collect(),
        files: entries,
    };
    manifest.write(&target.join(MANIFEST))?;
    files::flush_tree(target)?;
    Ok(manifest)
}
