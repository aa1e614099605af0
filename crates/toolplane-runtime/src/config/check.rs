//! Rules between keys, and ranges of values.

use std::net::SocketAddr;

use super::{Config, ConfigError, PeersConfig, ServerConfig};

/// Most connections any key may name.
const MAX_CONNECTIONS: u64 = 1_000_000;
/// Most files of one workspace: it is looked through before and after every call that writes there.
const MAX_TENANT_FILES: u64 = 1_000_000;
/// Most tools that metrics may tell apart: each has some dozen series, and names are never forgotten.
const MAX_TOOL_NAMES: u64 = 2_000;
/// Longest time any key may have outputs kept: a hundred years.
const MAX_KEPT_DAYS: u64 = 36_500;
/// Longest interval any key may name: a year.
const MAX_MS: u64 = 365 * 24 * 60 * 60 * 1000;

/// Where other machines can reach a listener, callers must be known and the wire must be encrypted.
pub(super) fn check_exposed(key: &str, listen: SocketAddr, server: &ServerConfig) -> Result<(), ConfigError> {
    if listen.ip().is_loopback() || (server.tls.is_some() && server.auth.is_some()) {
        return Ok(());
    }
    let missing = match (&server.tls, &server.auth) {
        (None, None) => "`server.tls` and `server.auth`",
        (None, _) => "`server.tls`",
        _ => "`server.auth`",
    };
    let rule = format!("`{listen}` can be reached from other machines: set {missing}, or listen on loopback");
    Err(ConfigError::value(key, rule))
}

impl Config {
    /// Checks ranges and the rules between keys; the first broken one is reported.
    ///
    /// Files are not opened here: that a certificate can be read is found when the listener starts.
    ///
    /// Fails with [`ConfigError::Value`], which names the key and the rule.
    pub fn check(&self) -> Result<(), ConfigError> {
        check_exposed("server.listen", self.server.listen, &self.server)?;
        self.check_gateway()?;
        super::check_auth::check(&self.server)?;
        self.check_peers()?;
        self.check_intervals()?;
        self.check_sizes()?;
        self.check_workspaces()?;
        self.surface.check(&self.credentials, &self.peers)?;
        self.scheduler.check()?;
        self.store.check()?;
        super::hooks::check(&self.hooks, &self.peers)?;
        toolplane_credentials::config::check(&self.credentials)
            .map_err(|fault| ConfigError::value(&fault.key, fault.rule))?;
        self.permission.check()?;
        self.check_telemetry()
    }

    fn check_peers(&self) -> Result<(), ConfigError> {
        let PeersConfig { surface, permission, scheduler, .. } = &self.peers;
        let urls = [("peers.surface", surface), ("peers.permission", permission), ("peers.scheduler", scheduler)];
        for (key, endpoints) in urls {
            for url in endpoints.urls() {
                self.check_peer(key, url)?;
            }
        }
        Ok(())
    }

