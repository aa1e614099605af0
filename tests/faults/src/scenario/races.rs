//! F34, F47: many at once for one thing.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tonic::Code;
use toolplane_proto::v1;

use super::outcome::{Outcome, wrong};
use super::under_load;
use super::under_load::Work;
use crate::bed::{AGAIN, Bed, Plan, StoreKind};
use crate::check::{Check, Verdict};
use crate::history::{Answer, Plan as Call, Record};
use crate::load::{Load, Mix};
use crate::{dump, trouble::Trouble};

/// Clients that submit the same key at the same time.
const CLIENTS: u64 = 16;

/// F34: each of many keys is submitted by many clients at once, then with another request.
pub(super) async fn duplicates(store: StoreKind, keys: u32) -> Result<Outcome, Trouble> {
    let mut bed = Bed::start(Plan::on(store, 3)).await?;
    let load = Load::new(&bed, "twins", Mix::PLAIN, 0)?;
    let mut early = Verdict::default();
    let keys: Vec<String> = (0..keys).map(|number| format!("twin-{number}")).collect();
    for some in keys.chunks(8) {
        let rounds = some.iter().map(|key| twins(&load, key));
        join_all(rounds).await.into_iter().flatten().for_each(|text| wrong(&mut early, Check::C1, text));
    }
    let mut verdict = dump::finish(&mut bed).await?;
    verdict.add(early);
    Ok(Outcome { verdict, asked: keys.len() as u64, history: bed.recorder().history(), ..Outcome::default() })
}

/// One key, many clients; what is wrong, in words.
async fn twins(load: &Arc<Load>, key: &str) -> Vec<String> {
    let plan = Call { key: key.to_owned(), idempotent: true, ledger: true, ..Call::default() };
    load.recorder().record(Record::Planned(plan));
    let spec = load.spec(key, AGAIN, r#"{"ms":1}"#.to_owned());
    let asked = join_all((0..CLIENTS).map(|client| load.submit(client, &spec))).await;
    let mut ids = Vec::new();
    for answer in asked {
        if let Answer::Accepted { invocation, .. } = &answer {
            ids.push(invocation.clone());
        }
        load.recorder().record(Record::Submit { key: key.to_owned(), answer });
    }
    ids.dedup();
    let mut problems = Vec::new();
    if ids.len() != 1 {
        problems.push(format!("`{key}` is {ids:?}"));
    }
    let other = load.spec(key, AGAIN, r#"{"ms":2}"#.to_owned());
    let request = v1::SubmitInvocationRequest { spec: Some(other) };
    match load.client(0).invocations().submit_invocation(request).await {
        Err(status) if status.code() == Code::AlreadyExists => {}
        other => problems.push(format!("`{key}` with another request was answered with {other:?}")),
    }
    problems
}

/// F47: callers cancel, workers complete and leases lapse at the same moment.
pub(super) async fn endings(store: StoreKind, calls: u64) -> Result<Outcome, Trouble> {
    let mix = Mix { canceled: 100, cancel_at_once: true, ..Mix::PLAIN };
    let work = Work { plan: Plan::on(store, 3), mix, callers: 32 };
    under_load(work, async |bed, load| {
        let mut kills = 0;
        while load.asked() < calls {
            toolplane_wait::pause(Duration::from_millis(700), "the faults lie so far apart, or last so long").await;
            bed.kill_and_restart(if kills % 2 == 0 { "worker-1" } else { "worker-2" }).await?;
            kills += 1;
        }
        Ok(kills)
    })
    .await
}
