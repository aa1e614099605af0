//! What the handlers of workers are made from.

use toolplane_proto::v1;

use crate::calls::Calls;
use crate::cleaning::Cleaning;
use crate::dispatch::{Fleet, Starts};
use crate::ending::Endings;
use crate::provider_news::ProviderNews;
use crate::taints::SessionTaints;

/// What every worker is told when it connects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WorkerTerms {
    pub(crate) heartbeat_ms: u32,
    pub(crate) lease_ms: u32,
    pub(crate) max_inline_bytes: u64,
}

impl WorkerTerms {
    pub(crate) fn welcome(self) -> v1::WorkResponse {
        let welcome = v1::Welcome {
            heartbeat_ms: self.heartbeat_ms,
            lease_ms: self.lease_ms,
            max_inline_bytes: self.max_inline_bytes,
        };
        let command = v1::WorkerCommand { command: Some(v1::worker_command::Command::Welcome(welcome)) };
        v1::WorkResponse { commands: vec![command] }
    }
}

/// What sessions of workers need. Cheap to clone.
#[derive(Clone, Debug)]
pub(crate) struct WorkerParts {
    pub(crate) calls: Calls,
    pub(crate) starts: Starts,
    pub(crate) fleet: Fleet,
    pub(crate) endings: Endings,
    /// Cleans what tools say while they run.
    pub(crate) cleaning: Cleaning,
    /// Told what tools say that taints.
    pub(crate) taints: SessionTaints,
    /// Told what workers hear of providers.
    pub(crate) news: ProviderNews,
    pub(crate) terms: WorkerTerms,
}
