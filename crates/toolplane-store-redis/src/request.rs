//! From a commit to the call of its script; the script's header says what goes where.

use redis::Cmd;
use toolplane_store::commit::OPERATION_MEMORY_MILLIS;
use toolplane_store::likeness::{PatternId, Patterns};
use toolplane_store::{Commit, Expect, IndexOp, Write};

use crate::hints;
use crate::identity::StoreIdentity;
use crate::keys::KeySpace;
use crate::scripts::{By, COMMIT, ESSENTIAL_COMMIT};
use crate::value::{ValueName, pack, pattern_of};

/// For how long a call is remembered whose operation has no name: longer than it is repeated, and than an attempt of it
/// can wait in a socket.
const CALL_MEMORY_MILLIS: i64 = 15_000;

/// About how long a key is, and what goes with it.
const NAME_BYTES: usize = 96;

/// What names one call of `commit`, over all its attempts.
pub(crate) type CallId = [u8; 16];

/// Who publishes, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Publisher {
    /// What hints of this process begin with.
    pub(crate) sender: [u8; 16],
    /// `PUBLISH`, or `SPUBLISH` where only the nodes of the slot shall hear it.
    pub(crate) command: &'static str,
}

/// The call that asks for `commit`.
pub(crate) fn encode(
    commit: &Commit,
    keys: &KeySpace,
    publisher: &Publisher,
    identity: &StoreIdentity,
    patterns: &Patterns,
    (call, attempt): (&CallId, u32),
    by: By,
) -> Cmd {
    let script = if commit.essential { &ESSENTIAL_COMMIT } else { &COMMIT };
    let values = Values::of(commit, patterns);
    let names = count_keys(commit);
    let room = Cmd::with_capacity(names + 64 + 3 * commit.index.len(), values.bytes() + NAME_BYTES * names);
    let mut command = script.call_within(room, by, names);
    name_keys(&mut command, commit, keys, call);
    name_counts(&mut command, commit, call, attempt);
    if commit.hints.is_empty() {
        command.arg("").arg("").arg("");
    } else {
        command.arg(publisher.command).arg(keys.channel()).arg(hints::pack(&publisher.sender, &commit.hints));
    }
    command.arg(identity.as_bytes()).arg(values.told_by());
    name_changes(&mut command, commit, values);
    command
}

/// The stored forms of what a commit writes and appends, in its order.
struct Values {
    packed: Vec<Vec<u8>>,
}

impl Values {
    fn of(commit: &Commit, patterns: &Patterns) -> Self {
        let mut packed = Vec::with_capacity(commit.writes.len() + commit.events.len() * 8);
        for write in &commit.writes {
            if let Write::Put { key, bytes } = write {
                packed.push(pack(ValueName::Record(key), bytes, patterns));
            }
        }
        for append in &commit.events {
            for (place, event) in (0..).zip(&append.events) {
                // The last sequence there is has no successor; the script refuses a stream that would need one.
                let seq = append.first_seq.wrapping_add(place);
                packed.push(pack(ValueName::Event(&append.stream, seq), event, patterns));
            }
        }
        Self { packed }
    }

    fn bytes(&self) -> usize {
        self.packed.iter().map(Vec::len).sum()
    }

    /// The names of the patterns without which they cannot be read.
    fn told_by(&self) -> Vec<u8> {
        let mut names: Vec<PatternId> = self.packed.iter().filter_map(|value| pattern_of(value)).collect();
        names.sort_unstable();
        names.dedup();
        names.iter().flat_map(|name| name.to_le_bytes()).collect()
    }
}

fn count_keys(commit: &Commit) -> usize {
    4 + commit.compare.len()
        + commit.bounds.len()
        + 2 * commit.writes.len()
        + commit.index.len()
        + commit.events.len()
        + commit.forget.len()
}

fn name_keys(command: &mut Cmd, commit: &Commit, keys: &KeySpace, call: &CallId) {
    command.arg(keys.names());
    match &commit.operation_id {
        Some(id) => command.arg(keys.operation(id)),
        None => command.arg(keys.call(call)),
    };
    command.arg(keys.identity()).arg(keys.patterns());
    for (key, _) in &commit.compare {
        command.arg(keys.record(key));
    }
    for bound in &commit.bounds {
        command.arg(keys.index(&bound.index));
    }
    for write in &commit.writes {
        let (key, family) = (keys.record(write.key()), write.key().family);
        command.arg(&key);
        match KeySpace::is_listed(family) {
            true => command.arg(keys.family(family)),
            false => command.arg(&key),
        };
    }
    for op in &commit.index {
        command.arg(keys.index(op.target().0));
    }
    for append in &commit.events {
        command.arg(keys.stream(&append.stream));
    }
    for stream in &commit.forget {
        command.arg(keys.stream(stream));
    }
}

fn name_counts(command: &mut Cmd, commit: &Commit, call: &CallId, attempt: u32) {
    let keep = if commit.operation_id.is_some() { OPERATION_MEMORY_MILLIS } else { CALL_MEMORY_MILLIS };
    command.arg(&call[..]).arg(attempt).arg(keep);
    command.arg(commit.compare.len()).arg(commit.bounds.len()).arg(commit.writes.len());
    command.arg(commit.index.len()).arg(commit.events.len()).arg(commit.forget.len());
}

fn name_changes(command: &mut Cmd, commit: &Commit, values: Values) {
    let mut values = values.packed.into_iter();
    // There is one for each that asks.
    let mut next = || values.next().unwrap_or_default();
    for (_, expect) in &commit.compare {
        command.arg(match expect {
            Expect::Absent => 0,
            // No record has version 0, and none gets beyond what a double holds: such a compare is lost.
            Expect::Version(0) => u64::MAX,
            Expect::Version(version) => *version,
        });
    }
    for bound in &commit.bounds {
        command.arg(bound.below);
    }
    for write in &commit.writes {
        match write {
            Write::Put { .. } => command.arg(next()),
            Write::Delete { .. } => command.arg(""),
        };
    }
    for op in &commit.index {
        match op {
            IndexOp::Put { index, score, member } => command.arg(index).arg(*score).arg(member),
            IndexOp::Remove { index, member } => command.arg(index).arg("").arg(member),
        };
    }
    for append in &commit.events {
        command.arg(append.first_seq).arg(append.events.len());
        for _ in &append.events {
            command.arg(next());
        }
    }
}

#[cfg(test)]
mod tests;
