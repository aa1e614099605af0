//! Where a tool may send requests.

use std::net::IpAddr;

use toolplane_matching::host::{HostPattern, one_spelling};
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::profile::HttpBinding;
use toolplane_records::visible::excerpt;
use url::Url;

use super::refusals::{invalid_input, refusal};

/// Longest URL, in bytes.
const MAX_URL_BYTES: usize = 8192;
/// Most characters of what was asked for that error texts show.
const SHOWN: usize = 200;

/// The allow list of one tool. Hosts are compared after parsing, never as text of a URL.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Egress {
    hosts: Vec<HostPattern>,
    /// Empty: 80 and 443. Containing 0: every port.
    ports: Vec<u16>,
    /// Empty: `GET` and `HEAD`.
    methods: Vec<String>,
}

impl Egress {
    /// The allow list as it is declared.
    pub fn of(binding: &HttpBinding) -> Self {
        // What is no host was refused when the tool was registered; it allows nothing.
        let methods = binding.allowed_methods.iter().map(|method| method.to_ascii_uppercase()).collect();
        Self { methods, ..Self::of_places(&binding.allowed_hosts, &binding.allowed_ports) }
    }

    /// The allow list of hosts and ports alone, each as in [`HttpBinding`]; a text that is no host allows nothing.
    pub fn of_places(hosts: &[String], ports: &[u16]) -> Self {
        let hosts = hosts.iter().filter_map(|host| HostPattern::parse(host).ok()).collect();
        Self { hosts, ports: ports.to_vec(), methods: Vec::new() }
    }

    /// The URL and the method in capitals, if a request of them may be sent. What the name of the host leads to is decided when
    /// it is sent.
    ///
    /// # Errors
    ///
    /// - [`codes::INPUT_INVALID`] when the URL is longer than 8192 bytes or cannot be parsed, or the method is empty or
    ///   has a character that no method has.
    /// - [`codes::EGRESS_DENIED`] when the method is `CONNECT` or `TRACE` or is not allowed for this tool, and when
    ///   [`Egress::check_url`] refuses the URL.
    pub fn check(&self, url: &str, method: &str) -> Result<(Url, String), Box<ToolError>> {
        if url.len() > MAX_URL_BYTES {
            return Err(invalid_input("url", format!("is longer than {MAX_URL_BYTES} bytes")));
        }
        let url = Url::parse(url)
            .map_err(|error| invalid_input("url", format!("is not a URL: {}", excerpt(&error.to_string(), SHOWN))))?;
        let method = method.to_ascii_uppercase();
        if method.is_empty()
            || !method.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
        {
            return Err(invalid_input("method", "is not a method"));
        }
        if matches!(method.as_str(), "CONNECT" | "TRACE") {
            return Err(egress_denied("method", "the method is not allowed for any tool", &method));
        }
        self.check_method(&method)?;
        self.check_url(&url)?;
        Ok((url, method))
    }

    fn check_method(&self, method: &str) -> Result<(), Box<ToolError>> {
        let allowed = match self.methods.as_slice() {
            [] => matches!(method, "GET" | "HEAD"),
            methods => methods.iter().any(|allowed| allowed == method),
        };
        if allowed { Ok(()) } else { Err(egress_denied("method", "the method is not allowed for this tool", method)) }
    }

    /// Checks that the scheme, host and port of the URL are allowed and that it carries no user and no password.
    ///
    /// Fails with a [`ToolError`] of the code [`codes::EGRESS_DENIED`] when one of them is not so.
    pub fn check_url(&self, url: &Url) -> Result<(), Box<ToolError>> {
        let denied = |reason: &str, what: &str| Err(egress_denied("url", reason, what));
        if !matches!(url.scheme(), "http" | "https") {
            return denied("only http and https are allowed", url.scheme());
        }
        if !url.username().is_empty() || url.password().is_some() {
            return denied("a URL must not carry a user or password", url.host_str().unwrap_or_default());
        }
        self.check_place(url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default())
    }

    /// Checks that the host, a name or an address in any spelling, and the port are allowed.
    ///
    /// Fails with a [`ToolError`] of the code [`codes::EGRESS_DENIED`] when one of them is not.
    pub fn check_place(&self, host: &str, port: u16) -> Result<(), Box<ToolError>> {
        let denied = |reason: &str, what: &str| Err(egress_denied("url", reason, what));
        if !self.allows_host(host) {
            return denied("the host is not allowed for this tool", host);
        }
        let allowed = match self.ports.as_slice() {
            [] => matches!(port, 80 | 443),
            ports => ports.contains(&0) || ports.contains(&port),
        };
        if allowed { Ok(()) } else { denied("the port is not allowed for this tool", &port.to_string()) }
    }

    fn allows_host(&self, host: &str) -> bool {
        let Some((host, address)) = one_spelling(host) else { return false };
        self.hosts.iter().any(|pattern| pattern.is_match(&host, address))
    }

    /// Whether the address is listed itself.
    pub fn lists_address(&self, address: IpAddr) -> bool {
        self.hosts.iter().any(|pattern| pattern.address() == Some(address))
    }

    /// Whether `name` is `localhost` and listed by that name.
    pub fn lists_as_localhost(&self, name: &str) -> bool {
        let is_localhost = one_spelling(name).is_some_and(|(name, _)| name == "localhost");
        is_localhost && self.hosts.iter().any(|pattern| pattern.is_match("localhost", None))
    }
}

/// The request may not be sent, because of `field`.
pub fn egress_denied(field: &str, reason: &str, what: &str) -> Box<ToolError> {
    refusal(
        codes::EGRESS_DENIED,
        field,
        reason.to_owned(),
        format!("{reason}: `{}`", excerpt(without_query(what), SHOWN)),
    )
}

/// Queries may hold secrets.
fn without_query(text: &str) -> &str {
    text.split(['?', '#']).next().unwrap_or_default()
}
