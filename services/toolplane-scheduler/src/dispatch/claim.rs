//! Claims: a call leaves its queue, takes its permits and gets a lease, all in one commit.

use std::sync::Arc;

use toolplane_lifecycle::{Command, Effect};
use toolplane_records::ids::InvocationKey;
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_store::{IndexEntry, Retry};

use super::gate::StartGate;
use super::grant::Grants;
use super::passed_over::PassedOver;
use super::queues::ReadyQueues;
use crate::calls::{CacheEntry, Calls, Claimed};
use crate::limits::Rates;
use crate::storage::keys::{self, QueueName};
use crate::storage::{RecordError, Written};

/// Most calls claimed in one commit.
const GROUP: usize = 32;

/// Claims waiting calls for free slots.
#[derive(Debug)]
pub(crate) struct Claims {
    calls: Calls,
    grants: Arc<Grants>,
    gate: StartGate,
    queues: Arc<ReadyQueues>,
    rates: Arc<Rates>,
    passed_over: PassedOver,
}

impl Claims {
    pub(crate) fn new(
        calls: Calls,
        grants: Arc<Grants>,
        gate: StartGate,
        queues: Arc<ReadyQueues>,
        rates: Arc<Rates>,
    ) -> Self {
        let passed_over = PassedOver::new(calls.clone(), queues.clone());
        Self { calls, grants, gate, queues, rates, passed_over }
    }

    /// Claims waiting calls; returns how many need not be looked at again: claimed here or elsewhere, held up by a bound
    /// that is remembered, or wrongly in their queue.
    pub(crate) async fn claim_all(
        &self,
        pool: &str,
        chosen: Vec<(QueueName, IndexEntry)>,
    ) -> Result<usize, RecordError> {
        let mut left = 0;
        let mut chosen = chosen.into_iter().peekable();
        while chosen.peek().is_some() {
            let group: Vec<_> = chosen.by_ref().take(GROUP).collect();
            left += self.claim_group(pool, group).await?;
        }
        Ok(left)
    }

