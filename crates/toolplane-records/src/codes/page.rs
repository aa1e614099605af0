//! `docs/errors.md`, written from the registry.

use std::fmt::Write as _;

use super::calls::CALLS;
use super::code::{Code, Kind};
use super::faults::FAULTS;
use super::refusals::REFUSALS;

const HEAD: &str = "\
<!-- Written by `cargo xtask gen` from crates/toolplane-records/src/codes: change it there. -->

# Errors

Every error has a stable code. The command line names the place on this page: `see docs/errors.md#exec.timeout`.

- **Calls that ended in an error** carry it as `error.error_code` of their result, with the error class of the standard and what has to
  change before a retry can help (`recoverability`).
- **Requests that were refused** before anything was accepted carry it as `reason` of `google.rpc.ErrorInfo` (domain `toolplane.dev`),
  with a word in its metadata that says whether to try again (`retry`).
- **Processes** say it in their log, and when they do not start.

A message is one sentence in lower case without a final dot; values that the caller gave are in backticks.
";

/// The page.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    for (title, list) in [("Calls", CALLS), ("Requests", REFUSALS), ("Processes", FAULTS)] {
        // Writing to a string cannot fail.
        let _ = write!(page, "\n## {title}\n");
        list.iter().for_each(|code| section(&mut page, *code));
    }
    page
}

/// A text whose angle brackets stay angle brackets; between backticks they do anyway.
fn shown_text(text: &str) -> String {
    let part = |(at, part): (usize, &str)| match at % 2 {
        0 => part.replace('<', "&lt;").replace('>', "&gt;"),
        _ => part.to_owned(),
    };
    text.split('`').enumerate().map(part).collect::<Vec<_>>().join("`")
}

fn section(page: &mut String, code: Code) {
    let entry = code.entry();
    let shown = entry.text.replace(".*", ".<reason>");
    let _ = write!(page, "\n<a id=\"{}\"></a>\n### `{shown}`\n\n", code.anchor());
    let _ = match entry.kind {
        Kind::Call(class, recoverability) => writeln!(page, "Class `{class}`, recoverability `{recoverability}`.\n"),
        Kind::Refusal(status, retry) => writeln!(page, "gRPC `{}`, retry `{}`.\n", status.as_str(), retry.as_str()),
        Kind::Fault => Ok(()),
    };
    let _ = writeln!(page, "- Message: {}", shown_text(entry.says));
    let _ = writeln!(page, "- Cause: {}", entry.cause);
    let _ = writeln!(page, "- What to do: {}", entry.cure);
}
