//! Rules about folders inside a crate: what a part of it must not name.

use super::modules::Module;

mod table;

/// One rule. A folder is a module with everything below it.
pub(super) struct Folder {
    /// The folder or the file: `crates/toolplane-policy/src/command`; what is not below it may name anything.
    pub(super) folder: &'static str,
    /// The modules of the same crate it must not name, as paths from the crate's root.
    pub(super) must_not_name: &'static [&'static str],
    /// Why.
    pub(super) reason: &'static str,
}

/// The broken rules of the table, and rules about what does not exist.
pub(super) fn check(modules: &[Module]) -> Vec<String> {
    broken(modules, table::FOLDERS)
}

/// The rules that are broken.
pub(super) fn broken(modules: &[Module], rules: &[Folder]) -> Vec<String> {
    let mut broken = Vec::new();
    for rule in rules {
        let inside: Vec<_> = modules.iter().filter(|module| is_inside(&module.file, rule.folder)).collect();
        let Some(first) = inside.first() else {
            broken.push(format!("{}: is named in tidy/folders/table.rs and is not there", rule.folder));
            continue;
        };
        for name in rule.must_not_name {
            let path: Vec<String> = name.split("::").map(str::to_owned).collect();
            if !modules.iter().any(|module| module.krate == first.krate && module.path == path) {
                broken.push(format!(
                    "{}: must not name `{name}` (tidy/folders/table.rs), which is not there",
                    rule.folder
                ));
            }
            let naming = inside.iter().filter(|module| module.names_module(&path));
            broken.extend(naming.map(|module| format!("{}: must not name `{name}`: {}", module.file, rule.reason)));
        }
    }
    broken
}

/// Whether a file is a module, or below its folder.
fn is_inside(file: &str, folder: &str) -> bool {
    let rest = file.strip_prefix(folder);
    rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}
