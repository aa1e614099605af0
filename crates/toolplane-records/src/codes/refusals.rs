//! Codes of requests that were refused before anything was accepted: `ErrorInfo.reason`.

use super::code::Kind::Refusal;
use super::code::Retry::*;
use super::code::Status::*;
use super::code::{Code, CodeEntry, codes};

codes! {
    /// Codes of refusals.
    REFUSALS:
    INVALID_ARGUMENT = "INVALID_ARGUMENT", Refusal(InvalidArgument, AfterChange),
        "`<field>` <rule>; every field is in `BadRequest`",
        "Fields of the request break a rule.",
        "Change the fields that are named.";
    NOT_FOUND = "NOT_FOUND", Refusal(NotFound, Never),
        "<kind> `<id>` does not exist",
        "The thing with this id does not exist, or it belongs to another tenant.",
        "Check the id, the tenant of your credential, and the address of the cluster (`--endpoint`).";
    TOKEN_MISSING = "TOKEN_MISSING", Refusal(Unauthenticated, AfterChange),
        "a credential is needed",
        "The request has no credential, and this server requires one.",
        "Give a token or API key (`authorization: Bearer <token or key>`, or `x-api-key: <key>`; `--token-file` on the command line, `peers.token_file` in the configuration).";
    TOKEN_UNKNOWN = "TOKEN_UNKNOWN", Refusal(Unauthenticated, AfterChange),
        "the credential is not known here",
        "The server does not know the token, key or certificate of the request.",
        "Check which server the credential is for, or have the operator make a new key (`toolplane keys new`).";
    TOKEN_EXPIRED = "TOKEN_EXPIRED", Refusal(Unauthenticated, AfterChange),
        "the token has expired",
        "The JSON Web Token has expired.",
        "Get a new token from its issuer.";
    TOKEN_REFUSED = "TOKEN_REFUSED", Refusal(Unauthenticated, AfterChange),
        "the token is refused: <why>",
        "The server does not accept the JSON Web Token: its issuer, audience, signature or a claim is wrong.",
        "Get a token from an issuer that the operator configured (`server.auth.jwt`).";
    KEY_DISABLED = "KEY_DISABLED", Refusal(Unauthenticated, AfterChange),
        "the API key was disabled",
        "An operator disabled the API key.",
        "Have the operator make a new key (`toolplane keys new`).";
    KEY_EXPIRED = "KEY_EXPIRED", Refusal(Unauthenticated, AfterChange),
        "the API key has expired",
        "The API key has expired.",
        "Have the operator make a new key (`toolplane keys new`).";
    CREDENTIAL_AMBIGUOUS = "CREDENTIAL_AMBIGUOUS", Refusal(Unauthenticated, AfterChange),
        "which credential the request has twice",
        "The request has two credentials of the same kind.",
        "Send one credential of each kind.";
    CREDENTIALS_DIFFER = "CREDENTIALS_DIFFER", Refusal(Unauthenticated, AfterChange),
        "the credentials belong to different callers",
        "The request has credentials of two different callers.",
        "Send the credentials of one caller.";
    ROLE_REQUIRED = "ROLE_REQUIRED", Refusal(PermissionDenied, Never),
        "this needs the role <roles>",
        "The caller's credential has no role that may use this method.",
        "Use a key with one of the roles that are named; the operator makes one (`toolplane keys new`).";
    METHOD_CLOSED = "METHOD_CLOSED", Refusal(PermissionDenied, Never),
        "no role may use this method",
        "This server lets no role use the method.",
        "Use another method, or a server of the version that has it.";
    NOT_A_PEER = "NOT_A_PEER", Refusal(PermissionDenied, Never),
        "only a process of the cluster may speak for another caller",
        "The request speaks for another caller, but its credential does not have the role `peer`.",
        "Send no metadata `toolplane-tenant`, `-actor`, `-caller` or `-roles`; the operator gives processes of the cluster a key with the role `peer` (`peers.token_file`).";
    FOREIGN_TENANT = "FOREIGN_TENANT", Refusal(PermissionDenied, Never),
        "`<tenant>` is not your tenant",
        "The request names a tenant that is not the caller's.",
        "Leave the tenant out, or use a key of that tenant.";
    SURFACE_SCOPE = "SURFACE_SCOPE", Refusal(PermissionDenied, Never),
        "this surface is for another <session, task, ...> than the request names, or the request names none",
        "A search, load or unload in a surface that is for one session, task, turn, request to a model, workspace, agent or role (`scope` and `runtime_refs`) belongs to another one or does not say to which.",
        "Name what the surface is for in `runtime_refs` of the same request (`--ref` of the same command), or use a surface of your own. Where the message says so, it is said by the credential alone: use one of that agent, or with that role.";
    PARENT_GONE = "PARENT_GONE", Refusal(FailedPrecondition, AfterChange),
        "the surface `<id>` is within the surface `<id>`, which is not there any more",
        "A surface that was made within another one (`parent_surface_id`) is read, searched, loaded into or followed, and the other one was deleted since, or nobody used it for long. Nobody can say any more what it may show.",
        "Make a surface within one that is there (`toolplane surface create --parent`), and delete this one (`toolplane surface rm`).";
    HOST_NOT_ALLOWED = "HOST_NOT_ALLOWED", Refusal(PermissionDenied, Never),
        "the host `<host>` is not one of this listener",
        "A request over HTTP names a host that is not the gateway's: a page tries to reach it under another name, or the gateway stands behind a name it does not know.",
        "Use the address it listens on, or name the host in `gateway.public_url` or `gateway.allowed_hosts`.";
    ORIGIN_NOT_ALLOWED = "ORIGIN_NOT_ALLOWED", Refusal(PermissionDenied, Never),
        "pages of this origin may not ask",
        "A browser sends a request over HTTP for a page of another origin.",
        "Name the origin of the page in `gateway.allowed_origins`, if it is yours.";
    HTTP_METHOD = "HTTP_METHOD", Refusal(FailedPrecondition, AfterChange),
        "`<path>` is asked with <methods>",
        "A request over HTTP has another method than its path takes. Calls of the API are `POST`.",
        "Use one of the methods that are named; they are in the header `allow`, too.";
    CONTENT_TYPE = "CONTENT_TYPE", Refusal(FailedPrecondition, AfterChange),
        "the body must be `application/json` in UTF-8",
        "The body of a request over HTTP says that it is something else than JSON, or JSON that is not in UTF-8.",
        "Send JSON with `content-type: application/json`, or without that header.";
    CONTENT_ENCODING = "CONTENT_ENCODING", Refusal(FailedPrecondition, AfterChange),
        "the body is coded as `<coding>`, and is taken only as it is",
        "The body of a request over HTTP is compressed, or coded in another way (`content-encoding`).",
        "Send the body as it is, without `content-encoding`; the header `accept-encoding` of the answer says so, too.";
    BODY_INCOMPLETE = "BODY_INCOMPLETE", Refusal(FailedPrecondition, AfterChange),
        "how the body ended",
        "The body of a request over HTTP broke off, or took longer than a minute to arrive; nothing was done.",
        "Send the request again, whole.";
    RANGE = "RANGE", Refusal(FailedPrecondition, AfterChange),
        "the range lies beyond the <n> bytes there are",
        "A request asks for bytes (`Range`) behind the last one there is.",
        "Ask for a range that begins before the size in `content-range`.";
    FOREIGN_WORKER = "FOREIGN_WORKER", Refusal(PermissionDenied, Never),
        "the worker `<id>` is connected under another credential",
        "A worker with this id is connected under another credential.",
        "Start the worker with the credential it had, or give each worker its own `executor.worker_id`.";
    TAINTS_STAY = "TAINTS_STAY", Refusal(PermissionDenied, Never),
        "what taints a session is not cleared here; it goes with time",
        "Somebody tried to clear what taints a session, and `scheduler.taints.may_be_cleared` is false.",
        "Begin a new session, or wait for `scheduler.taints.keep_days`; the operator can let sessions be cleared.";
    NOT_A_READER = "NOT_A_READER", Refusal(PermissionDenied, Never),
        "the original of `<id>` is for others to read",
        "The unmasked original of the call is kept, if at all, for readers whom `scheduler.originals` names, and the caller is none of them.",
        "Use the cleaned result (`toolplane get result`). Who decides about the policy may add a reader to `scheduler.originals.keep`.";
    ORIGINAL_SEALED = "ORIGINAL_SEALED", Refusal(FailedPrecondition, AfterChange),
        "the original of `<id>` cannot be opened: <why>",
        "The original is kept, and the key it was sealed with is in none of the files of `scheduler.originals.key_files`, or its bytes are not what was sealed.",
        "The operator puts the key back into one of the files; later keys stand before it.";
    SELF_APPROVAL = "SELF_APPROVAL", Refusal(PermissionDenied, Never),
        "the caller of a call cannot answer for it",
        "The caller of a call tried to answer the approval request about it.",
        "Another person answers it (`toolplane approvals`), or the operator sets `permission.allow_self_approval`.";
    REQUEST_ID_REUSED = "REQUEST_ID_REUSED", Refusal(AlreadyExists, Never),
        "the request id was used for another request",
        "An earlier request used the same request id with other content.",
        "Send a new request id with each new request.";
    IDEMPOTENCY_MISMATCH = "IDEMPOTENCY_MISMATCH", Refusal(AlreadyExists, Never),
        "`<id>` was accepted for a different request; use another key or id",
        "An earlier call used the idempotency key or invocation id with other content.",
        "Use a new key for a new call; to repeat a call, send exactly the same content.";
    RULE_EXISTS = "RULE_EXISTS", Refusal(AlreadyExists, Never),
        "there is another rule `<id>`, in force or not",
        "A stored rule has this name, in force or not; a revoked rule keeps its name.",
        "Give the new rule another name.";
    INVOCATION_STATE = "INVOCATION_STATE", Refusal(FailedPrecondition, AfterChange),
        "what the state of the call does not allow",
        "The state of the call does not allow the request.",
        "Read the call (`toolplane get`): its state says what it waits for, or how it ended.";
    HELD = "HELD", Refusal(FailedPrecondition, AfterChange),
        "a hold is on `<id>`",
        "A legal hold keeps the call, its session or everything of the tenant: nothing of it is deleted.",
        "Look at the holds (`toolplane hold list`). Who may decide so clears the hold (`toolplane hold clear`), then delete again.";
    IDEMPOTENCY_KEY_EXPIRED = "IDEMPOTENCY_KEY_EXPIRED", Refusal(FailedPrecondition, AfterChange),
        "the idempotency key is too old",
        "The key is older than `scheduler.idempotency_window_seconds`, so the scheduler cannot tell whether the call ran.",
        "Look whether the call's effect has happened, then use a new key.";
    APPROVAL_SETTLED = "APPROVAL_SETTLED", Refusal(FailedPrecondition, AfterChange),
        "approval `<id>` is <state> already by decision `<id>`",
        "Another person answered the approval request, or it expired or was withdrawn.",
        "Read the answer (`toolplane approvals show`).";
    RULE_CONFIGURED = "RULE_CONFIGURED", Refusal(FailedPrecondition, AfterChange),
        "rule `<id>` is configured (<where>); remove it there",
        "The rule comes from the configuration or a rules file, so it cannot be revoked by request.",
        "Remove it from the file that is named, then run `toolplane rules reload`.";
    SYNONYMS_CONFIGURED = "SYNONYMS_CONFIGURED", Refusal(FailedPrecondition, AfterChange),
        "`<words>` are synonyms of the configuration; take them out there",
        "The group of synonyms comes from `surface.synonyms` of the configuration, so it cannot be changed by request.",
        "Change `surface.synonyms` on every surface process and start it anew; `toolplane synonyms list` tells what comes from where.";
    LEASE_FENCED = "LEASE_FENCED", Refusal(Aborted, AfterReread),
        "the lease is not the current one",
        "A worker reported under a lease that has ended; another worker may have the call.",
        "The worker stops the execution and drops the call; its user does nothing.";
    VERSION_LOST = "VERSION_LOST", Refusal(Aborted, AfterReread),
        "what changed meanwhile",
        "Another request changed the same thing first.",
        "Read the current state and decide again.";
    DISK = "DISK", Refusal(ResourceExhausted, Later),
        "how much room is free where, and how much is kept free",
        "The disk of a store is almost full, so the store takes only what ends calls or frees room.",
        "The operator frees room at the path that is named; then try again.";
    CHANGE_TOO_LARGE = "CHANGE_TOO_LARGE", Refusal(ResourceExhausted, AfterChange),
        "how large the change is, and how large one may be",
        "The request would store more at once than the store takes.",
        "Send less in one request.";
    TENANT_QUEUE_FULL = "TENANT_QUEUE_FULL", Refusal(ResourceExhausted, Later),
        "<n> calls of tenant `<tenant>` wait already; nothing was accepted",
        "The tenant has as many queued calls as `scheduler.max_queued_per_tenant` allows.",
        "Try again after the time in `RetryInfo`, or the operator raises `scheduler.max_queued_per_tenant`.";
    RATE = "RATE", Refusal(ResourceExhausted, Later),
        "calls of <subject> come faster than they are accepted; nothing was accepted",
        "The tenant or the tool receives more calls a second than `scheduler.rate_per_tenant` or `scheduler.tools` allows.",
        "Send calls more slowly: try again after the time in `RetryInfo`.";
    TOO_MANY = "TOO_MANY", Refusal(ResourceExhausted, Later),
        "how many there are, and how many there may be",
        "The tenant has as many open approval requests (`permission.max_pending_per_tenant`), stored rules (`permission.max_rules_per_tenant`) or added synonyms as allowed.",
        "Answer approval requests (`toolplane approvals`), revoke rules (`toolplane rules revoke`) or remove synonyms (`toolplane synonyms rm`), then try again.";
    TOO_MANY_WATCHERS = "TOO_MANY_WATCHERS", Refusal(ResourceExhausted, Later),
        "<n> streams follow calls already",
        "As many streams follow calls as `scheduler.max_watchers` or `scheduler.max_watchers_per_tenant` allows.",
        "Close streams, or submit the call without following it and read its result later (`toolplane get`).";
    TOO_MANY_CONNECTIONS = "TOO_MANY_CONNECTIONS", Refusal(ResourceExhausted, Later),
        "the server has as many connections as it takes",
        "The server has as many connections as `server.max_connections` or `server.max_connections_per_address` allows.",
        "Close unused connections and try again later, or the operator raises the setting.";
    MESSAGE_TOO_LARGE = "MESSAGE_TOO_LARGE", Refusal(ResourceExhausted, AfterChange),
        "the message is larger than `server.max_message_bytes`",
        "The request or its answer is larger than `server.max_message_bytes`.",
        "Ask for less at a time, and send large content by reference; the operator may raise `server.max_message_bytes`.";
    STORE_UNAVAILABLE = "STORE_UNAVAILABLE", Refusal(Unavailable, Later),
        "the <service> store cannot be reached now",
        "The store of the service that is named does not answer.",
        "Try again after the time in `RetryInfo`; the operator checks the store (`store` in the configuration).";
    STORE_UNSAFE = "STORE_UNSAFE", Refusal(Unavailable, Later),
        "why the store takes nothing new",
        "The store answers but could lose what it takes, so it takes nothing new.",
        "The operator does what the message says, e.g. sets `appendfsync always` or `maxmemory-policy noeviction` in Redis; then try again.";
    PEER_UNAVAILABLE = "PEER_UNAVAILABLE", Refusal(Unavailable, Later),
        "the <service> service cannot be reached, or could not do its part (<its reason>); nothing was accepted",
        "The scheduler needs another service of the cluster, and that service did not answer or failed.",
        "Try again after the time in `RetryInfo`; the operator checks that service (`toolplane status`) and `peers` in the configuration.";
    UPLOAD_TOO_LARGE = "UPLOAD_TOO_LARGE", Refusal(FailedPrecondition, AfterChange),
        "how large it may be",
        "An output is larger than `objects.max_bytes`, so it is not kept.",
        "Make the tool return less, or raise `objects.max_bytes` for schedulers and workers alike.";
    UPLOAD_INTERRUPTED = "UPLOAD_INTERRUPTED", Refusal(Unavailable, Later),
        "why",
        "An upload ended before it was complete; nothing of it is kept.",
        "Nothing to do: the worker uploads again. If it repeats, check the network between worker and scheduler.";
    SPOOL_FULL = "SPOOL_FULL", Refusal(Unavailable, Later),
        "how much may wait",
        "The object store is away, and as many outputs wait for it on the scheduler's disk as may.",
        "Bring the object store back; what waits is moved then. To bridge longer outages, raise `objects.spool_bytes`.";
    LINK_UNSUPPORTED = "LINK_UNSUPPORTED", Refusal(FailedPrecondition, AfterChange),
        "why",
        "There can be no link to the payload.",
        "Read it through the cluster (`toolplane fetch`); for links, keep payloads in a bucket (`objects.url`).";
    OBJECTS_UNAVAILABLE = "OBJECTS_UNAVAILABLE", Refusal(Unavailable, Later),
        "the object store does not answer",
        "The object store that holds large payloads does not answer.",
        "Try again after the time in `RetryInfo`; the operator checks the object store (`objects` in the configuration).";
    NO_CONNECTION = "NO_CONNECTION", Refusal(Unavailable, Later),
        "no connection: <why>",
        "No server accepted the connection at the address.",
        "Check that the server runs and that the address is right (`--endpoint`).";
    TLS_FAILED = "TLS_FAILED", Refusal(Unavailable, Later),
        "what of the certificate or the handshake is wrong",
        "The client reached the server, but the TLS handshake failed.",
        "Check the certificate authority (`--ca-file`), the host name (`--server-name`), and whether the server uses TLS at all.";
    DRAINING = "DRAINING", Refusal(Unavailable, Later),
        "this server is stopping",
        "The server is told to stop: it accepts no new requests and waits for no call any longer. Calls go on without it.",
        "Try again: another process, or the restarted one, answers. Ask for a call that was accepted by its id, and go on with a stream where it ended.";
    STOPPING = "STOPPING", Refusal(Unavailable, Later),
        "this process is stopping",
        "The server shut down while it worked on the request.",
        "Send the request again with the same id or key: if it was accepted, the answer is the same.";
    CONNECTION_ENDS = "CONNECTION_ENDS", Refusal(Unavailable, Later),
        "this connection ends: connect again and resume",
        "The connection reached `server.max_connection_age_ms`; the server closes old connections to spread load.",
        "Connect again and resume the stream after the last item it gave.";
    NOT_ACKNOWLEDGED = "NOT_ACKNOWLEDGED", Refusal(Unavailable, Later),
        "a change was not acknowledged in time",
        "A scheduler that follows the tools of a surface process did not confirm a change in time, so the process closed its stream.",
        "The scheduler connects again on its own; if this repeats, the operator checks that scheduler's load and network.";
    CATALOG_BEHIND = "CATALOG_BEHIND", Refusal(Unavailable, Later),
        "this process does not know the newest tools and surfaces; ask another one",
        "A surface process cannot read the changes of other processes: its store does not answer, or a newer version wrote a tool.",
        "Send the request to another surface process; the operator reads this process's log and brings all processes to the same version.";
    UNANSWERED = "UNANSWERED", Refusal(FailedPrecondition, AfterChange),
        "the same question was put too often without an answer",
        "Toolplane asked the same question several times, and no person answered before it expired.",
        "Make sure that a person answers (`toolplane approvals`), or add a rule that decides (`toolplane rules add`).";
    STORE_DAMAGED = "STORE_DAMAGED", Refusal(DataLoss, Never),
        "what is damaged",
        "A stored record is not as it was written, so the service refuses to use it.",
        "The operator runs `toolplane store check`, then `toolplane store restore` or `toolplane store forget` for what is named.";
    REVIEW_OUTDATED = "REVIEW_OUTDATED", Refusal(FailedPrecondition, AfterReread),
        "`<tool>` has another definition now: <digest>",
        "The provider changed the tool after the definition was shown that the answer is about.",
        "Look at the definition as it is now (`toolplane providers review`), then answer again.";
    REVIEW_NOT_WANTED = "REVIEW_NOT_WANTED", Refusal(FailedPrecondition, AfterReread),
        "`<tool>` is <state>: there is no definition to look at",
        "The provider no longer has the tool, or defines it so that it cannot be a tool here.",
        "Read the tools of the provider again (`toolplane providers tools`).";
    REVIEW_UNREADABLE = "REVIEW_UNREADABLE", Refusal(FailedPrecondition, AfterChange),
        "what is known of `<tool>` cannot be read",
        "This version cannot read the stored record of the tool, so the tool counts as changed.",
        "Refresh the provider, which makes the record anew (`toolplane providers refresh`), then look at the tool.";
    STORE_FAILED = "STORE_FAILED", Refusal(Internal, Never),
        "internal error",
        "The store failed, and the same request would fail again.",
        "The operator reads the log of the service, then runs `toolplane store check`.";
    RECORD_UNREADABLE = "RECORD_UNREADABLE", Refusal(Internal, Never),
        "internal error",
        "This version cannot read a stored record.",
        "The operator finds the record in the log; if a newer version wrote it, run that version.";
    ANSWER_UNREADABLE = "ANSWER_UNREADABLE", Refusal(Internal, Never),
        "internal error",
        "The gateway cannot read what another process of the cluster answered: they are of versions that do not fit together.",
        "The operator brings all processes to the same version, and reads the log of the gateway.";
    RULES_UNUSABLE = "RULES_UNUSABLE", Refusal(Internal, Never),
        "internal error",
        "The stored rules contradict the rules for rules, so none of them can be applied.",
        "The operator corrects or revokes the rules that the log names (`toolplane rules revoke`).";
    INDEX_FULL = "INDEX_FULL", Refusal(Internal, Never),
        "internal error",
        "A bounded index of the scheduler is full, which should not happen.",
        "This is a bug in Toolplane: please report it with the log.";
    PATTERN_MALFORMED = "PATTERN_MALFORMED", Refusal(Internal, Never),
        "internal error",
        "A pattern in `scheduler.tools` cannot be read.",
        "The operator corrects `scheduler.tools` in the configuration.";
    SCHEDULER_INTERNAL = "SCHEDULER_INTERNAL", Refusal(Internal, Never),
        "internal error",
        "The scheduler failed.",
        "This is a bug in Toolplane: please report it with the scheduler's log.";
    CHANGE_FAILED = "CHANGE_FAILED", Refusal(Internal, Never),
        "internal error",
        "The task that applies a change to tools or surfaces failed.",
        "This is a bug in Toolplane: please report it with the log of the surface service.";
    CHECK_FAILED = "CHECK_FAILED", Refusal(Internal, Never),
        "internal error",
        "The task that checks declarations failed.",
        "This is a bug in Toolplane: please report it with the log of the surface service.";
    PANIC = "PANIC", Refusal(Internal, Never),
        "internal error",
        "A request handler of the server panicked.",
        "This is a bug in Toolplane: please report it with the log.";
}
