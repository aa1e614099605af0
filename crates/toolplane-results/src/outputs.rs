//! The outputs of one ending, one after the other: each is shown whole, shown as a preview of what is kept elsewhere, or only
//! referred to, within bounds for all of them together.
//!
//! Workers go this way with what a tool gave, and schedulers with what a worker reported; where bytes are kept is all they
//! differ in ([`Keep`]).

use std::future::Future;

use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::payload::PayloadRef;
use toolplane_records::persistence::ResultPersistence;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::ResultStatus;

mod keeper;
#[cfg(test)]
mod tests;
mod whole;

pub use keeper::Keeper;
pub use whole::{Body, OutputOnDisk, Whole};

/// The output that is the answer itself.
pub const ANSWER: &str = "result";
/// A file that was left in the workspace.
pub const ARTIFACT: &str = "artifact";
/// The output that is one JSON value.
pub const STRUCTURED: &str = "structured_content";

/// Most bytes of each half of a preview.
const HALF_PREVIEW: u64 = 2048;
/// Most bytes of the text that replaces an output: both halves, and a line that says why it is not kept.
pub const MAX_PREVIEW: u64 = 2 * HALF_PREVIEW + MAX_NOTE;
/// Longest line that says why an output is not kept, with room.
pub const MAX_NOTE: u64 = 256;

/// Where bytes are kept.
pub trait Keep {
    /// Keeps an output durably, that of its file where it has one; nothing when that cannot be done, for a reason that went to the log.
    fn keep(&self, name: &str, media_type: &str, body: Body) -> impl Future<Output = Option<PayloadRef>> + Send;
}

/// How much is shown.
#[derive(Clone, Copy, Debug)]
pub struct OutputBounds {
    /// Most bytes of one output.
    pub one_bytes: u64,
    /// Most characters of one output, when its tool says so.
    pub one_chars: Option<u64>,
    /// Most bytes of all outputs together.
    pub all_bytes: u64,
    /// Most bytes of an output that is kept.
    pub max_persist_bytes: u64,
}

/// What the hooks said about all outputs of an ending.
#[derive(Clone, Copy, Debug, Default)]
pub struct Handling {
    /// They are shown by reference only.
    pub by_reference: bool,
    /// Each is kept, and a preview of it is shown, however little it is.
    pub previewed: bool,
    /// They are not kept.
    pub never_persist: bool,
    /// The reason of each decision in the place of the usual one.
    pub reason: Option<&'static str>,
}

/// One output and how it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Decided {
    /// Which output, e.g. `stdout`; different from every other of the same ending.
    pub name: String,
    /// How it is kept.
    pub decision: ResultPersistence,
}

/// The first output that is not there in whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Which one, e.g. `result`, with its size and digest: what is found elsewhere can be told to be the same.
    output: String,
    /// It is larger than the object store may be asked to keep. Else the store did not take it.
    too_large: bool,
}

impl Loss {
    /// What a success that lost an output amounts to: the effect is done and must not look undone, so it is a partial one.
    pub fn ending(&self) -> (ResultStatus, ToolError) {
        let (status, code, what) = if self.too_large {
            (ResultStatus::TooLarge, codes::RESULT_TOO_LARGE, "is larger than may be kept")
        } else {
            (ResultStatus::PartialSucceeded, codes::RESULT_NOT_KEPT, "could not be kept in whole")
        };
        let message = format!("the tool succeeded, but its {} {what}: only a preview is left", self.output);
        (status, ToolError::of(code, message))
    }
}

/// What happened to the outputs of one ending.
#[derive(Clone, Debug, Default)]
pub struct Outputs {
    /// What is shown.
    pub content: Vec<ContentBlock>,
    /// How each output that does not fit is kept.
    pub decided: Vec<Decided>,
    /// What got lost.
    pub loss: Option<Loss>,
}
