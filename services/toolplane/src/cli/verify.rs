//! `toolplane verify`: proves exports, without a cluster.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use toolplane_evidence::{Begin, Fault, MAX_LINE_BYTES, PublicKey, Verified, Verifier};

use super::failure::Failure;
use super::outcome::CommandOutcome;
use super::output::Output;

/// What is proved, with what.
#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    /// The exports, each of which goes on from the one before; `-` is standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The public key of who signed, as `toolplane keys signing` makes it.
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
}

/// Proves the exports, or names the first line that is wrong and what is wrong with it.
pub(crate) fn run(args: &VerifyArgs, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let text = std::fs::read_to_string(&args.key).map_err(|error| Failure::file(&args.key, &error))?;
    let key = PublicKey::read(&text)
        .map_err(|error| Failure::Local(format!("`{}` is no key to verify with: {error}", args.key.display())))?;
    let mut before = None;
    for file in &args.files {
        let mut verifier = Verifier::new(key);
        if let Some(before) = before.take() {
            verifier = verifier.after(before);
        }
        read_lines(file, |line| verifier.line(line))?;
        match verifier.finish() {
            Ok(verified) => {
                proved(file, &verified, out)?;
                before = Some(verified);
            }
            Err(fault) => return wrong(file, &fault, out),
        }
    }
    Ok(CommandOutcome::Done)
}

fn proved(file: &Path, verified: &Verified, out: &mut Output) -> Result<(), Failure> {
    let Verified { exports, records, calls, tombstones, begin, head } = verified;
    if out.json() {
        return out.serialized(&json!({
            "file": file, "verified": true, "exports": exports, "records": records, "calls": calls,
            "tombstones": tombstones, "tenant": begin.tenant, "session": begin.session_ref,
            "invocation": begin.invocation_id, "from": begin.from, "until": head.until, "head": head.sum,
            "after": begin.continues.map(|head| head.sum),
        }));
    }
    let from = begin.from.map_or_else(|| "the beginning".to_owned(), |from| from.to_string());
    out.line(format!("{}  proved: {records} records, {calls} calls, {tombstones} deletions", file.display()))?;
    out.line(format!("  {}, from {from} until {}, head {}", scope(begin), head.until, head.sum))?;
    match begin.continues {
        Some(before) => out.line(format!("  goes on from the export with the head {}", before.sum)),
        None => Ok(()),
    }
}

/// What an export is of. One that was narrowed is not all there is.
pub(super) fn scope(begin: &Begin) -> String {
    let only = [("session", &begin.session_ref), ("call", &begin.invocation_id)].into_iter();
    let only = only.filter(|(_, name)| !name.is_empty()).map(|(kind, name)| format!(", only the {kind} {name}"));
    format!("tenant {}{}", begin.tenant, only.collect::<String>())
}

fn wrong(file: &Path, fault: &Fault, out: &mut Output) -> Result<CommandOutcome, Failure> {
    if out.json() {
        let Fault { line, wrong } = fault;
        out.serialized(&json!({ "file": file, "verified": false, "line": line, "wrong": wrong.to_string() }))?;
    } else {
        out.line(format!("{}  not proved: {fault}", file.display()))?;
    }
    Ok(CommandOutcome::ToolFailed)
}

/// Hands each line of a file to `take`, without its line break, as long as it wants more. A line that is too long is handed on cut: it is
/// no line of an export then.
pub(super) fn read_lines(file: &Path, mut take: impl FnMut(&[u8]) -> bool) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::file(file, &error);
    let mut input: Box<dyn std::io::BufRead> = match file.as_os_str() == "-" {
        true => Box::new(std::io::stdin().lock()),
        false => Box::new(BufReader::new(File::open(file).map_err(failed)?)),
    };
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut input).take(MAX_LINE_BYTES as u64).read_until(b'\n', &mut line).map_err(failed)?;
        if read == 0 {
            return Ok(());
        }
        if !take(line.strip_suffix(b"\n").unwrap_or(&line)) {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_one_by_one_with_or_without_a_break_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("lines");
        std::fs::write(&file, "a\n\nb").unwrap();
        let mut lines = Vec::new();
        read_lines(&file, |line| {
            lines.push(line.to_vec());
            true
        })
        .unwrap();
        assert_eq!(lines, [b"a".to_vec(), Vec::new(), b"b".to_vec()]);
        assert!(read_lines(&folder.path().join("none"), |_| true).is_err());
    }
}
