//! F36, F45: watchers that come back at every place, and watchers that do not read.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use toolplane_proto::v1;

use super::outcome::Outcome;
use super::under_load;
use super::under_load::Work;
use crate::bed::{AGAIN, Plan, StoreKind};
use crate::check::Check;
use crate::history::{Plan as Call, Record};
use crate::load::{Load, Mix};
use crate::trouble::Trouble;

/// Watchers at a time.
const WATCHERS: u64 = 200;
/// Reports of progress of the call that is not read.
const MANY: u32 = 400;

/// F36: two hundred watchers that each leave after every event and come back, while schedulers die.
pub(super) async fn reconnects(store: StoreKind, kills: u64) -> Result<Outcome, Trouble> {
    let work = Work { plan: Plan::on(store, 3), mix: Mix::PLAIN, callers: 8 };
    under_load(work, async |bed, load| {
        let watchers = (0..WATCHERS).map(|number| watcher(load, number));
        let watching = async {
            join_all(watchers).await;
        };
        let breaking = async {
            for kill in 0..kills {
                toolplane_wait::pause(Duration::from_secs(2), "the faults lie so far apart, or last so long").await;
                let names = bed.scheduler_names();
                let victim = &names[usize::try_from(kill).unwrap_or_default() % names.len()];
                bed.kill_and_restart(victim).await?;
            }
            Ok::<_, Trouble>(())
        };
        let (broken, ()) = tokio::join!(breaking, watching);
        broken.map(|()| kills)
    })
    .await
}

/// Follows one long call event by event, with a new connection for each.
async fn watcher(load: &Load, number: u64) {
    let plan = Call { key: format!("watched-{number}"), idempotent: true, ledger: true, ..Call::default() };
    let spec = load.spec(&plan.key, AGAIN, r#"{"ms":3000,"progress":6}"#.to_owned());
    let Some(invocation) = load.ask_for(number, plan, &spec).await else { return };
    let until = Instant::now() + Duration::from_secs(30);
    let mut next = 1;
    for turn in number.. {
        if Instant::now() > until {
            return;
        }
        let (seqs, ended) = load.one_message(turn, &invocation, next).await;
        let from_seq = next;
        next = seqs.last().map_or(next, |last| last + 1);
        let invocation = invocation.clone();
        if ended || !seqs.is_empty() {
            load.recorder().record(Record::Watched { watcher: number, invocation, from_seq, seqs, ended });
        }
        if ended {
            return;
        }
        toolplane_wait::look_again().await;
    }
}

/// F45: a watcher that never reads shares its connection with callers; they do not notice, and it misses nothing.
pub(super) async fn unread(store: StoreKind) -> Result<Outcome, Trouble> {
    let work = Work { plan: Plan::on(store, 3), mix: Mix::PLAIN, callers: 8 };
    let (mut slowest, mut complete) = (Duration::ZERO, false);
    let mut outcome = under_load(work, async |_, load| {
        let plan = Call { key: "unread".to_owned(), idempotent: true, ledger: true, ..Call::default() };
        let spec = load.spec(&plan.key, AGAIN, format!(r#"{{"ms":1000,"progress":{MANY}}}"#));
        let Some(invocation) = load.ask_for(0, plan, &spec).await else { return Ok(0) };
        let request =
            v1::WatchInvocationRequest { invocation_id: invocation.clone(), from_seq: 1, ..Default::default() };
        let unread = load.client(0).invocations().watch_invocation(request).await?.into_inner();
        for number in 0..50 {
            let begun = Instant::now();
            let plan = Call { key: format!("beside-{number}"), idempotent: true, ledger: true, ..Call::default() };
            let spec = load.spec(&plan.key, AGAIN, r#"{"ms":1}"#.to_owned());
            let Some(beside) = load.ask_for(0, plan, &spec).await else { continue };
            load.watch(0, &beside, Instant::now() + Duration::from_secs(10)).await;
            slowest = slowest.max(begun.elapsed());
        }
        let late = read_all(unread).await;
        complete = late.windows(2).all(|pair| pair[1] == pair[0] + 1) && late.first() == Some(&1);
        load.watch(0, &invocation, Instant::now() + Duration::from_secs(20)).await;
        Ok(0)
    })
    .await?;
    outcome.expect(complete, Check::C8, || "what was not read for a while came with gaps".to_owned());
    outcome.expect(slowest < Duration::from_secs(5), Check::C9, || format!("a call beside it took {slowest:?}"));
    Ok(outcome)
}

async fn read_all(mut stream: tonic::Streaming<v1::WatchInvocationResponse>) -> Vec<u64> {
    let mut seqs = Vec::new();
    while let Ok(Ok(Some(message))) = tokio::time::timeout(Duration::from_secs(20), stream.message()).await {
        seqs.extend(message.events.iter().map(|event| event.sequence));
    }
    seqs
}
