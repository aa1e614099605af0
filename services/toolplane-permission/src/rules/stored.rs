//! Rules that people made while the role runs: kept in the store, revoked and expired, never forgotten.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use toolplane_records::approval::Approval;
use toolplane_records::ids::TenantId;
use toolplane_records::payload::Digest;
use toolplane_records::rule::{PermissionRule, RulePin};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{Behavior, RuleSource};
use toolplane_store::{
    Bound, Damage, DamageLocation, Expect, Family, IndexOp, RecordKey, ScoreRange, StoreError, Write,
};

use super::text::bare;
use crate::approvals::keys;
use crate::ledger::{Change, Done, Ledger, Stream};

/// What every stored rule is named by, so that none can take the name of a configured one.
pub const PREFIX: &str = "rule/";
/// The origin of stored rules.
pub const ORIGIN: &str = "stored";

/// All stored rules in force.
const IN_FORCE: &str = "rules";
/// Those of them that expire, by when.
const EXPIRY: &str = "rules-expiry";
/// How many records are read at once.
const CHUNK: usize = 256;
/// How many approvals are read at once: each can carry an input of a megabyte.
const APPROVALS_CHUNK: usize = 4;
/// Most rules ended by one look at the expiry index.
const EXPIRY_PAGE: usize = 256;
/// Most ended rules of a tenant that are listed, newest first.
const MAX_ENDED: usize = 1_000;

/// The full name of a stored rule.
pub fn rule_id(tenant: &TenantId, name: &str) -> String {
    format!("{PREFIX}{tenant}/{name}")
}

/// A rule as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct StoredRule {
    pub(crate) rule: PermissionRule,
    /// Why it was revoked.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) revoke_reason: String,
}

/// Every stored rule in force, and the revision of the stream that stands for them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    pub(crate) rules: Vec<PermissionRule>,
    pub(crate) revision: u64,
}

/// A stored rule cannot be changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoredError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("a stored rule cannot be read ({:?} error in column {})", .0.classify(), .0.column())]
    Unreadable(#[from] serde_json::Error),
}

/// Brings `rules` of `tenant` into force; each must have its name and be new.
pub(crate) fn addition(
    tenant: &TenantId,
    rules: &[PermissionRule],
    max_rules: u64,
) -> Result<Change, serde_json::Error> {
    let mut change = Change::default();
    let mut events = Vec::with_capacity(rules.len());
    for rule in rules {
        let bytes = Bytes::from(serde_json::to_vec(&StoredRule { rule: rule.clone(), revoke_reason: String::new() })?);
        let key = record(tenant, &rule.rule_id);
        let member = member(tenant, &rule.rule_id);
        let score = rule.created_at.map_or(0, score_of);
        change.compare.push((key.clone(), Expect::Absent));
        change.writes.push(Write::Put { key, bytes: bytes.clone() });
        for index in [IN_FORCE.to_owned(), of_tenant(tenant)] {
            change.index.push(IndexOp::Put { index, score, member: member.clone() });
        }
        if let Some(expires_at) = rule.expires_at {
            change.index.push(IndexOp::Put { index: EXPIRY.to_owned(), score: score_of(expires_at), member });
        }
        events.push(bytes);
    }
    let below = max_rules.saturating_add(1).saturating_sub(rules.len() as u64);
    change.bounds.push(Bound { index: of_tenant(tenant), below });
    change.events.push((Stream::Rules, events));
    Ok(change)
}

/// The rule of this name, in force or not.
pub(crate) async fn get(
    ledger: &Ledger,
    tenant: &TenantId,
    rule_id: &str,
) -> Result<Option<(u64, StoredRule)>, StoredError> {
    let Some(found) = ledger.get(&record(tenant, rule_id)).await? else { return Ok(None) };
    Ok(Some((found.version, serde_json::from_slice(&found.bytes)?)))
}

