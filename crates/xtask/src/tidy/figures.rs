//! `cargo xtask tidy --figures`: what the structure of the code can be judged by. Nothing of it fails.

use std::path::Path;

use super::{modules, sources};
use crate::command::TaskError;

mod names;
mod rings;
mod structs;
#[cfg(test)]
mod tests;

/// Prints every figure.
pub(super) fn print(root: &Path) -> Result<(), TaskError> {
    let modules = modules::read(root, &sources(root)?)?;
    let rings = rings::rings(&modules::edges(&modules));
    println!("rings of more than {} files that import each other: {}", rings::SMALL, rings.len());
    for ring in &rings {
        println!("  {} files", ring.len());
        ring.iter().for_each(|file| println!("    {file}"));
    }
    let wide = structs::reached_into(&modules);
    println!(
        "structs of more than {} visible fields that more than {} files reach into: {}",
        structs::FIELDS,
        structs::FILES,
        wide.len()
    );
    for found in &wide {
        println!(
            "  {} ({}): {} visible fields, {} files",
            found.name,
            found.file,
            found.fields.len(),
            found.files.len()
        );
    }
    let shared = names::shared(&modules);
    println!("names of more than one public type in the services: {}", shared.len());
    for (name, files) in &shared {
        println!("  {name}: {}", files.join(", "));
    }
    Ok(())
}
