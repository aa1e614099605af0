//! Which credentials the workers have, as far as schedulers know: a tool of a provider that needs another one is hidden.
//!
//! What is known may be some seconds old, and says nothing of whom a credential is for. A call that is let through is judged by the
//! worker that runs it. As long as nothing is known, nothing is hidden.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolplane_catalog::{Registration, Traits, Why};
use toolplane_proto::v1;
use toolplane_proto::v1::invocation_service_client::InvocationServiceClient;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::ids::TenantId;
use toolplane_records::provider::Provider;
use toolplane_records::vocabulary::HiddenReason;
use toolplane_runtime::client::Peer;

use super::calls::workers;
use super::held::Shelf;
use crate::denied::mark;

/// How often it is asked which credentials there are, and how often while one is missing.
const EVERY: Duration = Duration::from_secs(5);
const WHILE_MISSING: Duration = Duration::from_secs(2);
/// Pools whose workers put credentials into calls.
const POOLS: [&str; 4] = ["http", "mcp_http", "mcp_stdio", "openapi"];

/// The credentials of the workers. Cheap to clone; clones are the same.
#[derive(Clone, Debug)]
pub(crate) struct WorkerCredentials {
    known: Arc<watch::Sender<KnownCredentials>>,
    /// Who needs them.
    shelf: Arc<Shelf>,
}

/// The credentials that workers have, as far as that is known at one moment. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct KnownCredentials(
    /// By name; nothing while that is not known.
    Option<Arc<BTreeSet<String>>>,
);

impl KnownCredentials {
    /// Whether this is surely what `other` is.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }

    fn missing<'a>(&self, wanted: &'a [String]) -> Option<&'a str> {
        let known = self.0.as_ref()?;
        wanted.iter().find(|name| !known.contains(*name)).map(String::as_str)
    }

    /// What keeps tools of providers from being used, in words: a surface has them among the blocked ones.
    pub(crate) fn shut(&self, traits: &Traits) -> Option<Why> {
        traits.provider.as_ref()?;
        let missing = self.missing(&traits.worker_credentials)?;
        Some((HiddenReason::CredentialMissing, format!("needs the credential `{missing}`, which no worker has")))
    }

    fn lacking(&self, wanted: &[String]) -> Option<String> {
        self.missing(wanted).map(|missing| format!("no worker has the credential `{missing}`"))
    }
}

impl WorkerCredentials {
    pub(crate) fn new(shelf: Arc<Shelf>) -> Self {
        Self { known: Arc::default(), shelf }
    }

    /// What is known at this moment.
    pub(crate) fn known(&self) -> KnownCredentials {
        self.known.borrow().clone()
    }

    /// Changes whenever the workers have other ones.
    pub(crate) fn changes(&self) -> watch::Receiver<KnownCredentials> {
        self.known.subscribe()
    }

    /// Stands for what providers of a tenant lack by what is known: 0 where they lack nothing.
    pub(crate) fn mark(&self, tenant: &TenantId, known: &KnownCredentials) -> u32 {
        let Some(there) = &known.0 else { return 0 };
        let own = self.shelf.of(tenant);
        let wanted = own.iter().filter(|held| !held.is_retired()).flat_map(|held| wanted(&held.provider));
        let missing: BTreeSet<&str> = wanted.filter(|name| !there.contains(*name)).map(String::as_str).collect();
        if missing.is_empty() { 0 } else { mark(missing) }
    }

    /// Says what is known now; tells whether that is something else.
    fn know(&self, names: Option<BTreeSet<String>>) -> bool {
        self.known.send_if_modified(|known| {
            let is_new = known.0.as_deref() != names.as_ref();
            if is_new {
                known.0 = names.map(Arc::new);
            }
            is_new
        })
    }

    /// Why a tool lacks a credential; nothing when it lacks none that is known of.
    pub(super) fn lacks(&self, tool: &Registration) -> Option<ToolError> {
        let wanted = &tool.permission_profile.as_ref()?.credential_refs;
        let error = ToolError::of(codes::CREDENTIAL_MISSING, self.known().lacking(wanted)?);
        Some(ToolError { side_effects: Some("none".to_owned()), ..error })
    }

