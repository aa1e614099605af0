//! Every call of the contract says what bounds its answer.

use std::collections::BTreeSet;

use prost::Message as _;
use prost_types::FileDescriptorSet;

#[test]
fn every_answer_has_a_bound() -> Result<(), prost::DecodeError> {
    let descriptors = FileDescriptorSet::decode(toolplane_proto::FILE_DESCRIPTOR_SET)?;
    let ours = descriptors.file.iter().filter(|file| file.package() == "toolplane.v1");
    let called: BTreeSet<String> = ours
        .flat_map(|file| &file.service)
        .flat_map(|service| {
            service.method.iter().map(|method| format!("toolplane.v1.{}/{}", service.name(), method.name()))
        })
        .collect();
    let lines = include_str!("answers.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut told = BTreeSet::new();
    for line in lines {
        let words: Vec<_> = line.split_whitespace().collect();
        assert!(matches!(words.get(1), Some(&("page" | "one" | "piece" | "fixed"))), "{line}");
        assert!(told.insert(words[0].to_owned()), "twice: {line}");
    }
    assert_eq!(told, called);
    Ok(())
}
