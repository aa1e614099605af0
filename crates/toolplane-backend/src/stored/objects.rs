//! Payloads, held to the digests in their names.

use std::path::{Path, PathBuf};

use toolplane_results::PayloadKey;
use toolplane_results::payload::key::URI_PREFIX;
use toolplane_runtime::Config;
use toolplane_runtime::clock;
use toolplane_store_embedded::Idle;

use super::error::StoredError;
use super::files;
use super::forgotten::{Forgotten, KEPT};
use super::places::present;
use super::report::{Named, Objects};

/// What damaged payloads are called beside the families of records.
pub(super) const KIND: &str = "payload";

/// Checks every payload against the digest in its name.
pub(super) fn check(directory: &Path) -> Result<Objects, StoredError> {
    let mut found = Objects::default();
    for name in files::below(directory)? {
        if promised(&name).is_none() {
            continue;
        }
        found.files += 1;
        let actual = files::read(&directory.join(&name), |_| Ok(()))?;
        found.damaged.extend(damage(&name, &actual));
    }
    Ok(found)
}

/// What is wrong with the file of this name below the objects, whose bytes have this SHA-256.
pub(super) fn damage(name: &Path, actual: &str) -> Option<Named> {
    let key = promised(name)?;
    let reason = format!("its bytes have the digest sha256:{actual}");
    (key.digest()?.hex() != actual).then(|| Named { kind: KIND.to_owned(), name: key.uri(), reason })
}

/// The payload a file is named after. Proofs of starts and archives have no digest in their names.
fn promised(name: &Path) -> Option<PayloadKey> {
    let key: PayloadKey = format!("{URI_PREFIX}{}", name.display()).parse().ok()?;
    key.digest().is_some().then_some(key)
}

/// The directories that keep payloads which were taken out, each below all of its name.
pub(super) fn forgotten(config: &Config) -> Result<Vec<PathBuf>, StoredError> {
    let kept = config.server.data_dir.join(KEPT);
    let entries = match std::fs::read_dir(&kept) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(StoredError::file(&kept))?,
    };
    let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| entry.map(|entry| entry.path())).collect();
    let of_payloads = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.strip_prefix(KIND).is_some_and(|rest| rest.starts_with('-')) && path.is_dir()
    };
    Ok(paths.map_err(StoredError::file(&kept))?.into_iter().filter(of_payloads).collect())
}

/// Takes the damaged payload of this address out. Its file is kept as it is, with all of its name, below what is forgotten.
pub(super) fn forget(config: &Config, address: &str) -> Result<Forgotten, StoredError> {
    let unmet = || StoredError::NotDamaged { kind: KIND.to_owned(), name: address.to_owned() };
    // No process gives out or keeps payloads meanwhile.
    let held: Result<Vec<Idle>, StoredError> =
        present(config).into_iter().map(|(_, path)| Idle::hold(&path).map_err(StoredError::store(&path))).collect();
    let held = held?;
    // Only an address can be read as a key, so this never leaves the directory.
    let key: PayloadKey = address.parse().map_err(|_| unmet())?;
    let name = PathBuf::from(key.uri().trim_start_matches(URI_PREFIX));
    let from = config.objects_dir().join(&name);
    if !from.is_file() {
        return Err(unmet());
    }
    let actual = files::read(&from, |_| Ok(()))?;
    damage(&name, &actual).ok_or_else(unmet)?;
    let kept = config.server.data_dir.join(KEPT).join(format!("{KIND}-{}", clock::since_epoch().as_micros()));
    let file = kept.join(&name);
    // It may lie on another disk.
    if files::copy(&from, &file, String::new())?.sha256 != actual {
        return Err(StoredError::Changing(address.to_owned()));
    }
    files::flush_tree(&kept)?;
    files::flush_names(&kept)?;
    std::fs::remove_file(&from).map_err(StoredError::file(&from))?;
    files::flush_names(&from)?;
    drop(held);
    let (kind, name) = (KIND.to_owned(), address.to_owned());
    Ok(Forgotten { role: "objects", kind, name, at: clock::now().to_string(), values: Vec::new(), file })
}
