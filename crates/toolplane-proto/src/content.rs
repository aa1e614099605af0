//! Blocks of content, by what they hold.

use crate::v1;
use crate::v1::content_block::Block;

impl v1::ContentBlock {
    /// The bytes it refers to, where they are kept.
    pub fn kept(&self) -> Option<&v1::PayloadRef> {
        match self.block.as_ref()? {
            Block::Image(media) | Block::Audio(media) | Block::Video(media) => media.payload.as_ref(),
            Block::EmbeddedResource(resource) => resource.payload.as_ref(),
            Block::ArtifactRef(artifact) => artifact.payload.as_ref(),
            Block::File(payload) | Block::PersistedOutputRef(payload) => Some(payload),
            _ => None,
        }
    }

    /// The same, to have it refer to others.
    pub fn kept_mut(&mut self) -> Option<&mut v1::PayloadRef> {
        match self.block.as_mut()? {
            Block::Image(media) | Block::Audio(media) | Block::Video(media) => media.payload.as_mut(),
            Block::EmbeddedResource(resource) => resource.payload.as_mut(),
            Block::ArtifactRef(artifact) => artifact.payload.as_mut(),
            Block::File(payload) | Block::PersistedOutputRef(payload) => Some(payload),
            _ => None,
        }
    }
}
