//! Phase 1: the tool behind a name in a surface, from the surface service, remembered while nothing changes.

mod refusal;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::hash::DashMap;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use toolplane_catalog::{Moment, Registration, ScopeRules};
use toolplane_proto::v1;
use toolplane_proto::v1::surface_service_client::SurfaceServiceClient;
use toolplane_records::SmolStr;
use toolplane_records::error::ToolError;
use toolplane_records::ids::{SurfaceId, TenantId, ToolId};
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::Digest;
use toolplane_records::provider::is_tool_of;

use self::refusal::{refusal, unanswered};
use super::tool::{CallableTool, ToolLimits};
use super::trust::{ASK_EVERY, Beats, Trust};
use crate::error::CallError;
use toolplane_runtime::Caller;
use toolplane_runtime::client::{Backoff, Peer, retry};

/// What a name leads to.
pub(crate) enum Resolved {
    /// A tool that can be called, on the terms of its surface.
    Callable(Arc<CallableTool>, Terms),
    /// Nothing that can be called now.
    NotCallable { error: Box<ToolError>, blocked: bool, tool_id: Option<ToolId> },
}

/// What a surface says of every call that is made in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    /// A batch has to run its calls one after the other.
    pub(crate) one_at_a_time: bool,
    /// The policies it names.
    pub(crate) policy_refs: Arc<[SmolStr]>,
    /// What its scope holds calls to; nothing without.
    pub(crate) scope: Option<Arc<ScopeRules>>,
    /// The surfaces it is within, the nearest first, each with what its scope holds calls to.
    pub(crate) above: Arc<[(SurfaceId, ScopeRules)]>,
}

impl From<&v1::ResolvedTool> for Terms {
    fn from(resolved: &v1::ResolvedTool) -> Self {
        let policy_refs = resolved.policy_refs.iter().map(SmolStr::new).collect();
        let scope = ScopeRules::told(resolved.scope_refs.clone(), resolved.scope_role.clone());
        let scope = (!scope.is_silent()).then(|| Arc::new(scope));
        let above = resolved.above.iter().map(|above| {
            let id = SurfaceId::from_trusted(above.surface_id.as_str());
            (id, ScopeRules::told(above.scope_refs.clone(), above.scope_role.clone()))
        });
        Self { one_at_a_time: resolved.one_at_a_time, policy_refs, scope, above: above.collect() }
    }
}

/// Where a tool is looked up: a name in a surface.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ToolAddress {
    pub(crate) tenant: TenantId,
    pub(crate) surface_id: SurfaceId,
    /// The name as the caller gave it.
    pub(crate) name: SmolStr,
    /// The moment of the surface the caller goes by; the surface as it is now without one.
    pub(crate) moment: Option<Moment>,
}

impl ToolAddress {
    /// Where the tool of `record` was looked up.
    pub(crate) fn of(record: &Invocation) -> Option<Self> {
        let (tenant, surface_id) = (record.tenant.clone(), record.surface_id.clone()?);
        let moment = record.surface_moment.as_deref().and_then(|moment| moment.parse().ok());
        Some(Self { tenant, surface_id, name: record.tool_name.clone(), moment })
    }
}

/// The surface service, with a memory of its positive answers.
///
/// The memory is used only while the service's change stream says that no change is missed, and the service waits for our
/// acknowledgement before it answers a change: a caller that loads or retires a tool and then calls it never meets an old
/// answer. What is asked may be answered by another process than the one whose changes are heard; it is told what was heard.
#[derive(Clone, Debug)]
pub(crate) struct SurfacePeer(Arc<ToolCache>);

#[derive(Debug)]
struct ToolCache {
    client: SurfaceServiceClient<Peer>,
    limits: ToolLimits,
    places: DashMap<ToolAddress, Remembered>,
    versions: DashMap<Digest, Arc<CallableTool>>,
    /// Changes are heard.
    trust: Trust,
    /// Grows with every change: an answer asked for before a change is not remembered after it.
    generation: AtomicU64,
    /// The newest revision of the catalog that was heard of; comparable between surface processes.
    revision: AtomicU64,
}

/// A tool that was found at a place.
#[derive(Debug)]
struct Remembered {
    tool: Arc<CallableTool>,
    terms: Terms,
    since: Instant,
}

/// So long a place is remembered while nothing changes. Then it is asked for again, which tells the surface service that the surface is in
/// use: it deletes what nobody uses for days.
const REMEMBERED_FOR: Duration = Duration::from_secs(6 * 60 * 60);

/// Most places that are remembered where another one with a moment comes.
const MAX_WITH_MOMENTS: usize = 10_000;

