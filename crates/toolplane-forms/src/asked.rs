//! Which form is asked for, and how its reader calls things: read from the words of a request.

use crate::story::Reader;
use crate::view::{UnknownView, View};

/// Longest name a reader may have for something, in bytes.
const LONGEST: usize = 4096;

/// The words of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// Which form.
    pub view: String,
    /// The reader's session.
    pub session_id: String,
    /// Where the workspace is on the reader's machine.
    pub workspace_root: String,
    /// What the reader calls the call.
    pub call_id: String,
}

/// The form, and how its reader calls things.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The form.
    pub view: View,
    words: Words,
}

/// A word of a request that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` {rule}")]
pub struct BadWord {
    /// Which of [`Words`].
    pub field: &'static str,
    /// The rule, as a phrase that follows the field's name.
    pub rule: String,
}

impl Asked {
    /// Reads the words of a request. Fails with [`BadWord`], which for a form that there is not names all that there are.
    pub fn read(words: Words) -> Result<Self, BadWord> {
        let bad = |field, rule: String| BadWord { field, rule };
        let view = words.view.parse().map_err(|UnknownView { word }| {
            bad("view", format!("must be one of {}, and is `{word}`", View::words()))
        })?;
        let named =
            [("session_id", &words.session_id), ("workspace_root", &words.workspace_root), ("call_id", &words.call_id)];
        for (field, text) in named {
            if text.len() > LONGEST {
                return Err(bad(field, format!("must be at most {LONGEST} bytes")));
            }
        }
        if !words.workspace_root.is_empty() && !is_absolute(&words.workspace_root) {
            return Err(bad("workspace_root", "must be a whole path".to_owned()));
        }
        Ok(Self { view, words })
    }

    /// How the reader calls things.
    pub fn reader(&self) -> Reader<'_> {
        Reader {
            session: said(&self.words.session_id),
            root: said(&self.words.workspace_root),
            call: said(&self.words.call_id),
        }
    }
}

fn said(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

/// Whether a path begins at a root, on any system a reader may have.
fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || path.as_bytes().get(1..3).is_some_and(|rest| rest == b":\\" || rest == b":/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(view: &str, root: &str) -> Result<Asked, BadWord> {
        Asked::read(Words { view: view.to_owned(), workspace_root: root.to_owned(), ..Words::default() })
    }

    #[test]
    fn what_is_wrong_is_named_with_what_there_is() {
        assert_eq!(read("acp", "/home/ann").unwrap().reader().root, Some("/home/ann"));
        assert!(read("acp", "C:\\work").is_ok() && read("mcp", "").unwrap().reader().root.is_none());
        let unknown = read("xml", "").unwrap_err().to_string();
        assert!(
            unknown.starts_with("`view` must be one of record, acp, ") && unknown.ends_with("and is `xml`"),
            "{unknown}"
        );
        assert_eq!(read("acp", "project").unwrap_err().field, "workspace_root");
        assert_eq!(read("", "/x").unwrap_err().field, "view");
    }
}
