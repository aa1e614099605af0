//! An embedding endpoint that speaks as OpenAI's does: `POST` with `model` and `input`, and a vector of each text in `data`.
//!
//! It is asked over connections that go only where its address leads ([`toolplane_egress`]), with a credential of the broker that is
//! put in at the last moment. No error tells what was sent, what was answered, or the query of the address.

mod answer;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Response, StatusCode};
use serde::Serialize;
use tokio::sync::Semaphore;
use toolplane_catalog::values::Egress;
use toolplane_credentials::{Broker, Credential, CredentialError, Request, put_into_request};
use toolplane_egress::{Clients, Lookup, denied, innermost};
use toolplane_meaning::{ModelId, Quantised};
use toolplane_metrics::table;
use toolplane_openapi::retry_after_ms;
use toolplane_records::credential::CredentialPlacement;
use toolplane_records::ids::ToolId;
use toolplane_records::tool_facts::ToolFacts;
use toolplane_runtime::clock;
use toolplane_runtime::config::MeaningConfig;
use url::Url;

use super::source::{MeaningSource, Purpose, Unread};

/// What the endpoint is called in the scope of a credential. No provider and no tool can be called so, for the colon in it.
pub(super) const PLATFORM: &str = "toolplane:embeddings";
/// Questions that are asked at a time; more wait for their turn, and go without it when that takes too long.
const QUESTIONS_AT_ONCE: usize = 32;

/// An endpoint.
pub(super) struct Endpoint {
    url: Url,
    client: reqwest::Client,
    model: ModelId,
    model_name: String,
    dimensions: Option<u32>,
    batch: usize,
    timeout: Duration,
    credential: Option<Shown>,
    turns: Semaphore,
}

/// The credential that is shown.
#[derive(Debug)]
struct Shown {
    broker: Arc<Broker>,
    name: String,
    placement: CredentialPlacement,
    scope: ToolFacts,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    input: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<u32>,
}

impl fmt::Debug for Endpoint {
    /// The query of the address may hold a secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("place", &self.place()).field("model", &self.model).finish_non_exhaustive()
    }
}

impl Endpoint {
    /// The endpoint of a checked section, whose name `lookup` looks up; nothing is sent yet. Says which key cannot be used, and why.
    pub(super) fn of(
        config: &MeaningConfig,
        broker: Option<Broker>,
        lookup: Arc<dyn Lookup>,
    ) -> Result<Self, (&'static str, String)> {
        let refused = |key: &'static str| move |reason: &str| (key, reason.to_owned());
        let address = config.endpoint.as_deref().unwrap_or_default();
        let url = Url::parse(address).map_err(|_| refused("endpoint")("is not a URL"))?;
        let (host, port) = (url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default());
        let hosts: Vec<String> = std::iter::once(host.to_owned()).chain(config.endpoint_addresses.clone()).collect();
        let egress = Egress::of_places(&hosts, &[port]);
        egress.check_url(&url).map_err(|error| refused("endpoint")(&error.message))?;
        let client = Clients::new(lookup).of(&egress);
        let client = client.map_err(|_| refused("endpoint")("TLS cannot be set up"))?;
        let model_name = config.endpoint_model.clone().unwrap_or_default();
        let revision = config.dimensions.map_or_else(|| "endpoint".to_owned(), |count| format!("endpoint:{count}"));
        let credential = match (&config.credential, broker) {
            (Some(name), Some(broker)) => Some(Shown::of(name, config.credential_header.as_deref(), broker)?),
            _ => None,
        };
        Ok(Self {
            url,
            client,
            model: ModelId::new(&model_name, &revision),
            model_name,
            dimensions: config.dimensions,
            batch: config.batch as usize,
            timeout: Duration::from_millis(config.timeout_ms.into()),
            credential,
            turns: Semaphore::new(QUESTIONS_AT_ONCE),
        })
    }

    /// Where it is, as messages tell it.
    fn place(&self) -> String {
        let port = self.url.port_or_known_default().unwrap_or_default();
        format!("{}:{port}", self.url.host_str().unwrap_or_default())
    }

    fn told(&self, what: impl fmt::Display) -> String {
        format!("the embedding endpoint `{}` {what}", self.place())
    }

    fn away(&self, what: impl fmt::Display) -> Unread {
        Unread::Away { reason: self.told(what), after: None }
    }

    async fn ask(&self, texts: &[String], purpose: Purpose) -> Result<Vec<Option<Quantised>>, Unread> {
        let _turn = match purpose {
            Purpose::Question => Some(self.turns.acquire().await.map_err(|error| self.away(error))?),
            Purpose::Tools => None,
        };
        let body = Body { model: &self.model_name, input: texts, dimensions: self.dimensions };
        let body = serde_json::to_vec(&body).map_err(|error| self.away(error))?;
        let late = |_| self.away(format_args!("did not answer within {} ms", self.timeout.as_millis()));
        let asking = async {
            let response = self.answer(body).await?;
            answer::read(response, texts.len(), self.dimensions).await.map_err(|fault| self.away(fault))
        };
        let answer = tokio::time::timeout(self.timeout, asking).await.map_err(late)??;
        table::EMBEDDING_TOKENS.add([used_for(purpose)], answer.tokens);
        Ok(answer.vectors)
    }