impl SurfacePeer {
    /// The surface service behind `peer`.
    pub(crate) fn new(peer: Peer, limits: ToolLimits) -> Self {
        Self(Arc::new(ToolCache {
            client: SurfaceServiceClient::new(peer),
            limits,
            places: DashMap::default(),
            versions: DashMap::default(),
            trust: Trust::none(),
            generation: AtomicU64::new(0),
            revision: AtomicU64::new(0),
        }))
    }

    /// The tool at `place`, for `caller` who goes by the declaration `known`; by the one loaded in the surface without it.
    pub(crate) async fn resolve(
        &self,
        place: &ToolAddress,
        caller: &Caller,
        known: Option<Digest>,
    ) -> Result<Resolved, CallError> {
        if let Some((tool, terms)) = self.remembered(place)
            && known.is_none_or(|known| known == tool.digest)
        {
            return Ok(Resolved::Callable(tool, terms));
        }
        // In a box: few calls get here, and the future of a request is some 8 KB.
        Box::pin(self.ask(place, caller, known)).await
    }

    /// Asks the surface service for the tool at `place`.
    async fn ask(&self, place: &ToolAddress, caller: &Caller, known: Option<Digest>) -> Result<Resolved, CallError> {
        let generation = self.0.generation.load(Ordering::Acquire);
        let request = v1::ResolveToolRequest {
            surface_id: place.surface_id.to_string(),
            name: place.name.to_string(),
            tenant: place.tenant.to_string(),
            known_digest: known.map(|known| known.to_string()).unwrap_or_default(),
            known_revision: self.0.revision.load(Ordering::Acquire),
            surface_moment: place.moment.map(|moment| moment.to_string()).unwrap_or_default(),
        };
        let ask = || {
            let (mut client, request) = (self.0.client.clone(), Peer::on_behalf(caller, request.clone()));
            async move { client.resolve_tool(request).await }
        };
        let answer = retry(Backoff::BRIEF, ask).await.map_err(unanswered)?.into_inner();
        match answer.resolution {
            Some(v1::resolve_tool_response::Resolution::Resolved(resolved)) => {
                let (once, terms) = (resolved.once, Terms::from(&resolved));
                let tool = self.version(resolved)?;
                // What is callable for one declaration need not be for the one the surface loaded.
                if known.is_none() && !once && self.0.trust.holds() {
                    self.make_room(place);
                    let (tool, terms, since) = (Arc::clone(&tool), terms.clone(), Instant::now());
                    self.0.places.insert(place.clone(), Remembered { tool, terms, since });
                    // A change that was heard meanwhile may have come before this was there to be forgotten.
                    if self.0.generation.load(Ordering::Acquire) != generation {
                        self.0.places.remove(place);
                    }
                }
                Ok(Resolved::Callable(tool, terms))
            }
            Some(v1::resolve_tool_response::Resolution::NotCallable(not_callable)) => {
                Ok(refusal(&place.name, not_callable))
            }
            None => Err(CallError::Internal("the surface service gave an empty answer".to_owned())),
        }
    }

    /// Forgets what calls that went by moments led to, where there is much of it: moments grow old by themselves.
    fn make_room(&self, place: &ToolAddress) {
        if place.moment.is_some() && self.0.places.len() >= MAX_WITH_MOMENTS {
            self.0.places.retain(|place, _| place.moment.is_none());
        }
    }

    /// What is remembered of `place`, while nothing can have changed unnoticed.
    pub(crate) fn known(&self, place: &ToolAddress) -> Option<Arc<CallableTool>> {
        self.remembered(place).map(|(tool, _)| tool)
    }

    fn remembered(&self, place: &ToolAddress) -> Option<(Arc<CallableTool>, Terms)> {
        let live = self.0.trust.holds();
        let found = self.0.places.get(place).filter(|found| live && found.since.elapsed() < REMEMBERED_FOR)?;
        Some((Arc::clone(&found.tool), found.terms.clone()))
    }

    /// How many changes were heard of, and whether they are heard at all right now.
    pub(crate) fn heard(&self) -> (u64, bool) {
        (self.0.generation.load(Ordering::Acquire), self.0.trust.holds())
    }

    /// The compiled form of a registration; compiled once per version, whatever surfaces show it.
    fn version(&self, resolved: v1::ResolvedTool) -> Result<Arc<CallableTool>, CallError> {
        if let Ok(digest) = resolved.digest.parse::<Digest>()
            && let Some(tool) = self.0.versions.get(&digest)
        {
            return Ok(tool.clone());
        }
        let registration = resolved.registration.ok_or_else(|| {
            CallError::Internal("the surface service resolved a tool without its registration".to_owned())
        })?;
        let tool = Arc::new(CallableTool::new(decode(registration)?, &self.0.limits)?);
        self.0.versions.insert(tool.digest, tool.clone());
        Ok(tool)
    }

