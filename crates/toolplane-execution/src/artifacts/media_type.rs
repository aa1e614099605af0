//! What a file is: by its first bytes where those tell, and only among texts by the end of its name.
//!
//! A name alone proves nothing, and cleaning does not look into pictures and archives: a text that is called `a.png` is a text.

use crate::outcome::{BYTES, TEXT};
use crate::text::without_cut_end;

/// Kinds that are told by the bytes at an offset.
const BY_BYTES: &[(usize, &[u8], &str)] = &[
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF8", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (8, b"WAVE", "audio/wav"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"OggS", "audio/ogg"),
    (4, b"ftyp", "video/mp4"),
    (0, b"\x1aE\xdf\xa3", "video/webm"),
    (0, b"%PDF-", "application/pdf"),
    (0, b"\x1f\x8b", "application/gzip"),
    (0, b"PK\x03\x04", "application/zip"),
    (0, b"SQLite format 3\0", "application/vnd.sqlite3"),
];

/// Kinds of archives by the end of the name.
const OF_ARCHIVES: &[(&str, &str)] = &[
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
];

/// Kinds of texts by the end of the name.
const OF_TEXTS: &[(&str, &str)] = &[
    ("css", "text/css"),
    ("csv", "text/csv"),
    ("diff", "text/x-diff"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("jsonl", "application/x-ndjson"),
    ("markdown", "text/markdown"),
    ("md", "text/markdown"),
    ("ndjson", "application/x-ndjson"),
    ("patch", "text/x-diff"),
    ("sql", "application/sql"),
    ("svg", "image/svg+xml"),
    ("toml", "application/toml"),
    ("tsv", "text/tab-separated-values"),
    ("xml", "application/xml"),
    ("yaml", "application/yaml"),
    ("yml", "application/yaml"),
];

/// Whether bytes that begin so tell of themselves what they are.
pub(crate) fn is_told_by_bytes(beginning: &[u8]) -> bool {
    by_bytes(beginning).is_some()
}

fn by_bytes(beginning: &[u8]) -> Option<&'static str> {
    let fits =
        |(at, bytes, _): &&(usize, &[u8], &str)| beginning.get(*at..).is_some_and(|rest| rest.starts_with(bytes));
    BY_BYTES.iter().find(fits).map(|(_, _, media_type)| *media_type)
}

/// What a file of this name is that begins so.
pub(crate) fn of(path: &str, beginning: &[u8]) -> &'static str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let end = name.rsplit_once('.').map_or("", |(_, end)| end).to_ascii_lowercase();
    let by_name = |table: &[(&str, &'static str)]| {
        table.iter().find(|(known, _)| *known == end).map(|(_, media_type)| *media_type)
    };
    match by_bytes(beginning) {
        Some("application/zip") => by_name(OF_ARCHIVES).unwrap_or("application/zip"),
        Some(media_type) => media_type,
        None if is_text(beginning) => by_name(OF_TEXTS).unwrap_or(TEXT),
        None => BYTES,
    }
}

fn is_text(beginning: &[u8]) -> bool {
    !beginning.contains(&0) && std::str::from_utf8(without_cut_end(beginning)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_say_what_a_file_is_and_its_name_only_which_text() {
        for (path, beginning, is) in [
            ("a/b.png", &b"\x89PNG\r\n\x1a\n..."[..], "image/png"),
            ("b.png", b"password: hunter2", TEXT),
            ("b.zip", b"plain", TEXT),
            ("out/a.CSV", b"a,b\n1,2\n", "text/csv"),
            ("report.json", b"{}", "application/json"),
            ("report.json", b"\xff\x00", BYTES),
            ("table.xlsx", b"PK\x03\x04...", OF_ARCHIVES[2].1),
            ("x", b"PK\x03\x04...", "application/zip"),
            ("empty", b"", TEXT),
            ("half.md", "é".as_bytes()[..1].as_ref(), "text/markdown"),
        ] {
            assert_eq!(of(path, beginning), is, "{path}");
        }
    }
}
