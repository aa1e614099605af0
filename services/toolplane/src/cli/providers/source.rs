//! Where a provider is, in words.

use toolplane_proto::v1;
use toolplane_proto::v1::credential_placement::Place;
use toolplane_proto::v1::openapi_source::Document;
use toolplane_proto::v1::provider::Source;

use super::super::spelled::word;

/// The kind as a word.
pub(super) fn kind(provider: &v1::Provider) -> &'static str {
    match &provider.source {
        Some(Source::McpStdio(_)) => "mcp_stdio",
        Some(Source::McpHttp(_)) => "mcp_http",
        Some(Source::Openapi(_)) => "openapi",
        Some(Source::Worker(_)) => "worker",
        Some(Source::File(_)) => "file",
        None => "unknown",
    }
}

/// What is to be told of it, each under a heading.
pub(super) fn facts(provider: &v1::Provider) -> Vec<(&'static str, String)> {
    let mut facts = vec![("namespace", provider.namespace.clone())];
    facts.push(match &provider.source {
        Some(Source::McpStdio(stdio)) => ("program", stdio.argv.join(" ")),
        Some(Source::McpHttp(http)) => ("address", http.url.clone()),
        Some(Source::Openapi(openapi)) => match &openapi.document {
            Some(Document::Url(url)) => ("document", url.clone()),
            Some(Document::Uploaded(digest)) => ("document", digest.clone()),
            None => ("document", String::new()),
        },
        Some(Source::Worker(worker)) => ("tools of workers", worker.native_prefix.clone()),
        Some(Source::File(file)) => ("file", file.path.clone()),
        None => ("source", "unknown".to_owned()),
    });
    if let Some(Source::McpStdio(stdio)) = &provider.source {
        let given: Vec<String> = stdio.env.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let workspace = word(stdio.workspace().as_str_name(), "MCP_WORKSPACE_");
        facts.push(("workspace", if workspace == "unspecified" { "none".to_owned() } else { workspace }));
        let lists =
            [("may read", stdio.read_only_paths.clone()), ("variables", [given, stdio.pass_env.clone()].concat())];
        facts
            .extend(lists.into_iter().filter(|(_, list)| !list.is_empty()).map(|(what, list)| (what, list.join(", "))));
    }
    if let Some(Source::McpHttp(http)) = &provider.source {
        facts.extend(http.headers.iter().map(|(name, value)| ("header", format!("{name}: {value}"))));
    }
    if let Some(reach) = &provider.reach {
        let ports: Vec<String> = reach.ports.iter().map(ToString::to_string).collect();
        facts.push(("may reach", format!("{} {}", reach.hosts.join(", "), ports.join(", "))));
    }
    facts.extend(provider.credentials.iter().map(|used| ("credential", credential(used))));
    let schemes = provider.scheme_credentials.iter();
    facts.extend(schemes.map(|(scheme, name)| ("credential", format!("{name} for the security scheme {scheme}"))));
    if let Some(interval) = provider.refresh_interval_ms {
        facts.push(("asked again", format!("every {} s", interval / 1000)));
    }
    facts
}

fn credential(used: &v1::CredentialUse) -> String {
    let place = match used.placement.as_ref().and_then(|placement| placement.place.as_ref()) {
        Some(Place::Env(at)) => format!("variable {}", at.name),
        Some(Place::File(at)) => format!("file {}", at.name),
        Some(Place::Header(at)) => format!("header {}", at.name),
        Some(Place::Query(at)) => format!("query {}", at.name),
        Some(Place::Cookie(at)) => format!("cookie {}", at.name),
        Some(Place::Proxy(at)) => format!("header {} of {}", at.name, at.hosts.join(", ")),
        None => "nowhere".to_owned(),
    };
    format!("{} in {place}", used.credential)
}
