//! Names of the OpenTelemetry semantic conventions, each group with the version it was taken from.
//!
//! The crate of generated constants lags behind (it has the old RPC names and marks the GenAI ones deprecated because
//! they moved), so the names live here. Attributes of our own are only under `agenttool.`.

/// General attributes, stable; semantic-conventions v1.45.0.
pub mod general {
    /// Class of an error; absent on success. Low cardinality.
    pub const ERROR_TYPE: &str = "error.type";
    /// Host the client was told to call.
    pub const SERVER_ADDRESS: &str = "server.address";
    /// Port the client was told to call.
    pub const SERVER_PORT: &str = "server.port";
    /// Value of [`ERROR_TYPE`] for what has no better class.
    pub const OTHER: &str = "_OTHER";
}

/// RPC spans, stable; semantic-conventions v1.45.0.
pub mod rpc {
    /// `grpc`.
    pub const SYSTEM_NAME: &str = "rpc.system.name";
    /// Fully qualified `package.Service/Method`.
    pub const METHOD: &str = "rpc.method";
    /// The method as sent, when it is not a known one.
    pub const METHOD_ORIGINAL: &str = "rpc.method_original";
    /// Name of the status, e.g. `DEADLINE_EXCEEDED`.
    pub const STATUS_CODE: &str = "rpc.status_code";
}

/// HTTP spans, stable; semantic-conventions v1.45.0.
pub mod http {
    /// Method of the request; [`OTHER`](super::general::OTHER) for one that is not known.
    pub const REQUEST_METHOD: &str = "http.request.method";
    /// Status of the response.
    pub const RESPONSE_STATUS_CODE: &str = "http.response.status_code";
    /// The route that was matched.
    pub const ROUTE: &str = "http.route";
    /// Path of the request.
    pub const URL_PATH: &str = "url.path";
    /// `http` or `https`.
    pub const URL_SCHEME: &str = "url.scheme";
}

/// Messaging spans, in development; semantic-conventions 384d661 (2026-08-20).
pub mod messaging {
    /// The messaging system; ours is `toolplane`.
    pub const SYSTEM: &str = "messaging.system";
    /// Name of the operation.
    pub const OPERATION_NAME: &str = "messaging.operation.name";
    /// `send`, `process`, ...
    pub const OPERATION_TYPE: &str = "messaging.operation.type";
    /// The queue.
    pub const DESTINATION_NAME: &str = "messaging.destination.name";
    /// The message; here the invocation.
    pub const MESSAGE_ID: &str = "messaging.message.id";
}

/// GenAI spans, in development; semantic-conventions-genai 002c8a6e (2026).
pub mod gen_ai {
    /// `execute_tool`.
    pub const OPERATION_NAME: &str = "gen_ai.operation.name";
    /// Name of the tool.
    pub const TOOL_NAME: &str = "gen_ai.tool.name";
    /// Id of the call, as the model gave it.
    pub const TOOL_CALL_ID: &str = "gen_ai.tool.call.id";
    /// `function`, `extension` or `datastore`.
    pub const TOOL_TYPE: &str = "gen_ai.tool.type";
    /// Arguments; opt-in, may be secret.
    pub const TOOL_CALL_ARGUMENTS: &str = "gen_ai.tool.call.arguments";
    /// Result; opt-in, may be secret, only on success.
    pub const TOOL_CALL_RESULT: &str = "gen_ai.tool.call.result";
}

/// MCP spans, in development; semantic-conventions-genai 0393513c (2026).
pub mod mcp {
    /// The method of the message.
    pub const METHOD_NAME: &str = "mcp.method.name";
    /// The version that is spoken.
    pub const PROTOCOL_VERSION: &str = "mcp.protocol.version";
    /// The session; none in versions without sessions.
    pub const SESSION_ID: &str = "mcp.session.id";
    /// The id of the request, as text.
    pub const REQUEST_ID: &str = "jsonrpc.request.id";
    /// The code of an error, as text.
    pub const STATUS_CODE: &str = "rpc.response.status_code";
    /// `tcp` for HTTP, `pipe` for standard input and output.
    pub const TRANSPORT: &str = "network.transport";
    /// Class of an error where a tool says that it failed.
    pub const TOOL_ERROR: &str = "tool_error";
}

/// Our own names; Agent Tool v0.2.0.
pub mod agenttool {
    /// The call.
    pub const INVOCATION_ID: &str = "agenttool.invocation.id";
    /// Terminal status of the call.
    pub const INVOCATION_STATUS: &str = "agenttool.invocation.status";
    /// Status of the result.
    pub const RESULT_STATUS: &str = "agenttool.result.status";
    /// Class of the result's error, also where it is no fault.
    pub const ERROR_CLASS: &str = "agenttool.error_class";
    /// Finer code of the result's error.
    pub const ERROR_CODE: &str = "agenttool.error_code";
    /// The tool's stable id.
    pub const TOOL_ID: &str = "agenttool.tool.id";
    /// The tenant.
    pub const TENANT: &str = "agenttool.tenant";
    /// Execution attempt, counted from 1.
    pub const ATTEMPT: &str = "agenttool.attempt";
    /// Time between queueing and start, in milliseconds.
    pub const QUEUE_WAIT_MS: &str = "agenttool.queue.wait_ms";
    /// The decision about an earlier call stands for this one.
    pub const DECISION_REUSED: &str = "agenttool.decision.reused";
    /// Digest of the input.
    pub const INPUT_DIGEST: &str = "agenttool.input.digest";
    /// Address of the kept result.
    pub const RESULT_REF: &str = "agenttool.result.ref";
}
