//! Permission rules as they are written, kept and listed (contracts/permission-decision, "Rule sources"; the rest is ours).

use serde::{Deserialize, Serialize};

use crate::payload::{Digest, JsonPayload};
use crate::time::Timestamp;
use crate::vocabulary::{Behavior, RuleSource};

/// One permission rule. Whether its texts mean anything is for the policy to say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PermissionRule {
    /// Name of the rule, unique among the rules in force; made up by the service that keeps the rule when empty.
    #[serde(default)]
    pub rule_id: String,
    /// Where it comes from.
    pub source: RuleSource,
    /// What it says: allow, ask or deny.
    pub behavior: Behavior,
    /// Which calls it is about, e.g. `Bash(git diff:*)`.
    pub matcher: String,
    /// Facts that must hold, e.g. `read_only`, `!open_world`, `risk>=high`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<String>,
    /// Conditions on arguments; all of them must hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<ArgumentCondition>,
    /// Which calls it is about, whatever the tool.
    #[serde(default, skip_serializing_if = "RuleScope::is_any")]
    pub scope: RuleScope,
    /// Why it is there, for people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Who wrote it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// When it came into force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
    /// When it goes out of force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// Examples it must match: the text of a command, path or URL, or an object of `tool`, `input` and `facts`.
    #[serde(default, rename = "match", skip_serializing_if = "Vec::is_empty")]
    pub matches: Vec<JsonPayload>,
    /// Examples it must not match.
    #[serde(default, rename = "not_match", skip_serializing_if = "Vec::is_empty")]
    pub not_matches: Vec<JsonPayload>,
    /// It is only watched: it never decides.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shadow: bool,
    /// Where it is kept: `config`, `file:<path>` or `stored`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub origin: String,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Timestamp>,
    /// Who revoked it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub revoked_by: String,
    /// The declaration it is bound to, when it is; only an allow is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pin: Option<RulePin>,
}

impl PermissionRule {
    /// A rule with nothing but what must be said: in force, about every caller, whatever the input.
    pub fn new(rule_id: impl Into<String>, source: RuleSource, behavior: Behavior, matcher: impl Into<String>) -> Self {
        Self {
            rule_id: rule_id.into(),
            source,
            behavior,
            matcher: matcher.into(),
            facts: Vec::new(),
            arguments: Vec::new(),
            scope: RuleScope::default(),
            reason: String::new(),
            author: String::new(),
            created_at: None,
            expires_at: None,
            matches: Vec::new(),
            not_matches: Vec::new(),
            shadow: false,
            origin: String::new(),
            revoked_at: None,
            revoked_by: String::new(),
            pin: None,
        }
    }
}

/// The declaration of a tool that an allow is bound to: it says yes to the tool as a person saw it, and nothing of what
/// the tool is made into later.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RulePin {
    /// Digest of the registration.
    pub declaration_digest: Digest,
    /// The registration as JSON, the bytes the digest is made over, so that a change can be shown.
    #[serde(default, deserialize_with = "crate::payload::even_null", skip_serializing_if = "Option::is_none")]
    pub registration: Option<JsonPayload>,
}

/// A condition on one argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ArgumentCondition {
    /// JSON pointer into the input.
    pub pointer: String,
    /// `eq`, `ne`, `in`, `not_in`, `lt`, `le`, `gt`, `ge`, `glob`, `prefix`, `exists` or `absent`.
    pub op: String,
    /// What to compare with.
    #[serde(default, deserialize_with = "crate::payload::even_null", skip_serializing_if = "Option::is_none")]
    pub value: Option<JsonPayload>,
}

/// Which calls a rule is about, whatever the tool. An empty field is about all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuleScope {
    /// Owner of the call.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tenant: String,
    /// Namespace of the tool, or one above it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Who calls.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub actor: String,
    /// A role the caller has.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub role: String,
    /// Session of the call.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub session: String,
    /// Surface of the call.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub surface: String,
}

impl RuleScope {
    /// Whether it is about every call.
    pub fn is_any(&self) -> bool {
        *self == Self::default()
    }
}
