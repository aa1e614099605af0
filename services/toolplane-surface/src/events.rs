//! The logs of tools, surfaces and providers: what is written, and the standard's envelope of it.

use bytes::Bytes;
use serde::Serialize;
use toolplane_records::event::{LogEvent, ToolEvent};
use toolplane_records::ids::{ProviderId, SurfaceId, TenantId, ToolId};
use toolplane_records::payload::JsonPayload;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::EventClass;
use toolplane_runtime::ApiError;
use toolplane_store::{Append, Store};

use crate::{error, keys};

/// Whose log it is.
#[derive(Clone, Debug)]
pub(crate) enum Log {
    Tool(TenantId, ToolId),
    Surface(TenantId, SurfaceId),
    Provider(TenantId, ProviderId),
}

/// Some entries of a log.
#[derive(Debug)]
pub(crate) struct Entries {
    pub(crate) events: Vec<ToolEvent>,
    pub(crate) head_seq: u64,
}

impl Log {
    pub(crate) fn stream(&self) -> String {
        match self {
            Self::Tool(tenant, id) => keys::tool_stream(tenant, id),
            Self::Surface(tenant, id) => keys::surface_stream(tenant, id),
            Self::Provider(tenant, id) => keys::provider_stream(tenant, id),
        }
    }

    fn noun(&self) -> (&'static str, &str) {
        match self {
            Self::Tool(_, id) => ("tool", id.as_str()),
            Self::Surface(_, id) => ("surface", id.as_str()),
            Self::Provider(_, id) => ("provider", id.as_str()),
        }
    }

    /// These facts as the next entries, of which the first has the sequence `first_seq`.
    pub(crate) fn append(
        &self,
        first_seq: u64,
        at: Timestamp,
        facts: Vec<(EventClass, JsonPayload)>,
    ) -> Result<Append, ApiError> {
        self.append_each(first_seq, facts.into_iter().map(|(class, data)| (at, class, data)).collect())
    }

    /// The same, each at a time of its own.
    pub(crate) fn append_each(
        &self,
        first_seq: u64,
        facts: Vec<(Timestamp, EventClass, JsonPayload)>,
    ) -> Result<Append, ApiError> {
        let mut events = Vec::with_capacity(facts.len());
        for (seq, (at, class, data)) in (first_seq..).zip(facts) {
            let event = LogEvent { seq, class, at, data: Some(data) };
            events.push(Bytes::from(serde_json::to_vec(&event).map_err(error::unreadable)?));
        }
        Ok(Append { stream: self.stream(), first_seq, events })
    }

    /// Sequence of the last entry; 0 when there is none.
    pub(crate) async fn head(&self, store: &dyn Store) -> Result<u64, ApiError> {
        let page = store.events(&self.stream(), u64::MAX, 1).await.map_err(error::of_store)?;
        Ok(page.head_seq)
    }

    /// At most `limit` entries from `from_seq` on. A log without entries belongs to nothing that exists, or to the default surface,
    /// which nobody makes and nobody changes.
    pub(crate) async fn read(&self, store: &dyn Store, from_seq: u64, limit: usize) -> Result<Entries, ApiError> {
        let page = store.events(&self.stream(), from_seq.max(1), limit).await.map_err(error::of_store)?;
        if page.head_seq == 0 && !matches!(self, Self::Surface(_, id) if id.is_default()) {
            let (kind, id) = self.noun();
            return Err(ApiError::not_found(kind, id));
        }
        let mut events = Vec::with_capacity(page.events.len());
        for (_, bytes) in page.events {
            events.push(self.envelope(serde_json::from_slice(&bytes).map_err(error::unreadable)?));
        }
        Ok(Entries { events, head_seq: page.head_seq })
    }

    fn envelope(&self, event: LogEvent) -> ToolEvent {
        let (tenant, tool_id) = match self {
            Self::Tool(tenant, id) => (tenant, Some(id.clone())),
            Self::Surface(tenant, _) | Self::Provider(tenant, _) => (tenant, event.data.as_ref().and_then(named_tool)),
        };
        let (kind, id) = self.noun();
        ToolEvent {
            schema_version: toolplane_records::schema_version(),
            event_id: format!("{kind}:{id}:{}", event.seq),
            event_type: event.class.as_str().to_owned(),
            source: format!("/tenants/{tenant}/{kind}s/{id}"),
            subject: id.to_owned(),
            time: event.at,
            invocation_id: None,
            tool_id,
            data: event.data,
            trace_refs: Vec::new(),
            sequence: event.seq,
        }
    }
}

/// The one tool an entry of a surface's log is about, when it is about one.
fn named_tool(data: &JsonPayload) -> Option<ToolId> {
    data.to_value().get("tool_id")?.as_str().and_then(|id| ToolId::parse(id).ok())
}

/// Facts of an event as its data.
pub(crate) fn facts(value: &impl Serialize) -> JsonPayload {
    JsonPayload::of(value)
}
