//! Markup that loads or runs something where it is shown.

use super::Rule;

pub(super) const RULES: &[Rule] = &[
    Rule::new("script", r"(?i-u)<\s{0,4}script(?:[\s/>]|$)"),
    Rule::new("frame", r"(?i-u)<\s{0,4}(?:iframe|frame|object|embed|applet|portal)(?:[\s/>]|$)"),
    Rule::new("handler", r#"(?i-u)<[a-z][a-z0-9-]{0,20}[^<>]*[\s"'/]on[a-z]{3,24}\s{0,4}="#),
    Rule::new("script_link", r"(?i-u)(?:javascript|vbscript)\s{0,4}:\s{0,4}[^\s]|data:text/html"),
    Rule::new("meta_refresh", r#"(?i-u)<\s{0,4}meta[^<>]*http-equiv\s{0,4}=\s{0,4}["']?refresh"#),
    Rule::new("form", r"(?i-u)<\s{0,4}form[^<>]*action\s{0,4}="),
    Rule::new(
        "remote_image",
        r#"(?i-u)!\[[^\]\n]*\]\(\s{0,4}<?https?://[^\s)]+[?&=][^\s)]*\)|<\s{0,4}img[^<>]*src\s{0,4}=\s{0,4}["']?https?://[^\s"'<>]+[?&]"#,
    ),
];
