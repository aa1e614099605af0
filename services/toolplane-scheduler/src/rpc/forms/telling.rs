//! The steps of a call in a form, as they come.

use std::sync::Arc;

use toolplane_forms::{Asked, Kept, Story, of_ending, of_event, shown_after};
use toolplane_proto::v1;
use toolplane_records::invocation::Invocation;
use toolplane_records::result::ContentBlock;
use toolplane_runtime::Caller;

use super::{Forms, Found};
use crate::error::CallError;
use crate::watch::WatchItem;

/// Tells one reader of one call.
pub(in crate::rpc) struct Telling {
    forms: Forms,
    caller: Arc<Caller>,
    record: Arc<Invocation>,
    asked: Asked,
    found: Option<Found>,
    /// The first event that is told.
    from_seq: u64,
    /// What the call has shown so far.
    shown: Vec<ContentBlock>,
}

impl Telling {
    /// Tells `caller` of `record`.
    pub(in crate::rpc) fn new(
        forms: Forms,
        caller: Arc<Caller>,
        record: Arc<Invocation>,
        asked: Asked,
        from_seq: u64,
    ) -> Self {
        Self { forms, caller, record, asked, found: None, from_seq, shown: Vec::new() }
    }

    /// What a step is in the form, in order.
    pub(in crate::rpc) async fn tell(&mut self, item: &WatchItem) -> Result<Vec<v1::Formed>, CallError> {
        let found = match self.found.take() {
            Some(found) => found,
            None => {
                self.look_back().await?;
                self.forms.find(&self.caller, &self.record, &self.asked).await?
            }
        };
        let view = self.asked.view;
        let nothing = Kept::default();
        let mut told = Vec::new();
        let call = &self.record;
        for event in &item.events {
            let event = event.envelope(&call.tenant, &call.invocation_id, &call.tool_id, &call.telemetry_refs);
            let story = Story { shown: &self.shown, ..found.story(&self.asked, None, &nothing) };
            told.extend(of_event(view, &story, &event));
            shown_after(&mut self.shown, &event);
        }
        self.found = Some(found);
        if let Some(terminal) = &item.terminal {
            // The record as the call ended.
            let record = self.forms.calls.records().get(&self.record.key()).await?;
            let found = self.forms.find(&self.caller, &record, &self.asked).await?;
            let kept = self.forms.kept(&record, view, Some(&terminal.result)).await?;
            told.extend(of_ending(view, &found.story(&self.asked, Some(terminal), &kept), &terminal.result));
        }
        Ok(told.into_iter().map(Into::into).collect())
    }

    /// Finds what was shown before the first event that is told: a partial result may go on from there.
    async fn look_back(&mut self) -> Result<(), CallError> {
        if self.from_seq <= 1 {
            return Ok(());
        }
        let call = &self.record;
        for event in self.forms.calls.records().log(&call.key()).await? {
            if event.seq < self.from_seq {
                let event = event.envelope(&call.tenant, &call.invocation_id, &call.tool_id, &call.telemetry_refs);
                shown_after(&mut self.shown, &event);
            }
        }
        Ok(())
    }
}
