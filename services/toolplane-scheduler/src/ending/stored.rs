//! An ending as it is stored while its hooks are asked.

use bytes::Bytes;
use prost::Message as _;
use toolplane_proto::v1;

/// What is known of an ended execution when its report comes.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct StoredReport {
    /// How it ended, as its worker says.
    #[prost(message, optional, tag = "1")]
    pub(crate) outcome: Option<v1::ExecutionOutcome>,
    /// Reports of its progress that are not in the log.
    #[prost(uint64, tag = "2")]
    pub(crate) progress_left_out: u64,
}

impl StoredReport {
    /// The stored form.
    pub(crate) fn to_bytes(&self) -> Bytes {
        self.encode_to_vec().into()
    }

    /// Reads the stored form. What cannot be read is an ending without an outcome.
    pub(crate) fn read(bytes: Option<Bytes>) -> Self {
        bytes.and_then(|bytes| Self::decode(bytes).ok()).unwrap_or_default()
    }
}
