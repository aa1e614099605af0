//! The program between a worker and a sandboxed tool; see `toolplane_sandbox`.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolplane_sandbox::launcher::main()
}
