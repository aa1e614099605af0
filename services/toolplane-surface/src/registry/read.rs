//! The stored tools of all tenants, brought back into memory: read page by page, worked out by as many threads as there are, and put
//! together in their order.

use std::collections::HashMap;

use futures_util::{Stream, TryStreamExt as _, stream};
use toolplane_catalog::Catalog;
use toolplane_catalog::catalog::{NotRestored, PreparedTools};
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

/// Tools of one tenant after the other, as they are stored.
type Worked = Vec<(TenantId, PreparedTools)>;

/// The stored tools of all tenants. One that cannot be used is an error: to go on without it would change what surfaces mean.
pub(super) async fn read_catalogs(store: &dyn Store) -> Result<Catalogs, SurfaceError> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let work_out = |page: Page| away(move || worked_out(&page));
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

fn worked_out(page: &Page) -> Result<Worked, SurfaceError> {
    let tenant_of = |(key, _): &(String, Versioned)| keys::tenant_of_tool(key);
    let of_tenant = |tools: &[(String, Versioned)]| {
        let Some((key, tenant)) = tools.first().map(|first| (&first.0, tenant_of(first))) else { return Ok(None) };
        let tenant =
            tenant.ok_or_else(|| SurfaceError::Tool { key: key.clone(), reason: "has no tenant".to_owned() })?;
        let stored = tools.iter().map(|(key, stored)| StoredTool::change(key, &stored.bytes));
        Ok(Some((tenant, PreparedTools::of(stored.collect::<Result<_, _>>()?))))
    };
    page.chunk_by(|a, b| tenant_of(a) == tenant_of(b)).filter_map(|tools| of_tenant(tools).transpose()).collect()
}

fn put_together(mut catalogs: Catalogs, worked: Worked) -> Result<Catalogs, SurfaceError> {
    for (tenant, tools) in worked {
        let catalog = catalogs.remove(&tenant).unwrap_or_else(empty);
        let restored = catalog.restored(tools).map_err(|NotRestored { tool_id, faults }| SurfaceError::Tool {
            key: keys::tool(&tenant, &tool_id).id,
            reason: first_of(&faults),
        })?;
        catalogs.insert(tenant, restored);
    }
    Ok(catalogs)
}

/// Away from the threads that serve calls.
async fn away<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, SurfaceError> + Send + 'static,
) -> Result<T, SurfaceError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| SurfaceError::ending())?
}
