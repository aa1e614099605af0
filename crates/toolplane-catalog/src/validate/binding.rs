//! Execution and permission profiles, and whether the binding can carry out what the profile says.

mod credentials;
mod mcp;
mod operation;

use toolplane_matching::host::HostPattern;
use toolplane_records::profile::{ExecutionBinding, HttpBinding, ProcessBinding};
use toolplane_records::vocabulary::ExecutionKind;

use super::checks::{Schemas, check_list_length, check_name, check_text, check_version};
use super::declaration::check_mappings;
use crate::limits::CatalogLimits;
use crate::registration::Registration;
use crate::violations::{Violations, shown};

const BINDING: &str = "execution_profile.binding";

pub(super) fn check(registration: &Registration, schemas: &Schemas, limits: &CatalogLimits, faults: &mut Violations) {
    if let Some(profile) = &registration.permission_profile {
        check_version("permission_profile.schema_version", &profile.schema_version, faults);
        check_list_length("permission_profile.credential_refs", profile.credential_refs.len(), limits, faults);
        if let Some(reason) = &profile.approval_reason {
            check_text("permission_profile.approval_reason", reason, limits.declaration.max_short_text_chars, faults);
        }
    }
    let Some(profile) = &registration.execution_profile else { return };
    check_version("execution_profile.schema_version", &profile.schema_version, faults);
    check_mappings("execution_profile.external_mappings", &profile.external_mappings, limits, faults);
    if profile.timeout_ms.is_some_and(|timeout| timeout == 0 || timeout > limits.declaration.max_timeout_ms) {
        faults.add("execution_profile.timeout_ms", format!("must be 1 to {}", limits.declaration.max_timeout_ms));
    }
    if let Some(name) = &profile.sandbox_profile {
        check_name("execution_profile.sandbox_profile", name, faults);
        if !profile.sandboxed {
            faults.add("execution_profile.sandbox_profile", "is named, but `sandboxed` is not true");
        }
    }
    let Some(binding) = &profile.binding else { return };
    let kind = profile.execution_kind;
    if !carries_out(binding, kind) {
        faults.add(
            BINDING,
            format!("a `{}` binding cannot carry out the execution kind `{kind}`", binding_type(binding)),
        );
    }
    match binding {
        ExecutionBinding::Native { name } => check_name(&format!("{BINDING}.name"), name, faults),
        ExecutionBinding::Shell { shell } => check_shell(shell.as_deref(), schemas, faults),
        ExecutionBinding::Process(process) => check_process(process, schemas, limits, faults),
        ExecutionBinding::Http(http) => check_http(http, limits, faults),
        ExecutionBinding::Mcp(mcp) => mcp::check(mcp, limits, faults),
        ExecutionBinding::Operation(operation) => operation::check(operation, limits, faults),
    }
}

/// Checks what earlier versions took. Of a new registration alone.
pub(super) fn check_new(registration: &Registration, faults: &mut Violations) {
    let binding = registration.execution_profile.as_ref().and_then(|profile| profile.binding.as_ref());
    if let Some(binding) = binding {
        credentials::check_headers(binding, faults);
    }
}

fn carries_out(binding: &ExecutionBinding, kind: ExecutionKind) -> bool {
    use ExecutionKind as K;
    match binding {
        _ if kind == K::Hybrid => true,
        ExecutionBinding::Native { .. } => matches!(kind, K::EmbeddedRuntime | K::NativeApp),
        ExecutionBinding::Shell { .. } => kind == K::Shell,
        ExecutionBinding::Process(_) => kind == K::LocalProcess,
        ExecutionBinding::Http(_) | ExecutionBinding::Operation(_) => kind == K::HttpApi,
        ExecutionBinding::Mcp(_) => kind == K::McpServer,
    }
}

fn binding_type(binding: &ExecutionBinding) -> &'static str {
    match binding {
        ExecutionBinding::Native { .. } => "native",
        ExecutionBinding::Shell { .. } => "shell",
        ExecutionBinding::Process(_) => "process",
        ExecutionBinding::Http(_) => "http",
        ExecutionBinding::Mcp(_) => "mcp",
        ExecutionBinding::Operation(_) => "operation",
    }
}

