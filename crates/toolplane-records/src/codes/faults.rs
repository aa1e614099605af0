//! Codes in logs, of processes that do not start, and of steps behind what callers see.

use super::code::Kind::Fault;
use super::code::{Code, CodeEntry, codes};

codes! {
    /// Codes of faults.
    FAULTS:
    CONFIG_UNREADABLE = "CONFIG_UNREADABLE", Fault,
        "the file, and why", "The process cannot read the configuration file.", "Check the path and that the process's user may read the file.";
    CONFIG_FILE_INVALID = "CONFIG_FILE_INVALID", Fault,
        "the file, the line and what is wrong", "The configuration file is not valid.", "Correct the line that is named.";
    CONFIG_ENVIRONMENT_INVALID = "CONFIG_ENVIRONMENT_INVALID", Fault,
        "the variable and the rule", "An environment variable `TOOLPLANE__...` names no setting, or its value breaks a rule.", "Correct or remove the variable.";
    CONFIG_VALUE_INVALID = "CONFIG_VALUE_INVALID", Fault,
        "`<key>`: <rule>", "A value of the configuration breaks a rule.", "Correct the key that is named.";
    SERVER_BIND = "SERVER_BIND", Fault,
        "the address, and why", "The server cannot listen on its address; another process may use it.", "End the other process, or change `server.listen`.";
    SERVER_EXPOSED = "SERVER_EXPOSED", Fault,
        "the address", "Other machines can reach the address, but the server has no TLS or no way to know its callers.", "Configure `server.tls` and `server.auth`, or listen on loopback (`server.listen`).";
    SERVER_FILE = "SERVER_FILE", Fault,
        "the key, the file and why", "The server cannot use a certificate, key or token file.", "Correct the file that is named, or the setting that names it.";
    SERVER_DESCRIPTORS = "SERVER_DESCRIPTORS", Fault,
        "what cannot be decoded", "The program cannot decode the descriptions of its own gRPC services.", "This is a bug in Toolplane or in the program that embeds it: please report it with the message.";
    SERVER_TRANSPORT = "SERVER_TRANSPORT", Fault,
        "what failed", "The server's transport failed or refused its settings.", "Check the certificates in `server.tls` and the address in `server.listen`.";
    TELEMETRY_EXPORTER = "TELEMETRY_EXPORTER", Fault,
        "why", "The process cannot set up the export of traces.", "Correct `telemetry.otlp_endpoint`.";
    TELEMETRY_FILTER = "TELEMETRY_FILTER", Fault,
        "why", "The log filter is malformed.", "Correct `log.filter`.";
    TELEMETRY_LOG = "TELEMETRY_LOG", Fault,
        "why", "The thread that writes the log cannot be started.", "Let the process have more threads (`ulimit -u`, the limits of its service or container).";
    TELEMETRY_ALREADY_SET = "TELEMETRY_ALREADY_SET", Fault,
        "that it is set", "The program set up telemetry twice in one process.", "The author of the program that embeds Toolplane sets it up once.";
    HOOKS_CONFIG_INVALID = "HOOKS_CONFIG_INVALID", Fault,
        "`hooks[<n>].<key>`: <rule>", "The configuration of a hook breaks a rule.", "Correct the key that is named.";
    CREDENTIALS_CONFIG_INVALID = "CREDENTIALS_CONFIG_INVALID", Fault,
        "`credentials[<n>].<key>`: <rule>", "The configuration of a credential breaks a rule.", "Correct the key that is named.";
    HOOKS_NO_SANDBOX = "HOOKS_NO_SANDBOX", Fault,
        "the hook, and what is missing", "A hook is a program, and this machine cannot run it in a sandbox.", "Install what the message names, or run the hook as a service (`hooks[].grpc`).";
    HOOKS_SERVICE_INVALID = "HOOKS_SERVICE_INVALID", Fault,
        "the hook, and why", "The client for a hook's service cannot be set up as configured.", "Check `grpc`, `token_file` and `ca_file` of the hook.";
    HOOK_TIMEOUT = "hooks.timeout", Fault,
        "after how long", "A hook did not answer in time; Toolplane takes that as a failed hook.", "Make the hook faster, or raise its `timeout_ms`.";
    HOOK_EXIT_CODE = "hooks.exit_code", Fault,
        "the exit code", "A hook ended with an exit code that means neither an answer nor a refusal.", "Run the hook by hand with the input of the call, and correct it.";
    HOOK_SIGNAL = "hooks.signal", Fault,
        "the signal", "A signal ended a hook; often the hook used too much memory.", "Raise `memory_bytes` of the hook, or correct its program.";
    HOOK_ANSWER_TOO_LARGE = "hooks.answer_too_large", Fault,
        "how large an answer may be", "A hook's answer is larger than Toolplane reads.", "Make the hook answer with less.";
    HOOK_BAD_ANSWER = "hooks.bad_answer", Fault,
        "what cannot be read", "A hook's answer does not follow the hook protocol.", "Correct the hook; the message names the rule it broke.";
    HOOK_NOT_RUN = "hooks.not_run", Fault,
        "why", "Toolplane could not start a hook.", "Check `command` of the hook, and the sandbox of this machine.";
    HOOK_STATUS = "hooks.status", Fault,
        "the gRPC code", "The service of a hook answered with an error.", "Read the log of that service.";
    JSON_TOO_LARGE = "JSON_TOO_LARGE", Fault,
        "how large it is, and may be", "A JSON text is larger than its limit.", "Send less, or send large content by reference.";
    JSON_NOT_UTF8 = "JSON_NOT_UTF8", Fault,
        "at which byte", "A JSON text is not UTF-8.", "Encode it as UTF-8.";
    JSON_TOO_DEEP = "JSON_TOO_DEEP", Fault,
        "how deep it may be", "A JSON text is nested too deeply.", "Flatten it.";
    JSON_TOO_MANY_VALUES = "JSON_TOO_MANY_VALUES", Fault,
        "how many there may be", "A JSON text holds more values than its limit.", "Send fewer values.";
    JSON_DUPLICATE_KEY = "JSON_DUPLICATE_KEY", Fault,
        "the key", "A JSON object has one key twice, and programs disagree about which one counts.", "Send each key once.";
    JSON_SYNTAX = "JSON_SYNTAX", Fault,
        "where, and what was expected", "The text is not JSON.", "Correct the text at the place that is named.";
    PAYLOAD_NOT_FOUND = "PAYLOAD_NOT_FOUND", Fault,
        "the address", "The object store has no payload at the address.", "Check the address in the result (`toolplane get`); the payload may have been removed.";
    PAYLOAD_EXPIRED = "PAYLOAD_EXPIRED", Fault,
        "the address", "The payload is older than `objects.retention_days`.", "Make the call again if its output is still needed; the operator may raise `objects.retention_days`.";
    PAYLOAD_ADDRESS_INVALID = "PAYLOAD_ADDRESS_INVALID", Fault,
        "the text, and the rule it breaks", "The text is not the address of a payload.", "Use the address in the result (`toolplane get`).";
    PAYLOAD_OFFSET_OUT_OF_RANGE = "PAYLOAD_OFFSET_OUT_OF_RANGE", Fault,
        "the offset and the size", "The offset is beyond the end of the payload.", "Use an offset below the size of the payload.";
    PAYLOAD_TOO_LARGE = "PAYLOAD_TOO_LARGE", Fault,
        "how large it may be", "A payload is larger than `objects.max_bytes`.", "Make the tool return less, or raise `objects.max_bytes`.";
    PAYLOAD_DAMAGED = "PAYLOAD_DAMAGED", Fault,
        "the address and the digest found", "A payload is not as it was written, so no part of it is returned.", "Restore it from a backup (`toolplane store restore`), or make the call again.";
    PAYLOAD_UPLOAD_INTERRUPTED = "PAYLOAD_UPLOAD_INTERRUPTED", Fault,
        "why", "An upload to the object store ended before it was complete.", "Nothing to do: the worker uploads again. If it repeats, check the network between worker and scheduler.";
    PAYLOAD_STORE_UNUSABLE = "PAYLOAD_STORE_UNUSABLE", Fault,
        "why", "The object store cannot be opened as configured.", "Correct `objects` in the configuration.";
    PAYLOAD_STORE_UNAVAILABLE = "PAYLOAD_STORE_UNAVAILABLE", Fault,
        "why", "The object store does not answer.", "Check the object store that `objects` in the configuration names; requests work again when it answers.";
    PAYLOAD_SPOOL_FULL = "PAYLOAD_SPOOL_FULL", Fault,
        "how much may wait", "The object store is away, and `objects.spool_bytes` of outputs wait for it already.", "Bring the object store back; what waits is moved then. To bridge longer outages, raise `objects.spool_bytes`.";
    PAYLOAD_NO_LINK = "PAYLOAD_NO_LINK", Fault,
        "why", "There can be no link to the payload.", "Read it through the cluster (`toolplane fetch`); for links, keep payloads in a bucket (`objects.url`).";
    STORE_OFFLINE = "store.unavailable", Fault,
        "why", "The store does not answer.", "Check that the store runs and can be reached (`store` in the configuration); requests work again when it answers.";
    STORE_NOT_SAFE = "store.unsafe", Fault,
        "why", "The store answers but could lose what it takes, so it takes nothing new.", "Do what the message says, e.g. set `appendfsync always` or `maxmemory-policy noeviction` in Redis.";
    STORE_OUTCOME_UNKNOWN = "store.outcome_unknown", Fault,
        "why", "The connection to the store broke before the store confirmed a change.", "Nothing to do: the process reads the store again and finds out. If it repeats, check the network to the store.";
    STORE_POISONED = "store.poisoned", Fault,
        "why", "A write to disk failed, so the store takes nothing more and the process ends.", "Check the disk, then start the process again.";
    STORE_SEQUENCE_GAP = "store.sequence_gap", Fault,
        "the stream and the sequence", "A change would leave a gap in an event stream, so the store refused it.", "This is a bug in Toolplane: please report it with the log.";
    STORE_INVALID_COMMIT = "store.invalid_commit", Fault,
        "the rule", "A change breaks a rule of the store, so the store refused it.", "This is a bug in Toolplane: please report it with the log.";
    STORE_RECORD_DAMAGED = "store.damaged", Fault,
        "the record", "A stored record is not as it was written.", "Run `toolplane store check`, then `toolplane store restore` or `toolplane store forget` for the record.";
    STORE_CORRUPT = "store.corrupt", Fault,
        "what is corrupt", "The files of the store are not as they were written.", "Run `toolplane store check`, then bring a backup back with `toolplane store restore`.";
    STORE_DISK_SHORT = "store.disk_short", Fault,
        "the path, what is free and what is kept free", "The disk of the store is almost full.", "Free room at the path that is named.";
    STORE_TOO_LARGE = "store.too_large", Fault,
        "how large it is, and may be", "A change is larger than the store takes.", "Send less in one request.";
    STORE_EMBEDDED = "store.embedded", Fault,
        "the directory, and why", "The embedded store cannot be opened.", "Do what the reason in the message asks for; the directory is under `server.data_dir`.";
    STORE_MISSING = "store.missing", Fault,
        "the directory, and the file that says it was made", "The directory of a role's store is empty or gone, though a store was made there: rules, open questions or calls would be lost without a word.", "Restore a backup (`toolplane store restore`), or remove the file that is named to begin without what the store held.";
    STORE_PASSWORD = "store.password", Fault,
        "the file or variable, and why", "The process cannot read the password of Redis.", "Check the file or variable that is named (`store.redis.password_file`, `store.redis.password_env`).";
    STORE_BUFFERED = "store.buffered", Fault,
        "that Redis may lose answered calls", "Redis answers before its data is durable, and the configuration does not accept that.", "Set `appendonly yes` and `appendfsync always` in Redis, or accept losses with `store.redis.accept_buffered`.";
    STORE_SHARDS = "store.shards", Fault,
        "which shard, or which number, and what would be right", "The shards of the Redis store are not those it was made with: another number of them, or servers in another order.", "Set `store.redis.shards` and the order of `store.redis.urls` as they were when the store was made; bring an emptied server's data back. Another number of shards needs another `store.redis.namespace`.";
    STORE_LOCKED = "store.locked", Fault,
        "the directory", "Another process has the store open.", "End the other process, or use another directory.";
    STORE_FILE = "store.file", Fault,
        "the file, and why", "The process cannot open or write a file of the store.", "Check the disk and that the process's user may write there.";
    STORE_FORMAT = "store.format", Fault,
        "the format found, and the one this version reads", "Another version of Toolplane wrote the store.", "Run a version that reads the format that is named.";
    STORE_STORAGE = "store.storage", Fault,
        "why", "The embedded store cannot use its table files.", "Check the disk, then run `toolplane store check`.";
    REDIS_AWAY = "store.redis.away", Fault,
        "why", "Redis stopped answering.", "Check the Redis server and the network to it; requests work again when it answers.";
    REDIS_BUFFERED = "store.redis.buffered", Fault,
        "that Redis may lose what it has answered", "Redis was set to answer before its data is durable.", "Set `appendonly yes` and `appendfsync always` in Redis, or accept losses with `store.redis.accept_buffered`.";
    REDIS_EVICTS = "store.redis.evicts", Fault,
        "the policy", "Redis would remove records when its memory is full.", "Set `maxmemory-policy noeviction` in Redis.";
    REDIS_EMPTIED = "store.redis.emptied", Fault,
        "that what was kept in Redis is gone", "The records are no longer in Redis: the server was emptied, or another server answers at its address.", "Bring the records back, or start the processes again to begin without them.";
    REDIS_INVALID_OPTION = "store.redis.invalid_option", Fault,
        "what is wrong, and what would be right", "A setting of the Redis store is wrong.", "Correct the setting under `store.redis`.";
    REDIS_FILE = "store.redis.file", Fault,
        "the file, and why", "The process cannot read a certificate or key file of the Redis store.", "Check the file that is named.";
    REDIS_UNREACHABLE = "store.redis.unreachable", Fault,
        "what was tried, and why it failed", "The process could not reach Redis when it started.", "Check `store.redis.url` (or `urls`), and that the server runs.";
    REDIS_DENIED = "store.redis.denied", Fault,
        "why", "Redis refuses the user, or does not let the user run a command.", "Check the password; give the user all commands on the keys and the channels that the message names: each shard of the store has its own.";
    REDIS_TOO_OLD = "store.redis.too_old", Fault,
        "the version found and needed", "The Redis server is older than version 7.0.", "Use Redis 7.0 or newer.";
    REDIS_NOT_PRIMARY = "store.redis.not_primary", Fault,
        "that the server is a replica", "The Redis server at the address is a replica.", "Set `store.redis.url` to the primary, or use sentinels or a cluster (`store.redis.mode`).";
    SANDBOX_SPEC_INVALID = "sandbox_spec_invalid", Fault,
        "the rule", "The description of a run breaks a rule of the sandbox.", "The tool's author corrects the part of the declaration that is named; otherwise please report it as a bug.";
    SANDBOX_WORKSPACE_FULL = "workspace_full", Fault,
        "what it holds, and what it may hold", "The workspace is full.", "Remove files from the workspace, or raise `executor.quota`.";
    SANDBOX_MISSING = "sandbox_unavailable", Fault,
        "what is missing", "The machine lacks something the sandbox needs.", "Install what the message names (bubblewrap, user namespaces).";
    SANDBOX_SETUP = "sandbox_setup_failed", Fault,
        "the step and the error", "The worker could not set up the sandbox of a run.", "Correct what the message names on the worker's machine.";
    SANDBOX_GONE = "sandbox_lost", Fault,
        "what is known of the loss", "The sandbox was killed from outside while the tool ran.", "Look in the system log of the machine for what killed it, e.g. a lack of memory.";
    EXECUTOR_LOCKED = "EXECUTOR_LOCKED", Fault,
        "the directory", "Another worker uses the same data directory.", "End the other worker, or give each worker its own `server.data_dir`.";
    EXECUTOR_FILE = "EXECUTOR_FILE", Fault,
        "the file, and why", "The worker cannot use a file or directory of its own.", "Check the path that is named and that the worker's user may write there.";
    EXECUTOR_WORKER_ID = "EXECUTOR_WORKER_ID", Fault,
        "the file, its text and the rule", "The file that keeps the worker's id holds text that is not a valid id.", "Correct the file, or remove it: the worker then makes a new id.";
    EXECUTOR_OPTION = "EXECUTOR_OPTION", Fault,
        "`<key>` <rule>", "A setting of the worker is wrong.", "Correct the key that is named.";
    EXECUTOR_SESSION = "EXECUTOR_SESSION", Fault,
        "why", "The worker cannot start one of its own threads; the system may have run out of threads or memory.", "Check the limits of processes and memory for the worker's user, then start the worker again.";
    SURFACE_STORED_TOOL = "SURFACE_STORED_TOOL", Fault,
        "the tool, and why", "This version does not accept a stored declaration.", "Run the version that wrote it, or register the tool again (`toolplane tools register`).";
    SURFACE_NOT_MOVED = "SURFACE_NOT_MOVED", Fault,
        "the directory, and why", "The tools and surfaces of an embedded store cannot be moved to Redis.", "Follow the message: decide which of the two stores counts, and move the other one away.";
    SURFACE_DECLARATIONS = "SURFACE_DECLARATIONS", Fault,
        "the files and their faults", "Files of `surface.declarations` cannot be read, hold declarations that break rules, or declare one tool differently.", "Correct the fields that are named.";
    SURFACE_PROVIDERS = "SURFACE_PROVIDERS", Fault,
        "the place of the entry and what is wrong", "An entry of `[[providers]]` in the configuration cannot be used.", "Correct the field that is named.";
    SURFACE_SYNONYMS = "SURFACE_SYNONYMS", Fault,
        "the place of the entry and what is wrong", "An entry of `surface.synonyms` in the configuration cannot be used.", "Correct the field that is named.";
    SURFACE_MEANING = "SURFACE_MEANING", Fault,
        "the key, the file, and what is wrong", "The embedding model or endpoint of `[surface.search.meaning]` cannot be used.", "Correct the key or the file that is named; models in a folder need a build with the feature `embedding-model`.";
    SURFACE_RERANKER = "SURFACE_RERANKER", Fault,
        "the file, and what is wrong", "The service of `[surface.search.reranker]` cannot be used.", "Correct the address or the file that is named.";
    GATEWAY_KEY = "gateway.key", Fault,
        "the file, and why", "The gateway has no key to seal what clients of MCP keep: sessions, tasks, questions.", "Correct the file that is named: keys of at least 16 characters, one a line.";
    APPROVAL_NOT_FOUND = "approval.not_found", Fault,
        "the id", "The approval request does not exist.", "Check the id (`toolplane approvals ls`).";
    APPROVAL_NOT_OFFERED = "approval.not_offered", Fault,
        "the answer, and those offered", "The approval request does not offer this answer.", "Give one of the answers it offers (`toolplane approvals show`).";
    APPROVAL_ANSWERED = "approval.settled", Fault,
        "its state, and the decision", "The approval request was answered, expired or withdrawn before.", "Read the answer (`toolplane approvals show`).";
    APPROVAL_BY_SELF = "approval.self_approval", Fault,
        "that callers cannot answer for their own calls", "The caller of a call tried to answer the approval request about it.", "Another person answers it, or the operator sets `permission.allow_self_approval`.";
    APPROVAL_TOO_MANY = "approval.too_many", Fault,
        "how many", "The tenant has as many open approval requests as `permission.max_pending_per_tenant` allows.", "Answer some of them (`toolplane approvals`).";
    APPROVAL_UNREADABLE = "approval.unreadable", Fault,
        "why", "This version cannot read a stored approval request.", "If a newer version wrote it, run that version; otherwise run `toolplane store check`.";
    REQUEST_REUSED = "request_id.reused", Fault,
        "the id", "An earlier request used the same request id with other content.", "Send a new request id.";
    RULES_REFUSED = "rules.refused", Fault,
        "each place and its rule", "Configured or stored rules are wrong, so none of the new ones is in force.", "Correct the places that are named, then run `toolplane rules reload`.";
    RULES_INVALID = "rules.invalid", Fault,
        "the fields", "A rule that was to be added is wrong.", "Correct the fields that are named; `toolplane rules check` checks a file of rules.";
    RULES_FOREIGN_TENANT = "rules.foreign_tenant", Fault,
        "the tenant", "A rule names a tenant other than its author's.", "Leave the tenant out of the rule.";
    RULES_EXISTS = "rules.exists", Fault,
        "the id", "A stored rule has this name, in force or not.", "Give the new rule another name.";
    RULES_NOT_FOUND = "rules.not_found", Fault,
        "the id", "The tenant has no rule of this name.", "Check the name (`toolplane rules ls`).";
    RULES_CONFIGURED = "rules.configured", Fault,
        "the id, and where it is configured", "The rule comes from the configuration or a rules file, so it cannot be revoked by request.", "Remove it from the file that is named, then run `toolplane rules reload`.";
    RULES_TOO_MANY = "rules.too_many", Fault,
        "how many", "The tenant has as many stored rules as `permission.max_rules_per_tenant` allows.", "Revoke some of them (`toolplane rules revoke`).";
    RULES_NOT_USABLE = "rules.unusable", Fault,
        "the faults", "The stored rules break rules, so the service applies none of them.", "Correct or revoke the rules that are named (`toolplane rules revoke`).";
    RULES_UNREADABLE = "rules.unreadable", Fault,
        "why", "This version cannot read a stored rule.", "If a newer version wrote it, run that version; otherwise run `toolplane store check`.";
    RULES_INTERRUPTED = "rules.interrupted", Fault,
        "why", "The process shut down while it read the rules.", "Nothing to do: the process reads the rules when it starts again.";
}
