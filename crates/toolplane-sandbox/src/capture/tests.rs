use super::{Capture, Overflow, WINDOW};

fn check(kept: u64, chunks: &[&str], head: &str, tail: &str, truncated: bool) {
    let mut capture = Capture::new(kept);
    for chunk in chunks {
        capture.push(chunk.as_bytes());
    }
    let total: usize = chunks.iter().map(|chunk| chunk.len()).sum();
    let captured = capture.finish(false);
    assert_eq!(captured.head, head.as_bytes(), "head of {chunks:?}");
    assert_eq!(captured.tail, tail.as_bytes(), "tail of {chunks:?}");
    assert_eq!((captured.total_bytes, captured.truncated), (total as u64, truncated), "{chunks:?}");
    assert_eq!(captured.omitted_bytes(), (total - head.len() - tail.len()) as u64);
}

#[test]
fn keeps_the_beginning_and_the_end() {
    check(8, &[], "", "", false);
    check(8, &["abc"], "abc", "", false);
    check(8, &["abcdefgh"], "abcd", "efgh", false);
    check(8, &["abcdefghi"], "abcd", "fghi", true);
    check(8, &["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"], "abcd", "ghij", true);
    check(8, &["ab", "cdefghijklmnop", "q"], "abcd", "nopq", true);
}

#[test]
fn counts_lines_across_chunks() {
    let mut capture = Capture::new(4);
    capture.push(b"one\ntwo");
    capture.push(b"\nthree\nfour");
    assert_eq!(capture.finish(false).total_lines, 3);
}

#[test]
fn a_kill_is_always_a_truncation() {
    assert!(Capture::new(8).finish(true).truncated);
}

#[test]
fn the_end_is_right_however_the_stream_is_cut() {
    let bytes: Vec<u8> = (0..=255).cycle().take(1000).collect();
    for size in [1, 2, 3, 7, 16, 17, 31, 100, 999, 1000] {
        let mut capture = Capture::new(32);
        for chunk in bytes.chunks(size) {
            capture.push(chunk);
        }
        let captured = capture.finish(false);
        assert_eq!(
            (captured.head.as_slice(), captured.tail.as_slice()),
            (&bytes[..16], &bytes[984..]),
            "chunks of {size}"
        );
    }
}

#[tokio::test]
async fn what_does_not_fit_into_memory_is_whole_in_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let window = usize::try_from(WINDOW).unwrap();
    let written: Vec<u8> = (0..window * 3).map(|at| (at % 251) as u8).collect();
    for (length, kept, in_file) in [
        (window, WINDOW * 8, None),
        (window + 1, WINDOW * 8, Some(window + 1)),
        (window * 3, WINDOW * 8, Some(window * 3)),
        (window * 3, WINDOW * 2, Some(window * 2)),
    ] {
        let (mut overflow, in_memory) = Overflow::new(Some(folder.path()), kept);
        let mut capture = Capture::new(in_memory);
        for chunk in written[..length].chunks(65_521) {
            let before = overflow.before(&capture, chunk);
            capture.push(chunk);
            overflow.push(before, chunk).await;
        }
        let mut captured = capture.finish(false);
        overflow.finish(&mut captured, false).await;
        let bytes = captured.file.as_ref().map(|file| std::fs::read(file.path()).unwrap());
        assert_eq!(bytes.as_deref().map(<[u8]>::len), in_file, "{length} of {kept}");
        assert!(bytes.is_none_or(|bytes| bytes == written[..bytes.len()]));
        assert_eq!(captured.truncated, in_file.is_some_and(|in_file| in_file < length));
        assert!(captured.head.len() + captured.tail.len() <= window && written[..length].ends_with(&captured.tail));
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "files go with what was captured");
}
