//! The promises, compared with what happened: the store at the end, what the client saw, and what tools did outside.

use std::collections::{BTreeMap, BTreeSet};

use toolplane_lifecycle::is_legal;
use toolplane_records::batch::Batch;
use toolplane_records::ids::{BatchId, InvocationId, InvocationKey, TenantId};
use toolplane_records::invocation::Invocation;
use toolplane_records::vocabulary::{InvocationStatus, LockMode, OrderingPolicy};
use toolplane_store::Family;

use crate::calls::WantedCall;
use crate::client::Client;
use crate::env::Env;
use crate::ledger::Effect;
use crate::store::SharedStore;

/// One broken promise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Broken {
    /// The call was acknowledged, and is not there.
    Lost(InvocationId),
    /// The call has not ended although nothing went wrong any more.
    Stuck(InvocationId, InvocationStatus),
    /// Its result changed between two looks.
    Changed(InvocationId),
    /// A call that must not start twice did.
    StartedTwice(InvocationId),
    /// It is said to have succeeded, and had not exactly the effects that go with it.
    WrongEffects(InvocationId),
    /// Another call held the lock meanwhile.
    Overlap(InvocationId, InvocationId),
    /// Its log has a gap, or says something else than its record.
    Log(InvocationId),
    /// Somewhere outside its record it still counts as alive.
    Leak(String),
    /// A batch broke its policy.
    Batch(String),
}

/// Everything that is wrong with a run.
pub fn all(env: &Env, store: &SharedStore, client: &Client) -> Vec<Broken> {
    let mut broken: Vec<Broken> = client.changed.iter().cloned().map(Broken::Changed).collect();
    let mut effects: BTreeMap<InvocationId, Vec<&Effect>> = BTreeMap::new();
    for effect in &env.ledger.effects {
        effects.entry(original(&effect.id)).or_default().push(effect);
    }
    let mut succeeded = Vec::new();
    for call in client.wanted() {
        let own = effects.remove(&call.id).unwrap_or_default();
        let Some(record) = store.invocation(&call.key()) else {
            if client.accepted.contains_key(&call.id) {
                broken.push(Broken::Lost(call.id.clone()));
            }
            continue;
        };
        one(store, call, &record, &own, &mut broken);
        if record.status == InvocationStatus::Succeeded {
            succeeded.extend(own.iter().filter(|effect| effect.lease_no == record.lease_no).copied());
        }
    }
    overlaps(client, &succeeded, &env.ledger.effects, &mut broken);
    leaks(store, &mut broken);
    client.batches.iter().for_each(|(_, wanted)| batch(env, store, &wanted.id, &mut broken));
    broken
}

fn one(store: &SharedStore, call: &WantedCall, record: &Invocation, effects: &[&Effect], broken: &mut Vec<Broken>) {
    let id = &call.id;
    if !record.status.is_terminal() {
        broken.push(Broken::Stuck(id.clone(), record.status));
        return;
    }
    if !call.kind.idempotent && effects.len() > 1 {
        broken.push(Broken::StartedTwice(id.clone()));
    }
    let by_lease = |effect: &&&Effect| effect.lease_no == record.lease_no && effect.done.is_some();
    let counted = effects.iter().filter(by_lease).count();
    // An offer that arrives twice may run an idempotent call twice under one lease.
    let right = if call.kind.idempotent { counted >= 1 } else { counted == 1 };
    if record.status == InvocationStatus::Succeeded && !right {
        broken.push(Broken::WrongEffects(id.clone()));
    }
    let log = store.log(&call.key());
    let gapless = (1..).zip(&log).all(|(seq, (stored, event))| seq == *stored && seq == event.seq);
    let steps = record.status_transitions.iter();
    let legal = steps.clone().all(|step| is_legal(step.from, step.to));
    let joined = steps.clone().zip(steps.skip(1)).all(|(before, after)| after.from == Some(before.to));
    let whole = record.last_seq == log.len() as u64 && store.has_result(&call.key());
    if !(gapless && legal && joined && whole) {
        broken.push(Broken::Log(id.clone()));
    }
}

