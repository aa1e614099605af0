//! Reading what the launcher reports.

use std::io;

use tokio::io::AsyncReadExt as _;
use tokio::net::UnixStream;

use crate::wire::{self, LauncherReport};

/// Bytes of reports that were read but not yet taken.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    buffer: Vec<u8>,
}

impl Reports {
    /// The next report; `None` when the channel is closed. Nothing is lost when the future is dropped.
    pub(crate) async fn next(&mut self, control: &mut UnixStream) -> io::Result<Option<LauncherReport>> {
        loop {
            if let Some(report) = wire::take_frame(&mut self.buffer)? {
                return Ok(Some(report));
            }
            match control.read_buf(&mut self.buffer).await {
                Ok(0) => return Ok(None),
                Ok(_) => {}
                // The launcher ended with something of ours unread.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }
}
