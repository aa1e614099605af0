//! Reading one call: its record, its result, and how that is kept.

use std::sync::Arc;
use std::time::Duration;

use prost::Message;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolplane_lifecycle::Terminal;
use toolplane_proto::convert::field;
use toolplane_proto::v1;
use toolplane_results::PayloadStore;
use toolplane_runtime::Caller;

use super::encode;
use super::find;
use super::follow::{self, Messages};
use super::forms::{Forms, Telling, asked};
use super::patience::{self, Waited};
use super::payload;
use super::whole;
use crate::calls::Calls;
use crate::error::CallError;
use crate::keeping::{Holds, Stays};
use crate::kept::Orphans;
use crate::storage::RecordError;
use crate::watch::Watchers;

/// Most kept outputs of one `ListOrphans` answer.
const MAX_ORPHANS: usize = 1000;

/// Bytes of one `ReadPayload` message.
const CHUNK: usize = 256 * 1024;

/// The handlers that read one call.
#[derive(Clone, Debug)]
pub(super) struct Reading {
    pub(super) calls: Calls,
    pub(super) watchers: Watchers,
    pub(super) payloads: PayloadStore,
    pub(super) forms: Forms,
    pub(super) orphans: Orphans,
    pub(super) stays: Stays,
    pub(super) holds: Holds,
    /// This process is told to stop.
    pub(super) drains: CancellationToken,
}

impl Reading {
    /// The record of a call, and its result.
    pub(super) async fn show(
        &self,
        caller: &Caller,
        request: v1::GetInvocationRequest,
    ) -> Result<v1::GetInvocationResponse, CallError> {
        let view = request.view();
        let asked = asked(request.form)?;
        let record = find::call(&self.calls, caller, &request.invocation_id).await?;
        let terminal = self.calls.records().result(&record.key()).await?;
        let result = terminal.as_ref().map(encode::result);
        let result_json = terminal.as_ref().and_then(|terminal| encode::json(view, &terminal.result));
        let beside =
            result.as_ref().map_or(0, Message::encoded_len) + result_json.as_ref().map_or(0, Message::encoded_len);
        let (invocation, json) =
            encode::invocation_views(self.calls.records(), caller, &record, view, request.include_inputs, beside)
                .await?;
        let trail = match request.include_trail {
            true => {
                let told = beside + invocation.encoded_len() + json.as_ref().map_or(0, Message::encoded_len);
                let room = encode::ANSWER_BYTES.saturating_sub(told);
                let mut trail = whole::trail(self.calls.records(), caller, &record, terminal.as_ref(), room).await?;
                trail.kept_until = self.stays.of(&record).await?.into_iter().map(whole::kept_until).collect();
                Some(trail)
            }
            false => None,
        };
        let mut answer =
            v1::GetInvocationResponse { invocation: Some(invocation), json, result_json, result, formed: None, trail };
        let beside = answer.encoded_len();
        answer.formed = self.forms.of_call(caller, &record, terminal.as_ref(), asked.as_ref(), beside).await?;
        Ok(answer)
    }

    /// The result of a call that has ended.
    pub(super) async fn show_result(
        &self,
        caller: &Caller,
        request: v1::GetResultRequest,
    ) -> Result<v1::GetResultResponse, CallError> {
        let view = request.view();
        let asked = asked(request.form)?;
        let record = find::call(&self.calls, caller, &request.invocation_id).await?;
        let terminal = self.calls.records().result(&record.key()).await?.ok_or_else(|| {
            CallError::Precondition(format!("the invocation is {} and has no result yet", record.status))
        })?;
        let mut answer = v1::GetResultResponse {
            json: encode::json(view, &terminal.result),
            result: Some(encode::result(&terminal)),
            formed: None,
        };
        let beside = answer.encoded_len();
        answer.formed = self.forms.of_call(caller, &record, Some(&terminal), asked.as_ref(), beside).await?;
        Ok(answer)
    }

