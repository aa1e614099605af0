//! API keys: what one looks like, how one is made, and the file that knows them by digest only.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use toolplane_records::ids::TenantId;
use toolplane_records::time::Timestamp;

use crate::caller::{Role, RoleSet};

#[cfg(test)]
mod tests;

/// What every key starts with, so that one that lies around is recognised.
pub const PREFIX: &str = "tpk_";

/// Random bytes of a key.
const SECRET_BYTES: usize = 32;
/// Their length in base64url.
const SECRET_CHARS: usize = 43;
const MAX_ID_CHARS: usize = 64;
const MAX_ACTOR_CHARS: usize = 256;

/// A key or a file of keys cannot be used. The text names the entry and the rule, and never holds what is in the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The id cannot be used.
    #[error("a key's id must have 1 to {MAX_ID_CHARS} letters, digits, `-` or `.`")]
    Id,
    /// The system gave no random bytes.
    #[error("the system gives no random bytes")]
    Random,
    /// The file is not TOML, or not of the right form.
    #[error("line {line}: is not a list of `[[key]]` entries with the fields of a key")]
    Form {
        /// Counted from 1.
        line: usize,
    },
    /// One entry is wrong.
    #[error("key {index} (`{id}`): `{field}` {rule}")]
    Entry {
        /// Counted from 1.
        index: usize,
        /// Its id; empty when that is what is wrong.
        id: String,
        /// The field.
        field: &'static str,
        /// The rule it broke.
        rule: String,
    },
}

/// A new key. Its text is shown once, and kept nowhere.
pub struct NewKey {
    text: String,
}

impl NewKey {
    /// A random key with this id: 1 to 64 letters, digits, `-` or `.`. Fails with [`KeyError::Id`] for another id, and
    /// with [`KeyError::Random`] when the system gives no random bytes.
    pub fn make(id: &str) -> Result<Self, KeyError> {
        check_id(id)?;
        let mut secret = [0; SECRET_BYTES];
        getrandom::fill(&mut secret).map_err(|_| KeyError::Random)?;
        Ok(Self { text: format!("{PREFIX}{id}_{}", URL_SAFE_NO_PAD.encode(secret)) })
    }

    /// The key itself: `tpk_<id>_<43 characters>`.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What a file keeps of it: the SHA-256 of the whole text, in hex.
    pub fn sha256(&self) -> String {
        hex::encode(digest(self.text.as_bytes()))
    }
}

impl std::fmt::Debug for NewKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NewKey")
    }
}

/// The id in a key's text; none when it is no key.
pub(crate) fn id_in(text: &[u8]) -> Option<&str> {
    let rest = text.strip_prefix(PREFIX.as_bytes())?;
    let (id, secret) = rest.split_at_checked(rest.len().checked_sub(SECRET_CHARS + 1)?)?;
    let id = std::str::from_utf8(id).ok()?;
    (secret.first() == Some(&b'_') && check_id(id).is_ok()).then_some(id)
}

pub(crate) fn digest(text: &[u8]) -> [u8; 32] {
    Sha256::digest(text).into()
}

fn check_id(id: &str) -> Result<(), KeyError> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.';
    if id.is_empty() || id.len() > MAX_ID_CHARS || !id.bytes().all(fits) { Err(KeyError::Id) } else { Ok(()) }
}

/// A key as its file keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyEntry {
    /// Its id, once in a file.
    pub id: String,
    /// SHA-256 of the key's text, in hex.
    pub sha256: String,
    /// The tenant of its holder.
    pub tenant: String,
    /// Who holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// What its holder may do; at least one.
    pub roles: Vec<Role>,
    /// When it ends, RFC 3339; never when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// Taken back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disabled: bool,
}

/// A checked entry.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) id: String,
    pub(crate) digest: [u8; 32],
    pub(crate) tenant: TenantId,
    pub(crate) actor: Option<String>,
    pub(crate) roles: RoleSet,
    pub(crate) expires_at: Option<Timestamp>,
    pub(crate) disabled: bool,
}

