//! The commands a living invocation understands.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolplane_records::SmolStr;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::error::ToolError;
use toolplane_records::evidence::ExecutionEvidence;
use toolplane_records::hook::ToolHook;
use toolplane_records::ids::{ApprovalId, InvocationId, InvocationKey, LeaseId, TenantId, WorkerId};
use toolplane_records::invocation::{Invocation, Lease};
use toolplane_records::payload::JsonPayload;
use toolplane_records::persistence::ResultPersistence;
use toolplane_records::progress::ToolProgress;
use toolplane_records::refs::{ArtifactRef, ResourceRef};
use toolplane_records::result::{Cleaned, ContentBlock};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{AbortReason, Hold, InvocationStatus, RedactionState, ResultStatus};

use crate::edit::{Edit, EditedInput, Replan};
use crate::transition::Timer;

/// Who speaks for a lease: a worker, in one of its starts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Holder {
    /// The worker.
    pub worker_id: WorkerId,
    /// Which start of it. Absent when it speaks for its earlier starts too: it has said that nothing of them is left.
    pub incarnation: Option<SmolStr>,
}

/// Names one lease of one invocation, and who says so; every worker report carries it. Its secret is of use only to the
/// worker the lease was given to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LeaseKey {
    /// Owner of the call.
    pub tenant: TenantId,
    /// The call.
    pub invocation_id: InvocationId,
    /// Which lease of the call.
    pub lease_no: u32,
    /// The lease's random name.
    pub lease_id: LeaseId,
    /// Who speaks.
    pub holder: Holder,
}

impl LeaseKey {
    /// The key of `lease` of `invocation`, as its holder has it.
    pub fn of(invocation: &Invocation, lease: &Lease) -> Self {
        Self {
            tenant: invocation.tenant.clone(),
            invocation_id: invocation.invocation_id.clone(),
            lease_no: lease.lease_no,
            lease_id: lease.lease_id.clone(),
            holder: Holder { worker_id: lease.worker_id.clone(), incarnation: Some(lease.incarnation.clone()) },
        }
    }

    /// The call.
    pub fn call(&self) -> InvocationKey {
        InvocationKey::new(&self.tenant, &self.invocation_id)
    }

    /// Whether this key names `lease`, and comes from whom it was given to.
    pub fn names(&self, lease: &Lease) -> bool {
        let Holder { worker_id, incarnation } = &self.holder;
        self.lease_no == lease.lease_no
            && self.lease_id == lease.lease_id
            && *worker_id == lease.worker_id
            && incarnation.as_ref().is_none_or(|incarnation| *incarnation == lease.incarnation)
    }

    /// Whether both name the same lease, whichever party says so.
    pub fn is_same_lease(&self, other: &Self) -> bool {
        self.lease_no == other.lease_no && self.lease_id == other.lease_id && self.call() == other.call()
    }
}

/// A lease about to be granted; everything random or clocked is chosen by the caller.
#[derive(Clone, Debug)]
pub struct LeaseGrant {
    /// Random name of the lease.
    pub lease_id: LeaseId,
    /// Strictly greater than the fence of every earlier lease of the store.
    pub fence: u64,
    /// Who gets it.
    pub worker_id: WorkerId,
    /// Which start of that worker.
    pub incarnation: SmolStr,
    /// Milliseconds until the offer lapses without a receipt.
    pub offer_ms: i64,
    /// Places the lease takes in counted indexes, until it ends.
    pub permits: Vec<Permit>,
}

/// A place in a counted index, e.g. of the running calls of a tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permit {
    /// Name of the index.
    pub index: SmolStr,
    /// The commit is lost unless the index has fewer entries than this.
    pub below: u64,
}

/// A question of a running tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputRequest {
    /// Identifier of the question, unique within its call.
    pub input_id: String,
    /// The question, for people.
    pub prompt: String,
    /// JSON Schema the answer has to fit.
    pub schema: Option<JsonPayload>,
    /// Milliseconds to wait for an answer; 0 means [`crate::times::INPUT_TTL_MS`].
    pub ttl_ms: u64,
}

