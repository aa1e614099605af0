//! Permission rules.

use toolplane_records::rule as records;

use crate::convert::word::Word as _;
use crate::convert::{ConvertError, field, word};
use crate::v1;

impl From<&records::ArgumentCondition> for v1::ArgumentCondition {
    fn from(record: &records::ArgumentCondition) -> Self {
        Self { pointer: record.pointer.clone(), op: record.op.clone(), value: field::out(&record.value) }
    }
}

impl TryFrom<v1::ArgumentCondition> for records::ArgumentCondition {
    type Error = ConvertError;

    fn try_from(message: v1::ArgumentCondition) -> Result<Self, ConvertError> {
        Ok(Self { pointer: message.pointer, op: message.op, value: field::optional("value", message.value)? })
    }
}

impl From<&records::RuleScope> for v1::RuleScope {
    fn from(record: &records::RuleScope) -> Self {
        let records::RuleScope { tenant, namespace, actor, role, session, surface } = record.clone();
        Self { tenant, namespace, actor, role, session, surface }
    }
}

impl From<v1::RuleScope> for records::RuleScope {
    fn from(message: v1::RuleScope) -> Self {
        let v1::RuleScope { tenant, namespace, actor, role, session, surface } = message;
        Self { tenant, namespace, actor, role, session, surface }
    }
}

impl From<&records::RulePin> for v1::RulePin {
    fn from(record: &records::RulePin) -> Self {
        Self {
            declaration_digest: record.declaration_digest.to_string(),
            registration: field::out(&record.registration),
        }
    }
}

impl TryFrom<v1::RulePin> for records::RulePin {
    type Error = ConvertError;

    fn try_from(message: v1::RulePin) -> Result<Self, ConvertError> {
        Ok(Self {
            declaration_digest: field::id("declaration_digest", &message.declaration_digest)?,
            registration: field::optional("registration", message.registration)?,
        })
    }
}

impl From<&records::PermissionRule> for v1::PermissionRule {
    fn from(record: &records::PermissionRule) -> Self {
        Self {
            rule_id: record.rule_id.clone(),
            source: record.source.as_str().to_owned(),
            source_code: record.source.number(),
            behavior: record.behavior.number(),
            matcher: record.matcher.clone(),
            reason: record.reason.clone(),
            facts: record.facts.clone(),
            arguments: field::outs(&record.arguments),
            scope: Some((&record.scope).into()),
            author: record.author.clone(),
            created_at: record.created_at.and_then(field::instant),
            expires_at: record.expires_at.and_then(field::instant),
            r#match: field::outs(&record.matches),
            not_match: field::outs(&record.not_matches),
            shadow: record.shadow,
            origin: record.origin.clone(),
            revoked_at: record.revoked_at.and_then(field::instant),
            revoked_by: record.revoked_by.clone(),
            pin: record.pin.as_ref().map(Into::into),
        }
    }
}

impl TryFrom<v1::PermissionRule> for records::PermissionRule {
    type Error = ConvertError;

    fn try_from(message: v1::PermissionRule) -> Result<Self, ConvertError> {
        Ok(Self {
            rule_id: message.rule_id,
            source: word::open("source", &message.source, message.source_code)?,
            behavior: word::closed("behavior", message.behavior)?,
            matcher: message.matcher,
            reason: message.reason,
            facts: message.facts,
            arguments: field::list("arguments", message.arguments)?,
            scope: message.scope.map(Into::into).unwrap_or_default(),
            author: message.author,
            created_at: field::optional_time("created_at", message.created_at)?,
            expires_at: field::optional_time("expires_at", message.expires_at)?,
            matches: field::list("match", message.r#match)?,
            not_matches: field::list("not_match", message.not_match)?,
            shadow: message.shadow,
            origin: message.origin,
            revoked_at: field::optional_time("revoked_at", message.revoked_at)?,
            revoked_by: message.revoked_by,
            pin: field::optional("pin", message.pin)?,
        })
    }
}
