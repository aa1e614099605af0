//! Prints the JSON Schema of the configuration; `cargo xtask gen` keeps it at `schemas/config.schema.json`.
//!
//! An example, so that only those who generate the schema build what it takes.

fn main() {
    print!("{}", toolplane_runtime::config::json_schema());
}