/// The call whose end cancels another of its batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiblingCause {
    /// That call.
    pub invocation_id: InvocationId,
    /// Its position in the batch.
    pub index: u32,
    /// The name its caller used.
    pub tool_name: SmolStr,
    /// How it ended.
    pub status: InvocationStatus,
}

/// What an execution produced, mapped once by the executor.
#[derive(Clone, Debug)]
pub struct ReportedOutcome {
    /// How it ended; never `denied`, `rejected` or `discarded`.
    pub status: ResultStatus,
    /// Content blocks.
    pub content: Vec<ContentBlock>,
    /// What the model should see.
    pub model_facing_content: Vec<ContentBlock>,
    /// Machine-readable content.
    pub structured_content: Option<JsonPayload>,
    /// One line for people.
    pub ui_facing_summary: String,
    /// The failure, when it failed or partly failed.
    pub error: Option<ToolError>,
    /// How the bytes of each output are kept; first of all, those of the largest.
    pub persistence: Vec<ResultPersistence>,
    /// Fetchable resources.
    pub resource_refs: Vec<ResourceRef>,
    /// Deliverables.
    pub artifact_refs: Vec<ArtifactRef>,
    /// Evidence.
    pub evidence_refs: Vec<String>,
    /// Changes the tool asks to make to the context of the conversation; objects.
    pub context_modifiers: Vec<JsonPayload>,
    /// What hooks did after the execution, in order.
    pub hooks: Vec<ToolHook>,
    /// Context modifiers that were left out because the tool does not declare that it returns any.
    pub undeclared_modifiers: usize,
    /// Whether anything was taken out of it; absent when it was not checked.
    pub redaction_state: Option<RedactionState>,
    /// What cleaning found in it.
    pub cleaned: Vec<Cleaned>,
    /// What the tool declares of how it is shown.
    pub rendering_hints: Option<JsonPayload>,
    /// Labels of what in it taints what is made from it.
    pub taints: Vec<SmolStr>,
    /// What is known of the execution.
    pub execution: Option<Arc<ExecutionEvidence>>,
}

/// What an execution has so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportedPartial {
    /// Content blocks; none that is kept elsewhere.
    pub content: Vec<ContentBlock>,
    /// It goes on where the one before it ended.
    pub append: bool,
    /// How the next execution may go on from there.
    pub resume_token: Option<String>,
}

/// The question whether the result of a call is given out as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultQuestion {
    /// The decision that asks.
    pub decision: PermissionDecision,
    /// The question.
    pub approval_id: ApprovalId,
    /// When it ends without an answer.
    pub expires_at: Timestamp,
}

