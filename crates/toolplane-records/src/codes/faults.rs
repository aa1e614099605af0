//! Codes in logs, of processes that do not start, and of steps behind what callers see.

use super::Kind::Fault;
use super::{Code, CodeEntry, codes};

codes! {
    /// Codes of faults.
    FAULTS:
    CONFIG_UNREADABLE = "CONFIG_UNREADABLE", Fault,
        "the file, and why", "The configuration file cannot be read.", "Check the path and who may read it.";
    CONFIG_FILE_INVALID = "CONFIG_FILE_INVALID", Fault,
        "the file, the line and what is wrong", "The file is no configuration.", "Correct the line that is named.";
    CONFIG_ENVIRONMENT_INVALID = "CONFIG_ENVIRONMENT_INVALID", Fault,
        "the variable and the rule", "A variable `TOOLPLANE__...` does not fit the configuration.", "Correct or remove the variable.";
    CONFIG_VALUE_INVALID = "CONFIG_VALUE_INVALID", Fault,
        "`<key>`: <rule>", "A value of the configuration breaks a rule.", "Correct the key that is named.";
    SERVER_BIND = "SERVER_BIND", Fault,
        "the address, and why", "The address cannot be listened on.", "Another process may have it; choose another `server.listen`.";
    SERVER_EXPOSED = "SERVER_EXPOSED", Fault,
        "the address", "The server would be open to others without asking who calls.", "Configure `server.auth`, or listen on loopback.";
    SERVER_FILE = "SERVER_FILE", Fault,
        "the key, the file and why", "A certificate, key or token file cannot be used.", "Check the file that is named.";
    SERVER_DESCRIPTORS = "SERVER_DESCRIPTORS", Fault,
        "how many there are, and how many are needed", "The process may open too few files for its connections.", "Raise `ulimit -n`, or lower `server.max_connections`.";
    SERVER_TRANSPORT = "SERVER_TRANSPORT", Fault,
        "what failed", "The transport could not be set up.", "Check addresses and certificates.";
    TELEMETRY_EXPORTER = "TELEMETRY_EXPORTER", Fault,
        "why", "The exporter of traces cannot be set up.", "Check `telemetry.otlp_endpoint`.";
    TELEMETRY_FILTER = "TELEMETRY_FILTER", Fault,
        "why", "The filter of the log is none.", "Correct `RUST_LOG` or `telemetry.log_filter`.";
    TELEMETRY_ALREADY_SET = "TELEMETRY_ALREADY_SET", Fault,
        "that it is set", "Telemetry was set up twice in one process.", "A fault of whoever embeds Toolplane.";
    HOOKS_CONFIG_INVALID = "HOOKS_CONFIG_INVALID", Fault,
        "`hooks[<n>].<key>`: <rule>", "A hook is configured in a way that cannot be.", "Correct the key that is named.";
    HOOKS_NO_SANDBOX = "HOOKS_NO_SANDBOX", Fault,
        "the hook, and what is missing", "A hook is a program, and this machine cannot run it in a sandbox.", "Install what is named, or make the hook a service.";
    HOOKS_SERVICE_INVALID = "HOOKS_SERVICE_INVALID", Fault,
        "the hook, and why", "The service of a hook cannot be met as configured.", "Check its address, token and certificate files.";
    HOOK_TIMEOUT = "hooks.timeout", Fault,
        "after how long", "A hook did not answer in time; that counts as a refusal.", "Make it faster, or raise its `timeout_ms`.";
    HOOK_EXIT_CODE = "hooks.exit_code", Fault,
        "the exit code, and what it said", "A hook ended with a code that is neither an answer nor a refusal.", "Run it by hand with the input from the record.";
    HOOK_SIGNAL = "hooks.signal", Fault,
        "the signal", "A hook was ended by a signal; often it used too much memory.", "Raise its `memory_bytes`, or correct it.";
    HOOK_ANSWER_TOO_LARGE = "hooks.answer_too_large", Fault,
        "how large an answer may be", "A hook said more than is read.", "Let it say less.";
    HOOK_BAD_ANSWER = "hooks.bad_answer", Fault,
        "what cannot be read", "A hook's answer is not one of this protocol.", "Correct the hook.";
    HOOK_NOT_RUN = "hooks.not_run", Fault,
        "why", "A hook could not be started.", "Check its program and the sandbox.";
    HOOK_STATUS = "hooks.status", Fault,
        "the gRPC code", "The service of a hook answered with an error.", "Its own log says more.";
    JSON_TOO_LARGE = "JSON_TOO_LARGE", Fault,
        "how large it is, and may be", "A JSON text is larger than allowed.", "Send less; large content goes by reference.";
    JSON_NOT_UTF8 = "JSON_NOT_UTF8", Fault,
        "at which byte", "A JSON text is not UTF-8.", "Encode it as UTF-8.";
    JSON_TOO_DEEP = "JSON_TOO_DEEP", Fault,
        "how deep it may be", "A JSON text is nested too deeply.", "Flatten it.";
    JSON_TOO_MANY_VALUES = "JSON_TOO_MANY_VALUES", Fault,
        "how many there may be", "A JSON text holds too many values.", "Send less.";
    JSON_DUPLICATE_KEY = "JSON_DUPLICATE_KEY", Fault,
        "the key", "An object has one key twice, which programs read differently.", "Send each key once.";
    JSON_SYNTAX = "JSON_SYNTAX", Fault,
        "where, and what was expected", "The text is not JSON.", "Correct it.";
    PAYLOAD_NOT_FOUND = "PAYLOAD_NOT_FOUND", Fault,
        "the address", "There is no payload at the address.", "Check the address; it may have been removed.";
    PAYLOAD_EXPIRED = "PAYLOAD_EXPIRED", Fault,
        "the address", "The payload was kept as long as it should be.", "Make the call again if it is still needed.";
    PAYLOAD_ADDRESS_INVALID = "PAYLOAD_ADDRESS_INVALID", Fault,
        "the address", "The text is no address of a payload.", "Use the address of the result.";
    PAYLOAD_OFFSET_OUT_OF_RANGE = "PAYLOAD_OFFSET_OUT_OF_RANGE", Fault,
        "the offset and the size", "The offset is behind the end of the payload.", "Read from an offset within its size.";
    PAYLOAD_TOO_LARGE = "PAYLOAD_TOO_LARGE", Fault,
        "how large it may be", "A payload is larger than may be kept.", "Keep less.";
    PAYLOAD_DAMAGED = "PAYLOAD_DAMAGED", Fault,
        "the address and the digest found", "A payload is not as it was written; no part of it is given.", "Restore it, or make the call again.";
    PAYLOAD_UPLOAD_INTERRUPTED = "PAYLOAD_UPLOAD_INTERRUPTED", Fault,
        "why", "An upload ended before it was whole.", "The worker tries again.";
    PAYLOAD_STORE_UNUSABLE = "PAYLOAD_STORE_UNUSABLE", Fault,
        "why", "The object store cannot be opened as configured.", "Check `results` in the configuration.";
    PAYLOAD_STORE_UNAVAILABLE = "PAYLOAD_STORE_UNAVAILABLE", Fault,
        "why", "The object store does not answer.", "Try again later; the operator looks at it.";
    STORE_OFFLINE = "store.unavailable", Fault,
        "why", "The store does not answer now.", "Try again later.";
    STORE_NOT_SAFE = "store.unsafe", Fault,
        "why", "The store answers, and what it would take might be lost.", "Put the store right.";
    STORE_OUTCOME_UNKNOWN = "store.outcome_unknown", Fault,
        "why", "Whether a change was stored is not known.", "It is found out by its name, or read again.";
    STORE_POISONED = "store.poisoned", Fault,
        "why", "A write failed, and the store takes nothing more; the process ends.", "Look at the disk, then start the process again.";
    STORE_SEQUENCE_GAP = "store.sequence_gap", Fault,
        "the stream and the sequence", "An entry would leave a gap in its stream.", "A fault of ours: please report it with the log.";
    STORE_INVALID_COMMIT = "store.invalid_commit", Fault,
        "the rule", "A change breaks a rule of the store.", "A fault of ours: please report it with the log.";
    STORE_RECORD_DAMAGED = "store.damaged", Fault,
        "the record", "A record is not as it was written.", "`toolplane store check`, then restore or forget it.";
    STORE_CORRUPT = "store.corrupt", Fault,
        "the file or page", "The store is not as it was written.", "Restore it from a backup.";
    STORE_DISK_SHORT = "store.disk_short", Fault,
        "the path, what is free and what is kept free", "The disk runs short.", "Make room at the path.";
    STORE_TOO_LARGE = "store.too_large", Fault,
        "how large it is, and may be", "A change is larger than the store takes.", "Store less at a time.";
    STORE_EMBEDDED = "store.embedded", Fault,
        "the directory, and why", "The embedded store cannot be opened.", "Follow the cause behind it.";
    STORE_PASSWORD = "store.password", Fault,
        "the file, and why", "The password of the store cannot be read.", "Check the file that is named.";
    STORE_BUFFERED = "store.buffered", Fault,
        "that it is buffered", "The store is configured to answer before anything is durable.", "Configure it to flush, or say that losing is fine.";
    STORE_LOCKED = "store.locked", Fault,
        "the directory", "Another process has the store open.", "End the other process, or use another directory.";
    STORE_FILE = "store.file", Fault,
        "the file, and why", "A file of the store cannot be opened or written.", "Check the disk and who may write there.";
    STORE_FORMAT = "store.format", Fault,
        "the version found", "The store was written by another version.", "Use that version, or a newer one.";
    STORE_STORAGE = "store.storage", Fault,
        "why", "The tables of the store failed.", "Look at the disk; `toolplane store check`.";
    REDIS_AWAY = "store.redis.away", Fault,
        "why", "Redis does not answer.", "Try again later; look at the server.";
    REDIS_BUFFERED = "store.redis.buffered", Fault,
        "what is set", "Redis answers before it has flushed.", "Set `appendfsync always`, or say that losing is fine.";
    REDIS_EVICTS = "store.redis.evicts", Fault,
        "the policy", "Redis throws records away when memory runs short.", "Set `maxmemory-policy noeviction`.";
    REDIS_EMPTIED = "store.redis.emptied", Fault,
        "which name is missing", "The server was emptied, or is another one.", "Bring the right server back, or begin anew on purpose.";
    REDIS_INVALID_OPTION = "store.redis.invalid_option", Fault,
        "the option and the rule", "An option of the store is wrong.", "Correct it.";
    REDIS_FILE = "store.redis.file", Fault,
        "the file, and why", "A certificate file of the store cannot be read.", "Check the file that is named.";
    REDIS_UNREACHABLE = "store.redis.unreachable", Fault,
        "the address, and why", "Redis cannot be reached at the start.", "Check the address and the server.";
    REDIS_DENIED = "store.redis.denied", Fault,
        "why", "Redis refuses the credential, or a command to it.", "Check the password and the user's rights.";
    REDIS_TOO_OLD = "store.redis.too_old", Fault,
        "the version found and needed", "Redis is older than needed.", "Use a newer server.";
    REDIS_NOT_PRIMARY = "store.redis.not_primary", Fault,
        "the role found", "The server is a replica.", "Use the address of the primary.";
    SANDBOX_SPEC_INVALID = "sandbox_spec_invalid", Fault,
        "the rule", "A run is described in a way that cannot be.", "A fault of ours, or of a tool's declaration.";
    SANDBOX_WORKSPACE_FULL = "workspace_full", Fault,
        "what is used up", "The workspace holds as much as it may.", "Remove files from it.";
    SANDBOX_MISSING = "sandbox_unavailable", Fault,
        "what is missing", "The machine lacks what the sandbox needs.", "Install what is named.";
    SANDBOX_SETUP = "sandbox_setup_failed", Fault,
        "the step and the error", "The sandbox of one run could not be set up.", "Look at the machine.";
    SANDBOX_GONE = "sandbox_lost", Fault,
        "that it is gone", "The sandbox went away during a run.", "Look at the machine.";
    EXECUTOR_LOCKED = "EXECUTOR_LOCKED", Fault,
        "the directory", "Another worker of this identity runs.", "End it, or give this one a directory of its own.";
    EXECUTOR_FILE = "EXECUTOR_FILE", Fault,
        "the file, and why", "A file of the worker cannot be used.", "Check the file that is named.";
    EXECUTOR_WORKER_ID = "EXECUTOR_WORKER_ID", Fault,
        "the file", "The stored id of the worker is none.", "Remove the file; the worker makes a new id.";
    EXECUTOR_OPTION = "EXECUTOR_OPTION", Fault,
        "the option and the rule", "An option of the worker is wrong.", "Correct it.";
    EXECUTOR_SESSION = "EXECUTOR_SESSION", Fault,
        "why", "The worker cannot begin its session with the scheduler.", "Check the scheduler's address and the worker's credential.";
    SURFACE_STORED_TOOL = "SURFACE_STORED_TOOL", Fault,
        "the tool, and why", "A stored declaration is not one this version takes.", "Use the version that wrote it, or register the tool anew.";
    SURFACE_NOT_MOVED = "SURFACE_NOT_MOVED", Fault,
        "the directory, and why", "The tools and surfaces of an embedded store cannot be moved to Redis.", "Do what the message says: decide which of the two stores counts, and put the other one away.";
    SURFACE_DECLARATIONS = "SURFACE_DECLARATIONS", Fault,
        "the file and the faults", "Declarations that are configured are wrong.", "Correct the fields that are named.";
    APPROVAL_NOT_FOUND = "approval.not_found", Fault,
        "the id", "There is no such question.", "Check the id.";
    APPROVAL_NOT_OFFERED = "approval.not_offered", Fault,
        "the answer, and those offered", "The answer is none of those the question offers.", "Use one that is offered.";
    APPROVAL_ANSWERED = "approval.settled", Fault,
        "how", "The question has its answer.", "Read the approval.";
    APPROVAL_BY_SELF = "approval.self_approval", Fault,
        "who", "Whoever made the call wants to answer the question about it.", "Somebody else has to answer it.";
    APPROVAL_TOO_MANY = "approval.too_many", Fault,
        "how many", "The tenant has as many open questions as it may.", "Answer some.";
    APPROVAL_UNREADABLE = "approval.unreadable", Fault,
        "why", "A stored question cannot be read.", "A newer version may have written it.";
    REQUEST_REUSED = "request_id.reused", Fault,
        "the id", "The request id was used for another request.", "Use a new one.";
    RULES_REFUSED = "rules.refused", Fault,
        "each place and its rule", "Configured or stored rules break rules of their own. None of them came into force.", "Correct the places that are named.";
    RULES_INVALID = "rules.invalid", Fault,
        "the fields", "A rule to be added is wrong.", "Correct the fields that are named.";
    RULES_FOREIGN_TENANT = "rules.foreign_tenant", Fault,
        "the tenant", "A rule is of another tenant.", "Leave the tenant out.";
    RULES_EXISTS = "rules.exists", Fault,
        "the id", "A rule of that name is stored.", "Use another name.";
    RULES_NOT_FOUND = "rules.not_found", Fault,
        "the id", "There is no such rule.", "Check the id.";
    RULES_CONFIGURED = "rules.configured", Fault,
        "the id", "The rule is configured.", "Change it where it is written.";
    RULES_TOO_MANY = "rules.too_many", Fault,
        "how many", "The tenant has as many rules as it may.", "Revoke some.";
    RULES_NOT_USABLE = "rules.unusable", Fault,
        "the faults", "The stored rules do not make a set that can be used.", "Correct or revoke those that are named.";
    RULES_UNREADABLE = "rules.unreadable", Fault,
        "why", "A stored rule cannot be read.", "A newer version may have written it.";
    RULES_INTERRUPTED = "rules.interrupted", Fault,
        "why", "Reading the rules was interrupted.", "It is tried again.";
}