/// Keeps `ended` in place of the version it was decided from, out of force.
pub(crate) async fn end(
    ledger: &Ledger,
    tenant: &TenantId,
    version: u64,
    ended: &StoredRule,
    now: Timestamp,
) -> Result<Done, StoredError> {
    let key = record(tenant, &ended.rule.rule_id);
    let member = member(tenant, &ended.rule.rule_id);
    let bytes = Bytes::from(serde_json::to_vec(ended)?);
    let gone = [IN_FORCE.to_owned(), of_tenant(tenant), EXPIRY.to_owned()];
    let mut index: Vec<_> = gone.map(|index| IndexOp::Remove { index, member: member.clone() }).into();
    index.push(IndexOp::Put { index: ended_of(tenant), score: score_of(now), member });
    let change = Change {
        compare: vec![(key.clone(), Expect::Version(version))],
        writes: vec![Write::Put { key, bytes: bytes.clone() }],
        index,
        events: vec![(Stream::Rules, vec![bytes])],
        essential: true,
        ..Change::default()
    };
    Ok(ledger.apply(change).await?)
}

/// Everything in force, as of a revision that all of it is at least as new as.
pub(crate) async fn load(ledger: &Ledger) -> Result<Snapshot, StoredError> {
    let revision = ledger.head(Stream::Rules).await?;
    let (mut rules, mut seen) = (Vec::new(), 0);
    let mut range = ScoreRange::all();
    loop {
        let page = ledger.store().scan(IN_FORCE, range.clone(), CHUNK).await?;
        let Some(last) = page.last() else { break };
        range = range.after(last);
        seen += page.len() as u64;
        let keys: Vec<_> = page.iter().map(|entry| record_of_member(&entry.member)).collect();
        for (entry, found) in page.iter().zip(ledger.store().get_each(&keys).await?) {
            let stored = match found {
                Ok(Some(found)) => serde_json::from_slice::<StoredRule>(&found.bytes).ok(),
                Ok(None) | Err(_) => None,
            };
            match stored {
                // One that was revoked between the two reads is out of force already.
                Some(stored) if stored.rule.revoked_at.is_some() => {}
                Some(stored) => rules.push(stored.rule),
                None => rules.push(stand_in(&entry.member)),
            }
        }
    }
    // Whose rule it is that is listed nowhere is not known, so nothing is decided. Another process may have added one
    // meanwhile: then the stream has grown.
    let listed = ledger.store().index_len(IN_FORCE).await?;
    if listed > seen && ledger.head(Stream::Rules).await? == revision {
        let reason = format!("{} of {listed} entries cannot be read", listed - seen);
        return Err(StoreError::Damaged(Damage::new(DamageLocation::Index(IN_FORCE.to_owned()), reason)).into());
    }
    pin_old_answers(ledger, &mut rules).await?;
    Ok(Snapshot { rules, revision })
}

/// What takes the place of a rule that cannot be read: it may have denied anything, so all calls of its tenant are
/// denied.
fn stand_in(member: &str) -> PermissionRule {
    let (tenant, rule_id) = member.split_once('|').unwrap_or(("", member));
    tracing::error!(
        tenant,
        rule_id,
        "a stored rule is damaged: until it is restored or revoked, its tenant is denied all"
    );
    let mut rule = bare(rule_id.to_owned(), Behavior::Deny, "*", RuleSource::UserSettings, ORIGIN);
    tenant.clone_into(&mut rule.scope.tenant);
    rule.reason =
        format!("the stored rule `{rule_id}` is damaged: restore the store, or revoke the rule and add it again");
    rule
}

/// Takes a rule out of force that cannot be read any more. What happens to it is kept in the stream only.
pub(crate) async fn end_damaged(ledger: &Ledger, tenant: &TenantId, ended: &StoredRule) -> Result<Done, StoredError> {
    let member = member(tenant, &ended.rule.rule_id);
    let gone = [IN_FORCE.to_owned(), of_tenant(tenant), EXPIRY.to_owned()];
    let change = Change {
        writes: vec![Write::Delete { key: record(tenant, &ended.rule.rule_id) }],
        index: gone.map(|index| IndexOp::Remove { index, member: member.clone() }).into(),
        events: vec![(Stream::Rules, vec![Bytes::from(serde_json::to_vec(ended)?)])],
        essential: true,
        ..Change::default()
    };
    Ok(ledger.apply(change).await?)
}

