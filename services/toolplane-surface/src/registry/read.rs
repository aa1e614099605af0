//! The stored tools of all tenants, brought back into memory: read page by page, worked out by as many threads as there are, and put
//! together in their order.

use std::collections::HashMap;

use futures_util::{Stream, TryStreamExt as _, stream};
use toolplane_catalog::Catalog;
use toolplane_catalog::catalog::Prepared;
use toolplane_records::ids::TenantId;
use toolplane_store::{Family, Store, Versioned};

use super::{empty, first_of};
use crate::error::SurfaceError;
use crate::keys;
use crate::records::StoredTool;

/// How many stored tools are read at once.
const PAGE: usize = 500;

type Catalogs = HashMap<TenantId, Catalog>;
type Page = Vec<(String, Versioned)>;

/// The stored tools of all tenants. One that cannot be used is an error: to go on without it would change what surfaces mean.
pub(super) async fn read_catalogs(store: &dyn Store) -> Result<Catalogs, SurfaceError> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let work_out = |page: Page| away(move || page.into_iter().map(prepared).collect::<Result<Vec<_>, _>>());
    let worked_out = pages(store).map_ok(work_out).try_buffered(threads);
    worked_out.try_fold(Catalogs::new(), |catalogs, tools| away(move || put_together(catalogs, tools))).await
}

fn pages(store: &dyn Store) -> impl Stream<Item = Result<Page, SurfaceError>> {
    stream::try_unfold(None::<String>, move |after| async move {
        let page = store.keys(Family::Declaration, after.as_deref(), PAGE).await?;
        let last = page.last().map(|(key, _)| key.clone());
        Ok(last.map(|last| (page, Some(last))))
    })
}

fn prepared((key, stored): (String, Versioned)) -> Result<(String, Prepared), SurfaceError> {
    let stored = StoredTool::prepared(&key, &stored.bytes)?;
    Ok((key, stored))
}

fn put_together(mut catalogs: Catalogs, tools: Vec<(String, Prepared)>) -> Result<Catalogs, SurfaceError> {
    for (key, tool) in tools {
        let unusable = |reason: String| SurfaceError::Tool { key: key.clone(), reason };
        let tenant = keys::tenant_of_tool(&key).ok_or_else(|| unusable("has no tenant".to_owned()))?;
        let restored = catalogs.entry(tenant).or_insert_with(empty).restore(tool);
        restored.map_err(|faults| unusable(first_of(&faults)))?;
    }
    Ok(catalogs)
}

/// Away from the threads that serve calls.
async fn away<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SurfaceError> + Send + 'static,
) -> Result<T, SurfaceError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| SurfaceError::ending())?
}
