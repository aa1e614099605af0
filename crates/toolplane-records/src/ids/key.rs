//! Which call of all tenants: an invocation id says that within its tenant only.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{InvalidId, InvocationId, TenantId};

/// What separates a tenant from an id; no identifier contains it.
const SEPARATOR: char = '|';

/// One call among those of all tenants. Two tenants may use the same invocation id; neither meets the other's call.
///
/// As text it is `<tenant>|<id>`, and the bare id for calls of the tenant of unauthenticated callers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InvocationKey {
    /// Owner of the call.
    pub tenant: TenantId,
    /// Its id within the tenant.
    pub id: InvocationId,
}

impl InvocationKey {
    /// The call `id` of `tenant`.
    pub fn new(tenant: &TenantId, id: &InvocationId) -> Self {
        Self { tenant: tenant.clone(), id: id.clone() }
    }

    /// Reads what [`fmt::Display`] writes. Text is refused with [`InvalidId`] when the tenant or the id in it is not an
    /// identifier.
    pub fn parse(text: &str) -> Result<Self, InvalidId> {
        match text.split_once(SEPARATOR) {
            Some((tenant, id)) => Ok(Self { tenant: TenantId::parse(tenant)?, id: InvocationId::parse(id)? }),
            None => Ok(Self { tenant: TenantId::unauthenticated(), id: InvocationId::parse(text)? }),
        }
    }
}

impl fmt::Display for InvocationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.tenant.is_unauthenticated() {
            write!(f, "{}{SEPARATOR}", self.tenant)?;
        }
        f.write_str(self.id.as_str())
    }
}

impl FromStr for InvocationKey {
    type Err = InvalidId;

    fn from_str(text: &str) -> Result<Self, InvalidId> {
        Self::parse(text)
    }
}

impl Serialize for InvocationKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for InvocationKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl TenantId {
    /// `name` as one of this tenant's: `<tenant>|<name>`, and the bare name for the tenant of unauthenticated callers. No two
    /// tenants share such a text, whatever identifiers they choose.
    pub fn scoped(&self, name: impl fmt::Display) -> String {
        match self.is_unauthenticated() {
            true => name.to_string(),
            false => format!("{self}{SEPARATOR}{name}"),
        }
    }

    /// The name within what [`TenantId::scoped`] made of it for this tenant; any other text as it is.
    pub fn unscoped<'a>(&self, text: &'a str) -> &'a str {
        let name = text.strip_prefix(self.as_str()).and_then(|rest| rest.strip_prefix(SEPARATOR));
        name.filter(|_| !self.is_unauthenticated()).unwrap_or(text)
    }

    /// Whether this is the tenant of unauthenticated callers.
    pub fn is_unauthenticated(&self) -> bool {
        self.as_str() == super::UNAUTHENTICATED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_read_back_and_never_meet() {
        let mut seen = std::collections::BTreeSet::new();
        for tenant in ["default", "acme", "acme/eu", "a", "inv_1"] {
            for id in ["inv_1", "a/inv_1", "acme/eu", "default"] {
                let key = InvocationKey { tenant: TenantId::from_trusted(tenant), id: InvocationId::from_trusted(id) };
                assert_eq!(InvocationKey::parse(&key.to_string()), Ok(key.clone()));
                assert_eq!(key.tenant.unscoped(&key.to_string()), id);
                assert!(seen.insert(key.to_string()), "{key} is the text of two keys");
            }
        }
        for wrong in ["", "|", "a|", "|b", "a|b|c"] {
            assert!(InvocationKey::parse(wrong).is_err(), "{wrong}");
        }
    }
}
