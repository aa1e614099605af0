//! Invocations and the order they run in.

use super::UnknownWord;

vocabulary! {
    /// The 20 invocation states (specification, "Invocation lifecycle").
    InvocationStatus {
        Planned = "planned",
        Selected = "selected",
        SchemaParseFailed = "schema_parse_failed",
        ArgumentsReady = "arguments_ready",
        ValidationFailed = "validation_failed",
        PreHooksRunning = "pre_hooks_running",
        AwaitingApproval = "awaiting_approval",
        Approved = "approved",
        Denied = "denied",
        Queued = "queued",
        Running = "running",
        NeedsInput = "needs_input",
        PartialResult = "partial_result",
        PostHooksRunning = "post_hooks_running",
        Yielded = "yielded",
        Succeeded = "succeeded",
        Failed = "failed",
        Canceled = "canceled",
        TimedOut = "timed_out",
        Blocked = "blocked",
    }

    /// The state of an invocation in its queue (concurrency and scheduling, "Queue states").
    QueueState {
        Queued = "queued",
        Executing = "executing",
        Completed = "completed",
        Yielded = "yielded",
        Discarded = "discarded",
    }

    /// Order of terminal results in a batch.
    OrderingPolicy {
        PreserveTerminalOrder = "preserve_terminal_order",
        AllowUnordered = "allow_unordered",
        Serial = "serial",
    }

    /// When progress and results of a batch are released.
    YieldPolicy {
        ProgressImmediateResultsOrdered = "progress_immediate_results_ordered",
        AllOrdered = "all_ordered",
        UnorderedStreaming = "unordered_streaming",
    }

    /// What the agent's runtime does about a running call when its user interrupts: ask for its cancellation, or wait for
    /// its end; `block` when omitted. A cancellation that is asked for stops a running call whatever this says.
    InterruptBehavior {
        Cancel = "cancel",
        Block = "block",
    }

    /// What a failed sibling does to the others of its batch.
    SiblingFailurePolicy {
        Ignore = "ignore",
        CancelSiblings = "cancel_siblings",
        CancelDependent = "cancel_dependent",
    }

    /// Whether context modifiers of concurrent tools are honoured.
    ContextModifierPolicy {
        AllowSerialOnly = "allow_serial_only",
        DeferUntilBatchComplete = "defer_until_batch_complete",
        Forbid = "forbid",
    }

    /// Why an execution was aborted (progress and cancellation).
    AbortReason {
        UserInterruption = "user_interruption",
        SiblingError = "sibling_error",
        Timeout = "timeout",
        Fallback = "fallback",
        RuntimeShutdown = "runtime_shutdown",
    }

    /// Status of one progress record.
    ProgressStatus {
        Queued = "queued",
        Started = "started",
        Running = "running",
        WaitingForPermission = "waiting_for_permission",
        WaitingForInput = "waiting_for_input",
        Backgrounded = "backgrounded",
        PartialResult = "partial_result",
        Completed = "completed",
        Failed = "failed",
        Canceled = "canceled",
    }

    /// How urgent a call is (ours). Bands share workers; none is ever starved.
    Band {
        Interactive = "interactive",
        Normal = "normal",
        Background = "background",
    }

    /// How a resource lock is held (concurrency and scheduling).
    LockMode {
        Shared = "shared",
        Exclusive = "exclusive",
    }

    /// What keeps an accepted call out of the ready queue (ours).
    Hold {
        Batch = "batch",
        Locks = "locks",
    }
}

impl InvocationStatus {
    /// Whether the state is absorbing: nothing ever follows it (`reliability` §2.3).
    pub const fn is_terminal(self) -> bool {
        matches!(
            self,
            Self::SchemaParseFailed
                | Self::ValidationFailed
                | Self::Denied
                | Self::Blocked
                | Self::Succeeded
                | Self::Failed
                | Self::Canceled
                | Self::TimedOut
        )
    }
}

impl Band {
    /// Reads what a caller wrote: nothing is `normal`, and `default` and `batch` are other names of the last two bands.
    /// Any other word is refused with [`UnknownWord`].
    pub fn from_input(text: &str) -> Result<Self, UnknownWord> {
        match text {
            "" | "default" => Ok(Self::Normal),
            "batch" => Ok(Self::Background),
            text => text.parse(),
        }
    }

    /// Place of the band among the bands: 0 is the most urgent.
    pub const fn rank(self) -> usize {
        match self {
            Self::Interactive => 0,
            Self::Normal => 1,
            Self::Background => 2,
        }
    }

    /// Whether this is the default band.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

#[expect(clippy::derivable_impls, reason = "the vocabulary macro makes the enum, so there is nothing to derive on")]
impl Default for Band {
    fn default() -> Self {
        Self::Normal
    }
}

impl Default for LockMode {
    /// A lock that does not say is held alone: the cautious reading.
    fn default() -> Self {
        Self::Exclusive
    }
}
