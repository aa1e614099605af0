//! Names under which credentials are handed on.

/// What a name says of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    /// It is a credential, unless it only stands for one.
    Secret,
    /// It is one, if it looks like one and not like a label: the name has more words before.
    Likely,
    /// It may be one: other things have the same name.
    Perhaps,
}

/// What the key of a member says of its value; nothing is known of most.
pub(super) fn of(key: &str) -> Option<Name> {
    if key.len() > 48 {
        return None;
    }
    let plain: String = key.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    if SECRET.contains(&plain.as_str()) {
        return Some(Name::Secret);
    }
    if LIKELY.iter().any(|end| plain.ends_with(end)) {
        return Some(Name::Likely);
    }
    let before = PERHAPS.iter().find_map(|end| plain.strip_suffix(end))?;
    (!is_paging(before.as_bytes())).then_some(Name::Perhaps)
}

/// Whether a name goes on with `token` after this and still tells nothing: such tokens say where a list goes on, and who asks for more has
/// to send them back.
pub(super) fn is_paging(before: &[u8]) -> bool {
    let before = before.trim_ascii_end();
    let before = before.strip_suffix(b"_").or_else(|| before.strip_suffix(b"-")).unwrap_or(before);
    PAGING.iter().any(|word| {
        let start = before.len().saturating_sub(word.len());
        before[start..].eq_ignore_ascii_case(word.as_bytes())
    })
}

const PAGING: &[&str] =
    &["next", "page", "continuation", "cursor", "sync", "start", "starting", "resume", "skip", "sort"];

/// Whole names.
const SECRET: &[&str] = &[
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

/// Ends of longer names, such as `smtp_password`.
const LIKELY: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "secretkey",
    "secretkeybase",
    "accesskey",
    "accesskeysecret",
    "apikey",
    "privatekey",
    "encryptionkey",
    "signingkey",
    "masterkey",
    "authtoken",
    "accesstoken",
    "refreshtoken",
];

const PERHAPS: &[&str] = &["token", "auth", "pass", "jwt", "sessionid", "sessionkey", "signature", "credentials"];

#[cfg(test)]
mod tests {
    use super::super::heads;
    use super::*;

    #[test]
    fn every_name_of_a_secret_has_a_part_that_is_looked_for_first() {
        for name in SECRET.iter().chain(LIKELY).chain(PERHAPS) {
            assert!(heads::NAMES.iter().any(|part| name.contains(part)), "{name}");
        }
        assert!(heads::any_name(b"{\"P-w-D\":1}") && !heads::any_name(b"{\"city\":\"Paris\",\"p-w\":\"e\"}"));
    }

    #[test]
    fn a_name_of_a_secret_is_known_however_it_is_written() {
        for key in ["password", "API_KEY", "client-secret", "accessToken", "X-Api-Key", "aws_secret_access_key"] {
            assert_eq!(of(key), Some(Name::Secret), "{key}");
        }
        for key in ["smtp_password", "JWT_SECRET", "stripeApiKey", "access-key-secret"] {
            assert_eq!(of(key), Some(Name::Likely), "{key}");
        }
        for key in ["auth", "bot_token", "pass", "sessionId"] {
            assert_eq!(of(key), Some(Name::Perhaps), "{key}");
        }
        for key in ["token_count", "passwords", "key", "secret_name", "tokens", "monkey", "nextPageToken", "sync_token"]
        {
            assert_eq!(of(key), None, "{key}");
        }
    }
}
