//! The head of a request to the proxy: whom it is for, and what is sent on.

use crate::network::{PlainRequest, Target};

/// Most bytes of a head.
pub(crate) const MAX_HEAD: usize = 16 * 1024;
/// Longest name of a host.
const MAX_HOST: usize = 253;

/// Fields of a head that are between the program and the proxy, or that the proxy writes itself.
const OWN_FIELDS: &[&str] =
    &["host", "connection", "proxy-connection", "proxy-authorization", "keep-alive", "upgrade", "te"];

/// A head that was understood.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) target: Target,
    /// What the host is sent first; nothing through a tunnel.
    pub(crate) plain: Option<PlainRequest>,
}

impl PlainRequest {
    /// The head as a host is sent it, which is told that nothing follows this request.
    pub(crate) fn head(&self) -> Vec<u8> {
        let Self { method, authority, path, fields } = self;
        let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {authority}\r\n");
        for (name, value) in fields {
            head.push_str(&format!("{name}:{value}\r\n"));
        }
        head.push_str("Connection: close\r\n\r\n");
        head.into_bytes()
    }
}

/// Where the head in `bytes` ends, when it is there.
pub(crate) fn end_of_head(bytes: &[u8]) -> Option<usize> {
    bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4)
}

/// Reads a whole head. Nothing when it is not exactly what the protocol says: a host must never read another request than was judged.
pub(crate) fn read(head: &[u8]) -> Option<Request> {
    let text = std::str::from_utf8(head).ok()?.strip_suffix("\r\n\r\n")?;
    let mut lines = text.split("\r\n");
    let [method, address, version] = lines.next()?.split(' ').collect::<Vec<_>>().try_into().ok()?;
    if !matches!(version, "HTTP/1.1" | "HTTP/1.0") || !is_token(method) {
        return None;
    }
    let fields = lines.map(field).collect::<Option<Vec<_>>>()?;
    if method == "CONNECT" {
        let (host, port) = authority(address, None)?;
        return Some(Request { target: Target { host, port, tunnel: true }, plain: None });
    }
    let rest = address.strip_prefix("http://")?;
    let (name, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let (host, port) = authority(name, Some(80))?;
    if !path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#') {
        return None;
    }
    let root = if path.starts_with('/') { "" } else { "/" };
    let sent = fields.into_iter().filter(|(name, _)| !OWN_FIELDS.contains(&name.to_ascii_lowercase().as_str()));
    let plain = PlainRequest {
        method: method.to_owned(),
        authority: name.to_owned(),
        path: format!("{root}{path}"),
        fields: sent.map(|(name, value)| (name.to_owned(), value.to_owned())).collect(),
    };
    Some(Request { target: Target { host, port, tunnel: false }, plain: Some(plain) })
}

fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}

/// Name and value of a field; nothing for one that goes on over lines or holds controls.
fn field(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    let plain = is_token(name) && !value.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t');
    plain.then_some((name, value))
}

/// Host and port of `text`; without a port, `default`.
fn authority(text: &str, default: Option<u16>) -> Option<(String, u16)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => {
            let (host, port) = rest.split_once(']')?;
            host.parse::<std::net::Ipv6Addr>().ok()?;
            (host, if port.is_empty() { None } else { Some(port.strip_prefix(':')?) })
        }
        None => {
            let (host, port) = text.split_once(':').map_or((text, None), |(host, port)| (host, Some(port)));
            let plain = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
            if host.is_empty() || host.len() > MAX_HOST || !plain {
                return None;
            }
            (host, port)
        }
    };
    let port = match port {
        None => default?,
        Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => port.parse().ok().filter(|port| *port > 0)?,
        Some(_) => return None,
    };
    Some((host.to_ascii_lowercase(), port))
}

#[cfg(test)]
mod tests;
