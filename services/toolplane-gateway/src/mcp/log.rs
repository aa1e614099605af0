//! What this process remembers of sessions for convenience: from which level on they are told what happens, and that they ended.

use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};

/// How urgent a message is, by the protocol's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Level {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl Level {
    pub(crate) fn of(value: &Value) -> Option<Self> {
        serde_json::from_value(value.clone()).ok()
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Notice => "notice",
            Self::Warning => "warning",
            Self::Error => "error",
            Self::Critical => "critical",
            Self::Alert => "alert",
            Self::Emergency => "emergency",
        }
    }
}

/// The parameters of a message about `tool`.
pub(crate) fn message(level: Level, tool: &str, said: &Value) -> Value {
    json!({ "level": level.as_str(), "logger": tool, "data": said })
}

/// Most sessions of which anything is remembered.
const SESSIONS: usize = 4096;

/// Sessions that their clients have ended, the newest ones. What makes a session good is with its client, so this is for the process
/// that was told alone: elsewhere the session would still be answered, to the same caller.
#[derive(Debug, Default)]
pub(crate) struct Ended(Mutex<std::collections::VecDeque<String>>);

impl Ended {
    pub(crate) fn put(&self, session: &str) {
        let mut ended = self.0.lock();
        if ended.len() == SESSIONS {
            ended.pop_front();
        }
        ended.push_back(session.to_owned());
    }

    pub(crate) fn has(&self, session: &str) -> bool {
        self.0.lock().iter().any(|ended| ended == session)
    }
}

/// The levels that sessions asked for. They are a convenience and are remembered by the process that was asked, the newest ones; a
/// session that goes on elsewhere is told what is of level `info`, like one that never asked.
#[derive(Debug, Default)]
pub(crate) struct Levels(Mutex<std::collections::VecDeque<(String, Level)>>);

impl Levels {
    pub(crate) fn set(&self, session: &str, level: Level) {
        let mut levels = self.0.lock();
        levels.retain(|(of, _)| of != session);
        if levels.len() == SESSIONS {
            levels.pop_front();
        }
        levels.push_back((session.to_owned(), level));
    }

    /// What a session asked for, if it did and this process knows.
    pub(crate) fn of(&self, session: &str) -> Option<Level> {
        let levels = self.0.lock();
        levels.iter().rev().find(|(of, _)| of == session).map(|(_, level)| *level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_levels_are_remembered() {
        let levels = Levels::default();
        levels.set("first", Level::Error);
        assert_eq!(levels.of("first"), Some(Level::Error));
        for at in 0..SESSIONS {
            levels.set(&at.to_string(), Level::Debug);
        }
        assert_eq!((levels.of("first"), levels.of("0")), (None, Some(Level::Debug)));
        assert_eq!(Level::of(&json!("warning")), Some(Level::Warning));
        assert_eq!(Level::of(&json!("loud")), None);
    }
}
