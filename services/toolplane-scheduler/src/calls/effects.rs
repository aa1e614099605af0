//! What follows a change of a call, as far as `calls` is concerned: others are told before the commit and after it.

use std::sync::Arc;

use toolplane_lifecycle::{Effect, Terminal, Transition};
use toolplane_records::decision::PermissionDecision;
use toolplane_records::event::LogEvent;
use toolplane_records::invocation::Invocation;

use super::cache::CachedCall;
use crate::storage::commit::Builder;
use crate::storage::keys::QueueName;

/// What was just stored of one invocation.
#[derive(Clone, Debug)]
pub(crate) struct Update {
    /// New log entries.
    pub(crate) events: Arc<[LogEvent]>,
    /// The terminal result, when the change made one.
    pub(crate) terminal: Option<Arc<Terminal>>,
}

/// Carries out what the lifecycle asks for beside the record. There is one per process; it passes things on and decides nothing.
pub(crate) trait EffectHandler: Send + Sync {
    /// Adds to a commit what other processes should hear of `transition`.
    fn announce(&self, builder: &mut Builder, transition: &Transition, queue: Option<&QueueName>);

    /// A change is durable: messages, wake-ups and news follow from it. Called while the record is locked, so that the changes of
    /// one call are told in their order; returns at once.
    fn carry_out(&self, call: &CachedCall, effects: &[Effect], queue: Option<&QueueName>, update: Update);

    /// These decisions about a call were stored with a change of it; returns at once.
    fn decided(&self, record: &Invocation, decisions: &[PermissionDecision]);
}
