//! The roles a cluster is made of. Not part of the standard's records: what every process, its configuration and the tests call them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a process of a cluster does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClusterRole {
    /// Declarations, surfaces, search.
    Surface,
    /// Rules and approvals.
    Permission,
    /// Calls, queue, results.
    Scheduler,
    /// Runs tools.
    Executor,
    /// Answers HTTP: calls as JSON, and MCP.
    Gateway,
}

impl ClusterRole {
    /// All of them, in the order in which they are started: a service that is asked comes before those that ask it.
    pub const ALL: [Self; 5] = [Self::Surface, Self::Permission, Self::Scheduler, Self::Executor, Self::Gateway];

    /// The word `toolplane serve --role` knows, and the key below `peers` in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Surface => "surface",
            Self::Permission => "permission",
            Self::Scheduler => "scheduler",
            Self::Executor => "executor",
            Self::Gateway => "gateway",
        }
    }

    /// Whether its processes answer gRPC calls. One that does not needs no port.
    pub const fn listens(self) -> bool {
        !matches!(self, Self::Executor | Self::Gateway)
    }

    /// The roles it asks: a process of this role alone has to know where those are.
    pub const fn asks(self) -> &'static [Self] {
        match self {
            Self::Surface | Self::Permission => &[],
            Self::Scheduler => &[Self::Surface, Self::Permission],
            Self::Executor => &[Self::Scheduler],
            Self::Gateway => &[Self::Surface, Self::Permission, Self::Scheduler],
        }
    }
}

impl fmt::Display for ClusterRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// There is no role of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is none of surface, permission, scheduler, executor, gateway")]
pub struct UnknownRole(pub String);

impl FromStr for ClusterRole {
    type Err = UnknownRole;

    fn from_str(name: &str) -> Result<Self, UnknownRole> {
        Self::ALL.into_iter().find(|role| role.as_str() == name).ok_or_else(|| UnknownRole(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_read_back_and_are_started_after_those_they_ask() {
        for (at, role) in ClusterRole::ALL.into_iter().enumerate() {
            assert_eq!(role.as_str().parse(), Ok(role));
            assert_eq!(serde_json::to_value(role).unwrap(), role.as_str());
            assert!(role.asks().iter().all(|asked| ClusterRole::ALL[..at].contains(asked)), "{role}");
        }
        assert_eq!("Scheduler".parse::<ClusterRole>(), Err(UnknownRole("Scheduler".to_owned())));
    }
}
