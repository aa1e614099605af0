//! Arguments as typed, from a file, or from standard input.

use std::io::Read as _;
use std::path::Path;

use bytes::Bytes;
use toolplane_records::json::{self, JsonLimits};

use crate::cli::failure::Failure;

/// Reads what was given with an option and checks it as the cluster will, so that a slip of the quote is explained here.
pub(crate) fn read(given: &str, option: &str) -> Result<Bytes, Failure> {
    let (bytes, name) = match (given, given.strip_prefix('@')) {
        ("-", _) => (standard_input()?, "standard input"),
        (_, Some(file)) => (file_bytes(Path::new(file))?, file),
        (text, None) => (text.as_bytes().to_vec(), option),
    };
    json::check(&bytes, &JsonLimits::default()).map_err(|refusal| {
        Failure::Usage(format!("{name} {refusal}; one JSON value is wanted, e.g. '{{\"path\": \".\"}}'"))
    })?;
    Ok(bytes.into())
}

fn file_bytes(file: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(file).map_err(|error| Failure::file(file, &error))
}

fn standard_input() -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let limit = JsonLimits::default().max_bytes as u64 + 1;
    std::io::stdin()
        .lock()
        .take(limit)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::Local(format!("cannot read standard input: {error}")))?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn bytes_are_kept_and_mistakes_explained() {
        assert_eq!(&read(r#"{ "n": 1.0 }"#, "--input").unwrap()[..], br#"{ "n": 1.0 }"#);
        assert!(read("{'path': 1}", "--input").unwrap_err().to_string().starts_with("--input is not valid JSON"));
        assert!(read("@/does/not/exist", "--input").unwrap_err().to_string().contains("/does/not/exist"));
    }
}
