//! Proving an export line by line, and saying what is wrong with the first line that is.

use std::fmt;

use toolplane_records::payload::Digest;

use crate::chain::{BEGIN, Begin, FORMAT, Head, SEAL, Seal};
use crate::key::PublicKey;
use crate::line::{BadLine, Line};

/// The first line that is wrong, counted from 1 as editors do, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {wrong}")]
pub struct Fault {
    /// Where.
    pub line: u64,
    /// What.
    pub wrong: Wrong,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// It is not as it was written.
    Changed(BadLine),
    /// Lines before it are gone: how many.
    Missing(u64),
    /// It was moved: the line that belongs here is this one.
    Reordered(u64),
    /// It is this line once more.
    Repeated(u64),
    /// It was put in.
    Added,
    /// It, or the line before it, was replaced by another one.
    Replaced,
    /// The export does not begin as one.
    NoBegin,
    /// It does not go on from the export before it.
    DoesNotContinue,
    /// It goes on from an export of something else: of another tenant, session or call.
    OtherScope,
    /// The export was signed with another key.
    OtherKey(Digest),
    /// The signature is not that of these lines: they were written anew by somebody who does not have the key.
    WrongSignature,
    /// The export ends without its seal.
    CutOff,
    /// It comes after the seal.
    AfterSeal,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed(what) => write!(f, "changed: {what}"),
            Self::Missing(1) => f.write_str("missing: one line before it is gone"),
            Self::Missing(count) => write!(f, "missing: {count} lines before it are gone"),
            Self::Reordered(line) => write!(f, "reordered: what belongs here is on line {line}"),
            Self::Repeated(line) => write!(f, "added: it is line {line} once more"),
            Self::Added => f.write_str("added: it does not belong to this export"),
            Self::Replaced => f.write_str(
                "replaced: it does not follow the line before it; one of the two is not the one that was written",
            ),
            Self::NoBegin => f.write_str("missing: an export begins with a line of the kind `begin`"),
            Self::DoesNotContinue => f.write_str("missing: it does not go on from the export before it"),
            Self::OtherScope => f.write_str(
                "missing: it goes on from an export of another tenant, session or call, so not all is there",
            ),
            Self::OtherKey(key) => write!(f, "wrong signature: it was signed with another key, {key}"),
            Self::WrongSignature => f.write_str("wrong signature: the lines before it are not those that were signed"),
            Self::CutOff => f.write_str("cut off: the export ends without its seal"),
            Self::AfterSeal => f.write_str("added: it comes after the seal and begins no export"),
        }
    }
}

/// An export, or several that go on from one another, that was proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Exports.
    pub exports: u64,
    /// Records in all of them.
    pub records: u64,
    /// Of those, calls.
    pub calls: u64,
    /// Of those, deletions.
    pub tombstones: u64,
    /// What the first one is of.
    pub begin: Begin,
    /// Where the last one ends.
    pub head: Head,
}

/// Takes the lines of an export one by one. Several exports in a row are proved to go on from one another.
#[derive(Debug)]
pub struct Verifier {
    key: PublicKey,
    /// Lines taken.
    lines: u64,
    /// Lines of the export that is being read, by their sums; empty between two exports.
    sums: Vec<Digest>,
    /// Where the export that is being read begins in the file.
    first: u64,
    begin: Option<Begin>,
    /// What the exports before are of, when there are any: this one is of the same.
    before: Option<Begin>,
    head: Option<Head>,
    counts: [u64; 4],
    /// The first fault, and the number that was expected there.
    fault: Option<(Fault, u64)>,
}

impl Verifier {
    /// Proves with `key`.
    pub fn new(key: PublicKey) -> Self {
        let counts = [0; 4];
        Self { key, lines: 0, sums: Vec::new(), first: 0, begin: None, before: None, head: None, counts, fault: None }
    }

    /// Goes on from an export that was proved before.
    #[must_use]
    pub fn after(mut self, before: Verified) -> Self {
        self.head = Some(before.head);
        self.before = Some(before.begin);
        self
    }

    /// Takes the next line, without its line break. False when no further line can say more: [`Verifier::finish`] tells what is wrong.
    pub fn line(&mut self, bytes: &[u8]) -> bool {
        self.lines += 1;
        match &mut self.fault {
            None => {
                if let Err((wrong, expected)) = self.check(bytes) {
                    self.fault = Some((Fault { line: self.lines, wrong }, expected));
                }
            }
            // Lines seem to be gone: they may only be somewhere else.
            Some((fault, expected)) => {
                let is_it = Line::read(bytes).is_ok_and(|(line, _)| line.n == *expected);
                if is_it {
                    fault.wrong = Wrong::Reordered(self.lines);
                }
            }
        }
        matches!(&self.fault, None | Some((Fault { wrong: Wrong::Missing(_), .. }, _)))
    }

