//! One run of one hook.

use crate::failure::HookFailure;
use crate::hook_meta::HookMeta;
use crate::output::HookOutput;
use toolplane_records::time::Timestamp;

/// One hook that was asked.
#[derive(Clone, Debug, PartialEq)]
pub struct HookRun {
    /// The hook.
    pub hook: HookMeta,
    /// When it was asked.
    pub started_at: Timestamp,
    /// When it had answered.
    pub ended_at: Timestamp,
    /// What came of it.
    pub outcome: Result<HookOutput, HookFailure>,
}

impl HookRun {
    /// Whether no hook need be asked after this one: nothing could change what comes of the point.
    pub fn is_last_word(&self) -> bool {
        self.outcome.as_ref().map_or(true, |output| output.stop.is_some())
    }
}
