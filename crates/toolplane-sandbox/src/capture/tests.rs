use super::Capture;

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
