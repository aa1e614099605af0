//! Providers, how they are, and their tools.

mod source;

use toolplane_records::provider as records;
use toolplane_records::vocabulary::{ProviderTrust, SessionSharing};

use crate::convert::word::Word as _;
use crate::convert::{ConvertError, field, word};
use crate::v1;

impl From<&records::Provider> for v1::Provider {
    fn from(record: &records::Provider) -> Self {
        Self {
            schema_version: record.schema_version.to_string(),
            provider_id: record.provider_id.to_string(),
            tenant: record.tenant.to_string(),
            namespace: record.namespace.clone(),
            title: record.title.clone(),
            source: Some((&record.source).into()),
            reach: (!record.reach.is_empty()).then(|| (&record.reach).into()),
            credentials: field::outs(&record.credentials),
            trust: record.trust.number(),
            sessions: record.sessions.number(),
            refresh_interval_ms: record.refresh_interval_ms,
            created_by: record.created_by.clone(),
            created_at: field::instant(record.created_at),
            changed_by: record.changed_by.clone(),
            changed_at: record.changed_at.and_then(field::instant),
            revision: record.revision,
            scheme_credentials: record.scheme_credentials.clone(),
        }
    }
}

impl TryFrom<v1::Provider> for records::Provider {
    type Error = ConvertError;

    fn try_from(message: v1::Provider) -> Result<Self, ConvertError> {
        let source = message.source.ok_or_else(|| ConvertError::missing("source"))?;
        Ok(Self {
            schema_version: field::version(&message.schema_version),
            provider_id: field::id("provider_id", &message.provider_id)?,
            tenant: field::id("tenant", &message.tenant)?,
            namespace: message.namespace,
            title: message.title,
            source: source.try_into()?,
            reach: field::optional("reach", message.reach)?.unwrap_or_default(),
            credentials: field::list("credentials", message.credentials)?,
            trust: word::optional_closed("trust", message.trust)?.unwrap_or(ProviderTrust::default()),
            sessions: word::optional_closed("sessions", message.sessions)?.unwrap_or(SessionSharing::default()),
            refresh_interval_ms: message.refresh_interval_ms,
            created_by: message.created_by,
            created_at: field::optional_time("created_at", message.created_at)?.unwrap_or_default(),
            changed_by: message.changed_by,
            changed_at: field::optional_time("changed_at", message.changed_at)?,
            revision: message.revision,
            scheme_credentials: message.scheme_credentials,
        })
    }
}

impl From<&records::Reach> for v1::Reach {
    fn from(record: &records::Reach) -> Self {
        Self { hosts: record.hosts.clone(), ports: record.ports.iter().copied().map(u32::from).collect() }
    }
}

impl TryFrom<v1::Reach> for records::Reach {
    type Error = ConvertError;

    fn try_from(message: v1::Reach) -> Result<Self, ConvertError> {
        Ok(Self { hosts: message.hosts, ports: field::ports("ports", &message.ports)? })
    }
}

impl From<&records::ProviderStatus> for v1::ProviderStatus {
    fn from(record: &records::ProviderStatus) -> Self {
        Self {
            schema_version: record.schema_version.to_string(),
            provider_id: record.provider_id.to_string(),
            tenant: record.tenant.to_string(),
            state: record.state.number(),
            fault: field::out(&record.fault),
            circuit: record.circuit.number(),
            circuit_until: record.circuit_until.and_then(field::instant),
            times_opened: record.times_opened,
            last_success_at: record.last_success_at.and_then(field::instant),
            last_try_at: record.last_try_at.and_then(field::instant),
            next_try_at: record.next_try_at.and_then(field::instant),
            consecutive_failures: record.consecutive_failures,
            call_failures: record.call_failures,
            tools: Some((&record.tools).into()),
            server_name: record.server_name.clone(),
            server_version: record.server_version.clone(),
            protocol_version: record.protocol_version.clone(),
            list_digest: field::text(&record.list_digest),
        }
    }
}

impl TryFrom<v1::ProviderStatus> for records::ProviderStatus {
    type Error = ConvertError;

