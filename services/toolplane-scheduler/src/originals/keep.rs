//! Sealing an original on its way to the object store, and opening it for a reader.

use bytes::Bytes;
use futures_util::stream::BoxStream;
use futures_util::{Stream, StreamExt as _};
use prost::Message as _;
use toolplane_proto::v1;
use toolplane_records::SmolStr;
use toolplane_records::invocation::Invocation;
use toolplane_records::result::Cleaned;
use toolplane_records::time::Timestamp;
use toolplane_results::PayloadStore;
use toolplane_results::payload::PayloadOrigin;
use toolplane_results::payload::error::PayloadError;
use toolplane_results::payload::key::PayloadKey;

use super::stored::{Keeping, KeptOriginal, SEALED, SealedPart};
use super::vault::{KeyRing, VaultFault};
use super::{OriginalRule, Originals};

/// Why an original cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unsealed {
    #[error(transparent)]
    Vault(#[from] VaultFault),
    #[error(transparent)]
    Objects(#[from] PayloadError),
}

/// Whose original it is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whose<'a> {
    pub(crate) record: &'a Invocation,
    pub(crate) lease_no: u32,
    pub(crate) now: Timestamp,
}

impl Originals {
    /// Keeps the report `original` in which `found` was found, with the outputs it names at `replaced`, where a rule has it so, or where a
    /// person is `asked` whether it is given out.
    ///
    /// Fails when the object store does not do its part now: then the report has to come again.
    pub(crate) async fn keep(
        &self,
        payloads: &PayloadStore,
        whose: Whose<'_>,
        original: &v1::ExecutionOutcome,
        replaced: &[String],
        (found, asked): (&[Cleaned], bool),
    ) -> Result<Keeping, PayloadError> {
        let rule = self.rule(whose.record).filter(|rule| rule.is_about(found));
        if rule.is_none() && !asked {
            return Ok(Keeping::Unwanted);
        }
        let mut sealing = Sealing { payloads, whose, keys: self.keys(), parts: Vec::new() };
        let kept = match sealing.all(original, replaced).await {
            Ok(()) => Ok(Keeping::Kept(described(std::mem::take(&mut sealing.parts), whose, rule, found))),
            Err(Unsealed::Vault(_)) => Ok(Keeping::Not("no_key")),
            Err(Unsealed::Objects(PayloadError::TooLarge { .. })) => Ok(Keeping::Not("too_large")),
            Err(Unsealed::Objects(error)) => Err(error),
        };
        if let Ok(Keeping::Not(why)) = kept {
            tracing::warn!(invocation_id = %whose.record.invocation_id, why, "an original that policy has kept is not kept");
        }
        // What is left of a sealing that broke off is named by nobody.
        for part in &sealing.parts {
            forget(payloads, part).await;
        }
        kept
    }

    /// Reads the report that was kept.
    pub(crate) async fn report(
        &self,
        payloads: &PayloadStore,
        record: &Invocation,
        kept: &KeptOriginal,
        now: Timestamp,
    ) -> Result<v1::ExecutionOutcome, Unsealed> {
        let mut bytes = Vec::new();
        let mut pieces = Box::pin(self.part(payloads, record, kept, 0, now).await?);
        while let Some(piece) = pieces.next().await {
            bytes.extend_from_slice(&piece?);
        }
        Ok(v1::ExecutionOutcome::decode(bytes.as_slice()).map_err(|_| VaultFault::Damaged)?)
    }

    /// The report that was kept, with the outputs it names back in the object store: a person has said that it is given out. Also gives
    /// the addresses of these.
    pub(crate) async fn put_back(
        &self,
        payloads: &PayloadStore,
        record: &Invocation,
        kept: &KeptOriginal,
        now: Timestamp,
    ) -> Result<(v1::ExecutionOutcome, Vec<String>), Unsealed> {
        let mut outcome = self.report(payloads, record, kept, now).await?;
        let mut back = Vec::new();
        for (number, part) in kept.parts.iter().enumerate().skip(1) {
            let mut writer = payloads.writer(PayloadOrigin {
                tenant: record.tenant.clone(),
                invocation_id: record.invocation_id.clone(),
                lease_no: kept.lease_no,
                media_type: part.media_type.clone(),
                made_at: now,
            });
            let mut pieces = self.part(payloads, record, kept, number, now).await?;
            while let Some(piece) = pieces.next().await {
                writer.write(piece?).await?;
            }
            let written = writer.finish().await?;
            crate::cleaning::refer_to(&mut outcome, &part.uri, &written);
            back.push(written.uri.to_string());
        }
        Ok((outcome, back))
    }

    /// The bytes of part `number`, as they were.
    pub(crate) async fn part(
        &self,
        payloads: &PayloadStore,
        record: &Invocation,
        kept: &KeptOriginal,
        number: usize,
        now: Timestamp,
    ) -> Result<BoxStream<'static, Result<Bytes, Unsealed>>, Unsealed> {
        let part = kept.parts.get(number).ok_or(VaultFault::Damaged)?;
        let key: PayloadKey = part.sealed.uri.parse()?;
        let sealed = payloads.read_range(&key, 0, u64::MAX, now).await?.stream;
        let context = KeptOriginal::context(record, kept.lease_no, number);
        Ok(opened(self.keys(), context, sealed).boxed())
    }
}

