//! What tenants added, as the store keeps it: one record for each.

use toolplane_records::ids::TenantId;
use toolplane_store::{Found, ScoreRange, Store, StoreError, Versioned};

use super::book::Book;
use super::known::Thesauri;
use crate::keys;

/// How many tenants are read at once.
const READ_PAGE: usize = 100;

impl Thesauri {
    /// Reads what was added to all tenants.
    pub(crate) async fn read(&self, store: &dyn Store) -> Result<(), StoreError> {
        let mut range = ScoreRange::all();
        loop {
            let page = store.scan(keys::SYNONYMS, range.clone(), READ_PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            range = range.after(last);
            let tenants: Vec<_> = page.iter().filter_map(|entry| TenantId::parse(&entry.member).ok()).collect();
            self.read_of(store, &tenants).await?;
        }
    }

    /// Reads what was added to these tenants. What cannot be read is in no search until it is mended; all else goes on.
    pub(crate) async fn read_of(&self, store: &dyn Store, tenants: &[TenantId]) -> Result<(), StoreError> {
        let records: Vec<_> = tenants.iter().map(keys::synonyms).collect();
        for (tenant, found) in tenants.iter().zip(store.get_each(&records).await?) {
            match found_book(found) {
                Ok(Some((version, book))) => self.put(tenant, version, book),
                Ok(None) => self.forget(tenant),
                Err(error) => tracing::warn!(%error, %tenant, "synonyms that were added cannot be read"),
            }
        }
        Ok(())
    }
}

fn found_book(found: Found) -> Result<Option<(u64, Book)>, StoreError> {
    let Some(found) = found.map_err(StoreError::Damaged)? else { return Ok(None) };
    let reason = |error: serde_json::Error| StoreError::Corrupt { reason: error.to_string() };
    Ok(Some((found.version, read(&found).map_err(reason)?)))
}

/// A record as what it holds.
pub(super) fn read(found: &Versioned) -> Result<Book, serde_json::Error> {
    serde_json::from_slice(&found.bytes)
}
