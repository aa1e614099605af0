//! Roles and sets of them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a caller may be. No role includes another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Makes surfaces and calls, and reads its tenant's.
    Agent,
    /// Answers questions about calls.
    Approver,
    /// Registers tools, changes rules, stops calls.
    Operator,
    /// Runs calls, of every tenant.
    Worker,
    /// Reads, and changes nothing.
    Auditor,
    /// Another process of the cluster: speaks for the callers it serves.
    Peer,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 6] = [Self::Agent, Self::Approver, Self::Operator, Self::Worker, Self::Auditor, Self::Peer];

    /// Its name in configurations, key files and metadata.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agent => "agent",
            Self::Approver => "approver",
            Self::Operator => "operator",
            Self::Worker => "worker",
            Self::Auditor => "auditor",
            Self::Peer => "peer",
        }
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = UnknownRole;

    fn from_str(text: &str) -> Result<Self, UnknownRole> {
        Self::ALL.into_iter().find(|role| role.as_str() == text).ok_or(UnknownRole)
    }
}

/// The text is no role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not one of agent, approver, operator, worker, auditor, peer")]
pub struct UnknownRole;

/// A set of roles. In files and configurations a list of names.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct RoleSet(u8);

impl RoleSet {
    /// No role.
    pub const NONE: Self = Self(0);
    /// Every role.
    pub const ALL: Self = Self::of(&Role::ALL);

    /// These roles.
    pub const fn of(roles: &[Role]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < roles.len() {
            bits |= roles[at].bit();
            at += 1;
        }
        Self(bits)
    }

    /// Whether the role is in the set.
    pub const fn contains(self, role: Role) -> bool {
        self.0 & role.bit() != 0
    }

    /// Whether the sets share a role.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The roles of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether there is no role in it.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Its roles, in the order of [`Role::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Role> {
        Role::ALL.into_iter().filter(move |role| self.contains(*role))
    }

    /// The names of its roles.
    pub fn names(self) -> Vec<String> {
        self.iter().map(|role| role.as_str().to_owned()).collect()
    }

    /// The names with commas between.
    pub(crate) fn joined(self) -> String {
        self.iter().map(Role::as_str).collect::<Vec<_>>().join(",")
    }
}

impl FromIterator<Role> for RoleSet {
    fn from_iter<I: IntoIterator<Item = Role>>(roles: I) -> Self {
        roles.into_iter().fold(Self::NONE, |set, role| Self(set.0 | role.bit()))
    }
}

impl fmt::Debug for RoleSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RoleSet({})", self.joined())
    }
}
