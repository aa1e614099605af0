//! The permission role as a program of its own.

use std::process::ExitCode;

use toolplane_proto::FILE_DESCRIPTOR_SET;
use toolplane_runtime::process::{self, Plan};

fn main() -> ExitCode {
    let plan = Plan { role: "permission", listens: true, check: toolplane_permission::check };
    process::main(plan, FILE_DESCRIPTOR_SET, |process, services| async move {
        toolplane_permission::role(&process, services).await
    })
}
