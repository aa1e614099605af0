//! Where HTTP tools of this worker may go: what their declaration allows, narrowed to what the operator allows.

use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::profile::{ExecutionBinding, HttpBinding};

#[cfg(test)]
mod tests;

/// Ports of a declaration that names none.
const USUAL_PORTS: [u16; 2] = [80, 443];

/// What the operator allows HTTP tools.
#[derive(Clone, Debug, Default)]
pub(crate) struct Egress {
    entries: Vec<Entry>,
    max_response_bytes: u64,
}

/// An entry that names no host.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("holds `{0}`, which is neither `host` nor `host:port`")]
pub(crate) struct NotAHost(String);

/// One allowed `host` or `host:port`.
#[derive(Clone, Debug)]
struct Entry {
    host: String,
    port: Option<u16>,
}

impl Egress {
    /// Reads `host`, `host:port`, `[v6]:port` or `*.example.org`; an entry that is none of these is refused.
    pub(crate) fn read(allow: &[String], max_response_bytes: u64) -> Result<Self, NotAHost> {
        let entries = allow.iter().map(|text| entry(text).ok_or_else(|| NotAHost(text.clone())));
        Ok(Self { entries: entries.collect::<Result<_, _>>()?, max_response_bytes })
    }

    /// Whether HTTP tools may go nowhere at all.
    pub(crate) fn is_closed(&self) -> bool {
        self.entries.is_empty()
    }

    /// `binding` as it may be run here; bindings that are not HTTP stay as they are.
    ///
    /// Hosts that differ in their ports share the ports allowed for all of them: too little is safe.
    pub(crate) fn narrow(&self, binding: &mut ExecutionBinding) -> Result<(), Box<ToolError>> {
        let ExecutionBinding::Http(http) = binding else { return Ok(()) };
        let (mut hosts, mut ports) = (Vec::new(), None::<Vec<u16>>);
        for wanted in &http.allowed_hosts {
            for (host, own) in self.shared(&wanted.to_ascii_lowercase()) {
                hosts.push(host);
                if let Some(own) = own {
                    ports = Some(match ports {
                        None => own,
                        Some(ports) => ports.into_iter().filter(|port| own.contains(port)).collect(),
                    });
                }
            }
        }
        if let Some(ports) = ports {
            let declared = if http.allowed_ports.is_empty() { &USUAL_PORTS[..] } else { &http.allowed_ports };
            let any = declared.contains(&0);
            http.allowed_ports = ports.into_iter().filter(|port| any || declared.contains(port)).collect();
            // An empty list of ports would mean the usual ones to the next reader of the binding.
            if http.allowed_ports.is_empty() {
                hosts.clear();
            }
        }
        if hosts.is_empty() {
            return Err(denied(http));
        }
        http.allowed_hosts = hosts;
        let most = http.max_response_bytes.unwrap_or(self.max_response_bytes);
        http.max_response_bytes = Some(most.min(self.max_response_bytes));
        Ok(())
    }

    /// What `wanted` and the entries have in common: hosts, each with its ports unless all are allowed.
    fn shared(&self, wanted: &str) -> Vec<(String, Option<Vec<u16>>)> {
        let mut shared: Vec<(String, Option<Vec<u16>>)> = Vec::new();
        for entry in &self.entries {
            let host = match (covers(&entry.host, wanted), covers(wanted, &entry.host)) {
                (true, _) => wanted,
                (false, true) => entry.host.as_str(),
                (false, false) => continue,
            };
            match (shared.iter_mut().find(|(known, _)| known == host), entry.port) {
                (None, port) => shared.push((host.to_owned(), port.map(|port| vec![port]))),
                (Some((_, ports)), None) => *ports = None,
                (Some((_, Some(ports))), Some(port)) => ports.push(port),
                (Some((_, None)), Some(_)) => {}
            }
        }
        shared
    }
}

/// Whether every host `narrow` means is one that `wide` means.
fn covers(wide: &str, narrow: &str) -> bool {
    match wide.strip_prefix("*.") {
        Some(parent) => narrow.strip_suffix(parent).is_some_and(|rest| rest.ends_with('.') && !rest.is_empty()),
        None => wide == narrow,
    }
}

fn entry(text: &str) -> Option<Entry> {
    let (host, port) = match text.rsplit_once(':') {
        // An address with colons is only followed by a port when it is in brackets.
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => (host, Some(port.parse().ok()?)),
        _ => (text, None),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    let plain = |c: char| c.is_ascii_alphanumeric() || ".-:_".contains(c);
    let bare = host.strip_prefix("*.").unwrap_or(&host);
    (!bare.is_empty() && bare.chars().all(plain)).then_some(Entry { host, port })
}

fn denied(http: &HttpBinding) -> Box<ToolError> {
    let message = format!(
        "this worker's operator allows HTTP tools none of the places this one is declared for (`{}`); see `executor.http.allow`",
        http.allowed_hosts.join("`, `")
    );
    let mut error = ToolError::of(codes::EGRESS_DENIED, message);
    error.side_effects = Some("none".to_owned());
    Box::new(error)
}
