//! Names in the store: which record, index and stream holds what.
//!
//! Whatever belongs to a call is named by its key, which no two tenants share, whichever ids they choose.

use std::borrow::Cow;
use std::fmt;

use toolplane_lifecycle::{Scope, Timer};
use toolplane_records::SmolStr;
use toolplane_records::ids::{InvocationId, InvocationKey, TenantId, ToolId};
use toolplane_records::payload::Digest;
use toolplane_records::vocabulary::Band;
use toolplane_store::{Family, RecordKey};

/// Living invocations that wait for an answer of a person.
pub(crate) const AWAITING: &str = "awaiting";

/// What every ready queue's name starts with.
pub(crate) const QUEUES: &str = "queue/";

/// What the names of the counts of waiting calls start with.
pub(crate) const WAITING: &str = "waiting/";

/// What the names of the counts of running calls start with.
pub(crate) const RUNNING: &str = "running/";

/// Invocations that have not ended, by time of acceptance.
pub(crate) const LIVING: &str = "living";

/// Invocations that have ended and are still kept, by the end.
pub(crate) const ENDED: &str = "ended";

/// What is refused for a while, by the end of that while; members are hexadecimal digests.
pub(crate) const QUARANTINE: &str = "quarantine";

/// Remembered ids of invocations that are no longer kept, by the end of the memory.
pub(crate) const TOMBSTONES: &str = "dedupe";

/// Schedulers that share the store, by their last sign of life; members are their numbers.
pub(crate) const SCHEDULERS: &str = "schedulers";

/// What the names of the durable wishes to coordinate start with.
pub(crate) const COORDINATION: &str = "coordination/";

/// Lock domains without tickets, since when; members are their records' ids.
pub(crate) const IDLE_DOMAINS: &str = "idle/locks";

/// Sessions that were given something that taints what they call, by the last time; members are those of [`member_of_taints`].
pub(crate) const TAINTED: &str = "tainted";

/// What the names of the records about them start with.
const TAINTS: &str = "taints/";

/// Where index entries go that nothing can be made of.
pub(crate) const UNDECODABLE: &str = "undecodable/";

pub(crate) fn invocation(key: &InvocationKey) -> RecordKey {
    RecordKey::new(Family::Invocation, key.to_string())
}

pub(crate) fn result(key: &InvocationKey) -> RecordKey {
    RecordKey::new(Family::Result, key.to_string())
}

pub(crate) fn decision(tenant: &TenantId, decision_id: &str) -> RecordKey {
    RecordKey::new(Family::Decision, tenant.scoped(decision_id))
}

pub(crate) fn plan(digest: &Digest) -> RecordKey {
    RecordKey::new(Family::Plan, digest.hex())
}

/// Inputs of one invocation are kept under their digest: equal inputs once.
pub(crate) fn payload(key: &InvocationKey, digest: &Digest) -> RecordKey {
    RecordKey::new(Family::Payload, format!("{key}/{}", digest.hex()))
}

/// What decisions about a call are made from beside its record.
pub(crate) fn facts(key: &InvocationKey) -> RecordKey {
    RecordKey::new(Family::Payload, format!("{key}/facts"))
}

/// The ending of a call that waits for the hooks after it, as its worker reported it.
pub(crate) fn ending(key: &InvocationKey) -> RecordKey {
    RecordKey::new(Family::Payload, format!("{key}/ending"))
}

/// Where the sealed original of a call's output is.
pub(crate) fn original(key: &InvocationKey) -> RecordKey {
    RecordKey::new(Family::Payload, format!("{key}{ORIGINAL}"))
}

/// Whether a record of the family of payloads is one of [`original`].
pub(crate) fn is_original(id: &str) -> bool {
    id.ends_with(ORIGINAL)
}

/// How the names of the records of originals end.
const ORIGINAL: &str = "/original";

/// Calls with a sealed original, by when it is to go.
pub(crate) const ORIGINALS: &str = "originals";

/// What a hook did, by its name in the record: `hook:<invocation>/<n>`.
pub(crate) fn hook(tenant: &TenantId, hook_ref: &str) -> RecordKey {
    RecordKey::new(Family::Payload, tenant.scoped(hook_ref))
}

/// What is known of one execution of a call, by its name in the record: `execution:<invocation>/<lease>`.
pub(crate) fn execution(tenant: &TenantId, evidence_ref: &str) -> RecordKey {
    RecordKey::new(Family::Evidence, tenant.scoped(evidence_ref))
}

