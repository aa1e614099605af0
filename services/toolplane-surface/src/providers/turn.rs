//! Changes of one provider, one at a time in this process, and begun anew when another process was faster.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use toolplane_backend::let_others_through;
use toolplane_records::ids::{ProviderId, TenantId};
use toolplane_runtime::ApiError;

use super::Providers;
use super::held::Held;
use crate::error::lost;
use crate::registry::to_the_end;

/// How often it is begun anew when another process is faster.
const ATTEMPTS: u32 = 8;

/// One try to change a provider from what it is; nothing when another process was faster.
pub(super) type Try<T> = BoxFuture<'static, Result<Option<T>, ApiError>>;

impl Providers {
    /// Changes the provider of that name in its turn. `change` is given what it is now; nothing when there is none. Goes on to its end
    /// when the caller goes away.
    pub(super) async fn in_turn<T: Send + 'static>(
        &self,
        tenant: &TenantId,
        id: &ProviderId,
        change: impl Fn(Option<Arc<Held>>) -> Try<T> + Send + Sync + 'static,
    ) -> Result<T, ApiError> {
        let (shelf, tenant, id) = (Arc::clone(&self.shelf), tenant.clone(), id.clone());
        to_the_end(async move {
            let turn = shelf.turn(&tenant, &id);
            let _turn = turn.lock().await;
            for tries in 1..=ATTEMPTS {
                if let Some(made) = change(shelf.get(&tenant, &id)).await? {
                    return Ok(made);
                }
                let_others_through(tries).await;
            }
            Err(lost())
        })
        .await
    }
}

/// The provider, where there has to be one.
pub(super) fn there(held: Option<Arc<Held>>, id: &ProviderId) -> Result<Arc<Held>, ApiError> {
    held.ok_or_else(|| ApiError::not_found("provider", id.as_str()))
}
