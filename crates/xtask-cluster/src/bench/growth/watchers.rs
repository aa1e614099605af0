//! Watchers of one call: what each takes, and when the last of them knows its end.

use std::time::Instant;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use toolplane_proto::v1;
use toolplane_testkit::Problem;
use toolplane_testkit::clients::Clients;

use super::Args;
use super::bed::Bed;
use super::figures::Figures;
use super::hand::Hand;
use crate::bench::load::Measured;

/// Streams on one connection; a server takes 200 at a time.
const PER_CONNECTION: u64 = 100;

pub(super) async fn run(args: &Args, figures: &mut Figures) -> Result<(), Problem> {
    let mut bed = Bed::start(args.store, "watchers").await?;
    let mut hand = Hand::connect(&bed.cluster).await?;
    let invocation = bed.submit_one().await?;
    hand.hold().await?;
    // What the process needs for anything at all is there before.
    bed.calls_beside().await?;
    let before = bed.memory()?;
    let (began, mut begun) = mpsc::unbounded_channel();
    let mut watchers = JoinSet::new();
    for first in (0..args.watchers).step_by(PER_CONNECTION as usize) {
        let clients = Clients::of(&bed.cluster.endpoint())?;
        for _ in first..args.watchers.min(first + PER_CONNECTION) {
            watchers.spawn(watch(clients.clone(), invocation.clone(), began.clone()));
        }
    }
    drop(began);
    for _ in 0..args.watchers {
        begun.recv().await.ok_or_else(|| Problem::Missing("a stream for each watcher".to_owned()))?;
    }
    let each = bed.memory()?.saturating_sub(before) as f64 / args.watchers.max(1) as f64;
    let count = args.watchers;
    figures.add(format!("{count} watchers of one call: memory of the process for each"), each, "bytes");
    let beside = bed.calls_beside().await?;
    figures.add(format!("{count} watchers of one call: a call beside them, p50"), beside.percentile(50) as f64, "us");
    let said = hand.finish().await?;
    let mut told = Vec::new();
    while let Some(watcher) = watchers.join_next().await {
        let at = watcher.map_err(|error| Problem::Missing(format!("a watcher that ends: {error}")))??;
        told.push(at.saturating_duration_since(said));
    }
    let told = Measured::of(told, said.elapsed());
    figures.add(format!("{count} watchers of one call: half of them told after"), told.percentile(50) as f64, "us");
    figures.add(format!("{count} watchers of one call: the last one told after"), told.percentile(100) as f64, "us");
    Ok(())
}

/// Follows the call to its result; when that came. Says when the first events are there.
async fn watch(clients: Clients, invocation: String, began: mpsc::UnboundedSender<()>) -> Result<Instant, Problem> {
    let request = v1::WatchInvocationRequest { invocation_id: invocation, from_seq: 1, ..Default::default() };
    let mut stream = clients.invocations().watch_invocation(request).await?.into_inner();
    let mut began = Some(began);
    while let Some(message) = stream.message().await? {
        if message.result.is_some() {
            return Ok(Instant::now());
        }
        if let Some(began) = began.take() {
            // The bench may have given up already.
            let _ = began.send(());
        }
    }
    Err(Problem::Missing("a result at the end of the stream".to_owned()))
}
