//! A credential that a proxy puts into requests on their way: the program that sends them never has it.

use http::header::{HeaderMap, HeaderName, HeaderValue};
use toolplane_matching::host::{HostPattern, one_spelling};
use url::Url;

use super::Unfit;
use crate::way::is_private;

/// Most hosts of one placement.
const MAX_HOSTS: usize = 32;

/// A header, and the hosts whose requests it is put into. Printing it shows no secret.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProxyHeader {
    hosts: Vec<HostPattern>,
    name: HeaderName,
    value: HeaderValue,
}

impl ProxyHeader {
    /// A header for these hosts: names, addresses, or `*.` and a name.
    pub(super) fn new(hosts: &[String], name: HeaderName, value: HeaderValue) -> Result<Self, Unfit> {
        if hosts.is_empty() || hosts.len() > MAX_HOSTS {
            return Err(Unfit::Host);
        }
        let hosts = hosts.iter().map(|host| host_pattern(host)).collect::<Option<_>>().ok_or(Unfit::Host)?;
        Ok(Self { hosts, name, value })
    }

    /// Puts the header into a request that the proxy is about to send to `target`, in place of any of its name, and says whether it
    /// did. It does so for its hosts alone, and only where nobody reads it on the way: over TLS, or on this machine. Call it for
    /// each request anew, also for one that follows a redirect, and mask what comes back.
    pub fn put(&self, target: &Url, headers: &mut HeaderMap) -> bool {
        let is_meant = target.host_str().and_then(one_spelling).is_some_and(|(host, address)| {
            is_private(target) && self.hosts.iter().any(|pattern| pattern.is_match(&host, address))
        });
        if is_meant {
            headers.insert(&self.name, self.value.clone());
        }
        is_meant
    }
}

/// A star is no host by itself: whoever writes one means all of them, and nobody gives a secret to all of them.
fn host_pattern(text: &str) -> Option<HostPattern> {
    let name = text.strip_prefix("*.").unwrap_or(text);
    HostPattern::parse(text).ok().filter(|_| !name.contains('*'))
}
