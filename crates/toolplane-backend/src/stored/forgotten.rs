//! What was taken out of a store, as it is kept.

use std::path::PathBuf;

use serde::Serialize;

/// Where what was taken out is kept, below `server.data_dir`.
pub(super) const KEPT: &str = "forgotten";

/// What was taken out, as it is kept and told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Forgotten {
    /// The role it was kept by, or `objects`.
    pub role: &'static str,
    /// The family of a record, or `stream`, `part` or `payload`.
    pub kind: String,
    /// Its name among them.
    pub name: String,
    /// When it was taken out, RFC 3339.
    pub at: String,
    /// The bytes of it and of what went with it. None for a payload: it is a file of its own.
    pub values: Vec<Kept>,
    /// The file that keeps all this; that of a payload, moved.
    #[serde(skip)]
    pub file: PathBuf,
}

/// Something that was taken out, as it lay in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// Where it lay: the key of its row, or its name in Redis. Bytes that are not text are escaped.
    pub key: String,
    /// Its bytes, hexadecimal.
    pub bytes: String,
}

impl Kept {
    pub(super) fn new(key: &[u8], bytes: &[u8]) -> Self {
        Self { key: key.escape_ascii().to_string(), bytes: hex::encode(bytes) }
    }
}