    async fn claim_group(&self, pool: &str, group: Vec<(QueueName, IndexEntry)>) -> Result<usize, RecordError> {
        let (mut entries, mut queues, mut dropped) = (Vec::new(), Vec::new(), 0);
        for (queue, entry) in group {
            let Ok(id) = InvocationKey::parse(&entry.member) else {
                dropped += usize::from(self.calls.set_aside(&queue.to_string(), &entry).await);
                continue;
            };
            let Some(held) = self.calls.try_lock(&id) else {
                self.passed_over.add(id);
                continue;
            };
            entries.push((id, held));
            queues.push((queue, entry));
        }
        let now = self.calls.now().await?;
        if let Err(error) = self.calls.read_absent(&mut entries).await {
            self.calls.release(entries);
            return Err(error);
        }
        let mut claims = Vec::new();
        for ((id, held), (queue, entry)) in entries.into_iter().zip(queues) {
            match self.prepare_claim(pool, id, held, queue, &entry, now).await {
                Ok(Some(claim)) => claims.push(claim),
                Ok(None) => {}
                Err(gone) => dropped += usize::from(gone),
            }
        }
        let shards = self.calls.storage().shards();
        let (mut claimed, mut failed) = (0, None);
        for of_shard in shards.sorted(claims, |claim| shards.of_call(&claim.id)) {
            // A shard that does not answer holds up no other, and what was reserved for its claims is given back.
            match self.commit_claims(of_shard).await {
                Ok(count) => claimed += count,
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(dropped + claimed), Err)
    }

    /// Decides one claim. An error says whether a wrong queue entry was removed.
    async fn prepare_claim(
        &self,
        pool: &str,
        id: InvocationKey,
        mut held: CacheEntry,
        queue: QueueName,
        entry: &IndexEntry,
        now: Timestamp,
    ) -> Result<Option<Claimed>, bool> {
        let Some(call) = held.as_ref() else {
            self.calls.forget(&id, held);
            return Err(self.calls.set_aside(&queue.to_string(), entry).await);
        };
        let record = call.record.clone();
        if let Some(error) = self.gate.kept_out(&record, now) {
            self.calls.release(vec![(id.clone(), held)]);
            let block = |_: &Invocation| Command::Block { cause: "quarantine", error: error.clone() };
            return Err(self.calls.command(&id, block).await.is_ok());
        }
        let plan = match self.calls.plans().of(&record).await {
            Ok(plan) => plan,
            Err(error) => {
                tracing::warn!(invocation_id = %id, %error, "a plan could not be read");
                return Ok(None);
            }
        };
        if !self.gate.may_start(&record, plan.as_deref(), call.decided, now) {
            self.calls.release(vec![(id, held)]);
            return Ok(None);
        }
        let Some(grant) = self.grants.reserve(pool, &record, plan.as_deref(), now) else {
            self.calls.release(vec![(id, held)]);
            return Ok(None);
        };
        match toolplane_lifecycle::apply(&record, Command::Claim(grant), now) {
            Ok(transition) => {
                if let (Some(call), Some(plan)) = (held.as_mut(), plan) {
                    call.plan = Some(plan);
                }
                Ok(Some(Claimed { id, entry: held, queue, transition }))
            }
            Err(_) => {
                self.grants.give_back(&id);
                // What is remembered may be old; the store is asked whether the entry is wrong.
                self.calls.forget(&id, held);
                Err(self.calls.leave_queue(&queue, &id, entry).await)
            }
        }
    }

    /// Stores claims of one shard, without those that others were faster with and those that have no permit; returns how many there
    /// were.
    async fn commit_claims(&self, mut claims: Vec<Claimed>) -> Result<usize, RecordError> {
        let count = claims.len();
        while !claims.is_empty() {
            let places_left = self.queues.places();
            match self.calls.try_claims(&claims).await {
                Ok(Written::Applied) => {
                    claims.iter().for_each(|claim| self.rates.claimed(&claim.transition.invocation.tenant));
                    self.calls.settle_claims(claims);
                    break;
                }
                Ok(Written::Lost(current)) => {
                    let changed = |claim: &Claimed| current.iter().any(|(key, _)| *key == keys::invocation(&claim.id));
                    claims = self.without(claims, changed);
                }
                Ok(Written::Full(permit)) => {
                    self.queues.full(&permit, places_left);
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
                // Something is wrong with one of them: each alone, so that it stops no other.
                Err(RecordError::Store(error)) if error.retry() == Retry::Never && claims.len() > 1 => {
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

    /// How many of `claims` still fit into the counted index `permit`; less than ask for it.
    async fn room(&self, claims: &[Claimed], permit: &str) -> Result<u64, RecordError> {
        let asking: Vec<u64> = claims.iter().flat_map(|claim| below(claim, permit)).collect();
        let most = asking.iter().copied().min().unwrap_or(0);
        let taken = self.calls.storage().index_len(permit).await?;
        Ok(most.saturating_sub(taken).min((asking.len() as u64).saturating_sub(1)))
    }

    /// Gives the slots of the claims that `drop` names back, and forgets what was remembered of them.
    fn without(&self, claims: Vec<Claimed>, mut drop_it: impl FnMut(&Claimed) -> bool) -> Vec<Claimed> {
        let mut kept = Vec::with_capacity(claims.len());
        for claim in claims {
            if drop_it(&claim) {
                self.grants.give_back(&claim.id);
                self.calls.forget(&claim.id, claim.entry);
            } else {
                kept.push(claim);
            }
        }
        kept
    }
}

/// The bounds under which `claim` takes a place in `permit`: one, or none.
fn below(claim: &Claimed, permit: &str) -> Option<u64> {
    claim.transition.effects.iter().find_map(|effect| match effect {
        Effect::TakePermit { index, below } if index == permit => Some(*below),
        _ => None,
    })
}

fn needs(claim: &Claimed, permit: &str) -> bool {
    below(claim, permit).is_some()
}
