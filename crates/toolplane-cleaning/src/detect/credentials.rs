//! Keys, tokens and passwords that can be told by the header they stand in, or by the name that is given to them.

use super::secret_name::{self, Name};
use super::secret_value::{has_digit_and_letter, is_han_password, is_password, is_random, is_stand_in, is_value};
use super::{MEMBER, Rule};

/// In a URL a few stars are what people know.
const STARS: Option<&str> = Some("***");

pub(super) const RULES: &[Rule] = &[
    Rule::checked(
        "authorization",
        r#"(?i-u)(?:authorization|proxy-authorization)["']?\s{0,4}[:=]\s{0,4}["']?(?:bearer|basic|token|apikey|digest)\s{1,4}(?P<v>[A-Za-z0-9+/=._~:-]{6,})"#,
        is_value,
    ),
    Rule::checked("bearer", r"(?-u)\b[Bb]earer\s{1,4}(?P<v>[A-Za-z0-9+/=._~-]{20,})", has_digit_and_letter),
    Rule::checked("signature", r"(?-u)\b[Ss]ignature=(?P<v>[A-Za-z0-9+/=%_-]{20,})", has_digit_and_letter),
    Rule::checked(
        "header",
        r#"(?i-u)(?:x-api-key|x-auth-token|x-access-token|x-amz-security-token|x-vault-token|private-token|api-key|x-goog-api-key|subscription-key|x-csrf-token)["']?\s{0,4}[:=]\s{0,4}["']?(?P<v>[^\s"',;&]{8,})"#,
        is_value,
    ),
    Rule::checked("cookie", r#"(?i-u)\b(?:set-)?cookie:\s{0,4}(?P<v>[^\r\n"']{8,})"#, |value| value.contains(&b'=')),
    Rule {
        instead: STARS,
        value_at: Some(after_equals),
        ..Rule::checked(
            "url_parameter",
            r#"(?i-u)[?&;#](?:[a-z0-9_-]{0,24}(?:signature|secret|password|passwd|credential)|(?:access|auth|id|refresh|session|security|private|personal|user|client|device|oauth|sso|login|reset|invite|upload|csrf|api|bot|x-amz-security)[_-]?token|token|api[_-]?key|sig|pwd|code_verifier|jwt|sas)=(?P<v>[^&\s"'<>#)\]]+)"#,
            |value| value != b"***" && !is_stand_in(value),
        )
    },
    Rule {
        instead: STARS,
        value_at: Some(after_equals),
        ..Rule::checked(
            "url_key",
            r#"(?i-u)[?&;#](?:key|(?:access|subscription|auth|sign)[_-]?key|auth|session(?:_?id)?)=(?P<v>[^&\s"'<>#)\]]+)"#,
            is_random,
        )
    },
    Rule {
        instead: STARS,
        ..Rule::checked("url_password", r#"(?i-u)[a-z0-9]://[^\s/@:"'<>]*:(?P<v>[^\s/?#"'<>]+)@"#, |value| {
            value != b"***" && !is_stand_in(value)
        })
    },
    Rule {
        value_at: Some(after_sign),
        ..Rule::checked(
            MEMBER,
            r#"(?i-u)(?:password|passwd|passphrase|pwd|secret(?:[_-]?(?:access)?[_-]?key(?:[_-]?base)?)?|api[_-]?key|access[_-]?key(?:[_-]?secret)?|account[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token|id[_-]?token|session[_-]?token|client[_-]?secret|private[_-]?key|encryption[_-]?key|signing[_-]?key)\\?["']?(?:\s{0,4}|[ \t]{0,40})(?::=|=>|[:=])(?:\s{0,4}|[ \t]{0,40})\\?["']?(?P<v>[^\s"',;<>\\]{6,})"#,
            is_value,
        )
    },
    // Within quotes a password may have what ends it elsewhere: commas, quotes of the other kind, spaces.
    Rule::checked(
        "quoted_secret",
        r#"(?i-u)(?:password|passwd|passphrase|pwd|secret(?:[_-]?(?:access)?[_-]?key(?:[_-]?base)?)?|api[_-]?key|access[_-]?key(?:[_-]?secret)?|account[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token|session[_-]?token|client[_-]?secret|private[_-]?key|encryption[_-]?key|signing[_-]?key)["']?\]?\s{0,4}(?::=|=>|[:=])\s{0,4}"(?P<v>[^"\r\n\\]{4,200})""#,
        is_quoted,
    ),
    Rule::checked(
        "quoted_secret_single",
        r#"(?i-u)(?:password|passwd|passphrase|pwd|secret(?:[_-]?(?:access)?[_-]?key(?:[_-]?base)?)?|api[_-]?key|access[_-]?key(?:[_-]?secret)?|account[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token|session[_-]?token|client[_-]?secret|private[_-]?key|encryption[_-]?key|signing[_-]?key)["']?\]?\s{0,4}(?::=|=>|[:=])\s{0,4}'(?P<v>[^'\r\n\\]{4,200})'"#,
        is_quoted,
    ),
    // A line of its own in a file of settings ends where the value does.
    Rule::checked(
        "setting_line",
        r"(?im-u)^[ \t]{0,8}(?:export[ \t]{1,4}|set[ \t]{1,4}|-[ \t]{1,4})?[a-z0-9_.-]{0,40}(?:password|passwd|passphrase|secret|pwd)[ \t]{0,4}[=:][ \t]{0,4}(?P<v>[^\s\x22'=][^\s=]{5,128})[ \t]*\r?$",
        is_password,
    ),
    Rule::checked(
        "block_scalar",
        r#"(?im-u)^[ \t-]{0,40}["']?[a-z0-9_.-]{0,40}(?:password|passwd|passphrase|pwd|secret(?:[_-]?(?:access)?[_-]?key(?:[_-]?base)?)?|api[_-]?key|access[_-]?key(?:[_-]?secret)?|account[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token|session[_-]?token|client[_-]?secret|private[_-]?key|encryption[_-]?key|signing[_-]?key)["']?:[ \t]{1,4}[|>][+-]?[0-9]?[+-]?[ \t]*\r?\n[ \t]{1,40}(?P<v>[^\r\n]{4,}(?:\r?\n[ \t]{1,40}[a-z0-9+/=_-]{16,})*)"#,
        is_quoted,
    ),
    Rule::checked(
        "element",
        r"(?i-u)<(?:[a-z][a-z0-9]{0,15}:)?[a-z0-9_.-]{0,24}(?:password|passwd|passphrase|pwd|secret(?:[_-]?(?:access)?[_-]?key(?:[_-]?base)?)?|api[_-]?key|access[_-]?key(?:[_-]?secret)?|account[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token|session[_-]?token|client[_-]?secret|private[_-]?key|encryption[_-]?key|signing[_-]?key)(?:\s[^<>]{0,200})?>\s{0,8}(?:<!\[CDATA\[)?(?P<v>[^<>\r\n]{4,200}?)(?:\]\]>)?\s{0,8}</",
        is_quoted,
    ),
    Rule {
        value_at: Some(after_sign),
        // `nextPageToken` is none.
        before: |before| !secret_name::is_paging(before),
        ..Rule::checked(
            "named_token",
            r#"(?i-u)(?:token|[^a-z](?:pass|auth|jwt)|session[_-]?id)\\?["']?(?:\s{0,4}|[ \t]{0,40})(?::=|=>|[:=])(?:\s{0,4}|[ \t]{0,40})\\?["']?(?P<v>[^\s"',;<>\\&]{12,})"#,
            is_random,
        )
    },
    Rule::checked(
        "setting",
        r#"(?i-u)(?:key|name)=["'][a-z0-9_.:-]{0,40}(?:password|secret|token|apikey|api[_-]key|connectionstring)["']\s{1,4}value=["'](?P<v>[^"'\r\n]{6,})"#,
        is_value,
    ),
    Rule::checked("login", r"(?-u)\blogin\s{1,4}\S{1,64}\s{1,4}password\s{1,4}(?P<v>\S{4,})", |value| {
        !is_stand_in(value)
    }),
    Rule::checked(
        "argument",
        r#"(?i-u)\s--?[a-z-]{0,24}(?:password|passwd|passphrase|token|secret|api-?key|access-key|secret-key)\s{1,4}["']?(?P<v>[^\s"']{6,})"#,
        is_password,
    ),
    Rule::checked(
        "argument_user",
        r#"(?-u)\b(?:curl|wget|http)\s(?:[^\r\n]*?\s)??(?:-u|--user)[ =]{0,2}["']?[^\s:"'/]{1,64}:(?P<v>[^\s"']{4,})"#,
        |value| !is_stand_in(value) && !value.starts_with(b"$"),
    ),
    Rule::checked(
        "argument_password",
        r#"(?-u)\b(?:sshpass|(?:docker|podman|helm|skopeo|az|oc)\s[^\r\n]*?login|mysql(?:dump|admin)?)\s(?:[^\r\n]*?\s)??-p ?["']?(?P<v>[^\s"']{6,})"#,
        is_password,
    ),
    Rule::checked(
        "told_password",
        r#"(?i-u)\b(?:password|passphrase|passcode|pass|pwd)\s{1,3}(?:(?:for|of|to)\s{1,3}(?:[a-z0-9@._-]{1,32}\s{1,3}){1,4})?(?:is|was|will be|has been set to|set to|changed to|reset to)\s{0,3}:?\s{1,3}["'`]?(?P<v>[^\s"'`,;&]{8,})"#,
        is_password,
    ),
    Rule::checked(
        "named_secret_zh",
        r#"(?:密码|口令|密钥|令牌|私钥|授权码)\s{0,4}(?:(?:已)?(?:重置|修改|设置|更新|改)?(?:是|为|成)|:|：|=)\s{0,4}[:：]?\s{0,4}["'“`]?(?P<v>[!-~]{6,})"#,
        is_value,
    ),
    // Ideographs, and digits or letters behind them. Where more ideographs follow it is no word of its own, and the check says so.
    Rule::checked(
        "named_secret_han",
        r#"(?i-u)(?:密码|口令|password|passwd)["']?[ \t]{0,4}(?:为|是|[:=]|：)[ \t]{0,4}["'`]?(?P<v>(?:[\xe4-\xe9][\x80-\xbf][\x80-\xbf]){1,12}[0-9a-z!@#$%^&*._+-]{3,32}(?:[\xe4-\xe9][\x80-\xbf][\x80-\xbf])?)"#,
        is_han_password,
    ),
];

