//! Security schemes as requirements: what has to be shown, and where. Never a field of the input.

use serde_json::{Map, Value};
use toolplane_records::credential::{CredentialPlacement, check_header};
use toolplane_records::operation::{CredentialRequirement, TokenSource};

use super::{Found, pointer_token};
use crate::document::Document;
use crate::error::{Fault, shown};

/// The ways in which an operation may be shown who is asking, as the document lists them; those that cannot be done here are left
/// out. Fails when none of them can be done.
pub(super) fn requirements(document: &Document, one: &Found<'_>) -> Result<Vec<Vec<CredentialRequirement>>, Fault> {
    let own = one.members.get("security").map(|security| (security, format!("{}/security", one.place)));
    let all = document.root().get("security").map(|security| (security, "/security".to_owned()));
    let Some((Value::Array(ways), place)) = own.or(all) else { return Ok(Vec::new()) };
    let (mut possible, mut first) = (Vec::new(), None);
    for (index, way) in ways.iter().enumerate() {
        match requirement(document, way, &format!("{place}/{index}")) {
            Ok(way) => possible.push(way),
            Err(fault) => first = first.or(Some(fault)),
        }
    }
    match first {
        Some(fault) if possible.is_empty() => Err(fault),
        _ => Ok(possible),
    }
}

fn requirement(document: &Document, way: &Value, place: &str) -> Result<Vec<CredentialRequirement>, Fault> {
    let Some(schemes) = way.as_object() else { return Err(Fault::at(place, "must be an object")) };
    schemes.iter().map(|(name, scopes)| one_scheme(document, name, scopes, place)).collect()
}

fn one_scheme(document: &Document, name: &str, scopes: &Value, place: &str) -> Result<CredentialRequirement, Fault> {
    let at = format!("/components/securitySchemes/{}", pointer_token(name));
    let Some(scheme) = document.at(&at) else {
        return Err(Fault::at(place, format!("names the security scheme `{}`, which does not exist", shown(name))));
    };
    let (scheme, at) = document.follow(scheme, &at)?;
    let text = |key: &str| scheme.get(key).and_then(Value::as_str).unwrap_or_default();
    let (placement, source) = match text("type") {
        "apiKey" => (api_key(scheme, &at)?, None),
        "http" => match text("scheme").to_ascii_lowercase().as_str() {
            // The kind of the credential says which form it has there.
            "basic" | "bearer" => (CredentialPlacement::authorization(), None),
            other => {
                return Err(Fault::at(
                    at,
                    format!("asks for the HTTP scheme `{}`, which is not supported", shown(other)),
                ));
            }
        },
        "oauth2" => (CredentialPlacement::authorization(), Some(oauth(scheme))),
        "openIdConnect" => {
            let url = text("openIdConnectUrl").to_owned();
            (CredentialPlacement::authorization(), Some(TokenSource::OpenIdConnect { url }))
        }
        other => {
            return Err(Fault::at(
                at,
                format!("is a security scheme of type `{}`, which is not supported", shown(other)),
            ));
        }
    };
    let scopes = scopes.as_array().into_iter().flatten().filter_map(|scope| scope.as_str().map(str::to_owned));
    let scopes = scopes.collect();
    Ok(CredentialRequirement { scheme: name.to_owned(), placement, source, scopes, credential: None, field: None })
}

fn api_key(scheme: &Map<String, Value>, at: &str) -> Result<CredentialPlacement, Fault> {
    let name = scheme.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    if name.is_empty() {
        return Err(Fault::at(format!("{at}/name"), "is missing"));
    }
    match scheme.get("in").and_then(Value::as_str) {
        Some("header") => match check_header(&name) {
            Ok(()) => Ok(CredentialPlacement::Header { name, prefix: None }),
            Err(fault) => Err(Fault::at(format!("{at}/name"), format!("`{}` {fault}", shown(&name)))),
        },
        Some("query") => Ok(CredentialPlacement::Query { name }),
        Some("cookie") => Ok(CredentialPlacement::Cookie { name }),
        _ => Err(Fault::at(format!("{at}/in"), "must be `header`, `query` or `cookie`")),
    }
}

fn oauth(scheme: &Map<String, Value>) -> TokenSource {
    let flow = scheme.get("flows").and_then(|flows| flows.get("clientCredentials"));
    match flow.and_then(|flow| flow.get("tokenUrl")).and_then(Value::as_str) {
        Some(url) if !url.is_empty() => TokenSource::ClientCredentials { token_url: url.to_owned() },
        _ => TokenSource::Given,
    }
}
