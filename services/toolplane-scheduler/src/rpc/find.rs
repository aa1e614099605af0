//! Finding what a request names: ids of other tenants mean nothing here.

use std::sync::Arc;

use toolplane_records::batch::Batch;
use toolplane_records::ids::{BatchId, InvocationId, InvocationKey};
use toolplane_records::invocation::Invocation;
use toolplane_runtime::Caller;

use super::sight::may_see;
use crate::calls::Calls;
use crate::error::CallError;
use crate::groups::Groups;
use crate::identity;
use crate::storage::RecordError;

/// A living or ended invocation of the caller's tenant, by its id or by that its caller gave it.
pub(super) async fn call(calls: &Calls, caller: &Caller, id: &str) -> Result<Arc<Invocation>, CallError> {
    let parsed = InvocationId::parse(id).map_err(|rule| CallError::invalid("invocation_id", rule.to_string()))?;
    let mut found = calls.records().get(&InvocationKey::new(&caller.tenant, &parsed)).await;
    for instead in identity::ids_of_own(calls.storage().shards(), &caller.tenant, id) {
        if !matches!(found, Err(RecordError::NotFound)) {
            break;
        }
        found = calls.records().get(&InvocationKey::new(&caller.tenant, &instead)).await;
    }
    match found {
        Ok(record) if may_see(caller, &record) => Ok(record),
        Ok(_) | Err(RecordError::NotFound) => Err(CallError::NotFound { kind: "invocation", id: id.to_owned() }),
        Err(error) => Err(error.into()),
    }
}

/// A batch of the caller's tenant, by its id or by that its caller gave it.
pub(super) async fn batch(groups: &Groups, caller: &Caller, id: &str) -> Result<Batch, CallError> {
    let parsed = BatchId::parse(id).map_err(|rule| CallError::invalid("batch_id", rule.to_string()))?;
    let mut found = groups.batch(&caller.tenant, &parsed).await?;
    for instead in identity::batches_of_own(groups.shards(), &caller.tenant, id) {
        if found.is_some() {
            break;
        }
        found = groups.batch(&caller.tenant, &instead).await?;
    }
    found.ok_or_else(|| CallError::NotFound { kind: "batch", id: id.to_owned() })
}
