//! Why a payload could not be kept or read.

use std::path::PathBuf;

use toolplane_records::codes;
use toolplane_records::payload::Digest;

/// A payload could not be kept or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PayloadError {
    /// There is no such payload.
    #[error("payload `{uri}` does not exist")]
    NotFound {
        /// Its address.
        uri: String,
    },
    /// There may have been such a payload; its time is over.
    #[error("payload `{uri}` is gone: payloads are kept for {days} days")]
    Expired {
        /// Its address.
        uri: String,
        /// Days payloads are kept.
        days: u32,
    },
    /// The text is not the address of a payload.
    #[error("`{text}` is not the address of a payload: {rule}")]
    InvalidAddress {
        /// The text, shortened.
        text: String,
        /// The rule it broke.
        rule: &'static str,
    },
    /// The offset lies beyond the end.
    #[error("offset {offset} is beyond the end of a payload of {size} bytes")]
    OutOfRange {
        /// The offset asked for.
        offset: u64,
        /// Size of the payload.
        size: u64,
    },
    /// More bytes than allowed.
    #[error("payload is larger than {limit} bytes")]
    TooLarge {
        /// Bytes allowed.
        limit: u64,
    },
    /// The bytes are not the ones the name promises.
    #[error("payload `{uri}` is damaged: its bytes have the digest {actual}")]
    Damaged {
        /// Its address, which ends with the digest it had.
        uri: String,
        /// The digest of the bytes found.
        actual: Digest,
    },
    /// The source of the bytes ended with an error; nothing was kept.
    #[error("upload was interrupted: {reason}")]
    Interrupted {
        /// What the source said.
        reason: String,
    },
    /// The directory cannot be used.
    #[error("cannot keep payloads in `{}`: {reason}", path.display())]
    Open {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The object store cannot be used as configured.
    #[error("cannot keep payloads in `{store}`: {reason}")]
    Unusable {
        /// Which one.
        store: String,
        /// Why.
        reason: String,
    },
    /// The object store is away, and the disk holds no more of what waits for it.
    #[error("the object store is away, and no more than {limit} bytes may wait for it on this machine")]
    SpoolFull {
        /// Bytes that may wait.
        limit: u64,
    },
    /// There can be no link to the payload.
    #[error("there is no link to it: {reason}")]
    NoLink {
        /// Why.
        reason: &'static str,
    },
    /// The object store failed; a retry may help.
    #[error("object store failed to {operation}: {source}")]
    Store {
        /// What was tried.
        operation: &'static str,
        /// What the object store said.
        #[source]
        source: Box<object_store::Error>,
    },
}

impl PayloadError {
    pub(crate) fn store(operation: &'static str, source: object_store::Error) -> Self {
        Self::Store { operation, source: Box::new(source) }
    }

    /// Stable machine-readable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => codes::PAYLOAD_NOT_FOUND.as_str(),
            Self::Expired { .. } => codes::PAYLOAD_EXPIRED.as_str(),
            Self::InvalidAddress { .. } => codes::PAYLOAD_ADDRESS_INVALID.as_str(),
            Self::OutOfRange { .. } => codes::PAYLOAD_OFFSET_OUT_OF_RANGE.as_str(),
            Self::TooLarge { .. } => codes::PAYLOAD_TOO_LARGE.as_str(),
            Self::Damaged { .. } => codes::PAYLOAD_DAMAGED.as_str(),
            Self::Interrupted { .. } => codes::PAYLOAD_UPLOAD_INTERRUPTED.as_str(),
            Self::Unusable { .. } => codes::PAYLOAD_STORE_UNUSABLE.as_str(),
            Self::SpoolFull { .. } => codes::PAYLOAD_SPOOL_FULL.as_str(),
            Self::NoLink { .. } => codes::PAYLOAD_NO_LINK.as_str(),
            Self::Open { .. } => codes::PAYLOAD_STORE_UNUSABLE.as_str(),
            Self::Store { .. } => codes::PAYLOAD_STORE_UNAVAILABLE.as_str(),
        }
    }

    /// Whether the same operation may succeed when tried again.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Store { .. } | Self::SpoolFull { .. } | Self::Interrupted { .. })
    }
}
