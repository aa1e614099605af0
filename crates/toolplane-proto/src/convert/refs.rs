//! Resource, artifact and telemetry references.

use toolplane_records::refs as records;

use crate::convert::{ConvertError, field};
use crate::v1;

impl From<&records::ResourceRef> for v1::ResourceRef {
    fn from(record: &records::ResourceRef) -> Self {
        Self {
            resource_id: record.resource_id.clone(),
            uri: record.uri.clone(),
            media_type: record.media_type.clone(),
            digest: field::text(&record.digest),
            size_bytes: record.size_bytes,
            access: record.access.clone(),
            relation: record.relation.clone(),
        }
    }
}

impl TryFrom<v1::ResourceRef> for records::ResourceRef {
    type Error = ConvertError;

    fn try_from(message: v1::ResourceRef) -> Result<Self, ConvertError> {
        Ok(Self {
            resource_id: message.resource_id,
            uri: message.uri,
            media_type: message.media_type,
            digest: field::optional_id("digest", &message.digest)?,
            size_bytes: message.size_bytes,
            access: message.access,
            relation: message.relation,
        })
    }
}

impl From<&records::ArtifactRef> for v1::ArtifactRef {
    fn from(record: &records::ArtifactRef) -> Self {
        Self {
            artifact_id: record.artifact_id.clone(),
            uri: record.uri.clone(),
            media_type: record.media_type.clone(),
            digest: field::text(&record.digest),
            version: record.version.clone(),
            relation: record.relation.clone(),
            payload: field::out(&record.payload),
        }
    }
}

impl TryFrom<v1::ArtifactRef> for records::ArtifactRef {
    type Error = ConvertError;

    fn try_from(message: v1::ArtifactRef) -> Result<Self, ConvertError> {
        Ok(Self {
            artifact_id: message.artifact_id,
            uri: message.uri,
            media_type: message.media_type,
            digest: field::optional_id("digest", &message.digest)?,
            version: message.version,
            relation: message.relation,
            payload: field::optional("payload", message.payload)?,
        })
    }
}

impl From<&records::HandoffRef> for v1::HandoffRef {
    fn from(record: &records::HandoffRef) -> Self {
        let records::HandoffRef { handoff_id, target, uri, reason } = record.clone();
        Self { handoff_id, target, uri, reason }
    }
}

impl From<v1::HandoffRef> for records::HandoffRef {
    fn from(message: v1::HandoffRef) -> Self {
        let v1::HandoffRef { handoff_id, target, uri, reason } = message;
        Self { handoff_id, target, uri, reason }
    }
}

impl From<&records::TelemetryRef> for v1::TelemetryRef {
    fn from(record: &records::TelemetryRef) -> Self {
        Self { trace_id: record.trace_id.to_string(), span_id: record.span_id.to_string() }
    }
}

impl TryFrom<v1::TelemetryRef> for records::TelemetryRef {
    type Error = ConvertError;

    fn try_from(message: v1::TelemetryRef) -> Result<Self, ConvertError> {
        Ok(Self { trace_id: message.trace_id.into(), span_id: message.span_id.into() })
    }
}
