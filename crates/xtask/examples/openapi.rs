//! Prints the OpenAPI document of the gateway; `cargo xtask gen` keeps it at `schemas/openapi.json`.

use std::error::Error;

use toolplane_codegen::{generate, layout};

fn main() -> Result<(), Box<dyn Error>> {
    let descriptors = generate::described(&layout::proto_root())?;
    print!("{}", toolplane_gateway::describe(&descriptors)?);
    Ok(())
}
