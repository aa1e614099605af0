//! What is answered to which method.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::{Value, json};
use toolplane_runtime::telemetry::{Instrument as _, spans};

use crate::mcp::client::TASKS;
use crate::mcp::exchange::Exchange;
use crate::mcp::fault::Fault;
use crate::mcp::log::Level;
use crate::mcp::reply::{Reply, SERVER};
use crate::mcp::version::Version;
use crate::mcp::{call, listen, resources, tools};

/// How long a client may go by what this server can do, in milliseconds.
const DISCOVERED_FOR: u64 = 3_600_000;
/// What a model is told of this server as a whole.
const INSTRUCTIONS: &str = "Tools of a Toolplane cluster. A call may need the approval of a person, or may take long: then its answer says so, and \
                            `tool_result` gives its result later. Where not all tools are listed, `tool_search` finds the others.";

/// Answers one request, within a span of its own.
pub(crate) async fn answer(x: Arc<Exchange>, method: &str, params: &Bytes) -> Result<Reply, Fault> {
    let target = target(method, params);
    let id = x.id_text();
    let facts = spans::mcp::Facts {
        method,
        target: target.as_deref().unwrap_or_default(),
        request_id: id.trim_matches('"'),
        version: x.client.version.as_str(),
        session: x.scope.as_ref().map(|scope| scope.0.as_str()).unwrap_or_default(),
        transport: if x.over_http { "tcp" } else { "pipe" },
    };
    let span = spans::mcp::server(&facts, x.meta.traceparent.as_deref(), x.meta.tracestate.as_deref());
    let answered = handled(&x, method, params).instrument(&span).await;
    match &answered {
        Ok(reply) => spans::mcp::end_server(&span, None, reply.is_tool_error()),
        Err(fault) => spans::mcp::end_server(&span, Some(fault.code), false),
    }
    answered
}

/// What a request is about, where that is a tool.
fn target(method: &str, params: &Bytes) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    let named = (method == "tools/call").then(|| serde_json::from_slice::<Named>(params).ok()).flatten()?;
    Some(named.name.chars().take(128).collect())
}

/// In a box, because what is asked for is known only now, and the ways to answer are of very different sizes.
fn handled<'a>(x: &'a Arc<Exchange>, method: &'a str, params: &'a Bytes) -> BoxFuture<'a, Result<Reply, Fault>> {
    Box::pin(by_method(x, method, params))
}

async fn by_method(x: &Arc<Exchange>, method: &str, params: &Bytes) -> Result<Reply, Fault> {
    let version = x.client.version;
    match method {
        "tools/list" => tools::list(x, params).await,
        "tools/call" => call::call(x, params).await,
        "resources/list" => Ok(resources::list(x)),
        "resources/templates/list" => Ok(resources::templates(x)),
        "resources/read" => resources::read(x, params).await,
        "ping" if version.has_sessions() => Ok(Reply::new()),
        "logging/setLevel" if version.has_sessions() => set_level(x, params),
        "server/discover" if !version.has_sessions() => Ok(discover(version)),
        "subscriptions/listen" if !version.has_sessions() => listen::listen(x, params).await,
        "tasks/get" if !version.has_sessions() => call::get_task(x, params).await,
        "tasks/update" if !version.has_sessions() => call::update_task(x, params).await,
        "tasks/cancel" if !version.has_sessions() => call::cancel_task(x, params).await,
        _ => Err(Fault::method(method, version)),
    }
}

fn set_level(x: &Exchange, params: &Bytes) -> Result<Reply, Fault> {
    #[derive(Deserialize)]
    struct Params {
        level: Level,
    }
    let said: Params = serde_json::from_slice(params).map_err(|_| Fault::params("`level` is none of the levels"))?;
    if let Some(scope) = &x.scope {
        x.front.levels.set(&scope.0, said.level);
    }
    Ok(Reply::new())
}

/// What this server can do.
fn capabilities(version: Version) -> Value {
    let mut can = json!({ "tools": { "listChanged": true }, "resources": {} });
    match version.has_sessions() {
        true => can["logging"] = json!({}),
        false => can["extensions"] = json!({ (TASKS): {} }),
    }
    can
}

fn discover(version: Version) -> Reply {
    let versions: Vec<_> = Version::ALL.iter().map(|version| version.as_str()).collect();
    Reply::new()
        .value("supportedVersions", &versions)
        .value("capabilities", &capabilities(version))
        .value("instructions", &INSTRUCTIONS)
        .kept_for(DISCOVERED_FOR, version)
}

/// The answer to `initialize`.
pub(crate) fn initialized(version: Version) -> Reply {
    let mut server = json!({ "name": SERVER, "version": env!("CARGO_PKG_VERSION") });
    if version >= Version::V2025June {
        server["title"] = "Toolplane".into();
    }
    Reply::new()
        .value("protocolVersion", &version.as_str())
        .value("capabilities", &capabilities(version))
        .value("serverInfo", &server)
        .value("instructions", &INSTRUCTIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_done_is_said_and_nothing_else() {
        for version in Version::ALL {
            let can = capabilities(version);
            for absent in ["prompts", "completions", "sampling"] {
                assert!(can.get(absent).is_none());
            }
            assert_eq!(can["tools"]["listChanged"], true);
            assert_eq!(can.get("logging").is_some(), version.has_sessions());
        }
    }

    #[test]
    fn a_span_is_named_by_the_tool_alone() {
        let of = |method: &str, params: &str| target(method, &Bytes::copy_from_slice(params.as_bytes()));
        assert_eq!(of("tools/call", r#"{"name":"a__b"}"#).as_deref(), Some("a__b"));
        assert_eq!(of("resources/read", r#"{"name":"a__b","uri":"x"}"#), None);
        assert_eq!(of("tools/call", "{}"), None);
    }
}
