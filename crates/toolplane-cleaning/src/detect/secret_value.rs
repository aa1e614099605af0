//! Whether what somebody gave the name of a secret may be one: texts that only stand for a secret, and code that reads it from elsewhere, have
//! the same names before them.

/// What is found under a name that only secrets have, such as `password`.
pub(super) fn is_value(value: &[u8]) -> bool {
    let value = without_scheme(value);
    let first = value.first().copied().unwrap_or_default();
    // Labels of forms are in every language, passwords are not; `==` compares.
    let label = !first.is_ascii() || first == b'=';
    !(label || is_stand_in(value) || is_code(value) || is_identifier(value) || is_place(value) || is_word(value))
}

/// What is found under a name that other things have too, such as `token`: it has to look as if nobody had thought of it.
pub(super) fn is_random(value: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=_.~-!@#%^*|".contains(byte);
    // Base64 without a digit still ends as only Base64 does.
    let padded =
        value.ends_with(b"=") && [u8::is_ascii_lowercase, u8::is_ascii_uppercase].iter().all(|of| value.iter().any(of));
    value.len() >= 12 && value.iter().all(plain) && (has_digit_and_letter(value) || padded) && is_value(value)
}

/// What is found after words of prose and on command lines: no word of a sentence.
pub(super) fn is_password(value: &[u8]) -> bool {
    let mark = |byte: &u8| byte.is_ascii_punctuation() && !b".,:;!?-_'\"()".contains(byte);
    let mixed = has_digit(value) || value.iter().any(mark);
    value.iter().any(u8::is_ascii_alphabetic) && mixed && !value.starts_with(b"-") && is_value(value)
}

/// Ideographs with digits behind them, as in `我的秘密123`: what says how a password has to be, or where it is, has one of a few words in it.
pub(super) fn is_han_password(value: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(value) else { return false };
    let han = |c: &char| matches!(c, '\u{4e00}'..='\u{9fff}');
    let begin = text.chars().take_while(han).count();
    let rest = || text.chars().skip(begin);
    let ends = rest().count() >= 3 && rest().all(|c| c.is_ascii_graphic()) && rest().any(|c| c.is_ascii_digit());
    (1..=12).contains(&begin) && ends && !text.chars().any(|c| OF_SENTENCES.contains(c))
}

/// Each of these is in words that sentences about passwords have, and labels: `请输入`, `必须`, `至少8位`, `见附件`, `有效期`.
const OF_SENTENCES: &str = "请输填见用位不必须长少多大小已未无有空错误字符个过期天次年月日时分钟秒第同问含需应由可在从和或与至附如例格式默认新旧码版本号超限";

/// Words and marks that stand where a secret would.
pub(super) fn is_stand_in(value: &[u8]) -> bool {
    let same = value.windows(2).all(|pair| pair[0] == pair[1]);
    // As characters nobody sees are written, also in JSON.
    let written = &value[value.iter().take_while(|byte| **byte == b'\\').count()..];
    let wrapped = WRAPPED.iter().any(|begin| written.starts_with(begin.as_bytes()));
    let text = bare(value);
    let begins = |begin: &&str| text.get(..begin.len()).is_some_and(|head| head.eq_ignore_ascii_case(begin.as_bytes()));
    if text.is_empty() || same || wrapped || NAMED.iter().any(begins) {
        return true;
    }
    // `password = user_password` names another place. What has a digit is no word.
    let letters = text.iter().all(|byte| byte.is_ascii_alphabetic() || b"_-. ".contains(byte));
    let ends = |end: &&str| {
        let start = text.len().checked_sub(end.len());
        start.is_some_and(|start| text[start..].eq_ignore_ascii_case(end.as_bytes()))
    };
    let word = |word: &&str| text.eq_ignore_ascii_case(word.as_bytes());
    letters && (NAMES.iter().any(ends) || WORDS.iter().any(word))
}

/// Without marks at both ends.
fn bare(value: &[u8]) -> &[u8] {
    let marks = |bytes: &mut dyn Iterator<Item = &u8>| bytes.take_while(|byte| byte.is_ascii_punctuation()).count();
    let value = &value[marks(&mut value.iter())..];
    &value[..value.len() - marks(&mut value.iter().rev())]
}

pub(super) fn has_digit(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit)
}

pub(super) fn has_digit_and_letter(value: &[u8]) -> bool {
    has_digit(value) && value.iter().any(u8::is_ascii_alphabetic)
}

/// What stands after the scheme of a header, where there is one.
fn without_scheme(value: &[u8]) -> &[u8] {
    let schemes: [&[u8]; 4] = [b"bearer ", b"basic ", b"token ", b"digest "];
    let scheme =
        schemes.iter().find(|scheme| value.get(..scheme.len()).is_some_and(|v| v.eq_ignore_ascii_case(scheme)));
    scheme.map_or(value, |scheme| value[scheme.len()..].trim_ascii_start())
}

/// Calls, members and types, with what closes them or up to where a quote cut them off.
fn is_code(value: &[u8]) -> bool {
    let name = value.iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"_.:".contains(byte)).count();
    let rest = value.get(name..).unwrap_or_default();
    let closed = rest.ends_with(b")") || !rest.contains(&b')');
    let called = name > 0 && rest.first().is_some_and(|byte| b"([".contains(byte)) && closed;
    let marked = value.iter().any(|byte| b"(){}[]$`".contains(byte)) && !has_digit(value);
    let typed = matches!(value, [b'&' | b'*', next, ..] if next.is_ascii_alphabetic() || *next == b'[');
    let scoped = value.starts_with(b":") || value.windows(2).any(|pair| pair == b"::");
    let number = value.len() <= 10 && value.starts_with(b"0x");
    called || marked || typed || scoped || number
}