/// A command to one invocation.
#[derive(Clone, Debug)]
pub enum Command {
    /// The parked question was answered with yes.
    Approve {
        /// Which question. An answer to another one than the call waits for changes nothing.
        approval_id: ApprovalId,
        /// The answer.
        decision: PermissionDecision,
        /// What the answer changed.
        edit: Option<Box<Edit>>,
    },
    /// The parked question was answered with no, or there was no answer in time.
    Reject {
        /// Which question.
        approval_id: ApprovalId,
        /// The answer.
        decision: PermissionDecision,
        /// There was no answer in time.
        expired: bool,
    },
    /// An approval was not used in time: the question is asked again. The call gives back its locks' ticket.
    AskAgain {
        /// The decision to ask.
        decision: PermissionDecision,
        /// The parked question.
        approval_id: ApprovalId,
        /// When the question becomes a refusal.
        expires_at: Timestamp,
    },
    /// A waiting call was looked at again, and may still run.
    Confirm {
        /// The decision that is in force from now on.
        decision: PermissionDecision,
        /// What a changed declaration changed; only before the first start.
        replan: Option<Box<Replan>>,
    },
    /// A call that waits, for a person or for its turn, may not run after all.
    Refuse {
        /// The question it waits for, when it waits for one.
        approval_id: Option<ApprovalId>,
        /// The decisions that led here, oldest first.
        decisions: Vec<PermissionDecision>,
        /// The input that was refused, when a person or a hook had changed it.
        edited: Option<Box<EditedInput>>,
        /// Why.
        error: ToolError,
    },
    /// A worker takes the call. An idempotent call starts with it, any other waits for [`Command::Start`].
    Claim(LeaseGrant),
    /// The worker is about to cause the first effect of a non-idempotent call, or confirms the receipt of any other.
    Start {
        /// Its lease.
        lease: LeaseKey,
        /// Milliseconds of the full lease.
        lease_ms: i64,
    },
    /// The offer of the lease is known to have arrived; the lease lasts no longer for it.
    Receive {
        /// Its lease.
        lease: LeaseKey,
    },
    /// The worker is alive and still runs the call.
    Renew {
        /// Its lease.
        lease: LeaseKey,
        /// Milliseconds of the full lease.
        lease_ms: i64,
    },
    /// The worker gives the call back without having caused an effect.
    Release {
        /// Its lease.
        lease: LeaseKey,
        /// Why, in one stable word.
        reason: String,
    },
    /// Proof that this incarnation of the worker is dead.
    WorkerGone {
        /// The worker.
        worker_id: WorkerId,
        /// The dead incarnation.
        incarnation: SmolStr,
    },
    /// The execution goes on.
    Progress {
        /// Its lease.
        lease: LeaseKey,
        /// What to record; its sequence is set by the record.
        progress: ToolProgress,
    },
    /// The execution shows what it has so far.
    Partial {
        /// Its lease.
        lease: LeaseKey,
        /// What it has.
        partial: ReportedPartial,
    },
    /// The execution ended.
    Complete {
        /// Its lease.
        lease: LeaseKey,
        /// What it produced.
        outcome: Box<ReportedOutcome>,
    },
    /// The execution ended, and hooks are asked about its ending before it is told to callers. What the ending is must
    /// be stored in the same commit: its worker forgets it.
    AwaitHooks {
        /// Its lease; it ends with this.
        lease: LeaseKey,
        /// The hooks that are asked, in order.
        hook_ids: Vec<String>,
        /// When another scheduler asks them, should this one go silent.
        due_at: Timestamp,
        /// The question to people that comes before them, whether the result is given out as it is.
        question: Option<Box<ResultQuestion>>,
    },
    /// The hooks after a call are asked anew, because the scheduler that asked them went silent.
    TakeHooks {
        /// When the next one does so.
        due_at: Timestamp,
        /// No other scheduler can be asking them, so this need not be due.
        alone: bool,
    },
    /// The hooks after a call were asked, and this is what they left of its ending.
    Conclude {
        /// What is left.
        outcome: Box<ReportedOutcome>,
        /// What a person said of the result.
        answer: Option<Box<PermissionDecision>>,
    },
    /// A waiting call is not run: no worker can run it, or it is kept out.
    Block {
        /// Why, in one stable word.
        cause: &'static str,
        /// What is missing, or what keeps it out.
        error: ToolError,
    },
    /// A caller asks to cancel the call, or the batch it belongs to.
    RequestCancel {
        /// Who asks.
        requested_by: String,
        /// Why, in the caller's words.
        message: String,
        /// Why the execution is to stop.
        abort_reason: AbortReason,
    },
    /// The worker answers a cancel request.
    AcknowledgeCancel {
        /// Its lease.
        lease: LeaseKey,
        /// Whether it will stop.
        supported: bool,
    },
    /// One thing that kept the call out of the ready queue is gone.
    Unhold {
        /// Which.
        hold: Hold,
        /// Fence of the grant, when it is the locks.
        fence: Option<u64>,
    },
    /// A sibling of the call's batch ended so that this call must not run, or must stop.
    CancelSibling {
        /// That sibling.
        cause: SiblingCause,
    },
    /// The terminal result is released to the readers of its batch. Legal only after the end.
    Yield {
        /// Which result of the batch it is, counted from 1.
        yield_seq: u64,
    },
    /// The terminal result is never to be released. Legal only after the end and before [`Command::Yield`].
    Discard {
        /// Why, in one stable word.
        reason: String,
    },
    /// The running tool asks a question; its clock is paused until the answer.
    RequestInput {
        /// Its lease.
        lease: LeaseKey,
        /// The question.
        input: InputRequest,
    },
    /// The question is answered.
    ProvideInput {
        /// Which question.
        input_id: String,
        /// The answer; `None` when the person asked chose not to answer.
        input: Option<JsonPayload>,
        /// Who answers.
        by: String,
    },
    /// A timer is due.
    Fire(Timer),
}
