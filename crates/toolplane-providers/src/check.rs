//! What the record of a provider must satisfy before it is kept.

use std::collections::BTreeSet;

use toolplane_matching::host::HostPattern;
use toolplane_records::credential::{secret_option, sounds_secret};
use toolplane_records::error::FieldViolation;
use toolplane_records::provider::{CredentialPlacement, Provider, ProviderDocument, ProviderSource};
use toolplane_records::visible::excerpt;

use crate::names::check_provider_id;
use crate::native::{check_prefix, overlap};

/// What to do with a secret.
const NO_SECRETS: &str = "a provider holds none; name a credential of the workers and its place in `credentials`";
/// Most entries of any list.
const MAX_ENTRIES: usize = 64;
/// Most hosts of a header that the proxy puts in.
const MAX_PROXIED: usize = 32;
/// Most characters of one text.
const MAX_TEXT: usize = 2_000;
/// Most characters of a namespace: with the longest name it fits what function-calling providers accept of full names.
const MAX_NAMESPACE: usize = 31;
/// The shortest and the longest time between two looks at what a provider has: 10 seconds, 30 days.
const INTERVAL_MS: std::ops::RangeInclusive<u64> = 10_000..=30 * 24 * 60 * 60_000;

/// Every rule the record breaks, each with the field, e.g. `source.argv[0]`; nothing when it may be kept. Whether its namespace or its
/// tools are another one's is for those to say who know all of them ([`overlaps`]).
pub fn check(provider: &Provider) -> Vec<FieldViolation> {
    let mut faults = Faults::default();
    if let Err(rule) = check_provider_id(provider.provider_id.as_str()) {
        faults.add("provider_id", rule);
    }
    check_namespace(&provider.namespace, &mut faults);
    faults.text("title", &provider.title);
    check_source(&provider.source, &mut faults);
    faults.length("reach.hosts", provider.reach.hosts.len());
    for (index, host) in provider.reach.hosts.iter().enumerate() {
        if let Err(rule) = HostPattern::parse(host) {
            faults.add(format!("reach.hosts[{index}]"), format!("`{}` {rule}", excerpt(host, 80)));
        }
    }
    faults.length("reach.ports", provider.reach.ports.len());
    if provider.reach.ports.contains(&0) {
        faults.add("reach.ports", "must be 1 to 65535");
    }
    check_credentials(provider, &mut faults);
    if provider.refresh_interval_ms.is_some_and(|interval| !INTERVAL_MS.contains(&interval)) {
        faults.add("refresh_interval_ms", format!("must be {} to {}", INTERVAL_MS.start(), INTERVAL_MS.end()));
    }
    faults.0
}

/// Whether two providers would have tools of workers in common, by the prefixes of their names.
pub fn overlaps(one: &ProviderSource, other: &ProviderSource) -> bool {
    match (one, other) {
        (ProviderSource::Worker { native_prefix: one }, ProviderSource::Worker { native_prefix: other }) => {
            overlap(one, other)
        }
        _ => false,
    }
}

#[derive(Default)]
struct Faults(Vec<FieldViolation>);

impl Faults {
    fn add(&mut self, field: impl Into<String>, rule: impl Into<String>) {
        self.0.push(FieldViolation { field: field.into(), description: rule.into() });
    }

    fn length(&mut self, field: &str, length: usize) {
        if length > MAX_ENTRIES {
            self.add(field, format!("has {length} entries; at most {MAX_ENTRIES} are allowed"));
        }
    }

    /// What a provider holds is kept and shown.
    fn secret(&mut self, field: &str, name: &str) {
        if sounds_secret(name) {
            self.add(field, format!("`{}` looks like a secret: {NO_SECRETS}", excerpt(name, 80)));
        }
    }

    fn text(&mut self, field: &str, text: &str) {
        if text.chars().nth(MAX_TEXT).is_some() {
            self.add(field, format!("may have {MAX_TEXT} characters"));
        } else if text.contains('\0') {
            self.add(field, "must not contain a NUL character");
        }
    }
}

fn check_namespace(namespace: &str, faults: &mut Faults) {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    if namespace.is_empty() || namespace.len() > MAX_NAMESPACE {
        faults.add("namespace", format!("must have 1 to {MAX_NAMESPACE} characters"));
    } else if let Some(wrong) = namespace.chars().find(|c| !allowed(*c)) {
        faults.add("namespace", format!("contains {wrong:?}; only letters, digits and `_.-` are allowed"));
    } else if namespace.split('.').any(str::is_empty) {
        faults.add("namespace", "must not begin or end with a dot or have two in a row");
    }
}

