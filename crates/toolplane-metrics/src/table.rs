//! Every instrument of the cluster. A new one is a static here and a line of `ALL`; `cargo xtask gen` writes `docs/metrics.md`, and a
//! test compares dashboards and alert rules with this.

use crate::about::{About, Label};
use crate::instrument::{Counter, Gauge, Histogram};
use crate::reading::Instrument;

/// Seconds a call may take, its waits included.
const CALL_SECONDS: &[f64] =
    &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0, 1800.0];
/// Seconds a person may take.
const PERSON_SECONDS: &[f64] = &[1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14400.0, 86400.0];
/// Seconds one step within a machine may take.
const STEP_SECONDS: &[f64] =
    &[0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

const TOOL: Label = Label {
    key: "gen_ai.tool.name",
    values: "the first `telemetry.metrics_tools` names a process meets; `other` for further ones, `unknown` for tools that do not exist",
};
const STATUS: Label = Label { key: "status", values: "terminal statuses of a call, e.g. `succeeded`" };
const ERROR: Label = Label { key: "error.type", values: "error classes of the standard; absent on success" };
const REASON: Label = Label { key: "reason", values: "stable words of the lifecycle, e.g. `lease_expired`" };
const BEHAVIOR: Label = Label { key: "behavior", values: "`allow`, `ask`, `deny`, `passthrough`" };
const SOURCE: Label = Label { key: "source", values: "what decided, e.g. `policy_settings`, `default`, `approval`" };
const REUSED: Label =
    Label { key: "reused", values: "`true` where an earlier decision stands for the call, else `false`" };
const ANSWER: Label = Label {
    key: "answer",
    values: "`approved`, `rejected`, `expired`, or the status in which the call ended otherwise",
};
const CLASS: Label = Label { key: "class", values: "what cleaning finds, e.g. `credentials`" };
const TREATMENT: Label = Label { key: "treatment", values: "what is done about it, e.g. `mask`" };
const STORE: Label = Label { key: "store", values: "whose state it is: `scheduler`, `permission`, `surface`" };
const BACKEND: Label = Label { key: "backend", values: "`embedded` or `redis`" };
const OUTCOME: Label = Label { key: "outcome", values: "how it ended; the words are in the description of the metric" };
const POOL: Label = Label { key: "pool", values: "the first 100 names of pools; `other` for further ones" };
const SLOTS: Label = Label { key: "state", values: "`free` or `busy`" };
const PROVIDER: Label = Label { key: "provider", values: "the first 100 names of providers; `other` for further ones" };
const CIRCUIT: Label = Label { key: "state", values: "`closed`, `open`, `half_open`" };
const USED_FOR: Label = Label { key: "used_for", values: "`questions` or `tools`" };
const CODE: Label = Label { key: "error_code", values: "codes of `docs/errors.md`" };
const METHOD: Label = Label { key: "rpc.method", values: "methods of the API, in full" };
const RPC_STATUS: Label = Label { key: "rpc.status_code", values: "names of gRPC's statuses" };
const SIGNAL: Label = Label { key: "signal", values: "`spans` or `metrics`" };

const fn about(name: &'static str, unit: &'static str, told_by: &'static str, help: &'static str) -> About {
    About { name, unit, help, told_by }
}

const SCHEDULER: &str = "scheduler";

/// Calls that were accepted.
pub static CALLS_ACCEPTED: Counter<1> = Counter::new(
    about(
        "toolplane.calls.accepted",
        "{call}",
        SCHEDULER,
        "Calls that were accepted, those that were refused with a result included.",
    ),
    [TOOL],
);
/// Calls that ended.
pub static CALLS_ENDED: Counter<3> = Counter::new(
    about("toolplane.calls.ended", "{call}", SCHEDULER, "Calls that ended, each once, by how they ended."),
    [TOOL, STATUS, ERROR],
);
/// From acceptance to end.
pub static CALL_DURATION: Histogram<2> = Histogram::new(
    about("toolplane.call.duration", "s", SCHEDULER, "From the acceptance of a call to its end, all waits included."),
    [TOOL, STATUS],
    CALL_SECONDS,
);
/// From start to end.
pub static CALL_EXECUTION: Histogram<2> = Histogram::new(
    about(
        "toolplane.call.execution.duration",
        "s",
        SCHEDULER,
        "From the start of the last execution of a call to its end, without the time it waited for a person's input.",
    ),
    [TOOL, STATUS],
    CALL_SECONDS,
);
/// From queueing to start.
pub static CALL_QUEUE_WAIT: Histogram<1> = Histogram::new(
    about(
        "toolplane.call.queue.wait",
        "s",
        SCHEDULER,
        "From the moment a call was queued to its start: waits for a worker, for locks, for its batch and before a retry.",
    ),
    [TOOL],
    CALL_SECONDS,
);
/// From question to answer.
pub static CALL_APPROVAL_WAIT: Histogram<2> = Histogram::new(
    about("toolplane.call.approval.wait", "s", SCHEDULER, "How long calls waited for the answer of a person."),
    [TOOL, ANSWER],
    PERSON_SECONDS,
);
/// Executions after the first.
pub static CALL_RETRIES: Counter<1> = Counter::new(
    about("toolplane.call.retries", "{execution}", SCHEDULER, "Executions of calls after their first one."),
    [TOOL],
);
/// Calls that went back to their queue.
pub static CALLS_REQUEUED: Counter<2> = Counter::new(
    about(
        "toolplane.calls.requeued",
        "{call}",
        SCHEDULER,
        "Calls that went back to their queue after they were given to a worker.",
    ),
    [TOOL, REASON],
);
/// Leases that ended without a report.
pub static LEASE_LOSSES: Counter<1> = Counter::new(
    about("toolplane.lease.losses", "{lease}", SCHEDULER, "Leases that ended because their worker was gone or silent."),
    [REASON],
);
/// Reports that came too late.
pub static LATE_REPORTS: Counter<1> = Counter::new(
    about(
        "toolplane.reports.late",
        "{report}",
        SCHEDULER,
        "Reports of workers whose call had ended without them; kept as evidence.",
    ),
    [TOOL],
);
/// Inputs under quarantine.
pub static QUARANTINES: Counter<1> = Counter::new(
    about(
        "toolplane.quarantines",
        "{call}",
        SCHEDULER,
        "Calls that workers kept dying of; others like them are refused for a while.",
    ),
    [TOOL],
);
/// Decisions about calls.
pub static DECISIONS: Counter<3> = Counter::new(
    about("toolplane.decisions", "{decision}", SCHEDULER, "Decisions about calls, as they were stored with them."),
    [BEHAVIOR, SOURCE, REUSED],
);
/// What was taken out of outputs.
pub static REDACTIONS: Counter<3> = Counter::new(
    about("toolplane.redactions", "{place}", SCHEDULER, "Places in redacted results where cleaning found something."),
    [TOOL, CLASS, TREATMENT],
);
/// Slots of pools.
pub static POOL_SLOTS: Gauge<2> = Gauge::new(
    about(
        "toolplane.pool.slots",
        "{slot}",
        SCHEDULER,
        "Slots of the workers that are connected to this scheduler and serve the pool; a worker has its slots in each of its pools.",
    ),
    [POOL, SLOTS],
);
/// Workers of pools.
pub static POOL_WORKERS: Gauge<1> = Gauge::new(
    about(
        "toolplane.pool.workers",
        "{worker}",
        SCHEDULER,
        "Workers that are connected to this scheduler and serve the pool.",
    ),
    [POOL],
);
/// Executions that run.
pub static EXECUTIONS_ACTIVE: Gauge<1> = Gauge::new(
    about("toolplane.worker.executions.active", "{execution}", "executor", "Executions that run at this worker now."),
    [TOOL],
);
/// What keeps the sandbox from doing its work.
pub static SANDBOX_FAILURES: Counter<2> = Counter::new(
    about(
        "toolplane.sandbox.failures",
        "{execution}",
        "executor",
        "Executions that a sandbox stopped or could not hold, as their workers saw it.",
    ),
    [TOOL, CODE],
);
/// Commits to a store.
pub static STORE_COMMITS: Histogram<3> = Histogram::new(
    about(
        "toolplane.store.commit.duration",
        "s",
        "scheduler, permission, surface",
        "Commits to the store of a role, until they were durable: `applied`, `lost` to another writer, `full` index, or `failed`.",
    ),
    [STORE, BACKEND, OUTCOME],
    STEP_SECONDS,
);
/// Circuits of providers.
pub static PROVIDER_CIRCUITS: Gauge<2> = Gauge::new(
    about(
        "toolplane.provider.circuit",
        "1",
        "surface",
        "1 for the state in which the circuit of a provider is, as this process knows it.",
    ),
    [PROVIDER, CIRCUIT],
);
/// Tries of providers.
pub static PROVIDER_TRIES: Counter<2> = Counter::new(
    about(
        "toolplane.provider.tries",
        "{try}",
        "surface",
        "Times providers were asked what they have: `answered` or `failed`.",
    ),
    [PROVIDER, OUTCOME],
);
/// Requests to the embedding endpoint.
pub static EMBEDDING_REQUESTS: Counter<2> = Counter::new(
    about(
        "toolplane.embedding.requests",
        "{request}",
        "surface",
        "Requests to the embedding endpoint: `answered`, `refused` for their texts, or `failed`.",
    ),
    [USED_FOR, OUTCOME],
);
/// Tokens of the embedding endpoint.
pub static EMBEDDING_TOKENS: Counter<1> = Counter::new(
    about("toolplane.embedding.tokens", "{token}", "surface", "Tokens the embedding endpoint says it has read."),
    [USED_FOR],
);
/// Requests of gRPC.
pub static RPC_SERVER: Histogram<2> = Histogram::new(
    about(
        "rpc.server.call.duration",
        "s",
        "all",
        "Requests of gRPC that a process answered, until their last message.",
    ),
    [METHOD, RPC_STATUS],
    CALL_SECONDS,
);
/// Telemetry that was lost.
pub static TELEMETRY_LOST: Counter<1> = Counter::new(
    about("toolplane.telemetry.lost", "{item}", "all", "Spans, and exports of metrics, that no receiver took."),
    [SIGNAL],
);

/// All of them, in the order in which they are told.
pub(crate) static ALL: &[&dyn Instrument] = &[
    &CALLS_ACCEPTED,
    &CALLS_ENDED,
    &CALL_DURATION,
    &CALL_EXECUTION,
    &CALL_QUEUE_WAIT,
    &CALL_APPROVAL_WAIT,
    &CALL_RETRIES,
    &CALLS_REQUEUED,
    &LEASE_LOSSES,
    &LATE_REPORTS,
    &QUARANTINES,
    &DECISIONS,
    &REDACTIONS,
    &POOL_SLOTS,
    &POOL_WORKERS,
    &EXECUTIONS_ACTIVE,
    &SANDBOX_FAILURES,
    &STORE_COMMITS,
    &PROVIDER_CIRCUITS,
    &PROVIDER_TRIES,
    &EMBEDDING_REQUESTS,
    &EMBEDDING_TOKENS,
    &RPC_SERVER,
    &TELEMETRY_LOST,
];