/// Where a value begins in `?name=value`.
fn after_equals(whole: &[u8]) -> usize {
    memchr::memchr(b'=', whole).map_or(0, |at| at + 1)
}

/// Where a value begins in `name: "value"`, which is written with one of several signs, spaces and quotes. A name may have a mark before it.
fn after_sign(whole: &[u8]) -> usize {
    let sign = memchr::memchr2(b'=', b':', whole.get(1..).unwrap_or_default()).map_or(0, |at| at + 1);
    let rest = &whole[sign..];
    let signs = if rest.starts_with(b":=") || rest.starts_with(b"=>") { 2 } else { 1 };
    let spaces = rest[signs.min(rest.len())..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let quote = rest.get(signs + spaces..).unwrap_or_default();
    let escape = usize::from(quote.starts_with(b"\\"));
    let quoted = usize::from(quote.get(escape).is_some_and(|byte| matches!(byte, b'"' | b'\'')));
    sign + signs + spaces + escape + quoted
}

/// What has the name of a secret and ends where it says so: a sentence is none.
fn is_quoted(value: &[u8]) -> bool {
    let value = value.trim_ascii();
    match value.iter().filter(|byte| **byte == b' ').count() {
        0 => is_value(value) && value.len() >= 6 || is_password(value) && value.len() >= 4,
        1..=2 => is_password(value),
        _ => false,
    }
}

/// Whether `value` is a credential under this key of a member.
pub(super) fn is_secret_member(key: &str, value: &str) -> bool {
    let value = value.as_bytes();
    match secret_name::of(key) {
        Some(Name::Secret) => is_value(value) || is_han_password(value),
        Some(Name::Likely) => value.len() >= 6 && !value.contains(&b' ') && (is_password(value) || is_random(value)),
        Some(Name::Perhaps) => is_random(value),
        None => false,
    }
}