fn check_source(source: &ProviderSource, faults: &mut Faults) {
    match source {
        ProviderSource::McpStdio { argv, env, pass_env, read_only_paths, workspace: _ } => {
            faults.length("source.argv", argv.len());
            if argv.first().is_none_or(String::is_empty) {
                faults.add("source.argv[0]", "must name the program");
            }
            argv.iter().enumerate().for_each(|(index, text)| faults.text(&format!("source.argv[{index}]"), text));
            if let Some(option) = secret_option(argv) {
                faults.add(
                    "source.argv",
                    format!("the value of `--{}` looks like a secret: {NO_SECRETS}", excerpt(option, 80)),
                );
            }
            faults.length("source.env", env.len());
            for (name, value) in env {
                check_variable(&format!("source.env.{}", excerpt(name, 80)), name, faults);
                faults.text(&format!("source.env.{}", excerpt(name, 80)), value);
                faults.secret(&format!("source.env.{}", excerpt(name, 80)), name);
            }
            faults.length("source.pass_env", pass_env.len());
            for (index, name) in pass_env.iter().enumerate() {
                check_variable(&format!("source.pass_env[{index}]"), name, faults);
            }
            faults.length("source.read_only_paths", read_only_paths.len());
            for (index, path) in read_only_paths.iter().enumerate() {
                check_path(&format!("source.read_only_paths[{index}]"), path, faults);
            }
        }
        ProviderSource::McpHttp { url, headers } => {
            check_url("source.url", url, faults);
            let query = url.split_once('?').map_or("", |(_, query)| query);
            query.split('&').for_each(|pair| faults.secret("source.url", pair.split('=').next().unwrap_or_default()));
            faults.length("source.headers", headers.len());
            for (name, value) in headers {
                check_header(&format!("source.headers.{}", excerpt(name, 80)), name, faults);
                faults.secret(&format!("source.headers.{}", excerpt(name, 80)), name);
                if value.chars().any(char::is_control) || value.len() > MAX_TEXT {
                    faults.add(format!("source.headers.{}", excerpt(name, 80)), "is not the value of a header");
                }
            }
        }
        ProviderSource::Openapi { document, server_url, server_variables, selection } => {
            if let ProviderDocument::Url { url } = document {
                check_url("source.document.url", url, faults);
            }
            if !server_url.is_empty() {
                check_url("source.server_url", server_url, faults);
            }
            faults.length("source.server_variables", server_variables.len());
            for (name, list) in [
                ("operations", &selection.operations),
                ("tags", &selection.tags),
                ("methods", &selection.methods),
                ("except", &selection.except),
            ] {
                // A document may have hundreds of operations.
                if list.len() > 16 * MAX_ENTRIES {
                    faults.add(format!("source.selection.{name}"), format!("at most {} are allowed", 16 * MAX_ENTRIES));
                }
                for (index, text) in list.iter().enumerate() {
                    faults.text(&format!("source.selection.{name}[{index}]"), text);
                }
            }
        }
        ProviderSource::Worker { native_prefix } => {
            if let Err(rule) = check_prefix(native_prefix) {
                faults.add("source.native_prefix", rule);
            }
        }
        ProviderSource::File { path } => check_path("source.path", path, faults),
    }
}

fn check_credentials(provider: &Provider, faults: &mut Faults) {
    faults.length("credentials", provider.credentials.len());
    let is_process = matches!(provider.source, ProviderSource::McpStdio { .. });
    let is_asked = matches!(provider.source, ProviderSource::McpHttp { .. } | ProviderSource::Openapi { .. });
    let is_document = matches!(provider.source, ProviderSource::Openapi { .. });
    let mut places = BTreeSet::new();
    for (index, used) in provider.credentials.iter().enumerate() {
        let place = format!("credentials[{index}]");
        if let Err(rule) = toolplane_records::ids::check_id(&used.credential) {
            faults.add(format!("{place}.credential"), rule.to_string());
        }
        let at = format!("{place}.placement");
        let (fits, spot) = match &used.placement {
            CredentialPlacement::Env { name } => {
                check_variable(&at, name, faults);
                (is_process, format!("env {name}"))
            }
            CredentialPlacement::File { name } => {
                check_file(&at, name, faults);
                (is_process, format!("file {name}"))
            }
            CredentialPlacement::Header { name, .. } => {
                check_credential_header(&at, name, faults);
                (is_asked, format!("header {}", name.to_ascii_lowercase()))
            }
            CredentialPlacement::Query { name } => (is_asked, format!("query {name}")),
            CredentialPlacement::Cookie { name } => (is_asked, format!("cookie {name}")),
            CredentialPlacement::Proxy { hosts, name, .. } => {
                check_credential_header(&at, name, faults);
                check_proxied(&at, hosts, &provider.reach.hosts, faults);
                (is_process, format!("proxy {} {}", hosts.join(" "), name.to_ascii_lowercase()))
            }
        };
        if !fits {
            faults.add(&at, format!("a provider of the kind `{}` has no such place", provider.source.kind()));
        }
        if !places.insert(spot) {
            faults.add(at, "another credential is put there");
        }
    }
    faults.length("scheme_credentials", provider.scheme_credentials.len());
    for (scheme, credential) in &provider.scheme_credentials {
        let place = format!("scheme_credentials.{}", excerpt(scheme, 80));
        if let Err(rule) = toolplane_records::ids::check_id(credential) {
            faults.add(&place, rule.to_string());
        }
        if !is_document {
            faults.add(&place, format!("a provider of the kind `{}` has no schemes", provider.source.kind()));
        }
    }
}

