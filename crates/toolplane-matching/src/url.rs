//! URLs as rules see them: parsed once, hosts in one spelling.

#[cfg(test)]
mod tests;

use std::net::IpAddr;

use url::{Host, Url};

use crate::host;

/// Longest URL, in bytes.
pub const MAX_URL: usize = 8192;

/// Zones of names that lead nowhere on the public internet.
const PRIVATE_ZONES: &[&str] = &[
    "localhost",
    "local",
    "localdomain",
    "internal",
    "intranet",
    "lan",
    "home",
    "corp",
    "private",
    "home.arpa",
    "invalid",
];

/// What is known of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlFact {
    /// The scheme in lower case.
    pub scheme: String,
    /// The host: a lower-case ASCII name without a dot at its end, or an address in its usual spelling without brackets.
    pub host: String,
    /// The port, given or the scheme's own.
    pub port: Option<u16>,
    /// The host as an address, however it was spelt.
    pub address: Option<IpAddr>,
    /// Not on the public internet: an address set aside, `localhost`, a name without a dot or of a private zone. What a
    /// public name resolves to is not known here.
    pub non_public: bool,
    /// User name or password in the URL.
    pub has_userinfo: bool,
}

/// A text that is not a URL with a host, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidUrl(pub &'static str);

/// Parses a URL of the form `scheme://host...`.
///
/// Texts that other programs may read differently are refused: with backslashes, blanks or control characters, or without
/// the two slashes.
pub fn parse(text: &str) -> Result<UrlFact, InvalidUrl> {
    if text.len() > MAX_URL {
        return Err(InvalidUrl("is longer than 8192 bytes"));
    }
    if text.contains('\\') || text.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(InvalidUrl("has characters that programs read differently"));
    }
    if !text.contains("://") {
        return Err(InvalidUrl("has no scheme with `://`"));
    }
    let url = Url::parse(text).map_err(|_| InvalidUrl("is not a URL"))?;
    if !text[url.scheme().len()..].starts_with("://") {
        return Err(InvalidUrl("has no scheme with `://`"));
    }
    let (name, address) = match url.host() {
        None => return Err(InvalidUrl("has no host")),
        // Schemes the parser does not know leave names and addresses as they were written.
        Some(Host::Domain(name)) => {
            host::one_spelling(name).ok_or(InvalidUrl("has a host that is no name and no address"))?
        }
        Some(Host::Ipv4(address)) => (address.to_string(), Some(IpAddr::V4(address))),
        Some(Host::Ipv6(address)) => (address.to_string(), Some(IpAddr::V6(address))),
    };
    let non_public = match address {
        Some(address) => !host::is_public(address),
        None => is_private_name(&name),
    };
    Ok(UrlFact {
        scheme: url.scheme().to_owned(),
        port: url.port_or_known_default(),
        has_userinfo: !url.username().is_empty() || url.password().is_some(),
        host: name,
        address,
        non_public,
    })
}

fn is_private_name(host: &str) -> bool {
    let beneath = |zone: &str| host.strip_suffix(zone).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    !host.contains('.') || PRIVATE_ZONES.iter().any(|zone| beneath(zone))
}
