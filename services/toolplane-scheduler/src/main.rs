//! The scheduler role as a program of its own.

use std::process::ExitCode;

use toolplane_proto::FILE_DESCRIPTOR_SET;
use toolplane_runtime::process::{self, Plan};

fn main() -> ExitCode {
    let plan = Plan { role: "scheduler", listens: true, check: toolplane_scheduler::check };
    process::main(plan, FILE_DESCRIPTOR_SET, |process, services| async move {
        toolplane_scheduler::role(&process, services).await
    })
}
