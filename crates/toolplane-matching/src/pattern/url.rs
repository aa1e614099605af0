//! Patterns of URLs.

use toolplane_records::vocabulary::Behavior;

use super::invalid::{InvalidPattern, MAX_PATTERN};
use crate::fit::Fit;
use crate::host::HostPattern;
use crate::url::{self, UrlFact};

/// Which URLs a rule is about: `domain:example.com` (that host), `domain:*.example.com` (its subdomains, not itself),
/// `domain:example.com:8443` (with that port), `domain:*` and `*` (all).
///
/// An allow without a port means the port of the scheme, only for http, https, ws and wss, and never a URL with user name or
/// password. A deny or ask without a port means every port and every scheme. Names are not resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlPattern {
    /// None for every host.
    host: Option<HostPattern>,
    port: Option<u16>,
}

// === impl UrlPattern ===

impl UrlPattern {
    /// Reads a pattern; the error says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, InvalidPattern> {
        let refuse = |why: &str| Err(InvalidPattern(why.to_owned()));
        if text.len() > MAX_PATTERN {
            return refuse("is longer than 4096 bytes");
        }
        if text == "*" || text == "domain:*" {
            return Ok(Self { host: None, port: None });
        }
        let Some(domain) = text.strip_prefix("domain:") else { return refuse("must begin with `domain:`") };
        let (beneath, domain) = domain.strip_prefix("*.").map_or((false, domain), |domain| (true, domain));
        if domain.is_empty() || domain.contains(['*', '/', '@', '?', '#', ' ']) {
            return refuse("must be a host name, `*.` and a host name, or an address, with or without a port");
        }
        let read = url::parse(&format!("ws://{domain}/"));
        let Ok(fact) = read else { return refuse("is not a host name or address") };
        let (_, port) = domain.rsplit_once(':').unwrap_or((domain, ""));
        let port = if port.is_empty() || port.contains(']') { None } else { fact.port };
        let host =
            HostPattern::of(beneath, fact.host, fact.address).map_err(|fault| InvalidPattern(fault.0.to_owned()))?;
        Ok(Self { host: Some(host), port })
    }

    /// Whether the pattern fits every URL there is.
    pub fn is_any(&self) -> bool {
        self.host.is_none()
    }

    /// How well the pattern fits a URL.
    pub fn fit(&self, behavior: Behavior, url: &UrlFact) -> Fit {
        let allow = behavior == Behavior::Allow;
        let host = self.host.as_ref().is_none_or(|host| {
            // An address inside another is a way to the same machine.
            let carried = match (host.address(), url.address) {
                (Some(wanted), Some(given)) => wanted.to_canonical() == given.to_canonical(),
                _ => false,
            };
            host.is_match(&url.host, url.address) || (!allow && carried)
        });
        let port = match self.port {
            Some(port) => url.port == Some(port),
            None => !allow || url.port == own_port(&url.scheme),
        };
        let usual = !allow || (own_port(&url.scheme).is_some() && !url.has_userinfo);
        Fit::from(host && port && usual)
    }
}

fn own_port(scheme: &str) -> Option<u16> {
    match scheme {
        "http" | "ws" => Some(80),
        "https" | "wss" => Some(443),
        _ => None,
    }
}
