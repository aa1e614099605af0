//! What a durable change says in numbers and in the log. Everything is read from the change itself, after its commit, by the scheduler
//! whose commit it was: so nothing is told twice, and nothing that did not happen.

mod lines;
mod measures;

use toolplane_lifecycle::Effect;
use toolplane_metrics::names;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::invocation::Invocation;

use crate::calls::{CachedCall, Update};

/// How the ids of tools begin that do not exist: their names are whatever a model wrote.
const UNKNOWN_TOOL: &str = "unknown:";

/// Shows what is rare before it happens: a rate needs a beginning.
pub(crate) fn begin() {
    measures::begin();
}

/// A change of a call is durable.
pub(crate) fn changed(call: &CachedCall, effects: &[Effect], update: &Update) {
    // Most changes only renew a lease.
    let Some(first) = update.events.first() else { return };
    measures::change(call, first.seq, effects, update);
    if let Some(terminal) = &update.terminal {
        measures::end(call, &terminal.result);
        lines::ended(&call.record, &terminal.result);
    }
}

/// Decisions about a call are durable.
pub(crate) fn decided(record: &Invocation, decisions: &[PermissionDecision]) {
    for decision in decisions {
        measures::decision(decision);
        lines::decided(record, decision);
    }
}

/// The tool, as the log may name it.
fn tool_name(record: &Invocation) -> &str {
    if record.tool_id.as_str().starts_with(UNKNOWN_TOOL) { names::UNKNOWN } else { &record.tool_name }
}
