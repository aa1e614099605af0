//! Moving a layer from memory to the tables, on a thread of its own.

use crate::number::write_number;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::{Builder, JoinHandle};

use bytes::{BufMut, Bytes};
use redb::{Database, ReadableTable, WriteTransaction};
use toolplane_store::likeness::{Patterns, kind_of};
use toolplane_store::{RecordKey, Sealed};

use crate::alike::write_patterns;
use crate::base::{Base, KnownDamage};
use crate::fault::{Fault, contained};
use crate::hash::HashMap;
use crate::layer::{Layer, Tail};
use crate::operations::{Digest, expired};
use crate::ordered::write_in_order;
use crate::row;
use crate::shared::{Lower, Shared};
use crate::tables::{
    APPLIED, CLOCK, EVENTS, INDEX_LEN, INDEX_ORDER, INDEX_SCORE, OPERATIONS, RECORDS, SET_ASIDE, SET_ASIDE_EVENTS,
    name_end, named_key, numbered_key, record_key,
};

/// The writer's end of the checkpoint thread. One layer is on its way at a time.
pub(crate) struct Checkpointer {
    layers: Option<Sender<Arc<Layer>>>,
    done: Receiver<u64>,
    thread: Option<JoinHandle<()>>,
    running: bool,
}

impl Checkpointer {
    /// Starts the thread, which owns the tables from here on.
    pub(crate) fn start(shared: Arc<Shared>, state: Database) -> std::io::Result<Self> {
        let (layers, incoming) = channel::<Arc<Layer>>();
        let (finished, done) = channel();
        let thread = Builder::new().name("store-checkpoint".to_owned()).spawn(move || {
            let _guard = PoisonOnPanic(&shared);
            for layer in incoming {
                let lsn = layer.last_lsn;
                match contained(|| move_layer(&shared, &state, layer)) {
                    // The writer may be gone already; then no thread waits.
                    Ok(()) => drop(finished.send(lsn)),
                    Err(fault) => return shared.poison(&format!("the tables cannot be written: {}", fault.reason())),
                }
            }
        })?;
        Ok(Self { layers: Some(layers), done, thread: Some(thread), running: false })
    }

    /// True while a layer is on its way.
    pub(crate) fn is_running(&self) -> bool {
        self.running
    }

    /// Hands over the frozen layer. Only when none is running.
    pub(crate) fn submit(&mut self, layer: Arc<Layer>) {
        // A thread that ended cannot take it; the next question about it then fails.
        let sent = self.layers.as_ref().map(|layers| layers.send(layer));
        self.running = sent.is_some();
    }

    /// The last group in the tables, when a checkpoint ended since the last question. Waits for a running one if
    /// `wait`. Returns an error when the running one did.
    pub(crate) fn finished(&mut self, wait: bool) -> Result<Option<u64>, Fault> {
        if !self.running {
            return Ok(None);
        }
        let answer = match wait {
            true => self.done.recv().map_err(|_| TryRecvError::Disconnected),
            false => self.done.try_recv(),
        };
        match answer {
            Ok(lsn) => {
                self.running = false;
                Ok(Some(lsn))
            }
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => Err(Fault::Storage("a checkpoint failed".to_owned())),
        }
    }

    /// Lets the thread finish what it has and ends it.
    pub(crate) fn stop(&mut self) {
        self.layers = None;
        if let Some(thread) = self.thread.take() {
            // A panic in there has poisoned the store; there is nothing to add.
            drop(thread.join());
        }
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Poisons the store when the thread that holds this unwinds.
pub(crate) struct PoisonOnPanic<'a>(pub(crate) &'a Shared);

impl Drop for PoisonOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.poison("a thread of the store panicked");
        }
    }
}

