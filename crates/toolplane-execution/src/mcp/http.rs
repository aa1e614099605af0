//! Servers over HTTP: requests within the allow list of the server.

use std::sync::Arc;

use ::http::{Request, Response};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{StreamExt as _, TryStreamExt as _};
use parking_lot::Mutex;
use reqwest::Client;
use toolplane_catalog::values::Egress;
use toolplane_egress::denied;
use toolplane_mcp::{Body, Guard, HttpEndpoint, HttpSend, SendError, Transport};
use toolplane_records::error::ToolError;
use toolplane_records::mcp::McpHttpServer;
use url::Url;

use crate::credentials::RequestCredentials;
use crate::failure::invalid_binding;
use crate::http::{Clients, Lookup, egress_denied, innermost};

/// Asks servers over HTTP.
#[derive(Debug)]
pub(super) struct HttpServers {
    clients: Clients,
}

impl HttpServers {
    pub(super) fn new(lookup: Arc<dyn Lookup>) -> Self {
        Self { clients: Clients::new(lookup) }
    }

    /// Refuses a server that is at a place nobody may go to.
    pub(super) fn check(&self, server: &McpHttpServer) -> Result<(), ToolError> {
        let (url, egress) = place(server)?;
        egress.check_url(&url).map_err(|error| *error)
    }

    /// What asks `server`, with what is `given` in every request. Why a request was refused is put into `fault`.
    pub(super) fn start(
        &self,
        server: &McpHttpServer,
        given: RequestCredentials,
        fault: Arc<Mutex<Option<ToolError>>>,
    ) -> Result<(Transport, Guard), ToolError> {
        let (url, egress) = place(server)?;
        let client = self.clients.of(&egress).map_err(|error| invalid_binding(innermost(&error)))?;
        let headers = server.headers.clone().into_iter().collect();
        let send = Arc::new(Within { client, egress, given, fault });
        let endpoint = HttpEndpoint { url: url.into(), headers, send };
        Ok((Transport::Http(endpoint), Box::new(())))
    }
}

/// Host and port of the address of a server, a host that is an IPv6 address without brackets; nothing when it has none.
pub fn place_of_server(url: &str) -> Option<(String, u16)> {
    let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let host = url.host_str()?.trim_start_matches('[').trim_end_matches(']').to_ascii_lowercase();
    Some((host, url.port_or_known_default()?))
}

/// Where the server is, and where it may be asked: at the host and port of its address, and at what the binding adds.
fn place(server: &McpHttpServer) -> Result<(Url, Egress), ToolError> {
    let url = Url::parse(&server.url).map_err(|error| invalid_binding(format!("`server.url`: {error}")))?;
    let (host, port) =
        place_of_server(&server.url).ok_or_else(|| invalid_binding("`server.url` has no host or no port"))?;
    let hosts: Vec<String> = std::iter::once(host).chain(server.allowed_hosts.iter().cloned()).collect();
    let ports: Vec<u16> = std::iter::once(port).chain(server.allowed_ports.iter().copied()).collect();
    Ok((url, Egress::of_places(&hosts, &ports)))
}

/// Sends within an allow list. Redirects are answers.
#[derive(Debug)]
struct Within {
    client: Client,
    egress: Egress,
    /// Put in last, so that nothing else that knows the request has it.
    given: RequestCredentials,
    /// Takes the refusal of a request, for the call that waits for the session.
    fault: Arc<Mutex<Option<ToolError>>>,
}

impl HttpSend for Within {
    fn send(&self, request: Request<Bytes>) -> BoxFuture<'static, Result<Response<Body>, SendError>> {
        let allowed = self.allowed(&request);
        let (client, given, fault) = (self.client.clone(), self.given.clone(), Arc::clone(&self.fault));
        Box::pin(async move {
            allowed.map_err(|error| refused(error, &fault))?;
            let mut request = reqwest::Request::try_from(request.map(reqwest::Body::from))
                .map_err(|error| SendError::NotSent(format!("the request cannot be made{}", innermost(&error))))?;
            let (mut url, host) = (request.url().clone(), request.url().host_str().unwrap_or_default().to_owned());
            given.put_into(request.headers_mut(), &mut url).map_err(|error| refused(error, &fault))?;
            *request.url_mut() = url;
            let response = client.execute(request).await.map_err(reqwest::Error::without_url);
            let response = response.map_err(|error| match denied(&error) {
                Some(reason) => refused(egress_denied(&reason, &host), &fault),
                None if error.is_connect() => {
                    SendError::NotSent(format!("the server cannot be reached{}", innermost(&error)))
                }
                None => SendError::MayBeSent(format!("the exchange broke off{}", innermost(&error))),
            })?;
            let (status, headers) = (response.status(), response.headers().clone());
            let body = response.bytes_stream().map_err(|error| format!("the answer broke off{}", innermost(&error)));
            let mut answer = Response::new(body.boxed());
            (*answer.status_mut(), *answer.headers_mut()) = (status, headers);
            Ok(answer)
        })
    }
}

impl Within {
    fn allowed(&self, request: &Request<Bytes>) -> Result<(), ToolError> {
        let url = Url::parse(&request.uri().to_string()).map_err(|error| invalid_binding(error.to_string()))?;
        self.egress.check_url(&url).map_err(|error| *error)
    }
}

fn refused(error: ToolError, fault: &Mutex<Option<ToolError>>) -> SendError {
    let message = error.message.clone();
    *fault.lock() = Some(error);
    SendError::NotSent(message)
}
