use toolplane_sandbox::Captured;

use super::{abridged, of_captured, without_cut_end};

#[test]
fn a_gap_is_told_and_cuts_no_character() {
    let captured = |head: &[u8], tail: &[u8], total| Captured {
        head: head.to_vec(),
        tail: tail.to_vec(),
        total_bytes: total,
        total_lines: 0,
        truncated: true,
        file: None,
    };
    assert_eq!(of_captured(&captured(b"\xe4\xbd", b"\xa0!", 4)), "你!");
    let euro = "€".as_bytes();
    let text = of_captured(&captured(&[b"ab", &euro[..2]].concat(), &[&euro[1..], b"cd"].concat(), 100));
    assert_eq!(text, "ab\n[... 92 bytes left out ...]\ncd");
}

#[test]
fn a_cut_end_is_found_behind_other_faults() {
    assert_eq!(without_cut_end(b"\xff ok \xe2\x82"), b"\xff ok ");
    assert_eq!(without_cut_end(b"\xff ok \xe2\x82\xac"), b"\xff ok \xe2\x82\xac");
    assert_eq!(without_cut_end(b""), b"");
}

#[test]
fn long_text_is_abridged_between_characters() {
    assert_eq!(abridged("short", 5, 0), "short");
    assert_eq!(abridged("abcdefghij", 4, 5), "ab\n[... 11 bytes left out ...]\nij");
    assert_eq!(abridged("€€€€", 8, 0), "€\n[... 6 bytes left out ...]\n€");
}
