//! Which credential goes where (ours): one record for providers, for the bindings of tools, and for what a worker puts in.
//!
//! A credential is named and never held. Its name is that of `[[credentials]]` in the configuration of workers, who alone know its value.

use serde::{Deserialize, Serialize};

use crate::mcp::McpServer;

/// A credential by its name, and where it is put.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CredentialUse {
    /// Name of the credential in the configuration of the workers.
    pub credential: String,
    /// The part of it that is put there: a text of a `json` credential, `username` or `password` of a `basic` one; the whole of it
    /// when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Where it is put.
    pub placement: CredentialPlacement,
}

/// Where a credential is put. Tagged by `in` in JSON.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "in", rename_all = "snake_case")]
pub enum CredentialPlacement {
    /// A header of the request.
    Header {
        /// Its name.
        name: String,
        /// What stands before the secret, with the space if there is one: `Token `. When absent, the kind of the credential says it:
        /// `Basic `, or `Bearer ` in `Authorization`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prefix: Option<String>,
    },
    /// A parameter of the query. Servers write queries into their logs: a header is better where there is a choice.
    Query {
        /// Its name.
        name: String,
    },
    /// A cookie of the request.
    Cookie {
        /// Its name.
        name: String,
    },
    /// A variable of the environment of a process.
    Env {
        /// Its name.
        name: String,
    },
    /// A file that a process can read, in `/run/credentials`.
    File {
        /// Its name, without folders.
        name: String,
    },
    /// A header of the requests that a process sends through the worker's proxy. The process never has the secret.
    Proxy {
        /// The hosts it is for: 1 to 32 names, addresses, or `*.` and a name.
        hosts: Vec<String>,
        /// The name of the header.
        name: String,
        /// What stands before the secret, as in [`CredentialPlacement::Header`].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prefix: Option<String>,
    },
}

/// Headers that say where a message begins, ends or goes, or what it is. A secret in one of them would change what is sent; cookies have a
/// place of their own.
const OF_CONNECTION: &[&str] = &[
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Why no credential is put into a header of some name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderFault {
    /// No header can have that name.
    #[error("is not the name of a header")]
    Name,
    /// It is for who sends the request.
    #[error("is a header of the connection, of the body or of cookies: no credential is put into one")]
    OfConnection,
}

/// Whether a credential can be put into a header of that name, in any case. Whoever takes such a name asks this.
///
/// # Errors
///
/// Why it cannot.
pub fn check_header(name: &str) -> Result<(), HeaderFault> {
    // A token, RFC 9110, 5.6.2.
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_token) {
        return Err(HeaderFault::Name);
    }
    let name = name.to_ascii_lowercase();
    if OF_CONNECTION.contains(&name.as_str()) || name.starts_with("proxy-") {
        return Err(HeaderFault::OfConnection);
    }
    Ok(())
}

/// Whether a variable, a header, a parameter or an option of that name most likely holds a secret, which is given by a credential then.
pub fn sounds_secret(name: &str) -> bool {
    const WORDS: [&str; 6] = ["key", "auth", "pat", "cookie", "pwd", "credentials"];
    const PARTS: [&str; 6] = ["apikey", "token", "secret", "passw", "credential", "authorization"];
    let name = name.to_ascii_lowercase();
    PARTS.iter().any(|part| name.contains(part)) || name.split(['_', '-', '.']).any(|word| WORDS.contains(&word))
}

/// The first option of a command line that most likely has a secret for its value, without its dashes.
pub fn secret_option(argv: &[String]) -> Option<&str> {
    argv.iter().enumerate().find_map(|(index, argument)| {
        let option = argument.strip_prefix("--")?;
        let (name, has_value) = match option.split_once('=') {
            Some((name, _)) => (name, true),
            None => (option, argv.get(index + 1).is_some_and(|next| !next.starts_with('-'))),
        };
        (has_value && sounds_secret(name)).then_some(name)
    })
}

impl CredentialPlacement {
    /// The header `Authorization`, in the form that the kind of the credential has there.
    pub fn authorization() -> Self {
        Self::Header { name: "Authorization".to_owned(), prefix: None }
    }

    /// Whether it is a part of a request, and not of a process.
    pub fn is_of_requests(&self) -> bool {
        matches!(self, Self::Header { .. } | Self::Query { .. } | Self::Cookie { .. })
    }
}

