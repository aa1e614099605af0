//! Keys, tokens and passwords that can be told by their form, by the header they stand in, or by the name that is given to them.

use super::Rule;

/// In a URL a few stars are what people know.
const STARS: Option<&str> = Some("***");

pub(super) const RULES: &[Rule] = &[
    Rule::new("aws_key_id", r"(?-u)\b(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    Rule::new("github_token", r"(?-u)\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})\b"),
    Rule::new("gitlab_token", r"(?-u)\bgl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat)-[A-Za-z0-9_-]{20,64}"),
    Rule::new(
        "slack_token",
        r"(?-u)\bxox[abeoprs]-(?:[0-9A-Za-z]{1,40}-){1,5}[0-9A-Za-z]{8,80}|\bxapp-[0-9]-[A-Z0-9]{8,20}-[0-9]{8,20}-[a-f0-9]{32,80}",
    ),
    Rule::new(
        "slack_webhook",
        r"(?-u)hooks\.slack\.com/services/T[A-Za-z0-9]{6,16}/B[A-Za-z0-9]{6,16}/(?P<v>[A-Za-z0-9]{16,40})",
    ),
    Rule::new("google_api_key", r"(?-u)\bAIza[0-9A-Za-z_-]{35}"),
    Rule::new("google_oauth", r"(?-u)\bya29\.[0-9A-Za-z_-]{20,}|\bGOCSPX-[0-9A-Za-z_-]{28}"),
    Rule::new("anthropic_key", r"(?-u)\bsk-ant-[A-Za-z0-9]{2,10}-[A-Za-z0-9_-]{20,}"),
    Rule::checked("openai_key", r"(?-u)\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{32,}", has_digit_and_letter),
    Rule::new("stripe_key", r"(?-u)\b(?:sk|rk|pk|whsec)_(?:live_|test_)?[0-9A-Za-z]{24,}\b"),
    Rule::new("npm_token", r"(?-u)\bnpm_[A-Za-z0-9]{36}\b"),
    Rule::new("pypi_token", r"(?-u)\bpypi-AgEI[A-Za-z0-9_-]{50,}"),
    Rule::new("huggingface_token", r"(?-u)\bhf_[A-Za-z0-9]{30,60}\b"),
    Rule::new("digitalocean_token", r"(?-u)\bdo[opr]_v1_[a-f0-9]{64}\b"),
    Rule::new("sendgrid_key", r"(?-u)\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    Rule::new("twilio_key", r"(?-u)\bSK[0-9a-f]{32}\b"),
    Rule::new("telegram_token", r"(?-u)\b[0-9]{8,10}:AA[0-9A-Za-z_-]{33}"),
    Rule::new("databricks_token", r"(?-u)\bdapi[a-f0-9]{32}\b"),
    Rule::new("vault_token", r"(?-u)\bhv[sb]\.[A-Za-z0-9_-]{24,}"),
    Rule::new("shopify_token", r"(?-u)\bshp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}\b"),
    Rule::new("age_key", r"(?-u)\bAGE-SECRET-KEY-1[0-9A-Z]{58}"),
    Rule::new("azure_account_key", r"(?i-u)AccountKey=(?P<v>[A-Za-z0-9+/]{40,}={0,2})"),
    Rule::new("json_web_token", r"(?-u)\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    Rule::checked(
        "authorization",
        r#"(?i-u)(?:authorization|proxy-authorization)["']?\s{0,4}[:=]\s{0,4}["']?(?:bearer|basic|token|apikey|digest)\s{1,4}(?P<v>[A-Za-z0-9+/=._~:-]{6,})"#,
        is_value,
    ),
    Rule::checked("bearer", r"(?-u)\b[Bb]earer\s{1,4}(?P<v>[A-Za-z0-9+/=._~-]{20,})", has_digit_and_letter),
    Rule::checked(
        "header",
        r#"(?i-u)(?:x-api-key|x-auth-token|x-access-token|x-amz-security-token|x-vault-token|private-token|api-key)["']?\s{0,4}[:=]\s{0,4}["']?(?P<v>[^\s"',;&]{8,})"#,
        is_value,
    ),
    Rule::checked("cookie", r#"(?i-u)\b(?:set-)?cookie:\s{0,4}(?P<v>[^\r\n"']{8,})"#, |value| value.contains(&b'=')),
    Rule {
        instead: STARS,
        ..Rule::checked(
            "url_parameter",
            r#"(?i-u)[?&;](?:[a-z0-9_-]{0,24}(?:token|signature|secret|password|passwd|credential)|api[_-]?key|x-amz-security-token|sig|pwd|auth|key|code_verifier|session(?:_?id)?|jwt|sas)=(?P<v>[^&\s"'<>#)\]]+)"#,
            |value| value != b"***",
        )
    },
    Rule {
        instead: STARS,
        ..Rule::checked(
            "url_password",
            r#"(?i-u)\b[a-z][a-z0-9+.-]{1,20}://[^\s/@:"'<>]*:(?P<v>[^\s/@"'<>]+)@"#,
            |value| value != b"***" && !is_stand_in(value),
        )
    },
    Rule::checked(
        super::MEMBER,
        r#"(?i-u)(?:password|passwd|passphrase|pwd|secret(?:[_-]?(?:access)?[_-]?key)?|api[_-]?key|access[_-]?key|account[_-]?key|auth[_-]?token|access[_-]?token|refresh[_-]?token|id[_-]?token|session[_-]?token|client[_-]?secret|private[_-]?key|encryption[_-]?key|signing[_-]?key)\\?["']?\s{0,4}(?::=|=>|[:=])\s{0,4}\\?["']?(?P<v>[^\s"',;<>\\]{6,})"#,
        is_value,
    ),
    Rule::checked(
        "named_secret_zh",
        r#"(?:密码|口令|密钥|令牌)\s{0,4}(?:是|为|:|：|=)\s{0,4}["'“]?(?P<v>[!-~]{6,})"#,
        is_value,
    ),
];

/// Names under which credentials are handed on.
const KEYS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "secretkey",
    "secretaccesskey",
    "apikey",
    "accesskey",
    "accountkey",
    "authtoken",
    "accesstoken",
    "refreshtoken",
    "idtoken",
    "sessiontoken",
    "clientsecret",
    "privatekey",
    "encryptionkey",
    "signingkey",
    "authorization",
    "proxyauthorization",
    "xapikey",
    "xauthtoken",
    "cookie",
    "setcookie",
    "credential",
    "connectionstring",
    "awssecretaccesskey",
    "awssessiontoken",
    "dbpassword",
    "webhooksecret",
];

