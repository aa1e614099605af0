//! F37, F38: a worker that comes and goes, and a call that kills every worker that takes it.

use std::time::{Duration, Instant};

use super::outcome::Outcome;
use super::under_load;
use super::under_load::Work;
use crate::bed::{AGAIN, Plan, StoreKind};
use crate::check::Check;
use crate::history::{Plan as Call, Record, now_ms};
use crate::load::{Load, Mix};
use crate::trouble::Trouble;

/// How a call ends that killed workers.
const QUARANTINED: &str = "exec.poison_quarantined";

/// F37: one worker is killed and started twice a second. Nothing is put into quarantine because of it alone.
pub(super) async fn flapping(store: StoreKind, times: u32) -> Result<Outcome, Trouble> {
    let work = Work { plan: Plan::on(store, 3), mix: Mix::HALF, callers: 24 };
    let mut outcome = under_load(work, async |bed, _| {
        for _ in 0..times {
            bed.kill_and_restart("worker-1").await?;
            toolplane_wait::pause(Duration::from_millis(250), "the faults lie so far apart, or last so long").await;
        }
        Ok(u64::from(times))
    })
    .await?;
    let poisoned = quarantined(&outcome);
    outcome.expect(poisoned.is_empty(), Check::C4, || format!("put into quarantine for nothing: {poisoned:?}"));
    let slow = outcome.verdict.recovery_ms(50);
    // The proof of death ends leases at once; without it a call would wait for its lease.
    outcome.expect(slow < 1_000, Check::C9, || format!("calls took {slow} ms to go on after their worker came back"));
    Ok(outcome)
}

/// F38: a call that kills its workers is put into quarantine; workers and other calls go on.
pub(super) async fn poison(store: StoreKind) -> Result<Outcome, Trouble> {
    let work = Work { plan: Plan::on(store, 3), mix: Mix::PLAIN, callers: 8 };
    let mut outcome = under_load(work, async |bed, load| {
        let load = load.clone();
        let call = tokio::spawn(async move {
            deadly(&load, "poison-1").await;
            // The same again is not even tried.
            deadly(&load, "poison-2").await;
        });
        let mut kills = 0;
        let start = Instant::now();
        while !call.is_finished() && start.elapsed() < Duration::from_secs(30) {
            for name in bed.worker_names() {
                let from_ms = now_ms();
                if bed.died(&name, Duration::from_millis(50)).await? {
                    // Not waited for: it may take the call again before the test sees that it is ready.
                    bed.launch(&name)?;
                    bed.record_fault(&name, "abort", from_ms);
                    kills += 1;
                }
            }
        }
        Ok(kills)
    })
    .await?;
    let ended = quarantined(&outcome);
    outcome.expect(ended == ["poison-1", "poison-2"], Check::C4, || format!("in quarantine: {ended:?}"));
    let kills = outcome.kills;
    outcome.expect((2..=3).contains(&kills), Check::C4, || format!("it killed {kills} workers"));
    Ok(outcome)
}

async fn deadly(load: &Load, key: &str) {
    let plan = Call { key: key.to_owned(), idempotent: true, ledger: true, ..Call::default() };
    let spec = load.spec(key, AGAIN, r#"{"poison":true}"#.to_owned());
    if let Some(invocation) = load.ask_for(0, plan, &spec).await {
        load.watch(0, &invocation, Instant::now() + Duration::from_secs(30)).await;
    }
}

/// Keys of calls that were put into quarantine, in order.
fn quarantined(outcome: &Outcome) -> Vec<String> {
    let mut keys: Vec<_> = outcome
        .history
        .records()
        .filter_map(|record| match record {
            Record::Call(call) if call.error_code() == QUARANTINED => Some(call.name.key.clone()),
            _ => None,
        })
        .collect();
    keys.sort();
    keys
}
