//! Results and their content blocks.

use toolplane_records::payload::PayloadRef;
use toolplane_records::result as records;

use crate::convert::word::Word as _;
use crate::convert::{ConvertError, field, word};
use crate::v1;
use crate::v1::content_block::Block;

impl From<&records::ToolResult> for v1::ToolResult {
    fn from(record: &records::ToolResult) -> Self {
        Self {
            schema_version: record.schema_version.to_string(),
            result_id: record.result_id.to_string(),
            invocation_id: record.invocation_id.to_string(),
            status: record.status.as_str().to_owned(),
            status_code: record.status.number(),
            is_error: record.is_error,
            content: field::outs(&record.content),
            structured_content: field::out(&record.structured_content),
            model_facing_content: field::outs(&record.model_facing_content),
            ui_facing_summary: record.ui_facing_summary.clone(),
            ui_facing_rendering: field::out(&record.ui_facing_rendering),
            transcript_search_text: record.transcript_search_text.clone(),
            resource_refs: field::outs(&record.resource_refs),
            artifact_refs: field::outs(&record.artifact_refs),
            evidence_refs: record.evidence_refs.clone(),
            policy_refs: record.policy_refs.clone(),
            telemetry_refs: field::outs(&record.telemetry_refs),
            persistence_refs: record.persistence_refs.clone(),
            summary: record.summary.clone(),
            redaction_state: word::optional_number(record.redaction_state),
            error: field::out(&record.error),
            created_at: field::instant(record.created_at),
            context_modifiers: field::outs(&record.context_modifiers),
        }
    }
}

impl TryFrom<v1::ToolResult> for records::ToolResult {
    type Error = ConvertError;

    fn try_from(message: v1::ToolResult) -> Result<Self, ConvertError> {
        Ok(Self {
            schema_version: field::version(&message.schema_version),
            result_id: field::id("result_id", &message.result_id)?,
            invocation_id: field::id("invocation_id", &message.invocation_id)?,
            status: word::open("status", &message.status, message.status_code)?,
            is_error: message.is_error,
            content: field::list("content", message.content)?,
            structured_content: field::optional("structured_content", message.structured_content)?,
            model_facing_content: field::list("model_facing_content", message.model_facing_content)?,
            ui_facing_summary: message.ui_facing_summary,
            ui_facing_rendering: field::optional("ui_facing_rendering", message.ui_facing_rendering)?,
            transcript_search_text: message.transcript_search_text,
            resource_refs: field::list("resource_refs", message.resource_refs)?,
            artifact_refs: field::list("artifact_refs", message.artifact_refs)?,
            evidence_refs: message.evidence_refs,
            policy_refs: message.policy_refs,
            telemetry_refs: field::list("telemetry_refs", message.telemetry_refs)?,
            persistence_refs: message.persistence_refs,
            summary: message.summary,
            redaction_state: word::optional_closed("redaction_state", message.redaction_state)?,
            error: field::optional("error", message.error)?,
            created_at: field::time("created_at", message.created_at)?,
            context_modifiers: field::list("context_modifiers", message.context_modifiers)?,
        })
    }
}

impl From<&records::ContentBlock> for v1::ContentBlock {
    fn from(record: &records::ContentBlock) -> Self {
        let block = match record {
            records::ContentBlock::Text { text } => Block::Text(v1::TextBlock { text: text.clone() }),
            records::ContentBlock::Log { text, stream } => {
                Block::Log(v1::LogBlock { text: text.clone(), stream: stream.clone() })
            }
            records::ContentBlock::Diff { text, path, lines, old_text, new_text } => Block::Diff(v1::DiffBlock {
                text: text.clone(),
                path: path.clone(),
                lines: lines.clone(),
                old_text: old_text.clone(),
                new_text: new_text.clone(),
            }),
            records::ContentBlock::Image { payload, description } => Block::Image(media(payload, description)),
            records::ContentBlock::Audio { payload, description } => Block::Audio(media(payload, description)),
            records::ContentBlock::Video { payload, description } => Block::Video(media(payload, description)),
            records::ContentBlock::EmbeddedResource { uri, media_type, text, payload } => {
                Block::EmbeddedResource(v1::EmbeddedResource {
                    uri: uri.clone(),
                    media_type: media_type.clone(),
                    text: text.clone(),
                    payload: field::out(payload),
                })
            }
            records::ContentBlock::HandoffRef { handoff } => Block::HandoffRef(handoff.into()),
            records::ContentBlock::File { payload } => Block::File(payload.into()),
            records::ContentBlock::ResourceLink { resource } => Block::ResourceLink(resource.into()),
            records::ContentBlock::ArtifactRef { artifact } => Block::ArtifactRef(artifact.into()),
            records::ContentBlock::PersistedOutputRef { payload } => Block::PersistedOutputRef(payload.into()),
            records::ContentBlock::Empty => Block::Empty(v1::EmptyBlock {}),
        };
        Self { block: Some(block) }
    }
}

fn media(payload: &PayloadRef, description: &str) -> v1::MediaBlock {
    v1::MediaBlock { payload: Some(payload.into()), description: description.to_owned() }
}

impl TryFrom<v1::ContentBlock> for records::ContentBlock {
    type Error = ConvertError;

    fn try_from(message: v1::ContentBlock) -> Result<Self, ConvertError> {
        Ok(match message.block {
            Some(Block::Text(block)) => Self::Text { text: block.text },
            Some(Block::Log(block)) => Self::Log { text: block.text, stream: block.stream },
            Some(Block::Diff(block)) => Self::Diff {
                text: block.text,
                path: block.path,
                lines: block.lines,
                old_text: block.old_text,
                new_text: block.new_text,
            },
            Some(Block::Image(media)) => Self::Image {
                payload: field::required("image.payload", media.payload)?,
                description: media.description,
            },
            Some(Block::Audio(media)) => Self::Audio {
                payload: field::required("audio.payload", media.payload)?,
                description: media.description,
            },
            Some(Block::Video(media)) => Self::Video {
                payload: field::required("video.payload", media.payload)?,
                description: media.description,
            },
            Some(Block::EmbeddedResource(resource)) => Self::EmbeddedResource {
                uri: resource.uri,
                media_type: resource.media_type,
                text: resource.text,
                payload: field::optional("embedded_resource.payload", resource.payload)?,
            },
            Some(Block::HandoffRef(handoff)) => Self::HandoffRef { handoff: handoff.into() },
            Some(Block::File(payload)) => Self::File { payload: field::required("file", Some(payload))? },
            Some(Block::ResourceLink(link)) => {
                Self::ResourceLink { resource: field::required("resource_link", Some(link))? }
            }
            Some(Block::ArtifactRef(artifact)) => {
                Self::ArtifactRef { artifact: field::required("artifact_ref", Some(artifact))? }
            }
            Some(Block::PersistedOutputRef(payload)) => {
                Self::PersistedOutputRef { payload: field::required("persisted_output_ref", Some(payload))? }
            }
            Some(Block::Empty(v1::EmptyBlock {})) => Self::Empty,
            None => return Err(ConvertError::new("", "has no content of a known kind")),
        })
    }
}
