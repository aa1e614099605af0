//! How a command that worked ended.

/// How a command that worked ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CommandOutcome {
    /// What was asked for happened.
    Done,
    /// The answer is a failure of the tool or a denial, or a check found something: exit code 1.
    ToolFailed,
    /// A person has to do something first, and the command waited no longer: exit code 3. The call goes on waiting.
    StillWaiting,
}
