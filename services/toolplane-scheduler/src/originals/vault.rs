//! Bytes sealed so that only who has a key reads them, in pieces, so that nothing large is held in memory; pure.
//!
//! Each sealing has a key of its own, made from one of the operator's and a salt (HMAC-SHA-256), and seals pieces with AES-256-GCM. A piece is
//! bound to its number, to whether it is the last one, and to what the bytes are of: none can be left out, moved or put elsewhere.

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use aws_lc_rs::hmac::{self, HMAC_SHA256};

/// What sealed bytes begin with.
const MAGIC: &[u8; 4] = b"TPO1";
/// Bytes of the name of a key, and of a salt.
const NAME: usize = 8;
const SALT: usize = 32;
/// Bytes before the first piece.
const HEAD: usize = MAGIC.len() + NAME + SALT;
/// Bytes of a piece before it is sealed, and of the code that proves it.
const PIECE: usize = 64 * 1024;
const CODE: usize = 16;
/// Fewest characters of a key: nobody guesses them.
pub(crate) const SHORTEST: usize = 32;

/// Why something cannot be sealed or opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum VaultFault {
    /// There is no key, or not the one it was sealed with.
    #[error("the key it was sealed with is not here")]
    NoKey,
    /// The bytes are not what was sealed.
    #[error("it is not what was sealed")]
    Damaged,
}

/// The keys: the first one seals, any of them opens. So a key can be changed without a gap.
pub(crate) struct KeyRing(Vec<hmac::Key>);

impl std::fmt::Debug for KeyRing {
    /// Without the keys.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "KeyRing({})", self.0.len())
    }
}

impl KeyRing {
    /// Keys made from secrets of any length.
    pub(crate) fn of<'a>(secrets: impl IntoIterator<Item = &'a [u8]>) -> Self {
        Self(secrets.into_iter().map(|secret| hmac::Key::new(HMAC_SHA256, secret)).collect())
    }

    /// Begins to seal something of `context`; fails without a key.
    pub(crate) fn seal(&self, context: &str, salt: [u8; SALT]) -> Result<Sealer, VaultFault> {
        let key = self.0.first().ok_or(VaultFault::NoKey)?;
        let mut head = MAGIC.to_vec();
        head.extend_from_slice(&name(key));
        head.extend_from_slice(&salt);
        Ok(Sealer { pieces: Pieces::new(key, &salt, context)?, waiting: Vec::new(), out: head })
    }

    /// Begins to open what was sealed of `context`.
    pub(crate) fn opener(self, context: String) -> Opener {
        Opener { keys: self, context, pieces: None, waiting: Vec::new() }
    }
}

/// How a key is known without being told.
fn name(key: &hmac::Key) -> [u8; NAME] {
    let mut name = [0; NAME];
    name.copy_from_slice(&hmac::sign(key, b"toolplane originals: name").as_ref()[..NAME]);
    name
}

/// The key of one sealing, and how far it is.
struct Pieces {
    key: LessSafeKey,
    context: Vec<u8>,
    number: u64,
}

impl Pieces {
    fn new(key: &hmac::Key, salt: &[u8], context: &str) -> Result<Self, VaultFault> {
        let made = hmac::sign(key, &[b"toolplane originals: data", salt].concat());
        let key = UnboundKey::new(&AES_256_GCM, made.as_ref()).map_err(|_| VaultFault::NoKey)?;
        Ok(Self { key: LessSafeKey::new(key), context: context.as_bytes().to_vec(), number: 0 })
    }

    /// What the next piece is bound to.
    fn next(&mut self, last: bool) -> (Nonce, Aad<Vec<u8>>) {
        let mut nonce = [0; NONCE_LEN];
        nonce[NONCE_LEN - 8..].copy_from_slice(&self.number.to_be_bytes());
        self.number += 1;
        let mut bound = self.context.clone();
        bound.push(u8::from(last));
        (Nonce::assume_unique_for_key(nonce), Aad::from(bound))
    }

    fn seal(&mut self, mut piece: Vec<u8>, last: bool, out: &mut Vec<u8>) -> Result<(), VaultFault> {
        let (nonce, bound) = self.next(last);
        self.key.seal_in_place_append_tag(nonce, bound, &mut piece).map_err(|_| VaultFault::Damaged)?;
        out.extend_from_slice(&piece);
        Ok(())
    }

    fn open(&mut self, mut piece: Vec<u8>, last: bool, out: &mut Vec<u8>) -> Result<(), VaultFault> {
        let (nonce, bound) = self.next(last);
        let opened = self.key.open_in_place(nonce, bound, &mut piece).map_err(|_| VaultFault::Damaged)?;
        out.extend_from_slice(opened);
        Ok(())
    }
}

/// Seals bytes as they come.
pub(crate) struct Sealer {
    pieces: Pieces,
    waiting: Vec<u8>,
    /// The head, until it was given.
    out: Vec<u8>,
}

