//! Cases that are requests.

use std::time::Duration;

use serde_json::json;

use super::{Case, Verdict, compare};
use crate::http::{allowed, fetch, fetch_with, server};
use crate::server::Server;

pub(super) async fn judge(case: &Case) -> Verdict {
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
        _ if case.text("url").is_empty() => {
            return Verdict::NotApplicable("there are no tools from OpenAPI documents");
        }
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

/// A connection error must not tell what was in the request.
pub(super) async fn error_path(case: &Case) -> Verdict {
    drop(server().await);
    let outcome =
        fetch(json!({"url": "http://127.0.0.77:1/thing?api_key=SECRET", "headers": {"X-Api-Key": "SECRET"}})).await;
    compare(case, &outcome)
        .and_then(|()| if format!("{outcome:?}").contains("SECRET") { Err("the key is told".into()) } else { Ok(()) })
        .into()
}
