//! The frames of a log file: length, checksum, kind, bytes. A file is read up to its first frame that is not whole.

use toolplane_records::payload::Digest;

/// Bytes before the body of a frame: its length, and the first half of the digest of kind and body.
const HEAD: usize = 4 + CHECK;
const CHECK: usize = 16;

/// What a frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An ending: its key, a zero byte, and the entry.
    Kept = 1,
    /// The key of an ending that is needed no more.
    Settled = 2,
}

/// Adds a frame to `out`.
pub(super) fn push(out: &mut Vec<u8>, kind: Kind, parts: [&[u8]; 2]) {
    let length: usize = 1 + parts.iter().map(|part| part.len()).sum::<usize>();
    out.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    let check_at = out.len();
    out.extend_from_slice(&[0; CHECK]);
    out.push(kind as u8);
    for part in parts {
        out.extend_from_slice(part);
    }
    let digest = Digest::of(&out[check_at + CHECK..]);
    out[check_at..check_at + CHECK].copy_from_slice(&digest.as_bytes()[..CHECK]);
}

/// The whole frames at the start of `bytes`, in order.
pub(super) fn read(mut bytes: &[u8]) -> impl Iterator<Item = (Kind, &[u8])> {
    std::iter::from_fn(move || {
        let (head, rest) = bytes.split_at_checked(HEAD)?;
        let (length, check) = head.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (body, rest) = rest.split_at_checked(length)?;
        if Digest::of(body).as_bytes()[..CHECK] != *check {
            return None;
        }
        bytes = rest;
        let (kind, body) = body.split_first()?;
        let kind = match kind {
            1 => Kind::Kept,
            2 => Kind::Settled,
            _ => return None,
        };
        Some((kind, body))
    })
}
