//! Bytes as what differs from others like them: records of calls are much the same, and most of each needs to be kept once.
//!
//! A [`Pattern`] is some earlier bytes, made ready to be compared with. What is written beside its name is a row of pieces, each
//! a length, so many bytes of the value's own, a length, and from where so many bytes are those of the pattern: where the piece
//! before it ended, give or take. Backends say where patterns are kept, and prove what they read: this only says it in fewer bytes.

use std::fmt;

mod choice;
mod patterns;

pub use patterns::{EVENTS, Kind, Named, PatternId, Patterns, kind_of};

/// The shortest part that is told by its place: what is shorter costs as much.
const SHORTEST: usize = 6;
/// How many bytes a place is looked up by.
const MARK: usize = 4;
/// How far apart bytes are looked up: of a part of the shortest length one mark at least is looked for, whatever it begins at.
const STEP: usize = SHORTEST - MARK + 1;
/// How many marks of bytes are looked for to say which of several patterns is nearest.
const SAMPLES: usize = 16;
/// Places of the table of a pattern; also bounds what of it can be found again.
const PLACES: usize = 1024;
/// Nothing of the pattern is marked so.
const NONE: u16 = u16::MAX;

/// The longest bytes worth comparing with.
pub const MAX_PATTERN_BYTES: usize = 4 * 1024;

/// Bytes that others are like.
#[derive(Clone)]
pub struct Pattern {
    bytes: Box<[u8]>,
    /// Where a mark of so many bytes stands last, by its hash.
    places: Box<[u16; PLACES]>,
}

impl Pattern {
    /// Makes `bytes` ready; nothing of more than [`MAX_PATTERN_BYTES`].
    pub fn new(bytes: &[u8]) -> Option<Self> {
        if bytes.len() > MAX_PATTERN_BYTES {
            return None;
        }
        let mut places = Box::new([NONE; PLACES]);
        for (place, mark) in bytes.windows(MARK).filter_map(|mark| mark.first_chunk()).enumerate() {
            places[hash(*mark)] = u16::try_from(place).unwrap_or(NONE);
        }
        Some(Self { bytes: bytes.into(), places })
    }

    /// The bytes it was made of.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds to `out` in what `bytes` differ from this, as long as that takes at most `most` bytes; says whether it does.
    pub fn write(&self, bytes: &[u8], most: usize, out: &mut Vec<u8>) -> bool {
        let most = out.len().saturating_add(most);
        let (mut at, mut own, mut expected) = (0, 0, 0);
        while let Some(mark) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
            let Some(found) = self.find(bytes, own, at, *mark, expected + (at - own)) else {
                at += STEP;
                if out.len() + (at - own) > most.saturating_add(STEP) {
                    return false;
                }
                continue;
            };
            put(out, found.at - own);
            out.extend_from_slice(&bytes[own..found.at]);
            put(out, found.length);
            let moved = found.place as i64 - (expected + found.at - own) as i64;
            put(out, ((moved << 1) ^ (moved >> 63)) as usize);
            (at, expected) = (found.at + found.length, found.place + found.length);
            own = at;
        }
        if own < bytes.len() {
            put(out, bytes.len() - own);
            out.extend_from_slice(&bytes[own..]);
        }
        out.len() <= most
    }

    /// The bytes that `written` says, `length` of them; nothing when it does not say so many.
    pub fn read(&self, mut written: &[u8], length: usize) -> Option<Vec<u8>> {
        let mut bytes = Vec::with_capacity(length.min(written.len().saturating_add(MAX_PATTERN_BYTES)));
        let mut expected = 0_usize;
        while !written.is_empty() {
            let own = take(&mut written)?;
            let own = written.split_off(..own)?;
            bytes.extend_from_slice(own);
            expected = expected.checked_add(own.len())?;
            if written.is_empty() {
                break;
            }
            let (same, moved) = (take(&mut written)?, take(&mut written)? as u64);
            let moved = (moved >> 1) as i64 ^ -((moved & 1) as i64);
            let place = usize::try_from(i64::try_from(expected).ok()?.checked_add(moved)?).ok()?;
            expected = place.checked_add(same)?;
            bytes.extend_from_slice(self.bytes.get(place..expected)?);
            if bytes.len() > length {
                return None;
            }
        }
        (bytes.len() == length).then_some(bytes)
    }

    /// How many of these marks it has anywhere.
    fn has(&self, marks: &Marks) -> usize {
        let has = |mark: &&[u8; MARK]| {
            let place = usize::from(self.places[hash(**mark)]);
            self.bytes.get(place..).and_then(<[u8]>::first_chunk) == Some(*mark)
        };
        marks.0.iter().flatten().filter(has).count()
    }

    /// Where the pattern has what `bytes` have around `at`, and nothing before `own`: where it is expected to, or anywhere.
    #[inline]
    fn find(&self, bytes: &[u8], own: usize, at: usize, mark: [u8; MARK], expected: usize) -> Option<Found> {
        let same = |place: usize| {
            let other = self.bytes.get(place..)?;
            // Most places are none, and this is asked again and again: a look at four bytes says so.
            if other.first_chunk() != Some(&mark) {
                return None;
            }
            let ahead = common(&bytes[at..], other);
            let before = bytes[own..at].iter().rev().zip(self.bytes[..place].iter().rev());
            let back = before.take(STEP - 1).take_while(|(one, other)| one == other).count();
            let found = Found { at: at - back, place: place - back, length: back + ahead };
            (found.length >= SHORTEST).then_some(found)
        };
        let marked = || {
            let place = self.places[hash(mark)];
            (place != NONE).then(|| same(usize::from(place))).flatten()
        };
        same(expected).or_else(marked)
    }
}

