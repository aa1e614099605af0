//! Reading what the launcher reports.

use std::io::{self, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};
use tokio::io::{AsyncReadExt as _, Interest};
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
    /// The descriptor that comes before the first report, with one byte of its own; nothing when a report, or the end, comes instead.
    pub(crate) async fn descriptor(&mut self, control: &UnixStream) -> io::Result<Option<OwnedFd>> {
        let (byte, descriptor) = match control.async_io(Interest::READABLE, || receive(control)).await {
            // The launcher ended with something of ours unread.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => (None, None),
            received => received?,
        };
        if descriptor.is_none() {
            self.buffer.extend(byte);
        }
        Ok(descriptor)
    }
}

/// One byte, if there is one, and what came with it.
fn receive(control: &UnixStream) -> io::Result<(Option<u8>, Option<OwnedFd>)> {
    let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut message = RecvAncillaryBuffer::new(&mut room);
    let mut byte = [0];
    let received =
        rustix::net::recvmsg(control, &mut [IoSliceMut::new(&mut byte)], &mut message, RecvFlags::CMSG_CLOEXEC)?;
    let descriptor = message.drain().find_map(|part| match part {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    Ok(((received.bytes > 0).then_some(byte[0]), descriptor))
}
