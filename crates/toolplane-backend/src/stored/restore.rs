//! Bringing a backup back.

use std::fs;
use std::path::{Component, Path, PathBuf};

use toolplane_runtime::Config;

use super::error::StoredError;
use super::files::{self, Copied, Entry, FORMAT, MANIFEST, Manifest};
use super::places::directories;

/// Brings the backup in `directory` back to where `config` has its stores and nothing is. All of it is proved before anything
/// is written, and what fails later leaves nothing behind.
pub fn restore(config: &Config, directory: &Path) -> Result<Copied, StoredError> {
    let manifest = read(directory)?;
    let targets = targets(config, &manifest)?;
    for (_, target) in &targets {
        must_be_empty(target)?;
    }
    for entry in &manifest.files {
        prove(directory, entry)?;
    }
    let missing: Vec<PathBuf> = targets.iter().flat_map(|(_, target)| files::missing_above(target)).collect();
    let done = copy(directory, &manifest, &targets).and_then(|()| put_in_place(&targets));
    if done.is_err() {
        for (_, target) in &targets {
            // Half a store is none. What cannot be removed has a name of its own, and the next attempt removes it.
            drop(fs::remove_dir_all(partial(target)));
        }
        files::remove_empty(&missing);
    }
    done?;
    Ok(Copied::of(&manifest))
}

/// Where each part of the backup goes: what its paths begin with, and a directory.
fn targets(config: &Config, manifest: &Manifest) -> Result<Vec<(String, PathBuf)>, StoredError> {
    let mut targets: Vec<_> =
        directories(config).into_iter().map(|(keeper, path)| (format!("stores/{}/", keeper.as_str()), path)).collect();
    targets.push(("objects/".to_owned(), config.objects_dir()));
    for entry in &manifest.files {
        if !targets.iter().any(|(prefix, _)| entry.path.starts_with(prefix)) {
            return Err(StoredError::NoPlace(entry.path.clone()));
        }
    }
    Ok(targets)
}

fn read(directory: &Path) -> Result<Manifest, StoredError> {
    let path = directory.join(MANIFEST);
    let text = fs::read(&path).map_err(StoredError::file(&path))?;
    let unusable = |reason| StoredError::NotABackup { path: path.clone(), reason };
    let manifest: Manifest = serde_json::from_slice(&text).map_err(|error| unusable(error.to_string()))?;
    if manifest.format != FORMAT {
        return Err(unusable(format!("its format is {}, this version reads {FORMAT}", manifest.format)));
    }
    let plain = |path: &str| Path::new(path).components().all(|part| matches!(part, Component::Normal(_)));
    match manifest.files.iter().find(|entry| !plain(&entry.path)) {
        Some(entry) => Err(unusable(format!("`{}` leads elsewhere", entry.path))),
        None => Ok(manifest),
    }
}

fn must_be_empty(target: &Path) -> Result<(), StoredError> {
    if files::below(target)?.is_empty() {
        return Ok(());
    }
    Err(StoredError::NotEmpty(target.to_owned()))
}

fn prove(directory: &Path, entry: &Entry) -> Result<(), StoredError> {
    let path = directory.join(&entry.path);
    let mut size = 0;
    let sha256 = files::read(&path, |bytes| {
        size += bytes.len() as u64;
        Ok(())
    })?;
    if (size, &sha256) == (entry.size, &entry.sha256) {
        return Ok(());
    }
    Err(StoredError::Altered(path))
}

fn partial(target: &Path) -> PathBuf {
    files::beside(target, ".restoring")
}

fn copy(directory: &Path, manifest: &Manifest, targets: &[(String, PathBuf)]) -> Result<(), StoredError> {
    for (prefix, target) in targets {
        let partial = partial(target);
        if partial.exists() {
            fs::remove_dir_all(&partial).map_err(StoredError::file(&partial))?;
        }
        for entry in &manifest.files {
            let Some(name) = entry.path.strip_prefix(prefix.as_str()) else { continue };
            let copied = files::copy(&directory.join(&entry.path), &partial.join(name), entry.path.clone())?;
            if copied != *entry {
                return Err(StoredError::Changing(entry.path.clone()));
            }
        }
        if partial.exists() {
            files::flush_tree(&partial)?;
        }
    }
    Ok(())
}

/// Gives what was copied its name: all of it, or nothing.
fn put_in_place(targets: &[(String, PathBuf)]) -> Result<(), StoredError> {
    for (count, (_, target)) in targets.iter().enumerate() {
        let placed = place(target);
        if placed.is_err() {
            // They were empty before, and what is in them is in the backup.
            targets[..count].iter().for_each(|(_, target)| drop(fs::remove_dir_all(target)));
        }
        placed?;
    }
    Ok(())
}

fn place(target: &Path) -> Result<(), StoredError> {
    let partial = partial(target);
    if target.exists() {
        // Empty, as was seen before.
        fs::remove_dir_all(target).map_err(StoredError::file(target))?;
    }
    if partial.exists() {
        fs::rename(&partial, target).map_err(StoredError::file(target))?;
        files::flush_names(target)?;
    }
    Ok(())
}
