//! Which server an operation is asked at. It is decided once, at import, and nothing of a call changes it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use url::Url;

use super::{Found, ImportOptions};
use crate::document::Document;
use crate::error::{Fault, shown};

/// A server, with what may be reached.
#[derive(Debug)]
pub(super) struct Server {
    /// Absolute, without final `/`.
    pub(super) base: String,
    pub(super) host: String,
    pub(super) port: u16,
}

/// The server the one who imports names, else the first of the operation, of its path or of the document that can be used.
pub(super) fn choose(document: &Document, one: &Found<'_>, options: &ImportOptions) -> Result<Server, Fault> {
    if let Some(server) = &options.server {
        return resolved(server, options.document_url.as_ref(), "servers");
    }
    let named = |members: &Map<String, Value>| {
        members.get("servers").and_then(Value::as_array).filter(|servers| !servers.is_empty()).cloned()
    };
    let root = document.root().as_object().and_then(named).map(|servers| (servers, "/servers".to_owned()));
    let of_path = named(one.item).map(|servers| (servers, format!("{}/servers", one.item_place)));
    let own = named(one.members).map(|servers| (servers, format!("{}/servers", one.place)));
    let Some((servers, place)) = own.or(of_path).or(root) else {
        return resolved("/", options.document_url.as_ref(), "/servers");
    };
    let mut first = None;
    for (index, server) in servers.iter().enumerate() {
        let place = format!("{place}/{index}");
        let chosen = filled(server, &options.server_variables, &place)
            .and_then(|url| resolved(&url, options.document_url.as_ref(), &place));
        match chosen {
            Ok(server) => return Ok(server),
            Err(fault) => first = first.or(Some(fault)),
        }
    }
    Err(first.unwrap_or_else(|| Fault::at(place, "names no server")))
}

/// The URL with its variables filled in.
fn filled(server: &Value, given: &BTreeMap<String, String>, place: &str) -> Result<String, Fault> {
    let Some(template) = server.get("url").and_then(Value::as_str) else {
        return Err(Fault::at(format!("{place}/url"), "is missing"));
    };
    let variables = server.get("variables").and_then(Value::as_object);
    let (mut url, mut rest) = (String::new(), template);
    while let Some((before, after)) = rest.split_once('{') {
        let Some((name, after)) = after.split_once('}') else {
            return Err(Fault::at(format!("{place}/url"), "has a `{` without `}`"));
        };
        let variable = variables.and_then(|variables| variables.get(name));
        let default = variable.and_then(|variable| variable.get("default")).and_then(Value::as_str);
        let Some(value) = given.get(name).map(String::as_str).or(default) else {
            let rule = format!("has no value: the variable `{}` has no default", shown(name));
            return Err(Fault::at(format!("{place}/variables"), rule));
        };
        let allowed = variable.and_then(|variable| variable.get("enum")).and_then(Value::as_array);
        if given.contains_key(name)
            && allowed.is_some_and(|allowed| !allowed.iter().any(|one| one.as_str() == Some(value)))
        {
            let rule = format!("does not allow `{}` for the variable `{}`", shown(value), shown(name));
            return Err(Fault::at(format!("{place}/variables"), rule));
        }
        url.push_str(before);
        url.push_str(value);
        rest = after;
    }
    url.push_str(rest);
    Ok(url)
}

fn resolved(url: &str, base: Option<&Url>, place: &str) -> Result<Server, Fault> {
    let url = url.trim();
    let fault = |rule: String| Err(Fault::at(place, rule));
    let parsed = match (Url::parse(url), base) {
        (Ok(parsed), _) => parsed,
        (Err(url::ParseError::RelativeUrlWithoutBase), Some(base)) => match base.join(url) {
            Ok(parsed) => parsed,
            Err(error) => return fault(format!("`{}` is not a URL: {error}", shown(url))),
        },
        (Err(url::ParseError::RelativeUrlWithoutBase), None) => {
            let rule = "is relative, and where the document came from is not known: name the server";
            return fault(format!("`{}` {rule}", shown(url)));
        }
        (Err(error), _) => return fault(format!("`{}` is not a URL: {error}", shown(url))),
    };
    if !matches!(parsed.scheme(), "http" | "https") {
        return fault(format!("`{}` is neither http nor https", shown(url)));
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return fault("holds a user or a password; credentials are bound, and never part of a server".to_owned());
    }
    if parsed.query().is_some() || parsed.fragment().is_some() {
        return fault(format!("`{}` has a query or a fragment", shown(url)));
    }
    let (Some(host), Some(port)) = (parsed.host_str(), parsed.port_or_known_default()) else {
        return fault(format!("`{}` has no host", shown(url)));
    };
    Ok(Server { base: parsed.as_str().trim_end_matches('/').to_owned(), host: host.to_owned(), port })
}
