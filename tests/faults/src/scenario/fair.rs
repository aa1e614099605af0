//! F44: a flood in one band, a trickle in another.

use std::time::{Duration, Instant};

use futures_util::future::join_all;

use super::outcome::Outcome;
use crate::bed::{AGAIN, Bed, Plan, StoreKind};
use crate::check::{Check, Claim, WEIGHTS, judge_fairness};
use crate::dump;
use crate::history::{History, Plan as Call, Record};
use crate::load::{Load, Mix};
use crate::trouble::Trouble;

/// Calls that wait in each band when the workers begin.
const FLOOD: u64 = 240;

/// Calls of lower bands that may begin while an urgent one waits: those of one round of claims, and of the next.
const OVERTAKERS: usize = 32;

/// While no worker works, every band is filled; then the order in which calls begin shows the shares. After that the
/// two bands below are filled once more, and urgent calls that come one by one do not wait for them.
pub(super) async fn bands(store: StoreKind) -> Result<Outcome, Trouble> {
    let mut bed = Bed::start(Plan::on(store, 1)).await?;
    let load = Load::new(&bed, "flood", Mix::PLAIN, 0)?;
    flood(&mut bed, &load, "flood", &WEIGHTS).await?;
    drained(&load).await;
    flood(&mut bed, &load, "below", &WEIGHTS[1..]).await?;
    trickle(&load, "urgent", 10).await;
    let verdict = dump::finish(&mut bed).await?;
    let mut outcome = Outcome { verdict, asked: 5 * FLOOD, history: bed.recorder().history(), ..Outcome::default() };
    let shares = judge_fairness(&contended(&claims(&outcome.history)));
    outcome.verdict.violations.extend(shares.violations);
    let most = overtakers(&outcome.history);
    outcome
        .expect(most <= OVERTAKERS, Check::C13, || format!("{most} calls of lower bands began before an urgent one"));
    Ok(outcome)
}

/// Fills bands while no worker works, then lets the worker begin.
async fn flood(bed: &mut Bed, load: &Load, name: &str, bands: &[(&str, u64)]) -> Result<(), Trouble> {
    bed.kill("worker-1").await?;
    for some in (0..FLOOD).collect::<Vec<_>>().chunks(16) {
        let asked = some.iter().flat_map(|number| bands.iter().map(|(band, _)| ask(load, name, band, *number)));
        join_all(asked).await;
    }
    bed.restart("worker-1", "kill", crate::history::now_ms()).await
}

/// Waits until a call of the lowest band that is asked for now has ended.
async fn drained(load: &Load) {
    let last = WEIGHTS.len() - 1;
    let plan = Call { key: "last".to_owned(), idempotent: true, ledger: true, ..Call::default() };
    let mut spec = load.spec(&plan.key, AGAIN, r#"{"ms":1}"#.to_owned());
    spec.priority = WEIGHTS[last].0.to_owned();
    if let Some(invocation) = load.ask_for(0, plan, &spec).await {
        load.watch(0, &invocation, Instant::now() + Duration::from_secs(60)).await;
    }
}

/// Urgent calls, one after the other.
async fn trickle(load: &Load, name: &str, calls: u64) {
    for number in 0..calls {
        let plan = Call { key: format!("{name}-{number}"), idempotent: true, ledger: true, ..Call::default() };
        let mut spec = load.spec(&plan.key, AGAIN, r#"{"ms":1}"#.to_owned());
        spec.priority = WEIGHTS[0].0.to_owned();
        if let Some(invocation) = load.ask_for(0, plan, &spec).await {
            load.watch(0, &invocation, Instant::now() + Duration::from_secs(20)).await;
        }
    }
}

/// How many calls of the bands below began while an urgent call waited, at most.
fn overtakers(history: &History) -> usize {
    let calls: Vec<_> = history
        .records()
        .filter_map(|record| match record {
            Record::Call(call) => Some((call.name.key.as_str(), call.created_ms, call.starts().next()?.at_ms)),
            _ => None,
        })
        .collect();
    let urgent = calls.iter().filter(|(key, ..)| key.starts_with("urgent-"));
    let overtaken = urgent.map(|(_, from, until)| {
        let between = |(key, _, begun): &&(&str, u64, u64)| key.starts_with("below-") && begun > from && begun < until;
        calls.iter().filter(between).count()
    });
    overtaken.max().unwrap_or_default()
}

async fn ask(load: &Load, name: &str, band: &str, number: u64) {
    let plan = Call { key: format!("{name}-{band}-{number}"), idempotent: true, ledger: true, ..Call::default() };
    let mut spec = load.spec(&plan.key, AGAIN, r#"{"ms":20}"#.to_owned());
    spec.priority = band.to_owned();
    load.ask_for(number, plan, &spec).await;
}

/// The calls of the flood in the order they began.
fn claims(history: &History) -> Vec<Claim> {
    let mut begun: Vec<_> = history
        .records()
        .filter_map(|record| match record {
            Record::Call(call) if call.name.key.starts_with("flood-") => {
                let start = call.starts().next()?;
                Some((start.at_ms, Claim { band: call.name.band.clone(), tenant: call.name.tenant.clone() }))
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