fn move_layer(shared: &Shared, state: &Database, layer: Arc<Layer>) -> Result<(), Fault> {
    let base = Arc::clone(&shared.tables.read().lower.base);
    let (known, patterns) = (Arc::clone(&base.known), Arc::clone(&base.patterns));
    drop(base);
    write_layer(state, &layer, &known, &patterns)?;
    let base = Arc::new(Base::open(state, known, patterns)?);
    let lower = Arc::new(Lower { frozen: None, base });
    let replaced = std::mem::replace(&mut shared.tables.write().lower, lower);
    shared.checkpoints.fetch_add(1, Ordering::Relaxed);
    // Freeing a large layer takes a while: here, because no request waits for it.
    drop((replaced, layer));
    Ok(())
}

fn write_layer(state: &Database, layer: &Layer, known: &KnownDamage, patterns: &Patterns) -> Result<(), Fault> {
    let mut transaction = state.begin_write()?;
    // Opening after a crash then takes no walk over all of the tables.
    transaction.set_quick_repair(true);
    write_records(&transaction, layer, known, patterns)?;
    write_indexes(&transaction, layer)?;
    write_events(&transaction, &layer.streams, known, patterns)?;
    // Used from the next checkpoint on.
    let found = patterns.found();
    write_patterns(&transaction, &found)?;
    write_operations(&transaction, layer)?;
    write_number(&transaction, APPLIED, layer.last_lsn)?;
    write_number(&transaction, CLOCK, layer.clock.cast_unsigned())?;
    transaction.commit()?;
    found.into_iter().for_each(|named| patterns.add(named));
    Ok(())
}

fn write_records(
    transaction: &WriteTransaction,
    layer: &Layer,
    known: &KnownDamage,
    patterns: &Patterns,
) -> Result<(), Fault> {
    let mut records = transaction.open_table(RECORDS)?;
    let mut set_aside = transaction.open_table(SET_ASIDE)?;
    // The process that deleted it, or wrote it anew after that, knew that it was damaged.
    let mut known_no_more = |name: &RecordKey, was_missing| -> Result<(), Fault> {
        for gone in known.forget_record(name, was_missing) {
            set_aside.remove(gone.as_slice())?;
        }
        Ok(())
    };
    for name in layer.records.iter().filter(|(_, record)| record.is_none()).map(|(name, _)| name) {
        let was_missing = records.remove(record_key(name.family, &name.id).as_slice())?.is_none();
        known_no_more(name, was_missing)?;
    }
    // The order of families and ids is that of the keys.
    let rows = layer.records.iter().filter_map(|(name, record)| {
        let key = record_key(name.family, &name.id);
        let row = row::slim_record(&key, record.as_ref()?, kind_of(name.family), patterns);
        Some((key, (name, row)))
    });
    write_in_order(&mut records, rows, |(_, row)| row.as_slice(), |(name, _), missing| known_no_more(name, missing))
}

fn write_indexes(transaction: &WriteTransaction, layer: &Layer) -> Result<(), Fault> {
    let mut order = transaction.open_table(INDEX_ORDER)?;
    let mut scores = transaction.open_table(INDEX_SCORE)?;
    let mut lengths = transaction.open_table(INDEX_LEN)?;
    let (mut places, mut members) = (Vec::new(), Vec::new());
    for (name, index) in &layer.indexes {
        for (member, change) in index.members.iter().filter(|(_, change)| change.below != change.now) {
            let (key, member) = (named_key(name, member.as_bytes()), member.as_bytes());
            if let Some(score) = change.below {
                order.remove(numbered_key(name, score, member).as_slice())?;
            }
            match change.now {
                Some(score) => {
                    let place = numbered_key(name, score, member);
                    let (sum, sealed) = (row::seal_entry(&place), row::seal_number(Sealed::Score, &key, score));
                    places.push((place, sum));
                    members.push((key, sealed));
                }
                None => drop(scores.remove(key.as_slice())?),
            }
        }
        if index.len == 0 {
            lengths.remove(name.as_bytes())?;
        } else if index.len != index.below_len {
            lengths.insert(name.as_bytes(), row::seal_number(Sealed::Length, name.as_bytes(), index.len))?;
        }
    }
    places.sort_unstable();
    members.sort_unstable();
    write_in_order(&mut order, places, |sum| *sum, |_, _| Ok(()))?;
    write_in_order(&mut scores, members, |score| *score, |_, _| Ok(()))
}

