//! Keys that sign exports, and keys that prove them: Ed25519, in the PEM files every other program reads.

use aws_lc_rs::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use toolplane_records::payload::Digest;

/// What stands before the 32 bytes of a public key (RFC 8410).
const PUBLIC: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
const PUBLIC_LABEL: &str = "PUBLIC KEY";
const SECRET_LABEL: &str = "PRIVATE KEY";

/// A text is no key, or none can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// It is no PEM block of this label.
    #[error("it holds no `-----BEGIN {0}-----`")]
    NoPem(&'static str),
    /// What the block holds is no Ed25519 key.
    #[error("it is no Ed25519 key")]
    NotEd25519,
    /// The machine gives no random numbers.
    #[error("no key can be made: there are no random numbers")]
    NoRandomness,
}

/// Signs exports. Shows nothing of itself.
pub struct SigningKey(Ed25519KeyPair);

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SigningKey({})", self.public().fingerprint())
    }
}

impl SigningKey {
    /// Makes a new key, and gives the text of its file. Fails when the machine gives no random numbers.
    pub fn make() -> Result<(Self, String), KeyError> {
        let made = Ed25519KeyPair::generate().map_err(|_| KeyError::NoRandomness)?;
        let secret = made.to_pkcs8v1().map_err(|_| KeyError::NotEd25519)?;
        Ok((Self(made), pem(SECRET_LABEL, secret.as_ref())))
    }

    /// Reads the text of its file. Fails for a text that holds no PKCS#8 key of Ed25519.
    pub fn read(text: &str) -> Result<Self, KeyError> {
        let der = from_pem(SECRET_LABEL, text)?;
        let key = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der).map_err(|_| KeyError::NotEd25519)?;
        Ok(Self(key))
    }

    /// The key that proves what this one signs.
    pub fn public(&self) -> PublicKey {
        let bytes = self.0.public_key().as_ref();
        PublicKey(bytes.try_into().unwrap_or([0; 32]))
    }

    /// The signature of `message`, as text.
    pub(crate) fn sign(&self, message: &[u8]) -> String {
        BASE64.encode(self.0.sign(message).as_ref())
    }
}

/// Proves exports that were signed with its other half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    /// Reads the text of its file. Fails for a text that holds no public key of Ed25519.
    pub fn read(text: &str) -> Result<Self, KeyError> {
        let der = from_pem(PUBLIC_LABEL, text)?;
        let bytes = der.strip_prefix(&PUBLIC).and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or(KeyError::NotEd25519)
    }

    /// The text of its file.
    pub fn to_pem(&self) -> String {
        pem(PUBLIC_LABEL, &[&PUBLIC[..], &self.0].concat())
    }

    /// What the key is called: the digest of its bytes.
    pub fn fingerprint(&self) -> Digest {
        Digest::of(&self.0)
    }

    /// Whether `signature` is that of `message`.
    pub(crate) fn proves(&self, message: &[u8], signature: &str) -> bool {
        let signature = BASE64.decode(signature).ok();
        let key = UnparsedPublicKey::new(&ED25519, self.0);
        signature.is_some_and(|signature| key.verify(message, &signature).is_ok())
    }
}

fn pem(label: &str, der: &[u8]) -> String {
    let text = BASE64.encode(der);
    let lines: Vec<&str> = text.as_bytes().chunks(64).filter_map(|line| std::str::from_utf8(line).ok()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}

fn from_pem(label: &'static str, text: &str) -> Result<Vec<u8>, KeyError> {
    let none = KeyError::NoPem(label);
    let (_, rest) = text.split_once(&format!("-----BEGIN {label}-----")).ok_or(none)?;
    let (body, _) = rest.split_once(&format!("-----END {label}-----")).ok_or(none)?;
    let body: String = body.split_whitespace().collect();
    BASE64.decode(body).map_err(|_| none)
}
