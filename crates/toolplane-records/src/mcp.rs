//! A tool of an MCP server: which server, which of its tools, and who shares a session.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::credential::CredentialUse;

/// What a worker needs to call a tool of a server of the Model Context Protocol, or to ask the server what tools it has (ours).
///
/// It holds no secret: credentials are named, and put in by the worker. Whether what the server claims of a tool is believed is not
/// said here: that is for who reads its declaration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpBinding {
    /// The provider the tool is of.
    pub provider_id: SmolStr,
    /// The server.
    pub server: McpServer,
    /// The tool, as its server names it. Absent: the call asks what tools the server has, and its structured content is that list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Arguments the tool wants in headers as well, for servers over HTTP.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub header_parameters: Vec<McpHeaderParameter>,
    /// Who shares a session with the server.
    #[serde(default, skip_serializing_if = "McpSharing::is_default")]
    pub sharing: McpSharing,
}

/// Where a server is. Tagged by `transport` in JSON. Two bindings with the same server may share a session.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "transport", rename_all = "snake_case")]
pub enum McpServer {
    /// A program, started by the worker in a sandbox, that speaks over its standard streams.
    Stdio(McpStdioServer),
    /// A server over streamable HTTP, asked by the worker within its egress rules.
    Http(McpHttpServer),
}

/// A program that is a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpStdioServer {
    /// Program and arguments, without a shell.
    pub argv: Vec<String>,
    /// Further environment variables with values that are not secret.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Variables of the worker's own environment that are handed on by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env_names: Vec<String>,
    /// Environment variables filled with credentials: variable to the name of the credential.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub credentials: BTreeMap<String, String>,
    /// Further credentials, each at its place: a variable, a file, or requests through the proxy of its sandbox.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub placed_credentials: Vec<CredentialUse>,
    /// What the program needs of its sandbox.
    #[serde(default, skip_serializing_if = "McpSandbox::is_default")]
    pub sandbox: McpSandbox,
}

/// What a program that is a server needs of its sandbox. Nothing is the default.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpSandbox {
    /// Hosts it may reach; a name, an address, or `*.` and the end of names. Without one it has no network.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_hosts: Vec<String>,
    /// Ports it may reach there; 80 and 443 when empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_ports: Vec<u16>,
    /// What it may do in the workspace of the tenant.
    #[serde(default, skip_serializing_if = "McpWorkspace::is_default")]
    pub workspace: McpWorkspace,
    /// Further paths it reads, e.g. where its packages are installed. The operator of the worker allows them too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read_paths: Vec<String>,
}

impl McpSandbox {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What a program that is a server may do in the workspace of the tenant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum McpWorkspace {
    /// It does not see it.
    #[default]
    None,
    /// It reads it.
    Read,
    /// It reads and writes it.
    Write,
}

impl McpWorkspace {
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A server over HTTP.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpHttpServer {
    /// The address of its one path.
    pub url: String,
    /// Further headers with values that are not secret.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Headers filled with credentials: header to the name of the credential.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub credentials: BTreeMap<String, String>,
    /// Further credentials, each at its place in every request: a header, a parameter of the query, or a cookie.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub placed_credentials: Vec<CredentialUse>,
    /// Hosts it may be asked at beside that of the address; a name, or `*.` and the end of names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_hosts: Vec<String>,
    /// Ports it may be asked at beside that of the address.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_ports: Vec<u16>,
}

/// An argument that is sent in a header as well.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct McpHeaderParameter {
    /// Where the argument is: names of properties from the outermost on.
    pub path: Vec<String>,
    /// The name of the header without its beginning `Mcp-Param-`.
    pub header: String,
}

/// Who shares a session with a server. Never more than the calls of one tenant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum McpSharing {
    /// Every call has a session of its own.
    Call,
    /// The calls of one session of a tenant share one.
    Session,
    /// The calls of a tenant share one.
    #[default]
    Tenant,
}

impl McpSharing {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::credential::CredentialPlacement;

    fn check(json: &str, binding: &McpBinding) {
        assert_eq!(&serde_json::from_str::<McpBinding>(json).unwrap(), binding);
        assert_eq!(serde_json::to_string(binding).unwrap(), json);
    }

    #[test]
    fn a_binding_says_where_a_tool_is() {
        let mut binding = McpBinding {
            provider_id: "prov_1".into(),
            server: McpServer::Stdio(McpStdioServer {
                argv: vec!["mcp-server-git".to_owned(), "--repository".to_owned(), ".".to_owned()],
                credentials: BTreeMap::from([("TOKEN".to_owned(), "git-token".to_owned())]),
                ..McpStdioServer::default()
            }),
            tool: Some("git status".to_owned()),
            header_parameters: Vec::new(),
            sharing: McpSharing::Tenant,
        };
        check(
            r#"{"provider_id":"prov_1","server":{"transport":"stdio","argv":["mcp-server-git","--repository","."],"credentials":{"TOKEN":"git-token"}},"tool":"git status"}"#,
            &binding,
        );
        binding.server = McpServer::Http(McpHttpServer {
            url: "https://tools.example.org/mcp".to_owned(),
            headers: BTreeMap::from([("x-team".to_owned(), "a".to_owned())]),
            ..McpHttpServer::default()
        });
        binding.sharing = McpSharing::Call;
        let parameter = McpHeaderParameter { path: vec!["region".to_owned()], header: "Region".to_owned() };
        binding.header_parameters.push(parameter);
        check(
            r#"{"provider_id":"prov_1","server":{"transport":"http","url":"https://tools.example.org/mcp","headers":{"x-team":"a"}},"tool":"git status","header_parameters":[{"path":["region"],"header":"Region"}],"sharing":"call"}"#,
            &binding,
        );
    }

    #[test]
    fn a_credential_may_be_in_a_file() {
        let file = CredentialPlacement::File { name: "key.pem".to_owned() };
        let server = McpStdioServer {
            argv: vec!["a".to_owned()],
            placed_credentials: vec![CredentialUse::whole("key", file)],
            ..McpStdioServer::default()
        };
        let json = r#"{"transport":"stdio","argv":["a"],"placed_credentials":[{"credential":"key","placement":{"in":"file","name":"key.pem"}}]}"#;
        assert_eq!(serde_json::to_string(&McpServer::Stdio(server.clone())).unwrap(), json);
        assert_eq!(serde_json::from_str::<McpServer>(json).unwrap(), McpServer::Stdio(server));
    }

    #[test]
    fn a_binding_without_a_tool_asks_for_all_of_them() {
        let server = McpServer::Http(McpHttpServer { url: "https://h/".to_owned(), ..McpHttpServer::default() });
        let (provider_id, sharing) = ("p".into(), McpSharing::Call);
        let binding = McpBinding { provider_id, server, tool: None, header_parameters: Vec::new(), sharing };
        check(r#"{"provider_id":"p","server":{"transport":"http","url":"https://h/"},"sharing":"call"}"#, &binding);
    }

    #[test]
    fn a_binding_without_a_server_is_none() {
        for json in [
            r#"{"provider_id":"p","tool":"t"}"#,
            r#"{"provider_id":"p","server":{"transport":"stdio"},"tool":"t"}"#,
            r#"{"provider_id":"p","server":{"transport":"telepathy"},"tool":"t"}"#,
        ] {
            assert!(serde_json::from_str::<McpBinding>(json).is_err(), "{json}");
        }
    }
}
