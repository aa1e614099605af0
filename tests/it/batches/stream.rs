//! Streams of batches, as a client sees them.

use std::collections::BTreeMap;

use toolplane_proto::v1;

use crate::bed::{Bed, PATIENCE};

/// Everything a client was told, and when: times count messages.
#[derive(Debug, Default)]
pub(crate) struct Follower {
    pub(crate) batch_id: String,
    pub(crate) ids: BTreeMap<u32, String>,
    pub(crate) events: BTreeMap<u32, Vec<v1::Event>>,
    /// Results in the order in which they came.
    pub(crate) results: Vec<(u32, v1::ToolResult)>,
    pub(crate) batch: Option<v1::Batch>,
    /// What came with the last message.
    pub(crate) modifiers: Vec<v1::BatchContextModifiers>,
    yield_seq: u64,
    clock: usize,
    first_seen: BTreeMap<u32, usize>,
    released_at: BTreeMap<u32, usize>,
}

impl Follower {
    /// A follower of a batch of which nothing is known yet.
    pub(crate) fn of(batch_id: &str) -> Self {
        Self { batch_id: batch_id.to_owned(), ..Self::default() }
    }

    /// Positions of the calls in the order of their results.
    pub(crate) fn order(&self) -> Vec<u32> {
        self.results.iter().map(|(index, _)| *index).collect()
    }

    pub(crate) fn first_seen(&self, index: u32) -> usize {
        self.first_seen[&index]
    }

    pub(crate) fn released_at(&self, index: u32) -> usize {
        self.released_at[&index]
    }

    /// Most calls that ran at the same time, as far as their own logs say.
    pub(crate) fn most_at_once(&self) -> usize {
        let mut changes: Vec<(i64, i32, i32)> = Vec::new();
        for event in self.events.values().flatten() {
            let at = event.time.map_or(0, |at| at.seconds * 1_000_000_000 + i64::from(at.nanos));
            match event.event_type.as_str() {
                "tool.invocation.started" => changes.push((at, 1, 1)),
                "tool.invocation.succeeded" => changes.push((at, 0, -1)),
                _ => {}
            }
        }
        changes.sort_unstable();
        let mut running = 0;
        changes.iter().fold(0, |most, (_, _, change)| {
            running += change;
            most.max(usize::try_from(running).unwrap_or(0))
        })
    }

    pub(crate) fn take(&mut self, items: Vec<v1::BatchItem>) {
        for item in items {
            self.clock += 1;
            self.ids.insert(item.index, item.invocation_id.clone());
            if !item.events.is_empty() {
                self.first_seen.entry(item.index).or_insert(self.clock);
            }
            let seen = self.events.entry(item.index).or_default();
            for event in item.events {
                assert_eq!(event.sequence, seen.len() as u64 + 1, "call {}: a gap or a repetition", item.index);
                seen.push(event);
            }
            if let Some(result) = item.result {
                assert_eq!(item.yield_seq, self.yield_seq + 1, "results are counted without a gap");
                self.yield_seq = item.yield_seq;
                self.released_at.insert(item.index, self.clock);
                self.results.push((item.index, *result));
            }
        }
    }

    /// Where a broken stream is taken up again.
    pub(crate) fn request(&self) -> v1::WatchBatchRequest {
        let cursor = |(index, events): (&u32, &Vec<v1::Event>)| v1::BatchCursor {
            index: *index,
            from_seq: events.len() as u64 + 1,
        };
        v1::WatchBatchRequest {
            batch_id: self.batch_id.clone(),
            from: self.events.iter().map(cursor).collect(),
            after_yield_seq: self.yield_seq,
            form: None,
        }
    }
}

/// Makes a batch and follows it to its end.
pub(crate) async fn follow(bed: &Bed, spec: v1::BatchSpec) -> Follower {
    let request = v1::InvokeBatchRequest { spec: Some(spec), form: None };
    let mut stream = bed.clients.invocations().invoke_batch(request).await.unwrap().into_inner();
    let mut follower = Follower::default();
    while let Some(message) = tokio::time::timeout(PATIENCE, stream.message()).await.unwrap().unwrap() {
        if let Some(accepted) = message.accepted {
            assert!(follower.batch_id.is_empty(), "only the first message says how the batch was accepted");
            follower.batch_id = accepted.batch_id;
        }
        follower.take(message.items);
        assert!(follower.batch.is_none(), "something came after the last message");
        follower.batch = message.batch;
        follower.modifiers.extend(message.context_modifiers);
    }
    assert!(follower.batch.is_some(), "the stream ended without the batch");
    for (index, result) in &follower.results {
        crate::coverage::ended(&bed.clients, &follower.events[index], result).await;
    }
    follower
}

/// Follows a batch from where `follower` is to its end.
pub(crate) async fn watch(bed: &Bed, batch_id: &str, mut follower: Follower) -> Follower {
    follower.batch_id = batch_id.to_owned();
    let mut stream = bed.clients.invocations().watch_batch(follower.request()).await.unwrap().into_inner();
    while let Some(message) = tokio::time::timeout(PATIENCE, stream.message()).await.unwrap().unwrap() {
        follower.take(message.items);
        follower.batch = message.batch;
    }
    assert!(follower.batch.is_some(), "the stream ended without the batch");
    follower
}

/// Follows a batch until `enough`, or until the connection breaks.
pub(crate) async fn watch_some(bed: &Bed, follower: &mut Follower, enough: impl Fn(&Follower) -> bool) {
    let Ok(stream) = bed.clients.invocations().watch_batch(follower.request()).await else { return };
    let mut stream = stream.into_inner();
    while let Ok(Ok(Some(message))) = tokio::time::timeout(PATIENCE, stream.message()).await {
        follower.take(message.items);
        follower.batch = message.batch;
        if enough(follower) {
            return;
        }
    }
}

/// The batch as it is now.
pub(crate) async fn get(bed: &Bed, batch_id: &str) -> v1::Batch {
    let request = v1::GetBatchRequest { batch_id: batch_id.to_owned(), ..Default::default() };
    bed.clients.invocations().get_batch(request).await.unwrap().into_inner().batch.unwrap()
}

/// The batch once at least so many results were yielded: one is a moment after its call has ended.
pub(crate) async fn until_yields(bed: &Bed, batch_id: &str, yields: u64) -> v1::Batch {
    let start = std::time::Instant::now();
    loop {
        let batch = get(bed, batch_id).await;
        if batch.yields >= yields {
            return batch;
        }
        assert!(start.elapsed() < PATIENCE, "still {} instead of {yields}", batch.yields);
        toolplane_wait::look_again().await;
    }
}
