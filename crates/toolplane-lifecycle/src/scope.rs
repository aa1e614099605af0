//! What several calls share, and what is therefore decided for all of them at once.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use toolplane_records::ids::{BatchId, InvalidId, InvocationId, TenantId};
use toolplane_records::invocation::Invocation;

/// Something that has to be settled among calls.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Releases, cancellations and yields of a batch.
    Batch(BatchId),
    /// Tickets and grants of a lock domain.
    Locks {
        /// Owner.
        tenant: TenantId,
        /// Name of the domain.
        domain: String,
    },
}

/// Records that were read to settle a scope, by id; `None` for a call that no longer exists.
pub type Known = BTreeMap<InvocationId, Option<Invocation>>;

/// Why a text is not a scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidScope {
    /// Neither `batch:...` nor `locks:.../...`.
    #[error("is neither `batch:<id>` nor `locks:<tenant>/<domain>`")]
    Form,
    /// One of its parts is not an identifier.
    #[error(transparent)]
    Id(#[from] InvalidId),
}

/// `batch:<id>` or `locks:<tenant>/<domain>`, with `/` in the tenant written as `%2F`, so that every text reads back.
impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Batch(id) => write!(f, "batch:{id}"),
            // `%` is not a character of identifiers.
            Self::Locks { tenant, domain } => write!(f, "locks:{}/{domain}", tenant.as_str().replace('/', "%2F")),
        }
    }
}

impl FromStr for Scope {
    type Err = InvalidScope;

    fn from_str(text: &str) -> Result<Self, InvalidScope> {
        match text.split_once(':') {
            Some(("batch", id)) => Ok(Self::Batch(BatchId::parse(id)?)),
            Some(("locks", rest)) => {
                let (tenant, domain) = rest.split_once('/').ok_or(InvalidScope::Form)?;
                let tenant = TenantId::parse(&tenant.replace("%2F", "/"))?;
                Ok(Self::Locks { tenant, domain: domain.to_owned() })
            }
            _ => Err(InvalidScope::Form),
        }
    }
}