    /// Forgets what changes may have made wrong.
    fn forget(&self, changes: &[v1::CatalogChange], reset: bool) {
        self.0.generation.fetch_add(1, Ordering::AcqRel);
        if reset {
            self.0.places.clear();
            self.0.versions.clear();
            return;
        }
        for change in changes {
            match &change.subject {
                Some(v1::catalog_change::Subject::ToolId(tool_id)) => {
                    let concerns = |tool: &CallableTool| tool.registration.declaration.tool_id.as_str() == tool_id;
                    // A tool that was found by its bare name may have to share that with a new one.
                    let shared = |place: &ToolAddress, tool: &CallableTool| {
                        let registration = &tool.registration;
                        let is_bare =
                            *place.name == registration.declaration.name || *place.name == registration.bare_name();
                        place.tenant.as_str() == change.tenant && is_bare
                    };
                    self.0.places.retain(|place, found| !concerns(&found.tool) && !shared(place, &found.tool));
                    self.0.versions.retain(|_, tool| !concerns(tool));
                }
                Some(v1::catalog_change::Subject::SurfaceId(surface_id)) => {
                    // What one is within says what it may show.
                    let concerns = |place: &ToolAddress, terms: &Terms| {
                        let above = terms.above.iter().map(|(id, _)| id);
                        std::iter::once(&place.surface_id).chain(above).any(|id| id.as_str() == surface_id)
                    };
                    self.0.places.retain(|place, found| !concerns(place, &found.terms));
                }
                Some(v1::catalog_change::Subject::ProviderId(provider_id)) => {
                    let concerns =
                        |tool: &CallableTool| is_tool_of(&tool.registration.declaration.tool_id, provider_id);
                    self.0.places.retain(|_, found| !concerns(&found.tool));
                }
                None => self.0.places.clear(),
            }
        }
    }

    /// Follows the change stream once, until it ends.
    async fn follow(&self, subscriber: &str) -> Result<(), tonic::Status> {
        let (acks, requests) = mpsc::channel(16);
        let ack = |acknowledged_revision, beat| {
            let subscriber = subscriber.to_owned();
            acks.send(v1::SyncCatalogRequest { subscriber, acknowledged_revision, beat })
        };
        let gone = |_| tonic::Status::unavailable("the change stream ended");
        let mut beats = Beats::begin(&self.0.trust);
        ack(self.0.revision.load(Ordering::Acquire), beats.number()).await.map_err(gone)?;
        let mut changes = self.0.client.clone().sync_catalog(ReceiverStream::new(requests)).await?.into_inner();
        let mut tick = tokio::time::interval(ASK_EVERY);
        let mut synced = false;
        loop {
            let response = tokio::select! {
                response = changes.message() => response?,
                _ = tick.tick() => {
                    if let Some(beat) = beats.ask() {
                        ack(self.0.revision.load(Ordering::Acquire), beat).await.map_err(gone)?;
                    }
                    continue;
                }
            };
            let Some(response) = response else { return Ok(()) };
            let reset = response.reset || !synced;
            // An answer to a beat alone is no change: what was decided before it still counts.
            let news = reset || !response.changes.is_empty();
            if news {
                // Where a store was put back to an earlier state, revisions begin anew with the stream.
                self.0.revision.store(response.catalog_revision, Ordering::Release);
                self.forget(&response.changes, reset);
            }
            // The first message says which revision this is: from here on no change escapes us.
            synced = true;
            beats.take(response.beat, response.trusted_for_ms);
            if news {
                ack(response.catalog_revision, 0).await.map_err(gone)?;
            }
        }
    }
}

/// Keeps the memory of `peer` true until `stop`: follows the change stream, and uses no memory while it is broken.
pub(crate) async fn follow_catalog(peer: SurfacePeer, subscriber: String, stop: CancellationToken) {
    loop {
        let ended = tokio::select! {
            () = stop.cancelled() => return,
            ended = peer.follow(&subscriber) => ended,
        };
        peer.0.trust.end();
        peer.forget(&[], true);
        if let Err(status) = ended {
            tracing::debug!(code = ?status.code(), "the catalog change stream broke; opening it again");
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(Duration::from_millis(200)) => {}
        }
    }
}

fn decode(registration: v1::ToolRegistration) -> Result<Registration, CallError> {
    let parts = toolplane_proto::convert::registration::parts(registration).map_err(|faults| {
        CallError::Internal(format!("the surface service sent a damaged registration: {faults:?}"))
    })?;
    Ok(Registration {
        declaration: parts.declaration,
        interface: parts.interface.map(Box::new),
        execution_profile: parts.execution_profile.map(Box::new),
        permission_profile: parts.permission_profile.map(Box::new),
    })
}
