//! The way into a server from its own process: through everything that is around a call, without a connection.
//!
//! What crosses is what would cross the wire, framed messages and metadata, so a role cannot tell the difference and
//! cannot reach more than its peers can from outside; only sockets and HTTP/2 are left out.

use std::convert::Infallible;
use toolplane_records::codes;

use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;
use tonic::Status;
use tonic::body::Body;
use tonic::service::Routes;
use tower::ServiceExt as _;

use super::calls::CallService;
use crate::status::ApiError;

/// The services of this process behind everything that is around them.
pub(super) type Entry = CallService<Routes>;

/// A way into the server of this process, made before the server is. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct Inside {
    /// Where served calls run, whatever runtime the caller is on.
    home: Handle,
    door: watch::Sender<Door>,
}

#[derive(Clone, Debug)]
enum Door {
    /// The server does not answer yet: callers wait, as they would for a listener that does not accept yet.
    NotYet,
    Open(Entry),
    Closed,
}

/// Closes the way in when it is dropped. The services hold ways into each other: without this, none would be freed.
#[derive(Debug)]
pub(crate) struct Closing(watch::Sender<Door>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.send_replace(Door::Closed);
    }
}

impl Inside {
    /// A way into a server that will be opened later, on the current runtime.
    pub(crate) fn new() -> Self {
        Self { home: Handle::current(), door: watch::Sender::new(Door::NotYet) }
    }

    /// Lets callers in.
    pub(super) fn open(&self, entry: Entry) {
        self.door.send_if_modified(|door| {
            let opens = matches!(door, Door::NotYet);
            if opens {
                *door = Door::Open(entry);
            }
            opens
        });
    }

    /// What ends the way in for new calls.
    pub(crate) fn closing(&self) -> Closing {
        Closing(self.door.clone())
    }

    /// Serves one call. Failures of the way itself are statuses of the response.
    pub(crate) async fn call(self, request: http::Request<Body>) -> http::Response<Body> {
        let Some(entry) = self.entry().await else {
            return Status::from(ApiError::unavailable(codes::STOPPING, "this process is stopping")).into_http();
        };
        let served = entry.oneshot(request);
        let response: Result<_, Infallible> = if Handle::current().id() == self.home.id() {
            served.await
        } else {
            // Called from a runtime with a purpose of its own: what is served must not be done there.
            match AbortOnDropHandle::new(self.home.spawn(served)).await {
                Ok(response) => response,
                Err(error) => Ok(Status::from(ApiError::internal(codes::PANIC, error.to_string())).into_http()),
            }
        };
        match response {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }

    async fn entry(&self) -> Option<Entry> {
        if let Door::Open(entry) = &*self.door.borrow() {
            return Some(entry.clone());
        }
        let mut door = self.door.subscribe();
        let door = door.wait_for(|door| !matches!(door, Door::NotYet)).await.ok()?;
        match &*door {
            Door::Open(entry) => Some(entry.clone()),
            Door::NotYet | Door::Closed => None,
        }
    }
}
