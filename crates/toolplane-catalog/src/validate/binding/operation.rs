//! Bindings to operations of HTTP APIs. The importer of documents makes them right; one that was written by hand is held to the same.

use toolplane_records::operation::OperationBinding;
use url::Url;

use super::credentials::{Bound, check_placement};
use super::{BINDING, is_header};
use crate::limits::CatalogLimits;
use crate::validate::checks::check_list_length;
use crate::violations::{Violations, shown};

/// Most parameters, and most members of a body.
const MAX_PARTS: usize = 1000;
/// Longest path, in bytes.
const MAX_PATH: usize = 4096;

pub(super) fn check(operation: &OperationBinding, limits: &CatalogLimits, faults: &mut Violations) {
    let OperationBinding { method, path, parameters, body, .. } = operation;
    if operation.operation.is_empty() || operation.operation.len() > MAX_PATH {
        faults.add(format!("{BINDING}.operation"), format!("must have 1 to {MAX_PATH} bytes"));
    }
    if !is_header(method) || method.bytes().any(|byte| byte.is_ascii_lowercase()) {
        faults.add(format!("{BINDING}.method"), "must be the name of a method, in capitals");
    } else if matches!(method.as_str(), "CONNECT" | "TRACE") {
        faults.add(format!("{BINDING}.method"), "is not allowed for any tool");
    }
    if !path.starts_with('/') || path.len() > MAX_PATH || path.chars().any(char::is_control) {
        faults.add(format!("{BINDING}.path"), format!("must begin with `/` and have at most {MAX_PATH} bytes"));
    }
    let parts = body.as_ref().map_or(0, |body| body.parts.len());
    if parameters.len() > MAX_PARTS || parts > MAX_PARTS {
        faults
            .add(format!("{BINDING}.parameters"), format!("must be at most {MAX_PARTS}, and members of the body too"));
    }
    check_list_length(&format!("{BINDING}.accept"), operation.accept.len(), limits, faults);
    check_server(operation, limits, faults);
    check_credentials(operation, limits, faults);
}

/// The server is the one place that may be reached, and the binding says the same twice.
fn check_server(operation: &OperationBinding, limits: &CatalogLimits, faults: &mut Violations) {
    let usable = |url: &Url| {
        let plain = url.username().is_empty() && url.password().is_none();
        matches!(url.scheme(), "http" | "https") && plain && url.query().is_none() && url.fragment().is_none()
    };
    let server = &operation.server;
    let parsed = Url::parse(server).ok().filter(usable);
    let Some(url) =
        parsed.filter(|_| !server.ends_with('/') && server.len() <= limits.declaration.max_short_text_chars)
    else {
        let rule = "must be an address with `http` or `https`, without user, query, fragment and final `/`";
        return faults.add(format!("{BINDING}.server"), rule);
    };
    if url.host_str() != Some(operation.allowed_host.as_str()) {
        faults.add(format!("{BINDING}.allowed_host"), "must be the host of the server");
    }
    if url.port_or_known_default() != Some(operation.allowed_port) {
        faults.add(format!("{BINDING}.allowed_port"), "must be the port of the server");
    }
}

fn check_credentials(operation: &OperationBinding, limits: &CatalogLimits, faults: &mut Violations) {
    let field = format!("{BINDING}.credentials");
    check_list_length(&field, operation.credentials.len(), limits, faults);
    for (index, way) in operation.credentials.iter().enumerate() {
        check_list_length(&format!("{field}[{index}]"), way.len(), limits, faults);
        for (at, needed) in way.iter().enumerate() {
            let place = format!("{field}[{index}][{at}]");
            check_placement(&place, &needed.placement, Bound::Request, faults);
            if needed.credential.as_ref().is_some_and(|name| toolplane_records::ids::check_id(name).is_err()) {
                let name = needed.credential.as_deref().unwrap_or_default();
                faults.add(format!("{place}.credential"), format!("`{}` is not the name of one", shown(name, 80)));
            }
        }
    }
    // One that is bound to none yet can be declared; its calls end before anything is sent.
}