// The events a stream got in this layer share a row, or a few.
fn write_events(
    transaction: &WriteTransaction,
    streams: &HashMap<String, Tail>,
    known: &KnownDamage,
    patterns: &Patterns,
) -> Result<(), Fault> {
    let mut set_aside = transaction.open_table(SET_ASIDE_EVENTS)?;
    let mut tails: Vec<_> = streams.iter().collect();
    tails.sort_unstable_by_key(|(stream, _)| *stream);
    let mut events = transaction.open_table(EVENTS)?;
    for (stream, _) in tails.iter().filter(|(_, tail)| tail.hides_older) {
        let (start, end) = (numbered_key(stream, 0, &[]), name_end(stream));
        events.retain_in(start.as_slice()..end.as_slice(), |_, _| false)?;
        for gone in known.forget_stream(stream) {
            set_aside.remove(gone.as_slice())?;
        }
    }
    let rows = tails.into_iter().flat_map(|(stream, tail)| {
        let mut first_seq = tail.first_seq;
        event_rows(&tail.events).map(move |part| {
            let key = numbered_key(stream, first_seq, &[]);
            first_seq += part.len() as u64;
            let row = row::slim_events(&key, part, patterns);
            (key, row)
        })
    });
    write_in_order(&mut events, rows, Vec::as_slice, |_, _| Ok(()))
}

// Reading one event reads its row, so a row ends once it is this large.
const EVENT_ROW_BYTES: usize = 32 * 1024;

fn event_rows(events: &[Bytes]) -> impl Iterator<Item = &[Bytes]> {
    let mut bytes = 0;
    events.chunk_by(move |event, _| {
        bytes += event.len();
        let full = bytes >= EVENT_ROW_BYTES;
        if full {
            bytes = 0;
        }
        !full
    })
}

fn write_operations(transaction: &WriteTransaction, layer: &Layer) -> Result<(), Fault> {
    let mut operations = transaction.open_table(OPERATIONS)?;
    if !layer.operations.is_empty() {
        let row = row::seal_operations(layer.last_lsn, &encode_operations(&layer.operations));
        operations.insert(layer.last_lsn, row.as_slice())?;
    }
    loop {
        let old = match operations.first()? {
            Some((lsn, row)) if is_forgotten(lsn.value(), row.value(), layer.clock) => lsn.value(),
            _ => return Ok(()),
        };
        operations.remove(old)?;
    }
}

// Twenty-four bytes each: when, then which.
const OPERATION_BYTES: usize = 24;

fn encode_operations(operations: &[(Digest, i64)]) -> Vec<u8> {
    let mut row = Vec::with_capacity(operations.len() * OPERATION_BYTES);
    for (digest, clock) in operations {
        row.put_i64_le(*clock);
        row.put_slice(digest);
    }
    row
}

/// The operations of one row, oldest first.
pub(crate) fn decode_operations(row: &[u8]) -> impl Iterator<Item = (Digest, i64)> {
    row.as_chunks::<OPERATION_BYTES>().0.iter().map(|chunk| {
        let (mut clock, mut digest) = ([0; 8], Digest::default());
        clock.copy_from_slice(&chunk[..8]);
        digest.copy_from_slice(&chunk[8..]);
        (digest, i64::from_le_bytes(clock))
    })
}

fn is_forgotten(lsn: u64, row: &[u8], clock: i64) -> bool {
    // A damaged row tells nothing that is worth keeping.
    let Ok(operations) = row::open_operations(lsn, row) else { return true };
    decode_operations(operations).last().is_none_or(|(_, applied)| expired(applied.div_euclid(1000), clock))
}