/// Names that programs give: words with marks between them, or words that begin with a capital.
fn is_identifier(value: &[u8]) -> bool {
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let parts = value.split(|byte| b"._".contains(byte));
    let (mut count, mut words) = (0, true);
    for part in parts {
        let letters = part.iter().filter(|byte| byte.is_ascii_alphabetic());
        let (upper, all) = (letters.clone().filter(|byte| byte.is_ascii_uppercase()).count(), letters.count());
        // Capitals are all of it, or begin words: what is made by chance has them anywhere.
        words &= part.iter().all(u8::is_ascii_alphanumeric) && (upper == all || upper * 3 <= all);
        count += 1;
    }
    let capitals = value.iter().filter(|byte| byte.is_ascii_uppercase()).count();
    let camel = digits == 0 && capitals >= 2 && capitals * 3 <= value.len();
    words && digits <= 2 && (count > 1 || camel)
}

/// A file or an address: where a secret is, and not the secret. One that has it inside is found by rules of its own.
fn is_place(value: &[u8]) -> bool {
    let begins = |begin: &str| value.starts_with(begin.as_bytes());
    let file = ["~/", "./", "../", "file:"].into_iter().any(begins)
        || begins("/")
            && (!has_digit(value) || [".pem", ".key", ".txt"].iter().any(|end| value.ends_with(end.as_bytes())));
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-".contains(byte);
    let nested = begins("/") && value.iter().filter(|byte| **byte == b'/').count() > 1 && value.iter().all(plain);
    file || nested || value.windows(3).any(|part| part == b"://")
}

/// One short word, as labels, types and sentences have it.
fn is_word(value: &[u8]) -> bool {
    value.len() < 12
        && value.first().is_some_and(u8::is_ascii_alphabetic)
        && value.iter().skip(1).all(u8::is_ascii_lowercase)
}

const WRAPPED: &[&str] = &["<", "${", "{{", "$(", "[redacted", "[credential", "***", "%s", "ENC[", "u{"];

/// How names of places for secrets end.
const NAMES: &[&str] =
    &["password", "passwd", "passphrase", "secret", "token", "api_key", "apikey", "secret_key", "string"];

const NAMED: &[&str] = &[
    "your",
    "my-",
    "my_",
    "env.",
    "env:",
    "vault:",
    "arn:",
    "secrets.",
    "process.env",
    "os.environ",
    "config.",
    "self.",
];

const WORDS: &[&str] = &[
    "null",
    "none",
    "true",
    "false",
    "undefined",
    "required",
    "optional",
    "redacted",
    "masked",
    "hidden",
    "changeme",
    "example",
    "placeholder",
    "secretname",
    "secretref",
    "secretkeyref",
    "process.env",
    "os.environ",
    "missing",
    "invalid",
    "incorrect",
    "expired",
    "unknown",
    "rotated",
    "default",
    "disabled",
    "enabled",
    "unset",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_for_a_secret_is_none() {
        for value in [
            "${PASSWORD}",
            "<your key>",
            "********",
            "xxxxxxxx",
            "process.env.KEY",
            "config.password",
            "getpass()",
            "null",
            "Bearer <token>",
            "user_password",
            "Option",
            "Optional[str]",
            "request.form[",
            "hash_sha256(plain)",
            "=expected1",
            "&[u8])",
            "*const",
            "c_long",
            "_bindgen_ty_12",
            "ServiceAccountKey",
            "Secret::new(&P_SHA256",
            "node.colon2_token",
            "SOCKS5_NO_AUTH",
            "0x0017",
            "credentials",
            "/etc/ssl/private/server.key",
            "https://docs.example/reset",
            "请输入密码",
        ] {
            assert!(!is_value(value.as_bytes()), "{value}");
        }
        for value in [
            "hunter2hunter2",
            "correct-horse-battery",
            "S3cr3t!value",
            "ABCDEFGHIJKL",
            "abc.def.1234567890abcdef",
            "a(1b)c$d9",
            "Bearer ab12cd34",
            "letmeinplease",
        ] {
            assert!(is_value(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn a_password_of_ideographs_is_no_sentence_about_passwords() {
        for value in ["我的秘密123", "2024", "至少8位123", "请联系管理员123", "我的秘密", "有效期300"]
        {
            assert_eq!(is_han_password(value.as_bytes()), value == "我的秘密123", "{value}");
        }
    }

    #[test]
    fn under_a_common_name_only_what_nobody_thought_of_is_one() {
        for value in ["string", "12345678901234", "unexpected-end-of-file", "2026-01-01T00:00:00Z", "v1.2.3"] {
            assert!(!is_random(value.as_bytes()), "{value}");
        }
        assert!(is_random(b"abcd1234efgh5678") && is_random(b"Zm9vYmFyMTIzNA=="));
        assert!(is_password(b"Seq1234abcd") && is_password(b"abc@defg"));
        assert!(!is_password(b"required") && !is_password(b"--token2") && !is_password(b"12345678"));
    }
}
