//! Which credential goes where, as bindings say it.

use std::collections::BTreeSet;

use toolplane_matching::host::HostPattern;
use toolplane_records::credential::{CredentialPlacement, CredentialUse, HeaderFault, check_header};
use toolplane_records::mcp::McpServer;
use toolplane_records::profile::ExecutionBinding;

use super::{BINDING, is_header, is_host, is_variable};
use crate::limits::CatalogLimits;
use crate::validate::checks::check_list_length;
use crate::violations::{Violations, shown};

/// Longest name of a parameter, a cookie or a file, and longest prefix of a header.
const MAX_NAME: usize = 128;
/// Most hosts of a header that the proxy puts in.
const MAX_HOSTS: usize = 32;

/// What a binding has places in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound<'a> {
    /// A request of the worker's own.
    Request,
    /// A process that the worker starts, without a network.
    Process,
    /// A program that is a server, and the hosts it may reach.
    Server(&'a [String]),
}

pub(super) fn check(
    field: &str,
    uses: &[CredentialUse],
    bound: Bound<'_>,
    limits: &CatalogLimits,
    faults: &mut Violations,
) {
    check_list_length(field, uses.len(), limits, faults);
    let mut files = BTreeSet::new();
    for (index, used) in uses.iter().enumerate() {
        let place = format!("{field}[{index}]");
        if toolplane_records::ids::check_id(&used.credential).is_err() {
            let rule = format!("`{}` is not the name of a credential", shown(&used.credential, 80));
            faults.add(format!("{place}.credential"), rule);
        }
        check_placement(&place, &used.placement, bound, faults);
        if let CredentialPlacement::File { name } = &used.placement
            && !files.insert(name)
        {
            faults.add(format!("{place}.placement"), "another credential is in this file");
        }
    }
}

pub(super) fn check_placement(place: &str, placement: &CredentialPlacement, bound: Bound<'_>, faults: &mut Violations) {
    let field = format!("{place}.placement");
    let is_short = |name: &str| (1..=MAX_NAME).contains(&name.len()) && !name.chars().any(char::is_control);
    let is_prefix = |prefix: &Option<String>| prefix.as_deref().unwrap_or_default().len() <= MAX_NAME;
    let is_started = bound != Bound::Request;
    let (well_formed, fits) = match placement {
        CredentialPlacement::Header { name, prefix } => (is_header(name) && is_prefix(prefix), !is_started),
        CredentialPlacement::Query { name } => (is_short(name), !is_started),
        CredentialPlacement::Cookie { name } => (is_header(name), !is_started),
        CredentialPlacement::Env { name } => (is_variable(name) && is_short(name), is_started),
        CredentialPlacement::File { name } => (is_file(name), is_started),
        CredentialPlacement::Proxy { name, prefix, .. } => {
            (is_header(name) && is_prefix(prefix), matches!(bound, Bound::Server(_)))
        }
    };
    if !well_formed {
        faults.add(&field, "has no name that can be used there");
    } else if !fits {
        let places = match bound {
            Bound::Request => "`header`, `query` or `cookie`",
            Bound::Process => "`env` or `file`",
            Bound::Server(_) => "`env`, `file` or `proxy`",
        };
        faults.add(&field, format!("must be {places} for a tool of this kind"));
    } else if let (CredentialPlacement::Proxy { hosts, .. }, Bound::Server(reached)) = (placement, bound) {
        check_hosts(&format!("{field}.hosts"), hosts, reached, faults);
    }
}

/// No credential is put into a header that is for who sends the request.
pub(super) fn check_headers(binding: &ExecutionBinding, faults: &mut Violations) {
    match binding {
        ExecutionBinding::Http(http) => check_headers_of(&format!("{BINDING}.credentials"), &http.credentials, faults),
        ExecutionBinding::Mcp(mcp) => {
            let server = format!("{BINDING}.server");
            let placed = match &mcp.server {
                McpServer::Stdio(stdio) => &stdio.placed_credentials,
                McpServer::Http(http) => {
                    for name in http.credentials.keys() {
                        check_header_name(format!("{server}.credentials.{}", shown(name, 80)), name, faults);
                    }
                    &http.placed_credentials
                }
            };
            check_headers_of(&format!("{server}.placed_credentials"), placed, faults);
        }
        ExecutionBinding::Operation(operation) => {
            for (index, way) in operation.credentials.iter().enumerate() {
                for (at, needed) in way.iter().enumerate() {
                    let place = format!("{BINDING}.credentials[{index}][{at}].placement");
                    check_header_of(place, &needed.placement, faults);
                }
            }
        }
        // These have variables and files.
        ExecutionBinding::Native { .. } | ExecutionBinding::Shell { .. } | ExecutionBinding::Process(_) => {}
    }
}

fn check_headers_of(field: &str, uses: &[CredentialUse], faults: &mut Violations) {
    for (index, used) in uses.iter().enumerate() {
        check_header_of(format!("{field}[{index}].placement"), &used.placement, faults);
    }
}

fn check_header_of(field: String, placement: &CredentialPlacement, faults: &mut Violations) {
    if let CredentialPlacement::Header { name, .. } | CredentialPlacement::Proxy { name, .. } = placement {
        check_header_name(field, name, faults);
    }
}

/// What is no name of a header is told by the rules that have always held.
fn check_header_name(field: String, name: &str, faults: &mut Violations) {
    if let Err(fault @ HeaderFault::OfConnection) = check_header(name) {
        faults.add(field, format!("`{}` {fault}", shown(name, 80)));
    }
}

/// A header is put into requests that can be made: each of its hosts is one that the program may reach.
fn check_hosts(field: &str, hosts: &[String], reached: &[String], faults: &mut Violations) {
    if hosts.is_empty() || hosts.len() > MAX_HOSTS {
        faults.add(field, format!("must be 1 to {MAX_HOSTS} hosts"));
    }
    let reached: Vec<HostPattern> = reached.iter().filter_map(|host| HostPattern::parse(host).ok()).collect();
    for (index, host) in hosts.iter().enumerate() {
        let place = format!("{field}[{index}]");
        match HostPattern::parse(host).ok().filter(|_| is_host(host)) {
            None => {
                let rule = format!("`{}` is not a host name, an address or `*.<domain>`", shown(host, 80));
                faults.add(place, rule);
            }
            Some(pattern) if !reached.iter().any(|reached| reached.covers(&pattern)) => {
                let rule = format!("`{}` is not among the hosts the program may reach", shown(host, 80));
                faults.add(place, rule);
            }
            Some(_) => {}
        }
    }
}

fn is_file(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=MAX_NAME).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(plain)
}
