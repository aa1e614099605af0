//! Server-sent events: the stream format of answers over HTTP.

use bytes::{Buf as _, Bytes, BytesMut};

use crate::failure::CloseReason;

/// Longest id of an event.
const ID: usize = 1_024;

/// One event, as far as this protocol uses them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// The lines of data, joined by line feeds.
    pub(crate) data: Bytes,
}

/// Reads events from chunks of any size.
#[derive(Debug, Default)]
pub(crate) struct Events {
    buffer: BytesMut,
    /// Bytes of the buffer without a line end.
    looked_at: usize,
    /// The last line ended with a carriage return: a line feed that follows belongs to it.
    after_return: bool,
    data: BytesMut,
    has_data: bool,
    /// Other kinds of events than messages are skipped.
    other: bool,
    begun: bool,
    /// The last id that was given, for going on where a stream broke off.
    pub(crate) last_id: Option<String>,
    /// How long to wait before going on, in milliseconds.
    pub(crate) retry_ms: Option<u64>,
}

impl Events {
    /// Reads a stream that goes on after that event.
    pub(crate) fn after(last_id: Option<String>) -> Self {
        Self { last_id, ..Self::default() }
    }

    /// Takes the next bytes of the stream.
    pub(crate) fn push(&mut self, chunk: &[u8]) {
        self.buffer.extend_from_slice(chunk);
    }

    /// The next whole event with data, if there is one. Fails when a line or an event is longer than `most`.
    pub(crate) fn next(&mut self, most: usize) -> Result<Option<Event>, CloseReason> {
        while let Some(line) = self.line() {
            if let Some(event) = self.field(&line, most)? {
                return Ok(Some(event));
            }
        }
        if self.buffer.len() > most { Err(CloseReason::MessageTooLong(most)) } else { Ok(None) }
    }

    /// A line ends with a line feed, a carriage return, or both.
    fn line(&mut self) -> Option<Bytes> {
        if self.after_return && !self.buffer.is_empty() {
            if self.buffer[0] == b'\n' {
                self.buffer.advance(1);
            }
            self.after_return = false;
        }
        let rest = &self.buffer[self.looked_at.min(self.buffer.len())..];
        let Some(found) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            self.looked_at = self.buffer.len();
            return None;
        };
        let line = self.buffer.split_to(self.looked_at + found).freeze();
        self.after_return = self.buffer[0] == b'\r';
        self.buffer.advance(1);
        self.looked_at = 0;
        Some(line)
    }

    fn field(&mut self, line: &[u8], most: usize) -> Result<Option<Event>, CloseReason> {
        let line = if self.begun { line } else { line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line) };
        self.begun = true;
        if line.is_empty() {
            let (data, had, other) = (self.data.split().freeze(), self.has_data, self.other);
            (self.has_data, self.other) = (false, false);
            return Ok((had && !other && !data.is_empty()).then_some(Event { data }));
        }
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &line[line.len()..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => {
                if self.data.len() + value.len() > most {
                    return Err(CloseReason::MessageTooLong(most));
                }
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.extend_from_slice(b"\n");
                }
                self.data.extend_from_slice(value);
            }
            b"event" => self.other = value != b"message",
            b"id" if value.len() <= ID && !value.contains(&0) => {
                self.last_id = std::str::from_utf8(value).ok().filter(|id| !id.is_empty()).map(str::to_owned);
            }
            b"retry" => self.retry_ms = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()),
            _ => {}
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(chunks: &[&str]) -> (Vec<String>, Events) {
        let mut events = Events::default();
        let mut found = Vec::new();
        for chunk in chunks {
            events.push(chunk.as_bytes());
            while let Some(event) = events.next(64).unwrap() {
                found.push(String::from_utf8(event.data.to_vec()).unwrap());
            }
        }
        (found, events)
    }

    #[test]
    fn events_are_read_as_browsers_do() {
        let text = ": hello\r\n\r\nid: 7\nretry: 250\nevent: message\ndata: {\"a\":\ndata:1}\n\ndata: x\r\rdata\n\nevent: ping\ndata: y\n\ndata: half";
        let (found, events) = read(&[text]);
        assert_eq!(found, ["{\"a\":\n1}", "x"]);
        assert_eq!((events.last_id.as_deref(), events.retry_ms), (Some("7"), Some(250)));
        // Byte by byte it is the same.
        let parts: Vec<String> = text.chars().map(String::from).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        assert_eq!(read(&parts).0, found);
    }

    #[test]
    fn what_is_too_long_is_not_kept() {
        let mut events = Events::default();
        events.push(&[b'x'; 65]);
        assert_eq!(events.next(64), Err(CloseReason::MessageTooLong(64)));
        let mut events = Events::default();
        events.push(format!("data: {0}\ndata: {0}\n", "x".repeat(40)).as_bytes());
        assert_eq!(events.next(64), Err(CloseReason::MessageTooLong(64)));
    }
}
