//! The hooks: programs and services that are asked before and after a call.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toolplane_records::explanation::HookVerdict;
use toolplane_records::vocabulary::HookEvent;

use super::error::ConfigError;
use super::server::PeersConfig;

/// Most hooks of one configuration.
const MAX_HOOKS: usize = 256;
/// Longest time one hook may take.
const MAX_TIMEOUT_MS: u64 = 60_000;
/// Most bytes of memory one hook may be given.
const MAX_MEMORY: u64 = 8 * 1024 * 1024 * 1024;

/// One hook. Exactly one of `command` and `grpc` says what it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct HookConfig {
    /// Its name in records and logs; unique.
    pub id: String,
    /// The points of a call at which it is asked.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<HookPoint>"))]
    pub events: Vec<HookEvent>,
    /// Which calls it is asked about, e.g. `Bash`, `Bash(git push:*)`, `Write|Edit`, `mcp__github__*` or `files.*`; every call when
    /// absent. Each text between `|` fits what it fits in a rule that denies. A plain word that is almost the name of a family of
    /// tools (`Bsh`) is refused.
    pub matcher: Option<String>,
    /// Program and arguments, run in the sandbox for every call, with the call as JSON on standard input.
    pub command: Option<Vec<String>>,
    /// Endpoint of a `HookService`: `https://`, or `http://` on loopback.
    pub grpc: Option<String>,
    /// File whose first line is the bearer token shown to the service.
    pub token_file: Option<PathBuf>,
    /// Authority that signed the certificate of the service (PEM); `peers.ca_file` when absent.
    pub ca_file: Option<PathBuf>,
    /// How long one answer may take. A hook that is late has failed.
    pub timeout_ms: u64,
    /// Hooks with a smaller number are asked first; those with the same number in the order they are written.
    pub order: i32,
    /// Its `allow` counts like a rule of the operator. Without it a hook can only tighten.
    pub authoritative: bool,
    /// The hook is a safety classifier, and this is what it may decide.
    pub classifier_authority: Option<HookAuthority>,
    /// Variables of this process that the program may see; it sees no others.
    pub env: Vec<String>,
    /// Further directories or files the program may read, at the same path. Needed for programs outside `/usr`.
    pub read_only_paths: Vec<PathBuf>,
    /// Memory of the program in bytes.
    pub memory_bytes: u64,
    /// Processes and threads of the program.
    pub pids: u32,
    /// Whether it is asked at all.
    pub enabled: bool,
}

/// What a classifier may decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum HookAuthority {
    /// It may decide, with yes or no, a question that nothing else decides.
    Approve,
    /// It may deny.
    Deny,
    /// It is only recorded.
    Recommend,
}

/// The points of a call, for the schema.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum HookPoint {
    PreToolUse,
    PostToolUse,
    PostToolUseFailure,
    PermissionRequest,
    PermissionDecision,
    ResultPersistence,
}

impl Default for HookConfig {
    fn default() -> Self {
        Self {
            id: String::new(),
            events: Vec::new(),
            matcher: None,
            command: None,
            grpc: None,
            token_file: None,
            ca_file: None,
            timeout_ms: 5_000,
            order: 0,
            authoritative: false,
            classifier_authority: None,
            env: Vec::new(),
            read_only_paths: Vec::new(),
            memory_bytes: 256 * 1024 * 1024,
            pids: 32,
            enabled: true,
        }
    }
}

