//! Which hosts a request may name, and which pages may ask: without it any page a person has open could use the cluster of their machine
//! (DNS rebinding, requests across origins).

use std::net::{IpAddr, SocketAddr};

use axum::body::Body;
use axum::response::Response;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
    HOST, ORIGIN,
};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use tonic::Status;
use toolplane_records::codes;
use toolplane_runtime::ApiError;
use toolplane_runtime::config::GatewayConfig;

/// Who may be named, and who may ask.
#[derive(Debug)]
pub(crate) struct Guard {
    /// The listener is on loopback: so are its callers, and the names of loopback are its own.
    local: bool,
    /// Lowercase, as `host` or `host:port`. Empty beyond loopback: any host may be named.
    hosts: Vec<String>,
    /// As browsers send them.
    origins: Vec<String>,
}

impl Guard {
    pub(crate) fn new(config: &GatewayConfig, address: SocketAddr) -> Self {
        let public = config.public_url.as_deref().and_then(|url| url.parse::<Uri>().ok());
        let public = public.and_then(|url| url.authority().map(|authority| authority.as_str().to_ascii_lowercase()));
        let hosts = config.allowed_hosts.iter().map(|host| host.to_ascii_lowercase()).chain(public);
        let own = config.public_url.iter().map(|url| url.trim_end_matches('/').to_ascii_lowercase());
        Self {
            local: address.ip().is_loopback(),
            hosts: hosts.collect(),
            origins: config.allowed_origins.iter().map(|origin| origin.to_ascii_lowercase()).chain(own).collect(),
        }
    }

    /// Refuses a request that names a host which is not this one, or comes from a page that may not ask.
    pub(crate) fn check(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), Status> {
        // HTTP/2 names the host in the address of the request.
        let named = uri.authority().cloned().or_else(|| headers.get(HOST)?.to_str().ok()?.parse().ok());
        let Some(host) = named else { return Err(refused(codes::HOST_NOT_ALLOWED, "the request names no host")) };
        if !self.may_be_named(&host) {
            let message = format!("the host `{host}` is not one of this listener (`gateway.allowed_hosts`)");
            return Err(refused(codes::HOST_NOT_ALLOWED, message));
        }
        let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
        if origin.to_str().is_ok_and(|origin| self.may_ask(origin)) {
            return Ok(());
        }
        let message = "pages of this origin may not ask (`gateway.allowed_origins`)";
        Err(refused(codes::ORIGIN_NOT_ALLOWED, message))
    }

    fn may_be_named(&self, host: &Authority) -> bool {
        if self.local && is_loopback(host.host()) {
            return true;
        }
        if self.hosts.is_empty() {
            return !self.local;
        }
        let (whole, bare) = (host.as_str().to_ascii_lowercase(), host.host().to_ascii_lowercase());
        self.hosts.iter().any(|allowed| *allowed == whole || *allowed == bare)
    }

    fn may_ask(&self, origin: &str) -> bool {
        let origin = origin.to_ascii_lowercase();
        let local = || {
            let host = origin.parse::<Uri>().ok().and_then(|uri| uri.host().map(str::to_owned));
            host.is_some_and(|host| is_loopback(&host))
        };
        self.origins.contains(&origin) || (self.local && local())
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost") || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn refused(reason: codes::Code, message: impl Into<String>) -> Status {
    ApiError::PermissionDenied { reason, message: message.into() }.into()
}

/// What browsers are told before a page asks: which methods and headers it may use.
pub(super) fn preflight() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("GET, POST, DELETE"));
    let allowed = "authorization, x-api-key, content-type, accept, idempotency-key, traceparent, tracestate, last-event-id, \
                   timeout, grpc-timeout, x-request-id, range, if-range, \
                   mcp-session-id, mcp-protocol-version, mcp-method, mcp-name";
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(allowed));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

/// The headers a page may read.
pub(super) fn expose(headers: &mut HeaderMap) {
    let exposed =
        "mcp-session-id, mcp-protocol-version, www-authenticate, retry-after, etag, accept-ranges, content-range";
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(exposed));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(config: &GatewayConfig, address: &str) -> Guard {
        Guard::new(config, address.parse().unwrap())
    }

    fn answer(guard: &Guard, host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().unwrap());
        }
        guard.check(&headers, &"/mcp".parse().unwrap()).is_ok()
    }

    #[test]
    fn on_loopback_only_names_and_pages_of_loopback_come_in() {
        let guard = guard(&GatewayConfig::default(), "127.0.0.1:7480");
        for host in ["localhost", "localhost:7480", "127.0.0.1:7480", "127.1.2.3", "[::1]:7480"] {
            assert!(answer(&guard, host, None), "{host}");
            assert!(answer(&guard, host, Some("http://localhost:3000")), "{host}");
        }
        for host in ["evil.example", "localhost.evil.example", "10.0.0.1:7480", "localhost:7480@evil"] {
            assert!(!answer(&guard, host, None), "{host}");
        }
        for origin in ["https://evil.example", "null", "http://localhost.evil.example", "file://"] {
            assert!(!answer(&guard, "localhost", Some(origin)), "{origin}");
        }
        assert!(guard.check(&HeaderMap::new(), &"/mcp".parse().unwrap()).is_err(), "no host");
    }

    #[test]
    fn what_is_configured_comes_in_too() {
        let config = GatewayConfig {
            public_url: Some("https://Tools.Example.com".to_owned()),
            allowed_hosts: vec!["proxy:8080".to_owned()],
            allowed_origins: vec!["https://app.example.com".to_owned()],
            ..GatewayConfig::default()
        };
        for address in ["127.0.0.1:7480", "10.0.0.1:7480"] {
            let guard = guard(&config, address);
            assert!(answer(&guard, "tools.example.com", Some("https://app.example.com")));
            assert!(answer(&guard, "proxy:8080", Some("https://tools.example.com")));
            assert!(!answer(&guard, "proxy:8081", None));
            assert!(!answer(&guard, "proxy:8080", Some("https://app.example.com:444")));
            assert!(!answer(&guard, "other.example.com", None));
        }
        assert!(
            answer(&guard(&GatewayConfig::default(), "10.0.0.1:1"), "anything.example", None),
            "nothing to hold it to"
        );
    }
}
