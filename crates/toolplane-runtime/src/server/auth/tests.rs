use std::sync::Arc;

use super::*;
use crate::keys::NewKey;

#[test]
fn secrets_are_nowhere_in_what_can_be_printed() {
    let folder = tempfile::tempdir().expect("folder");
    let (tokens, keys) = (folder.path().join("tokens"), folder.path().join("keys"));
    let key = NewKey::make("k").expect("key");
    std::fs::write(&tokens, "a-secret-token\n").expect("tokens");
    let entry = format!("[[key]]\nid = \"k\"\nsha256 = \"{}\"\ntenant = \"t\"\nroles = [\"agent\"]\n", key.sha256());
    std::fs::write(&keys, &entry).expect("keys");
    let config =
        AuthConfig { token_file: Some(tokens.clone()), api_key_file: Some(keys.clone()), ..AuthConfig::default() };
    let auth = Arc::new(Auth::from_config(&config).expect("auth"));
    for secret in ["a-secret-token", key.text(), "a-secret-tokes", &format!("{}x", key.text())] {
        let mut headers = http::HeaderMap::new();
        headers.insert(http::header::AUTHORIZATION, secret.parse().expect("value"));
        let found = format!("{auth:?} {:?}", auth.identify(&headers, &http::Extensions::new()));
        assert!(!found.contains("secret") && !found.contains(&secret[secret.len() - 8..]), "{found}");
    }
    for (file, text) in [(&tokens, "# only a-secret-comment\n"), (&keys, "secret = 1")] {
        std::fs::write(file, text).expect("file");
        let error = Auth::from_config(&config).expect_err(text).to_string();
        assert!(!error.contains("secret"), "{error}");
        std::fs::write(&tokens, "t").expect("tokens");
    }
}
