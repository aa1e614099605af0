//! Index entries that do not fit their records: taken out where that is safe, set aside where nothing can be made of them.

use toolplane_records::ids::InvocationKey;
use toolplane_records::invocation::Invocation;
use toolplane_records::vocabulary::{InvocationStatus, QueueState};
use toolplane_store::{Expect, IndexEntry, StoreError};

use super::commit::Builder;
use super::hot::Hot;
use super::keys::{self, QueueName};
use super::write::Written;
use super::{Engine, EngineError};

/// Whether `record` belongs into a ready queue.
pub(crate) fn is_ready(record: &Invocation) -> bool {
    record.status == InvocationStatus::Queued
        && record.queue_state == Some(QueueState::Queued)
        && record.lease.is_none()
        && record.holds.is_empty()
}

impl Engine {
    /// Takes an entry out of `index` that nothing can be made of: its record does not exist, or cannot be read. The latter
    /// is kept under another name for whoever can repair it. Returns whether the entry is gone.
    pub(crate) async fn set_aside(&self, index: &str, entry: &IndexEntry) -> bool {
        match self.try_set_aside(index, entry).await {
            Ok(gone) => gone,
            Err(error) => {
                tracing::warn!(index, member = entry.member, %error, "an entry could not be set aside; trying again");
                false
            }
        }
    }

    async fn try_set_aside(&self, index: &str, entry: &IndexEntry) -> Result<bool, EngineError> {
        let mut builder = Builder::default();
        builder.leave(index, entry.member.clone());
        match InvocationKey::parse(&entry.member) {
            Err(_) => self.keep_aside(&mut builder, index, entry, "it is not the id of an invocation"),
            Ok(id) => match self.0.store.get(&keys::invocation(&id)).await {
                Err(StoreError::Damaged(damage)) => self.keep_aside(&mut builder, index, entry, &damage.to_string()),
                Err(error) => return Err(error.into()),
                Ok(None) => builder.compare(keys::invocation(&id), Expect::Absent),
                Ok(Some(stored)) => match Hot::read(&stored) {
                    // It can be read after all: somebody was faster.
                    Ok(_) => return Ok(false),
                    Err(error) => {
                        builder.compare(keys::invocation(&id), Expect::Version(stored.version));
                        self.keep_aside(&mut builder, index, entry, &error.to_string());
                    }
                },
            },
        }
        Ok(matches!(self.write(builder.done(true)).await?, Written::Applied))
    }

    fn keep_aside(&self, builder: &mut Builder, index: &str, entry: &IndexEntry, why: &str) {
        tracing::error!(index, member = entry.member, why, "an index entry is of no use and was set aside");
        builder.enter(format!("{}{index}", keys::UNDECODABLE), entry.member.clone(), entry.score);
    }

    /// Takes `id` out of a ready queue it does not belong to. Returns whether it is gone.
    pub(crate) async fn heal(&self, queue: &QueueName, id: &InvocationKey) -> bool {
        let healed = async {
            let hot = self.load(id).await?;
            if is_ready(&hot.record) {
                return Ok(false);
            }
            let mut builder = Builder::default();
            builder.compare(keys::invocation(id), Expect::Version(hot.version));
            builder.leave(queue.to_string(), id.to_string());
            Ok::<_, EngineError>(matches!(self.write(builder.done(true)).await?, Written::Applied))
        };
        match healed.await {
            Ok(true) => {
                tracing::warn!(invocation_id = %id, %queue, "a call was in a queue it does not belong to");
                true
            }
            Ok(false) => false,
            Err(error) => {
                tracing::warn!(invocation_id = %id, %error, "a queue entry could not be looked into");
                false
            }
        }
    }
}
