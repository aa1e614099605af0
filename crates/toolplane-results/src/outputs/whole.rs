//! One output as it is there: held, or in a file.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use toolplane_records::payload::Digest;

use crate::decide::OutputFacts;
use crate::preview::Sampler;

/// How the names of kinds begin that nobody reads as text.
const NO_TEXTS: &[&str] = &[
    "image/",
    "audio/",
    "video/",
    "application/gzip",
    "application/pdf",
    "application/vnd.openxmlformats",
    "application/vnd.sqlite3",
    "application/zip",
];

/// The bytes of an output, wherever they are.
#[derive(Clone, Debug)]
pub enum Body {
    /// In memory.
    Held(Bytes),
    /// In a file, because they are too many for memory.
    File(Arc<OutputOnDisk>),
}

impl Body {
    /// For people: what is found elsewhere can be told to be the same.
    pub(super) fn described(&self, name: &str) -> String {
        match self {
            Self::Held(bytes) => format!("`{name}` ({} bytes, {})", bytes.len(), Digest::of(bytes)),
            Self::File(file) => format!("`{name}` ({} bytes, {})", file.size_bytes, file.digest),
        }
    }
}

/// An output in a file, and what is to be known of it without reading it again.
#[derive(Debug)]
pub struct OutputOnDisk {
    /// The file.
    pub path: PathBuf,
    /// How many bytes it has.
    pub size_bytes: u64,
    /// Digest of all its bytes.
    pub digest: Digest,
    /// What has seen all its bytes, and what there was of the output beside them.
    pub sample: Sampler,
}

/// One output as it is kept.
#[derive(Clone, Debug)]
pub struct Whole {
    /// What the bytes are.
    pub media_type: String,
    /// All of it, or its beginning when some was left out.
    pub body: Body,
    /// Its last bytes, when some were left out in between.
    pub end: Option<Bytes>,
    /// Bytes there were in all.
    pub total_bytes: u64,
    /// The text that is shown says all there is to keep.
    pub is_shown: bool,
}

impl Whole {
    /// A text, letter for letter.
    pub fn text(text: &str) -> Self {
        let (bytes, media_type) = (Bytes::copy_from_slice(text.as_bytes()), "text/plain; charset=utf-8".to_owned());
        Self { media_type, body: Body::Held(bytes), end: None, total_bytes: text.len() as u64, is_shown: true }
    }

    pub(super) fn file(&self) -> Option<&OutputOnDisk> {
        match &self.body {
            Body::Held(_) => None,
            Body::File(file) => Some(file),
        }
    }

    /// A picture, sound or film, a document or an archive: of none of them a view as text would say anything.
    pub(super) fn is_media(&self) -> bool {
        !self.is_shown && NO_TEXTS.iter().any(|kind| self.media_type.starts_with(kind))
    }

    pub(super) fn facts(&self) -> OutputFacts {
        let end = self.end.as_ref().map_or(0, Bytes::len) as u64;
        let facts = match &self.body {
            Body::Held(bytes) => OutputFacts::of_bytes(bytes, bytes.len() as u64 + end),
            // Of what is only sampled, the sample tells whether it is worth to be shown.
            Body::File(file) => {
                return OutputFacts { bytes: file.size_bytes + end, ..file.sample.facts() };
            }
        };
        let stored = facts.bytes;
        match self.is_shown {
            true => OutputFacts { chars: Some(facts.chars.unwrap_or(stored)), legible: true, ..facts },
            false => OutputFacts { chars: None, ..facts },
        }
    }
}
