//! Claims: a call leaves its queue, takes its permits and gets a lease, all in one commit.

use std::sync::Arc;

use toolplane_lifecycle::{Command, LeaseGrant, Permit, Transition};
use toolplane_records::ids::{InvocationKey, LeaseId};
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_store::{Expect, IndexEntry, Retry};

use super::commit::{Builder, Extras};
use super::hot::{Hot, Place};
use super::hub::Update;
use super::keys::{self, QueueName};
use super::plan::DispatchPlan;
use super::workers::WorkerLink;
use super::write::Written;
use super::{Engine, EngineError};

/// Most calls claimed in one commit.
const GROUP: usize = 32;

/// A call that is about to be claimed: its place is locked and a worker's slot is taken.
struct Claim {
    id: InvocationKey,
    place: Place,
    queue: QueueName,
    transition: Transition,
}

/// What became of an attempt to claim several calls at once.
enum Attempt {
    /// Claimed.
    Done,
    /// These were changed by somebody else.
    Lost(Vec<InvocationKey>),
    /// No place left in this counted index.
    Full(String),
}

impl Engine {
    /// Claims waiting calls; returns how many need not be looked at again: claimed here or elsewhere, held up by a bound
    /// that is remembered, or wrongly in their queue.
    pub(crate) async fn claim_all(
        &self,
        pool: &str,
        chosen: Vec<(QueueName, IndexEntry)>,
    ) -> Result<usize, EngineError> {
        let mut left = 0;
        let mut chosen = chosen.into_iter().peekable();
        while chosen.peek().is_some() {
            let group: Vec<_> = chosen.by_ref().take(GROUP).collect();
            left += self.claim_group(pool, group).await?;
        }
        Ok(left)
    }

    async fn claim_group(&self, pool: &str, group: Vec<(QueueName, IndexEntry)>) -> Result<usize, EngineError> {
        let (mut places, mut queues, mut dropped) = (Vec::new(), Vec::new(), 0);
        for (queue, entry) in group {
            let Ok(id) = InvocationKey::parse(&entry.member) else {
                dropped += usize::from(self.set_aside(&queue.to_string(), &entry).await);
                continue;
            };
            // Whoever holds the place changes the call right now: its turn comes again.
            if let Ok(place) = self.0.hot.slot(&id).try_lock_owned() {
                places.push((id, place));
                queues.push((queue, entry));
            }
        }
        let now = self.now().await?;
        if let Err(error) = self.read_absent(&mut places).await {
            self.release(places);
            return Err(error);
        }
        let mut claims = Vec::new();
        for ((id, place), (queue, entry)) in places.into_iter().zip(queues) {
            match self.prepare_claim(pool, id, place, queue, &entry, now).await {
                Ok(Some(claim)) => claims.push(claim),
                Ok(None) => {}
                Err(gone) => dropped += usize::from(gone),
            }
        }
        Ok(dropped + self.commit_claims(claims).await?)
    }

    /// Reads records that are not at hand. What is at hand may be old where others write too: then the claim is lost.
    async fn read_absent(&self, places: &mut [(InvocationKey, Place)]) -> Result<(), EngineError> {
        let absent: Vec<usize> = (0..places.len()).filter(|place| places[*place].1.is_none()).collect();
        if absent.is_empty() {
            return Ok(());
        }
        let wanted: Vec<_> = absent.iter().map(|place| keys::invocation(&places[*place].0)).collect();
        for (place, stored) in absent.into_iter().zip(self.readable(&wanted).await?) {
            // One damaged record must not stop the others: it stays absent, and is set aside below.
            *places[place].1 = stored.and_then(|stored| Hot::read(&stored).ok());
        }
        Ok(())
    }

    /// Decides one claim. An error says whether a wrong queue entry was removed.
    async fn prepare_claim(
        &self,
        pool: &str,
        id: InvocationKey,
        mut place: Place,
        queue: QueueName,
        entry: &IndexEntry,
        now: Timestamp,
    ) -> Result<Option<Claim>, bool> {
        let Some(hot) = place.as_ref() else {
            drop(place);
            self.0.hot.forget(&id);
            return Err(self.set_aside(&queue.to_string(), entry).await);
        };
        let record = hot.record.clone();
        if let Some(error) = self.kept_out(&record, now) {
            self.release(vec![(id.clone(), place)]);
            let block = |_: &Invocation| Command::Block { cause: "quarantine", error: error.clone() };
            return Err(self.command(&id, Vec::new(), block).await.is_ok());
        }
        let plan = match self.plan_of(&record).await {
            Ok(plan) => plan,
            Err(error) => {
                tracing::warn!(invocation_id = %id, %error, "a plan could not be read");
                return Ok(None);
            }
        };
        if !self.may_start(&record, plan.as_deref(), hot.decided, now) {
            self.release(vec![(id, place)]);
            return Ok(None);
        }
        let Some(grant) = self.reserve(pool, &record, plan.as_deref(), now) else {
            self.release(vec![(id, place)]);
            return Ok(None);
        };
        match toolplane_lifecycle::apply(&record, Command::Claim(grant), now) {
            Ok(transition) => {
                if let (Some(hot), Some(plan)) = (place.as_mut(), plan) {
                    hot.plan = Some(plan);
                }
                Ok(Some(Claim { id, place, queue, transition }))
            }
            Err(_) => {
                self.0.workers.unassign(&id);
                // What is remembered may be old; the store is asked whether the entry is wrong.
                *place = None;
                drop(place);
                self.0.hot.forget(&id);
                Err(self.heal(&queue, &id).await)
            }
        }
    }

