//! Printing answers: text for people, the standard's JSON for programs.

use std::io::{self, IsTerminal as _, Write};

use bytes::Bytes;
use serde::Serialize;
use toolplane_proto::convert::ConvertError;
use toolplane_proto::v1::JsonPayload;
use toolplane_proto::v1::json_payload::Body;

use super::Failure;

mod pretty;
mod table;
mod words;

pub(crate) use pretty::pretty;

use pretty::compact;
pub(crate) use table::Table;
pub(crate) use words::{age, bytes, duration, instant, printable};

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

    /// One line of text. Characters that would steer a terminal are shown, not sent.
    pub(crate) fn line(&mut self, text: impl AsRef<str>) -> Result<(), Failure> {
        let mut stdout = self.stdout.lock();
        if self.terminal {
            writeln!(stdout, "{}", printable(text.as_ref()))?;
        } else {
            writeln!(stdout, "{}", text.as_ref())?;
        }
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
        writeln!(io::stderr().lock(), "{}", printable(text))?;
        Ok(())
    }

    /// One JSON value, given as text.
    pub(crate) fn value(&mut self, json: &str) -> Result<(), Failure> {
        let mut stdout = self.stdout.lock();
        if self.terminal {
            writeln!(stdout, "{}", pretty(json))?;
        } else {
            writeln!(stdout, "{}", compact(json))?;
        }
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
