//! The two ways to a server, as a session sees them.

use std::sync::Arc;

use bytes::Bytes;

use crate::core::Core;
use crate::failure::CloseReason;
use crate::flight::Mailbox;
use crate::http::HttpLink;
use crate::stream::StreamLink;

/// How messages travel.
#[derive(Debug)]
pub(crate) enum Link {
    Stream(StreamLink),
    Http(HttpLink),
}

/// What HTTP says beside a message.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heading {
    /// The version the message is written in; none before one is agreed on.
    pub(crate) version: Option<String>,
    /// `Mcp-Method`, `Mcp-Name` and `Mcp-Param-*`, where the version has them.
    pub(crate) fields: Vec<(String, String)>,
}

impl Link {
    /// Sends a request; what comes of it is told to its mailbox.
    pub(crate) async fn send(&self, id: u64, bytes: Bytes, heading: Heading, mailbox: Arc<Mailbox>) {
        match self {
            Self::Stream(link) => link.send(bytes, mailbox).await,
            Self::Http(link) => link.send(id, bytes, heading, mailbox),
        }
    }

    /// Sends a notification and waits until it has been taken, where that can be known.
    pub(crate) async fn tell(&self, bytes: Bytes, heading: Heading) {
        match self {
            Self::Stream(link) => drop(link.try_tell(bytes)),
            Self::Http(link) => link.tell(bytes, heading).await,
        }
    }

    /// Answers a request of the server.
    pub(crate) fn answer(&self, core: &Core, bytes: Bytes, heading: Heading) {
        match self {
            Self::Stream(link) => {
                if !link.try_tell(bytes) {
                    core.close(CloseReason::NotReading);
                }
            }
            Self::Http(link) => link.answer(bytes, heading),
        }
    }

    /// Tells the server that nobody waits for this request any more. `notice` is the notification of the protocol,
    /// for requests that have one.
    pub(crate) fn abandon(&self, id: u64, notice: Option<Bytes>, heading: Heading) {
        match self {
            Self::Stream(link) => drop(notice.map(|notice| link.try_tell(notice))),
            Self::Http(link) => link.abandon(id, notice, heading),
        }
    }
}
