//! Which payloads the records name: one that is named and not there is lost.

use std::collections::BTreeMap;
use std::path::PathBuf;

use toolplane_results::PayloadKey;
use toolplane_results::payload::key::URI_PREFIX;
use toolplane_runtime::Config;
use toolplane_runtime::clock;
use toolplane_store::{Family, RecordKey, Store};

use super::error::StoredError;
use super::objects::{self, KIND};
use super::report::Named;
use crate::Keeper;

/// Records read at once.
const PAGE: usize = 256;

/// What a role says of a record of its own: the addresses of the payloads it names.
pub type PayloadsOf = fn(Keeper, &RecordKey, &[u8]) -> Vec<String>;

/// The payloads that records name, by the record.
pub(super) struct References {
    of: PayloadsOf,
    named: BTreeMap<(&'static str, Family, String), Vec<String>>,
}

impl References {
    pub(super) fn new(of: PayloadsOf) -> Self {
        Self { of, named: BTreeMap::new() }
    }

    /// Takes note of a record of `keeper`, or of its end.
    pub(super) fn see(&mut self, keeper: Keeper, key: &RecordKey, bytes: Option<&[u8]>) {
        let payloads = bytes.map(|bytes| (self.of)(keeper, key, bytes)).unwrap_or_default();
        let name = (keeper.as_str(), key.family, key.id.clone());
        match payloads.is_empty() {
            true => self.named.remove(&name),
            false => self.named.insert(name, payloads),
        };
    }

    /// Takes note of every record of `store` that can be read.
    pub(super) async fn see_all(
        &mut self,
        keeper: Keeper,
        store: &dyn Store,
    ) -> Result<(), toolplane_store::StoreError> {
        for family in Family::ALL {
            let mut after = None;
            loop {
                let page = store.keys(family, after.as_deref(), PAGE).await?;
                let keys: Vec<RecordKey> = page.iter().map(|(id, _)| RecordKey::new(family, id.as_str())).collect();
                for (key, found) in keys.iter().zip(store.get_each(&keys).await?) {
                    self.see(keeper, key, found.ok().flatten().as_ref().map(|stored| &stored.bytes[..]));
                }
                match page.last().filter(|_| page.len() == PAGE) {
                    Some((last, _)) => after = Some(last.clone()),
                    None => break,
                }
            }
        }
        Ok(())
    }

    /// The payloads that are named, not there, not taken out because they were damaged, and not so old that they are kept no longer.
    pub(super) fn missing(&self, config: &Config) -> Result<Vec<Named>, StoredError> {
        if config.objects_bucket().is_some() {
            return Ok(Vec::new());
        }
        let (directory, now) = (config.objects_dir(), clock::now());
        let forgotten = objects::forgotten(config)?;
        let mut missing = Vec::new();
        for ((_, _, record), payloads) in &self.named {
            for uri in payloads {
                let Ok(key) = uri.parse::<PayloadKey>() else { continue };
                let name = PathBuf::from(key.uri().trim_start_matches(URI_PREFIX));
                let file = directory.join(&name);
                let over = config.objects.retention_days.is_some_and(|days| key.is_older_than(days, now));
                let taken_out = || forgotten.iter().any(|kept| kept.join(&name).is_file());
                if !over && !file.try_exists().map_err(StoredError::file(&file))? && !taken_out() {
                    let reason = format!("its file is missing; `{record}` names it");
                    missing.push(Named { kind: KIND.to_owned(), name: uri.clone(), reason });
                }
            }
        }
        Ok(missing)
    }
}
