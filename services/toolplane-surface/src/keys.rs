//! Names of this role's records, indexes and streams in the store.
//!
//! Parts are joined with `|`, which no identifier contains, so no two tenants share a name.

use toolplane_records::ids::{SurfaceId, TenantId, ToolId};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::SurfaceScope;
use toolplane_store::{Family, RecordKey};

/// What the names of logs begin with.
const TOOL: &str = "tool";
const SURFACE: &str = "surface";

pub(crate) fn tool(tenant: &TenantId, id: &ToolId) -> RecordKey {
    RecordKey::new(Family::Declaration, format!("{tenant}|{id}"))
}

/// The tenant of a key made by [`tool`].
pub(crate) fn tenant_of_tool(key: &str) -> Option<TenantId> {
    key.split_once('|').and_then(|(tenant, _)| TenantId::parse(tenant).ok())
}

pub(crate) fn surface(tenant: &TenantId, id: &SurfaceId) -> RecordKey {
    RecordKey::new(Family::Surface, format!("{tenant}|{id}"))
}

/// What a repeatable creation of a surface is remembered under.
pub(crate) fn creation(tenant: &TenantId, request_id: &str) -> RecordKey {
    RecordKey::new(Family::Meta, format!("create-surface|{tenant}|{request_id}"))
}

/// The record whose log is this stream.
pub(crate) fn logged_in(stream: &str) -> Option<RecordKey> {
    let (kind, id) = stream.split_once('/')?;
    let family =
        [(TOOL, Family::Declaration), (SURFACE, Family::Surface)].into_iter().find(|(name, _)| *name == kind)?.1;
    Some(RecordKey::new(family, id))
}

/// The log of a record, where it has one.
pub(crate) fn log_of(key: &RecordKey) -> Option<String> {
    match key.family {
        Family::Declaration => Some(format!("{TOOL}/{}", key.id)),
        Family::Surface => Some(format!("{SURFACE}/{}", key.id)),
        _ => None,
    }
}

/// Whether the members of an index are surfaces.
pub(crate) fn lists_surfaces(index: &str) -> bool {
    index.starts_with("surfaces|")
}

/// Surfaces of a tenant, of one scope or of all, by the moment they were made.
pub(crate) fn surfaces(tenant: &TenantId, scope: Option<SurfaceScope>) -> String {
    format!("surfaces|{tenant}|{}", scope.map_or("all", SurfaceScope::as_str))
}

/// The log of a tool: one event per revision, at the revision's number.
pub(crate) fn tool_stream(tenant: &TenantId, id: &ToolId) -> String {
    format!("{TOOL}/{tenant}|{id}")
}

pub(crate) fn surface_stream(tenant: &TenantId, id: &SurfaceId) -> String {
    format!("{SURFACE}/{tenant}|{id}")
}

pub(crate) fn score(at: Timestamp) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or_default()
}
