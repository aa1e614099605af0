//! Whose records a server holds: a name that is written once, beside the records, and is gone when they are.

use redis::Value;

/// The name of one store, for as long as its records are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoreIdentity(Vec<u8>);

impl StoreIdentity {
    /// The store of this name.
    pub(crate) fn of(name: &str) -> Self {
        Self(name.as_bytes().to_vec())
    }

    /// Whether this is what a server holds under the key of the identity.
    pub(crate) fn is(&self, held: &Value) -> bool {
        matches!(held, Value::BulkString(bytes) if *bytes == self.0)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}
