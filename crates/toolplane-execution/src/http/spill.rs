//! The body of an answer while it comes: held in memory as long as it is small, in a file of the worker from then on.

use std::io;
use std::path::Path;
use std::sync::Arc;

use toolplane_credentials::{Mask, MaskStream};
use toolplane_sandbox::{OutputFile, OutputWriter};

use crate::masked;

/// Most bytes held of a body that may go to a file.
pub(super) const HELD: u64 = 1024 * 1024;
/// The same of JSON: it becomes the structured content, for which all of it is read at once.
pub(super) const HELD_JSON: u64 = 4 * 1024 * 1024;
/// Bytes of the beginning that stay in memory beside a file.
const BEGINNING: usize = 64 * 1024;

/// What has come, without secrets.
#[derive(Debug, Default)]
pub(crate) struct Body {
    /// All of it, or the beginning where it is in a file.
    pub(crate) held: Vec<u8>,
    pub(crate) file: Option<Arc<OutputFile>>,
    /// Bytes there are.
    pub(crate) total_bytes: u64,
}

/// Takes what comes.
pub(super) struct Spill<'a> {
    /// Where it goes when it is large; it stays in memory without.
    pub(super) outputs: Option<&'a Path>,
    pub(super) mask: Mask,
    pub(super) is_json: bool,
    held: Vec<u8>,
    file: Option<(OutputWriter, MaskStream)>,
    pub(super) come: u64,
}

impl<'a> Spill<'a> {
    pub(super) fn new(outputs: Option<&'a Path>, mask: Mask, is_json: bool) -> Self {
        Self { outputs, mask, is_json, held: Vec::new(), file: None, come: 0 }
    }

    pub(super) async fn push(&mut self, piece: &[u8]) -> io::Result<()> {
        self.come += piece.len() as u64;
        let most = if self.is_json { HELD_JSON } else { HELD };
        if let (None, Some(outputs), true) = (&self.file, self.outputs, self.come > most) {
            self.file = Some((OutputWriter::create(outputs).await?, self.mask.stream()));
            let held = std::mem::take(&mut self.held);
            self.write(&held).await?;
        }
        match self.file {
            Some(_) => self.write(piece).await,
            None => {
                self.held.extend_from_slice(piece);
                Ok(())
            }
        }
    }

    async fn write(&mut self, piece: &[u8]) -> io::Result<()> {
        let Some((writer, stream)) = &mut self.file else { return Ok(()) };
        let mut out = Vec::with_capacity(piece.len());
        stream.push(piece, &mut out);
        self.held.extend_from_slice(&out[..out.len().min(BEGINNING.saturating_sub(self.held.len()))]);
        writer.write(&out).await
    }

    /// All that has come; `cut` when there was more.
    pub(super) async fn finish(self, cut: bool) -> io::Result<Body> {
        let Self { mask, is_json, mut held, file, .. } = self;
        let Some((mut writer, stream)) = file else {
            let held = masked::body(&mask, held, is_json, cut);
            return Ok(Body { total_bytes: held.len() as u64, held, file: None });
        };
        let mut out = Vec::new();
        if cut {
            stream.finish_cut(&mut out);
        } else {
            stream.finish(&mut out);
        }
        held.extend_from_slice(&out[..out.len().min(BEGINNING.saturating_sub(held.len()))]);
        writer.write(&out).await?;
        let file = writer.finish().await?;
        Ok(Body { held, total_bytes: file.size_bytes(), file: Some(Arc::new(file)) })
    }
}