impl Sealer {
    /// Takes bytes; what is sealed of them and of those before goes to `out`.
    pub(crate) fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), VaultFault> {
        out.append(&mut self.out);
        self.waiting.extend_from_slice(bytes);
        // The last piece is known by being the last, so a full one waits for what comes after it.
        while self.waiting.len() > PIECE {
            let rest = self.waiting.split_off(PIECE);
            self.pieces.seal(std::mem::replace(&mut self.waiting, rest), false, out)?;
        }
        Ok(())
    }

    /// Nothing comes any more.
    pub(crate) fn finish(mut self, out: &mut Vec<u8>) -> Result<(), VaultFault> {
        out.append(&mut self.out);
        self.pieces.seal(self.waiting, true, out)
    }
}

/// Opens sealed bytes as they come. What it gives before its end is right, and may not be all.
pub(crate) struct Opener {
    keys: KeyRing,
    context: String,
    pieces: Option<Pieces>,
    waiting: Vec<u8>,
}

impl Opener {
    /// Takes bytes; what is opened of them and of those before goes to `out`.
    pub(crate) fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), VaultFault> {
        self.waiting.extend_from_slice(bytes);
        if self.pieces.is_none() && self.waiting.len() < HEAD {
            return Ok(());
        }
        self.begin()?;
        while self.waiting.len() > PIECE + CODE {
            let rest = self.waiting.split_off(PIECE + CODE);
            let piece = std::mem::replace(&mut self.waiting, rest);
            self.pieces.as_mut().ok_or(VaultFault::Damaged)?.open(piece, false, out)?;
        }
        Ok(())
    }

    /// Nothing comes any more: fails where the end is missing.
    pub(crate) fn finish(mut self, out: &mut Vec<u8>) -> Result<(), VaultFault> {
        self.begin()?;
        self.pieces.as_mut().ok_or(VaultFault::Damaged)?.open(self.waiting, true, out)
    }

    /// Reads the head and finds the key.
    fn begin(&mut self) -> Result<(), VaultFault> {
        if self.pieces.is_some() {
            return Ok(());
        }
        if self.waiting.len() < HEAD || !self.waiting.starts_with(MAGIC) {
            return Err(VaultFault::Damaged);
        }
        let rest = self.waiting.split_off(HEAD);
        let head = std::mem::replace(&mut self.waiting, rest);
        let (called, salt) = head[MAGIC.len()..].split_at(NAME);
        let key = self.keys.0.iter().find(|key| name(key) == called).ok_or(VaultFault::NoKey)?;
        self.pieces = Some(Pieces::new(key, salt, &self.context)?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(keys: &[&'static str]) -> KeyRing {
        KeyRing::of(keys.iter().map(|key| key.as_bytes()))
    }

    fn sealed(ring: &KeyRing, context: &str, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let mut sealer = ring.seal(context, [7; SALT]).unwrap();
        bytes.chunks(10_000).for_each(|chunk| sealer.push(chunk, &mut out).unwrap());
        sealer.finish(&mut out).unwrap();
        out
    }

    fn opened(keys: &[&'static str], context: &str, bytes: &[u8]) -> Result<Vec<u8>, VaultFault> {
        let mut out = Vec::new();
        let mut opener = ring(keys).opener(context.to_owned());
        bytes.chunks(7_001).try_for_each(|chunk| opener.push(chunk, &mut out))?;
        opener.finish(&mut out)?;
        Ok(out)
    }

    #[test]
    fn what_is_sealed_is_opened_with_its_key_and_for_what_it_is_of() {
        let (old, both) = (ring(&["old"]), ["new", "old"]);
        for size in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE, 3 * PIECE + 5] {
            let bytes: Vec<u8> = (0..size).map(|at| u8::try_from(at % 251).unwrap()).collect();
            let kept = sealed(&old, "call/1", &bytes);
            assert!(size < 16 || !kept.windows(16).any(|window| window == &bytes[..16]), "{size}");
            assert_eq!(opened(&both, "call/1", &kept).unwrap(), bytes, "{size}");
            assert_eq!(opened(&both, "call/2", &kept), Err(VaultFault::Damaged));
            assert_eq!(opened(&["new"], "call/1", &kept), Err(VaultFault::NoKey));
        }
        assert!(matches!(ring(&[]).seal("", [0; SALT]), Err(VaultFault::NoKey)));
    }

    #[test]
    fn nothing_of_it_can_be_changed_cut_off_or_moved() {
        let kept = sealed(&ring(&["key"]), "call", &vec![3; 2 * PIECE + 9]);
        for at in [0, 5, 20, HEAD, HEAD + PIECE, kept.len() - 1] {
            let mut changed = kept.clone();
            changed[at] ^= 1;
            assert!(opened(&["key"], "call", &changed).is_err(), "{at}");
        }
        let piece = PIECE + CODE;
        for end in [0, HEAD, HEAD + piece, HEAD + 2 * piece, kept.len() - 1] {
            assert!(opened(&["key"], "call", &kept[..end]).is_err(), "{end}");
        }
        let moved = [
            &kept[..HEAD],
            &kept[HEAD + piece..HEAD + 2 * piece],
            &kept[HEAD..HEAD + piece],
            &kept[HEAD + 2 * piece..],
        ];
        assert!(opened(&["key"], "call", &moved.concat()).is_err());
    }
}
