//! Cases that are requests.

use std::time::Duration;

use serde_json::json;

use toolplane_records::vocabulary::ErrorClass;

use super::{Case, Verdict, compare};
use crate::api::Api;
use crate::http::{allowed, fetch, fetch_with, server};
use crate::operation::{ask, at, binding};
use crate::server::Server;

pub(super) async fn judge(case: &Case) -> Verdict {
    match case.id.as_str() {
        "ssrf-055" => return path_template(case).await.into(),
        "ssrf-057" => return server_override(case).await.into(),
        _ => {}
    }
    let canary = Server::start("127.0.0.1", String::new()).await;
    let server = Server::start("127.0.0.77", format!("http://127.0.0.1:{}/", canary.address.port())).await;
    let base = format!("http://ok.test:{}", server.address.port());
    let urls: Vec<String> = match case.id.as_str() {
        "ssrf-043" => vec![format!("{base}/redirect-out")],
        "ssrf-044" => {
            ["redirect-bare", "redirect-file", "redirect-gopher", "loop"].map(|path| format!("{base}/{path}")).to_vec()
        }
        "http-001" => vec![format!("{base}/gzip")],
        "http-002" => vec![format!("{base}/drip")],
        "http-004" => vec![format!("{base}/liar"), format!("{base}/flood")],
        _ => vec![case.text("url").to_owned()],
    };
    for url in urls {
        let outcome = fetch_with(allowed(), json!({ "url": url }), Duration::from_secs(2)).await;
        let result = compare(case, &outcome).and_then(|()| match canary.connections() {
            0 => Ok(()),
            count => Err(format!("{count} connections to an address that is not allowed")),
        });
        if let Err(reason) = result {
            return Verdict::Failed(format!("{url}: {reason}"));
        }
    }
    Verdict::Passed
}

/// No value of a parameter leaves its segment of the path.
async fn path_template(case: &Case) -> Result<(), String> {
    let api = Api::echo().await;
    let id = json!({ "in": "path", "name": "id", "required": true, "schema": { "type": "string" } });
    let also = case.input["also"].as_array().into_iter().flatten();
    for value in also.chain([&case.input["params"]["id"]]) {
        let binding = binding(&at(&api), case.text("path"), "get", json!({ "parameters": [id] }));
        let outcome = ask(binding, &json!({ "id": value }).to_string()).await;
        let held = match &outcome.error {
            Some(error) => error.error_class == ErrorClass::InvalidArguments,
            None => {
                let target = api.last().target;
                let segment = target.strip_prefix("/v1/users/").unwrap_or("/");
                !segment.contains(['/', '?', '#']) && !["", ".", "..", "%2e%2e"].contains(&segment)
            }
        };
        if !held {
            return Err(format!("{value}: {outcome:?}"));
        }
    }
    Ok(())
}

/// Where a call goes is not for its caller to say: what it gives for that goes nowhere.
async fn server_override(case: &Case) -> Result<(), String> {
    let api = Api::echo().await;
    let canary = Server::start("127.0.0.1", String::new()).await;
    let mut input = case.input.clone();
    input["server_url"] = json!(format!("http://{}", canary.address));
    let outcome = ask(binding(&at(&api), "/a", "get", json!({})), &input.to_string()).await;
    match canary.connections() {
        0 => compare(case, &outcome),
        count => Err(format!("{count} connections to where the caller wants")),
    }
}

/// A connection error must not tell what was in the request.
pub(super) async fn error_path(case: &Case) -> Verdict {
    drop(server().await);
    let outcome =
        fetch(json!({"url": "http://127.0.0.77:1/thing?api_key=SECRET", "headers": {"X-Api-Key": "SECRET"}})).await;
    compare(case, &outcome)
        .and_then(|()| if format!("{outcome:?}").contains("SECRET") { Err("the key is told".into()) } else { Ok(()) })
        .into()
}
