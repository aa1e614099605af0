//! The same calls of a server over HTTP: by a plain request, and by way of a gateway that takes such requests.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use toolplane_testkit::Problem;

use super::{INPUT, SERVER, TOOL};

const WEB_SERVER: &str = include_str!("web_server.py");
const CONTEXTFORGE: &str = include_str!("contextforge.py");

/// A program that says in a line how it is used, and ends with its input.
pub(in crate::bench) struct Program {
    child: Child,
    /// What it said.
    said: String,
}

impl Program {
    /// Starts it, and waits for its line.
    pub(in crate::bench) fn of(command: &mut Command) -> Result<Self, Problem> {
        let failed = |said: String| Problem::Program { what: "start a server".to_owned(), said };
        let spawned = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut child = spawned.map_err(|error| failed(error.to_string()))?;
        let mut said = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut said).map_err(|error| failed(error.to_string()))?;
        }
        match said.trim() {
            "" => Err(failed("it ended without a word".to_owned())),
            said => Ok(Self { child, said: said.to_owned() }),
        }
    }

    /// The server over HTTP.
    pub(in crate::bench) fn server() -> Result<Self, Problem> {
        // All but its loop over the standard streams.
        let shared = SERVER.split("\nfor line in").next().unwrap_or_default();
        Self::of(Command::new("/usr/bin/python3").args(["-c", &format!("{shared}\n{WEB_SERVER}")]))
    }

    /// ContextForge before `server`, by a Python that has it.
    pub(in crate::bench) fn contextforge(python: &Path, server: &Self) -> Result<Self, Problem> {
        Self::of(Command::new(python).args(["-c", CONTEXTFORGE, &server.url()]))
    }

    /// The port of a server.
    pub(in crate::bench) fn port(&self) -> &str {
        &self.said
    }

    /// The address of a server.
    pub(in crate::bench) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It stops what it has started when its input ends.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Makes calls by plain requests.
#[derive(Clone)]
pub(in crate::bench) struct Poster(Arc<Place>);

struct Place {
    client: reqwest::Client,
    url: String,
    token: String,
    body: String,
}

/// How a gateway is called.
#[derive(Deserialize)]
struct Gateway {
    url: String,
    token: String,
    tool: String,
}

impl Poster {
    /// Asks the server itself.
    pub(super) fn direct(server: &Program) -> Self {
        Self::at(server.url(), String::new(), TOOL)
    }

    /// Asks a gateway.
    pub(in crate::bench) fn of_gateway(gateway: &Program) -> Result<Self, Problem> {
        let read = serde_json::from_str(&gateway.said);
        let Gateway { url, token, tool } = read.map_err(|error| Problem::Missing(error.to_string()))?;
        Ok(Self::at(url, token, &tool))
    }

    fn at(url: String, token: String, tool: &str) -> Self {
        let arguments: serde_json::Value = serde_json::from_str(INPUT).unwrap_or_default();
        let params = json!({ "name": tool, "arguments": arguments });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
        Self(Arc::new(Place { client: reqwest::Client::new(), url, token, body }))
    }

    /// One call; its answer must be no error.
    pub(in crate::bench) async fn make(self) -> Result<(), Problem> {
        let Place { client, url, token, body } = &*self.0;
        let request = client.post(url).bearer_auth(token).body(body.clone());
        let request = request.header("content-type", "application/json");
        let failed = |error: reqwest::Error| Problem::Missing(format!("an answer: {error}"));
        let answer = request.header("accept", "application/json, text/event-stream").send().await.map_err(failed)?;
        let said = answer.text().await.map_err(failed)?;
        match said.contains(r#""content""#) && !said.contains(r#""isError":true"#) {
            true => Ok(()),
            false => Err(Problem::Missing(format!("an answer without an error; it is: {said:.200}"))),
        }
    }
}