/// Where an earlier version kept that.
pub(crate) fn execution_before(tenant: &TenantId, evidence_ref: &str) -> RecordKey {
    RecordKey::new(Family::Payload, tenant.scoped(evidence_ref))
}

/// The key of an input by its reference; `None` for what is not an input.
pub(crate) fn input_at(tenant: &TenantId, uri: &str) -> Option<RecordKey> {
    Some(RecordKey::new(Family::Payload, tenant.scoped(uri.strip_prefix("payload:")?)))
}

/// The reference under which a payload of [`payload`] is named in records.
pub(crate) fn payload_uri(id: &InvocationId, digest: &Digest) -> String {
    ["payload:", id.as_str(), "/", &digest.hex()].concat()
}

/// What is remembered of an invocation that is no longer kept.
pub(crate) fn tombstone(key: &InvocationKey) -> RecordKey {
    RecordKey::new(Family::Meta, format!("dedupe/{key}"))
}

/// What taints the calls of a session.
pub(crate) fn session_taints(tenant: &TenantId, session: &str) -> RecordKey {
    taints_of_member(&member_of_taints(tenant, session))
}

/// The same by the member of an index.
pub(crate) fn taints_of_member(member: &str) -> RecordKey {
    RecordKey::new(Family::Meta, format!("{TAINTS}{member}"))
}

/// The name of a session in the indexes of tainted ones. `/` within a tenant is written as `%`, which no identifier contains.
pub(crate) fn member_of_taints(tenant: &TenantId, session: &str) -> String {
    format!("{}/{session}", part(tenant.as_str()))
}

/// The member whose record this is.
pub(crate) fn tainted_member(id: &str) -> Option<&str> {
    id.strip_prefix(TAINTS)
}

/// The tainted sessions of a tenant, by the last time.
pub(crate) fn tainted_sessions(tenant: &TenantId) -> String {
    format!("{TAINTED}/{tenant}")
}

/// What is left of a deleted call.
pub(crate) fn deleted(key: &InvocationKey) -> RecordKey {
    RecordKey::new(Family::Meta, format!("{DELETED}{key}"))
}

/// The call a record of [`deleted`] or [`unremoved`] is about.
pub(crate) fn call_of_deleted(id: &str) -> Option<&str> {
    id.strip_prefix(DELETED).or_else(|| id.strip_prefix(REST))
}

/// What the names of tombstones start with.
const DELETED: &str = "deleted/";

/// Deleted calls of a tenant, by their deletion.
pub(crate) fn deletions(tenant: &TenantId) -> String {
    format!("deletions/{tenant}")
}

/// Calls of which something lies elsewhere that has to go and is not known to be gone, since when.
pub(crate) const UNREMOVED: &str = "unremoved";

/// What that is.
pub(crate) fn unremoved(key: &InvocationKey) -> RecordKey {
    RecordKey::new(Family::Meta, format!("{REST}{key}"))
}

/// What the names of records of [`unremoved`] start with.
const REST: &str = "unremoved/";

/// The holds of a tenant, as shard `shard` has them.
pub(crate) fn holds(shard: usize, tenant: &TenantId) -> RecordKey {
    RecordKey::new(Family::Meta, format!("{HOLDS}{shard}/{tenant}"))
}

/// The shard a record of [`holds`] lies in.
pub(crate) fn shard_of_holds(id: &str) -> Option<usize> {
    id.strip_prefix(HOLDS)?.split_once('/')?.0.parse().ok()
}

/// What the names of the records of holds start with.
const HOLDS: &str = "holds/";

/// Why a key is under quarantine.
pub(crate) fn quarantined(key_hex: &str) -> RecordKey {
    RecordKey::new(Family::Meta, format!("quarantine/{key_hex}"))
}

/// Who has the scheduler number `number`.
pub(crate) fn scheduler(number: u64) -> RecordKey {
    RecordKey::new(Family::Meta, format!("scheduler/{number}"))
}

/// What shard `shard` has of the places of a counted index.
pub(crate) fn places(shard: usize, index: &str) -> RecordKey {
    RecordKey::new(Family::Meta, format!("{PLACES}{shard}/{index}"))
}

/// A record of shard `shard` that is never there: a commit that removes it shows whether the shard takes commits.
pub(crate) fn nothing(shard: usize) -> RecordKey {
    places(shard, "nothing")
}

/// The shard whose places a record of [`places`] is about.
pub(crate) fn shard_of_places(id: &str) -> Option<usize> {
    id.strip_prefix(PLACES)?.split_once('/')?.0.parse().ok()
}

