//! Asking a service for a better order of what a search found.
//!
//! It is given the best tools and says their order; it can bring none in and take none out. Tools that were asked for by name stay in
//! front of it. Without its answer, what was found stays in the order it has, and the answer of the search says so.

mod order;
mod pages;

use std::sync::Arc;

use tokio::sync::Semaphore;
use toolplane_proto::convert::field;
use toolplane_proto::v1;
use toolplane_proto::v1::rerank_service_client::RerankServiceClient;
use toolplane_records::ids::{TenantId, ToolId};
use toolplane_records::search::{MatchReason, SearchResult};
use toolplane_runtime::Config;
use toolplane_runtime::client::{Peer, PeerSettings, connect};
use toolplane_runtime::clock;
use toolplane_runtime::config::RerankerConfig;

use crate::breaker::Breaker;
use crate::error::SurfaceError;
pub(crate) use order::Begun;
use order::{Score, reorder};
pub(crate) use pages::{First, Page, Place, go_on};

/// Questions it is asked about at a time; more wait for their turn, and go without it when that takes too long.
const AT_ONCE: usize = 32;
/// Largest answer: ids and numbers.
const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// A reranker. Cheap to clone; clones are the same.
#[derive(Clone, Debug)]
pub struct Reranker(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    client: RerankServiceClient<Peer>,
    config: RerankerConfig,
    turns: Semaphore,
    breaker: Breaker,
}

/// Reads the files of the section as a start does.
pub(crate) fn check(config: &Config) -> Result<(), SurfaceError> {
    settings(config).map(drop)
}

/// The reranker of the configuration, when it names one. Connects at the first question; must be called within the runtime.
pub(crate) fn open(config: &Config) -> Result<Option<Reranker>, SurfaceError> {
    let section = &config.surface.search.reranker;
    let Some(endpoint) = &section.endpoint else { return Ok(None) };
    let peer = connect(endpoint, &settings(config)?).map_err(refused)?;
    tracing::info!(endpoint, top = section.top, "what searches find is put into order by a service");
    Ok(Some(Reranker::new(peer, section.clone())))
}

/// How it is connected to: with the files of its section, never with what this process shows its peers.
fn settings(config: &Config) -> Result<PeerSettings, SurfaceError> {
    let RerankerConfig { endpoint, token_file, ca_file, .. } = &config.surface.search.reranker;
    if endpoint.is_none() {
        return Ok(PeerSettings::default());
    }
    let ca_file = ca_file.as_deref().or(config.peers.ca_file.as_deref());
    PeerSettings::of_files(token_file.as_deref(), ca_file).map_err(refused)
}

fn refused(error: toolplane_runtime::server::ServerError) -> SurfaceError {
    SurfaceError::Reranker { reason: error.to_string() }
}

impl Reranker {
    /// The service behind `peer`.
    fn new(peer: Peer, config: RerankerConfig) -> Self {
        let client = RerankServiceClient::new(peer).max_decoding_message_size(MAX_ANSWER_BYTES);
        Self(Arc::new(Inner { client, config, turns: Semaphore::new(AT_ONCE), breaker: Breaker::default() }))
    }

    /// Most tools it is given.
    pub(crate) fn top(&self) -> usize {
        self.0.config.top as usize
    }

    /// Puts what was found into the order the service wants, those asked for by name in front.
    async fn put_in_order(
        &self,
        tenant: &TenantId,
        query: &str,
        head: &mut SearchResult,
        hints: &Hints<'_>,
    ) -> Ordered {
        let named = head.found.iter().take_while(|tool| tool.why.iter().any(is_name)).count();
        let rest = head.found.get(named..).unwrap_or_default();
        if rest.len() < 2 {
            return Ordered::Nothing;
        }
        let candidates = rest.iter().map(|tool| v1::RerankCandidate {
            tool_id: tool.tool_id.to_string(),
            name: tool.name.clone(),
            title: tool.title.clone(),
            description: tool.description.clone(),
            hint: hints(&tool.tool_id),
        });
        let Some(wanted) = self.ask(tenant, query, candidates.collect()).await else { return Ordered::Away };
        let given: Vec<&ToolId> = rest.iter().map(|tool| &tool.tool_id).collect();
        let order = reorder(&given, &wanted);
        for (place, score) in &order {
            if let (Some(score), Some(tool)) = (score, head.found.get_mut(named + place)) {
                tool.why.push(reason(*score));
            }
        }
        let places: Vec<usize> = (0..named).chain(order.into_iter().map(|(place, _)| named + place)).collect();
        pages::pick(head, &places);
        Ordered::Yes
    }

    async fn ask(
        &self,
        tenant: &TenantId,
        query: &str,
        candidates: Vec<v1::RerankCandidate>,
    ) -> Option<Vec<(String, f64)>> {
        let Inner { client, config, turns, breaker } = &*self.0;
        if !breaker.lets() {
            return None;
        }
        let patience = config.patience();
        let deadline = clock::now().plus_millis(config.patience_ms.into());
        let message = v1::RerankRequest {
            tenant: tenant.to_string(),
            query: query.to_owned(),
            candidates,
            deadline_at: field::instant(deadline),
        };
        let asking = async {
            let _turn = turns.acquire().await.map_err(|error| error.to_string())?;
            let mut request = tonic::Request::new(message);
            request.set_timeout(patience);
            // What the service says in words may hold what it was given.
            client.clone().rerank(request).await.map_err(|status| format!("it answers {:?}", status.code()))
        };
        match tokio::time::timeout(patience, asking).await.unwrap_or_else(|_| Err("it took too long".to_owned())) {
            Ok(answer) => {
                if breaker.answered() {
                    tracing::info!("the reranker answers again");
                }
                let ranked = answer.into_inner().ranked;
                Some(ranked.into_iter().map(|one| (one.tool_id, one.score)).collect())
            }
            Err(error) => {
                if breaker.failed(None) {
                    tracing::warn!(error, "the reranker does not answer; what is found stays in its order");
                }
                None
            }
        }
    }
}

/// What came of putting tools into order.
#[derive(Debug)]
enum Ordered {
    Yes,
    /// The service does not answer.
    Away,
    /// There are no two tools that could change places.
    Nothing,
}

/// What a tool says about when it is to be looked for.
type Hints<'a> = dyn Fn(&ToolId) -> String + Send + Sync + 'a;

fn is_name(reason: &MatchReason) -> bool {
    matches!(reason.how.as_str(), "name" | "name_within")
}

fn reason(score: Score) -> MatchReason {
    MatchReason { how: "reranked".to_owned(), score, ..MatchReason::default() }
}
