//! What is stored of a kept original: where its sealed parts are, until when, and nothing of what it says.

use serde::{Deserialize, Serialize};
use toolplane_lifecycle::RESULT_QUESTION;
use toolplane_records::SmolStr;
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::PayloadRef;
use toolplane_records::time::Timestamp;

/// The media type of sealed bytes.
pub(super) const SEALED: &str = "application/vnd.toolplane.sealed";
/// How records say that an original is kept.
const KEPT: &str = "original:kept";
/// How they say that it is not, and why.
const NOT_KEPT: &str = "original:not_kept:";

/// An original that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptOriginal {
    /// The lease whose report it is.
    pub(crate) lease_no: u32,
    pub(crate) kept_at: Timestamp,
    /// Nobody reads it after this, and it is removed.
    pub(crate) expires_at: Timestamp,
    /// The rules that found something in it.
    pub(crate) rules: Vec<SmolStr>,
    /// It waits for a person to say whether it is given out, and nobody is named who may read it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) only_asked: bool,
    /// The report itself, and then each output that was kept elsewhere and replaced.
    pub(crate) parts: Vec<SealedPart>,
}

/// A part of an original.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SealedPart {
    /// The address that the report names it by; empty of the report.
    pub(crate) uri: String,
    pub(crate) media_type: String,
    /// Bytes of it, unsealed.
    pub(crate) size_bytes: u64,
    /// Where it is.
    pub(crate) sealed: PayloadRef,
}

impl KeptOriginal {
    /// What part `number` of the original of `record` is sealed for.
    pub(super) fn context(record: &Invocation, lease_no: u32, number: usize) -> String {
        format!("{}|{}|{lease_no}|{number}", record.tenant, record.invocation_id)
    }
}

/// What policy made of an original.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Keeping {
    /// It is not to be kept.
    Unwanted,
    /// It is kept.
    Kept(KeptOriginal),
    /// It was to be kept and is not, for this reason: a word.
    Not(&'static str),
}

impl Keeping {
    /// How the record of the call says it.
    pub(crate) fn note(&self) -> Option<String> {
        match self {
            Self::Unwanted => None,
            Self::Kept(original) if original.only_asked => None,
            Self::Kept(_) => Some(KEPT.to_owned()),
            Self::Not(why) => Some(format!("{NOT_KEPT}{why}")),
        }
    }
}

/// Whether an original of this call was kept once.
pub(crate) fn was_kept(record: &Invocation) -> bool {
    record.evidence_refs.iter().any(|said| said == KEPT || said.starts_with(RESULT_QUESTION))
}
