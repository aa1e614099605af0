//! Originals of cleaned outputs, for the readers whom policy names. Each reading is in the log of its call before anything is read.

use std::sync::Arc;

use futures_util::StreamExt as _;
use toolplane_proto::convert::field;
use toolplane_proto::v1;
use toolplane_proto::v1::read_original_response::Part;
use toolplane_records::invocation::Invocation;
use toolplane_results::PayloadStore;
use toolplane_runtime::Caller;

use super::follow::Messages;
use super::payload::{refused, split};
use super::{find, status};
use crate::calls::{Attached, Calls};
use crate::error::CallError;
use crate::originals::{KeptOriginal, Originals, Unsealed};
use crate::storage::RecordError;

/// Longest reason, in bytes.
const MAX_REASON: usize = 1_000;
/// Most bytes in one message.
const CHUNK: usize = 256 * 1024;

/// The handler of originals.
#[derive(Clone, Debug)]
pub(super) struct OriginalReading {
    pub(super) calls: Calls,
    pub(super) payloads: PayloadStore,
    pub(super) originals: Originals,
}

impl OriginalReading {
    /// The original of a call: what its worker reported, and then the bytes of outputs that were kept elsewhere.
    pub(super) async fn read(
        &self,
        caller: &Caller,
        request: v1::ReadOriginalRequest,
    ) -> Result<Messages<v1::ReadOriginalResponse>, CallError> {
        let v1::ReadOriginalRequest { invocation_id: id, reason, requested_by } = request;
        if reason.trim().is_empty() || reason.len() > MAX_REASON {
            return Err(CallError::invalid(
                "reason",
                format!("must say why, in 1 to {MAX_REASON} bytes that are not all blank"),
            ));
        }
        let record = find::call(&self.calls, caller, &id).await?;
        let by: String = caller.doer(&requested_by).chars().take(256).collect();
        // Who is no reader is not told whether there is anything to read.
        if !self.originals.may_read(caller, &record) {
            tracing::warn!(kind = "original_refused", invocation_id = %id, by, "somebody who is no reader asked for an original");
            return Err(CallError::NotAReader { id });
        }
        let now = self.calls.now().await?;
        let kept = self.calls.records().original(&record.key()).await?;
        let kept = kept.filter(|kept| kept.lease_no == record.lease_no && kept.expires_at > now && !kept.only_asked);
        let kept = Arc::new(kept.ok_or_else(|| CallError::NotFound { kind: "original", id: id.clone() })?);
        let failed = |error: Unsealed| sealed(&id, error);
        let output = self.originals.report(&self.payloads, &record, &kept, now).await.map_err(failed)?;
        let noted = |record: &Invocation, now| toolplane_lifecycle::original_read(record, &by, &reason, now);
        match self.calls.change(&record.key(), Attached::default(), noted).await {
            Ok(_) => {}
            Err(RecordError::Refused { .. }) => return Err(CallError::NotFound { kind: "original", id }),
            Err(error) => return Err(error.into()),
        }
        tracing::info!(kind = "original_read", invocation_id = %id, tenant = %record.tenant, by, "an original was read");
        Ok(self.messages(record, kept, output))
    }

    fn messages(
        &self,
        record: Arc<Invocation>,
        kept: Arc<KeptOriginal>,
        output: v1::ExecutionOutcome,
    ) -> Messages<v1::ReadOriginalResponse> {
        let first = v1::ReadOriginalResponse { part: Some(Part::Output(told(&kept, output))) };
        let reading = self.clone();
        let parts = futures_util::stream::iter(1..kept.parts.len());
        let bytes = parts.then(move |number| {
            let (reading, record, kept) = (reading.clone(), Arc::clone(&record), Arc::clone(&kept));
            async move { reading.part(&record, &kept, number).await }
        });
        Box::pin(futures_util::stream::iter([Ok(first)]).chain(bytes.flatten()))
    }

    /// The bytes of one output in messages.
    async fn part(
        &self,
        record: &Invocation,
        kept: &KeptOriginal,
        number: usize,
    ) -> Messages<v1::ReadOriginalResponse> {
        let id = record.invocation_id.to_string();
        let opened = async {
            let now = self.calls.now().await?;
            let opened = self.originals.part(&self.payloads, record, kept, number, now).await;
            opened.map_err(|error| sealed(&id, error))
        };
        let opened = match opened.await {
            Ok(opened) => opened,
            Err(error) => return Box::pin(futures_util::stream::iter([Err(status::of(error))])),
        };
        let part = &kept.parts[number];
        let (uri, media_type, total_size_bytes) = (part.uri.clone(), part.media_type.clone(), part.size_bytes);
        let pieces = opened.flat_map(|piece| match piece {
            Ok(piece) => futures_util::stream::iter(split(piece, CHUNK).into_iter().map(Ok).collect::<Vec<_>>()),
            Err(error) => futures_util::stream::iter(vec![Err(error)]),
        });
        Box::pin(pieces.scan(0_u64, move |offset, piece| {
            let message = piece.map_err(|error| status::of(sealed(&id, error))).map(|data| {
                let at = *offset;
                *offset += data.len() as u64;
                let (uri, media_type) = (uri.clone(), media_type.clone());
                let bytes = v1::OriginalBytes { uri, media_type, total_size_bytes, offset: at, data };
                v1::ReadOriginalResponse { part: Some(Part::Bytes(bytes)) }
            });
            std::future::ready(Some(message))
        }))
    }
}

fn told(kept: &KeptOriginal, output: v1::ExecutionOutcome) -> v1::OriginalOutput {
    let summary = if output.ui_facing_summary.is_empty() { output.summary } else { output.ui_facing_summary };
    v1::OriginalOutput {
        content: output.content,
        structured_content: output.structured_content,
        error: output.error,
        summary,
        rules: field::texts(&kept.rules),
        kept_at: field::instant(kept.kept_at),
        expires_at: field::instant(kept.expires_at),
    }
}

fn sealed(id: &str, error: Unsealed) -> CallError {
    match error {
        Unsealed::Vault(fault) => CallError::Sealed { id: id.to_owned(), why: fault.to_string() },
        Unsealed::Objects(error) => refused(error),
    }
}
