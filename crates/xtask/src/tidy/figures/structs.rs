//! Structs that hold much and are opened by many: what they mean is said nowhere.

use std::collections::{BTreeMap, BTreeSet};

use crate::tidy::modules::Module;

/// Most visible fields of a struct that is not told.
pub(super) const FIELDS: usize = 10;
/// Most files that may reach into a wide struct without being told.
pub(super) const FILES: usize = 5;

/// A struct, its visible fields, and the other files of its crate that read or write one.
#[derive(Debug)]
pub(super) struct Wide {
    pub(super) name: String,
    pub(super) file: String,
    pub(super) fields: Vec<String>,
    pub(super) files: BTreeSet<String>,
}

/// A field, as far as it matters here.
struct Field {
    name: String,
    /// Whether code outside of the struct's module can name it.
    is_visible: bool,
}

/// Structs with many visible fields that many files reach into. A use is found by a field's name, and counts where only one
/// struct of the crate has a field of that name, visible or not; so this is a lower bound.
pub(super) fn reached_into(modules: &[Module]) -> Vec<Wide> {
    let structs: Vec<_> =
        modules.iter().flat_map(|module| structs(module).into_iter().map(move |found| (module, found))).collect();
    let mut owners: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (module, (_, fields)) in &structs {
        for field in fields {
            *owners.entry((&module.krate, &field.name)).or_default() += 1;
        }
    }
    let mut found = Vec::new();
    for (module, (name, fields)) in &structs {
        // What is private to its module is the module's own affair, however much of it there is.
        let fields: Vec<_> = fields.iter().filter(|field| field.is_visible).map(|field| field.name.clone()).collect();
        if fields.len() <= FIELDS {
            continue;
        }
        let own: Vec<_> = fields.iter().filter(|field| owners[&(module.krate.as_str(), field.as_str())] == 1).collect();
        let others = modules.iter().filter(|other| other.krate == module.krate && other.file != module.file);
        let reaching = others.filter(|other| own.iter().any(|field| opens(&other.code, field)));
        let files: BTreeSet<String> = reaching.map(|other| other.file.clone()).collect();
        if files.len() > FILES {
            found.push(Wide { name: name.clone(), file: module.file.clone(), fields, files });
        }
    }
    found.sort_by_key(|wide| std::cmp::Reverse(wide.files.len()));
    found
}

/// The structs with named fields of one file.
fn structs(module: &Module) -> Vec<(String, Vec<Field>)> {
    let mut found = Vec::new();
    let mut lines = module.code.lines();
    while let Some(line) = lines.next() {
        let Some((before, after)) = line.split_once("struct ") else { continue };
        let is_item = matches!(before.split('(').next().map(str::trim), Some("" | "pub"));
        if !is_item || !line.trim_end().ends_with('{') {
            continue;
        }
        let name = after.split(|character: char| !character.is_alphanumeric()).next().unwrap_or_default();
        let end = format!("{}}}", " ".repeat(line.len() - line.trim_start().len()));
        let fields = lines.by_ref().take_while(|line| *line != end).filter_map(field).collect();
        found.push((name.to_owned(), fields));
    }
    found
}

fn field(line: &str) -> Option<Field> {
    let line = line.trim_start();
    let visible = match line.strip_prefix("pub(") {
        Some(rest) => Some(rest.split_once(") ")?.1),
        None => line.strip_prefix("pub "),
    };
    let (name, _) = visible.unwrap_or(line).split_once(": ")?;
    let is_name = name.chars().all(|character| character.is_alphanumeric() || character == '_');
    is_name.then(|| Field { name: name.to_owned(), is_visible: visible.is_some() })
}

/// Whether the code has `.field`, and not `.field(`.
fn opens(code: &str, field: &str) -> bool {
    let wanted = format!(".{field}");
    code.match_indices(&wanted).any(|(at, found)| {
        let after = code[at + found.len()..].chars().next();
        after.is_none_or(|character| !character.is_alphanumeric() && !matches!(character, '_' | '('))
    })
}
