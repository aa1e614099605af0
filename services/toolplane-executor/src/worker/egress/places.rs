//! Places an operator allows, and what they have in common with others.

/// Ports of a declaration that names none.
const USUAL_PORTS: [u16; 2] = [80, 443];

/// Hosts, each with a port or all of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Places(Vec<Entry>);

/// An entry that names no host.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("holds `{0}`, which is neither `host` nor `host:port`")]
pub(crate) struct NotAHost(pub(super) String);

/// One allowed `host` or `host:port`.
#[derive(Clone, Debug)]
struct Entry {
    host: String,
    port: Option<u16>,
}

impl Places {
    pub(super) fn read(allow: &[String]) -> Result<Self, NotAHost> {
        let entries = allow.iter().map(|text| entry(text).ok_or_else(|| NotAHost(text.clone())));
        Ok(Self(entries.collect::<Result<_, _>>()?))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Of `hosts` and `ports`, as bindings name them, those that are allowed; nothing when none are.
    ///
    /// Hosts that differ in their ports share the ports allowed for all of them: too little is safe.
    pub(super) fn narrowed(&self, hosts: &[String], ports: &[u16]) -> Option<(Vec<String>, Vec<u16>)> {
        let (mut left, mut shared) = (Vec::new(), None::<Vec<u16>>);
        for wanted in hosts {
            for (host, own) in self.shared(&wanted.to_ascii_lowercase()) {
                left.push(host);
                if let Some(own) = own {
                    shared = Some(match shared {
                        None => own,
                        Some(ports) => ports.into_iter().filter(|port| own.contains(port)).collect(),
                    });
                }
            }
        }
        let ports = match shared {
            None => ports.to_vec(),
            Some(shared) => {
                let declared = if ports.is_empty() { &USUAL_PORTS[..] } else { ports };
                let any = declared.contains(&0);
                let shared: Vec<u16> = shared.into_iter().filter(|port| any || declared.contains(port)).collect();
                // An empty list of ports would mean the usual ones to the next reader of the binding.
                if shared.is_empty() {
                    return None;
                }
                shared
            }
        };
        (!left.is_empty()).then_some((left, ports))
    }

    /// What `wanted` and the entries have in common: hosts, each with its ports unless all are allowed.
    fn shared(&self, wanted: &str) -> Vec<(String, Option<Vec<u16>>)> {
        let mut shared: Vec<(String, Option<Vec<u16>>)> = Vec::new();
        for entry in &self.0 {
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
