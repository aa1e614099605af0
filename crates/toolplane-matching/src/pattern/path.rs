//! Patterns of paths.

use toolplane_records::vocabulary::Behavior;

use super::invalid::{InvalidPattern, MAX_PATTERN};
use crate::fit::Fit;
use crate::glob::{self, NamePattern, Piece};
use crate::path::PathFact;
use crate::subject::PathSubject;

/// Which paths a rule is about, as in a gitignore file.
///
/// `*.env` and `name` stand for a name at any depth; a pattern with a slash inside begins at the workspace (`src/**`,
/// `./src/**`, `/src/**`), one with two slashes in front at the root of the file system, `~/` at a user's home. `*` and
/// `?` stay within a name, `**` does not. `{a,b}` stands for either. A deny or ask pattern is also about everything
/// beneath what it names and ignores case; an allow is about that only when it ends with `/` or `/**`, and only beneath
/// the workspace unless it is absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPattern {
    globs: Vec<NamePattern>,
    anchor: Anchor,
    any: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Anchor {
    Workspace,
    Anywhere,
    Root,
    Home,
}

// === impl PathPattern ===

impl PathPattern {
    /// Reads a pattern; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, InvalidPattern> {
        let refuse = |why: &str| Err(InvalidPattern(why.to_owned()));
        if text.is_empty() {
            return refuse("must not be empty");
        }
        if text.len() > MAX_PATTERN {
            return refuse("is longer than 4096 bytes");
        }
        if text.chars().any(char::is_control) {
            return refuse("must not contain control characters");
        }
        if text.starts_with('!') {
            return refuse("must not begin with `!`: write a rule of another behaviour");
        }
        let any = matches!(text, "*" | "**");
        let (anchor, body) = if let Some(body) = text.strip_prefix("//") {
            (Anchor::Root, body)
        } else if let Some(body) = text.strip_prefix("~/") {
            (Anchor::Home, body)
        } else if let Some(body) = text.strip_prefix("./").or_else(|| text.strip_prefix('/')) {
            (Anchor::Workspace, body)
        } else if text.trim_end_matches('/').contains('/') {
            (Anchor::Workspace, text)
        } else {
            (Anchor::Anywhere, text)
        };
        if body.split('/').any(|name| name == "..") {
            return refuse("must not contain `..`");
        }
        let globs = glob::alternatives(body)?.iter().map(|body| NamePattern::parse(body)).collect::<Result<_, _>>()?;
        Ok(Self { globs, anchor, any })
    }

    /// Whether the pattern fits every path there is.
    pub fn is_any(&self) -> bool {
        self.any
    }

    /// How well the pattern fits a path.
    pub fn fit(&self, behavior: Behavior, subject: &PathSubject) -> Fit {
        let allow = behavior == Behavior::Allow;
        let doubt = if allow { Fit::No } else { Fit::Unknown };
        let path = match &subject.fact {
            PathFact::Invalid(_) => return doubt,
            _ if !subject.known => return doubt,
            PathFact::Inside(path) | PathFact::Outside(path) => path,
        };
        if self.any {
            return if allow && !subject.fact.is_inside() { Fit::No } else { Fit::Yes };
        }
        self.globs.iter().map(|glob| self.one(glob, allow, subject, path)).max().unwrap_or(Fit::No)
    }

    fn one(&self, glob: &NamePattern, allow: bool, subject: &PathSubject, path: &str) -> Fit {
        let inside = subject.fact.is_inside();
        let absolute = subject.absolute.as_str();
        match self.anchor {
            // A path of a further working directory stays absolute and is not seen from the workspace.
            Anchor::Workspace if inside && !path.starts_with('/') => glob.fit(path, allow, subject.tree),
            Anchor::Workspace => Fit::No,
            Anchor::Root => glob.fit(absolute, allow, subject.tree),
            Anchor::Anywhere if inside => glob.anywhere(path, allow, subject.tree),
            Anchor::Anywhere if allow => Fit::No,
            Anchor::Anywhere => glob.anywhere(absolute, allow, subject.tree),
            // Whose home it is, is not known here: an allow may not guess it, a deny takes every home.
            Anchor::Home if allow => Fit::No,
            Anchor::Home => {
                let homes = homes(absolute).into_iter().chain(path.strip_prefix("~/"));
                homes.map(|rest| glob.fit(rest, allow, subject.tree)).max().unwrap_or(Fit::No)
            }
        }
    }
}

/// What lies behind the home in an absolute path, for every usual place of homes.
fn homes(absolute: &str) -> Option<&str> {
    let path = absolute.trim_start_matches('/');
    let below = path.strip_prefix("home/").or_else(|| path.strip_prefix("Users/"));
    below.and_then(|below| below.split_once('/').map(|(_, rest)| rest)).or_else(|| path.strip_prefix("root/"))
}

impl NamePattern {
    /// How well the glob fits a path that begins where the glob does.
    fn fit(&self, path: &str, allow: bool, tree: bool) -> Fit {
        let names = names(path, allow);
        let pieces = self.pieces(allow);
        if allow {
            // What lies beneath a tree is allowed only where all of it is.
            let fits = glob::covers(pieces, &names) && (!tree || self.is_open());
            return Fit::from(fits);
        }
        if glob::covers_or_above(pieces, &names) {
            return Fit::Yes;
        }
        Fit::from(tree && glob::reaches_beneath(pieces, &names)).min(Fit::Unknown)
    }

    /// How well the glob fits a path when it may begin at any depth.
    fn anywhere(&self, path: &str, allow: bool, tree: bool) -> Fit {
        let names = names(path, allow);
        let mut pieces = vec![Piece::Any];
        pieces.extend_from_slice(self.pieces(allow));
        if allow {
            return Fit::from(glob::covers(&pieces, &names) && (!tree || self.is_open()));
        }
        if glob::covers_or_above(&pieces, &names) { Fit::Yes } else { Fit::from(tree).min(Fit::Unknown) }
    }
}

fn names(path: &str, exact: bool) -> Vec<String> {
    let names = path.split('/').filter(|name| !name.is_empty());
    names.map(|name| if exact { name.to_owned() } else { name.to_lowercase() }).collect()
}
