//! The rules of `[[credentials]]`. Files are not opened and programs not looked for here.

use std::collections::BTreeSet;
use std::path::Path;

use toolplane_records::codes;
use toolplane_records::ids::check_id;
use url::Url;

use super::{CommandConfig, CredentialConfig, CredentialKind, OAuth2Config, SourceConfig};
use crate::scope::Scope;
use crate::way::is_private;

/// Most credentials of one worker.
const MAX_CREDENTIALS: usize = 256;
/// Longest name. It stands in outputs, in place of what may be shorter.
const MAX_NAME: usize = 40;
const MAX_NAMES_OF_ONE_SCOPE: usize = 1000;
/// Longest time a program or a token server may take.
const MAX_TIMEOUT_MS: u64 = 120_000;
/// Longest interval: 30 days.
const MAX_INTERVAL_MS: u64 = 30 * 24 * 60 * 60 * 1000;
/// Arguments of a program: how many, and how long all of them together.
const MAX_ARGS: usize = 64;
const MAX_ARGV_BYTES: usize = 8 * 1024;
const INLINE: &str = "must not hold the secret itself: configurations are copied, shown and kept. \
                      Put it into a file that only the worker's user can read, and write `{ file = \"/path\" }`";

/// What is wrong with a configuration of credentials. Its text never holds more of the configuration than names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}`: {rule}")]
pub struct ConfigFault {
    /// The key: `credentials[0].source.file`, counted from 0.
    pub key: String,
    /// The rule it broke.
    pub rule: String,
}

impl ConfigFault {
    /// Stable machine-readable code.
    pub fn code(&self) -> &'static str {
        codes::CREDENTIALS_CONFIG_INVALID.as_str()
    }
}

/// A key below that of the credential, and the rule it breaks.
type Fault = (&'static str, String);

/// Checks what can be checked without looking at a source.
///
/// # Errors
///
/// The first [`ConfigFault`], which names the key and the rule.
pub fn check(credentials: &[CredentialConfig]) -> Result<(), ConfigFault> {
    if credentials.len() > MAX_CREDENTIALS {
        let rule = format!("has more than {MAX_CREDENTIALS} entries");
        return Err(ConfigFault { key: "credentials".to_owned(), rule });
    }
    let mut names = BTreeSet::new();
    for (index, credential) in credentials.iter().enumerate() {
        let at = |key: &str| format!("credentials[{index}].{key}");
        one(credential).map_err(|(key, rule)| ConfigFault { key: at(key), rule })?;
        if !names.insert(&credential.name) {
            let rule = format!("`{}` is the name of an earlier credential", credential.name);
            return Err(ConfigFault { key: at("name"), rule });
        }
    }
    Ok(())
}

fn one(credential: &CredentialConfig) -> Result<(), Fault> {
    name(&credential.name)?;
    source(&credential.source, credential)?;
    scope(credential)?;
    kind(credential)?;
    for (key, value) in [("refresh_ms", credential.refresh_ms), ("max_age_ms", credential.max_age_ms)] {
        if value.is_some_and(|value| !(1000..=MAX_INTERVAL_MS).contains(&value)) {
            return fault(key, format!("is not between 1000 and {MAX_INTERVAL_MS}"));
        }
    }
    if credential.refresh_ms.is_some() && credential.source.command.is_none() {
        return fault(
            "refresh_ms",
            "is for commands: files are looked at before every use, and tokens say when they end",
        );
    }
    if credential.max_age_ms.is_some() && credential.source.oauth2_client_credentials.is_some() {
        return fault("max_age_ms", "is not for tokens: they say when they end");
    }
    Ok(())
}

fn fault<T>(key: &'static str, rule: impl Into<String>) -> Result<T, Fault> {
    Err((key, rule.into()))
}

fn name(name: &str) -> Result<(), Fault> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.');
    let starts = name.starts_with(|first: char| first.is_ascii_alphanumeric());
    if name.len() > MAX_NAME || !starts || !name.bytes().all(is_plain) {
        return fault(
            "name",
            format!("must have 1 to {MAX_NAME} small letters, digits, `-`, `_` or `.`, a letter or digit first"),
        );
    }
    Ok(())
}

fn source(source: &SourceConfig, credential: &CredentialConfig) -> Result<(), Fault> {
    if source.inline.is_some() {
        return fault("source", INLINE);
    }
    let given = [
        source.file.is_some(),
        source.env.is_some(),
        source.command.is_some(),
        source.oauth2_client_credentials.is_some(),
    ];
    if given.into_iter().filter(|given| *given).count() != 1 {
        return fault("source", "must have exactly one of `file`, `env`, `command` and `oauth2_client_credentials`");
    }
    simple("source.file", source.file.as_deref(), "source.env", source.env.as_deref())?;
    if let Some(command) = &source.command {
        run("source.command", command)?;
    }
    if let Some(oauth2) = &source.oauth2_client_credentials {
        if !matches!(credential.kind, CredentialKind::Bearer | CredentialKind::Raw) {
            return fault("kind", "must be `bearer` (or `raw`) with `oauth2_client_credentials`");
        }
        token_server(oauth2)?;
    }
    Ok(())
}

