//! The versions of the protocol that are answered here.

use toolplane_mcp::meta::STATELESS;

/// A version of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Version {
    V2025March,
    V2025June,
    V2025November,
    /// Each request says all it needs; there are no sessions.
    V2026July,
}

impl Version {
    /// Newest first.
    pub(crate) const ALL: [Self; 4] = [Self::V2026July, Self::V2025November, Self::V2025June, Self::V2025March];
    /// The newest one that begins with `initialize`.
    pub(crate) const NEWEST_WITH_SESSIONS: Self = Self::V2025November;

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::V2025March => "2025-03-26",
            Self::V2025June => "2025-06-18",
            Self::V2025November => "2025-11-25",
            Self::V2026July => STATELESS,
        }
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.as_str() == text)
    }

    /// Whether a session is begun before anything else.
    pub(crate) fn has_sessions(self) -> bool {
        self != Self::V2026July
    }

    /// What is spoken with a client that begins with `initialize` and wants this: that, or the newest there is.
    pub(crate) fn agreed(wanted: &str) -> Self {
        Self::parse(wanted).filter(|version| version.has_sessions()).unwrap_or(Self::NEWEST_WITH_SESSIONS)
    }

    /// Whether the schema of an output may be any schema, and the output any value; else both are objects.
    pub(crate) fn has_any_output(self) -> bool {
        self == Self::V2026July
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_gets_what_it_wants_or_the_newest_with_a_handshake() {
        assert_eq!(Version::agreed("2025-06-18"), Version::V2025June);
        for other in ["2024-11-05", "2026-07-28", "2030-01-01", ""] {
            assert_eq!(Version::agreed(other), Version::V2025November, "{other}");
        }
        for version in Version::ALL {
            assert_eq!(Version::parse(version.as_str()), Some(version));
        }
    }
}
