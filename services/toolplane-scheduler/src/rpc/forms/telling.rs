//! The steps of a call in a form, as they come.

use std::sync::Arc;

use toolplane_forms::{Asked, Kept, of_ending, of_event};
use toolplane_proto::v1;
use toolplane_records::invocation::Invocation;
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
}

impl Telling {
    /// Tells `caller` of `record`.
    pub(in crate::rpc) fn new(forms: Forms, caller: Arc<Caller>, record: Arc<Invocation>, asked: Asked) -> Self {
        Self { forms, caller, record, asked, found: None }
    }

    /// What a step is in the form, in order.
    pub(in crate::rpc) async fn tell(&mut self, item: &WatchItem) -> Result<Vec<v1::Formed>, CallError> {
        let found = match self.found.take() {
            Some(found) => found,
            None => self.forms.find(&self.caller, &self.record, &self.asked).await?,
        };
        let view = self.asked.view;
        let nothing = Kept::default();
        let mut told = Vec::new();
        let call = &self.record;
        for event in &item.events {
            let event = event.envelope(&call.tenant, &call.invocation_id, &call.tool_id, &call.telemetry_refs);
            told.extend(of_event(view, &found.story(&self.asked, None, &nothing), &event));
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
}
