//! Frames between a worker and its launcher, which shares a process tree with what it runs.

use toolplane_fuzz::fuzz;

use crate::wire::{LauncherReport, encode, read_frame, take_frame};

/// A reader that gets pieces takes the same frames as one that gets all at once.
#[test]
fn frames() {
    let report = |text: &str| [&(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat();
    let corpus = [
        report("{}"),
        report("\"Ready\""),
        report("null"),
        [report("1"), report("2")].concat(),
        encode(&"text").unwrap(),
    ];
    fuzz!("frames", corpus, |bytes: &[u8]| {
        let mut rest = bytes;
        let whole = read_frame::<serde_json::Value>(&mut rest);
        let mut buffer = bytes.to_vec();
        match take_frame::<serde_json::Value>(&mut buffer) {
            Ok(Some(value)) => {
                assert_eq!(whole.unwrap(), value);
                assert_eq!(rest, buffer);
            }
            Ok(None) | Err(_) => assert!(whole.is_err()),
        }
        let _ = take_frame::<LauncherReport>(&mut bytes.to_vec());
    });
}
