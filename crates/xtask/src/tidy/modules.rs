//! Which module of a crate names which: read from the text, from `use` items and from paths in the code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::sources::shown;
use crate::command::TaskError;

/// A source file that is a module of a crate, without its tests.
#[derive(Debug)]
pub(super) struct Module {
    /// The file, as it is written in the rules: from the root of the repository.
    pub(super) file: String,
    /// The crate's folder: `crates/toolplane-records`.
    pub(super) krate: String,
    /// The module's path in its crate: `pattern::command`; empty for `lib.rs`.
    pub(super) path: Vec<String>,
    /// The code without comments and tests.
    pub(super) code: String,
    /// What of its own crate the code names, as paths from the crate's root.
    pub(super) names: BTreeSet<Vec<String>>,
}

/// Every module of every crate; tests and what belongs to programs beside a library are left out.
pub(super) fn read(root: &Path, sources: &[PathBuf]) -> Result<Vec<Module>, TaskError> {
    let mut found = Vec::new();
    for file in sources {
        let place = shown(root, file);
        let Some((krate, inner)) = place.split_once("/src/") else { continue };
        let is_aside = inner.split('/').any(|part| matches!(part, "bin" | "tests" | "tests.rs" | "testdata"));
        if is_aside || krate.contains("/tests/") {
            continue;
        }
        let text = fs::read_to_string(file).map_err(TaskError::file(file))?;
        found.push(Module::new(krate, inner, &text));
    }
    let known: BTreeSet<(String, Vec<String>)> =
        found.iter().map(|module| (module.krate.clone(), module.path.clone())).collect();
    for module in &mut found {
        module.names.extend(children_named(module, &known));
    }
    Ok(found)
}

impl Module {
    /// Reads one file; `inner` is its path below `src/`.
    pub(super) fn new(krate: &str, inner: &str, text: &str) -> Self {
        let stem = inner.trim_end_matches(".rs");
        let mut path: Vec<String> = stem.split('/').map(str::to_owned).collect();
        if matches!(stem, "lib" | "main") {
            path.clear();
        }
        let code = code_of(text);
        let mut names = BTreeSet::new();
        for tree in uses(&code) {
            names.extend(flat(&tree).iter().filter_map(|used| absolute(&path, used)));
        }
        names.extend(inline(&code).iter().filter_map(|used| absolute(&path, used)));
        Self { file: format!("{krate}/src/{inner}"), krate: krate.to_owned(), path, code, names }
    }

    /// Whether the code names this module, or something in it.
    pub(super) fn names_module(&self, module: &[String]) -> bool {
        self.names.iter().any(|named| named.starts_with(module))
    }
}

/// The code of a file: no comments, and no tests at its end.
fn code_of(text: &str) -> String {
    let text = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// The trees of every `use` item, without white space.
fn uses(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in code.split("use ").skip(1) {
        let tree = part.split(';').next().unwrap_or_default();
        let tree = tree.replace(" as ", "@");
        found.push(tree.chars().filter(|character| !character.is_whitespace()).collect());
    }
    found
}

/// `a::{b, c::d}` as the paths `a::b` and `a::c::d`.
fn flat(tree: &str) -> Vec<Vec<String>> {
    let Some((head, rest)) = tree.split_once('{') else {
        let path = tree.split('@').next().unwrap_or_default();
        return vec![path.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect()];
    };
    let prefix: Vec<String> = head.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
    let inner = rest.rsplit_once('}').map_or(rest, |(inner, _)| inner);
    let branches = branches(inner);
    branches.iter().flat_map(|branch| flat(branch)).map(|path| [prefix.clone(), path].concat()).collect()
}

/// What is between the commas of the outermost brackets.
fn branches(inner: &str) -> Vec<&str> {
    let (mut depth, mut start, mut found) = (0_usize, 0, Vec::new());
    for (at, character) in inner.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                found.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&inner[start..]);
    found.retain(|branch| !branch.is_empty());
    found
}

/// Paths in the code itself that start at `crate` or `super`.
fn inline(code: &str) -> Vec<Vec<String>> {
    let is_path = |character: char| character.is_alphanumeric() || matches!(character, '_' | ':');
    let words = code.split(|character: char| !is_path(character));
    // What ends with `::` begins the braces of a `use` item, and those are read as a tree.
    let paths = words.filter(|word| word.starts_with("crate::") || word.starts_with("super::"));
    let paths = paths.filter(|word| !word.ends_with("::"));
    paths.map(|path| path.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect()).collect()
}

/// A path from the crate's root; nothing for what belongs to other crates.
fn absolute(module: &[String], used: &[String]) -> Option<Vec<String>> {
    let (first, rest) = used.split_first()?;
    let own = match first.as_str() {
        "crate" => rest.to_vec(),
        "self" => [module, rest].concat(),
        "super" => {
            let up = used.iter().take_while(|part| *part == "super").count();
            let base = module.get(..module.len().checked_sub(up)?)?;
            [base, &used[up..]].concat()
        }
        _ => return None,
    };
    Some(own.into_iter().filter(|part| part != "self").collect())
}

/// Modules below this one that its code names without `self`.
fn children_named(module: &Module, known: &BTreeSet<(String, Vec<String>)>) -> Vec<Vec<String>> {
    let children = known.iter().filter(|(krate, path)| *krate == module.krate && is_child(&module.path, path));
    let named = children.filter(|(_, path)| path.last().is_some_and(|name| names_path(&module.code, name)));
    named.map(|(_, path)| path.clone()).collect()
}

fn is_child(parent: &[String], path: &[String]) -> bool {
    path.len() == parent.len() + 1 && path.starts_with(parent)
}

/// Whether the code has a path that starts with this name.
fn names_path(code: &str, name: &str) -> bool {
    let wanted = format!("{name}::");
    code.match_indices(&wanted).any(|(at, _)| {
        let before = code[..at].chars().next_back();
        before.is_none_or(|character| !character.is_alphanumeric() && !matches!(character, '_' | ':'))
    })
}

/// The edges between files of one crate: each file, and the files it names something of.
pub(super) fn edges(modules: &[Module]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut edges = BTreeMap::new();
    for module in modules {
        let same_crate = || modules.iter().filter(|other| other.krate == module.krate && other.file != module.file);
        let targets = module.names.iter().filter_map(|named| {
            let owners = same_crate().filter(|other| named.starts_with(&other.path));
            owners.max_by_key(|other| other.path.len())
        });
        edges.insert(module.file.as_str(), targets.map(|other| other.file.as_str()).collect());
    }
    edges
}
