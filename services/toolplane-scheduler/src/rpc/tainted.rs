//! What taints the calls of sessions: seen by those who look after a tenant, and cleared by an operator who has read what the sessions
//! were given.

use prost::Message as _;
use toolplane_proto::convert::field;
use toolplane_proto::v1;
use toolplane_runtime::{Caller, page};

use super::list::{next_token, read_place};
use crate::error::CallError;
use crate::storage::Storage;
use crate::taints::{Clearing, SessionNotes, SessionTaints};

/// Longest reason, in characters.
const MAX_REASON_CHARS: usize = 1_024;

/// The handlers about taints.
#[derive(Clone, Debug)]
pub(super) struct Tainted {
    pub(super) taints: SessionTaints,
    pub(super) clock: Storage,
}

impl Tainted {
    /// One page of sessions, or the one that is asked for.
    pub(super) async fn list(
        &self,
        caller: &Caller,
        request: v1::ListSessionTaintsRequest,
    ) -> Result<v1::ListSessionTaintsResponse, CallError> {
        if !request.session_ref.is_empty() {
            let found = self.taints.of(&caller.tenant, &request.session_ref).await?;
            let sessions = found.iter().map(|notes| self.message(notes)).collect();
            return Ok(v1::ListSessionTaintsResponse { sessions, next_page_token: String::new() });
        }
        let scope = format!("{}/taints", caller.tenant);
        let after = page::position(&scope, &request.page_token)?.as_deref().and_then(read_place);
        let size = page::size(request.page_size)?;
        let found = self.taints.list(&caller.tenant, after, size).await?;
        let whole = found.len() < size;
        let rows = found.iter().map(|(_, notes)| self.message(notes));
        let sessions = page::fill(rows, size, v1::SessionTaints::encoded_len);
        let last = found.get(sessions.len().wrapping_sub(1)).map(|(entry, _)| (entry.score, entry.member.clone()));
        let ended = whole && sessions.len() == found.len();
        let next_page_token = next_token(&scope, last.filter(|_| !ended));
        Ok(v1::ListSessionTaintsResponse { sessions, next_page_token })
    }

    /// Clears labels of a session.
    pub(super) async fn clear(
        &self,
        caller: &Caller,
        request: v1::ClearSessionTaintsRequest,
    ) -> Result<v1::ClearSessionTaintsResponse, CallError> {
        let v1::ClearSessionTaintsRequest { session_ref, labels, reason } = request;
        if !self.taints.may_be_cleared() {
            return Err(CallError::TaintsStay);
        }
        if reason.trim().is_empty() || reason.chars().count() > MAX_REASON_CHARS {
            return Err(CallError::invalid("reason", format!("must have 1 to {MAX_REASON_CHARS} characters")));
        }
        let by = caller.doer("").to_owned();
        let clearing = Clearing { labels: Vec::new(), by: by.clone(), at: self.clock.now().await?, reason };
        let left = self.taints.clear(&caller.tenant, &session_ref, &labels, clearing).await?;
        let left = left.ok_or_else(|| CallError::NotFound { kind: "tainted session", id: session_ref.clone() })?;
        tracing::info!(tenant = %caller.tenant, session_ref, by, left = left.taints.len(), "what taints a session was cleared");
        Ok(v1::ClearSessionTaintsResponse { session: Some(self.message(&left)) })
    }

    fn message(&self, notes: &SessionNotes) -> v1::SessionTaints {
        let cleared = notes.cleared.iter().map(|one| v1::ClearedTaints {
            labels: field::texts(&one.labels),
            by: one.by.clone(),
            at: field::instant(one.at),
            reason: one.reason.clone(),
        });
        v1::SessionTaints {
            session_ref: notes.session_ref.to_string(),
            taints: field::outs(&notes.taints),
            tainted_at: field::instant(notes.tainted_at),
            kept_until: field::instant(self.taints.kept_until(notes)),
            cleared: cleared.collect(),
        }
    }
}
