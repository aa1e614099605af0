//! Lines of a byte stream, each of at most so many bytes.

use bytes::{Buf as _, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::failure::CloseReason;

/// Bytes read at a time.
const CHUNK: usize = 16 * 1024;

/// Reads lines.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    read: R,
    buffer: BytesMut,
    /// Bytes of the buffer without a line end.
    looked_at: usize,
    most: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(read: R, most: usize) -> Self {
        Self { read, buffer: BytesMut::new(), looked_at: 0, most }
    }

    /// The next line without its end. What follows the last line end is no line. Fails with the reason when the stream is over, broken,
    /// or a line is too long. Nothing is lost when the wait is dropped.
    pub(crate) async fn next(&mut self) -> Result<Bytes, CloseReason> {
        loop {
            if let Some(end) = self.buffer[self.looked_at..].iter().position(|byte| *byte == b'\n') {
                let line = self.buffer.split_to(self.looked_at + end).freeze();
                self.buffer.advance(1);
                self.looked_at = 0;
                if line.len() > self.most {
                    return Err(CloseReason::MessageTooLong(self.most));
                }
                return Ok(line);
            }
            self.looked_at = self.buffer.len();
            if self.looked_at > self.most {
                return Err(CloseReason::MessageTooLong(self.most));
            }
            self.buffer.reserve(CHUNK);
            match self.read.read_buf(&mut self.buffer).await {
                Ok(0) => return Err(CloseReason::Ended),
                Ok(_) => {}
                Err(error) => return Err(CloseReason::Broken(error.to_string())),
            }
        }
    }
}
