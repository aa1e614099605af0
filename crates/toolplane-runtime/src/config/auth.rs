//! Who may call, and as whom.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::caller::roles::Role;

/// Who may call. Several ways may be open at once; a credential that is shown and wrong is refused even when another one
/// would do, and several good ones must be of the same caller.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct AuthConfig {
    /// File of bearer tokens, one per line; empty lines and lines starting with `#` are skipped. Several lines allow
    /// rotation without a gap. Each stands for tenant `default` with every role: for processes and operators.
    pub token_file: Option<PathBuf>,
    /// File of API keys (TOML), as `toolplane keys new` writes it: only digests are in it. Read again when it changes.
    pub api_key_file: Option<PathBuf>,
    /// Issuers whose JSON Web Tokens are taken.
    pub jwt: Vec<JwtConfig>,
    /// Hosts that keys of issuers may be fetched from.
    pub jwks_hosts: Vec<String>,
    /// Client certificates that are callers by themselves; needs `server.tls.client_ca_file`.
    pub mtls: Vec<MtlsConfig>,
}

impl AuthConfig {
    /// Whether no caller could ever be let in.
    pub fn is_empty(&self) -> bool {
        self.token_file.is_none() && self.api_key_file.is_none() && self.jwt.is_empty() && self.mtls.is_empty()
    }
}

/// One issuer of JSON Web Tokens. `iss`, `aud`, `exp` and `sub` must be there and right; `nbf` must be right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct JwtConfig {
    /// The `iss` of its tokens, exactly.
    pub issuer: String,
    /// What must be in `aud`.
    pub audience: String,
    /// Its public keys (a JWK set) as a file, read again when it changes; or `jwks_url`.
    #[serde(default)]
    pub jwks_file: Option<PathBuf>,
    /// Where its public keys are fetched: `https`, or `http` on loopback; the host must be among `jwks_hosts`.
    #[serde(default)]
    pub jwks_url: Option<String>,
    /// How long fetched keys are used before they are fetched again.
    #[serde(default = "ten_minutes")]
    pub jwks_ttl_ms: u64,
    /// Signatures that are taken. All of them need a public key only; there are no others.
    #[serde(default = "algorithms")]
    pub algorithms: Vec<JwtAlgorithm>,
    /// The claim with the tenant: a name, or a JSON pointer (`/org/id`).
    #[serde(default = "tenant")]
    pub tenant_claim: String,
    /// The claim with the roles, an array of names or one text with spaces between: a name, or a JSON pointer.
    #[serde(default = "roles")]
    pub roles_claim: String,
    /// What the names in the roles claim mean here. Names that are not in it mean nothing; when it is empty, the roles' own
    /// names are taken, except `peer`.
    #[serde(default)]
    pub role_map: BTreeMap<String, Vec<Role>>,
    /// Further claims that must be there, e.g. `nbf`.
    #[serde(default)]
    pub required_claims: Vec<String>,
    /// How far clocks may differ, seconds.
    #[serde(default = "half_a_minute")]
    pub leeway_seconds: u64,
}

fn ten_minutes() -> u64 {
    600_000
}

fn half_a_minute() -> u64 {
    30
}

fn algorithms() -> Vec<JwtAlgorithm> {
    vec![JwtAlgorithm::RS256, JwtAlgorithm::ES256, JwtAlgorithm::EdDSA]
}

fn tenant() -> String {
    "tenant".to_owned()
}

fn roles() -> String {
    "roles".to_owned()
}

/// A signature algorithm of JSON Web Tokens. Those with a shared secret are left out: a server that can check such a
/// signature can also make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the names are those of RFC 7518 and RFC 8037, and say all there is")]
pub enum JwtAlgorithm {
    RS256,
    RS384,
    RS512,
    PS256,
    PS384,
    PS512,
    ES256,
    ES384,
    EdDSA,
}

/// A client certificate that is a caller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MtlsConfig {
    /// A name in the certificate, exactly: a URI (`spiffe://cluster/worker`), `CN=...`, or a DNS name.
    pub subject: String,
    /// The caller's tenant.
    #[serde(default = "default_tenant")]
    pub tenant: String,
    /// Who the caller is.
    #[serde(default)]
    pub actor: Option<String>,
    /// What the caller may do.
    pub roles: Vec<Role>,
}

fn default_tenant() -> String {
    toolplane_records::ids::TenantId::unauthenticated().to_string()
}
