//! Which operations of a document are meant.

use super::Found;
use crate::error::shown;
use toolplane_records::codes::{self, Code};

/// Which operations are meant: those that fit every list that is not empty. Empty lists select everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Tags, as they are written; one of them is enough.
    pub tags: Vec<String>,
    /// Paths; `*` stands for one segment, `**` for any number of them.
    pub paths: Vec<String>,
    /// Ids: `operationId` or `METHOD /path`.
    pub operations: Vec<String>,
    /// Methods, in any case.
    pub methods: Vec<String>,
}

/// The selection asks for something the document does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the document has no {what} `{word}`")]
pub struct SelectionError {
    /// What was asked for: `tag`, `path`, `operation` or `method`.
    pub what: &'static str,
    /// The word that leads to nothing.
    pub word: String,
}

impl SelectionError {
    pub(super) fn unknown(what: &'static str, word: &str) -> Self {
        Self { what, word: shown(word) }
    }

    /// The code of the registry.
    pub fn code(&self) -> Code {
        codes::OPENAPI_SELECTION
    }
}

impl Selection {
    /// Whether nothing is left out.
    pub fn is_everything(&self) -> bool {
        *self == Self::default()
    }

    /// The places of the selected ones in `all`.
    pub(super) fn of(&self, all: &[Found<'_>]) -> Result<Vec<usize>, SelectionError> {
        let words = |what: &'static str, words: &[String], fits: &dyn Fn(&Found<'_>, &str) -> bool| {
            let unknown = words.iter().find(|word| !all.iter().any(|one| fits(one, word)));
            unknown.map_or(Ok(()), |word| Err(SelectionError::unknown(what, word)))
        };
        words("tag", &self.tags, &has_tag)?;
        words("path", &self.paths, &has_path)?;
        words("operation", &self.operations, &has_id)?;
        words("method", &self.methods, &has_method)?;
        let any = |words: &[String], one: &Found<'_>, fits: fn(&Found<'_>, &str) -> bool| {
            words.is_empty() || words.iter().any(|word| fits(one, word))
        };
        let fits = |one: &Found<'_>| {
            any(&self.tags, one, has_tag)
                && any(&self.paths, one, has_path)
                && any(&self.operations, one, has_id)
                && any(&self.methods, one, has_method)
        };
        Ok(all.iter().enumerate().filter(|(_, one)| fits(one)).map(|(index, _)| index).collect())
    }
}

fn has_tag(one: &Found<'_>, tag: &str) -> bool {
    one.tags().any(|other| other == tag)
}

fn has_id(one: &Found<'_>, id: &str) -> bool {
    one.native_id == id || id.split_once(' ').is_some_and(|(method, path)| has_method(one, method) && one.path == path)
}

fn has_method(one: &Found<'_>, method: &str) -> bool {
    one.method.eq_ignore_ascii_case(method)
}

fn has_path(one: &Found<'_>, pattern: &str) -> bool {
    let segments = |text: &str| text.trim_matches('/').split('/').map(str::to_owned).collect::<Vec<_>>();
    fits_segments(&segments(pattern), &segments(one.path))
}

/// Whether `path` fits `pattern`, in as many steps as there are pairs of segments.
fn fits_segments(pattern: &[String], path: &[String]) -> bool {
    let mut reached = vec![false; path.len() + 1];
    reached[0] = true;
    for part in pattern {
        let mut next = vec![false; path.len() + 1];
        for index in 0..=path.len() {
            if part == "**" {
                next[index] = reached[index] || (index > 0 && next[index - 1]);
            } else if index > 0 {
                next[index] = reached[index - 1] && (part == "*" || *part == path[index - 1]);
            }
        }
        reached = next;
    }
    reached[path.len()]
}

#[cfg(test)]
mod tests {
    use super::fits_segments;

    #[test]
    fn patterns_of_paths_fit_whole_segments() {
        let fits = |pattern: &str, path: &str| {
            let segments = |text: &str| text.trim_matches('/').split('/').map(str::to_owned).collect::<Vec<_>>();
            fits_segments(&segments(pattern), &segments(path))
        };
        assert!(fits("/repos/**", "/repos/{owner}/{repo}") && fits("/repos/**", "/repos"));
        assert!(fits("/*/issues", "/x/issues") && !fits("/*/issues", "/x/y/issues"));
        assert!(fits("**/issues/**", "/a/b/issues/c") && !fits("/repo", "/repos") && !fits("/repos/*", "/repos"));
        assert!(!fits(&"**/a/".repeat(40), &"/b".repeat(200)), "and soon");
    }
}
