//! Locks as typed: `key`, `key:shared` or `key:exclusive`.

use toolplane_proto::v1;
use toolplane_records::scheduling::ResourceLock;
use toolplane_records::vocabulary::LockMode;

use crate::cli::argument::ArgumentError;

/// Reads one lock. Only a mode's name after the last colon is a mode, so keys may have colons.
pub(super) fn parse(text: &str) -> Result<v1::ResourceLock, ArgumentError> {
    let (key, mode) = match text.rsplit_once(':').and_then(|(key, mode)| Some((key, mode.parse::<LockMode>().ok()?))) {
        Some((key, mode)) => (key, mode),
        None => (text, LockMode::default()),
    };
    match key.is_empty() {
        true => Err(ArgumentError::LockWithoutKey),
        false => Ok((&ResourceLock { key: key.to_owned(), mode }).into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_may_have_colons_and_modes_are_words() {
        let table = [
            ("db", "db", v1::LockMode::Exclusive),
            ("db:shared", "db", v1::LockMode::Shared),
            ("db:exclusive", "db", v1::LockMode::Exclusive),
            ("file:/a:b", "file:/a:b", v1::LockMode::Exclusive),
            ("file:/a:shared", "file:/a", v1::LockMode::Shared),
        ];
        for (text, key, mode) in table {
            let lock = parse(text).unwrap();
            assert_eq!((lock.key.as_str(), lock.mode_code()), (key, mode), "{text}");
        }
        assert!(parse(":shared").is_err() && parse("").is_err());
    }
}
