use crate::{generate, layout};

/// The files under version control are exactly what the protos give today.
#[test]
fn checked_in_files_are_fresh() {
    let generated = generate::generate(&layout::proto_root()).unwrap();
    let code = std::fs::read_to_string(layout::code_file()).unwrap();
    let descriptors = std::fs::read(layout::descriptor_file()).unwrap();
    assert!(code == generated.code, "the generated code is stale: run `cargo xtask gen`");
    assert!(descriptors == generated.descriptors, "the descriptor set is stale: run `cargo xtask gen`");
}

/// Generating twice gives the same bytes; otherwise freshness could not be checked.
#[test]
fn generation_is_deterministic() {
    let first = generate::generate(&layout::proto_root()).unwrap();
    let second = generate::generate(&layout::proto_root()).unwrap();
    assert!(first == second);
}
