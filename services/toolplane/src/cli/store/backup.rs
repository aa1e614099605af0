//! Copying everything stored.

use std::fs;
use std::path::{Path, PathBuf};

use toolplane_runtime::Config;
use toolplane_runtime::config::StoreBackend;
use toolplane_store_embedded::{Idle, Options};

use super::super::output::{Output, bytes};
use super::super::{Ending, Failure};
use super::files::{self, Entry, FORMAT, MANIFEST, Manifest};
use super::{local, present};

pub(super) fn run(config: &Config, directory: &Path, out: &mut Output) -> Result<Ending, Failure> {
    if directory.exists() {
        return Err(Failure::Usage(format!("`{}` is there already: name a new directory", directory.display())));
    }
    // All of them at once, so that what one role says of another is of the same moment.
    let mut held = Vec::new();
    for (role, path) in present(config) {
        held.push((role, Idle::hold(&path).map_err(|error| in_use(&path, error))?, path));
    }
    if held.is_empty() {
        let place = config.server.data_dir.display();
        return Err(Failure::Usage(format!("there is no store below `{place}`: name the configuration with --config")));
    }
    for (_, store, path) in &held {
        if !store.check(&Options::default()).is_sound() {
            let text = "is damaged, and a backup of it would take the place of a good one; see `toolplane store check`";
            return Err(Failure::Local(format!("`{}` {text}", path.display())));
        }
    }
    // Under another name until it is whole: what has the name of a backup is one.
    let partial = partial(directory);
    let written = write(config, &held, &partial);
    let manifest = match written {
        Ok(manifest) => manifest,
        Err(failure) => {
            // What is left of it is of no use to anybody.
            drop(fs::remove_dir_all(&partial));
            return Err(failure);
        }
    };
    fs::rename(&partial, directory).map_err(|error| Failure::file(directory, &error))?;
    files::flush(directory.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")))?;
    report(&manifest, directory, out)
}

fn partial(directory: &Path) -> PathBuf {
    let mut name = directory.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}

fn write(config: &Config, held: &[(&str, Idle, PathBuf)], target: &Path) -> Result<Manifest, Failure> {
    if target.exists() {
        fs::remove_dir_all(target).map_err(|error| Failure::file(target, &error))?;
    }
    let mut entries: Vec<Entry> = Vec::new();
    for (role, store, path) in held {
        for file in store.files().map_err(|error| local(path, error))? {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let place = format!("stores/{role}/{name}");
            entries.push(files::copy(&file, &target.join(&place), place)?);
        }
    }
    let objects = config.objects_dir();
    for name in files::below(&objects)? {
        let place = format!("objects/{}", name.display());
        entries.push(files::copy(&objects.join(&name), &target.join(&place), place)?);
    }
    let not_included = match config.store.backend {
        StoreBackend::Embedded => Vec::new(),
        StoreBackend::Redis => vec!["scheduler".to_owned(), "permission".to_owned()],
    };
    let manifest = Manifest {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        made_at: jiff::Timestamp::now().to_string(),
        not_included,
        files: entries,
    };
    let text = serde_json::to_vec_pretty(&manifest).map_err(|error| Failure::Local(error.to_string()))?;
    let path = target.join(MANIFEST);
    fs::write(&path, text).map_err(|error| Failure::file(&path, &error))?;
    fs::File::open(&path).and_then(|file| file.sync_all()).map_err(|error| Failure::file(&path, &error))?;
    for folder in ["", "stores"].map(|folder| target.join(folder)).iter().filter(|folder| folder.exists()) {
        files::flush(folder)?;
    }
    Ok(manifest)
}

fn report(manifest: &Manifest, directory: &Path, out: &mut Output) -> Result<Ending, Failure> {
    let size: u64 = manifest.files.iter().map(|file| file.size).sum();
    if out.json() {
        out.serialized(&serde_json::json!({
            "directory": directory, "made_at": manifest.made_at, "files": manifest.files.len(), "bytes": size,
            "not_included": manifest.not_included,
        }))?;
        return Ok(Ending::Done);
    }
    out.line(format!("{}: {} files, {}", directory.display(), manifest.files.len(), bytes(size)))?;
    if !manifest.not_included.is_empty() {
        out.note("what the scheduler and the permission role keep is in Redis: back that up with its own means, at the same time")?;
    }
    Ok(Ending::Done)
}

fn in_use(path: &Path, error: toolplane_store_embedded::OpenError) -> Failure {
    match error {
        toolplane_store_embedded::OpenError::Locked { .. } => Failure::Local(format!(
            "`{}` is in use: stop the cluster (SIGTERM) and try again; a snapshot of the whole disk or volume may be taken while it \
             runs, and opens like after a power cut",
            path.display()
        )),
        other => local(path, other),
    }
}
