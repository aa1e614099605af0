//! Writes the generated files of `toolplane-proto`; says which of them changed.

use std::path::Path;
use std::process::ExitCode;

use toolplane_codegen::{generate, layout};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn std::error::Error>> {
    let generated = generate::generate(&layout::proto_root())?;
    write(&layout::code_file(), generated.code.as_bytes())?;
    write(&layout::descriptor_file(), &generated.descriptors)?;
    Ok(())
}

/// Leaves a file alone that is already right, so that nothing is rebuilt for it.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if std::fs::read(path).is_ok_and(|old| old == bytes) {
        println!("unchanged  {}", path.display());
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, bytes)?;
    println!("written    {}", path.display());
    Ok(())
}
