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
use crate::storage::RecordError;

/// A living or ended invocation of the caller's tenant.
pub(super) async fn call(calls: &Calls, caller: &Caller, id: &str) -> Result<Arc<Invocation>, CallError> {
    let parsed = InvocationId::parse(id).map_err(|rule| CallError::invalid("invocation_id", rule.to_string()))?;
    match calls.records().get(&InvocationKey::new(&caller.tenant, &parsed)).await {
        Ok(record) if may_see(caller, &record) => Ok(record),
        Ok(_) | Err(RecordError::NotFound) => Err(CallError::NotFound { kind: "invocation", id: id.to_owned() }),
        Err(error) => Err(error.into()),
    }
}

/// A batch of the caller's tenant.
pub(super) async fn batch(groups: &Groups, caller: &Caller, id: &str) -> Result<Batch, CallError> {
    let parsed = BatchId::parse(id).map_err(|rule| CallError::invalid("batch_id", rule.to_string()))?;
    let found = groups.batch(&caller.tenant, &parsed).await?;
    found.ok_or_else(|| CallError::NotFound { kind: "batch", id: id.to_owned() })
}