    fn try_from(message: v1::ProviderStatus) -> Result<Self, ConvertError> {
        Ok(Self {
            schema_version: field::version(&message.schema_version),
            provider_id: field::id("provider_id", &message.provider_id)?,
            tenant: field::id("tenant", &message.tenant)?,
            state: word::closed("state", message.state)?,
            fault: field::optional("fault", message.fault)?,
            circuit: word::closed("circuit", message.circuit)?,
            circuit_until: field::optional_time("circuit_until", message.circuit_until)?,
            times_opened: message.times_opened,
            last_success_at: field::optional_time("last_success_at", message.last_success_at)?,
            last_try_at: field::optional_time("last_try_at", message.last_try_at)?,
            next_try_at: field::optional_time("next_try_at", message.next_try_at)?,
            consecutive_failures: message.consecutive_failures,
            call_failures: message.call_failures,
            tools: message.tools.map(Into::into).unwrap_or_default(),
            server_name: message.server_name,
            server_version: message.server_version,
            protocol_version: message.protocol_version,
            list_digest: field::optional_id("list_digest", &message.list_digest)?,
        })
    }
}

impl From<&records::FaultReport> for v1::FaultReport {
    fn from(record: &records::FaultReport) -> Self {
        Self { code: record.code.number(), message: record.message.clone(), at: field::instant(record.at) }
    }
}

impl TryFrom<v1::FaultReport> for records::FaultReport {
    type Error = ConvertError;

    fn try_from(message: v1::FaultReport) -> Result<Self, ConvertError> {
        let at = field::optional_time("at", message.at)?.unwrap_or_default();
        Ok(Self { code: word::closed("code", message.code)?, message: message.message, at })
    }
}

impl From<&records::ToolCounts> for v1::ToolCounts {
    fn from(record: &records::ToolCounts) -> Self {
        let records::ToolCounts { found, imported, waiting, rejected, refused, withdrawn } = *record;
        Self { found, imported, waiting, rejected, refused, withdrawn }
    }
}

impl From<v1::ToolCounts> for records::ToolCounts {
    fn from(message: v1::ToolCounts) -> Self {
        let v1::ToolCounts { found, imported, waiting, rejected, refused, withdrawn } = message;
        Self { found, imported, waiting, rejected, refused, withdrawn }
    }
}

impl From<&records::ProvidedTool> for v1::ProvidedTool {
    fn from(record: &records::ProvidedTool) -> Self {
        Self {
            schema_version: record.schema_version.to_string(),
            provider_id: record.provider_id.to_string(),
            tenant: record.tenant.to_string(),
            tool_id: record.tool_id.to_string(),
            native_id: record.native_id.clone(),
            digest: field::text(&record.digest),
            state: record.state.number(),
            approved: field::out(&record.approved),
            rejected: field::out(&record.rejected),
            refusal: field::out(&record.refusal),
            first_seen_at: field::instant(record.first_seen_at),
            changed_at: field::instant(record.changed_at),
            notes: record.notes.clone(),
        }
    }
}

impl TryFrom<v1::ProvidedTool> for records::ProvidedTool {
    type Error = ConvertError;

    fn try_from(message: v1::ProvidedTool) -> Result<Self, ConvertError> {
        Ok(Self {
            schema_version: field::version(&message.schema_version),
            provider_id: field::id("provider_id", &message.provider_id)?,
            tenant: field::id("tenant", &message.tenant)?,
            tool_id: field::id("tool_id", &message.tool_id)?,
            native_id: message.native_id,
            digest: field::optional_id("digest", &message.digest)?,
            state: word::closed("state", message.state)?,
            approved: field::optional("approved", message.approved)?,
            rejected: field::optional("rejected", message.rejected)?,
            refusal: field::optional("refusal", message.refusal)?,
            first_seen_at: field::optional_time("first_seen_at", message.first_seen_at)?.unwrap_or_default(),
            changed_at: field::optional_time("changed_at", message.changed_at)?.unwrap_or_default(),
            notes: message.notes,
        })
    }
}

impl From<&records::ToolReview> for v1::ToolReview {
    fn from(record: &records::ToolReview) -> Self {
        Self {
            digest: record.digest.to_string(),
            basis: record.basis.number(),
            by: record.by.clone(),
            at: field::instant(record.at),
            comment: record.comment.clone(),
        }
    }
}

impl TryFrom<v1::ToolReview> for records::ToolReview {
    type Error = ConvertError;

