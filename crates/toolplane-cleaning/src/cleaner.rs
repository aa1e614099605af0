//! One policy, ready to be used on many texts.

use std::borrow::Cow;
use std::sync::Arc;

use toolplane_records::json::{self, NotJson, Rewrite};

use crate::detect::{self, Detector, Head, Span};
use crate::findings::Findings;
use crate::invisible;
use crate::policy::{Class, CleaningPolicy, Treatment};
use crate::spelling::Meant;
use crate::stream::CleanStream;

/// How what stands in the place of something begins; the name of its rule and a bracket follow.
pub(crate) const REPLACEMENT: &str = "[redacted ";

/// How often a text is looked at again; two are more than texts need that nobody made for it.
const ROUNDS: usize = 8;

/// Cleans texts by one policy. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Cleaner(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    policy: CleaningPolicy,
    detector: Detector,
}

impl Cleaner {
    /// The cleaner of `policy`. Patterns are made when the first text is cleaned, once for all cleaners of a process.
    pub fn new(policy: &CleaningPolicy) -> Self {
        Self(Arc::new(Parts { policy: policy.clone(), detector: Detector::new(policy) }))
    }

    /// What it does.
    pub fn policy(&self) -> &CleaningPolicy {
        &self.0.policy
    }

    /// Whether there is nothing it looks for.
    pub fn is_empty(&self) -> bool {
        !Class::ALL.into_iter().any(|class| self.0.policy.looks_for(class))
    }

    /// The text as it may be shown; the very text when there is nothing to replace. What is found is added to `found`: also what has the
    /// whole output dropped, which the caller does.
    pub fn text<'a>(&self, text: &'a str, found: &mut Findings) -> Cow<'a, str> {
        if !may_spell_json(text) {
            return self.plain(text, found);
        }
        let (mut meant, mut seen) = (Findings::default(), Findings::default());
        let Ok(read) = self.json(text, &mut meant) else { return self.plain(text, found) };
        // As a text it says the same again, and what stands between its values.
        let cleaned = match read {
            Cow::Borrowed(text) => self.plain(text, &mut seen),
            Cow::Owned(read) => Cow::Owned(self.plain(&read, &mut seen).into_owned()),
        };
        meant.cover(&seen);
        found.merge(&meant);
        cleaned
    }

    /// The same of a text that is read as it is written.
    fn plain<'a>(&self, text: &'a str, found: &mut Findings) -> Cow<'a, str> {
        match self.bytes(text.as_bytes(), found) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            // Whole characters were replaced by whole characters.
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// The same for bytes that may be no text: those stay as they are.
    pub fn bytes<'a>(&self, bytes: &'a [u8], found: &mut Findings) -> Cow<'a, [u8]> {
        let spans = self.spans(bytes);
        spans.iter().for_each(|span| found.add(span.class, span.rule, span.treatment));
        if spans.iter().all(|span| !span.treatment.replaces()) {
            return Cow::Borrowed(bytes);
        }
        let mut out = Vec::with_capacity(bytes.len() + 64);
        write(bytes, 0..bytes.len(), &spans, &mut out);
        if leaves_joints(bytes, &spans) {
            self.again(&mut out, 0, found);
        }
        Cow::Owned(out)
    }

    /// Looks again at what was written from `start` on: what stood right beside something that was replaced may be found only now, as a
    /// number is after a letter.
    pub(crate) fn again(&self, out: &mut Vec<u8>, start: usize, found: &mut Findings) {
        for _ in 0..ROUNDS {
            let mut spans = self.spans(&out[start..]);
            spans.retain(|span| span.treatment.replaces());
            if spans.is_empty() {
                return;
            }
            spans.iter().for_each(|span| found.add(span.class, span.rule, span.treatment));
            let text = out.split_off(start);
            write(&text, 0..text.len(), &spans, out);
        }
    }

    /// JSON text as it may be shown, still JSON: texts, numbers and keys are looked at as they are meant, and the value of a key that
    /// names a secret is one. The very text when there is nothing to replace.
    ///
    /// # Errors
    ///
    /// [`NotJson`] when the text is not one JSON value.
    pub fn json<'a>(&self, text: &'a str, found: &mut Findings) -> Result<Cow<'a, str>, NotJson> {
        json::rewrite(text, &mut InJson { cleaner: self, found })
    }

    /// Whether one look tells that there is nothing to be found in a JSON text, nor in the texts it is made of; most inputs of calls are
    /// such. Where it says no, there may be nothing all the same.
    pub(crate) fn finds_nothing(&self, text: &str) -> bool {
        Meant::is_plain(text.as_bytes()) && self.0.detector.finds_nothing(text.as_bytes())
    }

    /// For bytes that come in pieces.
    pub fn stream(&self) -> CleanStream {
        CleanStream::new(self.clone())
    }

    /// Every place in `text`, in order.
    pub(crate) fn spans(&self, text: &[u8]) -> Vec<Span> {
        self.spans_below(text, 0, None)
    }

    /// The same of a text of which a line begins at `from`, below the head of a table if there is one.
    pub(crate) fn spans_below(&self, text: &[u8], from: usize, head: Option<&Head>) -> Vec<Span> {
        let meant = Meant::of(text);
        let mut spans = self.0.detector.find(&without_escapes(meant.text()), meant.place(from), head);
        spans.iter_mut().for_each(|span| span.range = meant.written(span.range.clone()));
        let class = Class::Invisible;
        if self.0.policy.looks_for(class) {
            let before = spans.len();
            invisible::find(text, |range, rule| {
                let treatment = self.0.policy.of_rule(class, rule);
                if treatment != Treatment::Keep {
                    spans.push(Span { range, class, treatment, rule, instead: None });
                }
            });
            if before < spans.len() {
                spans.sort_by_key(|span| span.range.start);
            }
        }
        spans
    }
}

