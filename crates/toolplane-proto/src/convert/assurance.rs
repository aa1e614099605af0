//! What an agent says of its own certainty, and what taints a call.

use toolplane_records::{assurance as records, taint};

use crate::convert::{ConvertError, field};
use crate::v1;

impl From<&records::CallAssurance> for v1::CallAssurance {
    fn from(record: &records::CallAssurance) -> Self {
        Self {
            confidence: record.confidence.map(records::Confidence::get),
            verdict: record.verdict.clone(),
            evidence_refs: record.evidence_refs.clone(),
            missing_evidence: record.missing_evidence.clone(),
            taints: record.taints.clone(),
        }
    }
}

impl TryFrom<v1::CallAssurance> for records::CallAssurance {
    type Error = ConvertError;

    fn try_from(message: v1::CallAssurance) -> Result<Self, ConvertError> {
        Ok(Self {
            confidence: confidence(message.confidence)?,
            verdict: message.verdict,
            evidence_refs: message.evidence_refs,
            missing_evidence: message.missing_evidence,
            taints: message.taints,
        })
    }
}

/// A confidence, refused when it is no number from 0 to 1.
pub(super) fn confidence(given: Option<f64>) -> Result<Option<records::Confidence>, ConvertError> {
    let read =
        |value| records::Confidence::new(value).ok_or_else(|| ConvertError::new("confidence", "must be from 0 to 1"));
    given.map(read).transpose()
}

impl From<&taint::Taint> for v1::Taint {
    fn from(record: &taint::Taint) -> Self {
        Self {
            label: record.label.to_string(),
            invocation_ids: field::texts(&record.invocation_ids),
            since: field::instant(record.since),
        }
    }
}

impl TryFrom<v1::Taint> for taint::Taint {
    type Error = ConvertError;

    fn try_from(message: v1::Taint) -> Result<Self, ConvertError> {
        Ok(Self {
            label: message.label.into(),
            invocation_ids: field::ids("invocation_ids", &message.invocation_ids)?,
            since: field::time("since", message.since)?,
        })
    }
}
