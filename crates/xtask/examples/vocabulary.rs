//! Prints `schemas/vocabulary.json`: the words of the standard that the tests of the whole must show.

use std::io::Write as _;

fn main() -> std::io::Result<()> {
    std::io::stdout().write_all(toolplane_records::vocabulary::sets::json().as_bytes())
}