/// What the names of records of [`places`] start with.
const PLACES: &str = "places/";

/// The name of the call a payload belongs to: `<call>/<digest>`, or `hook:<call>/<number>` and `execution:<call>/<number>` with the
/// tenant in front.
pub(crate) fn call_of_payload(id: &str) -> Cow<'_, str> {
    let Some((call, last)) = id.rsplit_once('/') else { return Cow::Borrowed(id) };
    let is_number = last.len() < 20 && last.bytes().all(|byte| byte.is_ascii_digit());
    let (tenant, name) = call.split_once('|').map_or((None, call), |(tenant, name)| (Some(tenant), name));
    let of_kind = ["hook:", "execution:"].iter().find_map(|kind| name.strip_prefix(kind));
    match (of_kind.filter(|_| is_number), tenant) {
        (None, _) => Cow::Borrowed(call),
        (Some(call), None) => Cow::Borrowed(call),
        (Some(call), Some(tenant)) => Cow::Owned(format!("{tenant}|{call}")),
    }
}

/// The log of one invocation.
pub(crate) fn stream(key: &InvocationKey) -> String {
    format!("invocation/{key}")
}

/// The invocation whose log is this stream.
pub(crate) fn call_of_stream(stream: &str) -> Option<&str> {
    stream.strip_prefix("invocation/")
}

/// Every invocation of a tenant by time of acceptance.
pub(crate) fn listing(tenant: &TenantId) -> String {
    format!("invocations/{tenant}")
}

/// Due instants of one kind of timer; the member is the invocation.
pub(crate) fn timers(timer: Timer) -> String {
    format!("timers/{}", timer.as_str())
}

/// Calls of a tenant that wait to be run.
pub(crate) fn waiting(tenant: &TenantId) -> String {
    format!("{WAITING}{tenant}")
}

/// Running calls of a tenant.
pub(crate) fn running_of_tenant(tenant: &TenantId) -> String {
    format!("{RUNNING}tenant/{tenant}")
}

/// Running calls of a tool.
pub(crate) fn running_of_tool(tool: &ToolId) -> String {
    format!("{RUNNING}tool/{tool}")
}

/// Invocations whose shared scope has to be settled.
pub(crate) fn coordination(scope: &Scope) -> String {
    format!("{COORDINATION}{scope}")
}

/// One ready queue: calls of one tenant and band for workers of one pool, by time of acceptance. Tools of which only
/// some may run at a time have queues of their own, so that they delay no other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct QueueName {
    pub(crate) pool: SmolStr,
    pub(crate) band: Band,
    pub(crate) tenant: TenantId,
    pub(crate) tool: Option<ToolId>,
}

/// `queue/<pool>/<band>/<tenant>[/<tool>]`; `/` within a part is written as `%`, which no identifier contains.
impl fmt::Display for QueueName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{QUEUES}{}/{}/{}", part(&self.pool), self.band.rank(), part(self.tenant.as_str()))?;
        match &self.tool {
            Some(tool) => write!(f, "/{}", part(tool.as_str())),
            None => Ok(()),
        }
    }
}

impl QueueName {
    /// Reads an index name; `None` when it is not that of a ready queue.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let mut parts = name.strip_prefix(QUEUES)?.split('/').map(|part| part.replace('%', "/"));
        let (pool, rank, tenant) = (parts.next()?, parts.next()?, parts.next()?);
        let tool = match parts.next() {
            Some(tool) => Some(ToolId::parse(&tool).ok()?),
            None => None,
        };
        let band = Band::ALL.iter().copied().find(|band| band.rank().to_string() == rank)?;
        let whole = parts.next().is_none();
        whole.then_some(Self { pool: pool.into(), band, tenant: TenantId::parse(&tenant).ok()?, tool })
    }
}

fn part(text: &str) -> String {
    text.replace('/', "%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queue_names_read_back() {
        for tool in [None, Some(ToolId::from_trusted("t/1"))] {
            for &band in Band::ALL {
                let name =
                    QueueName { pool: "shell".into(), band, tenant: TenantId::from_trusted("a/b"), tool: tool.clone() };
                assert_eq!(QueueName::parse(&name.to_string()), Some(name));
            }
        }
        for wrong in ["queue/", "queue/shell/7/a", "queue/shell/0/a/t/x", "timers/lease", "queue/shell/0/ü"] {
            assert_eq!(QueueName::parse(wrong), None, "{wrong}");
        }
    }
}
