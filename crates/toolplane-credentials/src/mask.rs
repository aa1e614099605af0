//! Masking: every secret in use is taken out of every output before it leaves the worker.
//!
//! A [`Mask`] knows the exact bytes of secrets and finds them as they are, in Base64 (both alphabets, at any place inside other
//! bytes, padded or not), in hex of either case, with any mixture of percent escapes, form escapes or JSON escapes in
//! them, and wrapped into lines. Of a JSON Web Token it also finds claims and signature alone, of a text of several lines each long
//! line. What stands there instead is `[credential NAME]`, with the name of the credential.
//!
//! It does not find what a tool hides on purpose (reversed, encrypted, split over several outputs, one letter a line), nor
//! two encodings one in the other beyond an escaped Base64 or hex. A tool that is given a secret can give it away; masking is for
//! tools that mean no harm.
//!
//! The forms are kept in memory as long as the mask is, and are not overwritten behind it.

mod forms;
mod json;
mod scan;
mod stream;
mod table;
#[cfg(test)]
mod tests;
mod view;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use self::scan::{Scan, Span};
use self::table::Table;
use crate::secret::Secret;

pub use self::stream::MaskStream;
pub use toolplane_records::json::NotJson;

/// What takes secrets out of outputs. Cheap to clone; one that was taken when a call began goes on to know what was injected
/// then, whatever is rotated meanwhile.
#[derive(Clone, Default)]
pub struct Mask(Option<Arc<Table>>);

/// How what stands in place of a secret begins.
const REPLACEMENT: &str = "[credential ";

/// What stands in place of a secret of this credential. Names have no brackets, so nobody can end it early.
pub(crate) fn replacement(name: &str) -> String {
    format!("{REPLACEMENT}{name}]")
}

impl Mask {
    /// The mask of these secrets, each with the name of its credential. Of one that is in several the first name in the alphabet
    /// is shown. Secrets of fewer than [`MIN_SECRET_BYTES`](crate::MIN_SECRET_BYTES) bytes are left out.
    pub fn new<'a>(secrets: impl IntoIterator<Item = (&'a str, &'a Secret)>) -> Self {
        let revealed = secrets.into_iter().map(|(name, secret)| (name, secret.reveal()));
        Self(Table::new(revealed).map(Arc::new))
    }

    /// Whether there is nothing it looks for.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The text without secrets; the very text when there are none in it.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // A secret that is no text may have been cut out of the middle of a character.
            Cow::Owned(masked) => Cow::Owned(match String::from_utf8(masked) {
                Ok(masked) => masked,
                Err(broken) => String::from_utf8_lossy(broken.as_bytes()).into_owned(),
            }),
        }
    }

    /// The bytes without secrets; the very bytes when there are none in them.
    pub fn bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let Some(table) = &self.0 else { return Cow::Borrowed(bytes) };
        let mut scan = Scan::new(table);
        scan.read(table, bytes);
        let spans = scan.take(u64::MAX);
        if spans.is_empty() {
            return Cow::Borrowed(bytes);
        }
        let mut written = Written::default();
        let mut out = Vec::with_capacity(bytes.len());
        written.write(table, bytes, 0, bytes.len() as u64, &spans, &mut out);
        Cow::Owned(out)
    }

    /// The same for bytes that were cut off: where they begin or end within something longer, an end or a beginning of a secret that
    /// has at least [`MIN_SECRET_BYTES`](crate::MIN_SECRET_BYTES) bytes is masked too. What is escaped is not found at a cut beginning.
    pub fn cut<'a>(&self, bytes: &'a [u8], begins_within: bool, ends_within: bool) -> Cow<'a, [u8]> {
        let Some(table) = self.0.as_deref().filter(|_| begins_within || ends_within) else { return self.bytes(bytes) };
        let mut out = Vec::with_capacity(bytes.len());
        let begun = table.end_of_form(bytes, crate::MIN_SECRET_BYTES).filter(|_| begins_within);
        let rest = begun.map_or(bytes, |(len, owner)| {
            out.extend_from_slice(table.replacement(owner).as_bytes());
            &bytes[len..]
        });
        let mut stream = self.stream();
        stream.push(rest, &mut out);
        if ends_within {
            stream.finish_cut(&mut out)
        } else {
            stream.finish(&mut out)
        }
        if out == bytes { Cow::Borrowed(bytes) } else { Cow::Owned(out) }
    }

    /// A mask for bytes that come in pieces.
    pub fn stream(&self) -> MaskStream {
        MaskStream::new(self.0.clone())
    }

    /// JSON text without secrets, still JSON: secrets are looked for in keys and texts as they are meant, and a number that holds one
    /// becomes a text. The very text when there are none in it. A key that becomes the same as an earlier masked one gets a number.
    ///
    /// # Errors
    ///
    /// [`NotJson`] when the text is not one JSON value.
    pub fn json<'a>(&self, text: &'a str) -> Result<Cow<'a, str>, NotJson> {
        json::masked(self, text)
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_empty() { "Mask of nothing" } else { "Mask" })
    }
}

/// How far an output is written, and whether what was written last is a replacement.
#[derive(Debug, Default)]
struct Written {
    /// Everything before it is written or masked.
    up_to: u64,
    last: Option<usize>,
}

impl Written {
    /// Writes what lies before `settled`. `bytes` are those from `base` on; `spans` begin before `settled` and are in order.
    fn write(&mut self, table: &Table, bytes: &[u8], base: u64, settled: u64, spans: &[Span], out: &mut Vec<u8>) {
        for span in spans {
            self.plain(bytes, base, span.start, out);
            // One that overlaps the last one, or follows a same one at once, is told with it.
            let told = span.start < self.up_to || (self.last == Some(span.owner) && span.start == self.up_to);
            if !told || self.last.is_none() {
                out.extend_from_slice(table.replacement(span.owner).as_bytes());
                self.last = Some(span.owner);
            }
            self.up_to = self.up_to.max(span.end);
        }
        self.plain(bytes, base, settled, out);
    }

    fn plain(&mut self, bytes: &[u8], base: u64, up_to: u64, out: &mut Vec<u8>) {
        let place = |at: u64| usize::try_from(at.saturating_sub(base)).unwrap_or(usize::MAX).min(bytes.len());
        let plain = &bytes[place(self.up_to).min(place(up_to))..place(up_to)];
        if plain.is_empty() {
            return;
        }
        // Brackets before these would be a link to somebody who shows the text as Markdown.
        if self.last.take().is_some() && matches!(plain[0], b'(' | b'[' | b':') {
            out.push(b' ');
        }
        out.extend_from_slice(plain);
        self.up_to = self.up_to.max(up_to);
    }
}
