//! Which way a secret may go.

use std::net::IpAddr;

use url::{Host, Url};

/// Whether nobody reads on the way what is sent there: TLS, or plain HTTP that does not leave the machine.
pub fn is_private(url: &Url) -> bool {
    let is_here = match url.host() {
        Some(Host::Ipv4(ip)) => IpAddr::V4(ip).is_loopback(),
        Some(Host::Ipv6(ip)) => IpAddr::V6(ip).is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    url.scheme() == "https" || (url.scheme() == "http" && is_here)
}
