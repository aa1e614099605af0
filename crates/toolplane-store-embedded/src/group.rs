//! The commits that become durable together: each is decided over the stored state and what the earlier ones changed.

use toolplane_store::{Append, Bound, Commit, CommitOutcome, IndexOp, RecordKey, StoreError, Versioned, Write};

use crate::codec;
use crate::fault::Fault;
use crate::hash::HashMap;
use crate::layer::{MemberScores, Tail};
use crate::log::record;
use crate::operations::{Digest, OperationMemory};
use crate::shared::Tables;
use crate::space::Space;

/// What the caller of a commit is told, once its group is durable.
pub(crate) type CommitAnswer = Result<CommitOutcome, StoreError>;

/// Changes decided but not yet durable. Only the writer sees them.
#[derive(Debug, Default)]
pub(crate) struct Group {
    /// The clock all of the group is decided at, in milliseconds.
    pub(crate) clock: i64,
    /// The group as the log keeps it: a record that is started, see [`record`].
    pub(crate) log: Vec<u8>,
    /// How many commits were applied.
    pub(crate) applied: u64,
    pub(crate) records: HashMap<RecordKey, Option<Versioned>>,
    pub(crate) indexes: HashMap<String, IndexChanges>,
    pub(crate) streams: HashMap<String, Tail>,
    pub(crate) operations: Vec<(Digest, i64)>,
}

/// What a group does to one index.
#[derive(Debug)]
pub(crate) struct IndexChanges {
    /// The length of the whole index, with what the group changed so far.
    len: u64,
    /// See [`IndexLayer::below_len`](crate::layer::IndexLayer::below_len).
    pub(crate) below_len: u64,
    pub(crate) members: HashMap<String, MemberScores>,
}

/// What became of a commit that was looked at.
enum Judgement {
    /// It applies, and its writes make these versions, in their order; 0 where one deletes.
    Applies { versions: Vec<u64> },
    /// It does not, and this is its answer.
    Refused(CommitAnswer),
}

fn next_version(found: Option<&Versioned>) -> u64 {
    found.map_or(1, |found| found.version + 1)
}

impl Group {
    /// A group that reuses `log`'s memory.
    pub(crate) fn start(clock: i64, mut log: Vec<u8>) -> Self {
        record::start(&mut log);
        codec::start_group(&mut log, clock);
        Self { clock, log, ..Self::default() }
    }

    /// Decides one well-formed commit and, if it applies, adds it to the group.
    ///
    /// Fails with a fault that leaves the group unusable; a refused commit is an answer like another.
    pub(crate) fn decide(
        &mut self,
        commit: Commit,
        operation: Option<Digest>,
        tables: &Tables,
        known: &mut OperationMemory,
        space: &Space,
    ) -> Result<CommitAnswer, Fault> {
        let versions = match self.judge(&commit, operation, tables, known, space) {
            Ok(Judgement::Applies { versions }) => versions,
            Ok(Judgement::Refused(answer)) => return Ok(answer),
            // Nothing is staged yet, and only this commit depends on what is damaged.
            Err(Fault::Damaged(damage)) => return Ok(Err(StoreError::Damaged(damage))),
            Err(fault) => return Err(fault),
        };
        self.apply(commit, &versions, operation, tables)?;
        if let Some(digest) = operation {
            known.insert(digest, self.clock);
        }
        Ok(Ok(CommitOutcome::Applied))
    }

    /// Whether a commit applies. Stages nothing.
    fn judge(
        &self,
        commit: &Commit,
        operation: Option<Digest>,
        tables: &Tables,
        known: &OperationMemory,
        space: &Space,
    ) -> Result<Judgement, Fault> {
        if operation.is_some_and(|digest| known.contains(&digest)) {
            return Ok(Judgement::Refused(Ok(CommitOutcome::Replayed)));
        }
        let mut compared = Vec::with_capacity(commit.compare.len());
        for (key, _) in &commit.compare {
            compared.push(self.record(key, tables)?);
        }
        let lost: Vec<_> = commit
            .compare
            .iter()
            .zip(&compared)
            .filter(|((_, expect), found)| !expect.holds(found.as_ref()))
            .map(|((key, _), found)| (key.clone(), found.clone()))
            .collect();
        if !lost.is_empty() {
            return Ok(Judgement::Refused(Ok(CommitOutcome::Lost { current: lost })));
        }
        for Bound { index, below } in &commit.bounds {
            if self.index_len(index, tables)? >= *below {
                return Ok(Judgement::Refused(Ok(CommitOutcome::Full { index: index.clone() })));
            }
        }
        for append in &commit.events {
            let expected = self.head(&append.stream, tables)? + 1;
            if append.first_seq != expected {
                let (stream, offered) = (append.stream.clone(), append.first_seq);
                let gap = StoreError::SequenceGap { stream, expected, offered };
                return Ok(Judgement::Refused(Err(gap)));
            }
        }
        if let (Space::Short { path, free, reserve }, false) = (space, commit.essential) {
            let (path, free, reserve) = (path.clone(), *free, *reserve);
            return Ok(Judgement::Refused(Err(StoreError::DiskShort { path, free, reserve })));
        }
        let mut versions = Vec::with_capacity(commit.writes.len());
        for write in &commit.writes {
            // What was compared need not be looked up again for its version.
            let seen = commit.compare.iter().position(|(key, _)| key == write.key());
            let version = match (write, seen) {
                (Write::Delete { .. }, _) => 0,
                (Write::Put { .. }, Some(at)) => next_version(compared[at].as_ref()),
                // Nothing is written over what is damaged: a person has to look at it first.
                (Write::Put { key, .. }, None) => next_version(self.record(key, tables)?.as_ref()),
            };
            versions.push(version);
        }
        Ok(Judgement::Applies { versions })
    }

