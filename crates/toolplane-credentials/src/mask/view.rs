//! Ways of reading a text: as it is, and with its escapes or line breaks taken back.
//!
//! A view turns the bytes of a text into the bytes they stand for, each with the place it began at. Views differ only near
//! escapes, so all but the plain one sleep until one comes, and again when they see what the plain one sees.

use std::collections::VecDeque;

use super::table::{State, Table};

/// Line breaks in a row that are skipped: `\r\n`.
const MOST_BREAKS: u8 = 2;

/// What a view takes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// `%2F`
    Percent,
    /// `%2F`, and `+` for a space.
    Form,
    /// `\n`, `\/`, `\u002f`
    Json,
    /// Line breaks: encoders wrap what they write.
    Unwrapped,
}

impl Reading {
    /// All of them.
    pub(super) const ALL: [Self; 4] = [Self::Percent, Self::Form, Self::Json, Self::Unwrapped];

    /// Whether this byte means something else than itself here.
    pub(super) fn is_special(self, byte: u8) -> bool {
        match self {
            Self::Percent => byte == b'%',
            Self::Form => matches!(byte, b'%' | b'+'),
            Self::Json => byte == b'\\',
            Self::Unwrapped => matches!(byte, b'\r' | b'\n'),
        }
    }
}

/// What was read of an escape so far; `start` is where it began.
#[derive(Clone, Copy, Debug)]
enum Escape {
    None,
    Percent {
        start: u64,
        high: Option<u8>,
    },
    Backslash {
        start: u64,
        surrogate: Option<u16>,
    },
    Unicode {
        start: u64,
        surrogate: Option<u16>,
        value: u16,
        digits: u8,
    },
    /// The first half of a pair was read.
    Surrogate {
        start: u64,
        high: u16,
    },
    Breaks {
        count: u8,
    },
}

/// A view that is awake or asleep.
#[derive(Debug)]
pub(super) struct View {
    pub(super) reading: Reading,
    awake: Option<Awake>,
}

#[derive(Debug)]
struct Awake {
    state: State,
    /// Where each byte of what may become a match began, oldest first.
    origins: VecDeque<u64>,
    escape: Escape,
}

/// What a view has found: where it begins, where it ends, and the number of the form.
pub(super) type Found<'a> = &'a mut dyn FnMut(u64, u64, usize);

// === impl View ===

impl View {
    pub(super) fn new(reading: Reading) -> Self {
        Self { reading, awake: None }
    }

    pub(super) fn is_awake(&self) -> bool {
        self.awake.is_some()
    }

    /// Starts to read for itself at `at`, from what the plain view has seen so far.
    pub(super) fn wake(&mut self, table: &Table, plain: State, at: u64) {
        if self.awake.is_none() {
            let depth = table.depth(plain) as u64;
            let origins = (at - depth..at).collect();
            self.awake = Some(Awake { state: plain, origins, escape: Escape::None });
        }
    }

    /// Reads the byte at `at`. `plain` is the state of the plain view behind it.
    pub(super) fn read(&mut self, table: &Table, byte: u8, at: u64, plain: State, found: Found<'_>) {
        let Some(awake) = &mut self.awake else { return };
        awake.read(self.reading, table, byte, at, found);
        if awake.sees_the_plain_text(table, plain, at) {
            self.awake = None;
        }
    }

    /// Where the oldest thing begins that may still become a match; `None` where that is what the plain view says.
    pub(super) fn open_since(&self, at: u64) -> Option<u64> {
        let awake = self.awake.as_ref()?;
        let escape = awake.escape.start().unwrap_or(at);
        Some(awake.origins.front().copied().unwrap_or(at).min(escape))
    }

    /// The state, of a view that is awake.
    pub(super) fn state(&self) -> Option<State> {
        self.awake.as_ref().map(|awake| awake.state)
    }
}

// === impl Awake ===