impl HookConfig {
    /// How long one answer may take.
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms)
    }

    /// The first rule this hook breaks by itself: the key and the rule.
    fn fault(&self, peers_ca: bool) -> Option<(&'static str, String)> {
        let fault = |key, rule: &str| Some((key, rule.to_owned()));
        if let Err(rule) = toolplane_records::ids::check_id(&self.id) {
            return Some(("id", format!("`{}` {rule}", self.id)));
        }
        if self.id.starts_with(HookVerdict::RESERVED) {
            // What asks under such a name is believed to be the cluster itself.
            return Some((
                "id",
                format!("`{}` begins with `{}`, which is for the cluster itself", self.id, HookVerdict::RESERVED),
            ));
        }
        if self.events.is_empty() {
            return fault("events", "must name at least one point of a call");
        }
        if self.events.iter().collect::<BTreeSet<_>>().len() != self.events.len() {
            return fault("events", "names a point twice");
        }
        if !(1..=MAX_TIMEOUT_MS).contains(&self.timeout_ms) {
            return Some(("timeout_ms", format!("`{}` is not between 1 and {MAX_TIMEOUT_MS}", self.timeout_ms)));
        }
        if self.matcher.as_ref().is_some_and(|matcher| matcher.len() > 4096) {
            return fault("matcher", "is longer than 4096 bytes");
        }
        match (&self.command, &self.grpc) {
            (Some(argv), None) => self.command_fault(argv),
            (None, Some(url)) => self.service_fault(url, peers_ca),
            (None, None) => fault("command", "is missing: a hook is a `command` or a `grpc` service"),
            (Some(_), Some(_)) => fault("grpc", "stands beside `command`: a hook is one of them"),
        }
    }

    fn command_fault(&self, argv: &[String]) -> Option<(&'static str, String)> {
        let fault = |key, rule: &str| Some((key, rule.to_owned()));
        if argv.first().is_none_or(String::is_empty) {
            return fault("command", "must name a program");
        }
        if self.token_file.is_some() || self.ca_file.is_some() {
            return fault("token_file", "is for `grpc` services");
        }
        if !(16 * 1024 * 1024..=MAX_MEMORY).contains(&self.memory_bytes) {
            return Some(("memory_bytes", format!("`{}` is not between 16 MiB and 8 GiB", self.memory_bytes)));
        }
        if !(8..=4096).contains(&self.pids) {
            return Some(("pids", format!("`{}` is not between 8 and 4096", self.pids)));
        }
        None
    }

    fn service_fault(&self, url: &str, peers_ca: bool) -> Option<(&'static str, String)> {
        let fault = |key, rule: String| Some((key, rule));
        if !self.env.is_empty() || !self.read_only_paths.is_empty() {
            return fault("env", "and `read_only_paths` are for commands".to_owned());
        }
        match check_service(url, self.ca_file.is_some() || peers_ca) {
            Ok(()) => None,
            Err(ServiceFault::Url(rule)) => fault("grpc", rule),
            Err(ServiceFault::Ca(rule)) => fault("ca_file", rule),
        }
    }
}

/// What is wrong with a service of somebody else that is asked over gRPC.
pub(super) enum ServiceFault {
    /// Its address.
    Url(String),
    /// That nobody says who signs its certificate.
    Ca(String),
}

/// Checks the address of such a service: `https` with a known authority, or `http` on loopback.
pub(super) fn check_service(url: &str, has_ca: bool) -> Result<(), ServiceFault> {
    let parsed: Option<http::Uri> = url.parse().ok();
    let host = parsed.as_ref().and_then(|url| url.host()).filter(|host| !host.is_empty());
    let (Some(parsed), Some(host)) = (&parsed, host) else {
        return Err(ServiceFault::Url(format!("`{url}` is not a URL with a host")));
    };
    match parsed.scheme_str() {
        Some("https") if !has_ca => Err(ServiceFault::Ca("is needed for `https`, or `peers.ca_file`".to_owned())),
        Some("https") => Ok(()),
        Some("http") if is_loopback(host) => Ok(()),
        Some("http") => {
            Err(ServiceFault::Url(format!("`{url}` would carry what is asked in clear text: use `https://`")))
        }
        _ => Err(ServiceFault::Url(format!("`{url}` must start with `https://`, or with `http://` on loopback"))),
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost" || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The rules every hook keeps by itself and beside the others. Matchers and programs are checked by who runs them.
pub(super) fn check(hooks: &[HookConfig], peers: &PeersConfig) -> Result<(), ConfigError> {
    if hooks.len() > MAX_HOOKS {
        return Err(ConfigError::value("hooks", format!("has more than {MAX_HOOKS} entries")));
    }
    let mut ids = BTreeSet::new();
    for (index, hook) in hooks.iter().enumerate() {
        let at = |key: &str| format!("hooks[{index}].{key}");
        if let Some((key, rule)) = hook.fault(peers.ca_file.is_some()) {
            return Err(ConfigError::value(&at(key), rule));
        }
        if !ids.insert(&hook.id) {
            return Err(ConfigError::value(&at("id"), format!("`{}` is the id of an earlier hook", hook.id)));
        }
    }
    Ok(())
}
