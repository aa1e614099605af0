//! Requests into which the proxy of a sandbox puts a credential that their program never has.
//!
//! A program speaks plain HTTP to its proxy. A request to a host that a credential is for is sent on by the worker itself: over TLS, or
//! in plain text where it does not leave the machine, with the header in it. What comes back is masked. Tunnels (`CONNECT`) are the
//! program's own, and nothing is put into them.

mod answer;
mod body;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Method, Response, StatusCode};
use tokio::net::TcpStream;
use toolplane_catalog::values::Egress;
use toolplane_credentials::ProxyHeader;
use toolplane_egress::denied;
use toolplane_sandbox::{Gate, GateError, PlainRequest, Target};
use url::Url;

use crate::credentials::{CredentialSource, Injections};
use crate::http::{EgressGate, innermost};
use body::Body;

/// Fields that are of one connection, or that are written anew.
const OWN_FIELDS: &[&str] = &[
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "trailer",
    "expect",
    "upgrade",
    "te",
    "accept-encoding",
];

/// The grant of a program, with the headers that are put into its requests.
#[derive(Debug)]
pub(super) struct CredentialGate {
    pub(super) gate: EgressGate,
    pub(super) egress: Egress,
    /// Its connections go only where `egress` allows.
    pub(super) client: Client,
    pub(super) headers: Vec<ProxyHeader>,
    /// Held as long as the program may use them, so that they are masked until then.
    pub(super) injections: Arc<Injections>,
    pub(super) credentials: Arc<CredentialSource>,
}

impl Gate for CredentialGate {
    fn connect(&self, target: Target) -> BoxFuture<'_, Result<TcpStream, GateError>> {
        self.gate.connect(target)
    }

    fn answer<'a>(
        &'a self,
        target: &'a Target,
        request: &'a PlainRequest,
        begun: &'a [u8],
        stream: &'a mut TcpStream,
    ) -> Option<BoxFuture<'a, Result<(), GateError>>> {
        let url = sent_to(target, request)?;
        let is_put = |header: &ProxyHeader| header.put(&url, &mut HeaderMap::new());
        self.headers.iter().any(is_put).then(|| -> BoxFuture<'a, _> {
            Box::pin(async move {
                let response = self.ask(url, request, begun, stream).await?;
                if response.status() == StatusCode::UNAUTHORIZED {
                    self.injections.refused();
                }
                answer::write(response, &self.credentials.mask(), request.method == "HEAD", stream).await;
                Ok(())
            })
        })
    }
}

impl CredentialGate {
    /// Sends the request on, and waits for the answer to begin.
    async fn ask(
        &self,
        url: Url,
        request: &PlainRequest,
        begun: &[u8],
        stream: &mut TcpStream,
    ) -> Result<Response, GateError> {
        self.egress.check_url(&url).map_err(|error| GateError::Refused(error.message))?;
        let method = method(&request.method)?;
        let mut headers = fields(&request.fields)?;
        // A compressed answer could not be masked.
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        for credential in &self.headers {
            credential.put(&url, &mut headers);
        }
        let body = Body::of(&request.fields)?;
        let asked = self.client.request(method, url).headers(headers);
        let sent = body.sent_with(asked, begun, stream).await;
        sent.map_err(|error| match denied(&error) {
            Some(reason) => GateError::Refused(reason),
            None => GateError::Failed(std::io::Error::other(format!("the exchange broke off{}", innermost(&error)))),
        })
    }
}

/// Where a request to this target is sent: over TLS, to its port instead of that of plain HTTP, unless it stays on this machine.
fn sent_to(target: &Target, request: &PlainRequest) -> Option<Url> {
    let plain = Url::parse(&format!("http://{}{}", request.authority, request.path)).ok()?;
    let is_here = match plain.host()? {
        url::Host::Domain(name) => name == "localhost",
        url::Host::Ipv4(address) => address.is_loopback(),
        url::Host::Ipv6(address) => address.is_loopback(),
    };
    if is_here {
        return Some(plain);
    }
    let mut url = Url::parse(&format!("https://{}{}", request.authority, request.path)).ok()?;
    if target.port == 80 {
        url.set_port(None).ok()?;
    }
    Some(url)
}

/// What echoes a request, or is none, is not sent.
fn method(text: &str) -> Result<Method, GateError> {
    if text.eq_ignore_ascii_case("TRACE") {
        return Err(GateError::Unfit("the method TRACE is not allowed for any tool".to_owned()));
    }
    Method::from_bytes(text.as_bytes()).map_err(|_| GateError::Unfit("this is not a method".to_owned()))
}

fn fields(given: &[(String, String)]) -> Result<HeaderMap, GateError> {
    let unfit = || GateError::Unfit("the request has a field that is no header".to_owned());
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unfit())?;
        if !OWN_FIELDS.contains(&name.as_str()) {
            headers.append(name, HeaderValue::from_str(value.trim()).map_err(|_| unfit())?);
        }
    }
    Ok(headers)
}

#[cfg(test)]
mod tests;
