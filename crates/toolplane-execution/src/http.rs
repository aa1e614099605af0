//! HTTP requests within an allow list.
//!
//! Where a request may go is decided three times: on the parsed URL, on every redirect, and on the addresses a name
//! resolves to, and only an address that was decided on is connected to. To another origin a redirect takes neither a body
//! nor any header that could hold a secret. Proxies of the environment are not used. A body is never decompressed, so what
//! is counted is what is kept.

pub(crate) mod body;
mod gate;
mod request;
mod spill;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use reqwest::header;
use reqwest::{Client, Method, Response, StatusCode};
use toolplane_catalog::values::{self, Egress};
use toolplane_records::codes;
use toolplane_records::credential::CredentialUse;
use toolplane_records::error::{ToolError, advice};
use toolplane_records::profile::{ExecutionBinding, HttpBinding};
use url::Url;

use crate::adapter::Adapter;
use crate::call::{Call, Context};
use crate::credentials::{CredentialSource, Injections};
use crate::deadline::bounded;
use crate::failure::{excerpt, invalid_binding, something_may_be_done};
use crate::outcome::Outcome;
use crate::progress::{Counts, Meter, final_status};
pub use gate::EgressGate;
pub(crate) use request::PreparedRequest;
pub(crate) use toolplane_egress::Clients;
use toolplane_egress::denied;
pub use toolplane_egress::{Lookup, SystemLookup};

const MAX_REDIRECTS: usize = 3;

/// Sends HTTP requests.
#[derive(Debug)]
pub(crate) struct Http {
    requests: Arc<Requests>,
    default_timeout: Duration,
    /// Where large bodies are until they are kept.
    outputs: Option<PathBuf>,
}

impl Http {
    pub(crate) fn new(requests: Arc<Requests>, default_timeout: Duration, outputs: Option<PathBuf>) -> Self {
        Self { requests, default_timeout, outputs }
    }

    async fn fetch(&self, call: &Call, binding: &HttpBinding, meter: &mut Meter) -> Result<Outcome, ToolError> {
        let egress = Egress::of(binding);
        let request = PreparedRequest::read(call, &egress)?;
        let repeatable = request.is_safe();
        let sent = self.requests.send(call, &egress, request, &binding.credentials, repeatable).await?;
        let most = binding.max_response_bytes.unwrap_or(body::DEFAULT_MAX_BYTES);
        let most = call.limits.max_output_bytes.map_or(most, |bytes| bytes.min(most));
        let read = body::read(sent, most, self.outputs.as_deref(), meter, &self.requests.credentials).await;
        Ok(body::outcome(read))
    }
}

impl Adapter for Http {
    fn pool(&self) -> &'static str {
        "http"
    }

    fn needs_sandbox(&self) -> bool {
        false
    }

    fn execute<'a>(&'a self, call: &'a Call, context: &'a Context) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let ExecutionBinding::Http(binding) = &call.binding else {
                return Outcome::failure(invalid_binding("the tool is not bound to HTTP"));
            };
            let mut meter = Meter::start(&context.progress);
            let fetch = async { self.fetch(call, binding, &mut meter).await.unwrap_or_else(Outcome::failure) };
            let outcome = bounded(call.limits.timeout.unwrap_or(self.default_timeout), context, fetch).await;
            let counts = Counts { bytes_read: Some(outcome.output_bytes), ..Counts::default() };
            meter.finish(counts, final_status(&outcome));
            outcome
        })
    }
}

/// Sends requests of every adapter that asks over HTTP: within an allow list, with the credentials of the binding.
#[derive(Debug)]
pub(crate) struct Requests {
    clients: Clients,
    pub(crate) credentials: Arc<CredentialSource>,
}

/// An answer that begins to come, and what it was asked with.
pub(crate) struct Sent {
    /// Where it comes from. May hold a secret in its query.
    url: Url,
    response: Response,
    /// Held until the answer was read, so that it is masked until then.
    injections: Injections,
}

impl Requests {
    pub(crate) fn new(lookup: Arc<dyn Lookup>, credentials: Arc<CredentialSource>) -> Self {
        Self { clients: Clients::new(lookup), credentials }
    }

