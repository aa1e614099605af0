//! `Debug` for messages that can hold secrets: sizes, digests and identifiers, never content.

use std::fmt;

use crate::v1;
use crate::v1::json_payload::Body;

impl fmt::Debug for v1::JsonPayload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("JsonPayload").field(&self.body).finish()
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inline(bytes) => write!(f, "{} bytes", bytes.len()),
            Self::Ref(uri) => write!(f, "ref {uri}"),
        }
    }
}

impl fmt::Debug for v1::TextBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TextBlock({} bytes)", self.text.len())
    }
}

impl fmt::Debug for v1::LogBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LogBlock({}, {} bytes)", self.stream, self.text.len())
    }
}

impl fmt::Debug for v1::DiffBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DiffBlock({} bytes)", self.text.len())
    }
}

impl fmt::Debug for v1::LeaseRef {
    /// The lease's name is the right to report on it, so it is left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LeaseRef({}#{})", self.invocation_id, self.lease_no)
    }
}