    /// The state of a call when it has ended, or after a while: at most as long as the caller waits, `left` of the deadline of
    /// its request.
    pub(super) async fn wait(
        &self,
        caller: &Caller,
        request: v1::WaitInvocationRequest,
        left: Option<Duration>,
    ) -> Result<v1::WaitInvocationResponse, CallError> {
        let asked = asked(request.form)?;
        let record = find::call(&self.calls, caller, &request.invocation_id).await?;
        let id = record.key();
        let mut watch = self.watchers.watch(&id, record.last_seq).await?;
        let end = async {
            while let Some(item) = watch.next().await? {
                if item.terminal.is_some() {
                    break;
                }
            }
            Ok::<_, RecordError>(())
        };
        let until = Instant::now() + patience::within(patience::of(request.timeout_ms), left);
        let waited = patience::wait(until, &self.drains, end).await;
        let cut_short = waited.cut_short();
        if let Waited::Done(ended) = waited {
            ended?;
        }
        let terminal = self.calls.records().result(&id).await?;
        let record = self.calls.records().get(&id).await?;
        let mut answer = v1::WaitInvocationResponse {
            done: terminal.is_some(),
            invocation: Some((&*record).into()),
            result: terminal.as_ref().map(|terminal| Box::new(encode::result(terminal))),
            formed: None,
            cut_short: cut_short.filter(|_| terminal.is_none()),
        };
        let beside = answer.encoded_len();
        answer.formed = self.forms.of_call(caller, &record, terminal.as_ref(), asked.as_ref(), beside).await?;
        Ok(answer)
    }

    /// Follows a call from where the caller left off.
    pub(super) async fn watch(
        &self,
        caller: &Arc<Caller>,
        request: v1::WatchInvocationRequest,
    ) -> Result<Messages<v1::WatchInvocationResponse>, CallError> {
        let asked = asked(request.form)?;
        let record = find::call(&self.calls, caller, &request.invocation_id).await?;
        let watch = self.watchers.watch(&record.key(), request.from_seq).await?;
        let telling = asked.map(|asked| {
            Telling::new(self.forms.clone(), Arc::clone(caller), Arc::clone(&record), asked, request.from_seq)
        });
        Ok(follow::watched(record, watch, telling))
    }

    /// How the bytes of a call's result are kept.
    pub(super) async fn show_persistence(
        &self,
        caller: &Caller,
        request: v1::GetPersistenceRequest,
    ) -> Result<v1::GetPersistenceResponse, CallError> {
        let record = find::call(&self.calls, caller, &request.invocation_id).await?;
        let terminal = self.calls.records().result(&record.key()).await?;
        let wanted = |id: &str| request.decision_id.is_empty() || request.decision_id == id;
        let kept = terminal.iter().flat_map(Terminal::decisions);
        let kept: Vec<_> = kept.filter(|kept| wanted(kept.decision_id.as_str())).collect();
        if kept.is_empty() && !request.decision_id.is_empty() {
            return Err(CallError::NotFound { kind: "persistence decision", id: request.decision_id.clone() });
        }
        Ok(v1::GetPersistenceResponse {
            jsons: kept.iter().filter_map(|kept| encode::json(request.view(), kept)).collect(),
            decisions: kept.into_iter().map(Into::into).collect(),
        })
    }

    /// Bytes of an input or of a result.
    pub(super) async fn payload(
        &self,
        caller: &Caller,
        request: v1::ReadPayloadRequest,
    ) -> Result<Messages<v1::ReadPayloadResponse>, CallError> {
        let record = find::call(&self.calls, caller, &request.invocation_id).await?;
        payload::read(self.calls.records(), (&self.payloads, &self.holds), caller, &record, &request, CHUNK).await
    }

    /// A link to bytes of a call, for those who may read them.
    pub(super) async fn link(
        &self,
        caller: &Caller,
        request: v1::LinkPayloadRequest,
    ) -> Result<v1::LinkPayloadResponse, CallError> {
        let record = find::call(&self.calls, caller, &request.invocation_id).await?;
        payload::link(self.calls.records(), (&self.payloads, &self.holds), caller, &record, &request).await
    }

    /// Kept outputs of the caller's tenant that nobody names.
    pub(super) async fn orphans(
        &self,
        caller: &Caller,
        request: v1::ListOrphansRequest,
    ) -> Result<v1::ListOrphansResponse, CallError> {
        let most = usize::try_from(request.limit).unwrap_or(MAX_ORPHANS);
        let most = if most == 0 { MAX_ORPHANS } else { most.min(MAX_ORPHANS) };
        let (found, more) = self.orphans.list(&caller.tenant, most).await?;
        let orphans = found.into_iter().map(|kept| v1::OrphanedPayload {
            uri: kept.key.uri(),
            size_bytes: kept.size_bytes,
            kept_at: field::instant(kept.kept_at),
        });
        let grace_seconds = self.orphans.grace_ms().and_then(|grace| u64::try_from(grace / 1000).ok()).unwrap_or(0);
        Ok(v1::ListOrphansResponse { orphans: orphans.collect(), more, grace_seconds })
    }
}
