//! What folders must not name. One line each: the folder, the modules, and why.

use super::Folder;

const fn rule(folder: &'static str, must_not_name: &'static [&'static str], reason: &'static str) -> Folder {
    Folder { folder, must_not_name, reason }
}

/// Every rule.
pub(super) const FOLDERS: &[Folder] = &[
    // --- what text means is known before anybody decides about it ---
    rule("crates/toolplane-policy/src/evaluate", &["explain", "suggest"], "a decision is not made of its explanation"),
    rule("crates/toolplane-results/src/decide", &["payload", "render"], "what is kept is decided from sizes alone"),
    rule("crates/toolplane-results/src/render", &["payload"], "what is shown is pure, and the object store is not"),
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
    rule("services/toolplane-surface/src/registry", &["rpc"], HANDLERS),
    rule("services/toolplane-surface/src/surfaces", &["rpc"], HANDLERS),
    rule(
        "services/toolplane-executor/src/journal",
        &["executor", "schedulers", "session"],
        "a journal is read before there is a session",
    ),
    rule("services/toolplane/src/serve", &["cli"], "a cluster runs without a command line"),
];

const ADAPTERS: &str = "an adapter does not know the others; what they share is a module of its own";
const HANDLERS: &str = "what a service does does not know how it is asked for";
