//! One operation of an HTTP API, as an OpenAPI document describes it, with all a worker needs to ask for it (ours).
//!
//! A binding is made once, when the document is imported, and is part of what was approved: where the request goes, what
//! of the input goes where in it, and which credentials it needs. It names credentials and never holds one.

use serde::{Deserialize, Serialize};

use crate::credential::{CredentialPlacement, CredentialUse};

/// One operation and how an input becomes its request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OperationBinding {
    /// Its id in the document: the `operationId`, or `METHOD /path` where it has none.
    pub operation: String,
    /// The HTTP method, in capitals.
    pub method: String,
    /// The server, an absolute `http` or `https` URL without user, query, fragment and final `/`.
    pub server: String,
    /// The path below the server, with `{name}` where path parameters go; begins with `/`. What stands after a `?` is asked for
    /// as it is written, before the parameters of the query.
    pub path: String,
    /// Parameters in the order of the document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<OperationParameter>,
    /// The body; none when the operation takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<OperationBody>,
    /// Ways to show who is asking: one of them is needed, and of that one all. Empty: none is needed. An empty way: none has
    /// to be shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub credentials: Vec<Vec<CredentialRequirement>>,
    /// Media types of answers the document speaks of, for `Accept`; any when empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accept: Vec<String>,
    /// JSON Schema of a successful JSON answer, as JSON text: a tagged record cannot hold exact JSON bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_schema: Option<String>,
    /// The only host requests may go to: that of the server.
    pub allowed_host: String,
    /// The only port requests may go to: that of the server.
    pub allowed_port: u16,
    /// Asking twice has the effect of asking once, by the method or by what was said of the operation.
    #[serde(default)]
    pub idempotent: bool,
    /// Most body bytes read of an answer; the worker's own bound when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_response_bytes: Option<u64>,
}

/// Where a parameter goes in the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ParameterPlace {
    /// In place of `{name}` in the path.
    Path,
    /// One or more pairs of the query.
    Query,
    /// The whole query, encoded as its media type says.
    Querystring,
    /// A header.
    Header,
    /// A cookie.
    Cookie,
}

/// How a value is written, in the words of OpenAPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ParameterStyle {
    /// `;name=value`
    Matrix,
    /// `.value`
    Label,
    /// `value,value`
    Simple,
    /// `name=value`
    Form,
    /// `name=value%20value`
    SpaceDelimited,
    /// `name=value%7Cvalue`
    PipeDelimited,
    /// `name[member]=value`
    DeepObject,
    /// `name=value` of a cookie, not percent-encoded.
    Cookie,
}

/// One parameter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OperationParameter {
    /// Where it goes.
    pub place: ParameterPlace,
    /// Its name in the request.
    pub name: String,
    /// Where its value is in the input: the name of a field, or of a group and of a field in it.
    pub input: Vec<String>,
    /// A request without it is not sent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// How it is written.
    pub style: ParameterStyle,
    /// Members and elements are written as parameters of their own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub explode: bool,
    /// Characters that mean something in URLs stay as they are, except where they would end the parameter.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_reserved: bool,
    /// The value is written as this media type, and not by a style.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
}

/// How a body is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BodyEncoding {
    /// The exact JSON of the input.
    Json,
    /// `application/x-www-form-urlencoded`
    Form,
    /// `multipart/form-data`
    Multipart,
    /// A text as it is, in UTF-8.
    Text,
    /// Bytes, given as text or in base64.
    Bytes,
}

/// The body of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OperationBody {
    /// Its media type, without the boundary of parts.
    pub media_type: String,
    /// How it is made.
    pub encoding: BodyEncoding,
    /// A request without it is not sent. Where `input` is empty, an object without members is sent instead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// Where in the input the whole body is; empty when its members are fields of the input (`parts`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input: Vec<String>,
    /// Its members. Where the whole body is one value, those that are encoded in a way of their own, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<BodyPart>,
}

/// One member of a body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BodyPart {
    /// Its name in the body.
    pub name: String,
    /// The field of the input it comes from; its name when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// How it is written in a form; by its media type when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<ParameterStyle>,
    /// Members and elements are written as fields of their own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub explode: bool,
    /// Its media type, when the document names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// It is a file: its value is an object with `base64` or `text`, and may have `filename` and `media_type`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub file: bool,
}

/// One credential an operation needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CredentialRequirement {
    /// The name of the security scheme in the document.
    pub scheme: String,
    /// Where the credential goes.
    pub placement: CredentialPlacement,
    /// How a token is got, where the document says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<TokenSource>,
    /// What the credential must be good for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// The name of the credential in the configuration of workers; none as long as the operator has not bound one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential: Option<String>,
    /// The part of it that is meant, as in [`CredentialUse::field`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
}

impl CredentialRequirement {
    /// The credential that was bound, at its place.
    fn bound(&self) -> Option<CredentialUse> {
        let credential = self.credential.clone()?;
        Some(CredentialUse { credential, field: self.field.clone(), placement: self.placement.clone() })
    }
}

impl OperationBinding {
    /// The credentials its requests are sent with: those of the first way for which all are bound, else none if one way needs
    /// none.
    ///
    /// # Errors
    ///
    /// The security schemes for which no credential is bound, when there is no such way.
    pub fn credential_uses(&self) -> Result<Vec<CredentialUse>, Vec<&str>> {
        let bound = |way: &Vec<CredentialRequirement>| way.iter().map(CredentialRequirement::bound).collect();
        let complete: Option<Vec<CredentialUse>> =
            self.credentials.iter().filter(|way| !way.is_empty()).find_map(bound);
        match complete {
            Some(uses) => Ok(uses),
            None if self.credentials.is_empty() || self.credentials.iter().any(Vec::is_empty) => Ok(Vec::new()),
            None => {
                let unbound = self.credentials.iter().flatten().filter(|needed| needed.credential.is_none());
                Err(unbound.map(|needed| needed.scheme.as_str()).collect())
            }
        }
    }
}

/// How a token is got.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TokenSource {
    /// OAuth 2, flow `clientCredentials`.
    ClientCredentials {
        /// Where tokens are asked for.
        token_url: String,
    },
    /// OpenID Connect discovery.
    OpenIdConnect {
        /// The URL of the discovery document.
        url: String,
    },
    /// OAuth 2 with flows that need a person: the broker is given a token.
    Given,
}