/// Whether the text may be JSON that spells its characters in another way, as `\u0070` for a letter or `\/`: whoever reads it as JSON is told
/// what no pattern sees in the text.
fn may_spell_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[', '"']) && text.contains('\\')
}

/// Whether something may be found only now that `spans` are replaced: what stands right beside one of them, or what one of them is a part of.
/// Nothing has changed for the rest where spaces are between, and before them no sign that a value follows.
pub(crate) fn leaves_joints(text: &[u8], spans: &[Span]) -> bool {
    spans.iter().filter(|span| span.treatment.replaces()).any(|span| {
        let after = text.get(span.range.end).is_none_or(u8::is_ascii_whitespace);
        !(after && begins_apart(text, span.range.start))
    })
}

/// Whether what is at `start` is the end of a word, as `name=value` and addresses are, that nothing before it may take for its value.
fn begins_apart(text: &[u8], start: usize) -> bool {
    /// Longest word that is looked at.
    const WORD: usize = 256;
    let before = &text[start.saturating_sub(WORD)..start];
    let word = before.iter().rev().take_while(|byte| byte.is_ascii_graphic()).count();
    let rest = &before[..before.len() - word];
    // A name or an address, with the sign before its value.
    let joint = before.last().is_some_and(|byte| byte.is_ascii_graphic() && !matches!(byte, b'=' | b':'));
    match rest.last() {
        None => !joint && rest.len() + word == start,
        Some(space) if space.is_ascii_whitespace() => {
            let sign = rest.iter().rev().find(|byte| !byte.is_ascii_whitespace());
            !joint && sign.is_none_or(|byte| byte.is_ascii() && !b":=>\"'`".contains(byte))
        }
        Some(_) => false,
    }
}

/// The text with spaces in the place of the escapes that colour it in a terminal: a letter that ends one is no part of what follows.
fn without_escapes(text: &[u8]) -> Cow<'_, [u8]> {
    const ESCAPE: u8 = 0x1b;
    let Some(first) = memchr::memchr(ESCAPE, text) else { return Cow::Borrowed(text) };
    let mut plain = text.to_vec();
    let mut at = first;
    while let Some(start) = memchr::memchr(ESCAPE, &plain[at..]).map(|start| at + start) {
        let inside = |byte: &u8| byte.is_ascii_digit() || b";?:".contains(byte);
        let end = match plain.get(start + 1) {
            Some(b'[') => start + 2 + plain[start + 2..].iter().take_while(|byte| inside(byte)).count(),
            _ => start,
        };
        at = (end + 1).min(plain.len());
        plain[start..at].fill(b' ');
    }
    Cow::Owned(plain)
}

/// Writes `range` of `text` to the end of `out`, with the spans that begin there replaced where they are masked.
pub(crate) fn write(text: &[u8], range: std::ops::Range<usize>, spans: &[Span], out: &mut Vec<u8>) {
    let mut up_to = range.start;
    for span in spans.iter().filter(|span| span.treatment.replaces() && range.contains(&span.range.start)) {
        if span.range.start < up_to {
            // It lies in what was replaced, or reaches beyond it.
            up_to = up_to.max(span.range.end);
            continue;
        }
        out.extend_from_slice(&text[up_to..span.range.start]);
        up_to = span.range.end.min(range.end);
        match span.instead {
            _ if span.class == Class::Invisible => invisible::spelled(&text[span.range.start..up_to], out),
            Some(instead) => out.extend_from_slice(instead.as_bytes()),
            None => {
                out.extend_from_slice(REPLACEMENT.as_bytes());
                out.extend_from_slice(span.rule.as_bytes());
                out.push(b']');
                // Brackets before these would be a link to somebody who shows the text as Markdown.
                if text.get(up_to).is_some_and(|next| matches!(next, b'(' | b'[' | b':')) {
                    out.push(b' ');
                }
            }
        }
    }
    out.extend_from_slice(&text[up_to.min(range.end)..range.end]);
}

