//! The executor role as a program of its own.

use std::process::ExitCode;

use toolplane_proto::FILE_DESCRIPTOR_SET;
use toolplane_runtime::process::{self, Plan};

fn main() -> ExitCode {
    let plan = Plan {
        role: "executor",
        listens: false,
        check: |config| Ok(toolplane_executor::Options::from_config(config).map(drop)?),
    };
    process::main(
        plan,
        FILE_DESCRIPTOR_SET,
        |process, _services| async move { toolplane_executor::role(&process).await },
    )
}
