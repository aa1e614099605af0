//! Breaking lines that are longer than the terminal, so that the text at its left edge is always put there by us.

/// The text before each line that was written elsewhere; no own line begins so.
pub(super) const BAR: &str = "│ ";
/// The text before the rest of an own line.
pub(super) const AGAIN: &str = "… ";
/// Narrower terminals are taken to be so wide.
const NARROWEST: usize = 20;

/// `first` and the line, broken into as many as a terminal of `width` columns needs; each further one begins with `next`. Without
/// a terminal it stays one.
pub(super) fn folded(first: &str, line: &str, next: &str, width: Option<usize>) -> Vec<String> {
    let Some(width) = width.map(|width| width.max(NARROWEST)) else { return vec![format!("{first}{line}")] };
    let columns = |text: &str| console::measure_text_width(text);
    let mut lines = Vec::new();
    let mut current = first.to_owned();
    let mut used = columns(first);
    let mut letter = [0; 4];
    for c in line.chars() {
        // A tab leads to the next column that is a multiple of eight.
        let wide = if c == '\t' { 8 - used % 8 } else { columns(c.encode_utf8(&mut letter)) };
        if used + wide > width {
            lines.push(std::mem::replace(&mut current, next.to_owned()));
            used = columns(next);
        }
        current.push(c);
        used += wide;
    }
    lines.push(current);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_the_terminal_and_nothing_is_lost() {
        let long = format!("done{}✔ succeeded inv_2", " ".repeat(60));
        let lines = folded("", &long, AGAIN, Some(40));
        assert!(lines.len() == 3 && lines[1..].iter().all(|line| line.starts_with(AGAIN)), "{lines:#?}");
        assert!(lines.iter().all(|line| console::measure_text_width(line) <= 40), "{lines:#?}");
        let whole: String = lines.iter().map(|line| line.trim_start_matches(AGAIN)).collect();
        assert_eq!(whole.replace(' ', ""), long.replace(' ', ""));
        for text in ["", "short", &"漢字".repeat(30), &"a\tb".repeat(30)] {
            assert!(folded(BAR, text, BAR, Some(1)).iter().all(|line| line.starts_with(BAR)), "{text}");
        }
        assert_eq!(folded("", &long, AGAIN, None), [long]);
    }
}
