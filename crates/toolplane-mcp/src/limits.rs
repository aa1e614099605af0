//! What a server may cost.

use std::time::Duration;

use toolplane_records::json::JsonLimits;

/// Bounds of one session. A server that passes one is closed, with a [`CloseReason`](crate::CloseReason), or what it
/// said too much is left out with a note; each field says which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of one message. A longer one closes the session: nobody can tell whose answer it was.
    pub message_bytes: usize,
    /// Most bytes a session reads in its life. More closes it.
    pub total_bytes: u64,
    /// Most lines that are not messages (a banner, a log). More close the session.
    pub garbage_lines: usize,
    /// Most bytes of such lines. More close the session.
    pub garbage_bytes: usize,
    /// Messages nobody asked for (notifications, requests of the server) that may come at once. More close the session.
    pub unasked_burst: u32,
    /// Such messages that may come in a second for as long as the session lives.
    pub unasked_per_second: u32,
    /// Most answers to requests that were never made. More close the session.
    pub stray_answers: usize,
    /// Messages that wait until the server reads. When the server fills them with answers to its own requests, the session is closed.
    pub queue: usize,
    /// Reports of progress a call keeps until they are taken; older ones are left out and counted.
    pub progress: usize,
    /// Questions of the server that wait at one call; further ones are refused.
    pub questions: usize,
    /// Most rounds of questions of one call; the next one ends the call.
    pub rounds: usize,
    /// Most pages of a list of tools; the list ends there, and says so.
    pub list_pages: usize,
    /// Most tools of a list; the list ends there, and says so.
    pub list_tools: usize,
    /// Most bytes of all pages of a list; the list ends there, and says so.
    pub list_bytes: usize,
    /// Most parts of the content of a result; the rest is left out with a note.
    pub contents: usize,
    /// Deepest nesting of what a server says.
    pub depth: usize,
    /// Most values in one message.
    pub nodes: usize,
    /// How long the first question about the version may take before the older way is tried as well.
    pub discover: Duration,
    /// How long a server may take until it is known what it speaks.
    pub start: Duration,
    /// How long one page of a list may take.
    pub list: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 8 * 1024 * 1024,
            total_bytes: 1024 * 1024 * 1024,
            garbage_lines: 1_000,
            garbage_bytes: 1024 * 1024,
            unasked_burst: 10_000,
            unasked_per_second: 1_000,
            stray_answers: 64,
            queue: 64,
            progress: 16,
            questions: 4,
            rounds: 10,
            list_pages: 100,
            list_tools: 2_000,
            list_bytes: 16 * 1024 * 1024,
            contents: 1_000,
            depth: 64,
            nodes: 1_000_000,
            discover: Duration::from_secs(10),
            start: Duration::from_secs(60),
            list: Duration::from_secs(60),
        }
    }
}

impl Limits {
    /// The bounds of one JSON value of a server.
    pub(crate) fn json(&self) -> JsonLimits {
        JsonLimits { max_bytes: self.message_bytes, max_depth: self.depth, max_nodes: self.nodes }
    }
}
