//! What folders must not name. One line each: the folder, the modules, and why.

use super::Folder;

const fn rule(folder: &'static str, must_not_name: &'static [&'static str], reason: &'static str) -> Folder {
    Folder { folder, must_not_name, reason }
}

/// Every rule.
pub(super) const FOLDERS: &[Folder] = &[
    // --- what text means is known before decisions about it ---
    rule("crates/toolplane-policy/src/evaluate", &["explain", "suggest"], "a decision is not made of its explanation"),
    rule("crates/toolplane-results/src/decide", &["payload", "render"], "what is kept is decided from sizes alone"),
    rule("crates/toolplane-results/src/render", &["payload"], "what is shown is pure, and the object store is not"),
    // --- what providers have, and how they are, are two questions ---
    rule("crates/toolplane-providers/src/difference", &["health"], "what has changed is no matter of how it was asked"),
    rule("crates/toolplane-providers/src/health", &["difference", "known", "listing", "review"], PROVIDERS),
    rule("crates/toolplane-providers/src/review", &["difference", "health", "listing", "words"], PROVIDERS),
    rule(
        "crates/toolplane-credentials/src/mask",
        &["broker", "config", "source", "tokens"],
        "a mask is made of bytes and names",
    ),
    rule(
        "crates/toolplane-credentials/src/broker/state",
        &["tokens", "mask"],
        "when to look is decided from times and faults alone",
    ),
    // --- adapters do not know each other ---
    rule("crates/toolplane-execution/src/files", &["http", "native", "process", "sandboxed", "shell"], ADAPTERS),
    rule("crates/toolplane-execution/src/http", &["files", "native", "process", "sandboxed", "shell"], ADAPTERS),
    rule("crates/toolplane-execution/src/sandboxed", &["files", "http", "native"], ADAPTERS),
    // --- plumbing ---
    rule(
        "crates/toolplane-runtime/src/config",
        &["client", "health", "process", "tasks"],
        "a configuration starts nothing",
    ),
    rule("crates/toolplane-runtime/src/status", &["client", "config", "server"], "a status is the same on either side"),
    rule(
        "crates/toolplane-store-embedded/src/log",
        &["base", "checkpoint", "group", "tables"],
        "the log knows bytes, and not what is done with them",
    ),
    rule(
        "crates/toolplane-store-redis/src/value",
        &["connector", "link", "store"],
        "reading a value needs no connection",
    ),
    // --- services: what they do does not know how it is asked for ---
    rule("services/toolplane-permission/src/approvals", &["rpc"], HANDLERS),
    rule("services/toolplane-permission/src/decide", &["rpc"], HANDLERS),
    rule("services/toolplane-permission/src/rules", &["rpc"], HANDLERS),
    // --- the parts of the surface service: each is made from the few it uses ---
    rule(
        "services/toolplane-surface/src/registry",
        &["learning", "parts", "providers", "retention", "rpc", "surfaces", "synonyms"],
        "every part stands on the registry",
    ),
    rule(
        "services/toolplane-surface/src/memory",
        &["parts", "registry", "rpc", "surfaces"],
        "memory is asked, and asks nobody",
    ),
    rule("services/toolplane-surface/src/providers", &["parts", "rpc", "surfaces"], "a gate does not know who asks it"),
    rule("services/toolplane-surface/src/surfaces", &["learning", "parts", "rerank", "rpc", "synonyms"], HANDLERS),
    // --- the parts of the scheduler: each is made from the few it uses ---
    rule(
        "services/toolplane-scheduler/src/storage",
        &[
            "calls", "cluster", "dispatch", "effects", "ending", "groups", "intake", "limits", "parts", "recheck",
            "repair", "rpc", "timers", "watch",
        ],
        "the store is below every part",
    ),
    rule(
        "services/toolplane-scheduler/src/limits",
        &[
            "calls", "cluster", "dispatch", "effects", "ending", "groups", "intake", "parts", "recheck", "repair",
            "rpc", "timers", "watch",
        ],
        "bounds are values",
    ),
    rule(
        "services/toolplane-scheduler/src/account",
        &[
            "storage", "cluster", "dispatch", "watch", "groups", "effects", "timers", "repair", "recheck", "intake",
            "ending", "rpc",
        ],
        "what is told of a change is read from the change",
    ),
    rule(
        "services/toolplane-scheduler/src/calls",
        &[
            "cluster", "dispatch", "effects", "ending", "groups", "intake", "parts", "recheck", "repair", "rpc",
            "timers", "watch",
        ],
        "what a change means for others is for the effect handler",
    ),
    rule(
        "services/toolplane-scheduler/src/cluster",
        &[
            "calls", "dispatch", "effects", "ending", "groups", "intake", "parts", "recheck", "repair", "rpc",
            "timers", "watch",
        ],
        "schedulers know each other, and no calls",
    ),
    rule(
        "services/toolplane-scheduler/src/dispatch",
        &["effects", "ending", "groups", "intake", "parts", "recheck", "repair", "rpc", "timers", "watch"],
        "slots and queues need no watchers, groups or requests",
    ),
    rule(
        "services/toolplane-scheduler/src/watch",
        &[
            "cluster", "dispatch", "effects", "ending", "groups", "intake", "parts", "recheck", "repair", "rpc",
            "timers",
        ],
        "watching is reading",
    ),
    rule(
        "services/toolplane-scheduler/src/groups",
        &["cluster", "effects", "ending", "intake", "parts", "recheck", "repair", "rpc", "timers"],
        "what calls share does not know who runs them",
    ),
    rule(
        "services/toolplane-scheduler/src/effects",
        &["ending", "intake", "parts", "recheck", "repair", "rpc", "timers"],
        "effects are passed on to parts that wait for them, and to nobody who acts",
    ),
    rule(
        "services/toolplane-scheduler/src/keeping",
        &[
            "cluster", "dispatch", "effects", "ending", "groups", "intake", "parts", "recheck", "repair", "rpc",
            "timers", "watch",
        ],
        "what stays and what goes is said of records, whoever asks",
    ),
    rule(
        "services/toolplane-scheduler/src/timers",
        &["effects", "ending", "intake", "parts", "recheck", "rpc", "watch"],
        "time knows calls, and not who asks",
    ),
    rule(
        "services/toolplane-scheduler/src/repair",
        &["effects", "ending", "intake", "parts", "recheck", "rpc", "timers", "watch"],
        "repair knows records and their indexes",
    ),
    rule(
        "services/toolplane-scheduler/src/recheck",
        &["effects", "ending", "groups", "parts", "repair", "rpc", "timers", "watch"],
        "after acceptance the way goes in one direction",
    ),
    rule(
        "services/toolplane-scheduler/src/intake",
        &["effects", "ending", "groups", "parts", "recheck", "repair", "rpc", "timers", "watch"],
        "a request is prepared before anything of it is stored",
    ),
    rule(
        "services/toolplane-scheduler/src/ending",
        &["cluster", "effects", "groups", "parts", "recheck", "repair", "rpc", "timers", "watch"],
        "an ending is made of a report and its plan",
    ),
    // --- the parts of the executor: session, runner, reporter, assignments, each knowing those after it ---
    rule(
        "services/toolplane-executor/src/messages",
        &["assignments", "role", "parts", "outbox", "reporter", "runner", "schedulers", "session", "wire"],
        "what is said does not know how it travels, or what is done about it",
    ),
    rule(
        "services/toolplane-executor/src/wire",
        &["assignments", "role", "parts", "outbox", "reporter", "runner", "schedulers", "session"],
        "messages are carried, and not decided about",
    ),
    rule(
        "services/toolplane-executor/src/assignments",
        &["role", "parts", "outbox", "reporter", "runner", "schedulers", "session", "wire"],
        "who holds a lease does not know how it runs or is reported",
    ),
    rule(
        "services/toolplane-executor/src/reporter",
        &["role", "parts", "runner", "session"],
        "an ending is reported whoever ran it",
    ),
    rule(
        "services/toolplane-executor/src/runner",
        &["role", "parts", "schedulers", "session", "wire"],
        "a tool runs whether there is a stream or not",
    ),
    rule("services/toolplane/src/serve", &["cli"], "a cluster runs without a command line"),
];

const ADAPTERS: &str = "an adapter does not know the others; what they share is a module of its own";
const PROVIDERS: &str = "each question about providers has its own answer; the role puts them together";
const HANDLERS: &str = "what a service does does not know how it is asked for";