/// While a locked execution that counts was under way, no call it excludes was granted the lock and began. Executions
/// with an older grant are ghosts: the resource refuses them by their fence. No two grants have the same fence, so
/// equal ones are none.
fn overlaps(client: &Client, succeeded: &[&Effect], effects: &[Effect], broken: &mut Vec<Broken>) {
    // Lock domains belong to tenants.
    let tenants: BTreeMap<&InvocationId, &TenantId> = client.wanted().map(|call| (&call.id, &call.tenant)).collect();
    for counted in succeeded {
        let (Some(lock), Some(done)) = (counted.lock, counted.done) else { continue };
        let meets = |other: &&Effect| {
            let excluded = other.lock.is_some_and(|mode| [mode, lock].contains(&LockMode::Exclusive));
            let same = tenants.get(&other.id) == tenants.get(&counted.id) && other.lock_fence >= counted.lock_fence;
            same && excluded && other.id != counted.id && other.begun > counted.begun && other.begun < done
        };
        if let Some(other) = effects.iter().find(meets) {
            broken.push(Broken::Overlap(counted.id.clone(), other.id.clone()));
        }
    }
}

/// Queues, timers, permits and things to settle belong to living calls only.
fn leaks(store: &SharedStore, broken: &mut Vec<Broken>) {
    if broken.iter().any(|fault| matches!(fault, Broken::Stuck(..))) {
        return;
    }
    // Ended calls, batches and what their names were are kept for a while.
    let living = ["living", "queue/", "waiting/", "running/", "timers/", "awaiting", "coordination/", "undecodable/"];
    for (name, left) in store.indexes() {
        if left > 0 && living.iter().any(|prefix| name.starts_with(prefix)) {
            broken.push(Broken::Leak(format!("{name}: {left}")));
        }
    }
}

fn batch(env: &Env, store: &SharedStore, id: &BatchId, broken: &mut Vec<Broken>) {
    let Some(batch) = store.get::<Batch>(Family::Batch, &TenantId::from_trusted("a").scoped(id)) else { return };
    let mut fault = |what: &str| broken.push(Broken::Batch(format!("{id}: {what}")));
    let yields: Vec<u64> = batch.members.iter().filter_map(|member| member.yield_seq).collect();
    let distinct: BTreeSet<u64> = yields.iter().copied().collect();
    if yields.len() != batch.members.len() || distinct.len() != yields.len() {
        fault("not every result was released once");
    }
    let unordered = batch.policy.ordering_policy == Some(OrderingPolicy::AllowUnordered);
    if !unordered && !yields.is_sorted() {
        fault("results were not released in the declared order");
    }
    for member in &batch.members {
        let key = InvocationKey::new(&batch.tenant, &member.invocation_id);
        let Some(record) = store.invocation(&key) else {
            fault("a call is missing");
            continue;
        };
        if member.canceled_by.is_some() && record.status == InvocationStatus::Succeeded && record.attempt == 0 {
            fault("a call that never ran is said to have succeeded");
        }
        if member.ended != Some(record.status) {
            fault("the end of a call was not noticed");
        }
    }
    parallel(env, store, &batch, &mut fault);
}

/// Never more executions at once than the policy allows.
fn parallel(env: &Env, store: &SharedStore, batch: &Batch, fault: &mut impl FnMut(&str)) {
    let serial = batch.policy.ordering_policy == Some(OrderingPolicy::Serial);
    let Some(bound) = (if serial { Some(1) } else { batch.policy.max_parallel }) else { return };
    // Only what counts: an execution whose lease was lost may go on for a while unnoticed.
    let spans: Vec<(i64, i64)> = batch
        .members
        .iter()
        .filter_map(|member| {
            let record = store.invocation(&InvocationKey::new(&batch.tenant, &member.invocation_id))?;
            let counts = |effect: &&Effect| effect.id == record.invocation_id && effect.lease_no == record.lease_no;
            let own = env.ledger.effects.iter().find(counts)?;
            (record.status == InvocationStatus::Succeeded).then_some((own.begun, own.done?))
        })
        .collect();
    for (begun, _) in &spans {
        let at_once = spans.iter().filter(|(from, to)| from <= begun && begun < to).count();
        if at_once > usize::try_from(bound).unwrap_or(usize::MAX) {
            fault("more calls ran at once than allowed");
            return;
        }
    }
}

/// The call behind an id that a mutant made up.
fn original(id: &InvocationId) -> InvocationId {
    let text = id.as_str();
    InvocationId::from_trusted(text.split_once("_again").map_or(text, |(before, _)| before))
}
