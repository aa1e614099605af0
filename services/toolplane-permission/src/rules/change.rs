//! Adding and revoking stored rules.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use toolplane_records::error::FieldViolation;
use toolplane_records::ids::{TenantId, check_id};
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::rule::PermissionRule;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::RuleSource;
use toolplane_store::{Expect, Family, RecordKey, StoreError, Write};
use uuid::Uuid;

use super::RulesError;
use super::active::field_of;
use super::book::RuleBook;
use super::stored::{self, StoredError, StoredRule};
use crate::ledger::Done;

/// Most rules of one request.
const MAX_AT_ONCE: usize = 1_000;
/// Longest name an author may give a rule, in bytes.
const MAX_NAME: usize = 100;
/// How often a revocation that lost to another writer is decided again.
const ATTEMPTS: usize = 16;

/// Rules to be added.
#[derive(Clone, Debug)]
pub struct Addition {
    /// Whose rules.
    pub tenant: TenantId,
    /// Who adds them; without authentication, the author each rule names stays.
    pub author: Option<String>,
    /// The rules.
    pub rules: Vec<PermissionRule>,
    /// Makes the addition repeatable.
    pub request_id: Option<Uuid>,
}

/// What is remembered of a repeatable addition.
#[derive(Serialize, Deserialize)]
struct Remembered {
    body: Digest,
    rule_ids: Vec<String>,
}

impl RuleBook {
    /// Adds rules, all of them or none, and returns them as they are kept: in force when this answers. With
    /// `validate_only` they are only checked.
    ///
    /// # Errors
    ///
    /// - [`RulesError::Invalid`] when there is no rule or more than 1,000, or one of them is wrong; it names the
    ///   fields.
    /// - [`RulesError::ForeignTenant`] when a rule is about another tenant.
    /// - [`RulesError::Exists`] when a rule has the name of a stored one, in force or not.
    /// - [`RulesError::RequestIdReused`] when the request id was used with other rules.
    /// - [`RulesError::TooMany`] when the tenant would have more stored rules than it may.
    /// - [`RulesError::Store`] when the store does not answer or refuses.
    /// - [`RulesError::Unreadable`] and [`RulesError::Unusable`] when what is stored cannot be read or used.
    ///
    /// After the last three errors the rules may still have been stored; after the others nothing has changed.
    pub async fn add(
        &self,
        addition: Addition,
        validate_only: bool,
    ) -> Result<(Vec<PermissionRule>, String), RulesError> {
        let body = body_of(&addition);
        if let Some(repeated) = self.repeated(&addition, body).await? {
            return Ok((repeated, self.active().digest().to_owned()));
        }
        let now = self.ledger.now().await?;
        let rules = kept(&addition, now)?;
        self.refuse_taken(&addition.tenant, &rules).await?;
        let with_them = self.try_with(&rules).await.map_err(|error| of_request(error, &rules))?;
        if validate_only {
            return Ok((rules, with_them.digest().to_owned()));
        }
        let mut change = stored::addition(&addition.tenant, &rules, self.max_rules)?;
        if let Some(request_id) = addition.request_id {
            let rule_ids = rules.iter().map(|rule| rule.rule_id.clone()).collect();
            let bytes = Bytes::from(serde_json::to_vec(&Remembered { body, rule_ids })?);
            let key = request_key(&addition.tenant, request_id);
            change.compare.push((key.clone(), Expect::Absent));
            change.writes.push(Write::Put { key, bytes });
        }
        match self.ledger.apply(change).await? {
            Done::Applied => {}
            Done::Full(_) => {
                return Err(RulesError::TooMany { tenant: addition.tenant.to_string(), limit: self.max_rules });
            }
            Done::Lost => return self.lost(&addition, body, &rules).await,
        }
        for rule in &rules {
            tracing::info!(rule_id = rule.rule_id, author = rule.author, behavior = %rule.behavior, "a rule was added");
        }
        self.refresh().await?;
        Ok((rules, self.active().digest().to_owned()))
    }

    /// The same request was faster, or one of the names is taken.
    async fn lost(
        &self,
        addition: &Addition,
        body: Digest,
        rules: &[PermissionRule],
    ) -> Result<(Vec<PermissionRule>, String), RulesError> {
        if let Some(repeated) = self.repeated(addition, body).await? {
            self.refresh().await?;
            return Ok((repeated, self.active().digest().to_owned()));
        }
        self.refuse_taken(&addition.tenant, rules).await?;
        let reason = "rules were added and removed at once".to_owned();
        Err(toolplane_store::StoreError::Unavailable { reason }.into())
    }

