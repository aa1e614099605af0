//! Previews: head and tail of a text with an explicit marker between them.

mod sampler;
#[cfg(test)]
mod tests;

pub use sampler::Sampler;

/// How much of a large text is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreviewLimits {
    /// Most bytes from the start.
    pub head_bytes: usize,
    /// Most bytes from the end.
    pub tail_bytes: usize,
}

impl Default for PreviewLimits {
    /// 2 KiB each.
    fn default() -> Self {
        Self { head_bytes: 2048, tail_bytes: 2048 }
    }
}

/// A text shortened for reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    /// Head, marker, tail; or the whole text when nothing was cut.
    pub text: String,
    /// Bytes of the original between head and tail.
    pub omitted_bytes: u64,
    /// Line ends of the original between head and tail.
    pub omitted_lines: u64,
}

/// The head and the tail of `text` with what was cut named between them; the whole text when it fits.
///
/// Cuts fall on character boundaries, and on line ends where that keeps at least half of the allowance.
pub fn preview(text: &str, limits: PreviewLimits) -> Preview {
    if text.len() <= limits.head_bytes.saturating_add(limits.tail_bytes) {
        return Preview { text: text.to_owned(), omitted_bytes: 0, omitted_lines: 0 };
    }
    let head = whole_lines_at_start(&text[..boundary_before(text, limits.head_bytes)]);
    let tail = whole_lines_at_end(&text[boundary_after(text, text.len() - limits.tail_bytes.min(text.len()))..]);
    let omitted = &text[head.len()..text.len() - tail.len()];
    join(head, tail, omitted.len() as u64, line_ends(omitted.as_bytes()))
}

fn join(head: &str, tail: &str, omitted_bytes: u64, omitted_lines: u64) -> Preview {
    let lines = match omitted_lines {
        0 => String::new(),
        1 => ", 1 line".to_owned(),
        more => format!(", {} lines", grouped(more)),
    };
    let before = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
    let text = format!("{head}{before}[... {} bytes{lines} omitted ...]\n{tail}", grouped(omitted_bytes));
    Preview { text, omitted_bytes, omitted_lines }
}

/// Cuts after the last line end, unless that would give away more than half.
fn whole_lines_at_start(head: &str) -> &str {
    match head.rfind('\n') {
        Some(end) if end + 1 >= head.len() / 2 => &head[..=end],
        _ => head,
    }
}

/// Cuts after the first line end, unless that would give away more than half.
fn whole_lines_at_end(tail: &str) -> &str {
    match tail.find('\n') {
        Some(end) if end < tail.len() / 2 => &tail[end + 1..],
        _ => tail,
    }
}

fn boundary_before(text: &str, index: usize) -> usize {
    (0..=index.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn boundary_after(text: &str, index: usize) -> usize {
    (index..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

fn line_ends(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// A count with `,` between groups of three digits.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
