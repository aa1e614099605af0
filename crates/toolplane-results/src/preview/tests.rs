use proptest::prelude::*;

use super::*;

#[track_caller]
fn check(text: &str, head_bytes: usize, tail_bytes: usize, expected: &str) {
    let limits = PreviewLimits { head_bytes, tail_bytes };
    assert_eq!(preview(text, limits).text, expected);
    let mut sampler = Sampler::new(limits);
    sampler.push(text.as_bytes());
    assert_eq!(sampler.finish().text, expected, "sampled");
}

#[test]
fn short_text_is_whole() {
    check("", 4, 4, "");
    check("abcdefgh", 4, 4, "abcdefgh");
}

#[test]
fn the_cut_is_named() {
    check("abcdefghi", 4, 4, "abcd\n[... 1 bytes omitted ...]\nfghi");
    check(&"x".repeat(3000), 0, 1, "[... 2,999 bytes omitted ...]\nx");
}

#[test]
fn lines_stay_whole_where_half_remains() {
    check("aaaa\nbb\nc\ndddd\neeee\n", 6, 6, "aaaa\n[... 10 bytes, 3 lines omitted ...]\neeee\n");
    check("a\nbbbbbbbb\nc", 6, 3, "a\nbbbb\n[... 3 bytes omitted ...]\nb\nc");
}

#[test]
fn characters_are_never_split() {
    check("ääääää", 3, 3, "ä\n[... 8 bytes omitted ...]\nä");
}

#[test]
fn bytes_that_are_not_text_are_not_counted_as_text() {
    let mut sampler = Sampler::new(PreviewLimits::default());
    sampler.push(b"ok \xff");
    assert_eq!(sampler.facts(), OutputFacts { bytes: 4, chars: None, legible: true });
    let mut cut = Sampler::new(PreviewLimits::default());
    cut.push(&"ä".as_bytes()[..1]);
    assert_eq!(cut.facts().chars, None);
}

use crate::decide::OutputFacts;

proptest! {
    #[test]
    fn sampling_in_chunks_equals_previewing_the_whole(
        text in "[a-zäß\u{1F600}\n]{0,200}",
        cuts in proptest::collection::vec(1usize..17, 0..40),
        head_bytes in 0usize..40,
        tail_bytes in 0usize..40,
    ) {
        let limits = PreviewLimits { head_bytes, tail_bytes };
        let mut sampler = Sampler::new(limits);
        let mut rest = text.as_bytes();
        for cut in cuts {
            let (now, later) = rest.split_at(cut.min(rest.len()));
            sampler.push(now);
            rest = later;
        }
        sampler.push(rest);
        prop_assert_eq!(sampler.facts(), OutputFacts::of_text(&text));
        let whole = preview(&text, limits);
        prop_assert_eq!(&sampler.finish(), &whole);
        let shown = whole.text.len() as u64;
        if whole.omitted_bytes == 0 {
            prop_assert_eq!(whole.text, text);
        } else {
            prop_assert!(shown <= (head_bytes + tail_bytes + 60) as u64);
        }
    }
}
