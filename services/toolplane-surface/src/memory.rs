//! What a process keeps in memory of the store beside the tools of tenants: surfaces, providers, synonyms, and what use has taught.
//!
//! Who changes one of them shows there what was stored. Of what other processes change the registry hears, and has it read again here.

use std::sync::Arc;

use toolplane_records::ids::TenantId;
use toolplane_store::{Store, StoreError};

use crate::cache::Cache;
use crate::learning::Learning;
use crate::providers::Shelf;
use crate::sync::Subject;
use crate::synonyms::Thesauri;

/// The memory. Cheap to clone; clones are the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    pub(crate) surfaces: Arc<Cache>,
    pub(crate) shelf: Arc<Shelf>,
    pub(crate) thesauri: Thesauri,
    pub(crate) learning: Learning,
}

impl Memory {
    pub(crate) fn new(thesauri: Thesauri, learning: Learning) -> Self {
        Self { thesauri, learning, ..Self::default() }
    }

    /// Reads what is in memory as a whole: providers, and what was added of synonyms.
    pub(crate) async fn read(&self, store: &dyn Store) -> Result<(), StoreError> {
        self.shelf.read(store).await?;
        self.thesauri.read(store).await
    }

    /// Reads that again, and forgets all surfaces.
    pub(crate) async fn read_again(&self, store: &dyn Store) -> Result<(), StoreError> {
        self.surfaces.clear().await;
        self.read(store).await
    }

    /// Reads again what has changed. Tools are no concern of this.
    pub(crate) async fn read_changed(&self, store: &dyn Store, changed: Vec<Subject>) -> Result<(), StoreError> {
        let (mut surfaces, mut providers) = (Vec::new(), Vec::new());
        let (mut synonyms, mut used): (Vec<TenantId>, Vec<TenantId>) = Default::default();
        for subject in changed {
            match subject {
                Subject::Tool(..) => {}
                Subject::Surface(tenant, id) => surfaces.push((tenant, id)),
                Subject::Provider(tenant, id) => providers.push((tenant, id)),
                Subject::Synonyms(tenant) => synonyms.push(tenant),
                Subject::Use(tenant) => used.push(tenant),
            }
        }
        for (tenant, id) in surfaces {
            self.surfaces.refresh(store, &tenant, &id).await?;
        }
        for (tenant, id) in providers {
            self.shelf.read_one(store, &tenant, &id).await?;
        }
        self.thesauri.read_of(store, &synonyms).await?;
        for tenant in used {
            self.learning.read_again(store, &tenant).await?;
        }
        Ok(())
    }
}
