//! Providers: where tools come from that nobody declared by hand (ours).
//!
//! A provider is a record of one tenant. What it has is asked again and again; each of its tools is an ordinary registration, and a
//! [`ProvidedTool`] beside it says whether somebody has looked at it. Credentials are named here, and never held.

mod status;
mod tool;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::ids::{ProviderId, TenantId, ToolId};
use crate::mcp::McpWorkspace;
use crate::payload::Digest;
use crate::time::Timestamp;
use crate::vocabulary::{ProviderKind, ProviderTrust, SessionSharing};

pub use crate::credential::{CredentialPlacement, CredentialUse};
pub use status::{FaultReport, ProviderStatus, ToolCounts};
pub use tool::{ProvidedTool, ToolRefusal, ToolReview};

/// What the id of a provider's tool begins with; the id of the provider and a `/` follow. No tool that is declared by hand may have such
/// an id.
pub const TOOL_ID_PREFIX: &str = "provider:";

/// The id of the provider in the id of a tool, and its name there; nothing when it is no tool of a provider.
pub fn provider_of(tool_id: &ToolId) -> Option<(&str, &str)> {
    tool_id.as_str().strip_prefix(TOOL_ID_PREFIX)?.rsplit_once('/')
}

/// Whether a tool is one of the provider with that id.
pub fn is_tool_of(tool_id: &ToolId, provider_id: &str) -> bool {
    provider_of(tool_id).is_some_and(|(of, _)| of == provider_id)
}

/// What the id of the tool by which a provider is asked ends with; no tool of a provider can be called so.
const LIST: &str = "/:list";

/// Most bytes of a document, handed in or fetched.
pub const MAX_DOCUMENT_BYTES: u64 = 32 * 1024 * 1024;

/// The id of the tool by which the platform asks a provider what it has. Only processes of the cluster may call it.
pub fn list_tool(provider_id: &ProviderId) -> String {
    format!("{TOOL_ID_PREFIX}{provider_id}{LIST}")
}

/// Whether it is a tool by which the platform asks a provider what it has.
pub fn is_list_tool(tool_id: &ToolId) -> bool {
    tool_id.as_str().strip_prefix(TOOL_ID_PREFIX).is_some_and(|rest| rest.ends_with(LIST))
}

/// Where some tools of a tenant come from, and what is allowed to those who run them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provider {
    /// Version of the standard.
    #[serde(default = "crate::schema_version")]
    pub schema_version: SmolStr,
    /// Identifier within the tenant; part of the id of each of its tools.
    pub provider_id: ProviderId,
    /// Owner.
    pub tenant: TenantId,
    /// The namespace of its tools; no other provider of the tenant has it.
    pub namespace: String,
    /// For people.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// Where it is.
    pub source: ProviderSource,
    /// What it, and what runs its tools, may reach in the network; nothing beyond its own address when empty.
    #[serde(default, skip_serializing_if = "Reach::is_empty")]
    pub reach: Reach,
    /// The credentials it is given, by name, and where each is put.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub credentials: Vec<CredentialUse>,
    /// Of an OpenAPI document: the credential of each security scheme, by the name of the scheme. The document says where it is put.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scheme_credentials: BTreeMap<String, String>,
    /// Which of its tools may be called before somebody has looked at them.
    #[serde(default)]
    pub trust: ProviderTrust,
    /// Which calls may share one session with it.
    #[serde(default)]
    pub sessions: SessionSharing,
    /// Milliseconds between two looks at what it has; only when asked or told to when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_interval_ms: Option<u64>,
    /// Who made it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub created_by: String,
    /// When it was made.
    #[serde(default)]
    pub created_at: Timestamp,
    /// Who changed it last.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub changed_by: String,
    /// When it was changed last; absent when it never was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed_at: Option<Timestamp>,
    /// Grows with every change of this record.
    #[serde(default)]
    pub revision: u64,
}

/// Where a provider is. Tagged by `kind` in JSON, with the words of [`ProviderKind`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ProviderSource {
    /// An MCP server that a worker starts in the sandbox and talks to over its standard input and output.
    McpStdio {
        /// Program and arguments, started without a shell.
        argv: Vec<String>,
        /// Further environment variables. A secret is no value here: it is a credential that is put into the environment.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        env: BTreeMap<String, String>,
        /// Environment variables of the worker that are passed on, by name.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pass_env: Vec<String>,
        /// Paths outside of the workspace that it may read.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        read_only_paths: Vec<String>,
        /// What it may do in the workspace of the tenant.
        #[serde(default, skip_serializing_if = "McpWorkspace::is_default")]
        workspace: McpWorkspace,
    },
    /// An MCP server at a URL.
    McpHttp {
        /// Its address.
        url: String,
        /// Further headers of every request. A secret is no value here: it is a credential that is put into a header.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        headers: BTreeMap<String, String>,
    },
    /// The operations of an OpenAPI document.
    Openapi {
        /// The document.
        document: ProviderDocument,
        /// Which of its operations become tools; all of them when it says nothing.
        #[serde(default, skip_serializing_if = "OperationSelection::is_all")]
        selection: OperationSelection,
        /// The server to ask, in place of those the document names.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        server_url: String,
        /// Values of the variables in the URL of the document's server.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        server_variables: BTreeMap<String, String>,
    },
    /// Tools that workers bring along. One of their native tools, `<native_prefix>list_tools`, says what there is.
    Worker {
        /// What the names of these tools begin with, e.g. `acme.`.
        native_prefix: String,
    },
    /// A file of registrations.
    File {
        /// Its path, as the surface role sees it.
        path: String,
    },
}

impl ProviderSource {
    /// The kind as a word.
    pub const fn kind(&self) -> ProviderKind {
        match self {
            Self::McpStdio { .. } => ProviderKind::McpStdio,
            Self::McpHttp { .. } => ProviderKind::McpHttp,
            Self::Openapi { .. } => ProviderKind::Openapi,
            Self::Worker { .. } => ProviderKind::Worker,
            Self::File { .. } => ProviderKind::File,
        }
    }
}

/// Where an OpenAPI document is. Tagged by `from` in JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub enum ProviderDocument {
    /// Fetched at each look, by a worker.
    Url {
        /// Its address.
        url: String,
    },
    /// Handed in with the provider, and kept.
    Uploaded {
        /// SHA-256 over its exact bytes.
        digest: Digest,
    },
}

/// Which operations of a document become tools. An operation has to be in every list that is not empty, and not left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationSelection {
    /// Operations by id, or `METHOD /path`; `*` stands for any text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<String>,
    /// Tags of the document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Methods, in capitals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<String>,
    /// Operations that are left out, written as in `operations`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<String>,
}

impl OperationSelection {
    /// Whether it says nothing, and so selects every operation.
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }
}

/// What may be reached in the network.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// Exact names or addresses, or `*.example.org` for subdomains. Loopback must be named like any other host.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Ports at these hosts; 80 and 443 when empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<u16>,
}

impl Reach {
    /// Whether it names nothing.
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty() && self.ports.is_empty()
    }
}
