//! Codes of requests that were refused before anything was accepted: `ErrorInfo.reason`.

use super::Kind::Refusal;
use super::Retry::*;
use super::Status::*;
use super::{Code, CodeEntry, codes};

codes! {
    /// Codes of refusals.
    REFUSALS:
    INVALID_ARGUMENT = "INVALID_ARGUMENT", Refusal(InvalidArgument, AfterChange),
        "`<field>` <rule>; each field in `BadRequest`",
        "Fields of the request are wrong.",
        "Change the fields that are named.";
    NOT_FOUND = "NOT_FOUND", Refusal(NotFound, Never),
        "<kind> `<id>` does not exist",
        "There is no such thing, or it belongs to another tenant.",
        "Check the id, and that you ask the cluster that made it.";
    TOKEN_MISSING = "TOKEN_MISSING", Refusal(Unauthenticated, AfterChange),
        "a credential is needed",
        "The request shows no credential, and this server wants one.",
        "Give a token or API key (`--token-file`, or `peers.token_file` in the configuration).";
    TOKEN_UNKNOWN = "TOKEN_UNKNOWN", Refusal(Unauthenticated, AfterChange),
        "the credential is not known here",
        "No token, key or certificate of this server is the one that was shown.",
        "Check which server the credential is for; the operator makes a new one.";
    TOKEN_EXPIRED = "TOKEN_EXPIRED", Refusal(Unauthenticated, AfterChange),
        "the token is over",
        "The JSON Web Token has passed its end.",
        "Get a new token from its issuer.";
    TOKEN_REFUSED = "TOKEN_REFUSED", Refusal(Unauthenticated, AfterChange),
        "the token is refused: <why>",
        "The JSON Web Token is not one this server takes: issuer, audience, signature or a claim is wrong.",
        "Get a token of an issuer that is configured.";
    KEY_DISABLED = "KEY_DISABLED", Refusal(Unauthenticated, AfterChange),
        "the API key was taken back",
        "The operator disabled the key.",
        "Ask the operator for a new key.";
    KEY_EXPIRED = "KEY_EXPIRED", Refusal(Unauthenticated, AfterChange),
        "the API key is over",
        "The key has passed its end.",
        "Ask the operator for a new key.";
    CREDENTIAL_AMBIGUOUS = "CREDENTIAL_AMBIGUOUS", Refusal(Unauthenticated, AfterChange),
        "which credential is there twice",
        "The request shows one kind of credential more than once.",
        "Send one of them.";
    CREDENTIALS_DIFFER = "CREDENTIALS_DIFFER", Refusal(Unauthenticated, AfterChange),
        "the credentials belong to different callers",
        "The request shows credentials of two callers.",
        "Send the credentials of one caller.";
    ROLE_REQUIRED = "ROLE_REQUIRED", Refusal(PermissionDenied, Never),
        "this needs the role <roles>",
        "The caller does not have a role that may use the method.",
        "Ask the operator for a key with that role.";
    METHOD_CLOSED = "METHOD_CLOSED", Refusal(PermissionDenied, Never),
        "nobody may use this method",
        "No role may use the method on this server.",
        "Use another method.";
    NOT_A_PEER = "NOT_A_PEER", Refusal(PermissionDenied, Never),
        "only a peer may speak for others",
        "The request says that it is made for another caller, and its credential is no peer's.",
        "Send no `x-toolplane-` metadata; processes of the cluster use their peer credential.";
    FOREIGN_TENANT = "FOREIGN_TENANT", Refusal(PermissionDenied, Never),
        "`<tenant>` is not your tenant",
        "The request names a tenant that is not the caller's.",
        "Leave the tenant out, or use a key of that tenant.";
    FOREIGN_WORKER = "FOREIGN_WORKER", Refusal(PermissionDenied, Never),
        "the worker `<id>` is connected under another credential",
        "A worker of that id is connected, and another credential speaks for it.",
        "Start the worker with the credential it had, or give it an id of its own.";
    SELF_APPROVAL = "SELF_APPROVAL", Refusal(PermissionDenied, Never),
        "nobody answers questions about their own calls",
        "Whoever made the call wants to answer the question about it.",
        "Somebody else has to answer it.";
    REQUEST_ID_REUSED = "REQUEST_ID_REUSED", Refusal(AlreadyExists, Never),
        "the request id was used for another request",
        "The same request id came with another content before.",
        "Use a new request id for a new request.";
    IDEMPOTENCY_MISMATCH = "IDEMPOTENCY_MISMATCH", Refusal(AlreadyExists, Never),
        "`<id>` was accepted for a different request; use another key or id",
        "The idempotency key or invocation id was used for another call.",
        "Use a new key for a new call; repeat a call with exactly what it was.";
    RULE_EXISTS = "RULE_EXISTS", Refusal(AlreadyExists, Never),
        "there is a rule `<id>` already",
        "A rule of that name is stored.",
        "Use another name, or revoke the old rule first.";
    INVOCATION_STATE = "INVOCATION_STATE", Refusal(FailedPrecondition, AfterChange),
        "what the state of the call does not allow",
        "The call is in a state in which this cannot be done.",
        "Read the call; what it waits for, or how it ended, says what can be done.";
    IDEMPOTENCY_KEY_EXPIRED = "IDEMPOTENCY_KEY_EXPIRED", Refusal(FailedPrecondition, AfterChange),
        "the idempotency key is too old",
        "What became of the call with this key is no longer known.",
        "Look whether its effect is there, then use a new key.";
    APPROVAL_SETTLED = "APPROVAL_SETTLED", Refusal(FailedPrecondition, AfterChange),
        "the question was answered already",
        "Somebody answered the question, or its time was up.",
        "Read the approval to see the answer.";
    RULE_CONFIGURED = "RULE_CONFIGURED", Refusal(FailedPrecondition, AfterChange),
        "the rule `<id>` is configured",
        "The rule stands in the configuration or a file and cannot be revoked here.",
        "Change it where it is written.";
    LEASE_FENCED = "LEASE_FENCED", Refusal(Aborted, AfterReread),
        "the lease is not the current one",
        "A worker reports under a lease that is over; somebody else has the call.",
        "The worker drops the call.";
    VERSION_LOST = "VERSION_LOST", Refusal(Aborted, AfterReread),
        "somebody changed it meanwhile",
        "What was to be changed was changed by somebody else first.",
        "Read the current state and decide again.";
    DISK = "DISK", Refusal(ResourceExhausted, Later),
        "how much room is left where, and how much is kept free",
        "The disk of a store runs short; only what finishes or frees work is taken.",
        "The operator makes room at the path that is named.";
    CHANGE_TOO_LARGE = "CHANGE_TOO_LARGE", Refusal(ResourceExhausted, AfterChange),
        "how large the change is, and how large one may be",
        "What was to be stored at once is larger than the store takes.",
        "Send less at a time.";
    TENANT_QUEUE_FULL = "TENANT_QUEUE_FULL", Refusal(ResourceExhausted, Later),
        "<n> calls of tenant `<tenant>` wait already; nothing was accepted",
        "The tenant has as many calls waiting as it may.",
        "Try again after the time in `RetryInfo`.";
    RATE = "RATE", Refusal(ResourceExhausted, Later),
        "calls of <subject> come faster than they are accepted; nothing was accepted",
        "More calls a second than the tenant or the tool may have.",
        "Try again after the time in `RetryInfo`.";
    TOO_MANY = "TOO_MANY", Refusal(ResourceExhausted, Later),
        "how many there are, and how many there may be",
        "The tenant has as many open questions, or stored rules, as it may.",
        "Answer questions or revoke rules, then try again.";
    TOO_MANY_WATCHERS = "TOO_MANY_WATCHERS", Refusal(ResourceExhausted, Later),
        "<n> streams follow calls already",
        "As many streams follow calls as may.",
        "Submit the call and read its result, or try again later.";
    TOO_MANY_CONNECTIONS = "TOO_MANY_CONNECTIONS", Refusal(ResourceExhausted, Later),
        "the server has as many connections as it takes",
        "The server, or its share for one address, is full.",
        "Close connections that are not used, or try again later.";
    MESSAGE_TOO_LARGE = "MESSAGE_TOO_LARGE", Refusal(ResourceExhausted, AfterChange),
        "the message is larger than `server.max_message_bytes`",
        "The request or its answer is larger than a message may be.",
        "Ask for less at a time; large content goes by reference.";
    STORE_UNAVAILABLE = "STORE_UNAVAILABLE", Refusal(Unavailable, Later),
        "the <service> store cannot be reached now",
        "The store of a service does not answer.",
        "Try again after the time in `RetryInfo`; the operator looks at the store.";
    STORE_UNSAFE = "STORE_UNSAFE", Refusal(Unavailable, Later),
        "why the store takes nothing new",
        "The store answers, and what it would take might be lost.",
        "The operator puts the store right (`toolplane store check`); then try again.";
    PEER_UNAVAILABLE = "PEER_UNAVAILABLE", Refusal(Unavailable, Later),
        "the <service> service cannot be reached, or could not do its part (<its reason>); nothing was accepted",
        "Another service of the cluster is needed and away.",
        "Try again after the time in `RetryInfo`; the operator looks at that service.";
    OBJECTS_UNAVAILABLE = "OBJECTS_UNAVAILABLE", Refusal(Unavailable, Later),
        "the object store does not answer",
        "The object store that holds large payloads is away.",
        "Try again after the time in `RetryInfo`.";
    NO_CONNECTION = "NO_CONNECTION", Refusal(Unavailable, Later),
        "no connection: <why>",
        "Nothing answers at the address.",
        "Is the server running, and is the address right?";
    TLS_FAILED = "TLS_FAILED", Refusal(Unavailable, Later),
        "what of the certificate or the handshake is wrong",
        "The connection was made, and the two sides do not agree on TLS.",
        "Check the certificate authority (`--ca-file`), the host name, and whether the server speaks TLS at all.";
    DRAINING = "DRAINING", Refusal(Unavailable, Later),
        "this server is stopping",
        "The process is going to end and takes nothing new.",
        "Try again: another process, or the next one, answers.";
    STOPPING = "STOPPING", Refusal(Unavailable, Later),
        "this process is stopping",
        "The process ended while it worked on the request.",
        "Try again; whether the request was taken is found by its id or key.";
    CONNECTION_ENDS = "CONNECTION_ENDS", Refusal(Unavailable, Later),
        "the connection has been open long enough",
        "The server closes connections from time to time, so that load spreads.",
        "Connect again and go on where the stream was.";
    NOT_ACKNOWLEDGED = "NOT_ACKNOWLEDGED", Refusal(Unavailable, Later),
        "a change was not acknowledged in time",
        "Whoever follows a surface did not say in time that it has the change.",
        "Try again; the change itself is done.";
    CATALOG_BEHIND = "CATALOG_BEHIND", Refusal(Unavailable, Later),
        "this process does not know the newest tools and surfaces",
        "A surface process cannot take in what other processes change: the store is away, or a tool of a newer version is there.",
        "Ask another surface process; the log of this one says what stands in the way.";
    UNANSWERED = "UNANSWERED", Refusal(FailedPrecondition, AfterChange),
        "the same question was put too often without an answer",
        "The question about the call was put again and again, and its time was up each time.",
        "See to it that somebody answers (`toolplane approvals`), or let a rule decide.";
    STORE_DAMAGED = "STORE_DAMAGED", Refusal(DataLoss, Never),
        "what is damaged, by name",
        "Something stored is not as it was written. It stays refused.",
        "The operator runs `toolplane store check`, then restores or forgets what is named.";
    STORE_FAILED = "STORE_FAILED", Refusal(Internal, Never),
        "internal error",
        "The store failed in a way that trying again does not help.",
        "The log of the service says more.";
    RECORD_UNREADABLE = "RECORD_UNREADABLE", Refusal(Internal, Never),
        "internal error",
        "A stored record is not one this version can read.",
        "The log names the record; a newer version may have written it.";
    RULES_UNUSABLE = "RULES_UNUSABLE", Refusal(Internal, Never),
        "internal error",
        "The stored rules do not make a set that can be used.",
        "The log names the rules and what is wrong with them.";
    INDEX_FULL = "INDEX_FULL", Refusal(Internal, Never),
        "internal error",
        "A bounded index of the scheduler is full where it should not be.",
        "A fault of ours: please report it with the log.";
    PATTERN_MALFORMED = "PATTERN_MALFORMED", Refusal(Internal, Never),
        "internal error",
        "A pattern of the configured bounds of tools cannot be read.",
        "Correct the patterns of `scheduler.tools` in the configuration.";
    SCHEDULER_INTERNAL = "SCHEDULER_INTERNAL", Refusal(Internal, Never),
        "internal error",
        "A fault of the scheduler.",
        "Its log says more; please report it.";
    CHANGE_FAILED = "CHANGE_FAILED", Refusal(Internal, Never),
        "internal error",
        "A change of the tools could not be carried out.",
        "The log of the surface service says more.";
    CHECK_FAILED = "CHECK_FAILED", Refusal(Internal, Never),
        "internal error",
        "The check of declarations did not come to its end.",
        "The log of the surface service says more.";
    PANIC = "PANIC", Refusal(Internal, Never),
        "internal error",
        "A handler of the server failed.",
        "A fault of ours: please report it with the log.";
}
