//! The words by which patterns and calls find each other: the program of a command, the first directory of a path, the host
//! of a URL.

use crate::scene::Scene;
use toolplane_matching::command::{Shell, SimpleCommand, Word};
use toolplane_matching::path::PathFact;
use toolplane_matching::subject::{PathSubject, SubjectKind};
use toolplane_matching::url;

/// The words to look patterns up by; none when only looking at all of them is safe.
pub(super) type Keys = Option<Vec<String>>;

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
    if !scene.target.is_complete() {
        return None;
    }
    match scene.target.kind? {
        SubjectKind::Command => command_keys(scene.target.subjects.commands()),
        SubjectKind::Path => path_keys(scene.target.subjects.paths()),
        SubjectKind::Url => {
            let mut keys = Vec::new();
            for url in scene.target.subjects.urls() {
                // One address has many spellings.
                let host = url.as_ref().ok().filter(|url| url.address.is_none())?.host.as_str();
                keys.push(host.to_owned());
                keys.extend(host.match_indices('.').map(|(dot, _)| host[dot + 1..].to_owned()));
            }
            Some(keys)
        }
    }
}

fn command_keys(shells: &[Shell]) -> Keys {
    let mut keys = Vec::new();
    for shell in shells {
        if shell.opaque.is_some() {
            return None;
        }
        for command in &shell.commands {
            add_programs(command, &mut keys)?;
        }
        // Where the shape leaves anything open, a program's bare name anywhere in the text is enough to doubt.
        if !shell.is_plain() {
            let names = shell.raw().split(|c: char| !in_name(c)).filter(|name| !name.is_empty());
            keys.extend(names.map(str::to_ascii_lowercase));
        }
    }
    keys.sort_unstable();
    keys.dedup();
    Some(keys)
}

/// What names of programs are made of, where they are separate words in a text.
pub(super) fn in_name(c: char) -> bool {
    c.is_alphanumeric() || "_.-".contains(c)
}

/// The programs of a command; none when one is decided at run time.
fn add_programs(command: &SimpleCommand, keys: &mut Vec<String>) -> Option<()> {
    let wrapped = command.wrapped.as_ref().map(|(words, _)| words);
    for words in [Some(&command.words), command.canonical.as_ref(), wrapped].into_iter().flatten() {
        let Some(first) = words.first() else { continue };
        let Word { text, .. } = Some(first).filter(|word| word.is_known())?;
        keys.push(text.rsplit('/').next().unwrap_or(text).to_ascii_lowercase());
    }
    Some(())
}

pub(super) fn path_keys<'a>(paths: impl IntoIterator<Item = &'a PathSubject>) -> Keys {
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