/// Binds allows that answers brought before such rules were bound to declarations: each to the one its approval was
/// about. Where the approval cannot be found, it is not known what was seen, and the rule is about no call until a
/// person says yes again.
async fn pin_old_answers(ledger: &Ledger, rules: &mut [PermissionRule]) -> Result<(), StoredError> {
    let old = rules.iter().enumerate().filter(|(_, rule)| rule.behavior == Behavior::Allow && rule.pin.is_none());
    let old: Vec<(usize, RecordKey)> = old
        .filter_map(|(place, rule)| Some((place, keys::record_of(&rule.scope.tenant, approval_of(rule)?))))
        .collect();
    for chunk in old.chunks(APPROVALS_CHUNK) {
        let keys: Vec<_> = chunk.iter().map(|(_, key)| key.clone()).collect();
        for ((place, _), found) in chunk.iter().zip(ledger.store().get_many(&keys).await?) {
            let approval: Option<Approval> = found.map(|found| serde_json::from_slice(&found.bytes)).transpose()?;
            let declaration_digest = approval.map_or_else(|| Digest::of(&[]), |approval| approval.declaration_digest);
            rules[*place].pin = Some(RulePin { declaration_digest, registration: None });
        }
    }
    Ok(())
}

/// The approval whose answer brought the rule, by the name such rules have.
fn approval_of(rule: &PermissionRule) -> Option<&str> {
    let (_, name) = rule.rule_id.strip_prefix(PREFIX)?.split_once('/')?;
    let (approval_id, said) = name.rsplit_once('.')?;
    let hex = |text: &str, length: usize| text.len() == length && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    (hex(approval_id.strip_prefix("appr_")?, 32) && hex(said, 8)).then_some(approval_id)
}

/// The newest of a tenant's rules that were revoked or have expired.
pub(crate) async fn ended(ledger: &Ledger, tenant: &TenantId) -> Result<Vec<PermissionRule>, StoredError> {
    let entries = ledger.store().scan(&ended_of(tenant), ScoreRange::all().reversed(), MAX_ENDED).await?;
    let mut rules = Vec::with_capacity(entries.len());
    for chunk in entries.chunks(CHUNK) {
        let keys: Vec<_> = chunk.iter().map(|entry| record_of_member(&entry.member)).collect();
        for found in ledger.store().get_each(&keys).await?.into_iter().filter_map(Result::ok).flatten() {
            rules.push(serde_json::from_slice::<StoredRule>(&found.bytes)?.rule);
        }
    }
    Ok(rules)
}

/// Takes rules whose time is over out of force; says how many. They decide nothing any more even before that.
pub(crate) async fn expire_due(ledger: &Ledger) -> Result<usize, StoredError> {
    let now = ledger.now().await?;
    let due = ledger.store().scan(EXPIRY, ScoreRange::up_to(score_of(now)), EXPIRY_PAGE).await?;
    for entry in &due {
        let Some(found) = ledger.get(&record_of_member(&entry.member)).await? else { continue };
        let stored: StoredRule = serde_json::from_slice(&found.bytes)?;
        let Some((tenant, _)) = entry.member.split_once('|') else { continue };
        // A process that loses this race lost it to a revocation or to another process that does the same.
        end(ledger, &TenantId::from_trusted(tenant), found.version, &stored, now).await?;
    }
    Ok(due.len())
}

pub(crate) fn record(tenant: &TenantId, rule_id: &str) -> RecordKey {
    record_of_member(&member(tenant, rule_id))
}

/// What the names of the records of rules begin with.
const RECORDS: &str = "rule|";

fn record_of_member(member: &str) -> RecordKey {
    RecordKey::new(Family::Meta, format!("{RECORDS}{member}"))
}

/// Whether a record is that of a rule.
pub(crate) fn is_record(key: &RecordKey) -> bool {
    key.family == Family::Meta && key.id.starts_with(RECORDS)
}

fn member(tenant: &TenantId, rule_id: &str) -> String {
    format!("{tenant}|{rule_id}")
}

/// A tenant's stored rules in force.
fn of_tenant(tenant: &TenantId) -> String {
    format!("rules|{tenant}")
}

/// A tenant's stored rules that are not in force any more, by the moment they ended.
fn ended_of(tenant: &TenantId) -> String {
    format!("rules-ended|{tenant}")
}

fn score_of(at: Timestamp) -> u64 {
    u64::try_from(at.as_millis()).unwrap_or_default()
}
