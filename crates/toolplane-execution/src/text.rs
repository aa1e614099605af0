//! Text out of bytes a tool gave.

use std::borrow::Cow;

use toolplane_sandbox::Captured;

/// What was kept of a stream as text: bytes that are no UTF-8 become U+FFFD, and a line tells where bytes were left out.
pub fn of_captured(captured: &Captured) -> String {
    if captured.omitted_bytes() == 0 {
        return String::from_utf8_lossy(&captured.kept()).into_owned();
    }
    let head = String::from_utf8_lossy(without_cut_end(&captured.head));
    let tail = String::from_utf8_lossy(without_cut_start(&captured.tail));
    format!("{head}\n[... {} bytes left out ...]\n{tail}", captured.omitted_bytes())
}

/// The text itself up to `most` bytes; above that its first and last half of them, with a line that tells the gap.
pub fn abridged(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let half = most / 2;
    let head = (0..=half).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let tail = (text.len() - half..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    Cow::Owned(format!("{}\n[... {} bytes left out ...]\n{}", &text[..head], tail - head, &text[tail..]))
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
