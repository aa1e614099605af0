//! The stream of differences of a surface.

use std::collections::VecDeque;
use std::pin::Pin;

use futures_util::{Stream, stream};
use prost::Message as _;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Status};
use toolplane_catalog::{DifferenceKind, DifferencePart, Moment, ShownTool, Sight, ToolDifference};
use toolplane_proto::convert::field;
use toolplane_proto::convert::word::Word as _;
use toolplane_proto::v1;
use toolplane_runtime::{ApiError, Caller, draining, page};

use super::api::SurfaceApi;
use crate::error::of_field;
use crate::surfaces::watch::{Following, From, Told};

/// Why a stream has ended: its surface is deleted.
const DELETED: &str = "deleted";
/// Or a surface that it is within.
const PARENT_GONE: &str = "parent_gone";
const FOR_BUDGET: &str = "does not fit into the budget of the surface beside the others: load it to have it";

type Updates = Pin<Box<dyn Stream<Item = Result<v1::WatchSurfaceResponse, Status>> + Send>>;

pub(super) async fn watch(api: &SurfaceApi, request: Request<v1::WatchSurfaceRequest>) -> Result<Updates, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let v1::WatchSurfaceRequest { surface_id, from_moment, from_revision } = request.into_inner();
    let id = field::surface(&surface_id).map_err(of_field)?;
    let from = match (from_moment.as_str(), from_revision) {
        ("", 0) => From::Now,
        ("", revision) => From::Revision(revision),
        (_, 1..) => return Err(ApiError::invalid_argument("from_revision", "cannot be given beside `from_moment`")),
        (given, 0) => From::Moment(moment("from_moment", given)?),
    };
    let following = api.parts.watches.follow(tenant, id, from).await?;
    // At once: whoever follows knows then that nothing is missed from here on. Who is told all knows nothing before that: a stream that broke
    // here and was gone on with from its moment would never tell it.
    let begins = following.begins().map(|(moment, revision)| (moment.to_string(), revision));
    let (moment, revision) = begins.unwrap_or_default();
    let first = v1::WatchSurfaceResponse { moment, revision, ..Default::default() };
    let watcher = Watcher { following, ready: VecDeque::from([first]), ended: false, stopping: api.stopping.clone() };
    Ok(Box::pin(stream::try_unfold(watcher, |mut watcher| async move {
        let next = watcher.next().await.map_err(Status::from)?;
        Ok(next.map(|update| (update, watcher)))
    })))
}

/// The moment in a field of a request.
pub(super) fn moment(field: &'static str, given: &str) -> Result<Moment, ApiError> {
    let rule = "is no moment of a surface; take it from one, or from a message of its stream";
    given.parse().map_err(|_| ApiError::invalid_argument(field, rule))
}

struct Watcher {
    following: Following,
    /// Messages of the part that was told last.
    ready: VecDeque<v1::WatchSurfaceResponse>,
    ended: bool,
    stopping: CancellationToken,
}

impl Watcher {
    fn end(&mut self, why: &str) {
        self.ended = true;
        self.ready.push_back(v1::WatchSurfaceResponse { ended: why.to_owned(), ..Default::default() });
    }

    /// The next message; nothing after the last one.
    async fn next(&mut self) -> Result<Option<v1::WatchSurfaceResponse>, ApiError> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Ok(Some(message));
            }
            if self.ended {
                return Ok(None);
            }
            match draining::wait(&self.stopping, self.following.next()).await.ok_or_else(draining::last_words)?? {
                Told::Part(part) => self.ready = messages(part),
                Told::Deleted => self.end(DELETED),
                Told::ParentGone => self.end(PARENT_GONE),
            }
        }
    }
}

/// A part as messages, each of bounded size; the last one has the moment, if the part has it.
fn messages(part: DifferencePart) -> VecDeque<v1::WatchSurfaceResponse> {
    let changes = page::split(part.tools.into_iter().map(change), v1::SurfaceToolChange::encoded_len);
    let messages = changes.into_iter().map(|changes| v1::WatchSurfaceResponse { changes, ..Default::default() });
    let mut messages: VecDeque<v1::WatchSurfaceResponse> = messages.collect();
    if messages.is_empty() {
        messages.push_back(v1::WatchSurfaceResponse::default());
    }
    if let Some(first) = messages.front_mut() {
        first.anew = part.anew;
    }
    if let (Some(last), Some((moment, revision))) = (messages.back_mut(), part.leads_to) {
        last.moment = moment.to_string();
        last.revision = revision;
    }
    messages
}

fn change(difference: ToolDifference) -> v1::SurfaceToolChange {
    let kind = match difference.kind() {
        DifferenceKind::Added => v1::SurfaceToolChangeKind::Added,
        DifferenceKind::Removed => v1::SurfaceToolChangeKind::Removed,
        DifferenceKind::Changed => v1::SurfaceToolChangeKind::Changed,
    };
    let ToolDifference { tool_id, name, before, now, stale, for_budget } = difference;
    let hidden = match &now {
        Sight::NotShown { reason, message } => Some((*reason, message.clone())),
        _ => None,
    };
    let uncallable = match &now {
        Sight::Shown(tool) => tool.uncallable.as_ref(),
        _ => None,
    };
    let (reason, message) = match (&hidden, uncallable) {
        (Some((reason, message)), _) => (reason.as_str(), message.clone()),
        (None, Some(why)) => (why.code.as_str(), why.message.clone()),
        (None, None) if for_budget => ("budget", FOR_BUDGET.to_owned()),
        (None, None) => ("", String::new()),
    };
    let (before, now) = (shown(before), shown(now));
    let name_before = before.as_ref().map(|tool| tool.name.clone()).filter(|was| *was != name);
    v1::SurfaceToolChange {
        tool_id: tool_id.to_string(),
        kind: kind.into(),
        state: state(now.as_ref()).into(),
        state_before: state(before.as_ref()).into(),
        digest: now.map(|tool| tool.digest.to_string()).unwrap_or_default(),
        digest_before: before.map(|tool| tool.digest.to_string()).unwrap_or_default(),
        name,
        name_before: name_before.unwrap_or_default(),
        changed: stale.unwrap_or_default(),
        reason: reason.to_owned(),
        reason_code: hidden.as_ref().map_or(0, |(reason, _)| reason.number()),
        message,
    }
}

fn shown(sight: Sight) -> Option<ShownTool> {
    match sight {
        Sight::Shown(tool) => Some(tool),
        Sight::NotShown { .. } | Sight::Absent | Sight::Unknown => None,
    }
}

fn state(tool: Option<&ShownTool>) -> v1::SurfaceToolState {
    match tool {
        None => v1::SurfaceToolState::Unspecified,
        Some(ShownTool { loaded: Some(_), .. }) => v1::SurfaceToolState::Loaded,
        Some(ShownTool { loaded: None, .. }) => v1::SurfaceToolState::Deferred,
    }
}