fn simple(file_key: &'static str, file: Option<&Path>, env_key: &'static str, env: Option<&str>) -> Result<(), Fault> {
    if file.is_some_and(|file| !file.is_absolute()) {
        return fault(file_key, "must be an absolute path");
    }
    if env.is_some_and(|name| name.is_empty() || name.len() > 255 || name.contains(['=', '\0'])) {
        return fault(env_key, "must be the name of a variable: 1 to 255 bytes without `=`");
    }
    Ok(())
}

fn run(key: &'static str, command: &CommandConfig) -> Result<(), Fault> {
    if !command.argv.first().is_some_and(|program| Path::new(program).is_absolute()) {
        return fault(
            key,
            "must begin its `argv` with the absolute path of a program: there is no `PATH`, and no shell",
        );
    }
    let bytes: usize = command.argv.iter().map(String::len).sum();
    if command.argv.len() > MAX_ARGS || bytes > MAX_ARGV_BYTES || command.argv.iter().any(|arg| arg.contains('\0')) {
        return fault(
            key,
            format!("has more than {MAX_ARGS} arguments, {MAX_ARGV_BYTES} bytes of them, or a NUL in one"),
        );
    }
    timeout(key, command.timeout_ms)
}

fn timeout(key: &'static str, timeout_ms: u64) -> Result<(), Fault> {
    if (1..=MAX_TIMEOUT_MS).contains(&timeout_ms) {
        return Ok(());
    }
    fault(key, format!("has a `timeout_ms` that is not between 1 and {MAX_TIMEOUT_MS}"))
}

fn token_server(oauth2: &OAuth2Config) -> Result<(), Fault> {
    const KEY: &str = "source.oauth2_client_credentials";
    const SECRET: &str = "source.oauth2_client_credentials.client_secret";
    token_url(&oauth2.token_url).or_else(|rule| fault("source.oauth2_client_credentials.token_url", rule))?;
    let secret = &oauth2.client_secret;
    if secret.inline.is_some() {
        return fault(SECRET, INLINE);
    }
    let given = [secret.file.is_some(), secret.env.is_some(), secret.command.is_some()];
    if given.into_iter().filter(|given| *given).count() != 1 {
        return fault(SECRET, "must have exactly one of `file`, `env` and `command`");
    }
    simple(SECRET, secret.file.as_deref(), SECRET, secret.env.as_deref())?;
    if let Some(command) = &secret.command {
        run(SECRET, command)?;
    }
    if oauth2.client_id.is_empty() || oauth2.client_id.chars().any(char::is_control) {
        return fault("source.oauth2_client_credentials.client_id", "must not be empty or hold control characters");
    }
    let is_scope = |scope: &String| {
        !scope.is_empty() && scope.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\'))
    };
    if !oauth2.scopes.iter().all(is_scope) {
        return fault("source.oauth2_client_credentials.scopes", "must be words of visible ASCII without quotes");
    }
    timeout(KEY, oauth2.timeout_ms)
}

fn token_url(text: &str) -> Result<(), &'static str> {
    let url = Url::parse(text).map_err(|_| "is not a URL")?;
    if !is_private(&url) {
        return Err("must start with `https://`, or `http://` on loopback");
    }
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return Err("must hold no user, password or fragment");
    }
    Ok(())
}

fn scope(credential: &CredentialConfig) -> Result<(), Fault> {
    let CredentialConfig { providers, tools, tenants, actors, .. } = credential;
    let lists = [("providers", providers), ("tools", tools), ("tenants", tenants), ("actors", actors)];
    if lists.iter().all(|(_, list)| list.is_none()) {
        return fault(
            "providers",
            "`tools`, `tenants` and `actors` are all absent, so it is for nobody: name who it is for, or write `tools = [\"*\"]`",
        );
    }
    for (key, list) in lists {
        let Some(list) = list else { continue };
        if list.is_empty() || list.len() > MAX_NAMES_OF_ONE_SCOPE {
            return fault(
                key,
                format!(
                    "must have 1 to {MAX_NAMES_OF_ONE_SCOPE} entries; leave the key out, or write `[\"*\"]`, for all"
                ),
            );
        }
        if key == "tools" || key == "actors" {
            continue;
        }
        if let Some(rule) = list.iter().filter(|name| *name != "*").find_map(|name| check_id(name).err()) {
            return fault(key, format!("must be ids, or `*`: one of them {rule}"));
        }
    }
    if actors.iter().flatten().any(|actor| actor.is_empty() || actor.chars().any(char::is_control)) {
        return fault("actors", "must not be empty or hold control characters");
    }
    Scope::new(credential).map(drop).or_else(|rule| fault("tools", rule))
}

fn kind(credential: &CredentialConfig) -> Result<(), Fault> {
    if let Some(username) = &credential.username {
        if credential.kind != CredentialKind::Basic {
            return fault("username", "is for the kind `basic`");
        }
        if username.contains(':') || username.chars().any(char::is_control) {
            return fault("username", "must not hold `:` or control characters");
        }
    }
    match &credential.secret_fields {
        Some(_) if credential.kind != CredentialKind::Json => fault("secret_fields", "is for the kind `json`"),
        Some(fields) if fields.is_empty() => fault("secret_fields", "must name at least one field"),
        _ => Ok(()),
    }
}
