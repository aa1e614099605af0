//! Printing answers: text for people, the standard's JSON for programs.
//!
//! Nothing that was written elsewhere can act on a terminal, or pass for a line of the command line's own: one line is
//! one line, whatever is in it, and text of several lines has a bar before each of them, which no own line has. Lines
//! longer than the terminal are broken here, so that nothing begins at its left edge that is not meant to.

use std::io::{self, IsTerminal as _, Write};

use bytes::Bytes;
use serde::Serialize;
use toolplane_proto::convert::ConvertError;
use toolplane_proto::v1::JsonPayload;
use toolplane_proto::v1::json_payload::Body;
use toolplane_records::visible;

use super::failure::Failure;

mod fold;
mod pretty;
mod readable;
mod table;
mod words;

pub(crate) use pretty::pretty;
pub(crate) use readable::readable;
pub(crate) use table::Table;
pub(crate) use words::{age, bytes, duration, instant};

use fold::{AGAIN, BAR, folded};
use toolplane_records::json::compact;

/// How answers are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// The standard's JSON: one value per record; indented on a terminal, one line each otherwise.
    Json,
}

/// Standard output in one of the formats.
pub(crate) struct Output {
    format: Format,
    terminal: bool,
    stdout: io::Stdout,
}

impl Output {
    /// The process's standard output.
    pub(crate) fn standard(format: Format) -> Self {
        let stdout = io::stdout();
        Self { format, terminal: stdout.is_terminal(), stdout }
    }

    /// Records are wanted, not text.
    pub(crate) fn json(&self) -> bool {
        self.format == Format::Json
    }

    /// A person is looking, rather than a program reading.
    pub(crate) fn terminal(&self) -> bool {
        self.terminal
    }

    /// One line of text, whatever is in it.
    pub(crate) fn line(&mut self, text: impl AsRef<str>) -> Result<(), Failure> {
        let mut stdout = self.stdout.lock();
        for line in folded("", &visible::line(text.as_ref()), AGAIN, width(&console::Term::stdout())) {
            writeln!(stdout, "{line}")?;
        }
        Ok(())
    }

    /// An empty line.
    pub(crate) fn gap(&mut self) -> Result<(), Failure> {
        self.line("")
    }

    /// Text of several lines that was written elsewhere, each with a bar before it.
    pub(crate) fn block(&mut self, text: &str) -> Result<(), Failure> {
        let mut stdout = self.stdout.lock();
        for line in barred(text, width(&console::Term::stdout())) {
            writeln!(stdout, "{line}")?;
        }
        Ok(())
    }

    /// The same beside the answer: on standard error.
    pub(crate) fn block_note(&self, text: &str) -> Result<(), Failure> {
        note_block(text)?;
        Ok(())
    }

    /// What a tool gave, where nothing else is on standard output: as it is for a program that reads it, a [`block`](Self::block)
    /// on a terminal.
    pub(crate) fn content(&mut self, text: &str) -> Result<(), Failure> {
        if self.terminal {
            return self.block(text);
        }
        writeln!(self.stdout.lock(), "{text}")?;
        Ok(())
    }

    /// A table, or the given words when it is empty.
    pub(crate) fn table(&mut self, table: &Table, when_empty: &str) -> Result<(), Failure> {
        match table.is_empty() {
            true => self.note(when_empty),
            false => table.lines().try_for_each(|line| self.line(line)),
        }
    }

    /// A remark for people, beside the answer: on standard error.
    pub(crate) fn note(&self, text: &str) -> Result<(), Failure> {
        note(text)?;
        Ok(())
    }

    /// Points out words that may be taken for others, of a text that is shown: see [`visible::look_alikes`].
    pub(crate) fn point_out(&self, text: &str) -> Result<(), Failure> {
        visible::look_alikes(text).iter().try_for_each(|found| self.note(&format!("take care: {found}")))
    }

    /// One JSON value, given as text: the same value, with escapes for what would act on a terminal.
    pub(crate) fn value(&mut self, json: &str) -> Result<(), Failure> {
        let text = if self.terminal { pretty(json) } else { compact(json) };
        writeln!(self.stdout.lock(), "{}", visible::json(&text))?;
        Ok(())
    }

    /// One JSON value of the cluster; its numbers and strings as they were sent.
    pub(crate) fn payload(&mut self, payload: Option<JsonPayload>) -> Result<(), Failure> {
        let text =
            payload_text(payload.as_ref()).ok_or_else(|| Failure::Answer("the JSON record is missing".to_owned()))?;
        self.value(&text)
    }

    /// One message, as the standard's JSON of its record.
    pub(crate) fn record<R, M>(&mut self, message: M) -> Result<(), Failure>
    where
        R: TryFrom<M, Error = ConvertError> + Serialize,
    {
        let record = R::try_from(message).map_err(|error| Failure::Answer(error.to_string()))?;
        self.serialized(&record)
    }

    /// One value that is no record of the standard.
    pub(crate) fn serialized(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string(value).map_err(|error| Failure::Answer(error.to_string()))?;
        self.value(&text)
    }

    /// Bytes as they are.
    pub(crate) fn raw(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let mut stdout = self.stdout.lock();
        stdout.write_all(bytes)?;
        stdout.flush()?;
        Ok(())
    }
}

/// One line beside the answer, on standard error, for those that have no [`Output`].
pub(crate) fn note(text: &str) -> io::Result<()> {
    let mut stderr = io::stderr().lock();
    let width = width(&console::Term::stderr());
    folded("", &visible::line(text), AGAIN, width).iter().try_for_each(|line| writeln!(stderr, "{line}"))
}

/// Text of several lines that was written elsewhere, each with a bar before it, as [`note`].
pub(crate) fn note_block(text: &str) -> io::Result<()> {
    let mut stderr = io::stderr().lock();
    barred(text, width(&console::Term::stderr())).iter().try_for_each(|line| writeln!(stderr, "{line}"))
}

/// Columns of a terminal; none where there is none.
fn width(terminal: &console::Term) -> Option<usize> {
    terminal.is_term().then(|| terminal.size_checked()).flatten().map(|(_, columns)| usize::from(columns))
}

fn barred(text: &str, width: Option<usize>) -> Vec<String> {
    visible::text(text).lines().flat_map(|line| folded(BAR, line, BAR, width)).collect()
}

/// The bytes of an inline JSON value.
pub(crate) fn payload_bytes(payload: Option<&JsonPayload>) -> Option<Bytes> {
    match payload?.body.as_ref()? {
        Body::Inline(bytes) => Some(bytes.clone()),
        Body::Ref(_) => None,
    }
}

/// An inline JSON value as text.
pub(crate) fn payload_text(payload: Option<&JsonPayload>) -> Option<String> {
    payload_bytes(payload).and_then(|bytes| String::from_utf8(bytes.to_vec()).ok())
}
