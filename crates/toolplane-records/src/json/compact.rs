//! JSON text without the space that says nothing.

/// The same JSON value on one line. Works on the text, so that numbers and strings stay as they are written; text that is not JSON comes
/// back more or less as it was.
pub fn compact(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut in_string, mut after_backslash) = (false, false);
    for c in json.chars() {
        if !in_string && c.is_ascii_whitespace() {
            continue;
        }
        out.push(c);
        match c {
            _ if after_backslash => after_backslash = false,
            '\\' if in_string => after_backslash = true,
            '"' => in_string = !in_string,
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::compact;

    #[test]
    fn one_line_keeps_what_is_in_strings() {
        assert_eq!(compact("{ \"a b\" :\n [1.50e2,\t\"\\\" c\"] }"), r#"{"a b":[1.50e2,"\" c"]}"#);
        assert_eq!(compact(r#" "\\" , 1 "#), r#""\\",1"#);
        assert_eq!(compact(""), "");
    }
}
