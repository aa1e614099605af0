//! `files.read_file`: lines of one file, or the whole of a picture, a document or an archive.

use std::io::{BufRead, BufReader, Read as _};

use serde::{Deserialize, Serialize};
use toolplane_records::codes;
use toolplane_records::error::ToolError;

use super::place::{open_file, refused, relative};
use super::site::{FileTool, Site, Stop};
use crate::artifacts::media_type;
use crate::failure::{execution_failed, invalid_input};
use crate::outcome::{BYTES, Exact, Outcome};
use crate::text::without_cut_end;

const DEFAULT_LINES: u64 = 2000;
const MAX_LINES: u64 = 100_000;
/// Most bytes of text in one answer.
const MAX_BYTES: usize = 1024 * 1024;
/// Most bytes looked through to find the first line.
const MAX_SKIPPED: u64 = 1024 * 1024 * 1024;
/// Largest file that is given as a whole.
const MAX_WHOLE: u64 = 8 * 1024 * 1024;
/// Beginning of a file in which NUL means that it is no text.
const BINARY_CHECK: usize = 8192;

/// What the tool takes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadInput {
    /// The file, relative to the workspace.
    path: String,
    /// First line, from 1.
    offset: Option<u64>,
    /// Most lines; 2000 when absent.
    limit: Option<u64>,
}

#[derive(Debug, Serialize)]
struct ReadReport {
    path: String,
    size_bytes: u64,
    first_line: u64,
    line_count: u64,
    /// Where to go on, when lines are left.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_offset: Option<u64>,
    /// The last line was cut at the bound of one answer.
    truncated: bool,
    /// `utf-8`, or `lossy` when bytes had to be replaced.
    encoding: &'static str,
}

#[derive(Debug, Serialize)]
struct WholeReport {
    path: String,
    size_bytes: u64,
    media_type: &'static str,
}

#[derive(Debug)]
pub(crate) struct Read;

impl FileTool for Read {
    type Input = ReadInput;

    fn run(site: &Site, input: ReadInput) -> Result<Outcome, ToolError> {
        let first_line = input.offset.unwrap_or(1);
        let limit = input.limit.unwrap_or(DEFAULT_LINES);
        if first_line == 0 {
            return Err(invalid_input("offset", "counts lines from 1"));
        }
        if limit == 0 || limit > MAX_LINES {
            return Err(invalid_input("limit", format!("must be from 1 to {MAX_LINES}")));
        }
        let (file, size_bytes) = open_file(site, &relative(&input.path)?, &input.path)?;
        let mut source = BufReader::with_capacity(64 * 1024, file);
        let failed = |error: std::io::Error| refused(&input.path, &error);
        let beginning = source.fill_buf().map_err(failed)?;
        if let Some(media_type) = whole_kind(&input.path, beginning).filter(|_| size_bytes <= MAX_WHOLE) {
            let mut bytes = Vec::new();
            source.take(MAX_WHOLE).read_to_end(&mut bytes).map_err(failed)?;
            return Ok(shown(&input.path, media_type, bytes));
        }
        if beginning[..beginning.len().min(BINARY_CHECK)].contains(&0) {
            let message = format!("the file is not text ({size_bytes} bytes)");
            return Err(execution_failed(codes::PATH_UNREADABLE, message));
        }
        let skipped = skip_lines(&mut source, first_line - 1, &site.stop).map_err(failed)?;
        if skipped < first_line - 1 {
            let rule = format!("is beyond the end: the file has {skipped} lines");
            return Err(invalid_input("offset", rule));
        }
        let taken = take_lines(&mut source, limit, &site.stop).map_err(failed)?;
        Ok(report(&input.path, size_bytes, first_line, &taken))
    }
}

/// What a file is that is given as a whole: one of a kind that nobody reads as text, and that its first bytes tell.
fn whole_kind(path: &str, beginning: &[u8]) -> Option<&'static str> {
    let kind = media_type::of(path, beginning);
    let is_text = kind.starts_with("text/") || beginning.is_empty() || kind == BYTES;
    (!is_text && media_type::is_told_by_bytes(beginning)).then_some(kind)
}

struct LineWindow {
    bytes: Vec<u8>,
    lines: u64,
    cut: bool,
    more: bool,
}

/// The file as a whole.
fn shown(path: &str, media_type: &'static str, bytes: Vec<u8>) -> Outcome {
    let report = WholeReport { path: path.to_owned(), size_bytes: bytes.len() as u64, media_type };
    let kind = if media_type.starts_with("image/") { "image" } else { "file" };
    let text = format!("[{kind}: {media_type}, {} bytes]", bytes.len());
    let exact = Exact::answer(bytes, media_type, &text);
    Outcome::text(text).structured(&report).exactly(Some(exact))
}

fn report(path: &str, size_bytes: u64, first_line: u64, taken: &LineWindow) -> Outcome {
    let bytes = if taken.cut { without_cut_end(&taken.bytes) } else { &taken.bytes };
    let text = String::from_utf8_lossy(bytes);
    let encoding = if matches!(text, std::borrow::Cow::Borrowed(_)) { "utf-8" } else { "lossy" };
    let report = ReadReport {
        path: path.to_owned(),
        size_bytes,
        first_line,
        line_count: taken.lines,
        next_offset: (taken.more && !taken.cut).then_some(first_line + taken.lines),
        truncated: taken.cut,
        encoding,
    };
    let exact = (encoding == "lossy").then(|| Exact::answer(bytes.to_vec(), BYTES, &text));
    Outcome::text(text.into_owned()).structured(&report).exactly(exact)
}

/// Goes past `wanted` line ends; returns how many there were.
fn skip_lines(source: &mut impl BufRead, wanted: u64, stop: &Stop) -> std::io::Result<u64> {
    let (mut lines, mut passed) = (0, 0);
    while lines < wanted && passed < MAX_SKIPPED && !stop.wanted() {
        let chunk = source.fill_buf()?;
        if chunk.is_empty() {
            break;
        }
        let end = chunk.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
        lines += u64::from(end.is_some());
        let length = end.unwrap_or(chunk.len());
        passed += length as u64;
        source.consume(length);
    }
    Ok(lines)
}

/// Up to `limit` lines and [`MAX_BYTES`] bytes.
fn take_lines(source: &mut impl BufRead, limit: u64, stop: &Stop) -> std::io::Result<LineWindow> {
    let mut taken = LineWindow { bytes: Vec::new(), lines: 0, cut: false, more: false };
    let mut in_line = false;
    while taken.lines < limit && !stop.wanted() {
        let chunk = source.fill_buf()?;
        if chunk.is_empty() {
            taken.lines += u64::from(in_line);
            return Ok(taken);
        }
        let end = chunk.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
        let length = end.unwrap_or(chunk.len());
        let room = MAX_BYTES - taken.bytes.len();
        taken.bytes.extend_from_slice(&chunk[..length.min(room)]);
        if length > room {
            taken.lines += u64::from(in_line || room > 0);
            taken.cut = true;
            taken.more = true;
            return Ok(taken);
        }
        taken.lines += u64::from(end.is_some());
        in_line = end.is_none();
        source.consume(length);
    }
    taken.more = !source.fill_buf()?.is_empty();
    Ok(taken)
}
