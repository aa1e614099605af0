//! A client that speaks plain text to a port that speaks TLS is told so, in the words it understands.

/// What the answer says.
pub(super) const PLAIN_WORDS: &str = "this port speaks TLS";

/// What a client of HTTP/2 begins with, and settings that change nothing.
pub const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";

/// Whether an answer to [`HTTP2_PREFACE`] comes from a port that speaks TLS: an alert of TLS, or the words of a server of ours.
pub fn is_of_tls(answer: &[u8]) -> bool {
    const ALERT: [u8; 2] = [0x15, 3];
    answer.starts_with(&ALERT) || answer.windows(PLAIN_WORDS.len()).any(|words| words == PLAIN_WORDS.as_bytes())
}

/// Whether these first bytes are those of plain HTTP: a TLS record begins with its kind, a byte below 32.
pub(crate) fn is_plain(first: &[u8]) -> bool {
    first.first().is_some_and(u8::is_ascii_uppercase)
}

/// What such a client is answered before its connection is closed.
pub(crate) fn answer_to_plain(first: &[u8]) -> Vec<u8> {
    let words = format!("{PLAIN_WORDS}: connect with https");
    if !first.starts_with(b"PRI") {
        let length = words.len() + 1;
        return format!(
            "HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{words}\n"
        )
        .into_bytes();
    }
    // HTTP/2: settings, without which nothing is listened to, and GOAWAY with INADEQUATE_SECURITY and the reason in words.
    let settings: &[u8] = &[0, 0, 0, 4, 0, 0, 0, 0, 0];
    let length = u8::try_from(8 + words.len()).unwrap_or(8);
    let goaway: &[u8] = &[0, 0, length, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0c];
    [settings, goaway, &words.as_bytes()[..usize::from(length) - 8]].concat()
}