/// Removes a part. What cannot be removed now is sealed, and goes with its day.
pub(crate) async fn forget(payloads: &PayloadStore, part: &SealedPart) {
    let Ok(key) = part.sealed.uri.parse::<PayloadKey>() else { return };
    if let Err(error) = payloads.remove(&key).await {
        tracing::warn!(%error, "a sealed original is still in the object store; no record names it");
    }
}

fn described(parts: Vec<SealedPart>, whose: Whose<'_>, rule: Option<&OriginalRule>, found: &[Cleaned]) -> KeptOriginal {
    let mut rules: Vec<SmolStr> = found.iter().map(|one| one.rule.clone()).collect();
    rules.sort_unstable();
    rules.dedup();
    // Whoever asks says how long it is waited for.
    let expires_at = whose.now.plus_millis(rule.map_or(0, |rule| rule.keep_ms));
    let only_asked = rule.is_none();
    KeptOriginal { lease_no: whose.lease_no, kept_at: whose.now, expires_at, rules, only_asked, parts }
}

/// Seals the parts of one original.
struct Sealing<'a> {
    payloads: &'a PayloadStore,
    whose: Whose<'a>,
    keys: KeyRing,
    parts: Vec<SealedPart>,
}

impl Sealing<'_> {
    async fn all(&mut self, original: &v1::ExecutionOutcome, replaced: &[String]) -> Result<(), Unsealed> {
        let report = Bytes::from(original.encode_to_vec());
        let whole = futures_util::stream::iter([Ok(report)]);
        self.part(String::new(), "application/x-protobuf".to_owned(), whole).await?;
        for uri in replaced {
            let Ok(key) = uri.parse::<PayloadKey>() else { continue };
            let media_type = media_type(original, uri);
            let bytes = self.payloads.read_range(&key, 0, u64::MAX, self.whose.now).await?.stream;
            self.part(uri.clone(), media_type, bytes).await?;
        }
        Ok(())
    }

    async fn part(
        &mut self,
        uri: String,
        media_type: String,
        bytes: impl Stream<Item = Result<Bytes, PayloadError>>,
    ) -> Result<(), Unsealed> {
        let Whose { record, lease_no, now } = self.whose;
        let context = KeptOriginal::context(record, lease_no, self.parts.len());
        let mut salt = [0; 32];
        aws_lc_rs::rand::fill(&mut salt).map_err(|_| VaultFault::NoKey)?;
        let mut sealer = self.keys.seal(&context, salt)?;
        let mut writer = self.payloads.writer(PayloadOrigin {
            tenant: record.tenant.clone(),
            invocation_id: record.invocation_id.clone(),
            lease_no,
            media_type: SEALED.to_owned(),
            made_at: now,
        });
        let (mut out, mut size_bytes) = (Vec::new(), 0);
        let mut bytes = std::pin::pin!(bytes);
        while let Some(piece) = bytes.next().await {
            let piece = piece?;
            size_bytes += piece.len() as u64;
            sealer.push(&piece, &mut out)?;
            writer.write(std::mem::take(&mut out).into()).await?;
        }
        sealer.finish(&mut out)?;
        writer.write(out.into()).await?;
        let sealed = writer.finish().await?;
        self.parts.push(SealedPart { uri, media_type, size_bytes, sealed });
        Ok(())
    }
}

/// What a report says an output is.
fn media_type(original: &v1::ExecutionOutcome, uri: &str) -> String {
    let blocks = original.content.iter().chain(&original.model_facing_content).filter_map(v1::ContentBlock::kept);
    let mut all = blocks.chain(original.persisted.iter().filter_map(|kept| kept.payload.as_ref()));
    all.find(|payload| payload.uri == uri).map(|payload| payload.media_type.clone()).unwrap_or_default()
}

/// Sealed bytes, opened as they come.
fn opened(
    keys: KeyRing,
    context: String,
    sealed: BoxStream<'static, Result<Bytes, PayloadError>>,
) -> impl Stream<Item = Result<Bytes, Unsealed>> {
    let state = Some((keys.opener(context), sealed));
    futures_util::stream::unfold(state, |state| async move {
        let (mut opener, mut sealed) = state?;
        let mut out = Vec::new();
        let opened = match sealed.next().await {
            Some(Ok(piece)) => opener.push(&piece, &mut out),
            Some(Err(error)) => return Some((Err(error.into()), None)),
            None => return Some((opener.finish(&mut out).map(|()| out.into()).map_err(Unsealed::from), None)),
        };
        match opened {
            Ok(()) => Some((Ok(out.into()), Some((opener, sealed)))),
            Err(fault) => Some((Err(fault.into()), None)),
        }
    })
}
