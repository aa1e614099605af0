//! Indenting JSON text without changing a single value.

/// The same JSON value with line breaks and two spaces per level. Works on the text, so that numbers and strings stay as
/// they were written; text that is not JSON comes back more or less as it was.
pub(crate) fn pretty(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let mut tokens = json.chars().peekable();
    while let Some(token) = tokens.next() {
        match token {
            '"' => {
                out.push('"');
                copy_string(&mut tokens, &mut out);
            }
            '{' | '[' => {
                out.push(token);
                skip_space(&mut tokens);
                match tokens.next_if(|next| matches!(next, '}' | ']')) {
                    Some(close) => out.push(close),
                    None => {
                        depth += 1;
                        line_break(&mut out, depth);
                    }
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line_break(&mut out, depth);
                out.push(token);
            }
            ',' => {
                out.push(',');
                line_break(&mut out, depth);
            }
            ':' => out.push_str(": "),
            space if space.is_ascii_whitespace() => {}
            other => out.push(other),
        }
    }
    out
}

type Tokens<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn copy_string(tokens: &mut Tokens<'_>, out: &mut String) {
    while let Some(token) = tokens.next() {
        out.push(token);
        match token {
            '"' => return,
            '\\' => out.extend(tokens.next()),
            _ => {}
        }
    }
}

fn skip_space(tokens: &mut Tokens<'_>) {
    while tokens.next_if(|next| next.is_ascii_whitespace()).is_some() {}
}

fn line_break(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use toolplane_records::json::compact;

    use super::pretty;

    #[track_caller]
    fn check(json: &str, expected: &str) {
        assert_eq!(pretty(json), expected);
        // Indenting twice is indenting once.
        assert_eq!(pretty(expected), expected);
        assert_eq!(compact(expected), compact(json));
    }

    #[test]
    fn values_are_left_alone() {
        check(r#"{"n":18446744073709551617,"x":1.50e2}"#, "{\n  \"n\": 18446744073709551617,\n  \"x\": 1.50e2\n}");
        check(r#""a { b : \" , }""#, r#""a { b : \" , }""#);
    }

    #[test]
    fn empty_containers_stay_on_one_line() {
        check("{ }", "{}");
        check("[[],{\"a\":[ ]}]", "[\n  [],\n  {\n    \"a\": []\n  }\n]");
    }
}
