//! What can be wrong with a server that was fine when the store was opened.

use toolplane_records::codes;

/// Why the store is not what it promises at the moment. It ends when the server is put right; see each case.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Trouble {
    /// No server answers. Calls find that out by themselves.
    #[error("Redis cannot be reached")]
    Away,
    /// A crash of the server could take back what it has answered: only [essential](toolplane_store::Commit::essential)
    /// commits are taken until it flushes again.
    #[error("Redis may lose what it has answered: set `appendonly yes` and `appendfsync always` again")]
    Buffered,
    /// The server would drop records when its memory is full: only essential commits are taken until it does not.
    #[error(
        "Redis would drop records when its memory is full (`maxmemory-policy {policy}`): set it to `noeviction` again"
    )]
    Evicts {
        /// The server's `maxmemory-policy`.
        policy: String,
    },
    /// The records this store was opened with are gone: the server was emptied, or another one is in its place. Nothing
    /// is read or written until they are back, or the store is opened again.
    #[error("what was kept in Redis is gone: bring the records back, or start again without them")]
    Emptied,
}

impl Trouble {
    /// Stable machine-readable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Away => codes::REDIS_AWAY.as_str(),
            Self::Buffered => codes::REDIS_BUFFERED.as_str(),
            Self::Evicts { .. } => codes::REDIS_EVICTS.as_str(),
            Self::Emptied => codes::REDIS_EMPTIED.as_str(),
        }
    }
}
