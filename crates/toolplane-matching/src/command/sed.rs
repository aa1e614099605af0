//! Which scripts of `sed` only change the text that passes through.

use super::Word;

/// Whether the argument at `at` (of those behind the program) may write a file or run a program.
pub(super) fn is_dangerous(arguments: &[Word], at: usize) -> bool {
    let text = arguments[at].text.as_str();
    if let Some(long) = text.strip_prefix("--") {
        if let Some(script) = long.strip_prefix("expression=") {
            return !is_plain(script);
        }
        return !matches!(
            long,
            "quiet"
                | "silent"
                | "regexp-extended"
                | "posix"
                | "separate"
                | "unbuffered"
                | "null-data"
                | "debug"
                | "sandbox"
                | "version"
                | "help"
                | ""
                | "expression"
        );
    }
    if let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) {
        let (options, script) = letters.split_once('e').map_or((letters, ""), |(options, script)| (options, script));
        let plain = options.bytes().all(|letter| b"nErsuz".contains(&letter));
        return !plain || (!script.is_empty() && !is_plain(script));
    }
    let after_e = at > 0 && arguments[at - 1].text.starts_with('-') && !arguments[at - 1].text.starts_with("--");
    let after_e = after_e && arguments[at - 1].text.ends_with('e');
    let any_e = arguments[..at].iter().any(|word| {
        word.text.starts_with("--expression")
            || (word.text.starts_with('-') && !word.text.starts_with("--") && word.text.contains('e'))
    });
    let first = !arguments[..at].iter().any(|word| !word.text.starts_with('-'));
    // The script is what follows `-e`, or else the first operand; the others are files.
    let is_script = after_e || (first && !any_e);
    is_script && !is_plain(text)
}

/// Whether a script only addresses, substitutes, prints, deletes and moves lines about.
pub(super) fn is_plain(script: &str) -> bool {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';', '{', '}', '!']);
        let Some(c) = rest.chars().next() else { return true };
        rest = match c {
            '0'..='9' | '$' | ',' | '~' | '+' => &rest[1..],
            '/' => match behind(&rest[1..], '/', 1) {
                Some(rest) => rest.trim_start_matches(['I', 'M']),
                None => return false,
            },
            'p' | 'd' | 'q' | 'Q' | '=' | 'n' | 'N' | 'h' | 'H' | 'g' | 'G' | 'x' | 'P' | 'D' | 'l' => &rest[1..],
            's' | 'y' => {
                let Some(mark) = rest[1..].chars().next() else { return false };
                if mark == '\\' || mark == '\n' {
                    return false;
                }
                let Some(flags) = behind(&rest[1 + mark.len_utf8()..], mark, 2) else { return false };
                flags.trim_start_matches(|c: char| c.is_ascii_digit() || "gpiIM".contains(c))
            }
            _ => return false,
        };
        // Behind a command or its flags only another one may follow.
        if !rest.is_empty() && !rest.starts_with(|c: char| " \t\n;{}!,~+$/".contains(c) || c.is_ascii_alphanumeric()) {
            return false;
        }
    }
}

/// The text behind the `count`-th unescaped `mark`.
fn behind(text: &str, mark: char, count: usize) -> Option<&str> {
    let mut left = count;
    let mut escaped = false;
    for (index, c) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == '[' {
            // Whether a mark in brackets ends the expression is answered differently by different programs.
            let inside = text[index..].split(']').next().unwrap_or_default();
            if inside.contains(mark) {
                return None;
            }
        } else if c == mark {
            left -= 1;
            if left == 0 {
                return Some(&text[index + c.len_utf8()..]);
            }
        }
    }
    None
}
