//! The words by which patterns and calls find each other: the program of a command, the first directory of a path, the host
//! of a URL.

use crate::scene::Scene;
use toolplane_matching::command::{Shell, SimpleCommand};
use toolplane_matching::path::PathFact;
use toolplane_matching::subject::{PathSubject, SubjectKind};
use toolplane_matching::url::{self, InvalidUrl, UrlFact};

/// The words to look patterns up by, and what else may be about the call.
#[derive(Debug)]
pub(super) struct Keys {
    pub(super) words: Vec<String>,
    pub(super) beside: Beside,
}

/// What patterns by other words than those of a call are to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    /// They are not about it.
    Nothing,
    /// They may be, as far as [`UnlistedPrograms`](toolplane_matching::target::UnlistedPrograms) say.
    Unlisted,
    /// They are compared like all others.
    Everything,
}

// === keys of patterns ===

/// The first directory a path pattern is bound to: only patterns with a slash inside are bound to the root.
pub(super) fn directory(text: &str) -> Option<String> {
    let text = text.strip_prefix("./").or_else(|| text.strip_prefix('/')).unwrap_or(text);
    let (first, rest) = text.split_once('/')?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (!first.is_empty() && !rest.is_empty() && first.bytes().all(plain)).then(|| first.to_ascii_lowercase())
}

/// The host a URL pattern ends with.
pub(super) fn host(text: &str) -> Option<String> {
    let domain = text.strip_prefix("domain:")?;
    let domain = domain.strip_prefix("*.").unwrap_or(domain);
    if domain.contains('*') {
        return None;
    }
    url::parse(&format!("https://{domain}/")).ok().map(|fact| fact.host)
}

// === keys of calls ===

pub(super) fn own_keys(scene: &Scene<'_>) -> Keys {
    let complete = scene.target.is_complete();
    let words = match scene.target.kind {
        Some(SubjectKind::Command) => return command_keys(scene.target.subjects.commands(), complete),
        Some(SubjectKind::Path) if complete => path_words(scene.target.subjects.paths()),
        Some(SubjectKind::Url) if complete => url_words(scene.target.subjects.urls()),
        _ => None,
    };
    Keys::of(words)
}

impl Keys {
    /// These words; none when only looking at all patterns is safe.
    fn of(words: Option<Vec<String>>) -> Self {
        let beside = if words.is_some() { Beside::Nothing } else { Beside::Everything };
        Self { words: words.unwrap_or_default(), beside }
    }
}

fn url_words(urls: &[Result<UrlFact, InvalidUrl>]) -> Option<Vec<String>> {
    let mut words = Vec::new();
    for url in urls {
        // One address has many spellings.
        let host = url.as_ref().ok().filter(|url| url.address.is_none())?.host.as_str();
        words.push(host.to_owned());
        words.extend(host.match_indices('.').map(|(dot, _)| host[dot + 1..].to_owned()));
    }
    Some(words)
}

fn command_keys(shells: &[Shell], complete: bool) -> Keys {
    let mut words = Vec::new();
    let mut all_seen = complete;
    for shell in shells {
        all_seen &= shell.opaque.is_none();
        for command in &shell.commands {
            all_seen &= add_programs(command, &mut words);
        }
        // Where the shape leaves anything open, a program's bare name anywhere in the text is enough to doubt.
        if !shell.is_plain() {
            let names = shell.raw().split(|c: char| !in_name(c)).filter(|name| !name.is_empty());
            words.extend(names.map(str::to_ascii_lowercase));
        }
    }
    words.sort_unstable();
    words.dedup();
    Keys { words, beside: if all_seen { Beside::Nothing } else { Beside::Unlisted } }
}

/// What names of programs are made of, where they are separate words in a text.
pub(super) fn in_name(c: char) -> bool {
    c.is_alphanumeric() || "_.-".contains(c)
}

/// Adds the programs of a command. Says whether none is decided at run time.
fn add_programs(command: &SimpleCommand, keys: &mut Vec<String>) -> bool {
    let wrapped = command.wrapped.as_ref().map(|(words, _)| words);
    let mut all_seen = true;
    for words in [Some(&command.words), command.canonical.as_ref(), wrapped].into_iter().flatten() {
        let Some(first) = words.first() else { continue };
        all_seen &= first.is_known();
        let base = |text: &str| text.rsplit('/').next().unwrap_or(text).to_ascii_lowercase();
        keys.push(base(&first.text));
        // A pattern with stars takes a word with blanks in it for several.
        if let Some((before, _)) = first.text.split_once(' ') {
            keys.push(base(before));
            keys.extend(base(&first.text).split(' ').next().map(str::to_owned));
        }
    }
    all_seen
}

/// The words to look patterns of paths up by.
pub(super) fn path_keys<'a>(paths: impl IntoIterator<Item = &'a PathSubject>) -> Keys {
    Keys::of(path_words(paths))
}

fn path_words<'a>(paths: impl IntoIterator<Item = &'a PathSubject>) -> Option<Vec<String>> {
    let first = |path: &PathSubject| match &path.fact {
        _ if !path.known => None,
        // Patterns bound to the workspace are about nothing outside it.
        PathFact::Outside(_) => Some(String::new()),
        // A further directory of work is named from the root.
        PathFact::Inside(inside) if !path.tree && !inside.starts_with('/') => {
            inside.split('/').next().map(str::to_lowercase)
        }
        PathFact::Inside(_) | PathFact::Invalid(_) => None,
    };
    paths.into_iter().map(first).collect()
}
