//! Bytes of the disk: files of the journal, after a crash or damage.

use std::path::Path;

use toolplane_fuzz::fuzz;

use super::Finished;
use super::frame::{self, Kind};

/// Where no output is.
const NOWHERE: &str = "/nowhere";

/// Frames that can be read are written as the same bytes, and an entry is one or is none.
#[test]
fn journal() {
    let mut whole = Vec::new();
    frame::push(&mut whole, Kind::Kept, [b"key\0", br#"{"invocation_id": "inv_1", "lease_no": 3}"#]);
    frame::push(&mut whole, Kind::Settled, [b"key", b""]);
    fuzz!("journal", [whole, Vec::new()], |bytes: &[u8]| {
        let mut again = Vec::new();
        for (kind, body) in frame::read(bytes) {
            frame::push(&mut again, kind, [body, b""]);
            let _ = Finished::read(body, Path::new(NOWHERE));
        }
        assert!(bytes.starts_with(&again));
        if let Some(entry) = Finished::read(bytes, Path::new(NOWHERE)) {
            let written = entry.write();
            assert_eq!(Finished::read(&written, Path::new(NOWHERE)).map(|entry| entry.write()), Some(written));
        }
    });
}
