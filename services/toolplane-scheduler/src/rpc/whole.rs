//! Everything about one call in one answer, as far as it fits.

use prost::Message;
use toolplane_lifecycle::Terminal;
use toolplane_proto::convert::field;
use toolplane_proto::v1;
use toolplane_records::invocation::Invocation;
use toolplane_runtime::{Caller, Role};

use super::encode;
use crate::calls::Records;
use crate::error::CallError;
use crate::keeping::Stay;

/// Decisions and hook runs of one call that are kept at most, and as many of them are read.
const ALL: usize = 1000;

/// What is kept about `record` beside it and its result, in at most about `room` bytes: what `caller` may ask for one by one. What is decided
/// and run comes first: the log is the longest, and can be had elsewhere.
pub(super) async fn trail(
    records: &Records,
    caller: &Caller,
    record: &Invocation,
    terminal: Option<&Terminal>,
    room: usize,
) -> Result<v1::InvocationTrail, CallError> {
    let decisions = records.decisions_after(record, 0, ALL).await?.into_iter().filter_map(|(_, kept)| kept);
    let mutations = records.mutations(record).await?;
    let mut rest = Room { left: room, cut: Vec::new() };
    let mut trail = v1::InvocationTrail {
        decisions: rest.take("decisions", decisions.map(|kept| (&kept).into())),
        mutations: rest.take("mutations", mutations.iter().map(Into::into)),
        ..v1::InvocationTrail::default()
    };
    // Who only answers questions sees what was decided, and not what came of it.
    if [Role::Agent, Role::Operator, Role::Auditor, Role::Peer].into_iter().any(|role| caller.is(role)) {
        let hooks = records.hooks_after(record, 0, ALL).await?.into_iter().filter_map(|(_, kept)| kept);
        let executions = records.executions(record).await?;
        let persistence = terminal.iter().flat_map(|ended| ended.persistence.iter());
        let log = records.log(&record.key()).await?;
        trail.hooks = rest.take("hooks", hooks.map(|kept| (&kept).into()));
        trail.executions = rest.take("executions", executions.iter().map(Into::into));
        trail.persistence = rest.take("persistence", persistence.map(Into::into));
        trail.events = rest.take("events", encode::events(record, &log));
    } else {
        rest.cut.extend(["hooks", "executions", "persistence", "events"].map(str::to_owned));
    }
    trail.cut = rest.cut;
    Ok(trail)
}

/// Until when records of one class stay, as a message.
pub(super) fn kept_until(stay: Stay) -> v1::KeptUntil {
    v1::KeptUntil {
        class: stay.class.to_string(),
        until: field::instant(stay.until),
        rule: stay.source.to_string(),
        removed_at: stay.removed_at.and_then(field::instant),
        held: stay.held.unwrap_or_default(),
    }
}

/// What is left of an answer.
struct Room {
    left: usize,
    /// Lists that did not fit.
    cut: Vec<String>,
}

impl Room {
    /// The first of `rows` that fit; what comes after a row that does not fit is left out too.
    fn take<M: Message>(&mut self, name: &str, rows: impl IntoIterator<Item = M>) -> Vec<M> {
        let mut taken = Vec::new();
        for row in rows {
            let bytes = row.encoded_len() + FRAME;
            if bytes > self.left {
                self.cut.push(name.to_owned());
                break;
            }
            self.left -= bytes;
            taken.push(row);
        }
        taken
    }
}

/// Bytes around a message within another one.
const FRAME: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_named_and_what_is_small_enough_still_comes() {
        let row = |text: &str| v1::TextBlock { text: text.to_owned() };
        let mut room = Room { left: 60, cut: Vec::new() };
        assert_eq!(room.take("a", [row("1"), row(&"x".repeat(100)), row("2")]).len(), 1);
        assert_eq!(room.take("b", [row("3"), row("4")]).len(), 2);
        assert_eq!(room.cut, ["a"]);
    }
}
