//! Words and beginnings without which nothing is a credential. Most bytes that are no text have none of them, and no pattern has to be
//! tried on them.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

/// In letters of either case: names of secrets, and what stands before values.
const WORDS: &[&str] = &[
    "auth",
    "bearer",
    "code_verifier",
    "connectionstring",
    "cookie:",
    "credential",
    "jwt",
    "key",
    "login",
    "mysql",
    "pass",
    "pwd",
    "sas=",
    "secret",
    "session",
    "sig=",
    "signature",
    "token",
];

/// As they are written: how keys of vendors begin, and parts of addresses and of commands.
#[rustfmt::skip]
const EXACT: &[&str] = &[
    "://", "curl", "http", "wget",
    "密码", "口令", "密钥", "令牌", "私钥", "授权码",
    "AKIA", "ASIA", "AROA", "AIDA", "ABIA", "ACCA", "AKID", "LTAI",
    "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_",
    "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-",
    "xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-", "hooks.slack.com",
    "AIza", "ya29.", "GOCSPX-", "sk-", "sk_", "rk_", "pk_", "whsec_", "npm_", "pypi-", "hf_",
    "doo_v1_", "dop_v1_", "dor_v1_", "SG.", ":AA", "dapi", "hvs.", "hvb.", "shpat_", "shpca_", "shppa_", "shpss_", "eyJ",
    "SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7", "SK8", "SK9", "SKa", "SKb", "SKc", "SKd", "SKe", "SKf",
    "dckr_", "glsa_", "lin_api_", "PMAK-", "ATATT3", "gsk_", "r8_", "/api/webhooks/", "/open-apis/",
];

static HEADS: LazyLock<AhoCorasick> = LazyLock::new(made);

#[expect(clippy::expect_used, reason = "the words are constants, and every test of credentials makes this")]
fn made() -> AhoCorasick {
    let heads = WORDS.iter().chain(EXACT);
    // One table look-up a byte, whatever their number.
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(heads)
        .expect("few short words")
}

/// Whether `text` has what one of the patterns of credentials needs.
pub(super) fn any(text: &[u8]) -> bool {
    let is = |found: &aho_corasick::Match| {
        let exact = found.pattern().as_usize().checked_sub(WORDS.len()).and_then(|at| EXACT.get(at));
        exact.is_none_or(|exact| text[found.range()] == *exact.as_bytes())
    };
    // Most texts have none in letters of either case, and that is known soonest.
    HEADS.is_match(text) && HEADS.find_overlapping_iter(text).any(|found| is(&found))
}

/// Parts of names, one of which each name of a secret has.
pub(super) const NAMES: &[&str] = &[
    "auth",
    "cookie",
    "connectionstring",
    "credential",
    "jwt",
    "key",
    "pass",
    "pwd",
    "secret",
    "sessionid",
    "signature",
    "token",
];

static NAME_PARTS: LazyLock<AhoCorasick> = LazyLock::new(name_parts);

#[expect(clippy::expect_used, reason = "the words are constants, and every test of inputs makes this")]
fn name_parts() -> AhoCorasick {
    AhoCorasick::builder().kind(Some(AhoCorasickKind::DFA)).build(NAMES).expect("few short words")
}

/// Whether `text` may have the name of a secret, however that is written: of names only letters and digits count.
pub(super) fn any_name(text: &[u8]) -> bool {
    let mut plain = Vec::with_capacity(text.len());
    plain.extend(text.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase));
    NAME_PARTS.is_match(&plain)
}

#[cfg(test)]
mod tests {
    use proptest::strategy::{Strategy as _, ValueTree as _};
    use proptest::test_runner::TestRunner;

    use super::*;
    use crate::detect::rules;
    use crate::policy::Class;

    /// Texts are made from each pattern, without what says where a word or a line ends: these take no place in it.
    #[test]
    fn whatever_a_pattern_finds_has_a_head() {
        let mut runner = TestRunner::deterministic();
        for rule in rules(Class::Credentials) {
            let pattern = rule.pattern.replace(r"\b", "").replace(r"\r?$", "").replace(")^[", ")[");
            let made = proptest::string::bytes_regex(&pattern).unwrap_or_else(|error| panic!("{}: {error}", rule.name));
            for _ in 0..256 {
                let text = made.new_tree(&mut runner).unwrap().current();
                assert!(any(&text), "{}: {}", rule.name, String::from_utf8_lossy(&text));
            }
        }
    }

    #[test]
    fn bytes_without_one_need_no_pattern() {
        assert!(
            !any(b"\x7fELF\x00\x01 plain words, AKIa and sG. too\xff") && any(b"\xff\x00ghp_\xfe") && any(b"\x00ToKeN")
        );
    }
}
