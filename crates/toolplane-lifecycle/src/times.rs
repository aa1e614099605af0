//! How long calls wait for what may never come.

/// Milliseconds the worker has, beyond a tool's timeout, to report that timeout before the scheduler ends the call itself.
pub const TIMEOUT_BACKSTOP_MS: i64 = 10_000;

/// Milliseconds after a cancel request at which a running call is ended without the worker's word.
pub const CANCEL_BACKSTOP_MS: i64 = 60_000;

/// Milliseconds a tool's question waits for an answer when it does not say.
pub const INPUT_TTL_MS: i64 = 24 * 3_600_000;

/// Milliseconds for which a call that workers died of keeps others like it out.
pub const QUARANTINE_MS: i64 = 3_600_000;

/// Longest wait for an answer, milliseconds.
pub const MAX_INPUT_TTL_MS: i64 = 30 * 24 * 3_600_000;
