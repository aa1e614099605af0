//! Changing several invocations in one commit: all of it happens, or nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use toolplane_lifecycle::Transition;
use toolplane_records::ids::InvocationKey;
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_store::{Commit, Expect};

use super::commit::{Builder, Extras};
use super::hot::{Hot, Place};
use super::hub::Update;
use super::keys::QueueName;
use super::write::Written;
use super::{Engine, EngineError, keys};

/// The records a decision about several invocations is made on; those that do not exist are missing.
pub(crate) type Records = BTreeMap<InvocationKey, Arc<Invocation>>;

/// What was decided about several invocations at once.
#[derive(Debug, Default)]
pub(crate) struct Joint {
    /// At most one transition of each invocation, all of them among those that were read.
    pub(crate) transitions: Vec<Transition>,
    /// What else belongs to the commit: compares, writes, index changes.
    pub(crate) rest: Commit,
}

/// What became of a joint change.
#[derive(Debug)]
pub(crate) enum Together {
    /// All of it is stored, or there was nothing to store.
    Done,
    /// Something that was read had changed meanwhile; nothing was written. Read again and decide again.
    Lost,
}

impl Engine {
    /// Reads the invocations `ids`, lets `decide` make something of them, and stores that in one commit.
    ///
    /// The commit is lost when any of the invocations read has changed, whether or not `decide` changes it. Invocations
    /// that are being changed by others are waited for; the order of locking is that of the ids, so nobody waits in a
    /// circle. `None` of `decide` writes nothing.
    pub(crate) async fn change_together(
        &self,
        ids: &[InvocationKey],
        decide: impl FnOnce(&Records, Timestamp) -> Result<Option<Joint>, EngineError>,
    ) -> Result<Together, EngineError> {
        let mut places = self.lock_all(ids).await;
        let read = self.fill(&mut places).await;
        if let Err(error) = read {
            self.release(places);
            return Err(error);
        }
        let records: Records =
            places.iter().filter_map(|(id, place)| Some((id.clone(), place.as_ref()?.record.clone()))).collect();
        let decided = match self.now().await {
            Ok(now) => decide(&records, now),
            Err(error) => Err(error),
        };
        let joint = match decided {
            Ok(Some(joint)) => joint,
            other => {
                self.release(places);
                return other.map(|_| Together::Done);
            }
        };
        match self.commit_joint(&places, joint).await {
            Ok(Some(stored)) => {
                self.settle_all(places, stored);
                Ok(Together::Done)
            }
            outcome => {
                // Whatever is remembered of these may be old.
                for (_, place) in &mut places {
                    **place = None;
                }
                self.release(places);
                outcome.map(|_| Together::Lost)
            }
        }
    }

    async fn lock_all(&self, ids: &[InvocationKey]) -> Vec<(InvocationKey, Place)> {
        let mut ids = ids.to_vec();
        ids.sort_unstable();
        ids.dedup();
        let mut places = Vec::with_capacity(ids.len());
        for id in ids {
            let slot = self.0.hot.slot(&id);
            places.push((id, slot.lock_owned().await));
        }
        places
    }

    /// Reads what is not at hand; of a store that others change too, nothing counts as at hand.
    pub(crate) async fn fill(&self, places: &mut [(InvocationKey, Place)]) -> Result<(), EngineError> {
        let absent: Vec<usize> =
            (0..places.len()).filter(|place| self.0.shared || places[*place].1.is_none()).collect();
        if absent.is_empty() {
            return Ok(());
        }
        let wanted: Vec<_> = absent.iter().map(|place| keys::invocation(&places[*place].0)).collect();
        let found = self.0.store.get_many(&wanted).await?;
        for (place, stored) in absent.into_iter().zip(found) {
            let place = &mut places[place].1;
            **place = match (stored, place.take()) {
                (None, _) => None,
                // What is at hand beside the record is worth keeping.
                (Some(stored), Some(hot)) if hot.version == stored.version => Some(hot),
                (Some(stored), _) => Some(Hot::read(&stored)?),
            };
        }
        Ok(())
    }

    /// Stores a joint change; `None` when it was lost.
    async fn commit_joint(
        &self,
        places: &[(InvocationKey, Place)],
        joint: Joint,
    ) -> Result<Option<Vec<(Transition, Option<QueueName>)>>, EngineError> {
        let mut builder = Builder::with(joint.rest);
        let mut stored = Vec::with_capacity(joint.transitions.len());
        for transition in joint.transitions {
            let place = places.iter().find(|(id, _)| *id == transition.key());
            let Some(hot) = place.and_then(|(_, place)| place.as_ref()) else { return Err(EngineError::NotFound) };
            let queue = self.queue_for(&transition).await?;
            builder.transition(&transition, Expect::Version(hot.version), queue.as_ref(), Extras::default())?;
            self.hint_about(&mut builder, &transition, queue.as_ref());
            stored.push((transition, queue));
        }
        for (id, place) in places {
            let expect = place.as_ref().map_or(Expect::Absent, |hot| Expect::Version(hot.version));
            builder.compare(keys::invocation(id), expect);
        }
        match self.write(builder.done(true)).await? {
            Written::Applied => Ok(Some(stored)),
            Written::Lost(_) => Ok(None),
            Written::Full(index) => Err(EngineError::Full { index }),
        }
    }

    fn settle_all(&self, places: Vec<(InvocationKey, Place)>, stored: Vec<(Transition, Option<QueueName>)>) {
        let mut stored: BTreeMap<InvocationKey, _> =
            stored.into_iter().map(|change| (change.0.key(), change)).collect();
        for (id, mut place) in places {
            let Some(hot) = place.take() else {
                self.0.hot.forget(&id);
                continue;
            };
            match stored.remove(&id) {
                Some((transition, queue)) => {
                    let Transition { invocation, events, terminal, effects } = transition;
                    let hot = Hot { version: hot.version + 1, record: Arc::new(invocation), ..hot };
                    let update = Update { events: events.into(), terminal: terminal.map(Arc::new) };
                    self.settle(&mut place, hot, update, &effects, queue.as_ref());
                }
                None => self.keep(&mut place, &id, hot),
            }
        }
    }

    /// Unlocks places; those with nothing to remember are dropped.
    pub(crate) fn release(&self, places: Vec<(InvocationKey, Place)>) {
        for (id, mut place) in places {
            match place.take() {
                Some(hot) => self.keep(&mut place, &id, hot),
                None => self.0.hot.forget(&id),
            }
        }
    }
}
