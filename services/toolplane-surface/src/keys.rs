//! Names of this role's records, indexes and streams in the store.
//!
//! Parts are joined with `|`, which no identifier contains, so no two tenants share a name.

use toolplane_records::ids::{ProviderId, SurfaceId, TenantId, ToolId};
use toolplane_records::payload::Digest;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::SurfaceScope;
use toolplane_store::{Family, RecordKey};

use crate::sync::Subject;

/// What the names of logs begin with.
const TOOL: &str = "tool";
const SURFACE: &str = "surface";
const PROVIDER: &str = "provider";
/// What names words that mean the same, in [`CHANGES`].
const SYNONYM: &str = "synonyms";
/// What names what use has taught, in [`CHANGES`].
const USE: &str = "use";

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

/// The tenant and the surface of a key made by [`surface`].
pub(crate) fn of_surface(key: &str) -> Option<(TenantId, SurfaceId)> {
    let (tenant, id) = key.split_once('|')?;
    Some((TenantId::parse(tenant).ok()?, SurfaceId::parse(id).ok()?))
}

/// When the use of a surface was noted last.
pub(crate) fn surface_use(tenant: &TenantId, id: &SurfaceId) -> RecordKey {
    RecordKey::new(Family::Meta, format!("surface-use|{tenant}|{id}"))
}

/// A provider and how it is.
pub(crate) fn provider(tenant: &TenantId, id: &ProviderId) -> RecordKey {
    RecordKey::new(Family::Meta, format!("{PROVIDER}|{tenant}|{id}"))
}

/// What is known of a tool of a provider.
pub(crate) fn provided(tenant: &TenantId, id: &ToolId) -> RecordKey {
    RecordKey::new(Family::Meta, format!("provided|{tenant}|{id}"))
}

/// The tools of a provider, by id.
pub(crate) fn provided_by(tenant: &TenantId, id: &ProviderId) -> String {
    format!("provided|{tenant}|{id}")
}

/// What the embedding model made of a tool.
pub(crate) fn meaning(tenant: &TenantId, id: &ToolId) -> RecordKey {
    meaning_of(&tool(tenant, id))
}

/// What the embedding model made of the tool of a key made by [`tool`].
pub(crate) fn meaning_of(tool: &RecordKey) -> RecordKey {
    RecordKey::new(Family::Meta, format!("meaning|{}", tool.id))
}

/// A document that was handed in: its size and its parts.
pub(crate) fn document(tenant: &TenantId, digest: &Digest) -> RecordKey {
    RecordKey::new(Family::Meta, format!("document|{tenant}|{digest}"))
}

/// One part of a document.
pub(crate) fn document_part(tenant: &TenantId, digest: &Digest, part: usize) -> RecordKey {
    RecordKey::new(Family::Meta, format!("document|{tenant}|{digest}|{part}"))
}

/// What use has taught of some tools of a tenant.
pub(crate) fn learned(tenant: &TenantId, number: u8) -> RecordKey {
    RecordKey::new(Family::Meta, format!("learned|{tenant}|{number}"))
}

/// What is kept of what use has taught, of all tenants, by the moment it was written last.
pub(crate) const LEARNED: &str = "learned";

/// What names a record of [`learned`] in [`LEARNED`].
pub(crate) fn learned_member(tenant: &TenantId, number: u8) -> String {
    format!("{tenant}|{number}")
}

/// The record of a member made by [`learned_member`].
pub(crate) fn learned_of(member: &str) -> Option<(TenantId, u8)> {
    let (tenant, number) = member.split_once('|')?;
    Some((TenantId::parse(tenant).ok()?, number.parse().ok()?))
}

/// What a tenant added of words that mean the same.
pub(crate) fn synonyms(tenant: &TenantId) -> RecordKey {
    RecordKey::new(Family::Meta, format!("{SYNONYM}|{tenant}"))
}

/// Tenants that have a record of [`synonyms`].
pub(crate) const SYNONYMS: &str = "synonyms";

/// Documents of all tenants, by the moment they were handed in.
pub(crate) const DOCUMENTS: &str = "documents";
/// Providers of all tenants.
pub(crate) const PROVIDERS: &str = "providers";

/// What names a provider in [`PROVIDERS`].
pub(crate) fn provider_member(tenant: &TenantId, id: &ProviderId) -> String {
    format!("{tenant}|{id}")
}

/// The provider of a member made by [`provider_member`].
pub(crate) fn provider_of(member: &str) -> Option<(TenantId, ProviderId)> {
    let (tenant, id) = member.split_once('|')?;
    Some((TenantId::parse(tenant).ok()?, ProviderId::parse(id).ok()?))
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

pub(crate) fn provider_stream(tenant: &TenantId, id: &ProviderId) -> String {
    format!("{PROVIDER}/{tenant}|{id}")
}

pub(crate) fn surface_stream(tenant: &TenantId, id: &SurfaceId) -> String {
    format!("{SURFACE}/{tenant}|{id}")
}

/// What counts the changes, where several processes make them.
pub(crate) fn count() -> RecordKey {
    RecordKey::new(Family::Meta, "changes")
}

/// What says that the role's directory of before is moved here, or was.
pub(crate) fn takeover() -> RecordKey {
    RecordKey::new(Family::Meta, "moved-from-directory")
}

/// Tools and surfaces, by the number of their last change; also what others are told is new.
pub(crate) const CHANGES: &str = "changes";
/// Processes that answer from memory, by the end of their leases.
pub(crate) const LEASES: &str = "follower-leases";
/// Processes that answer from memory, by how far they have come; also what others are told of that.
pub(crate) const ACKNOWLEDGED: &str = "follower-acknowledged";

/// What names in [`CHANGES`] what was changed.
pub(crate) fn member(subject: &Subject) -> String {
    match subject {
        Subject::Tool(tenant, id) => tool_stream(tenant, id),
        Subject::Surface(tenant, id) => surface_stream(tenant, id),
        Subject::Provider(tenant, id) => provider_stream(tenant, id),
        Subject::Synonyms(tenant) => format!("{SYNONYM}/{tenant}|"),
        Subject::Use(tenant) => format!("{USE}/{tenant}|"),
    }
}

/// What was changed, by a member made by [`member`].
pub(crate) fn subject(member: &str) -> Option<Subject> {
    let (kind, id) = member.split_once('/')?;
    let (tenant, id) = id.split_once('|')?;
    let tenant = TenantId::parse(tenant).ok()?;
    match kind {
        TOOL => Some(Subject::Tool(tenant, ToolId::parse(id).ok()?)),
        SURFACE => Some(Subject::Surface(tenant, SurfaceId::parse(id).ok()?)),
        PROVIDER => Some(Subject::Provider(tenant, ProviderId::parse(id).ok()?)),
        SYNONYM => Some(Subject::Synonyms(tenant)),
        USE => Some(Subject::Use(tenant)),
        _ => None,
    }
}

pub(crate) fn score(at: Timestamp) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_a_change_leads_back_to_it() {
        let tenant = TenantId::from_trusted("acme");
        let changed = [
            Subject::Tool(tenant.clone(), ToolId::from_trusted("text.count")),
            Subject::Surface(tenant.clone(), SurfaceId::from_trusted("surf_1")),
            Subject::Provider(tenant.clone(), ProviderId::from_trusted("github")),
            Subject::Synonyms(tenant.clone()),
            Subject::Use(tenant),
        ];
        for one in changed {
            assert_eq!(subject(&member(&one)), Some(one));
        }
        assert_eq!(subject("other/acme|x"), None);
    }
}
