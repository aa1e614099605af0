//! Changing one stored invocation: decide on the record as it is, commit, and decide again when another writer was
//! faster.

use std::sync::Arc;

use bytes::Bytes;
use toolplane_lifecycle::{Command, Refusal, Transition};
use toolplane_records::decision::PermissionDecision;
use toolplane_records::hook::ToolHook;
use toolplane_records::ids::InvocationKey;
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::JsonPayload;
use toolplane_records::time::Timestamp;
use toolplane_store::{Expect, RecordKey, Versioned};

use super::cache::CachedCall;
use super::handle::Calls;
use crate::originals::KeptOriginal;
use crate::plan::DispatchPlan;
use crate::storage::commit::{Builder, Extras, score};
use crate::storage::{RecordError, Written, keys};

/// What is stored together with a command's transition.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attached {
    /// Decisions the command is based on.
    pub(crate) decisions: Vec<PermissionDecision>,
    /// Inputs the record names from then on.
    pub(crate) payloads: Vec<JsonPayload>,
    /// How the call runs from then on, when that changes.
    pub(crate) plan: Option<Arc<DispatchPlan>>,
    /// What hooks did while it was decided.
    pub(crate) hooks: Vec<ToolHook>,
    /// The ending that waits for its hooks from then on.
    pub(crate) ending: Option<Bytes>,
    /// The original of its output, which is kept sealed.
    pub(crate) original: Option<KeptOriginal>,
}

impl Attached {
    fn extras(&self, id: &InvocationKey) -> Result<Extras<'_>, RecordError> {
        let mut extras = Extras { records: Vec::new(), decisions: &self.decisions };
        for payload in &self.payloads {
            extras.records.push((keys::payload(id, &payload.digest()), payload.bytes().clone()));
        }
        if let Some(ending) = &self.ending {
            extras.records.push((keys::ending(id), ending.clone()));
        }
        if let Some(plan) = &self.plan {
            let (bytes, digest) = plan.encode()?;
            extras.records.push((keys::plan(&digest), Bytes::from(bytes)));
        }
        Ok(extras)
    }
}

impl Calls {
    /// Applies a command to an invocation, however often another change gets in between.
    ///
    /// Returns the record after the command. A refusal of the lifecycle is [`RecordError::Refused`], and is always that of
    /// the stored record. Must run in a task that is not dropped half way.
    pub(crate) async fn command(
        &self,
        id: &InvocationKey,
        command: impl Fn(&Invocation) -> Command,
    ) -> Result<Arc<Invocation>, RecordError> {
        self.command_with(id, Attached::default(), command).await
    }

    /// The same, with more to be stored. Returns an error as [`Calls::command`] does.
    pub(crate) async fn command_with(
        &self,
        id: &InvocationKey,
        attached: Attached,
        command: impl Fn(&Invocation) -> Command,
    ) -> Result<Arc<Invocation>, RecordError> {
        let hooks = attached.hooks.clone();
        let decide = |record: &Invocation, now| {
            if hooks.is_empty() {
                return toolplane_lifecycle::apply(record, crate::mutants::fence(command(record), record), now);
            }
            let kept = toolplane_lifecycle::hooks_ran(record, hooks.clone(), now);
            let next = toolplane_lifecycle::apply(&kept.invocation, command(record), now)?;
            Ok(kept.then(next))
        };
        self.change(id, attached, decide).await
    }

    /// Stores what `decide` makes of an invocation, however often another change gets in between. Returns an error as
    /// [`Calls::command`] does.
    pub(crate) async fn change(
        &self,
        id: &InvocationKey,
        attached: Attached,
        decide: impl Fn(&Invocation, Timestamp) -> Result<Transition, Refusal>,
    ) -> Result<Arc<Invocation>, RecordError> {
        let mut entry = self.lock(id).await;
        loop {
            let (call, remembered) = match entry.take() {
                Some(call) => (call, true),
                None => match Box::pin(self.records().load(id)).await {
                    Ok(call) => (call, false),
                    Err(error) => {
                        self.forget(id, entry);
                        return Err(error);
                    }
                },
            };
            let transition = match decide(&call.record, self.now().await?) {
                // In a box, because it is large and kept while the store is asked.
                Ok(transition) => Box::new(transition),
                // Another process may have changed what this one remembers.
                Err(_) if remembered && self.storage().is_shared() => continue,
                Err(refusal) => {
                    let record = call.record.clone();
                    self.keep(&mut entry, id, call);
                    return Err(RecordError::Refused { refusal, record });
                }
            };
            let queue = match &attached.plan {
                Some(plan) => self.0.limits.queue_of(&transition.invocation, Some(plan)),
                None => self.queue_for(&transition).await?,
            };
            let mut builder = Builder::default();
            let extras = attached.extras(id)?;
            builder.transition(&transition, Expect::Version(call.version), queue.as_ref(), extras)?;
            if let Some(original) = &attached.original {
                builder.put_json(keys::original(id), original)?;
                builder.enter(keys::ORIGINALS, id.to_string(), score(original.expires_at));
            }
            self.0.effects.announce(&mut builder, &transition, queue.as_ref());
            match self.storage().write(builder.done(true)).await? {
                Written::Applied => {
                    let record = self.settle(&mut entry, call, *transition, queue.as_ref());
                    self.0.effects.decided(&record, &attached.decisions);
                    return Ok(record);
                }
                Written::Lost(current) => *entry = as_it_is(&current, call)?,
                Written::Full(index) => return Err(RecordError::Full { index }),
            }
        }
    }
}

/// What a lost commit found in place of `call`: the next decision needs no further read.
fn as_it_is(current: &[(RecordKey, Option<Versioned>)], call: CachedCall) -> Result<Option<CachedCall>, RecordError> {
    let key = keys::invocation(&call.record.key());
    let found = current.iter().find(|(found, _)| *found == key).and_then(|(_, stored)| stored.as_ref());
    match found {
        Some(stored) => {
            let now = CachedCall::read(stored)?;
            Ok(Some(CachedCall { version: now.version, record: now.record, ..call }))
        }
        None => Ok(None),
    }
}

/// Whether a refusal only says that another writer was faster.
pub(crate) fn is_race(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Terminal(_) | Refusal::Fenced | Refusal::NothingToDo)
}
