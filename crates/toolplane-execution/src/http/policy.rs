//! Where a tool may send requests.

use std::net::IpAddr;

use reqwest::Method;
use toolplane_records::error::ToolError;
use toolplane_records::profile::HttpBinding;
use toolplane_records::vocabulary::{ErrorClass, Recoverability};
use url::{Host, Url};

use super::address::is_public;
use super::is_safe;
use crate::failure::{codes, excerpt, nothing_done};

/// The allow list of one tool. Hosts are compared after parsing, never as text of a URL.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Policy {
    /// Exact names, lower case, without a final dot.
    names: Vec<String>,
    /// `example.org` for an entry `*.example.org`.
    parents: Vec<String>,
    addresses: Vec<IpAddr>,
    /// Empty: 80 and 443. Containing 0: every port.
    ports: Vec<u16>,
    /// Empty: `GET` and `HEAD`.
    methods: Vec<String>,
}

impl Policy {
    pub(super) fn of(binding: &HttpBinding) -> Self {
        let mut policy = Self {
            names: Vec::new(),
            parents: Vec::new(),
            addresses: Vec::new(),
            ports: binding.allowed_ports.clone(),
            methods: binding.allowed_methods.iter().map(|method| method.to_ascii_uppercase()).collect(),
        };
        for entry in &binding.allowed_hosts {
            let bare = entry.trim_start_matches('[').trim_end_matches(']');
            if let Ok(address) = bare.parse() {
                policy.addresses.push(address);
            } else if let Some(parent) = entry.strip_prefix("*.") {
                policy.parents.push(normal(parent));
            } else {
                policy.names.push(normal(entry));
            }
        }
        policy
    }

    /// Refuses the method unless it is allowed.
    pub(super) fn check_method(&self, method: &Method) -> Result<(), ToolError> {
        let allowed = if self.methods.is_empty() {
            is_safe(method)
        } else {
            self.methods.iter().any(|allowed| allowed == method.as_str())
        };
        if allowed { Ok(()) } else { Err(egress_denied("the method is not allowed for this tool", method.as_str())) }
    }

    /// Refuses the URL unless its scheme, host and port are allowed and it carries no user.
    pub(super) fn check_url(&self, url: &Url) -> Result<(), ToolError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(egress_denied("only http and https are allowed", url.scheme()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(egress_denied("a URL must not carry a user or password", url.host_str().unwrap_or_default()));
        }
        let allowed = match url.host() {
            Some(Host::Domain(name)) => self.allows_name(name),
            Some(Host::Ipv4(address)) => self.addresses.contains(&address.into()),
            Some(Host::Ipv6(address)) => self.addresses.contains(&address.into()),
            None => false,
        };
        if !allowed {
            return Err(egress_denied("the host is not allowed for this tool", url.host_str().unwrap_or_default()));
        }
        let port = url.port_or_known_default().unwrap_or_default();
        let allowed = match self.ports.as_slice() {
            [] => matches!(port, 80 | 443),
            ports => ports.contains(&0) || ports.contains(&port),
        };
        if allowed { Ok(()) } else { Err(egress_denied("the port is not allowed for this tool", &port.to_string())) }
    }

    fn allows_name(&self, name: &str) -> bool {
        let name = normal(name);
        let beneath =
            |parent: &String| name.strip_suffix(parent).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'));
        self.names.contains(&name) || self.parents.iter().any(beneath)
    }

    /// Whether `name`, which is allowed, may stand for `address`: a public one, or one that is listed itself, or
    /// loopback when `localhost` is listed by name.
    pub(super) fn allows_address(&self, name: &str, address: IpAddr) -> bool {
        is_public(address)
            || self.addresses.contains(&address)
            || (address.is_loopback() && normal(name) == "localhost" && self.names.iter().any(|own| own == "localhost"))
    }
}

/// Lower case, without the dot that ends a full name.
fn normal(name: &str) -> String {
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

/// The request may not be sent.
pub(super) fn egress_denied(reason: &str, what: &str) -> ToolError {
    nothing_done(ToolError::new(
        codes::EGRESS_DENIED,
        ErrorClass::SandboxViolation,
        Recoverability::ChangeArgumentsOrPolicy,
        format!("{reason}: `{}`", excerpt(without_query(what))),
    ))
}

/// Queries may hold secrets.
fn without_query(text: &str) -> &str {
    text.split(['?', '#']).next().unwrap_or_default()
}