    async fn refuse_taken(&self, tenant: &TenantId, rules: &[PermissionRule]) -> Result<(), RulesError> {
        for rule in rules {
            if stored::get(&self.ledger, tenant, &rule.rule_id).await?.is_some() {
                return Err(RulesError::Exists(rule.rule_id.clone()));
            }
        }
        Ok(())
    }

    async fn repeated(&self, addition: &Addition, body: Digest) -> Result<Option<Vec<PermissionRule>>, RulesError> {
        let Some(request_id) = addition.request_id else { return Ok(None) };
        let Some(found) = self.ledger.get(&request_key(&addition.tenant, request_id)).await? else { return Ok(None) };
        let remembered: Remembered = serde_json::from_slice(&found.bytes)?;
        if remembered.body != body {
            return Err(RulesError::RequestIdReused(request_id.to_string()));
        }
        let mut rules = Vec::with_capacity(remembered.rule_ids.len());
        for rule_id in &remembered.rule_ids {
            if let Some((_, stored)) = stored::get(&self.ledger, &addition.tenant, rule_id).await? {
                rules.push(stored.rule);
            }
        }
        Ok(Some(rules))
    }

    /// Takes a stored rule out of force; it stays readable with who did it and when. Revoking it again
    /// changes nothing.
    ///
    /// # Errors
    ///
    /// - [`RulesError::NotFound`] when `tenant` has no such stored rule.
    /// - [`RulesError::Configured`] when the rule comes from the configuration.
    /// - [`RulesError::Store`] when the store does not answer, and when other writers get in between 16 times.
    /// - [`RulesError::Unreadable`] and [`RulesError::Unusable`] when what is stored cannot be read or used.
    pub async fn revoke(
        &self,
        tenant: &TenantId,
        rule_id: &str,
        by: &str,
        reason: &str,
    ) -> Result<(PermissionRule, String), RulesError> {
        let full = if rule_id.starts_with(stored::PREFIX) {
            rule_id.to_owned()
        } else {
            self.refuse_configured(tenant, rule_id)?;
            stored::rule_id(tenant, rule_id)
        };
        for _ in 0..ATTEMPTS {
            let found = match stored::get(&self.ledger, tenant, &full).await {
                Err(StoredError::Store(StoreError::Damaged(_))) => None,
                found => found?,
            };
            let Some((version, stored)) = found else {
                return self.revoke_damaged(tenant, &full, by, reason).await;
            };
            if stored.rule.revoked_at.is_some() {
                return Ok((stored.rule, self.active().digest().to_owned()));
            }
            let now = self.ledger.now().await?;
            let rule = PermissionRule { revoked_at: Some(now), revoked_by: by.to_owned(), ..stored.rule };
            let ended = StoredRule { rule, revoke_reason: reason.to_owned() };
            if stored::end(&self.ledger, tenant, version, &ended, now).await? == Done::Applied {
                tracing::info!(rule_id = full, by, "a rule was revoked");
                self.refresh().await?;
                return Ok((ended.rule, self.active().digest().to_owned()));
            }
        }
        let reason = "too many writers change the same rule at once".to_owned();
        Err(toolplane_store::StoreError::Unavailable { reason }.into())
    }

    /// Takes the stand-in of a damaged rule out of force, and what is left of the rule with it.
    async fn revoke_damaged(
        &self,
        tenant: &TenantId,
        rule_id: &str,
        by: &str,
        reason: &str,
    ) -> Result<(PermissionRule, String), RulesError> {
        let active = self.current().await?;
        let own = |rule: &&PermissionRule| rule.rule_id == rule_id && rule.scope.tenant == tenant.as_str();
        let Some(rule) = active.rules().iter().find(own) else {
            return Err(RulesError::NotFound(rule_id.to_owned()));
        };
        let now = self.ledger.now().await?;
        let rule = PermissionRule { revoked_at: Some(now), revoked_by: by.to_owned(), ..rule.clone() };
        let ended = StoredRule { rule, revoke_reason: reason.to_owned() };
        stored::end_damaged(&self.ledger, tenant, &ended).await?;
        tracing::info!(rule_id, by, "a damaged rule was revoked");
        self.refresh().await?;
        Ok((ended.rule, self.active().digest().to_owned()))
    }

    /// The newest of a tenant's rules that were revoked or have expired.
    pub(crate) async fn ended_rules(&self, tenant: &TenantId) -> Result<Vec<PermissionRule>, RulesError> {
        Ok(stored::ended(&self.ledger, tenant).await?)
    }

