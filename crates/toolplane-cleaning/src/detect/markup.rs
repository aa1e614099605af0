//! Markup that loads or runs something where it is shown.

use super::Rule;

pub(super) const RULES: &[Rule] = &[
    // `Vec<Script>` is no markup: after a name there has to be an attribute or the end of an element.
    Rule::new("script", r"(?i-u)(?:^|[^a-z0-9_])<script(?:[\s/>]|$)|<script\s[^<>]*=|</script\s{0,4}>"),
    Rule::new(
        "frame",
        r"(?i-u)(?:^|[^a-z0-9_])<(?:iframe|frame|object|embed|applet|portal)(?:[\s/>]|$)|<(?:iframe|frame|object|embed|applet|portal)\s[^<>]*=",
    ),
    // An element whose handler is `{…}` is code that makes markup.
    Rule::new("handler", r#"(?i-u)<[a-z][a-z0-9-]{0,20}[^<>]*[\s"'/]on[a-z]{3,24}\s{0,4}=\s{0,4}[^\s{=>]"#),
    Rule::new(
        "script_link",
        r#"(?i-u)(?:["'=<]|\]\()\s{0,4}(?:javascript|vbscript)\s{0,4}:|^(?:javascript|vbscript):[a-z/(]|data:text/html"#,
    ),
    Rule::new("meta_refresh", r#"(?i-u)<\s{0,4}meta[^<>]*http-equiv\s{0,4}=\s{0,4}["']?refresh"#),
    Rule::new(
        "linked_file",
        r#"(?i-u)<link\s[^<>]*rel\s{0,4}=\s{0,4}["']?(?:stylesheet|preload|prefetch|modulepreload|import)"#,
    ),
    Rule::new("form", r"(?i-u)<\s{0,4}form[^<>]*action\s{0,4}="),
    Rule::new(
        "remote_image",
        r#"(?i-u)!\[[^\]\n]*\]\(\s{0,4}<?https?://[^\s)]+[?&=][^\s)]*\)|<\s{0,4}img[^<>]*src\s{0,4}=\s{0,4}["']?https?://[^\s"'<>]+[?&]"#,
    ),
];