/// A header is put into requests to hosts that the program may reach.
fn check_proxied(field: &str, hosts: &[String], reached: &[String], faults: &mut Faults) {
    if hosts.is_empty() || hosts.len() > MAX_PROXIED {
        faults.add(field, format!("must name 1 to {MAX_PROXIED} hosts it is for"));
    }
    let reached: Vec<HostPattern> = reached.iter().filter_map(|host| HostPattern::parse(host).ok()).collect();
    for host in hosts {
        let is_reached = |pattern: HostPattern| reached.iter().any(|reached| reached.covers(&pattern));
        if !HostPattern::parse(host).is_ok_and(is_reached) {
            faults.add(field, format!("`{}` is not among the hosts it may reach (`reach.hosts`)", excerpt(host, 80)));
        }
    }
}

fn check_file(field: &str, name: &str, faults: &mut Faults) {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if name.is_empty() || name.starts_with('.') || !name.bytes().all(plain) {
        faults.add(field, "is not the name of a file: letters, digits and `-_.`, and no folders");
    }
}

fn check_variable(field: &str, name: &str, faults: &mut Faults) {
    let well_formed = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !well_formed {
        faults.add(field, "is not an environment variable");
    }
}

fn check_header(field: &str, name: &str, faults: &mut Faults) {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if name.is_empty() || !name.bytes().all(token) {
        faults.add(field, "is not the name of a header");
    }
}

fn check_credential_header(field: &str, name: &str, faults: &mut Faults) {
    if let Err(fault) = toolplane_records::credential::check_header(name) {
        faults.add(field, format!("`{}` {fault}", excerpt(name, 80)));
    }
}

fn check_path(field: &str, path: &str, faults: &mut Faults) {
    faults.text(field, path);
    if !path.starts_with('/') || path.split('/').any(|part| part == "..") {
        faults.add(field, "must be an absolute path without `..`");
    }
}

