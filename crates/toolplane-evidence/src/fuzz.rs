//! Lines and keys of others.

use toolplane_fuzz::fuzz;

use crate::{Line, PublicKey, SigningKey};

const LINES: [&str; 2] = [
    concat!(
        r#"{"n":1,"prev":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","kind":"event","#,
        r#""id":"inv_1:1","record":{"a":1},"sum":"sha256:"#,
        r#"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}"#
    ),
    "{}",
];

const KEYS: [&str; 2] = [
    "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n",
    "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n-----END PRIVATE KEY-----\n",
];

/// Whatever the bytes are, they are a line that is written the same way, or none.
#[test]
fn lines() {
    fuzz!("lines", LINES, |bytes: &[u8]| {
        if let Ok((line, sum)) = Line::read(bytes) {
            let (written, again) = line.write();
            assert_eq!((written.as_bytes(), again), (bytes, sum));
        }
    });
}

/// Whatever the text is, it is a key or none.
#[test]
fn keys() {
    fuzz!("keys", KEYS, |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let _ = (PublicKey::read(&text), SigningKey::read(&text).is_ok());
    });
}
