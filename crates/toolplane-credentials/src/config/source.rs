//! Where a secret comes from.

use std::fmt;
use std::path::PathBuf;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

/// Where a credential comes from. Exactly one of them is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SourceConfig {
    /// A file that nobody but its owner can read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// A variable of the worker's own environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<String>,
    /// A program that writes the secret to its standard output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandConfig>,
    /// A token server that gives tokens for a client's own credentials (RFC 6749, 4.4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oauth2_client_credentials: Option<OAuth2Config>,
    /// There is no such source: this is how a secret that somebody wrote into the configuration is refused. It is not kept.
    #[serde(default, skip_serializing)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub inline: Option<Inline>,
}

/// That a secret was written into the configuration. Not what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inline;

/// Where the secret of a client comes from. Exactly one of them is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SecretSource {
    /// A file that nobody but its owner can read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// A variable of the worker's own environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<String>,
    /// A program that writes the secret to its standard output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<CommandConfig>,
    /// See [`SourceConfig::inline`].
    #[serde(default, skip_serializing)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub inline: Option<Inline>,
}

/// A program that writes a secret. It is started without a shell, in `/`, with an empty environment and no standard input; what it
/// says on standard error is thrown away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CommandConfig {
    /// Program (an absolute path) and arguments. Arguments can be seen by every program of the machine: never a secret.
    pub argv: Vec<String>,
    /// How long it may take, in milliseconds.
    #[serde(default = "ten_seconds")]
    pub timeout_ms: u64,
}

fn ten_seconds() -> u64 {
    10_000
}

/// A token server and the client it knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct OAuth2Config {
    /// Where tokens are given: `https://`, or `http://` on loopback.
    pub token_url: String,
    /// The client's id.
    pub client_id: String,
    /// Where the client's secret comes from.
    #[serde(deserialize_with = "read_secret_source")]
    pub client_secret: SecretSource,
    /// What the token is to be good for.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// Who the token is for, where the server asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<String>,
    /// How the client shows its secret.
    #[serde(default)]
    pub auth: OAuth2Auth,
    /// How long one answer may take, in milliseconds.
    #[serde(default = "ten_seconds")]
    pub timeout_ms: u64,
}

/// How a client shows its secret to a token server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OAuth2Auth {
    /// In the header `Authorization`, as every server must take it.
    #[default]
    Basic,
    /// In the body of the request.
    Body,
}

impl<'de> Deserialize<'de> for Inline {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

/// Reads a table. A text or a number in its place is a secret that was written down: it becomes `inline`, so that no error repeats it.
struct TableOr<T>(fn() -> T);

impl<'de, T: Deserialize<'de>> Visitor<'de> for TableOr<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table that says where the secret comes from")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map))
    }

    fn visit_str<E>(self, _: &str) -> Result<T, E> {
        Ok((self.0)())
    }

    fn visit_i64<E>(self, _: i64) -> Result<T, E> {
        Ok((self.0)())
    }

    fn visit_f64<E>(self, _: f64) -> Result<T, E> {
        Ok((self.0)())
    }
}

pub(super) fn read_source<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SourceConfig, D::Error> {
    deserializer.deserialize_any(TableOr(|| SourceConfig { inline: Some(Inline), ..SourceConfig::default() }))
}

fn read_secret_source<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SecretSource, D::Error> {
    deserializer.deserialize_any(TableOr(|| SecretSource { inline: Some(Inline), ..SecretSource::default() }))
}
