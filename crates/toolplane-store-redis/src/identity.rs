//! Whose records a server holds: a name that is written once, beside the records, and is gone when they are.

use redis::aio::MultiplexedConnection;
use redis::{RedisError, Value};
use uuid::Uuid;

use crate::open_error::OpenError;
use crate::reply;

/// The name of one store, for as long as its records are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoreIdentity(Vec<u8>);

impl StoreIdentity {
    /// The identity of the store under `key`; one that has none yet, because it is new or from before stores had one, gets it
    /// now.
    pub(crate) async fn claim(connection: &mut MultiplexedConnection, key: &str) -> Result<Self, OpenError> {
        if let Some(found) = read(connection, key).await? {
            return Ok(found);
        }
        let made = Uuid::new_v4().simple().to_string();
        let written: Value =
            redis::cmd("SET").arg(key).arg(&made).arg("NX").query_async(connection).await.map_err(refused)?;
        if written != Value::Nil {
            tracing::info!(%key, "gave the store a name; it had none");
        }
        // Another process may have been first.
        let nothing = || OpenError::Unreachable { reason: format!("`{key}` was written and is gone") };
        read(connection, key).await?.ok_or_else(nothing)
    }

    /// Whether this is what a server holds under the key of the identity.
    pub(crate) fn is(&self, held: &Value) -> bool {
        matches!(held, Value::BulkString(bytes) if *bytes == self.0)
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    #[cfg(test)]
    pub(crate) fn of_test(name: &str) -> Self {
        Self(name.as_bytes().to_vec())
    }
}

async fn read(connection: &mut MultiplexedConnection, key: &str) -> Result<Option<StoreIdentity>, OpenError> {
    let held: Value = redis::cmd("GET").arg(key).query_async(connection).await.map_err(refused)?;
    match held {
        Value::Nil => Ok(None),
        held => {
            let strange = |failure: crate::failure::Failure| OpenError::Unreachable { reason: failure.reason };
            reply::bytes(Some(held)).map(|bytes| Some(StoreIdentity(bytes))).map_err(strange)
        }
    }
}

fn refused(error: RedisError) -> OpenError {
    OpenError::of(&error)
}
