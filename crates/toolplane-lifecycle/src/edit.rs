//! What may change about an accepted call: its input, by an answer, and its plan, by a new declaration.

use toolplane_records::SmolStr;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::ids::ApprovalId;
use toolplane_records::invocation::{DispatchFacts, InputRefs, InputSafety};
use toolplane_records::mutation::InputMutation;
use toolplane_records::scheduling::ResourceLock;
use toolplane_records::time::Timestamp;

/// An input that takes the place of the one a call was accepted with. The model's own input stays what it is.
#[derive(Clone, Debug)]
pub struct EditedInput {
    /// The inputs from now on.
    pub inputs: InputRefs,
    /// How they came about.
    pub mutations: Vec<InputMutation>,
    /// Safety facts of the new input.
    pub safety: InputSafety,
}

/// What the answer to a question changed about the call, and what was decided about the call as it is then.
#[derive(Clone, Debug)]
pub struct Edit {
    /// The new input.
    pub input: EditedInput,
    /// How the call runs with it.
    pub dispatch: DispatchFacts,
    /// Locks it needs with it.
    pub resource_locks: Vec<ResourceLock>,
    /// Where those locks apply.
    pub lock_domain: Option<SmolStr>,
    /// The decision about the new input: allow, or ask when `again` is set.
    pub decision: PermissionDecision,
    /// Policy has a question of its own about the new input, open until then.
    pub again: Option<(ApprovalId, Timestamp)>,
}

/// What a changed declaration changes about a call that has not started.
#[derive(Clone, Debug)]
pub struct Replan {
    /// How it runs.
    pub dispatch: DispatchFacts,
    /// Safety facts of its input.
    pub safety: InputSafety,
}
