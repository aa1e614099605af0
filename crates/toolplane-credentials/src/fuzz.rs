//! Bytes of others: answers of token servers, documents in files, outputs of tools.

use toolplane_fuzz::fuzz;

use crate::config::CredentialConfig;
use crate::mask::Mask;
use crate::secret::Secret;
use crate::source::read_token_answer;
use crate::tokens::TokenAnswer;
use crate::value::Value;

/// Whatever a server answers, it is a token that can be put into a header, or an error that repeats nothing of it.
#[test]
fn token_answers() {
    let corpus = [
        r#"{"access_token":"2YotnFZFEjr1zCsicMWpAA","token_type":"Bearer","expires_in":3600}"#,
        r#"{"token_type":"bearer","access_token":"aaaaaaaaaaaa","expires_in":"60","scope":"a b","x":[{}]}"#,
        r#"{"error":"invalid_client","error_description":"secret hunter22 is wrong"}"#,
        r#"{"access_token":"a\u0000b\n","token_type":"bearer","expires_in":-1e400}"#,
        "<html>no</html>",
    ];
    fuzz!("token-answers", corpus, |bytes: &[u8]| {
        for status in [200, 400, 401, 503] {
            match read_token_answer(&TokenAnswer { status, body: Secret::new(bytes) }) {
                Ok((token, lifetime)) => {
                    assert!(status == 200 && token.reveal().iter().all(u8::is_ascii_graphic));
                    assert!(lifetime.as_secs() >= 1);
                }
                Err(fault) => assert!(fault.to_string().len() < 200),
            }
        }
    });
}

/// A document is read or refused; what is called secret in it is long enough to be masked.
#[test]
fn values() {
    let corpus = [
        r#"{"token":"0123456789abcdef","user":"ann","n":[1,{"a":"b"}],"x":null}"#,
        r#"{"a":"aaaaaaaa","a":"bbbbbbbb"}"#,
        "user:hunter22hunter22\n",
        "ghp_0123456789abcdefghij\r\n",
        "\u{0}\u{1}\u{fffd}",
    ];
    let configs: Vec<CredentialConfig> = ["bearer", "basic", "api_key", "raw", "json"]
        .map(|kind| toml::from_str(&format!("name = 'a'\nkind = '{kind}'\nsource = {{ env = 'A' }}\ntools = ['*']")))
        .into_iter()
        .collect::<Result<_, _>>()
        .unwrap();
    fuzz!("values", corpus, |bytes: &[u8]| {
        for config in &configs {
            let Ok(value) = Value::read(config, &Secret::new(bytes)) else { continue };
            let secrets = value.secrets();
            assert!(!secrets.is_empty() && secrets.iter().all(|secret| secret.reveal().len() >= 8));
            let mask = Mask::new(secrets.iter().map(|secret| ("a", *secret)));
            for secret in secrets {
                assert!(!mask.is_empty() && mask.bytes(secret.reveal()).starts_with(b"[credential a]"));
            }
        }
    });
}

/// Masking reads any text to its end, and finds nothing the second time.
#[test]
fn outputs() {
    let mask = Mask::new([("a", &Secret::new(*b"s3cr3t-\"x\"/y")), ("b", &Secret::new(*b"aaaaaaaaaa"))]);
    let corpus = [
        r#"{"a":"s3cr3t-\"x\"/y","b":["aaaaaaaaaa",12,true,null],"s3cr3t-\u0022x\"\/y":{}}"#,
        "s3cr3t-%22x%22%2Fy and 6161616161616161616161 and YWFhYWFhYWFhYQ==",
        "aaaaa\r\naaaaa%6\\u00%61\\ud83d\\ude00",
    ];
    fuzz!("outputs", corpus, |bytes: &[u8]| {
        let once = mask.bytes(bytes);
        let mut stream = mask.stream();
        let mut out = Vec::new();
        bytes.chunks(3).for_each(|piece| stream.push(piece, &mut out));
        stream.finish(&mut out);
        assert_eq!(out, once.as_ref());
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        if let Ok(masked) = mask.json(text) {
            toolplane_records::json::check(masked.as_bytes(), &toolplane_records::json::JsonLimits::default()).unwrap();
            assert!(!masked.contains("aaaaaaaaaa"), "{masked}");
        }
    });
}