    fn try_from(message: v1::ToolReview) -> Result<Self, ConvertError> {
        Ok(Self {
            digest: field::id("digest", &message.digest)?,
            basis: word::closed("basis", message.basis)?,
            by: message.by,
            at: field::optional_time("at", message.at)?.unwrap_or_default(),
            comment: message.comment,
        })
    }
}

impl From<&records::ToolRefusal> for v1::ToolRefusal {
    fn from(record: &records::ToolRefusal) -> Self {
        Self { code: record.code.number(), reason: record.reason.clone() }
    }
}

impl TryFrom<v1::ToolRefusal> for records::ToolRefusal {
    type Error = ConvertError;

    fn try_from(message: v1::ToolRefusal) -> Result<Self, ConvertError> {
        Ok(Self { code: word::closed("code", message.code)?, reason: message.reason })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn there_and_back(value: Value) {
        let record: records::Provider = serde_json::from_value(value).unwrap();
        assert_eq!(records::Provider::try_from(v1::Provider::from(&record)).unwrap(), record);
    }

    #[test]
    fn providers_of_every_kind_read_back() {
        let digest = toolplane_records::payload::Digest::of(b"x");
        for source in [
            json!({ "kind": "mcp_stdio", "argv": ["server", "-x"], "env": { "A": "b" }, "pass_env": ["PATH"], "read_only_paths": ["/opt"] }),
            json!({ "kind": "mcp_http", "url": "https://a.org/mcp", "headers": { "x-team": "a" } }),
            json!({ "kind": "openapi", "document": { "from": "url", "url": "https://a.org/d.json" },
                "selection": { "tags": ["pets"], "except": ["delete*"] }, "server_variables": { "r": "eu" } }),
            json!({ "kind": "openapi", "document": { "from": "uploaded", "digest": digest }, "server_url": "https://b.org" }),
            json!({ "kind": "worker", "native_prefix": "acme." }),
            json!({ "kind": "file", "path": "/etc/tools.json" }),
        ] {
            there_and_back(json!({
                "provider_id": "p", "tenant": "default", "namespace": "n", "title": "t", "source": source,
                "reach": { "hosts": ["a.org"], "ports": [8443] }, "trust": "new_tools", "sessions": "tenant",
                "credentials": [
                    { "credential": "one", "placement": { "in": "env", "name": "TOKEN" } },
                    { "credential": "two", "placement": { "in": "header", "name": "Authorization", "prefix": "Bearer " } },
                    { "credential": "two", "field": "user", "placement": { "in": "file", "name": "x" } },
                    { "credential": "two", "placement": { "in": "query", "name": "q" } },
                    { "credential": "two", "placement": { "in": "cookie", "name": "c" } },
                ],
                "scheme_credentials": { "key": "three" }, "refresh_interval_ms": 60_000, "created_by": "ann", "revision": 3,
            }));
        }
    }

    #[test]
    fn statuses_and_tools_read_back() {
        let status = json!({ "provider_id": "p", "tenant": "default", "state": "degraded", "circuit": "half_open",
            "fault": { "code": "timed_out", "message": "m" }, "tools": { "found": 2, "waiting": 1 }, "server_name": "s" });
        let status: records::ProviderStatus = serde_json::from_value(status).unwrap();
        assert_eq!(records::ProviderStatus::try_from(v1::ProviderStatus::from(&status)).unwrap(), status);
        let review = json!({ "digest": toolplane_records::payload::Digest::of(b"x"), "basis": "person", "by": "ann" });
        let tool = json!({ "provider_id": "p", "tenant": "default", "tool_id": "provider:p/a", "native_id": "a",
            "state": "changed", "approved": review, "refusal": { "code": "name_taken", "reason": "r" }, "notes": ["n"] });
        let tool: records::ProvidedTool = serde_json::from_value(tool).unwrap();
        assert_eq!(records::ProvidedTool::try_from(v1::ProvidedTool::from(&tool)).unwrap(), tool);
    }

    #[test]
    fn a_provider_without_a_source_is_none() {
        let message = v1::Provider { provider_id: "p".into(), tenant: "default".into(), ..Default::default() };
        assert_eq!(records::Provider::try_from(message).unwrap_err().field, "source");
    }
}
