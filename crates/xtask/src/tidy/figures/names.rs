//! One name for several public types: a reader has to look where it comes from.

use std::collections::BTreeMap;

use crate::tidy::modules::Module;

/// The names that several public types of the services have, and the files of those.
pub(super) fn shared(modules: &[Module]) -> BTreeMap<&str, Vec<&str>> {
    let mut found: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for module in modules.iter().filter(|module| module.krate.starts_with("services/")) {
        for line in module.code.lines() {
            let line = line.trim_start();
            let kinds = ["pub struct ", "pub enum ", "pub trait "];
            let Some(rest) = kinds.iter().find_map(|kind| line.strip_prefix(kind)) else { continue };
            let name = rest.split(|character: char| !character.is_alphanumeric()).next().unwrap_or_default();
            found.entry(name).or_default().push(&module.file);
        }
    }
    found.retain(|_, files| files.len() > 1);
    found
}
