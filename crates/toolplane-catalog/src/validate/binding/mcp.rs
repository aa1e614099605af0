//! Bindings to tools of MCP servers.

use toolplane_records::mcp::{McpBinding, McpHttpServer, McpServer, McpStdioServer};
use url::Url;

use super::{BINDING, check_hosts, credentials, is_header, is_variable};
use crate::limits::CatalogLimits;
use crate::validate::checks::{check_list_length, check_name};
use crate::violations::{Violations, shown};

/// Longest name of a tool, as its server says it.
const MAX_TOOL_BYTES: usize = 512;
/// Most arguments that go into headers as well.
const MAX_HEADER_PARAMETERS: usize = 32;

pub(super) fn check(mcp: &McpBinding, limits: &CatalogLimits, faults: &mut Violations) {
    check_name(&format!("{BINDING}.provider_id"), &mcp.provider_id, faults);
    let usable = |tool: &String| (1..=MAX_TOOL_BYTES).contains(&tool.len()) && !tool.chars().any(char::is_control);
    if !mcp.tool.as_ref().is_none_or(usable) {
        faults
            .add(format!("{BINDING}.tool"), format!("must have 1 to {MAX_TOOL_BYTES} bytes and no control characters"));
    }
    if mcp.header_parameters.len() > MAX_HEADER_PARAMETERS {
        faults.add(format!("{BINDING}.header_parameters"), format!("must be at most {MAX_HEADER_PARAMETERS}"));
    }
    for (index, parameter) in mcp.header_parameters.iter().enumerate() {
        if parameter.path.is_empty() || !is_header(&parameter.header) {
            faults.add(format!("{BINDING}.header_parameters[{index}]"), "must have a path and the name of a header");
        }
    }
    match &mcp.server {
        McpServer::Stdio(stdio) => check_stdio(stdio, limits, faults),
        McpServer::Http(http) => check_http(http, limits, faults),
    }
}

fn check_stdio(stdio: &McpStdioServer, limits: &CatalogLimits, faults: &mut Violations) {
    let server = format!("{BINDING}.server");
    let argv = format!("{server}.argv");
    check_list_length(&argv, stdio.argv.len(), limits, faults);
    if stdio.argv.first().is_none_or(String::is_empty) {
        faults.add(format!("{argv}[0]"), "must name the program");
    }
    for (index, argument) in stdio.argv.iter().enumerate() {
        if argument.contains('\0') {
            faults.add(format!("{argv}[{index}]"), "must not contain a NUL character");
        }
    }
    for (name, value) in &stdio.env {
        if !is_variable(name) || value.contains('\0') {
            faults.add(format!("{server}.env.{}", shown(name, 80)), "is not an environment variable");
        }
    }
    for name in stdio.env_names.iter().chain(stdio.credentials.keys()) {
        if !is_variable(name) {
            faults.add(&server, format!("`{}` is not an environment variable", shown(name, 80)));
        }
    }
    let (uses, bound) = (&stdio.placed_credentials, credentials::Bound::Server(&stdio.sandbox.allowed_hosts));
    credentials::check(&format!("{server}.placed_credentials"), uses, bound, limits, faults);
    check_hosts(&format!("{server}.sandbox.allowed_hosts"), &stdio.sandbox.allowed_hosts, limits, faults);
    for (index, path) in stdio.sandbox.read_paths.iter().enumerate() {
        if !path.starts_with('/') || path.contains('\0') || path.split('/').any(|part| matches!(part, "." | "..")) {
            faults
                .add(format!("{server}.sandbox.read_paths[{index}]"), "must be an absolute path without `.` and `..`");
        }
    }
}

fn check_http(http: &McpHttpServer, limits: &CatalogLimits, faults: &mut Violations) {
    let server = format!("{BINDING}.server");
    let usable = |url: &Url| {
        matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.username().is_empty()
            && url.password().is_none()
            && url.fragment().is_none()
    };
    if http.url.len() > limits.declaration.max_short_text_chars || !Url::parse(&http.url).is_ok_and(|url| usable(&url))
    {
        let rule = "must be an address with `http` or `https`, without user, password and fragment";
        faults.add(format!("{server}.url"), rule);
    }
    for (name, value) in &http.headers {
        if !is_header(name) || value.chars().any(char::is_control) {
            faults.add(format!("{server}.headers.{}", shown(name, 80)), "is not a header");
        }
    }
    for name in http.credentials.keys() {
        if !is_header(name) {
            faults.add(format!("{server}.credentials.{}", shown(name, 80)), "is not the name of a header");
        }
    }
    let (uses, bound) = (&http.placed_credentials, credentials::Bound::Request);
    credentials::check(&format!("{server}.placed_credentials"), uses, bound, limits, faults);
    check_hosts(&format!("{server}.allowed_hosts"), &http.allowed_hosts, limits, faults);
}
