//! Text out of bytes a tool gave.

use std::borrow::Cow;

use bytes::Bytes;
use toolplane_sandbox::Captured;

use crate::outcome::{BYTES, Exact, TEXT};

/// What was kept of a stream as text: bytes that are no UTF-8 become U+FFFD, and a line tells where bytes were left out.
pub fn of_captured(captured: &Captured) -> String {
    if captured.omitted_bytes() == 0 {
        return String::from_utf8_lossy(&captured.kept()).into_owned();
    }
    let head = String::from_utf8_lossy(without_cut_end(&captured.head));
    let tail = String::from_utf8_lossy(without_cut_start(&captured.tail));
    format!("{head}\n[... {} bytes left out ...]\n{tail}", captured.omitted_bytes())
}

/// The bytes of a stream, where [`of_captured`] is only a view of them: they are no UTF-8, or some were left out.
pub fn exact(of: &str, captured: &Captured) -> Option<Exact> {
    let gap = captured.omitted_bytes() > 0 || captured.file.is_some();
    let is_utf8 = match gap {
        true => [without_cut_end(&captured.head), without_cut_start(&captured.tail)].iter().all(|part| is_utf8(part)),
        false => is_utf8(&captured.kept()),
    };
    if is_utf8 && !gap {
        return None;
    }
    let (bytes, end) = match gap {
        true if captured.file.as_ref().is_some_and(|file| file.size_bytes() == captured.total_bytes) => {
            (Bytes::copy_from_slice(&captured.head), None)
        }
        true => (Bytes::copy_from_slice(&captured.head), Some(Bytes::copy_from_slice(&captured.tail))),
        false => (Bytes::from(captured.kept()), None),
    };
    let media_type = if is_utf8 { TEXT } else { BYTES };
    let (of, media_type, file) = (of.to_owned(), media_type.to_owned(), captured.file.clone());
    Some(Exact { of, media_type, bytes, file, end, total_bytes: captured.total_bytes, is_text: false })
}

fn is_utf8(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok()
}

/// The text itself up to `most` bytes; above that its first and last half of them, with a line that tells the gap. `left_out` bytes
/// are not in the text already.
pub fn abridged(text: &str, most: usize, left_out: u64) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let half = most / 2;
    let head = (0..=half).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let tail = (text.len() - half..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let left_out = (tail - head) as u64 + left_out;
    Cow::Owned(format!("{}\n[... {left_out} bytes left out ...]\n{}", &text[..head], &text[tail..]))
}

/// Without the bytes of a character whose end is missing.
pub(crate) fn without_cut_end(bytes: &[u8]) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => &bytes[..error.valid_up_to()],
        // A fault further up hides the end from the check: look at the last few bytes alone.
        Err(_) => {
            let start = (1..=3.min(bytes.len())).map(|back| bytes.len() - back).find(|at| bytes[*at] >= 0xc0);
            match start.map(|at| (at, std::str::from_utf8(&bytes[at..]))) {
                Some((at, Err(error))) if error.error_len().is_none() => &bytes[..at],
                _ => bytes,
            }
        }
        Ok(_) => bytes,
    }
}

/// Without the bytes of a character whose start is missing.
fn without_cut_start(bytes: &[u8]) -> &[u8] {
    let cut = bytes.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
    &bytes[cut..]
}

#[cfg(test)]
mod tests;