impl Awake {
    fn read(&mut self, reading: Reading, table: &Table, byte: u8, at: u64, found: Found<'_>) {
        match std::mem::replace(&mut self.escape, Escape::None) {
            Escape::None => self.begin(reading, table, byte, at, found),
            Escape::Percent { start, high } => match (hex_digit(byte), high) {
                (Some(_), None) => self.escape = Escape::Percent { start, high: Some(byte) },
                (Some(low), Some(high)) => {
                    let value = hex_digit(high).unwrap_or_default() << 4 | low;
                    self.feed(table, value, start, at, found);
                }
                (None, high) => {
                    self.feed(table, b'%', start, start, found);
                    if let Some(high) = high {
                        self.feed(table, high, start + 1, start + 1, found);
                    }
                    self.begin(reading, table, byte, at, found);
                }
            },
            Escape::Backslash { start, surrogate } => self.backslash(table, byte, at, start, surrogate, found),
            Escape::Unicode { start, surrogate, value, digits } => match hex_digit(byte) {
                Some(digit) => {
                    let value = value << 4 | u16::from(digit);
                    if digits == 3 {
                        self.unicode(table, value, at, start, surrogate, found);
                    } else {
                        self.escape = Escape::Unicode { start, surrogate, value, digits: digits + 1 };
                    }
                }
                None => self.break_off(reading, table, byte, at, found),
            },
            Escape::Surrogate { start, high } if byte == b'\\' => {
                self.escape = Escape::Backslash { start, surrogate: Some(high) };
            }
            Escape::Surrogate { .. } => self.break_off(reading, table, byte, at, found),
            Escape::Breaks { count } if reading.is_special(byte) => {
                if count < MOST_BREAKS {
                    self.escape = Escape::Breaks { count: count + 1 };
                } else {
                    self.forget(table);
                }
            }
            Escape::Breaks { .. } => self.begin(reading, table, byte, at, found),
        }
    }

    /// Reads a byte outside an escape.
    fn begin(&mut self, reading: Reading, table: &Table, byte: u8, at: u64, found: Found<'_>) {
        self.escape = match (reading, byte) {
            (Reading::Percent | Reading::Form, b'%') => Escape::Percent { start: at, high: None },
            (Reading::Json, b'\\') => Escape::Backslash { start: at, surrogate: None },
            (Reading::Unwrapped, b'\r' | b'\n') => Escape::Breaks { count: 1 },
            (Reading::Form, b'+') => return self.feed(table, b' ', at, at, found),
            _ => return self.feed(table, byte, at, at, found),
        };
    }

    fn backslash(&mut self, table: &Table, byte: u8, at: u64, start: u64, surrogate: Option<u16>, found: Found<'_>) {
        let meant = match byte {
            b'u' => {
                self.escape = Escape::Unicode { start, surrogate, value: 0, digits: 0 };
                return;
            }
            _ if surrogate.is_some() => return self.break_off(Reading::Json, table, byte, at, found),
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'b' => 8,
            b'f' => 12,
            b'"' | b'\\' | b'/' => byte,
            _ => {
                // No escape: two bytes that mean themselves.
                self.feed(table, b'\\', start, start, found);
                return self.feed(table, byte, at, at, found);
            }
        };
        self.feed(table, meant, start, at, found);
    }

    fn unicode(&mut self, table: &Table, value: u16, at: u64, start: u64, high: Option<u16>, found: Found<'_>) {
        let units = [high.unwrap_or(value), value];
        let units = if high.is_some() { &units[..] } else { &units[1..] };
        match char::decode_utf16(units.iter().copied()).next() {
            Some(Ok(character)) => {
                for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                    self.feed(table, byte, start, at, found);
                }
            }
            _ if high.is_none() && (0xD800..0xDC00).contains(&value) => {
                self.escape = Escape::Surrogate { start, high: value };
            }
            _ => self.forget(table),
        }
    }

    /// What was begun is no escape that a program writes: nothing goes on across it.
    fn break_off(&mut self, reading: Reading, table: &Table, byte: u8, at: u64, found: Found<'_>) {
        self.forget(table);
        self.begin(reading, table, byte, at, found);
    }

    fn forget(&mut self, table: &Table) {
        self.state = table.start();
        self.origins.clear();
    }

    /// One byte as it is meant, written from `start` up to `at`.
    fn feed(&mut self, table: &Table, byte: u8, start: u64, at: u64, found: Found<'_>) {
        self.state = table.next(self.state, byte);
        self.origins.push_back(start);
        while self.origins.len() > table.depth(self.state) {
            self.origins.pop_front();
        }
        if table.is_match(self.state) {
            for form in table.matches(self.state) {
                let begins =
                    self.origins.len().checked_sub(table.form_len(form)).and_then(|index| self.origins.get(index));
                if let Some(begins) = begins {
                    found(*begins, at + 1, form);
                }
            }
        }
    }

    /// Whether it holds the very bytes that the plain view holds, so that it goes on as that does.
    fn sees_the_plain_text(&self, table: &Table, plain: State, at: u64) -> bool {
        let depth = table.depth(plain) as u64;
        matches!(self.escape, Escape::None)
            && self.state == plain
            && self.origins.front().is_none_or(|first| *first == at + 1 - depth)
    }
}

impl Escape {
    fn start(self) -> Option<u64> {
        match self {
            // A match does not begin with a line break that is skipped.
            Self::None | Self::Breaks { .. } => None,
            Self::Percent { start, .. }
            | Self::Backslash { start, .. }
            | Self::Unicode { start, .. }
            | Self::Surrogate { start, .. } => Some(start),
        }
    }
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}