    /// Adds a commit the log holds, which was decided before: its versions and sequences follow from the stored state.
    pub(crate) fn replay(&mut self, commit: Commit, operation: Option<Digest>, tables: &Tables) -> Result<(), Fault> {
        let versions: Result<Vec<_>, Fault> = commit
            .writes
            .iter()
            .map(|write| match self.record(write.key(), tables) {
                Ok(found) => Ok(next_version(found.as_ref())),
                // The log has the newer bytes, and no reader remembers a version of before.
                Err(Fault::Damaged(_)) => Ok(1),
                Err(fault) => Err(fault),
            })
            .collect();
        self.apply(commit, &versions?, operation, tables)
    }

    /// Adds a commit; `versions` are those its writes make, in their order.
    fn apply(
        &mut self,
        commit: Commit,
        versions: &[u64],
        operation: Option<Digest>,
        tables: &Tables,
    ) -> Result<(), Fault> {
        codec::add_commit(&mut self.log, &commit, operation.as_ref());
        for (write, version) in commit.writes.into_iter().zip(versions) {
            let (key, record) = match write {
                Write::Put { key, bytes } => (key, Some(Versioned { version: *version, bytes })),
                Write::Delete { key } => (key, None),
            };
            self.records.insert(key, record);
        }
        for op in commit.index {
            let (index, member, now) = match op {
                IndexOp::Put { index, score, member } => (index, member, Some(score)),
                IndexOp::Remove { index, member } => (index, member, None),
            };
            self.set_member(index, member, now, tables)?;
        }
        for Append { stream, first_seq, events } in commit.events {
            self.streams.entry(stream).or_insert_with(|| Tail::starting_at(first_seq)).events.extend(events);
        }
        for stream in commit.forget {
            self.forget(stream, tables);
        }
        self.operations.extend(operation.map(|digest| (digest, self.clock)));
        self.applied += 1;
        Ok(())
    }

    /// Roughly how many maps' entries the group fills.
    pub(crate) fn operation_count(&self) -> usize {
        let members: usize = self.indexes.values().map(|changes| changes.members.len()).sum();
        self.records.len() + members + self.streams.len() + self.operations.len()
    }

    fn set_member(&mut self, index: String, member: String, now: Option<u64>, tables: &Tables) -> Result<(), Fault> {
        let changes = match self.indexes.get_mut(&index) {
            Some(changes) => changes,
            None => {
                let (len, below_len) = (tables.index_len(&index)?, tables.below_len(&index)?);
                let changes = IndexChanges { len, below_len, members: HashMap::default() };
                self.indexes.entry(index.clone()).or_insert(changes)
            }
        };
        if let Some(known) = changes.members.get_mut(&member) {
            changes.len = changes.len + u64::from(now.is_some()) - u64::from(known.now.is_some());
            known.now = now;
            return Ok(());
        }
        let below = tables.score(&index, &member, changes.below_len)?;
        if below != now {
            changes.len = changes.len + u64::from(now.is_some()) - u64::from(below.is_some());
            changes.members.insert(member, MemberScores { below, now });
        }
        Ok(())
    }

    fn record(&self, key: &RecordKey, tables: &Tables) -> Result<Option<Versioned>, Fault> {
        match self.records.get(key) {
            Some(staged) => Ok(staged.clone()),
            None => tables.record(key),
        }
    }

    fn forget(&mut self, stream: String, tables: &Tables) {
        match self.streams.get(&stream) {
            // All of it lies in this group, so no older layer has to be hidden.
            Some(tail) if tail.is_whole() => drop(self.streams.remove(&stream)),
            None if matches!(tables.head(&stream), Ok(0)) => {}
            // Also one that is damaged: this is how it goes.
            _ => drop(self.streams.insert(stream, Tail::forgotten())),
        }
    }

    fn index_len(&self, index: &str, tables: &Tables) -> Result<u64, Fault> {
        match self.indexes.get(index) {
            Some(changes) => Ok(changes.len),
            None => tables.index_len(index),
        }
    }

    fn head(&self, stream: &str, tables: &Tables) -> Result<u64, Fault> {
        match self.streams.get(stream) {
            Some(tail) => Ok(tail.head()),
            None => tables.head(stream),
        }
    }
}