/// An address with a scheme and a host, and without anything secret or hidden in it.
fn check_url(field: &str, url: &str, faults: &mut Faults) {
    faults.text(field, url);
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    let authority = rest.map(|rest| rest.split(['/', '?', '#']).next().unwrap_or_default());
    match authority {
        None | Some("") => faults.add(field, "must begin with `https://` or `http://` and a host"),
        Some(authority) if authority.contains('@') => {
            faults.add(field, "must not hold a name or a password: name a credential instead");
        }
        Some(_) if url.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') => {
            faults.add(field, "holds characters that an address cannot have");
        }
        Some(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn faults(change: impl FnOnce(&mut Value)) -> Vec<String> {
        let mut value = json!({ "provider_id": "gh", "tenant": "default", "namespace": "github", "reach": {},
            "source": { "kind": "mcp_stdio", "argv": ["server"] } });
        change(&mut value);
        check(&serde_json::from_value(value).unwrap()).into_iter().map(|fault| fault.field).collect()
    }

    fn of_source(source: Value) -> Vec<String> {
        faults(|value| value["source"] = source)
    }

    #[test]
    fn each_field_has_its_rules() {
        let none: [&str; 0] = [];
        assert_eq!(faults(|_| {}), none);
        assert_eq!(faults(|value| value["provider_id"] = json!("a/b")), ["provider_id"]);
        for wrong in ["", "a b", ".a", "a..b", &"n".repeat(32)] {
            assert_eq!(faults(|value| value["namespace"] = json!(wrong)), ["namespace"], "{wrong}");
        }
        assert_eq!(
            faults(|value| value["reach"] = json!({ "hosts": ["*.a.org", "a b"], "ports": [0] })),
            ["reach.hosts[1]", "reach.ports"]
        );
        assert_eq!(faults(|value| value["refresh_interval_ms"] = json!(1)), ["refresh_interval_ms"]);
    }

    #[test]
    fn each_source_has_its_rules() {
        let none: [&str; 0] = [];
        let stdio = json!({ "kind": "mcp_stdio", "argv": [""], "env": { "1A": "" }, "pass_env": ["A=B"],
            "read_only_paths": ["/usr/../etc", "/usr"] });
        let wrong = ["source.argv[0]", "source.env.1A", "source.pass_env[0]", "source.read_only_paths[0]"];
        assert_eq!(of_source(stdio), wrong);
        for wrong in ["", "ftp://a", "https://", "https://user:secret@a.org/", "https://a.org/\n", "http:///x"] {
            assert_eq!(of_source(json!({ "kind": "mcp_http", "url": wrong })), ["source.url"], "{wrong:?}");
        }
        let headers = json!({ "kind": "mcp_http", "url": "https://a.org", "headers": { "A B": "", "C": "x\r\nD: y" } });
        assert_eq!(of_source(headers), ["source.headers.A B", "source.headers.C"]);
        for (prefix, wrong) in [("acme.", &none[..]), ("acme", &["source.native_prefix"])] {
            assert_eq!(of_source(json!({ "kind": "worker", "native_prefix": prefix })), wrong, "{prefix}");
        }
        assert_eq!(of_source(json!({ "kind": "file", "path": "tools.json" })), ["source.path"]);
        let document = json!({ "kind": "openapi", "document": { "from": "url", "url": "https://a.org/openapi.json" },
            "server_url": "https://{region}.a.org" });
        assert_eq!(of_source(document), none);
    }

    #[test]
    fn no_provider_holds_a_secret() {
        let program =
            json!({ "kind": "mcp_stdio", "argv": ["x", "--token", "ghp_1"], "env": { "API_KEY": "s", "TZ": "UTC" } });
        assert_eq!(of_source(program), ["source.argv", "source.env.API_KEY"]);
        let asked = json!({ "kind": "mcp_http", "url": "https://a.org/mcp?team=1&apiKey=s", "headers": { "Authorization": "s" } });
        assert_eq!(of_source(asked), ["source.url", "source.headers.Authorization"]);
    }

    #[test]
    fn credentials_have_places_that_there_are() {
        let placed = |placement: Value| json!({ "credential": "token", "placement": placement });
        let found = faults(|value| {
            value["credentials"] = json!([
                placed(json!({ "in": "env", "name": "TOKEN" })),
                placed(json!({ "in": "env", "name": "TOKEN" })),
                placed(json!({ "in": "header", "name": "Authorization" })),
                placed(json!({ "in": "file", "name": "../key" })),
            ]);
            value["scheme_credentials"] = json!({ "oauth": "token" });
        });
        let places = ["credentials[1].placement", "credentials[2].placement", "credentials[3].placement"];
        assert_eq!(found, [&places[..], &["scheme_credentials.oauth"]].concat());
    }

    #[test]
    fn a_header_is_put_into_requests_that_can_be_made() {
        let of = |hosts: Value, source: &str| {
            faults(|value| {
                value["source"] = json!({ "kind": source, "argv": ["server"], "url": "https://a.org/" });
                value["reach"] = json!({ "hosts": ["api.a.org", "*.b.org"] });
                let placement = json!({ "in": "proxy", "hosts": hosts, "name": "X-Key" });
                value["credentials"] = json!([{ "credential": "token", "placement": placement }]);
            })
        };
        let none: [&str; 0] = [];
        assert_eq!(of(json!(["api.a.org", "x.b.org", "*.y.b.org"]), "mcp_stdio"), none);
        for wrong in [json!([]), json!(["a.org"]), json!(["*.a.org"]), json!(["a b"]), json!(["*"])] {
            assert_eq!(of(wrong.clone(), "mcp_stdio"), ["credentials[0].placement"], "{wrong}");
        }
        assert_eq!(of(json!(["api.a.org"]), "mcp_http"), ["credentials[0].placement"]);
    }

    #[test]
    fn no_credential_is_put_into_a_header_of_the_connection() {
        for (name, expected) in [("X-Key", &[][..]), ("Host", &["credentials[0].placement"])] {
            let found = faults(|value| {
                value["source"] = json!({ "kind": "mcp_http", "url": "https://a.org/" });
                let placement = json!({ "in": "header", "name": name });
                value["credentials"] = json!([{ "credential": "token", "placement": placement }]);
            });
            assert_eq!(found, expected, "{name}");
        }
    }
}
