//! Index entries that do not fit their records: taken out where that is safe, set aside where nothing can be made of them.

use toolplane_records::ids::InvocationKey;
use toolplane_store::{Expect, IndexEntry, StoreError};

use super::cache::CachedCall;
use super::handle::Calls;
use super::places::is_ready;
use crate::storage::commit::Builder;
use crate::storage::keys::{self, QueueName};
use crate::storage::{RecordError, Written};

impl Calls {
    /// Takes an entry out of `index` that nothing can be made of: its record does not exist, or cannot be read. The
    /// latter is kept under another name for an operator who can repair it. Returns whether the entry is gone.
    pub(crate) async fn set_aside(&self, index: &str, entry: &IndexEntry) -> bool {
        match self.try_set_aside(index, entry).await {
            Ok(gone) => gone,
            Err(error) => {
                tracing::warn!(index, member = entry.member, %error, "an entry could not be set aside; trying again");
                false
            }
        }
    }

    async fn try_set_aside(&self, index: &str, entry: &IndexEntry) -> Result<bool, RecordError> {
        let mut builder = Builder::default();
        builder.leave(index, entry.member.clone());
        match InvocationKey::parse(&entry.member) {
            Err(_) => keep_aside(&mut builder, index, entry, "it is not the id of an invocation"),
            Ok(id) => match self.storage().get(&keys::invocation(&id)).await {
                Err(StoreError::Damaged(damage)) => keep_aside(&mut builder, index, entry, &damage.to_string()),
                Err(error) => return Err(error.into()),
                Ok(None) => builder.compare(keys::invocation(&id), Expect::Absent),
                Ok(Some(stored)) => match CachedCall::read(&stored) {
                    // It can be read after all: another process was faster.
                    Ok(_) => return Ok(false),
                    Err(error) => {
                        builder.compare(keys::invocation(&id), Expect::Version(stored.version));
                        keep_aside(&mut builder, index, entry, &error.to_string());
                    }
                },
            },
        }
        Ok(matches!(self.storage().write(builder.done(true)).await?, Written::Applied))
    }

    /// Takes the entry of `id` out of a ready queue it does not belong to. Returns whether it is gone.
    pub(crate) async fn leave_queue(&self, queue: &QueueName, id: &InvocationKey, entry: &IndexEntry) -> bool {
        let left = async {
            let call = self.records().load(id).await?;
            if is_ready(&call.record) {
                return Ok(Left::Belongs);
            }
            // Usually another scheduler was faster, and its claim took the entry away.
            if !self.storage().has_entry(&queue.to_string(), entry).await? {
                return Ok(Left::WasGone);
            }
            let mut builder = Builder::default();
            builder.compare(keys::invocation(id), Expect::Version(call.version));
            builder.leave(queue.to_string(), id.to_string());
            Ok::<_, RecordError>(match self.storage().write(builder.done(true)).await? {
                Written::Applied => Left::TakenOut,
                _ => Left::Belongs,
            })
        };
        match left.await {
            Ok(Left::TakenOut) => {
                tracing::warn!(invocation_id = %id, %queue, "a call was in a queue it does not belong to");
                true
            }
            Ok(Left::WasGone) => true,
            Ok(Left::Belongs) => false,
            Err(error) => {
                tracing::warn!(invocation_id = %id, %error, "a queue entry could not be looked into");
                false
            }
        }
    }
}

/// What became of an entry of a ready queue.
enum Left {
    /// It was wrong.
    TakenOut,
    /// It is there no more, as its call is not ready.
    WasGone,
    /// Its call is ready, or changes right now.
    Belongs,
}

fn keep_aside(builder: &mut Builder, index: &str, entry: &IndexEntry, why: &str) {
    tracing::error!(index, member = entry.member, why, "an index entry cannot be used and was set aside");
    builder.enter(format!("{}{index}", keys::UNDECODABLE), entry.member.clone(), entry.score);
}
