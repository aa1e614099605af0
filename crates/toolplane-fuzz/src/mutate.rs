//! Inputs: examples with a few changes, and bytes out of nothing.

use proptest::collection::vec;
use proptest::prelude::{Strategy, any, prop_oneof};
use proptest::sample::{Index, select};

/// Most changes of one example.
const MOST_CHANGES: usize = 8;
/// Longest piece that is moved, doubled or made up.
const MOST_PIECE: usize = 64;
/// Most made-up bytes.
const MOST_BYTES: usize = 512;

/// Pieces of text at which readers of text go wrong: where something begins or ends, what is nearly a number, what acts in a
/// terminal, characters of several bytes, and bytes that are none.
const PIECES: &[&[u8]] = &[
    b"\"",
    b"'",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b"(",
    b")",
    b":",
    b",",
    b"*",
    b"**",
    b"..",
    b"/",
    b"//",
    b"%",
    b"%2e",
    b"#",
    b"@",
    b"$",
    b"$(",
    b"`",
    b"&&",
    b"|",
    b";",
    b"<<",
    b">",
    b"~",
    b"=",
    b"-",
    b"-0",
    b"1e999",
    b"18446744073709551616",
    b"-9223372036854775809",
    b"0.1",
    b"null",
    b"true",
    b"\\u0000",
    b"\\ud800",
    b"\n",
    b"\r\n",
    b"\t",
    b"\0",
    b" ",
    b"\xc2\xa0",
    b"\xe2\x80\xae",
    b"\xf0\x9f\xa6\x80",
    b"e\xcc\x81",
    b"\x1b[2J",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
];

/// Numbers at which readers of lengths and counts go wrong.
const NUMBERS: &[u64] = &[0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff, u64::MAX / 2, u64::MAX];

/// One change. A place is relative to the length the input then has.
#[derive(Clone, Debug)]
enum Mutation {
    Set(Index, u8),
    Insert(Index, Vec<u8>),
    Number(Index, u64, usize),
    Remove(Index, usize),
    /// A piece is doubled somewhere else.
    Copy(Index, Index, usize),
    /// What follows is that of another example.
    Splice(Index, Index),
    Repeat(Index, usize),
    Cut(Index),
}

/// Inputs for a reader: mostly examples with changes.
pub fn inputs(corpus: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let examples = if corpus.is_empty() { vec![Vec::new()] } else { corpus };
    let others = examples.clone();
    let changed = (select(examples), vec(change(), 0..MOST_CHANGES)).prop_map(move |(mut input, changes)| {
        changes.into_iter().for_each(|change| apply(&mut input, change, &others));
        input
    });
    prop_oneof![6 => changed, 1 => vec(any::<u8>(), 0..MOST_BYTES), 1 => pieces()]
}

/// Nothing but pieces, one after the other.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    vec(select(PIECES), 0..MOST_PIECE).prop_map(|pieces| pieces.concat())
}

fn change() -> impl Strategy<Value = Mutation> {
    let place = any::<Index>;
    let piece = prop_oneof![select(PIECES).prop_map(<[u8]>::to_vec), vec(any::<u8>(), 1..MOST_PIECE)];
    prop_oneof![
        3 => (place(), any::<u8>()).prop_map(|(at, byte)| Mutation::Set(at, byte)),
        4 => (place(), piece).prop_map(|(at, piece)| Mutation::Insert(at, piece)),
        2 => (place(), select(NUMBERS), select(&[1_usize, 2, 4, 8][..])).prop_map(|(at, number, size)| Mutation::Number(at, number, size)),
        2 => (place(), 1..MOST_PIECE).prop_map(|(at, len)| Mutation::Remove(at, len)),
        2 => (place(), place(), 1..MOST_PIECE).prop_map(|(from, to, len)| Mutation::Copy(from, to, len)),
        1 => (place(), place()).prop_map(|(at, other)| Mutation::Splice(at, other)),
        1 => (place(), 2..400_usize).prop_map(|(at, times)| Mutation::Repeat(at, times)),
        1 => place().prop_map(Mutation::Cut),
    ]
}

fn apply(input: &mut Vec<u8>, change: Mutation, corpus: &[Vec<u8>]) {
    let place = |at: Index| at.index(input.len() + 1);
    match change {
        Mutation::Set(at, byte) => {
            let at = place(at);
            if let Some(old) = input.get_mut(at) {
                *old = byte;
            }
        }
        Mutation::Insert(at, piece) => insert(input, place(at), piece),
        Mutation::Number(at, number, size) => {
            let at = place(at);
            let written = number.to_le_bytes().into_iter().take(size);
            input.iter_mut().skip(at).zip(written).for_each(|(old, new)| *old = new);
        }
        Mutation::Remove(at, len) => {
            let at = place(at);
            input.drain(at..(at + len).min(input.len()));
        }
        Mutation::Copy(from, to, len) => {
            let (from, to) = (place(from), place(to));
            let piece = input[from..(from + len).min(input.len())].to_vec();
            insert(input, to, piece);
        }
        Mutation::Splice(at, other) => {
            let at = place(at);
            let other = &corpus[other.index(corpus.len())];
            input.truncate(at);
            input.extend_from_slice(other.get(at..).unwrap_or(other));
        }
        Mutation::Repeat(at, times) => {
            let at = place(at);
            let piece = input.get(at).map(|byte| vec![*byte; times]).unwrap_or_default();
            insert(input, at, piece);
        }
        Mutation::Cut(at) => input.truncate(place(at)),
    }
}

fn insert(input: &mut Vec<u8>, at: usize, piece: Vec<u8>) {
    input.splice(at..at, piece);
}