/// Whether the value of a member with this key is a credential.
pub(super) fn is_secret_key(key: &str) -> bool {
    if key.len() > 48 {
        return false;
    }
    let plain: String = key.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    KEYS.contains(&plain.as_str())
}

/// Whether what somebody gave the name of a secret may be one: no word that stands for it, no code that reads it from elsewhere.
pub(super) fn is_value(value: &[u8]) -> bool {
    let code = value.iter().any(|byte| b"(){}$`".contains(byte)) && !has_digit(value);
    let path = value.contains(&b'.') && value.iter().all(|byte| byte.is_ascii_alphabetic() || b"._-".contains(byte));
    let plain_word = value.iter().all(|byte| byte.is_ascii_lowercase()) && value.len() < 8;
    !(is_stand_in(value) || code || path || plain_word)
}

/// Words and marks that stand where a secret would.
fn is_stand_in(value: &[u8]) -> bool {
    const WORDS: &[&str] = &[
        "null",
        "none",
        "true",
        "false",
        "undefined",
        "string",
        "required",
        "optional",
        "redacted",
        "masked",
        "hidden",
        "changeme",
        "example",
        "placeholder",
        "secretname",
        "password",
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
    let text = String::from_utf8_lossy(value).to_ascii_lowercase();
    let text = text.trim_matches(|c: char| c.is_ascii_punctuation());
    let same = value.windows(2).all(|pair| pair[0] == pair[1]);
    let wrapped = value.starts_with(b"<")
        || value.starts_with(b"${")
        || value.starts_with(b"{{")
        || value.starts_with(b"$(")
        || value.starts_with(b"[redacted")
        || value.starts_with(b"[credential")
        || value.starts_with(b"***")
        || value.starts_with(b"%s");
    let named = [
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
    text.is_empty() || same || wrapped || WORDS.contains(&text) || named.iter().any(|named| text.starts_with(named))
}

fn has_digit(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit)
}

fn has_digit_and_letter(value: &[u8]) -> bool {
    has_digit(value) && value.iter().any(u8::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_secret_is_known_however_it_is_written() {
        for key in ["password", "API_KEY", "client-secret", "accessToken", "X-Api-Key", "aws_secret_access_key"] {
            assert!(is_secret_key(key), "{key}");
        }
        for key in ["token_count", "passwords", "key", "secret_name", "tokens", "monkey"] {
            assert!(!is_secret_key(key), "{key}");
        }
    }

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
        ] {
            assert!(!is_value(value.as_bytes()), "{value}");
        }
        for value in ["hunter2hunter2", "correct-horse-battery", "S3cr3t!value", "a(1b)c$d9"] {
            assert!(is_value(value.as_bytes()), "{value}");
        }
    }
}