struct InJson<'a> {
    cleaner: &'a Cleaner,
    found: &'a mut Findings,
}

impl Rewrite for InJson<'_> {
    fn text<'a>(&mut self, text: &'a str, member: Option<&str>) -> Cow<'a, str> {
        let treatment = self.cleaner.0.policy.of_rule(Class::Credentials, detect::MEMBER);
        let named = treatment != Treatment::Keep
            && member.is_some_and(|member| detect::is_secret_member(member, text))
            && !text.starts_with(REPLACEMENT);
        if named {
            self.found.add(Class::Credentials, detect::MEMBER, treatment);
            if treatment.replaces() {
                return Cow::Owned(format!("{REPLACEMENT}{}]", detect::MEMBER));
            }
        }
        self.cleaner.text(text, self.found)
    }

    fn is_replacement(&self, key: &str) -> bool {
        key.starts_with(REPLACEMENT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

    fn cleaned(text: &str) -> String {
        let policy = CleaningPolicy { invisible: Treatment::Keep, ..CleaningPolicy::default() };
        Cleaner::new(&policy).text(text, &mut Findings::default()).into_owned()
    }

    #[test]
    fn colours_hide_nothing() {
        assert_eq!(cleaned(&format!("\u{1b}[31m{TOKEN}\u{1b}[0m")), "\u{1b}[31m[redacted github_token]\u{1b}[0m");
        let coloured =
            "\u{1b}[34;1m\"password\"\u{1b}[0m\u{1b}[1;39m:\u{1b}[0m \u{1b}[0;32m\"Tr0ub4dor-x9Q!\"\u{1b}[0m";
        assert!(!cleaned(coloured).contains("Tr0ub4dor"), "{}", cleaned(coloured));
        assert_eq!(cleaned("ends with \u{1b}["), "ends with \u{1b}[");
    }

    #[test]
    fn a_text_that_is_json_is_read_as_what_it_spells() {
        let spelled = TOKEN.replace('p', "\\u0070");
        assert!(!spelled.contains("ghp_"));
        let text = format!(r#"{{"a":["{spelled}"],"n":1.10}}"#);
        assert_eq!(cleaned(&text), r#"{"a":["[redacted github_token]"],"n":1.10}"#);
        // The same as the text of a value, as of a command that printed it.
        let printed = serde_json::to_string(&serde_json::json!({ "stdout": text })).unwrap();
        assert!(!cleaned(&printed).contains("0123456789abcdef"), "{}", cleaned(&printed));
        // Each thing is counted once, and what is clean stays the very text.
        let mut found = Findings::default();
        let policy = CleaningPolicy::default();
        let _ = Cleaner::new(&policy).text(&format!(r#"{{"a":"{TOKEN}\n"}}"#), &mut found);
        assert_eq!(found.masked(), 1);
        let clean = r#"{"a": "b\nc"}"#;
        assert!(matches!(Cleaner::new(&policy).text(clean, &mut found), Cow::Borrowed(same) if same == clean));
        assert_eq!(cleaned("{not json \\u0070"), "{not json \\u0070");
        // Lines of JSON, JSON amid prose, and JSON that is cut off.
        let lines = format!("{{\"n\":1}}\n{{\"token\":\"{spelled}\"}}\n");
        assert_eq!(cleaned(&lines), "{\"n\":1}\n{\"token\":\"[redacted github_token]\"}\n");
        let prose = format!(r#"the answer was {{"a":"{spelled}", and https:\/\/mia:Tr0ub4dor-x9@example.org\/a"#);
        let shown = cleaned(&prose);
        assert!(!shown.contains("0123456789abcdef") && !shown.contains("Tr0ub4dor"), "{shown}");
        assert!(shown.ends_with(r"@example.org\/a"), "{shown}");
    }

    #[test]
    fn a_value_may_stand_in_a_column_and_a_folder_is_none() {
        assert_eq!(cleaned("db_password:          Tr0ub4dor-x9Q!"), "db_password:          [redacted named_secret]");
        for plain in ["PWD=/home/me/proj123", "OLDPWD=/tmp/work9"] {
            assert_eq!(cleaned(plain), plain);
        }
    }
}
