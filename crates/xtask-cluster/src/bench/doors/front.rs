//! Calls over HTTP: as JSON, and as MCP with and without a session.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use reqwest::RequestBuilder;
use serde_json::{Value, json};
use toolplane_testkit::Problem;

use super::INPUT;

/// What an MCP client says at the beginning of a session.
const VERSION: &str = "2025-11-25";
/// The version without sessions.
const STATELESS: &str = "2026-07-28";
/// Stands for the id of a request.
const ID: &str = "\"<id>\"";
const SESSION_ID: &str = "mcp-session-id";

/// Makes one call again and again.
#[derive(Clone)]
pub(super) struct Front(Arc<Place>);

struct Place {
    client: reqwest::Client,
    url: String,
    headers: Vec<(&'static str, String)>,
    body: String,
    /// The id of the next request: within a session the same id is the same call, and is answered from its record.
    next: AtomicU64,
    /// What the answer of a call without an error holds.
    good: &'static str,
}

impl Front {
    /// Calls of `native.echo` as JSON, at a gateway.
    pub(super) fn json(http: &str) -> Self {
        let body = format!(r#"{{"spec":{{"tool_name":"native.echo","model_input":{INPUT}}}}}"#);
        Self::at(format!("{http}/v1/call"), Vec::new(), body, r#""status":"succeeded""#)
    }

    /// Calls of `tool` without a session.
    pub(super) fn stateless(http: &str, tool: &str) -> Self {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": STATELESS, "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
        });
        let headers = vec![
            ("mcp-protocol-version", STATELESS.to_owned()),
            ("mcp-method", "tools/call".to_owned()),
            ("mcp-name", tool.to_owned()),
        ];
        Self::at(format!("{http}/mcp"), headers, calling(tool, Some(meta)), r#""structuredContent""#)
    }

    /// Calls of `tool` in a session that is begun here.
    pub(super) async fn session(http: &str, tool: &str) -> Result<Self, Problem> {
        let params = json!({
            "protocolVersion": VERSION, "capabilities": {}, "clientInfo": { "name": "bench", "version": "1" },
        });
        let begin = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string();
        let url = format!("{http}/mcp");
        let first = Self::at(url.clone(), Vec::new(), begin, "protocolVersion");
        let answer = first.request().send().await.map_err(no_answer)?;
        let mut headers = vec![("mcp-protocol-version", VERSION.to_owned())];
        if let Some(id) = answer.headers().get(SESSION_ID).and_then(|id| id.to_str().ok()) {
            headers.push((SESSION_ID, id.to_owned()));
        }
        answer.bytes().await.map_err(no_answer)?;
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string();
        let told = Self::at(url.clone(), headers.clone(), initialized, "");
        told.request().send().await.map_err(no_answer)?;
        Ok(Self::at(url, headers, calling(tool, None), r#""content""#))
    }

    fn at(url: String, headers: Vec<(&'static str, String)>, body: String, good: &'static str) -> Self {
        Self(Arc::new(Place { client: reqwest::Client::new(), url, headers, body, next: AtomicU64::new(1), good }))
    }

    fn request(&self) -> RequestBuilder {
        let Place { client, url, headers, body, .. } = &*self.0;
        let body = body.replacen(ID, &self.0.next.fetch_add(1, Ordering::Relaxed).to_string(), 1);
        let request = client.post(url).body(body).header("content-type", "application/json");
        let request = request.header("accept", "application/json, text/event-stream");
        headers.iter().fold(request, |request, (name, value)| request.header(*name, value))
    }

    /// One call; its answer must be no error.
    pub(super) async fn call(self) -> Result<(), Problem> {
        let answer = self.request().send().await.map_err(no_answer)?;
        let said = answer.text().await.map_err(no_answer)?;
        match said.contains(self.0.good) && !said.contains(r#""isError":true"#) {
            true => Ok(()),
            false => Err(Problem::Missing(format!("an answer without an error; it is: {said:.300}"))),
        }
    }
}

fn calling(tool: &str, meta: Option<Value>) -> String {
    let arguments: Value = serde_json::from_str(INPUT).unwrap_or_default();
    let mut params = json!({ "name": tool, "arguments": arguments });
    if let Some(meta) = meta {
        params["_meta"] = meta;
    }
    json!({ "jsonrpc": "2.0", "id": "<id>", "method": "tools/call", "params": params }).to_string()
}

fn no_answer(error: reqwest::Error) -> Problem {
    Problem::Missing(format!("an answer: {error}"))
}