impl CredentialUse {
    /// The whole of a credential, put there.
    pub fn whole(credential: impl Into<String>, placement: CredentialPlacement) -> Self {
        Self { credential: credential.into(), field: None, placement }
    }

    /// What an MCP server is given: variables of a program, headers of a server over HTTP, and what else is placed for it.
    pub fn of_mcp(server: &McpServer) -> Vec<Self> {
        let env = |(name, credential): (&String, &String)| {
            Self::whole(credential, CredentialPlacement::Env { name: name.clone() })
        };
        let header = |(name, credential): (&String, &String)| {
            Self::whole(credential, CredentialPlacement::Header { name: name.clone(), prefix: None })
        };
        match server {
            McpServer::Stdio(stdio) => {
                stdio.credentials.iter().map(env).chain(stdio.placed_credentials.iter().cloned()).collect()
            }
            McpServer::Http(http) => {
                http.credentials.iter().map(header).chain(http.placed_credentials.iter().cloned()).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::{McpHttpServer, McpStdioServer};

    #[test]
    fn it_is_written_with_its_place() {
        let used = CredentialUse {
            field: Some("token".to_owned()),
            ..CredentialUse::whole("github", CredentialPlacement::authorization())
        };
        let json = r#"{"credential":"github","field":"token","placement":{"in":"header","name":"Authorization"}}"#;
        assert_eq!(serde_json::to_string(&used).unwrap(), json);
        assert_eq!(serde_json::from_str::<CredentialUse>(json).unwrap(), used);
    }

    #[test]
    fn secrets_are_told_by_their_names() {
        for name in ["OPENAI_API_KEY", "apiKey", "GITHUB_PAT", "DB_PASSWORD", "Authorization", "X-Auth", "accessToken"]
        {
            assert!(sounds_secret(name), "{name}");
        }
        for name in ["PATH", "KEYBOARD", "AUTHOR", "TZ", "Accept", "PYTHONPATH"] {
            assert!(!sounds_secret(name), "{name}");
        }
        let argv = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(secret_option(&argv(&["x", "--root", "/", "--api-key", "abc"])), Some("api-key"));
        assert_eq!(secret_option(&argv(&["x", "--token=abc"])), Some("token"));
        assert_eq!(secret_option(&argv(&["x", "--token", "--verbose", "token"])), None);
    }

    #[test]
    fn no_credential_is_put_into_a_header_of_the_connection() {
        for name in ["Authorization", "api-key", "X-Api-Key", "X-Forwarded-Access-Token"] {
            assert_eq!(check_header(name), Ok(()), "{name}");
        }
        for name in ["Host", "CONTENT-LENGTH", "transfer-encoding", "Connection", "Cookie", "Proxy-Authorization"] {
            assert_eq!(check_header(name), Err(HeaderFault::OfConnection), "{name}");
        }
        for name in ["", "api key", "key:", "k\u{e9}y"] {
            assert_eq!(check_header(name), Err(HeaderFault::Name), "{name}");
        }
    }

    #[test]
    fn maps_of_mcp_servers_are_uses() {
        let named = |name: &str| [(name.to_owned(), "key".to_owned())].into();
        let file = CredentialUse::whole("key", CredentialPlacement::File { name: "key.pem".to_owned() });
        let stdio = McpStdioServer {
            credentials: named("API_KEY"),
            placed_credentials: vec![file.clone()],
            ..McpStdioServer::default()
        };
        let query = CredentialUse::whole("key", CredentialPlacement::Query { name: "key".to_owned() });
        let http = McpHttpServer {
            credentials: named("X-Key"),
            placed_credentials: vec![query.clone()],
            ..McpHttpServer::default()
        };
        let env = CredentialPlacement::Env { name: "API_KEY".to_owned() };
        let header = CredentialPlacement::Header { name: "X-Key".to_owned(), prefix: None };
        assert_eq!(CredentialUse::of_mcp(&McpServer::Stdio(stdio)), [CredentialUse::whole("key", env), file]);
        assert_eq!(CredentialUse::of_mcp(&McpServer::Http(http)), [CredentialUse::whole("key", header), query]);
    }
}