    /// Takes a slot for `record` at a worker, and says under which lease.
    pub(crate) fn reserve(
        &self,
        pool: &str,
        record: &Invocation,
        plan: Option<&DispatchPlan>,
        now: Timestamp,
    ) -> Option<LeaseGrant> {
        let lease_id = LeaseId::of(&record.tenant, &uuid::Uuid::new_v4());
        let worker = self.0.workers.reserve(pool, record, &lease_id)?;
        let permits = plan.map(|plan| self.0.limits.permits(&record.tenant, plan)).unwrap_or_default();
        Some(self.grant(&worker, lease_id, self.0.fences.next(now, record.last_fence), permits))
    }

    fn grant(&self, worker: &WorkerLink, lease_id: LeaseId, fence: u64, permits: Vec<Permit>) -> LeaseGrant {
        LeaseGrant {
            lease_id,
            fence,
            worker_id: worker.info.worker_id.clone(),
            incarnation: worker.info.incarnation.clone(),
            offer_ms: self.0.options.offer_ms,
            permits,
        }
    }

    /// Stores claims, without those that others were faster with and those that have no permit; returns how many there
    /// were.
    async fn commit_claims(&self, mut claims: Vec<Claim>) -> Result<usize, EngineError> {
        let count = claims.len();
        while !claims.is_empty() {
            let places_left = self.0.backlog.places();
            match self.try_claims(&claims).await {
                Ok(Attempt::Done) => {
                    self.settle_claims(claims);
                    break;
                }
                Ok(Attempt::Lost(ids)) => {
                    claims = self.without(claims, |claim| ids.contains(&claim.id));
                }
                Ok(Attempt::Full(permit)) => {
                    self.0.backlog.full(&permit, places_left);
                    let room = match self.room(&claims, &permit).await {
                        Ok(room) => room,
                        Err(error) => {
                            self.without(claims, |_| true);
                            return Err(error);
                        }
                    };
                    let mut seen = 0;
                    claims = self.without(claims, |claim| {
                        seen += u64::from(needs(claim, &permit));
                        needs(claim, &permit) && seen > room
                    });
                }
                // Something is wrong with one of them: each alone, so that it stops nobody else.
                Err(EngineError::Store(error)) if error.retry() == Retry::Never && claims.len() > 1 => {
                    tracing::error!(%error, "a claim cannot be stored; trying each alone");
                    for claim in claims {
                        if let Err(error) = Box::pin(self.commit_claims(vec![claim])).await {
                            tracing::error!(%error, "a call cannot be claimed");
                        }
                    }
                    // Those that cannot be stored are still in their queue: not again at once.
                    return Ok(0);
                }
                Err(error) => {
                    self.without(claims, |_| true);
                    return Err(error);
                }
            }
        }
        Ok(count)
    }

    async fn try_claims(&self, claims: &[Claim]) -> Result<Attempt, EngineError> {
        let mut builder = Builder::default();
        for claim in claims {
            let version = claim.place.as_ref().map_or(0, |hot| hot.version);
            builder.transition(&claim.transition, Expect::Version(version), Some(&claim.queue), Extras::default())?;
            self.hint_about(&mut builder, &claim.transition, None);
        }
        Ok(match self.write(builder.done(true)).await? {
            Written::Applied => Attempt::Done,
            Written::Full(permit) => Attempt::Full(permit),
            Written::Lost(current) => {
                let lost = |claim: &&Claim| current.iter().any(|(key, _)| *key == keys::invocation(&claim.id));
                Attempt::Lost(claims.iter().filter(lost).map(|claim| claim.id.clone()).collect())
            }
        })
    }

    /// How many of `claims` still fit into the counted index `permit`; less than ask for it.
    async fn room(&self, claims: &[Claim], permit: &str) -> Result<u64, EngineError> {
        let asking: Vec<u64> = claims.iter().flat_map(|claim| below(claim, permit)).collect();
        let most = asking.iter().copied().min().unwrap_or(0);
        let taken = self.0.store.index_len(permit).await?;
        Ok(most.saturating_sub(taken).min((asking.len() as u64).saturating_sub(1)))
    }

    /// Gives the slots of the claims that `drop` names back, and forgets what was remembered of them.
    fn without(&self, claims: Vec<Claim>, mut drop_it: impl FnMut(&Claim) -> bool) -> Vec<Claim> {
        let mut kept = Vec::with_capacity(claims.len());
        for mut claim in claims {
            if drop_it(&claim) {
                self.0.workers.unassign(&claim.id);
                *claim.place = None;
                drop(claim.place);
                self.0.hot.forget(&claim.id);
            } else {
                kept.push(claim);
            }
        }
        kept
    }

    fn settle_claims(&self, claims: Vec<Claim>) {
        for claim in claims {
            let Claim { id, mut place, transition, .. } = claim;
            self.0.limits.pushback.claimed(&transition.invocation.tenant);
            let Some(hot) = place.take() else { continue };
            let Transition { invocation, events, terminal, effects } = transition;
            let hot = Hot { version: hot.version + 1, record: Arc::new(invocation), ..hot };
            let update = Update { events: events.into(), terminal: terminal.map(Arc::new) };
            debug_assert_eq!(id, hot.record.key());
            self.settle(&mut place, hot, update, &effects, None);
        }
    }
}

/// The bounds under which `claim` takes a place in `permit`: one, or none.
fn below(claim: &Claim, permit: &str) -> Option<u64> {
    claim.transition.effects.iter().find_map(|effect| match effect {
        toolplane_lifecycle::Effect::TakePermit { index, below } if index == permit => Some(*below),
        _ => None,
    })
}

fn needs(claim: &Claim, permit: &str) -> bool {
    below(claim, permit).is_some()
}
