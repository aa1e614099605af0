//! Whose request it is. The one place where authentication will say so.

use tonic::metadata::MetadataMap;
use toolplane_records::ids::TenantId;

use crate::status::ApiError;

/// The tenant of a caller.
pub fn of(_metadata: &MetadataMap) -> TenantId {
    TenantId::unauthenticated()
}

/// The caller's tenant, where the request may also name one: it must be the same, or left out.
pub fn named(metadata: &MetadataMap, name: &str) -> Result<TenantId, ApiError> {
    let own = of(metadata);
    if name.is_empty() || name == own.as_str() {
        return Ok(own);
    }
    let message = "the request names a tenant that is not the caller's".to_owned();
    Err(ApiError::PermissionDenied { reason: "FOREIGN_TENANT", message })
}
