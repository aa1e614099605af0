//! The surface role as a program of its own.

use std::process::ExitCode;

use toolplane_proto::FILE_DESCRIPTOR_SET;
use toolplane_runtime::process;

fn main() -> ExitCode {
    process::main(&[toolplane_surface::PROGRAM], FILE_DESCRIPTOR_SET)
}
