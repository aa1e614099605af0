//! Removing sealed originals whose time is over, or whose call is gone.

use toolplane_records::ids::InvocationKey;
use toolplane_records::time::Timestamp;
use toolplane_store::{IndexEntry, ScoreRange};

use super::removal::Removal;
use crate::originals::{KeptOriginal, forget};
use crate::storage::commit::{Builder, score};
use crate::storage::{RecordError, Written, keys};

/// Originals looked at in one round.
const PAGE: usize = 64;
/// When an original that a hold keeps is looked at again.
const HELD_MS: i64 = 60 * 60 * 1000;

impl Removal {
    /// Removes the originals that are to go by now; at most a page of them.
    pub(crate) async fn remove_originals(&self, now: Timestamp) -> Result<(), RecordError> {
        let over = self.calls.storage().scan(keys::ORIGINALS, ScoreRange::up_to(score(now)), PAGE).await?;
        for entry in over {
            self.remove_original(&entry, now).await?;
        }
        Ok(())
    }

    /// Removes one, unless a hold is on its call. The record goes first: a crash after it leaves sealed bytes that nothing names.
    async fn remove_original(&self, entry: &IndexEntry, now: Timestamp) -> Result<(), RecordError> {
        let storage = self.calls.storage();
        let mut builder = Builder::default();
        let Ok(id) = InvocationKey::parse(&entry.member) else {
            builder.leave(keys::ORIGINALS, entry.member.clone());
            return storage.write(builder.done(true)).await.map(drop);
        };
        match self.calls.records().get(&id).await {
            Ok(record) => {
                let shard = storage.shards().of_call(&id);
                let (holds, (key, expect)) = self.holds.in_shard(&record.tenant, shard).await?;
                if holds.on(&record).is_some() {
                    builder.enter(keys::ORIGINALS, entry.member.clone(), score(now.plus_millis(HELD_MS)));
                    return storage.write(builder.done(true)).await.map(drop);
                }
                builder.compare(key, expect);
            }
            Err(RecordError::NotFound) => {}
            Err(error) => return Err(error),
        }
        let kept = self.calls.records().original(&id).await?;
        builder.delete(keys::original(&id));
        builder.leave(keys::ORIGINALS, entry.member.clone());
        // Lost when a hold was set just now: it is looked at again.
        if matches!(storage.write(builder.done(true)).await?, Written::Applied) {
            for part in kept.iter().flat_map(|kept: &KeptOriginal| &kept.parts) {
                forget(self.objects(), part).await;
            }
        }
        Ok(())
    }
}
