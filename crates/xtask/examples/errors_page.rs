//! Prints `docs/errors.md`: every error code with its cause and its cure.

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(toolplane_records::codes::page().as_bytes())
}
