//! Bringing a backup back.

use std::fs;
use std::path::{Component, Path, PathBuf};

use toolplane_runtime::Config;

use super::super::output::{Output, bytes};
use super::super::{Ending, Failure};
use super::directories;
use super::files::{self, Entry, FORMAT, MANIFEST, Manifest};

pub(super) async fn run(config: &Config, directory: &Path, out: &mut Output) -> Result<Ending, Failure> {
    let manifest = read(directory)?;
    let targets = targets(config, &manifest)?;
    for (_, target) in &targets {
        must_be_empty(target)?;
    }
    // All of it is proved before anything is written.
    for entry in &manifest.files {
        prove(directory, entry)?;
    }
    let done = copy(directory, &manifest, &targets);
    if done.is_err() {
        for (_, target) in &targets {
            // Half a store is none.
            drop(fs::remove_dir_all(partial(target)));
        }
    }
    done?;
    for (_, target) in &targets {
        if target.exists() {
            // Empty, as was seen before.
            fs::remove_dir_all(target).map_err(|error| Failure::file(target, &error))?;
        }
        let partial = partial(target);
        if partial.exists() {
            fs::rename(&partial, target).map_err(|error| Failure::file(target, &error))?;
        }
    }
    report(&manifest, config, out)
}

/// Where each part of the backup goes: what its paths begin with, and a directory.
fn targets(config: &Config, manifest: &Manifest) -> Result<Vec<(String, PathBuf)>, Failure> {
    let mut targets: Vec<_> =
        directories(config).into_iter().map(|(role, path)| (format!("stores/{role}/"), path)).collect();
    targets.push(("objects/".to_owned(), config.objects_dir()));
    for entry in &manifest.files {
        if !targets.iter().any(|(prefix, _)| entry.path.starts_with(prefix)) {
            let text = "has no place in this configuration: is `store.backend` the same as when the backup was made?";
            return Err(Failure::Usage(format!("`{}` {text}", entry.path)));
        }
    }
    Ok(targets)
}

fn read(directory: &Path) -> Result<Manifest, Failure> {
    let path = directory.join(MANIFEST);
    let text = fs::read(&path).map_err(|error| Failure::file(&path, &error))?;
    let unusable =
        |reason: String| Failure::Local(format!("`{}` is not the list of a backup: {reason}", path.display()));
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

fn must_be_empty(target: &Path) -> Result<(), Failure> {
    if files::below(target)?.is_empty() {
        return Ok(());
    }
    let text = "holds something: move it away first, a backup is only brought back to where nothing is";
    Err(Failure::Local(format!("`{}` {text}", target.display())))
}

fn prove(directory: &Path, entry: &Entry) -> Result<(), Failure> {
    let path = directory.join(&entry.path);
    let mut size = 0;
    let sha256 = files::read(&path, |bytes| {
        size += bytes.len() as u64;
        Ok(())
    })?;
    if (size, &sha256) == (entry.size, &entry.sha256) {
        return Ok(());
    }
    Err(Failure::Local(format!("`{}` is not what was backed up: nothing was restored", path.display())))
}

fn partial(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(".restoring");
    PathBuf::from(name)
}

fn copy(directory: &Path, manifest: &Manifest, targets: &[(String, PathBuf)]) -> Result<(), Failure> {
    for (prefix, target) in targets {
        let partial = partial(target);
        if partial.exists() {
            fs::remove_dir_all(&partial).map_err(|error| Failure::file(&partial, &error))?;
        }
        for entry in &manifest.files {
            let Some(name) = entry.path.strip_prefix(prefix.as_str()) else { continue };
            let copied = files::copy(&directory.join(&entry.path), &partial.join(name), entry.path.clone())?;
            if copied != *entry {
                return Err(Failure::Local(format!("`{}` changed while it was copied", entry.path)));
            }
        }
    }
    Ok(())
}

fn report(manifest: &Manifest, config: &Config, out: &mut Output) -> Result<Ending, Failure> {
    let size: u64 = manifest.files.iter().map(|file| file.size).sum();
    if out.json() {
        out.serialized(&serde_json::json!({
            "data_dir": config.server.data_dir, "made_at": manifest.made_at, "files": manifest.files.len(),
            "bytes": size, "not_included": manifest.not_included,
        }))?;
        return Ok(Ending::Done);
    }
    out.line(format!(
        "restored as of {}: {} files, {}, below {}",
        manifest.made_at,
        manifest.files.len(),
        bytes(size),
        config.server.data_dir.display()
    ))?;
    out.note("calls that had not ended then go on; what was accepted later is not known any more")?;
    Ok(Ending::Done)
}