/// Some marks of bytes, from all over them: a pattern has the more of them the more it is like the bytes.
struct Marks([Option<[u8; MARK]>; SAMPLES]);

impl Marks {
    fn of(bytes: &[u8]) -> Self {
        let far = bytes.len().saturating_sub(MARK) / (SAMPLES - 1);
        Self(std::array::from_fn(|at| bytes.get(at * far..).and_then(<[u8]>::first_chunk).copied()))
    }
}

/// A part that a pattern has, too.
struct Found {
    /// Where it begins in the bytes.
    at: usize,
    /// Where it begins in the pattern.
    place: usize,
    length: usize,
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a pattern of {} bytes", self.bytes.len())
    }
}

/// How many bytes both begin with.
fn common(one: &[u8], other: &[u8]) -> usize {
    let (ones, others) = (one.as_chunks::<8>().0, other.as_chunks::<8>().0);
    let mut same = 0;
    for (one, other) in ones.iter().zip(others) {
        let differs = u64::from_le_bytes(*one) ^ u64::from_le_bytes(*other);
        if differs != 0 {
            return same + (differs.trailing_zeros() / 8) as usize;
        }
        same += 8;
    }
    same + one[same..].iter().zip(&other[same..]).take_while(|(one, other)| one == other).count()
}

fn hash(mark: [u8; MARK]) -> usize {
    (u32::from_le_bytes(mark).wrapping_mul(0x9e37_79b1) >> (u32::BITS - PLACES.ilog2())) as usize
}

/// Adds a number as a varint (LEB128).
fn put(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Takes a number from the beginning.
fn take(from: &mut &[u8]) -> Option<usize> {
    let mut number = 0_u64;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = *from.split_off_first()?;
        let part = u64::from(byte & 0x7f);
        number |= part.checked_shl(shift).filter(|moved| moved >> shift == part)?;
        if byte & 0x80 == 0 {
            return usize::try_from(number).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{MAX_PATTERN_BYTES, Pattern};

    fn there_and_back(pattern: &[u8], bytes: &[u8]) -> usize {
        let (pattern, mut written) = (Pattern::new(pattern).unwrap(), Vec::new());
        assert!(pattern.write(bytes, usize::MAX, &mut written));
        let (most, mut again) = (written.len(), Vec::new());
        assert!(pattern.write(bytes, most, &mut again) && again == written);
        assert!(most == 0 || !pattern.write(bytes, most - 1, &mut Vec::new()));
        assert_eq!(pattern.read(&written, bytes.len()).as_deref(), Some(bytes));
        // Whatever is cut off or changed is read as something or as nothing, and never as more than was asked for.
        for end in 0..written.len() {
            assert_ne!(pattern.read(&written[..end], bytes.len()).as_deref(), Some(bytes));
        }
        for bit in 0..written.len() * 8 {
            let mut changed = written.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(pattern.read(&changed, bytes.len()).is_none_or(|read| read.len() == bytes.len()));
        }
        written.len()
    }

    #[test]
    fn what_is_alike_takes_few_bytes() {
        let call =
            |id: &str, size: &str| format!("a call {id} of the tool files.read_file with {size} bytes, called {id}");
        let pattern = call("0123456789abcdef", "61");
        assert!(there_and_back(pattern.as_bytes(), pattern.as_bytes()) <= 4);
        let other = call("fedcba9876543210", "100234");
        let written = there_and_back(pattern.as_bytes(), other.as_bytes());
        assert!(written < 60, "{written} of {} bytes", other.len());
    }

    #[test]
    fn any_bytes_come_back() {
        let noise = |seed: u32, length: usize| -> Vec<u8> {
            let mut state = seed | 1;
            let mut next = || {
                state ^= state << 13;
                state ^= state >> 17;
                state ^= state << 5;
                state as u8
            };
            (0..length).map(|_| next()).collect()
        };
        for length in [0, 1, 5, 6, 7, 100, 300] {
            there_and_back(&noise(1, 200), &noise(2, length));
            there_and_back(&[], &noise(3, length));
            there_and_back(&[7; 200], &[7; 300][..length]);
        }
        // Parts in another order.
        let (one, other) = (noise(4, 150), noise(5, 150));
        let written = there_and_back(&[one.clone(), other.clone()].concat(), &[other, one].concat());
        assert!(written < 12, "{written}");
    }

    #[test]
    fn a_pattern_has_a_bound() {
        assert!(Pattern::new(&[0; MAX_PATTERN_BYTES]).is_some());
        assert!(Pattern::new(&[0; MAX_PATTERN_BYTES + 1]).is_none());
    }
}
