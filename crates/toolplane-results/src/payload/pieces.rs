//! The bytes of an object in pieces that are worth the way: of a file, object stores give a few KiB at a time, each fetched by another thread.

use std::os::unix::fs::FileExt as _;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream, StreamExt as _};
use object_store::{Error, GetResult, GetResultPayload};

/// Bytes that are read of a file at a time.
const PIECE: u64 = 128 * 1024;

/// What was found, in order. A file that has become shorter meanwhile ends with an error.
pub(super) fn pieces(found: GetResult) -> BoxStream<'static, Result<Bytes, Error>> {
    match found.payload {
        GetResultPayload::Stream(stream) => stream,
        GetResultPayload::File(file, _) => stream::try_unfold((file, found.range), |(file, left)| async move {
            let length = PIECE.min(left.end.saturating_sub(left.start));
            if length == 0 {
                return Ok(None);
            }
            let at = left.start;
            // Made here and not there: allocators keep memory for each thread, and threads that block are many.
            let mut piece = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
            let reading = tokio::task::spawn_blocking(move || {
                file.read_exact_at(&mut piece, at).map(|()| (Bytes::from(piece), file))
            });
            let (piece, file) = reading.await.map_err(failed)?.map_err(failed)?;
            Ok(Some((piece, (file, at + length..left.end))))
        })
        .boxed(),
    }
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::Generic { store: "LocalFileSystem", source: Box::new(error) }
}