    /// Whether a tool of any provider lacks a credential, and whether any needs one.
    fn needs_credentials(&self) -> (bool, bool) {
        let (known, mut needs, mut lacks) = (self.known(), false, false);
        for held in self.shelf.all().iter().filter(|held| !held.is_retired()) {
            let names: Vec<String> = wanted(&held.provider).cloned().collect();
            needs |= !names.is_empty();
            lacks |= known.missing(&names).is_some();
        }
        (needs, lacks)
    }

    /// Asks the scheduler again and again which credentials there are, as long as a provider needs any, until `stop`.
    pub(crate) async fn follow(self, scheduler: Peer, stop: CancellationToken) {
        let client = InvocationServiceClient::new(scheduler);
        stop.run_until_cancelled(async {
            loop {
                let (needs, lacks) = self.needs_credentials();
                if needs {
                    match workers(client.clone()).await {
                        Ok(workers) => {
                            let names = known(&workers);
                            if self.know(names.clone()) {
                                tracing::info!(credentials = ?names, "the workers have other credentials than before");
                            }
                        }
                        // What was known goes on to be.
                        Err(status) => tracing::debug!(code = ?status.code(), "the workers cannot be listed"),
                    }
                }
                let changed = self.shelf.changed.notified();
                let wait = tokio::time::sleep(if lacks { WHILE_MISSING } else { EVERY });
                tokio::select! {
                    () = wait => {}
                    () = changed, if !needs => {}
                }
            }
        })
        .await;
    }
}

/// The credentials that a provider's tools need.
fn wanted(provider: &Provider) -> impl Iterator<Item = &String> {
    provider.credentials.iter().map(|used| &used.credential).chain(provider.scheme_credentials.values())
}

/// What the workers together have; nothing when none is there, or one does not say.
fn known(workers: &[v1::WorkerRecord]) -> Option<BTreeSet<String>> {
    let is_there = |worker: &&v1::WorkerRecord| {
        let is_here = matches!(worker.state(), v1::WorkerState::Ready | v1::WorkerState::Draining);
        is_here && worker.pools.iter().any(|pool| POOLS.contains(&pool.as_str()))
    };
    let mut there = workers.iter().filter(is_there).peekable();
    there.peek()?;
    let told: Option<Vec<_>> = there.map(|worker| worker.credentials.as_ref()).collect();
    Some(told?.into_iter().flat_map(|told| told.names.iter().cloned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worker(state: v1::WorkerState, pool: &str, names: Option<&[&str]>) -> v1::WorkerRecord {
        let credentials =
            names.map(|names| v1::WorkerCredentials { names: names.iter().map(|name| (*name).to_owned()).collect() });
        v1::WorkerRecord { state: state.into(), pools: vec![pool.to_owned()], credentials, ..Default::default() }
    }

    #[test]
    fn a_credential_is_missing_when_no_worker_has_it_and_all_have_said_so() {
        use v1::WorkerState::{Lost, Ready};
        let names = |workers: &[v1::WorkerRecord]| known(workers).map(|names| names.into_iter().collect::<Vec<_>>());
        let (a, b) = (worker(Ready, "openapi", Some(&["a"])), worker(Ready, "mcp_http", Some(&["b"])));
        assert_eq!(names(&[a.clone(), b]), Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(names(&[a.clone(), worker(Ready, "http", None)]), None, "one does not say");
        let elsewhere = [a.clone(), worker(Ready, "native", None), worker(Lost, "http", None)];
        assert_eq!(names(&elsewhere), Some(vec!["a".to_owned()]));
        assert_eq!(names(&[]), None, "nobody is there who could say");
        let all = WorkerCredentials::new(Arc::default());
        let wanted = ["a", "b"].map(str::to_owned);
        assert_eq!(all.known().missing(&wanted), None, "nothing is known");
        assert!(all.know(known(std::slice::from_ref(&a))) && !all.know(known(&[a])));
        let known = all.known();
        assert_eq!((known.missing(&wanted), known.missing(&wanted[..1])), (Some("b"), None));
    }
}