    /// What was proved, or the first line that is wrong.
    pub fn finish(self) -> Result<Verified, Fault> {
        if let Some((fault, _)) = self.fault {
            return Err(fault);
        }
        let fault = |wrong| Fault { line: self.lines + 1, wrong };
        if !self.sums.is_empty() {
            return Err(fault(Wrong::CutOff));
        }
        let [exports, records, calls, tombstones] = self.counts;
        match (self.begin, self.head) {
            (Some(begin), Some(head)) => Ok(Verified { exports, records, calls, tombstones, begin, head }),
            _ => Err(fault(Wrong::CutOff)),
        }
    }

    /// Takes a line; what is wrong with it, and which number was expected.
    fn check(&mut self, bytes: &[u8]) -> Result<(), (Wrong, u64)> {
        let expected = self.sums.len() as u64;
        let fails = |wrong| (wrong, expected);
        let (line, sum) = Line::read(bytes).map_err(|bad| {
            // After a seal nothing has to come: what is no line was put there.
            let is_extra = expected == 0 && self.counts[0] > 0 && matches!(bad, BadLine::Form(_));
            fails(if is_extra { Wrong::AfterSeal } else { Wrong::Changed(bad) })
        })?;
        if expected == 0 {
            self.begins(&line).map_err(fails)?;
            self.first = self.lines;
        } else if line.n > expected {
            return Err(fails(Wrong::Missing(line.n - expected)));
        } else if line.n < expected {
            let same = usize::try_from(line.n).ok().and_then(|at| self.sums.get(at)).is_some_and(|known| *known == sum);
            return Err(fails(if same { Wrong::Repeated(self.first + line.n) } else { Wrong::Added }));
        } else if self.sums.last() != Some(&line.prev) {
            return Err(fails(Wrong::Replaced));
        }
        self.sums.push(sum);
        match line.kind.as_str() {
            BEGIN if expected > 0 => Err(fails(Wrong::Added)),
            SEAL => self.sealed(&line, sum).map_err(fails),
            kind => {
                self.counts[1] += u64::from(expected > 0);
                self.counts[2] += u64::from(kind == "invocation");
                self.counts[3] += u64::from(kind == "tombstone");
                Ok(())
            }
        }
    }

    /// The first line of an export.
    fn begins(&mut self, line: &Line) -> Result<(), Wrong> {
        let begin = serde_json::from_str::<Begin>(line.record.get()).ok().filter(|begin| begin.format == FORMAT);
        let begin = begin.filter(|_| line.kind == BEGIN);
        let Some(begin) = begin else {
            return Err(match (self.counts[0], line.n) {
                (0, 0) => Wrong::NoBegin,
                (0, before) => Wrong::Missing(before),
                _ => Wrong::AfterSeal,
            });
        };
        if line.n > 0 {
            return Err(Wrong::Missing(line.n));
        }
        if self.before.as_ref().is_some_and(|before| !before.is_of_the_same(&begin)) {
            return Err(Wrong::OtherScope);
        }
        let none = Digest::from_bytes([0; 32]);
        let goes_on = begin.continues.map_or(none, |head| head.sum) == line.prev
            && begin.continues.is_none_or(|head| begin.from == Some(head.until));
        let follows = match &self.head {
            Some(head) => begin.continues == Some(*head),
            None => true,
        };
        if !goes_on || !follows {
            return Err(Wrong::DoesNotContinue);
        }
        self.before = Some(begin.clone());
        self.begin.get_or_insert(begin);
        Ok(())
    }

    /// The last line of an export.
    fn sealed(&mut self, line: &Line, sum: Digest) -> Result<(), Wrong> {
        let seal: Seal = serde_json::from_str(line.record.get())
            .map_err(|error| Wrong::Changed(BadLine::Form(error.to_string())))?;
        if seal.key != self.key.fingerprint() {
            return Err(Wrong::OtherKey(seal.key));
        }
        if seal.records + 1 != line.n || !seal.is_signed_by(&self.key, line.n, &line.prev) {
            return Err(Wrong::WrongSignature);
        }
        self.head = Some(Head { sum, until: seal.until });
        self.counts[0] += 1;
        self.sums.clear();
        Ok(())
    }
}
