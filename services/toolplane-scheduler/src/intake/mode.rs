//! Permission modes: the words callers may use.

/// The mode of a word, as it is stored; `None` for a word nobody knows.
pub(crate) fn read(word: &str) -> Option<&'static str> {
    Some(match word {
        "default" | "manual" => "default",
        "accept_edits" | "acceptEdits" => "accept_edits",
        "plan" => "plan",
        "bypass" | "bypassPermissions" => "bypass",
        "dont_ask" | "dontAsk" => "dont_ask",
        _ => return None,
    })
}

/// The words, for people.
pub(crate) const KNOWN: &str = "`default`, `accept_edits`, `plan`, `bypass` or `dont_ask`";
