//! `tools/call`: a call of the API like any other, and what its client is told until it has ended.
//!
//! ```text
//! tools/call ─► begin ─► Call or SubmitInvocation ─┬─ ended ───────────────────────────► result
//!                                                   ├─ a task, where the client can come back
//!                                                   └─ follow: progress, questions, approvals ─► result, or how to come back
//! ```

mod approval;
mod begin;
mod follow;
mod form;
mod pending;
mod progress;
mod result;
mod state;
mod task;

pub(crate) use begin::{LET_GO, call, cancel, invocation_of, session_ref};
pub(crate) use follow::{Begun, follow};
pub(crate) use state::answer;
pub(crate) use task::{cancel as cancel_task, get as get_task, update as update_task};
