//! An ending as it is stored while its hooks are asked.

use std::sync::Arc;

use bytes::Bytes;
use prost::Message as _;
use toolplane_lifecycle::ResultQuestion;
use toolplane_proto::v1;
use toolplane_records::evidence::ExecutionSite;
use toolplane_records::payload::JsonPayload;
use toolplane_records::result::Cleaned;

/// What is known of an ended execution when its report comes.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct StoredReport {
    /// How it ended, as its worker says.
    #[prost(message, optional, boxed, tag = "1")]
    pub(crate) outcome: Option<Box<v1::ExecutionOutcome>>,
    /// Reports of its progress that are not in the log.
    #[prost(uint64, tag = "2")]
    pub(crate) progress_left_out: u64,
    /// What cleaning found in the outcome, each as JSON.
    #[prost(string, repeated, tag = "3")]
    pub(crate) cleaned: Vec<String>,
    /// What its record says beside that, e.g. that its original is kept.
    #[prost(string, repeated, tag = "4")]
    pub(crate) notes: Vec<String>,
    /// The question to people that it waits for; empty where it waits for none.
    #[prost(string, tag = "5")]
    pub(crate) approval_id: String,
    /// When that ends without an answer, milliseconds since 1970.
    #[prost(int64, tag = "6")]
    pub(crate) asked_until: i64,
}

impl StoredReport {
    /// The stored form, with where it ran.
    pub(crate) fn encoded(&mut self, site: Option<&ExecutionSite>) -> Bytes {
        if let Some(outcome) = &mut self.outcome {
            outcome.site = site.map(v1::ExecutionSite::from);
        }
        self.encode_to_vec().into()
    }

    /// Where it ran, of a report that was stored; nothing where that cannot be read.
    pub(crate) fn site(&mut self) -> Option<Arc<ExecutionSite>> {
        let site = self.outcome.as_mut()?.site.take()?;
        ExecutionSite::try_from(site).ok().map(Arc::new)
    }

    /// With what cleaning found.
    pub(crate) fn with_cleaned(mut self, found: &[Cleaned]) -> Self {
        self.cleaned = found.iter().map(|found| JsonPayload::of(found).text().to_owned()).collect();
        self
    }

    /// With the question that is put about it.
    pub(crate) fn asked(mut self, question: Option<&ResultQuestion>) -> Self {
        if let Some(question) = question {
            (self.approval_id, self.asked_until) = (question.approval_id.to_string(), question.expires_at.as_millis());
        }
        self
    }

    /// Whether a person is asked about it.
    pub(crate) fn is_question(&self) -> bool {
        !self.approval_id.is_empty()
    }

    /// What cleaning found.
    pub(crate) fn cleaned(&self) -> Vec<Cleaned> {
        self.cleaned.iter().filter_map(|found| serde_json::from_str(found).ok()).collect()
    }

    /// Reads the stored form. What cannot be read is an ending without an outcome.
    pub(crate) fn read(bytes: Option<Bytes>) -> Self {
        bytes.and_then(|bytes| Self::decode(bytes).ok()).unwrap_or_default()
    }
}