    /// Sends the request with the credentials of `uses`. Where the server refuses them (401) and sending again does no harm
    /// (`repeatable`), it is sent once more if one of them has another value by then.
    pub(crate) async fn send(
        &self,
        call: &Call,
        egress: &Egress,
        request: PreparedRequest,
        uses: &[CredentialUse],
        repeatable: bool,
    ) -> Result<Sent, ToolError> {
        let client = self.clients.of(egress).map_err(|error| invalid_binding(error.to_string()))?;
        let injections = self.credentials.place(call, uses).await?;
        let first = once(&client, request.clone(), egress, injections, repeatable).await?;
        if first.response.status() != StatusCode::UNAUTHORIZED || first.injections.is_empty() {
            return Ok(first);
        }
        first.injections.refused();
        if !repeatable {
            return Ok(first);
        }
        // What it lacks now is no better answer than that of the server.
        match self.credentials.place(call, uses).await {
            Ok(newer) if newer.differs_from(&first.injections) => {
                let again = once(&client, request, egress, newer, repeatable).await?;
                if again.response.status() == StatusCode::UNAUTHORIZED {
                    again.injections.refused();
                }
                Ok(again)
            }
            _ => Ok(first),
        }
    }
}

/// Sends the request and follows redirects, each checked like the first URL.
async fn once(
    client: &Client,
    mut request: PreparedRequest,
    egress: &Egress,
    injections: Injections,
    repeatable: bool,
) -> Result<Sent, ToolError> {
    request.inject(&injections)?;
    let mut effects = false;
    for _ in 0..=MAX_REDIRECTS {
        let had_effects = effects;
        effects |= !request.is_safe();
        let response = request.send(client).await.map_err(|error| {
            let reached = had_effects || (effects && !error.is_connect());
            with_effects(unreachable(&error, &request.url), reached, repeatable)
        })?;
        let Some(location) = redirect_target(&response) else {
            return Ok(Sent { url: request.url, response, injections });
        };
        follow(&mut request, &location, response.status(), egress).map_err(|refused| match effects {
            // The server that redirects has had the request.
            true => something_may_be_done(refused),
            false => refused,
        })?;
    }
    let refused = egress_denied("the server redirects more than 3 times", request.url.as_str());
    Err(if effects { something_may_be_done(refused) } else { refused })
}

/// The error with what is known of effects, and the advice that goes with it.
fn with_effects(error: ToolError, reached: bool, repeatable: bool) -> ToolError {
    if !reached {
        return error;
    }
    let error = something_may_be_done(error);
    let recoverability = advice(error.recoverability, repeatable, error.side_effects.as_deref());
    ToolError { recoverability, ..error }
}

/// Turns the request to where the server sends it, if it may go there.
fn follow(request: &mut PreparedRequest, location: &str, status: StatusCode, policy: &Egress) -> Result<(), ToolError> {
    let target = request
        .url
        .join(location)
        .map_err(|_| egress_denied("the server redirects to something that is not a URL", location))?;
    policy.check_url(&target).map_err(|error| *error)?;
    if request.url.scheme() == "https" && target.scheme() == "http" {
        return Err(egress_denied("the server redirects from https to http", target.as_str()));
    }
    request.redirect(target, status)
}

fn redirect_target(response: &Response) -> Option<String> {
    let redirects = matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = response.headers().get(header::LOCATION).filter(|_| redirects)?;
    Some(String::from_utf8_lossy(location.as_bytes()).into_owned())
}

/// The request may not be sent.
pub(crate) fn egress_denied(reason: &str, what: &str) -> ToolError {
    *values::egress_denied("url", reason, what)
}

/// Why no response came. Never shows the query of the URL, which may hold secrets.
fn unreachable(error: &reqwest::Error, url: &Url) -> ToolError {
    if let Some(reason) = denied(error) {
        return egress_denied(&reason, url.host_str().unwrap_or_default());
    }
    let place = format!("{}:{}", url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default());
    let what = if error.is_connect() { "cannot be reached" } else { "broke off" };
    let message = format!("`{}` {what}{}", excerpt(&place), innermost(error));
    ToolError::of(codes::HTTP_UNREACHABLE, message)
}

/// What lies at the bottom of `error`, to be added to a text.
pub(crate) fn innermost(error: &reqwest::Error) -> String {
    toolplane_egress::innermost(error).map(|cause| excerpt(&format!(": {cause}"))).unwrap_or_default()
}

/// Methods that are safe to send again as they are.
fn is_safe(method: &Method) -> bool {
    *method == Method::GET || *method == Method::HEAD
}

#[cfg(test)]
mod tests;
