//! An object that is uploaded in parts, to a name of its own first: nothing is visible before it is whole.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use object_store::path::Path;
use object_store::{Attributes, MultipartUpload, ObjectStore, ObjectStoreExt as _, PutMultipartOptions, PutPayload};

use super::error::PayloadError;
use super::key::PayloadKey;

/// First part of the names of unfinished uploads.
pub(super) const STAGING: &str = "staging";
/// Parts of one upload. S3 wants at least 5 MiB; outputs up to one part are put in a single request.
pub(super) const PART_BYTES: usize = 8 * 1024 * 1024;

/// An upload. Memory stays below two parts. Dropping it leaves what was uploaded in staging, which is tidied up later.
#[derive(Debug)]
pub(super) struct Upload {
    objects: Arc<dyn ObjectStore>,
    attributes: Attributes,
    part: BytesMut,
    begun: Option<(Path, Box<dyn MultipartUpload>)>,
}

impl Upload {
    pub(super) fn new(objects: Arc<dyn ObjectStore>, attributes: Attributes) -> Self {
        Self { objects, attributes, part: BytesMut::new(), begun: None }
    }

    /// Takes the next bytes; `day` is where an upload is put that is never finished.
    pub(super) async fn push(&mut self, day: &str, mut chunk: &[u8]) -> Result<(), PayloadError> {
        while self.part.len() + chunk.len() > PART_BYTES {
            let (fitting, rest) = chunk.split_at(PART_BYTES - self.part.len());
            self.part.extend_from_slice(fitting);
            chunk = rest;
            let part = self.part.split().freeze();
            self.send(day, part).await?;
        }
        self.part.extend_from_slice(chunk);
        Ok(())
    }

    /// All of it, where that is a single part of which nothing was sent.
    pub(super) fn whole(&mut self) -> Option<Bytes> {
        self.begun.is_none().then(|| self.part.split().freeze())
    }

    /// Ends it and gives it its name. What has that name already has the same digest, so replacing it changes nothing.
    pub(super) async fn publish(mut self, day: &str, key: &PayloadKey) -> Result<(), PayloadError> {
        let rest = self.part.split().freeze();
        self.send(day, rest).await?;
        let Some((staged, mut upload)) = self.begun.take() else {
            return Err(PayloadError::Interrupted { reason: "upload has already ended".to_owned() });
        };
        upload.complete().await.map_err(|source| PayloadError::store("complete an upload", source))?;
        let moved = self.objects.rename(&staged, key.path()).await;
        moved.map_err(|source| PayloadError::store("publish an upload", source))
    }

    /// Gives up and removes what was uploaded, as far as the object store lets it.
    pub(super) async fn abort(mut self) {
        if let Some((staged, mut upload)) = self.begun.take()
            && let Err(error) = upload.abort().await
        {
            tracing::debug!(%staged, %error, "staged upload was not removed");
        }
    }

    async fn send(&mut self, day: &str, part: Bytes) -> Result<(), PayloadError> {
        let (_, upload) = match &mut self.begun {
            Some(begun) => begun,
            None => {
                let name = uuid::Uuid::new_v4().simple().to_string();
                let staged = Path::from_iter([STAGING, day, name.as_str()]);
                let options =
                    PutMultipartOptions { attributes: self.attributes.clone(), ..PutMultipartOptions::default() };
                let upload = self.objects.put_multipart_opts(&staged, options).await;
                let upload = upload.map_err(|source| PayloadError::store("start an upload", source))?;
                self.begun.insert((staged, upload))
            }
        };
        let sent = upload.put_part(PutPayload::from_bytes(part)).await;
        sent.map_err(|source| PayloadError::store("upload a part", source))
    }
}
