//! Which headers a call may set, and to what.

/// Headers that belong to the connection, to the body, or say who is asking: never input of a call.
const RESERVED: &[&str] = &[
    "accept",
    "accept-encoding",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    "idempotency-key",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-real-ip",
];
const RESERVED_PREFIXES: &[&str] = &["proxy-", "x-forwarded-", "sec-"];

/// Whether a header, in any case, is not for callers to set.
pub fn is_reserved_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    RESERVED.contains(&name.as_str()) || RESERVED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether a text can be the name of a header.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Whether a text can be the value of a header: visible ASCII, spaces and tabs.
pub(super) fn is_value(value: &str) -> bool {
    value.bytes().all(|byte| byte == b'\t' || (0x20..0x7f).contains(&byte))
}
