//! The surface role as a program of its own.

use std::process::ExitCode;

use toolplane_proto::FILE_DESCRIPTOR_SET;
use toolplane_runtime::process::{self, Plan};

fn main() -> ExitCode {
    let plan = Plan { role: "surface", listens: true, check: toolplane_surface::check };
    process::main(plan, FILE_DESCRIPTOR_SET, |process, services| async move {
        toolplane_surface::role(&process, services).await
    })
}
