//! Following approvals: what happened after a revision, then what happens.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{Stream, stream};
use prost::Message as _;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Status};
use toolplane_proto::v1;
use toolplane_records::ids::TenantId;
use toolplane_runtime::{ApiError, Caller, draining};

use super::api::PermissionApi;
use crate::approvals::Book;

/// Most changes of one message.
const MAX_CHANGES: usize = 64;
/// A message takes no further change once it is this large.
const FULL_BYTES: usize = toolplane_runtime::page::FULL_BYTES;

type Updates = Pin<Box<dyn Stream<Item = Result<v1::WatchApprovalsResponse, Status>> + Send>>;

pub(super) async fn watch(
    api: &PermissionApi,
    request: Request<v1::WatchApprovalsRequest>,
) -> Result<Updates, ApiError> {
    let tenant = Caller::of(&request).tenants_named(&request.get_ref().tenant)?;
    // Fixed before the answer begins: a change after that is not missed.
    let after = request.get_ref().from_revision.min(api.book.head().await?);
    let watcher = Watcher {
        book: Arc::clone(&api.book),
        revisions: api.book.revisions(),
        tenant,
        after,
        greeted: false,
        poll_every: api.poll_every,
        stopping: api.stopping.clone(),
    };
    Ok(Box::pin(stream::try_unfold(watcher, |mut watcher| async move {
        let next = watcher.next().await.map_err(Status::from)?;
        Ok(Some((next, watcher)))
    })))
}

struct Watcher {
    book: Arc<Book>,
    revisions: watch::Receiver<u64>,
    /// The tenant whose approvals are watched; all tenants when absent.
    tenant: Option<TenantId>,
    after: u64,
    greeted: bool,
    poll_every: Duration,
    stopping: CancellationToken,
}

impl Watcher {
    /// The next message. The first one comes at once, to say how far the watcher is.
    async fn next(&mut self) -> Result<v1::WatchApprovalsResponse, ApiError> {
        loop {
            self.revisions.mark_unchanged();
            let update = self.read().await?;
            if update.revision > self.after || !self.greeted {
                self.after = update.revision;
                self.greeted = true;
                return Ok(update);
            }
            tokio::select! {
                () = self.stopping.cancelled() => return Err(draining::last_words()),
                // The book outlives its watchers, so this only ends with a change.
                _ = self.revisions.changed() => {}
                () = tokio::time::sleep(self.poll_every) => {}
            }
        }
    }

    async fn read(&self) -> Result<v1::WatchApprovalsResponse, crate::BookError> {
        let found = self.book.changes(self.after, MAX_CHANGES).await?;
        let mut update = v1::WatchApprovalsResponse { changes: Vec::new(), revision: self.after };
        let mut bytes = 0;
        for (revision, approval) in found.changes {
            if bytes >= FULL_BYTES {
                return Ok(update);
            }
            update.revision = revision;
            if self.tenant.as_ref().is_none_or(|tenant| approval.tenant == *tenant) {
                let change = v1::ApprovalChange { approval: Some(super::approvals::listed(&approval)), revision };
                bytes += change.encoded_len();
                update.changes.push(change);
            }
        }
        update.revision = found.seen;
        Ok(update)
    }
}
