//! The `toolplane` program; everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolplane::cli::main()
}
