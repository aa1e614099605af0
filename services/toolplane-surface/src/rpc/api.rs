//! What the handlers of the role share.

use tokio_util::sync::CancellationToken;
use toolplane_catalog::Budget;
use toolplane_runtime::ApiError;

use crate::meaning::Meaning;
use crate::parts::Parts;
use crate::providers::Looks;
use crate::rerank::Reranker;

/// What the handlers share. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct SurfaceApi {
    pub(crate) parts: Parts,
    /// Asks providers what they have.
    pub(crate) looks: Looks,
    pub(crate) defer_threshold: u32,
    /// The budget of surfaces that are made without saying one.
    pub(crate) budget: Budget,
    /// What questions mean, where a model is set up.
    pub(crate) meaning: Option<Meaning>,
    /// Who puts what was found into a better order.
    pub(crate) reranker: Option<Reranker>,
    /// The largest answer, in bytes.
    pub(crate) max_message_bytes: usize,
    /// Cancelled when streams are to end.
    pub(crate) stopping: CancellationToken,
}

impl SurfaceApi {
    /// The same, knowing what the rules deny.
    pub(super) async fn settled(&self) -> &Self {
        self.parts.registry.tenants().denials().settled().await;
        self
    }

    /// The same, with nothing in memory that is older than what any process has answered for, and knowing what the rules deny.
    pub(super) async fn current(&self) -> Result<&Self, ApiError> {
        self.settled().await.parts.registry.current().await.map(|()| self)
    }
}
