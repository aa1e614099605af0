//! What clients keep for us: sealed, so that any process that has the key can go on with it, and nobody can make or change it.
//!
//! What is sealed can be read by whoever holds it; it is no secret. It is bound to what it is for and to whom it was given.

use aws_lc_rs::hmac::{self, HMAC_SHA256, Key};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

/// Bytes of the code that authenticates. Half of what the function gives, which is more than anybody can guess.
const CODE: usize = 16;
/// Longest sealed text that is looked at.
const MOST: usize = 4 * 1024;

/// What something sealed is for: it is good for nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// The id of a session.
    Session,
    /// The id of a request to the client: a question.
    Question,
    /// The state of a request that needs input.
    State,
    /// The id of a task.
    Task,
    /// The id of an event in the stream of a request.
    Event,
    /// The identity of a call.
    Call,
    /// The identity of a surface.
    Surface,
}

impl Purpose {
    fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Question => "question",
            Self::State => "state",
            Self::Task => "task",
            Self::Event => "event",
            Self::Call => "call",
            Self::Surface => "surface",
        }
    }
}

/// The keys: the first one seals, any of them opens. So a key can be changed without a gap.
#[derive(Clone)]
pub(crate) struct Seals(Vec<Key>);

impl std::fmt::Debug for Seals {
    /// Without the keys.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Seals({})", self.0.len())
    }
}

impl Seals {
    /// Keys made from secrets of any length; there must be at least one.
    pub(crate) fn of<'a>(secrets: impl IntoIterator<Item = &'a [u8]>) -> Self {
        // A key of its own, so that nothing that is sealed here says anything about what the secret is for elsewhere.
        let derive = |secret: &[u8]| hmac::sign(&Key::new(HMAC_SHA256, secret), b"toolplane mcp seals 1");
        Self(secrets.into_iter().map(|secret| Key::new(HMAC_SHA256, derive(secret).as_ref())).collect())
    }

    /// `value` for `purpose`, given to `principal`: letters, digits, `-` and `_`.
    pub(crate) fn seal(&self, purpose: Purpose, principal: &str, value: &impl Serialize) -> String {
        let said = serde_json::to_vec(value).unwrap_or_default();
        let code = self.0.first().map(|key| code(key, purpose, principal, &said)).unwrap_or_default();
        URL_SAFE_NO_PAD.encode([code.as_slice(), &said].concat())
    }

    /// What was sealed for this purpose and given to this principal; `None` for anything else.
    pub(crate) fn open<T: DeserializeOwned>(&self, purpose: Purpose, principal: &str, text: &str) -> Option<T> {
        if text.len() > MOST {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (shown, said) = bytes.split_at_checked(CODE)?;
        let same =
            |key: &Key| aws_lc_rs::constant_time::verify_slices_are_equal(&code(key, purpose, principal, said), shown);
        if !self.0.iter().any(|key| same(key).is_ok()) {
            return None;
        }
        serde_json::from_slice(said).ok()
    }

    /// An identifier that is always the same for the same things, and that nobody without the key can tell from any other.
    pub(crate) fn name(&self, purpose: Purpose, principal: &str, of: &[&str]) -> Uuid {
        let of = serde_json::to_vec(of).unwrap_or_default();
        let code = self.0.first().map(|key| code(key, purpose, principal, &of)).unwrap_or_default();
        let mut bytes = [0; 16];
        bytes.iter_mut().zip(&code).for_each(|(to, from)| *to = *from);
        uuid::Builder::from_custom_bytes(bytes).into_uuid()
    }
}

/// Text nobody can guess: 32 hex digits.
pub(crate) fn nonce() -> String {
    Uuid::new_v4().simple().to_string()
}

fn code(key: &Key, purpose: Purpose, principal: &str, said: &[u8]) -> Vec<u8> {
    let mut signed = hmac::Context::with_key(key);
    for part in [purpose.as_str().as_bytes(), principal.as_bytes(), said] {
        signed.update(&(part.len() as u64).to_be_bytes());
        signed.update(part);
    }
    signed.sign().as_ref()[..CODE].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_is_opened_by_whom_and_for_what_it_was_meant() {
        let seals = Seals::of([b"one".as_slice()]);
        let sealed = seals.seal(Purpose::Task, "acme key:1", &"inv_1");
        let open = |seals: &Seals, purpose, principal, text: &str| seals.open::<String>(purpose, principal, text);
        assert_eq!(open(&seals, Purpose::Task, "acme key:1", &sealed).as_deref(), Some("inv_1"));
        assert_eq!(open(&seals, Purpose::Task, "acme key:2", &sealed), None, "somebody else");
        assert_eq!(open(&seals, Purpose::State, "acme key:1", &sealed), None, "for something else");
        assert_eq!(open(&Seals::of([b"two".as_slice()]), Purpose::Task, "acme key:1", &sealed), None);
        let both = Seals::of([b"two".as_slice(), b"one"]);
        assert_eq!(open(&both, Purpose::Task, "acme key:1", &sealed).as_deref(), Some("inv_1"), "an older key");
        for at in 0..sealed.len() {
            let mut changed = sealed.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            let changed = String::from_utf8(changed).unwrap();
            // The last letter has bits that stand for nothing.
            assert!(changed == sealed || open(&seals, Purpose::Task, "acme key:1", &changed).is_none(), "{at}");
        }
        for none in ["", "x", "AAAA", &"A".repeat(5_000)] {
            assert_eq!(open(&seals, Purpose::Task, "acme key:1", none), None);
        }
    }

    #[test]
    fn a_name_is_the_same_for_the_same_things_alone() {
        let seals = Seals::of([b"one".as_slice()]);
        let name = |of: &[&str]| seals.name(Purpose::Call, "p", of);
        assert_eq!(name(&["a", "b"]), name(&["a", "b"]));
        assert_ne!(name(&["a", "b"]), name(&["ab", ""]));
        assert_ne!(name(&["a"]), seals.name(Purpose::Call, "q", &["a"]));
    }
}
