//! F13 to F17: paused processes, for shorter and for longer than a lease.

use std::time::Duration;

use super::outcome::Outcome;
use super::under_load;
use super::under_load::Work;
use crate::bed::{Bed, LEASE, Plan, StoreKind};
use crate::check::Check;
use crate::history::{History, Record};
use crate::load::Mix;
use crate::trouble::Trouble;

/// Calls long enough to be hit by a pause.
const LONG: Mix = Mix { effect_ms: 150, ..Mix::HALF };

fn work(store: StoreKind, mix: Mix) -> Work {
    Work { plan: Plan::on(store, 3), mix, callers: 24 }
}

/// F13: a worker is paused for longer than its leases last, again and again; whatever it says afterwards comes too
/// late.
pub(super) async fn worker_longer(store: StoreKind, times: u32) -> Result<Outcome, Trouble> {
    let mut work = work(store, LONG);
    work.plan.deaf = true;
    let mut outcome = under_load(work, async |bed, _| {
        for _ in 0..times {
            bed.halt("worker-1", LEASE * 4 / 3).await?;
            toolplane_wait::pause(Duration::from_millis(500), "the faults lie so far apart, or last so long").await;
        }
        Ok(0)
    })
    .await?;
    let lapsed = requeued(&outcome.history, "lease_expired");
    outcome.expect(lapsed + unknown(&outcome) > 0, Check::C9, || {
        "no lease lapsed while its worker stood still".to_owned()
    });
    Ok(outcome)
}

/// F14: a worker is paused for less than a lease: nothing happens.
pub(super) async fn worker_shorter(store: StoreKind, times: u32) -> Result<Outcome, Trouble> {
    let mut work = work(store, LONG);
    // An offer that is not confirmed lapses sooner than a lease; this is about leases.
    work.plan = work.plan.set("TOOLPLANE__SCHEDULER__OFFER_MS", "1500");
    let outcome = under_load(work, async |bed, _| {
        for _ in 0..times {
            bed.halt("worker-1", LEASE * 3 / 5).await?;
            toolplane_wait::pause(LEASE, "the faults lie so far apart, or last so long").await;
        }
        Ok(0)
    })
    .await?;
    Ok(undisturbed(outcome))
}

/// F15: a scheduler is paused in the middle of its work for longer than a lease, and goes on.
pub(super) async fn scheduler(store: StoreKind, times: u32) -> Result<Outcome, Trouble> {
    let outcome = under_load(work(store, LONG), async |bed, _| {
        for _ in 0..times {
            bed.halt("scheduler-1", LEASE * 4 / 3).await?;
            toolplane_wait::pause(LEASE, "the faults lie so far apart, or last so long").await;
        }
        Ok(0)
    })
    .await?;
    Ok(no_shrugs(outcome))
}

/// F16: the store is paused for twice a lease: no worker could renew, so none is to blame.
pub(super) async fn store(store: StoreKind, times: u32) -> Result<Outcome, Trouble> {
    let work = work(store, Mix { effect_ms: 1_000, ..Mix::HALF });
    let outcome = under_load(work, async |bed, _| {
        for _ in 0..times {
            stand_still(bed).await?;
            toolplane_wait::pause(LEASE * 2, "the faults lie so far apart, or last so long").await;
        }
        Ok(0)
    })
    .await?;
    Ok(no_shrugs(outcome))
}

/// The store, or the process that has it, is paused for twice a lease.
async fn stand_still(bed: &mut Bed) -> Result<(), Trouble> {
    let victim = if bed.has_store_process() { "store" } else { "scheduler-1" };
    bed.halt(victim, LEASE * 2).await
}

/// F17: tools that keep every thread of a worker busy for longer than a lease; its heartbeats go on.
pub(super) async fn busy(store: StoreKind) -> Result<Outcome, Trouble> {
    let mut work = work(store, Mix { busy_ms: 2_500, ..Mix::HALF });
    work.callers = 6;
    // As many as the worker has threads: an offer that no thread is free to hear lapses, and should.
    work.plan.slots = 2;
    let outcome = under_load(work, async |_, _| {
        toolplane_wait::pause(Duration::from_secs(8), "the faults lie so far apart, or last so long").await;
        Ok(0)
    })
    .await?;
    Ok(undisturbed(outcome))
}

/// Nothing was taken from any worker, and nothing ended as unknown.
fn undisturbed(outcome: Outcome) -> Outcome {
    let mut outcome = no_shrugs(outcome);
    let lapsed = requeued(&outcome.history, "lease_expired");
    outcome.expect(lapsed == 0, Check::C4, || format!("{lapsed} leases lapsed that should have held"));
    outcome
}

/// Nothing ended as unknown, whatever the checker would forgive.
pub(super) fn no_shrugs(mut outcome: Outcome) -> Outcome {
    let unknown = unknown(&outcome);
    outcome.expect(unknown == 0, Check::C4, || format!("{unknown} calls ended as unknown, and no worker was lost"));
    outcome
}

fn unknown(outcome: &Outcome) -> u64 {
    outcome.verdict.unknown_expected + outcome.verdict.unknown_unexpected
}

/// How often a call went back to its queue for this reason.
fn requeued(history: &History, reason: &str) -> u64 {
    let events = history.records().filter_map(|record| match record {
        Record::Call(call) => Some(call.course.events.iter()),
        _ => None,
    });
    let back = events.flatten().filter(|event| event.class.ends_with("requeued"));
    back.filter(|event| event.reason.as_deref() == Some(reason)).count() as u64
}