fn check_shell(shell: Option<&str>, schemas: &Schemas, faults: &mut Violations) {
    if shell.is_some_and(|shell| !shell.starts_with('/') || shell.contains('\0')) {
        faults.add(format!("{BINDING}.shell"), "must be an absolute path");
    }
    if schemas.model.is_some() && !schemas.knows("command") {
        faults.add(BINDING, "takes the input field `command`, which no schema describes");
    }
}

fn check_process(process: &ProcessBinding, schemas: &Schemas, limits: &CatalogLimits, faults: &mut Violations) {
    let argv = format!("{BINDING}.argv");
    check_list_length(&argv, process.argv.len(), limits, faults);
    match process.argv.first().map(String::as_str) {
        None | Some("") => faults.add(format!("{argv}[0]"), "must name the program"),
        Some(program) if placeholder(program).is_some() => {
            faults.add(format!("{argv}[0]"), "must be fixed: an input must not choose the program");
        }
        Some(_) => {}
    }
    for (index, argument) in process.argv.iter().enumerate() {
        let place = format!("{argv}[{index}]");
        if argument.contains('\0') {
            faults.add(&place, "must not contain a NUL character");
        }
        if let Some(field) = placeholder(argument)
            && schemas.model.is_some()
            && !schemas.knows(field)
        {
            faults.add(place, format!("takes the input field `{}`, which no schema describes", shown(field, 80)));
        }
    }
    let uses = format!("{BINDING}.credentials");
    credentials::check(&uses, &process.credentials, credentials::Bound::Process, limits, faults);
    for (name, value) in &process.env {
        if !is_variable(name) || value.contains('\0') {
            faults.add(format!("{BINDING}.env.{}", shown(name, 80)), "is not an environment variable");
        }
    }
    if process.success_exit_codes.iter().any(|code| !(0..=255).contains(code)) {
        faults.add(format!("{BINDING}.success_exit_codes"), "must be 0 to 255");
    }
}

fn is_header(name: &str) -> bool {
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.len() <= 128 && name.bytes().all(token)
}

fn is_variable(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The field of an argument that is one placeholder, `{field}`.
fn placeholder(argument: &str) -> Option<&str> {
    argument.strip_prefix('{')?.strip_suffix('}').filter(|field| !field.is_empty())
}

fn check_http(http: &HttpBinding, limits: &CatalogLimits, faults: &mut Violations) {
    const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
    let hosts = format!("{BINDING}.allowed_hosts");
    if http.allowed_hosts.is_empty() {
        faults.add(&hosts, "must name at least one host");
    }
    check_hosts(&hosts, &http.allowed_hosts, limits, faults);
    let uses = format!("{BINDING}.credentials");
    credentials::check(&uses, &http.credentials, credentials::Bound::Request, limits, faults);
    for (index, method) in http.allowed_methods.iter().enumerate() {
        if !METHODS.contains(&method.as_str()) {
            let rule = format!("`{}` is not one of: {}", shown(method, 20), METHODS.join(", "));
            faults.add(format!("{BINDING}.allowed_methods[{index}]"), rule);
        }
    }
    if http.max_response_bytes == Some(0) {
        faults.add(format!("{BINDING}.max_response_bytes"), "must be at least 1");
    }
}

fn check_hosts(field: &str, hosts: &[String], limits: &CatalogLimits, faults: &mut Violations) {
    check_list_length(field, hosts.len(), limits, faults);
    for (index, host) in hosts.iter().enumerate() {
        if !is_host(host) {
            let rule = format!("`{}` is not a host name, an address or `*.<domain>`", shown(host, 80));
            faults.add(format!("{field}[{index}]"), rule);
        }
    }
}

fn is_host(host: &str) -> bool {
    match HostPattern::parse(host) {
        Err(_) => return false,
        Ok(pattern) if pattern.address().is_some() => return true,
        Ok(_) => {}
    }
    let name = host.strip_prefix("*.").unwrap_or(host);
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    name.len() <= 253 && name.split('.').all(label)
}