    fn check_peer(&self, key: &str, url: &str) -> Result<(), ConfigError> {
        let parsed: http::Uri = url.parse().map_err(|_| ConfigError::value(key, format!("`{url}` is not a URL")))?;
        let secure = match parsed.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(ConfigError::value(key, format!("`{url}` must start with `http://` or `https://`"))),
        };
        let Some(host) = parsed.host().filter(|host| !host.is_empty()) else {
            return Err(ConfigError::value(key, format!("`{url}` names no host")));
        };
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let local = bare == "localhost" || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
        if secure && self.peers.ca_file.is_none() {
            let rule = format!("`{url}` is encrypted: `peers.ca_file` must name who signed its certificate");
            return Err(ConfigError::value(key, rule));
        }
        if !secure && !local && (self.peers.token_file.is_some() || self.server.auth.is_some()) {
            let rule = format!("`{url}` would carry the bearer token in clear text: use `https://`");
            return Err(ConfigError::value(key, rule));
        }
        Ok(())
    }

    fn check_intervals(&self) -> Result<(), ConfigError> {
        let scheduler = &self.scheduler;
        let intervals = [
            ("server.drain_timeout_ms", self.server.drain_timeout_ms, 0),
            ("server.max_connection_age_ms", self.server.max_connection_age_ms, 0),
            ("server.connection_grace_ms", self.server.connection_grace_ms, 0),
            ("server.keepalive_ms", self.server.keepalive_ms, 100),
            ("server.first_request_ms", self.server.first_request_ms, 100),
            ("permission.approval_ttl_ms", self.permission.approval_ttl_ms, 1),
            ("permission.approval_holds_ms", self.permission.approval_holds_ms, 1),
            ("scheduler.lease_ms", scheduler.lease_ms, 100),
            ("scheduler.offer_ms", scheduler.offer_ms, 10),
            ("scheduler.heartbeat_ms", scheduler.heartbeat_ms, 10),
            ("scheduler.default_timeout_ms", scheduler.default_timeout_ms, 1),
            ("scheduler.max_timeout_ms", scheduler.max_timeout_ms, 1),
            ("scheduler.tick_ms", scheduler.tick_ms, 10),
            ("scheduler.export_settle_ms", scheduler.export_settle_ms, 0),
            ("executor.sandbox.grace_ms", self.executor.sandbox.grace_ms, 0),
            ("executor.mcp.idle_ms", self.executor.mcp.idle_ms, 1),
            ("executor.mcp.lifetime_ms", self.executor.mcp.lifetime_ms, 1),
            ("mcp.wait_ms", self.mcp.clone().unwrap_or_default().wait_ms, 1_000),
            ("telemetry.metrics_interval_ms", self.telemetry.metrics_interval_ms, 0),
            ("telemetry.keep_slow_ms", self.telemetry.keep_slow_ms, 0),
            ("telemetry.flush_timeout_ms", self.telemetry.flush_timeout_ms, 0),
        ];
        for (key, value, least) in intervals {
            if !(least..=MAX_MS).contains(&value) {
                return Err(ConfigError::value(key, format!("`{value}` is not between {least} and {MAX_MS}")));
            }
        }
        if scheduler.heartbeat_ms.saturating_mul(3) > scheduler.lease_ms {
            let rule = "must be at most a third of `scheduler.lease_ms`, so that one lost heartbeat loses no lease";
            return Err(ConfigError::value("scheduler.heartbeat_ms", rule));
        }
        if scheduler.default_timeout_ms > scheduler.max_timeout_ms {
            let rule = "must not be more than `scheduler.max_timeout_ms`";
            return Err(ConfigError::value("scheduler.default_timeout_ms", rule));
        }
        Ok(())
    }

    fn check_sizes(&self) -> Result<(), ConfigError> {
        let (server, fewest) = (&self.server, crate::server::FEWEST_CONNECTIONS);
        let message = server.max_message_bytes as u64;
        let sizes = [
            ("server.max_message_bytes", message, 16 * 1024, 256 * 1024 * 1024),
            ("scheduler.max_input_bytes", self.scheduler.max_input_bytes, 1, message / 2),
            ("scheduler.max_inline_result_bytes", self.scheduler.max_inline_result_bytes, 1, message / 8),
            ("scheduler.max_queued_per_tenant", self.scheduler.max_queued_per_tenant, 1, u64::MAX),
            ("scheduler.max_watchers_per_tenant", self.scheduler.max_watchers_per_tenant as u64, 1, 1_000_000),
            ("scheduler.max_watchers", self.scheduler.max_watchers as u64, 1, 1_000_000),
            ("objects.max_bytes", self.objects.max_bytes, 1, u64::MAX),
            ("objects.retention_days", u64::from(self.objects.retention_days.unwrap_or(1)), 1, MAX_KEPT_DAYS),
            (
                "server.max_connections",
                u64::from(server.max_connections.unwrap_or(fewest)),
                u64::from(fewest),
                MAX_CONNECTIONS,
            ),
            (
                "server.max_connections_per_address",
                u64::from(server.max_connections_per_address.unwrap_or(1)),
                1,
                MAX_CONNECTIONS,
            ),
            (
                "gateway.max_connections",
                u64::from(self.gateway().unwrap_or_default().max_connections),
                8,
                MAX_CONNECTIONS,
            ),
            ("telemetry.metrics_tools", self.telemetry.metrics_tools as u64, 1, MAX_TOOL_NAMES),
            ("executor.slots", u64::from(self.executor.slots()), 1, 4096),
            ("executor.quota.call_bytes", self.executor.quota.call_bytes, 1, u64::MAX),
            ("executor.quota.call_files", self.executor.quota.call_files, 1, u64::MAX),
            ("executor.quota.tenant_bytes", self.executor.quota.tenant_bytes, 1, u64::MAX),
            ("executor.quota.tenant_files", self.executor.quota.tenant_files, 1, MAX_TENANT_FILES),
            ("executor.quota.worker_bytes", self.executor.quota.worker_bytes, 1, u64::MAX),
            ("executor.quota.worker_files", self.executor.quota.worker_files, 1, u64::MAX),
            ("executor.sandbox.pids", u64::from(self.executor.sandbox.pids), 8, u64::MAX),
            ("executor.mcp.sessions", u64::from(self.executor.mcp.sessions), 1, 4096),
            ("executor.mcp.calls_at_once", u64::from(self.executor.mcp.calls_at_once), 1, 4096),
            ("executor.mcp.calls", self.executor.mcp.calls, 1, u64::MAX),
            ("executor.mcp.pids", u64::from(self.executor.mcp.pids), 8, u64::MAX),
        ];
        for (key, value, least, most) in sizes {
            if !(least..=most).contains(&value) {
                return Err(ConfigError::value(key, format!("`{value}` is not between {least} and {most}")));
            }
        }
        let is_known = |url: &str| ["file:///", "s3://", "gs://", "az://"].iter().any(|known| url.starts_with(known));
        if self.objects.url.as_deref().is_some_and(|url| !is_known(url)) {
            let rule = "must begin with `file:///`, `s3://`, `gs://` or `az://`";
            return Err(ConfigError::value("objects.url", rule));
        }
        if self.objects.url.is_some() && self.objects.path.is_some() {
            let rule = "names another place than `objects.path`: one of them is enough";
            return Err(ConfigError::value("objects.url", rule));
        }
        if let Some(path) = self.executor.mcp.read_paths.iter().find(|path| !path.is_absolute()) {
            let rule = format!("`{}` is not an absolute path", path.display());
            return Err(ConfigError::value("executor.mcp.read_paths", rule));
        }
        let is_name =
            |image: &String| (1..=512).contains(&image.len()) && image.bytes().all(|byte| byte.is_ascii_graphic());
        if let Some(image) = self.executor.image.as_ref().filter(|image| !is_name(image)) {
            let rule = format!("`{image}` is not the name of an image: 1 to 512 visible ASCII characters");
            return Err(ConfigError::value("executor.image", rule));
        }
        if let Some(worker) = &self.executor.worker_id {
            toolplane_records::ids::WorkerId::given(worker)
                .map_err(|rule| ConfigError::value("executor.worker_id", format!("`{worker}` {rule}")))?;
        }
        Ok(())
    }

    fn check_telemetry(&self) -> Result<(), ConfigError> {
        let telemetry = &self.telemetry;
        if let Some(listen) = telemetry.metrics_listen {
            check_exposed("telemetry.metrics_listen", listen, &self.server)?;
        }
        if !(0.0..=1.0).contains(&telemetry.sample_ratio) {
            let rule = format!("`{}` is not between 0 and 1", telemetry.sample_ratio);
            return Err(ConfigError::value("telemetry.sample_ratio", rule));
        }
        if let Some(endpoint) = &telemetry.otlp_endpoint
            && endpoint.parse::<http::Uri>().ok().and_then(|uri| uri.host().map(str::len)).is_none()
        {
            return Err(ConfigError::value("telemetry.otlp_endpoint", format!("`{endpoint}` is not a URL")));
        }
        crate::telemetry::parse_filter(&self.log.filter)
            .map(drop)
            .map_err(|rule| ConfigError::value("log.filter", rule.to_string()))
    }
}
