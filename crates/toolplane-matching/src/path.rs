//! Paths as rules see them: normalised by their text alone.
//!
//! Nothing here looks at a file system, so links are not followed: the code that opens the file resolves the path
//! beneath the workspace once more. A percent sign and a tilde are ordinary characters; only a shell gives `~` a
//! meaning.
//!
//! A rule meets any path a command may name, also one outside of the workspace. The tools on files take less, and read what they
//! take in the same way ([`toolplane_records::workspace::relative`]; a property test compares the two): what was decided about is
//! what is opened.

#[cfg(test)]
mod tests;

pub use toolplane_records::workspace::MAX_PATH;

/// Longest name between two slashes, in bytes.
pub const MAX_COMPONENT: usize = 255;

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathFact {
    /// Beneath the workspace: relative, without `.`, `..` and doubled slashes; empty for the workspace itself.
    Inside(String),
    /// Elsewhere: absolute and normalised.
    Outside(String),
    /// No path at all; the text says which rule it breaks.
    Invalid(&'static str),
}

/// What is done with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathAccess {
    /// Read or listed.
    Read,
    /// Created, changed, moved or deleted.
    Write,
}

/// Normalises `text` against the workspace `root` (absolute; empty when it has no place of its own).
pub fn normalize(text: &str, root: &str) -> PathFact {
    if text.is_empty() {
        return PathFact::Invalid("must not be empty");
    }
    if text.len() > MAX_PATH {
        return PathFact::Invalid("is longer than 4096 bytes");
    }
    if text.chars().any(char::is_control) {
        return PathFact::Invalid("must not contain control characters");
    }
    if text.split('/').any(|component| component.len() > MAX_COMPONENT) {
        return PathFact::Invalid("has a name longer than 255 bytes");
    }
    let root = folded("", root);
    let whole = if text.starts_with('/') { folded("", text) } else { folded(&root, text) };
    match whole.strip_prefix(&root) {
        // Without a place of its own a workspace holds relative paths only.
        Some(inside) if root.is_empty() && !text.starts_with('/') && !climbs(text) => {
            PathFact::Inside(inside.trim_start_matches('/').to_owned())
        }
        Some(inside) if !root.is_empty() && (inside.is_empty() || inside.starts_with('/')) => {
            PathFact::Inside(inside.trim_start_matches('/').to_owned())
        }
        _ if whole.is_empty() => PathFact::Outside("/".to_owned()),
        _ => PathFact::Outside(whole),
    }
}

/// `base` and `text` as one absolute path without `.`, `..` and doubled slashes; the root is empty.
fn folded(base: &str, text: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in base.split('/').chain(text.split('/')) {
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    let mut whole = String::with_capacity(base.len() + text.len() + 1);
    for name in names {
        whole.push('/');
        whole.push_str(name);
    }
    whole
}

/// Whether a relative path leads above where it begins, at any point on its way.
fn climbs(text: &str) -> bool {
    let mut depth = 0_usize;
    for name in text.split('/') {
        match name {
            "" | "." => {}
            ".." if depth == 0 => return true,
            ".." => depth -= 1,
            _ => depth += 1,
        }
    }
    false
}

impl PathFact {
    /// The path inside or outside; none for an invalid one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Inside(path) | Self::Outside(path) => Some(path),
            Self::Invalid(_) => None,
        }
    }

    /// Whether the path leads beneath the workspace.
    pub fn is_inside(&self) -> bool {
        matches!(self, Self::Inside(_))
    }
}