    fn refuse_configured(&self, tenant: &TenantId, rule_id: &str) -> Result<(), RulesError> {
        let active = self.active();
        let visible = |rule: &&PermissionRule| rule.rule_id == rule_id && is_visible(rule, tenant);
        match active.rules().iter().find(visible) {
            Some(rule) => Err(RulesError::Configured { rule_id: rule_id.to_owned(), origin: rule.origin.clone() }),
            None => Ok(()),
        }
    }
}

/// Whether a tenant may know of a rule: its own, and those that are about all tenants.
pub(crate) fn is_visible(rule: &PermissionRule, tenant: &TenantId) -> bool {
    rule.scope.tenant.is_empty() || rule.scope.tenant == tenant.as_str()
}

/// The rules as they will be kept, or what is wrong with them that only the keeper can tell.
fn kept(addition: &Addition, now: Timestamp) -> Result<Vec<PermissionRule>, RulesError> {
    let mut faults = Vec::new();
    if addition.rules.is_empty() || addition.rules.len() > MAX_AT_ONCE {
        faults.push(fault("rules", format!("must be 1 to {MAX_AT_ONCE} rules, not {}", addition.rules.len())));
        return Err(RulesError::Invalid(faults));
    }
    let mut rules = Vec::with_capacity(addition.rules.len());
    for (index, rule) in addition.rules.iter().enumerate() {
        let scope = rule.scope.tenant.as_str();
        if !scope.is_empty() && scope != addition.tenant.as_str() {
            return Err(RulesError::ForeignTenant);
        }
        let at = |field: &str| format!("rules[{index}].{field}");
        if rule.source == RuleSource::PolicySettings {
            faults.push(fault(at("source"), "`policy_settings` rules come from the configuration only".to_owned()));
        }
        if rule.source == RuleSource::Session && rule.scope.session.is_empty() {
            faults.push(fault(at("scope.session"), "is required for a rule of source `session`".to_owned()));
        }
        if rule.expires_at.is_some_and(|end| end <= now) {
            faults.push(fault(at("expires_at"), "has passed already".to_owned()));
        }
        let name = rule.rule_id.strip_prefix(&stored::rule_id(&addition.tenant, "")).unwrap_or(&rule.rule_id);
        if !name.is_empty() {
            match check_id(name) {
                Err(rule) => faults.push(fault(at("rule_id"), rule.to_string())),
                Ok(()) if name.len() > MAX_NAME || name.contains('/') => {
                    faults.push(fault(at("rule_id"), format!("must be at most {MAX_NAME} bytes without `/`")));
                }
                Ok(()) => {}
            }
        }
        rules.push(kept_one(addition, index, name, rule, now));
    }
    if faults.is_empty() { Ok(rules) } else { Err(RulesError::Invalid(faults)) }
}

fn kept_one(addition: &Addition, index: usize, name: &str, rule: &PermissionRule, now: Timestamp) -> PermissionRule {
    let made = || match addition.request_id {
        Some(request_id) => format!("{}.{index}", request_id.simple()),
        None => Uuid::now_v7().simple().to_string(),
    };
    let name = if name.is_empty() { made() } else { name.to_owned() };
    let mut kept = rule.clone();
    kept.rule_id = stored::rule_id(&addition.tenant, &name);
    kept.scope.tenant = addition.tenant.to_string();
    if let Some(author) = &addition.author {
        kept.author.clone_from(author);
    }
    kept.created_at = Some(now);
    kept.origin = stored::ORIGIN.to_owned();
    kept.revoked_at = None;
    kept.revoked_by.clear();
    kept
}

/// A fault of the whole set is a fault of the request where it is about one of its rules.
fn of_request(error: RulesError, rules: &[PermissionRule]) -> RulesError {
    let RulesError::Refused(faults) = error else { return error };
    let own = faults.0.into_iter().map(|found| {
        let mut of_rule = rules
            .iter()
            .enumerate()
            .filter_map(|(index, rule)| field_of(&found, &rule.rule_id).map(|rest| format!("rules[{index}]{rest}")));
        let field = of_rule.next().unwrap_or_else(|| "rules".to_owned());
        fault(field, found.rule.clone())
    });
    RulesError::Invalid(own.collect())
}

fn fault(field: impl Into<String>, description: String) -> FieldViolation {
    FieldViolation { field: field.into(), description }
}

fn body_of(addition: &Addition) -> Digest {
    JsonPayload::of(&(&addition.author, &addition.rules)).digest()
}

fn request_key(tenant: &TenantId, request_id: Uuid) -> RecordKey {
    RecordKey::new(Family::Meta, format!("rules-request|{tenant}|{}", request_id.simple()))
}