    /// The answer that begins to come, of the status 200. A credential that is refused is asked for once more.
    async fn answer(&self, body: Vec<u8>) -> Result<Response, Unread> {
        let (response, shown) = self.post(body.clone()).await?;
        let (Some(credential), StatusCode::UNAUTHORIZED, Some(mine)) = (&shown, response.status(), &self.credential)
        else {
            return self.of_status(response);
        };
        mine.broker.refused(credential);
        let newer = mine.get().await.map_err(|error| self.away(format_args!("is not asked: {error}")))?;
        if newer.generation() == credential.generation() {
            return self.of_status(response);
        }
        let (response, _) = self.post(body).await?;
        self.of_status(response)
    }

    async fn post(&self, body: Vec<u8>) -> Result<(Response, Option<Credential>), Unread> {
        let (mut url, mut headers) = (self.url.clone(), HeaderMap::new());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let mut shown = None;
        if let Some(mine) = &self.credential {
            let not_asked = |error: CredentialError| self.away(format_args!("is not asked: {error}"));
            let credential = mine.get().await.map_err(not_asked)?;
            let placed = credential.place(&mine.placement, None).map_err(not_asked)?;
            put_into_request(&[placed], &mut headers, &mut url).map_err(|error| self.away(error))?;
            shown = Some(credential);
        }
        let sent = self.client.post(url).headers(headers).body(body).send().await;
        let response = sent.map_err(|error| match denied(&error) {
            Some(reason) => self.away(format_args!("is not asked: {reason}; see `endpoint_addresses`")),
            None => {
                let cause = innermost(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
                self.away(format_args!("cannot be reached{cause}"))
            }
        })?;
        Ok((response, shown))
    }

    fn of_status(&self, response: Response) -> Result<Response, Unread> {
        let status = response.status();
        if status == StatusCode::OK {
            return Ok(response);
        }
        let reason = self.told(format_args!("answers {}", status.as_u16()));
        Err(match status.as_u16() {
            // A text that is too long, or of which it thinks something: never the fault of the others.
            400 | 413 | 422 => Unread::Refused { reason },
            _ => Unread::Away { reason, after: wanted(&response) },
        })
    }
}

/// How long it wants to be left alone.
fn wanted(response: &Response) -> Option<Duration> {
    let said = response.headers().get("retry-after")?.to_str().ok()?;
    retry_after_ms(&[("retry-after".to_owned(), said.to_owned())], clock::now()).map(Duration::from_millis)
}

fn used_for(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Question => "questions",
        Purpose::Tools => "tools",
    }
}

fn outcome(read: &Result<Vec<Option<Quantised>>, Unread>) -> &'static str {
    match read {
        Ok(_) => "answered",
        Err(Unread::Away { .. }) => "failed",
        Err(Unread::Refused { .. }) => "refused",
    }
}

impl MeaningSource for Endpoint {
    fn model(&self) -> &ModelId {
        &self.model
    }

    fn dimension(&self) -> Option<usize> {
        self.dimensions.map(|count| count as usize)
    }

    fn batch(&self) -> usize {
        self.batch
    }

    fn read(&self, texts: Vec<String>, purpose: Purpose) -> BoxFuture<'_, Result<Vec<Option<Quantised>>, Unread>> {
        Box::pin(async move {
            let read = self.ask(&texts, purpose).await;
            table::EMBEDDING_REQUESTS.add([used_for(purpose), outcome(&read)], 1);
            read
        })
    }
}

impl Shown {
    fn of(name: &str, header: Option<&str>, broker: Broker) -> Result<Self, (&'static str, String)> {
        let header = header.unwrap_or("Authorization").to_owned();
        let shown = Self {
            broker: Arc::new(broker),
            name: name.to_owned(),
            placement: CredentialPlacement::Header { name: header, prefix: None },
            scope: ToolFacts::named(ToolId::from_trusted(PLATFORM), PLATFORM, "toolplane"),
        };
        match shown.broker.check(&shown.request()) {
            Err(error @ (CredentialError::OutOfScope { .. } | CredentialError::Unknown { .. })) => {
                let rule =
                    format!("{error}: its scope has to fit the provider `{PLATFORM}`, and no tenant or actor alone");
                Err(("credential", rule))
            }
            // What is missing now may be there when it is needed.
            _ => Ok(shown),
        }
    }

    fn request(&self) -> Request<'_> {
        Request { name: &self.name, provider: Some(PLATFORM), tool: &self.scope, tenant: PLATFORM, actor: None }
    }

    async fn get(&self) -> Result<Credential, CredentialError> {
        self.broker.credential(&self.request()).await
    }
}
