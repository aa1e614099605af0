//! F44: a flood in one band, a trickle in another.

use std::time::{Duration, Instant};

use futures_util::future::join_all;

use super::Outcome;
use crate::Trouble;
use crate::bed::{AGAIN, Bed, Plan, StoreKind};
use crate::check::{Check, Claim, WEIGHTS, judge_fairness};
use crate::dump;
use crate::history::{History, Plan as Call, Record};
use crate::load::{Load, Mix};

/// Calls that wait in each band when the workers begin.
const FLOOD: u64 = 240;

/// While nobody works, every band is filled; then the order in which calls begin shows the shares. At the same time urgent
/// calls that come one by one do not wait for the flood.
pub(super) async fn bands(store: StoreKind) -> Result<Outcome, Trouble> {
    let mut bed = Bed::start(Plan::on(store, 1)).await?;
    let load = Load::new(&bed, "flood", Mix::PLAIN, 0)?;
    let idle = trickle(&load, "idle", 10).await;
    bed.kill("worker-1").await?;
    for some in (0..FLOOD).collect::<Vec<_>>().chunks(16) {
        let asked = some.iter().flat_map(|number| WEIGHTS.map(|(band, _)| ask(&load, band, *number)));
        join_all(asked).await;
    }
    let from_ms = crate::history::now_ms();
    bed.restart("worker-1", "kill", from_ms).await?;
    let busy = trickle(&load, "busy", 10).await;
    let verdict = dump::finish(&mut bed).await?;
    let mut outcome = Outcome { verdict, asked: 3 * FLOOD, history: bed.recorder().history(), ..Outcome::default() };
    let shares = judge_fairness(&contended(&claims(&outcome.history)));
    outcome.verdict.violations.extend(shares.violations);
    let bound = (idle * 3).max(Duration::from_millis(500));
    outcome.expect(busy < bound, Check::C13, || format!("an urgent call took {busy:?} in the flood, {idle:?} without"));
    Ok(outcome)
}

/// The slowest of some urgent calls, one after the other.
async fn trickle(load: &Load, name: &str, calls: u64) -> Duration {
    let mut slowest = Duration::ZERO;
    for number in 0..calls {
        let plan = Call { key: format!("{name}-{number}"), idempotent: true, ledger: true, ..Call::default() };
        let mut spec = load.spec(&plan.key, AGAIN, r#"{"ms":1}"#.to_owned());
        spec.priority = WEIGHTS[0].0.to_owned();
        let begun = Instant::now();
        if let Some(invocation) = load.ask_for(0, plan, &spec).await {
            load.watch(0, &invocation, Instant::now() + Duration::from_secs(20)).await;
        }
        slowest = slowest.max(begun.elapsed());
    }
    slowest
}

async fn ask(load: &Load, band: &str, number: u64) {
    let plan = Call { key: format!("flood-{band}-{number}"), idempotent: true, ledger: true, ..Call::default() };
    let mut spec = load.spec(&plan.key, AGAIN, r#"{"ms":20}"#.to_owned());
    spec.priority = band.to_owned();
    load.ask_for(number, plan, &spec).await;
}

/// The calls of the flood in the order they began.
fn claims(history: &History) -> Vec<Claim> {
    let mut begun: Vec<_> = history
        .records()
        .filter_map(|record| match record {
            Record::Call(call) if call.key.starts_with("flood-") => {
                let start = call.starts().next()?;
                Some((start.at_ms, Claim { band: call.band.clone(), tenant: call.tenant.clone() }))
            }
            _ => None,
        })
        .collect();
    begun.sort_by_key(|(at_ms, _)| *at_ms);
    begun.into_iter().map(|(_, claim)| claim).collect()
}

/// The part in which no band was empty yet.
fn contended(claims: &[Claim]) -> Vec<Claim> {
    let mut left = WEIGHTS.map(|_| FLOOD);
    let still = claims.iter().take_while(|claim| {
        if let Some(place) = WEIGHTS.iter().position(|(band, _)| *band == claim.band) {
            left[place] = left[place].saturating_sub(1);
        }
        left.iter().all(|left| *left > 0)
    });
    still.cloned().collect()
}