impl KeyEntry {
    /// The lines a file gets for this key, checked first. Fails with [`KeyError::Entry`], which names the field, when
    /// one of the entry's fields is wrong.
    pub fn to_toml(&self) -> Result<String, KeyError> {
        self.clone().check().map_err(|(field, rule)| KeyError::Entry { index: 1, id: self.id.clone(), field, rule })?;
        // What JSON escapes, TOML reads alike.
        let text = |text: &str| serde_json::Value::from(text).to_string();
        let mut lines = format!("[[key]]\nid = {}\nsha256 = {}\n", text(&self.id), text(&self.sha256));
        lines.push_str(&format!("tenant = {}\n", text(&self.tenant)));
        if let Some(actor) = &self.actor {
            lines.push_str(&format!("actor = {}\n", text(actor)));
        }
        let roles: Vec<String> = self.roles.iter().map(|role| text(role.as_str())).collect();
        lines.push_str(&format!("roles = [{}]\n", roles.join(", ")));
        if let Some(expires_at) = &self.expires_at {
            lines.push_str(&format!("expires_at = {}\n", text(expires_at)));
        }
        if self.disabled {
            lines.push_str("disabled = true\n");
        }
        Ok(lines)
    }

    fn check(self) -> Result<Key, (&'static str, String)> {
        if check_id(&self.id).is_err() {
            return Err(("id", KeyError::Id.to_string()));
        }
        let mut digest = [0; 32];
        hex::decode_to_slice(&self.sha256, &mut digest).map_err(|_| ("sha256", "must be 64 hex digits".to_owned()))?;
        let tenant = TenantId::given(&self.tenant).map_err(|rule| ("tenant", rule.to_string()))?;
        let plain = |actor: &String| {
            (1..=MAX_ACTOR_CHARS).contains(&actor.chars().count()) && !actor.chars().any(char::is_control)
        };
        if !self.actor.as_ref().is_none_or(plain) {
            return Err(("actor", format!("must have 1 to {MAX_ACTOR_CHARS} characters, and no control characters")));
        }
        let roles: RoleSet = self.roles.into_iter().collect();
        if roles.is_empty() {
            return Err(("roles", "must name at least one".to_owned()));
        }
        let instant = |text: String| text.parse().map_err(|_| ("expires_at", "must be an RFC 3339 time".to_owned()));
        let expires_at = self.expires_at.map(instant).transpose()?;
        Ok(Key { id: self.id, digest, tenant, actor: self.actor, roles, expires_at, disabled: self.disabled })
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyFile {
    #[serde(default)]
    key: Vec<KeyEntry>,
}

/// Reads the text of a key file. No id may be there twice.
pub(crate) fn read_file(text: &str) -> Result<Vec<Key>, KeyError> {
    let file: KeyFile = toml::from_str(text).map_err(|error| {
        if let Some(unknown) = unknown_role(text) {
            return unknown;
        }
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        KeyError::Form { line: text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count() + 1 }
    })?;
    let mut keys: Vec<Key> = Vec::with_capacity(file.key.len());
    let mut known = std::collections::HashSet::new();
    for (at, entry) in file.key.into_iter().enumerate() {
        let id = if check_id(&entry.id).is_ok() { entry.id.clone() } else { String::new() };
        let wrong = |(field, rule)| KeyError::Entry { index: at + 1, id: id.clone(), field, rule };
        let key = entry.check().map_err(wrong)?;
        if !known.insert(key.id.clone()) {
            return Err(wrong(("id", "is there twice".to_owned())));
        }
        keys.push(key);
    }
    Ok(keys)
}

/// The first entry with a role that does not exist.
fn unknown_role(text: &str) -> Option<KeyError> {
    let file: toml::Table = text.parse().ok()?;
    file.get("key")?.as_array()?.iter().enumerate().find_map(|(at, entry)| {
        let mut roles = entry.get("roles")?.as_array()?.iter().filter_map(toml::Value::as_str);
        let wrong = roles.find_map(|role| role.parse::<Role>().err())?;
        let id = entry.get("id").and_then(toml::Value::as_str).filter(|id| check_id(id).is_ok()).unwrap_or_default();
        Some(KeyError::Entry {
            index: at + 1,
            id: id.to_owned(),
            field: "roles",
            rule: format!("has one that {wrong}"),
        })
    })
}

/// Checks the text of a key file, and says how many keys are in it. Fails with [`KeyError::Form`] when the text is not
/// a list of entries, and with [`KeyError::Entry`] for the first entry that is wrong or has an id that is there twice.
pub fn check_file(text: &str) -> Result<usize, KeyError> {
    read_file(text).map(|keys| keys.len())
}

/// Whether a file with this text has a key with this id. Returns an error as [`check_file`] does when the text is not a good key
/// file.
pub fn has_key(text: &str, id: &str) -> Result<bool, KeyError> {
    Ok(read_file(text)?.iter().any(|key| key.id == id))
}
