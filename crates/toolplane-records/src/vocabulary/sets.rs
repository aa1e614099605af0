//! The vocabularies whose every word real calls of the tests must have shown (`schemas/vocabulary.json`).

use super::{
    ErrorClass, EventClass, HiddenReason, InvocationStatus, PersistenceStrategy, ProgressStatus, Recoverability,
    ResultStatus,
};
use crate::result::CONTENT_CLASSES;

/// A name and its words, in the order of the standard. Of events those of the standard, without ours.
pub fn sets() -> Vec<(&'static str, Vec<&'static str>)> {
    macro_rules! words {
        ($name:ident) => {
            $name::ALL.iter().map(|word| word.as_str()).collect()
        };
    }
    let mut events: Vec<&'static str> = words!(EventClass);
    events.retain(|class| !class.starts_with("ext."));
    vec![
        ("states", words!(InvocationStatus)),
        ("events", events),
        ("result_statuses", words!(ResultStatus)),
        ("error_classes", words!(ErrorClass)),
        ("recoverabilities", words!(Recoverability)),
        ("content_classes", CONTENT_CLASSES.to_vec()),
        ("persistence_strategies", words!(PersistenceStrategy)),
        ("progress_statuses", words!(ProgressStatus)),
        ("reasons", words!(HiddenReason)),
    ]
}

/// The same as one JSON object.
pub fn json() -> String {
    let sets: serde_json::Map<String, serde_json::Value> =
        sets().into_iter().map(|(name, words)| (name.to_owned(), words.into())).collect();
    let mut text = serde_json::to_string_pretty(&sets).unwrap_or_default();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    #[test]
    fn the_file_is_what_the_vocabularies_are() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schemas/vocabulary.json");
        let written = std::fs::read_to_string(path).unwrap();
        assert!(written == super::json(), "schemas/vocabulary.json is stale: run `cargo xtask gen`");
    }
}
