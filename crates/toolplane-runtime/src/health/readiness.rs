//! What the services of one process need and have.

use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::sync::watch;

/// The name whose health is yes as long as the process answers.
pub const LIVENESS: &str = "liveness";

/// Metadata of an answer that is not `SERVING`: what is missing, as text. Names parts of the cluster, and nothing of
/// anybody's data.
pub const REASON: &str = "toolplane-reason";

/// Metadata of any answer: what should be known of something that is there, as text. Names parts of the cluster and counts, and
/// nothing of anybody's data.
pub const REMARK: &str = "toolplane-remark";

/// What the services of one process need and have. Cheap to clone; all clones are one.
#[derive(Clone, Debug)]
pub struct Readiness(Arc<watch::Sender<ReadinessState>>);

#[derive(Debug, Default)]
pub(super) struct ReadinessState {
    names: BTreeSet<&'static str>,
    needs: Vec<NeedStatus>,
    open: bool,
}

#[derive(Debug)]
pub(super) struct NeedStatus {
    /// What it is, as its owner calls it.
    what: String,
    /// The services that cannot work without it.
    services: Vec<&'static str>,
    missing: Option<String>,
    /// What should be known of it while it is there.
    remark: Option<String>,
}

/// Something that services of this process cannot work without.
#[derive(Clone, Debug)]
pub struct Need {
    readiness: Readiness,
    at: usize,
}

impl Default for Readiness {
    /// A process that needs nothing and does not answer yet.
    fn default() -> Self {
        Self(Arc::new(watch::Sender::new(ReadinessState::default())))
    }
}

impl Readiness {
    /// These services are answered for.
    pub fn add(&self, services: impl IntoIterator<Item = &'static str>) {
        self.0.send_modify(|state| state.names.extend(services));
    }

    /// `services` need `what` from now on. Until it is said to be [there](Need::there), it is missing.
    pub fn need(&self, what: impl Into<String>, services: &[&'static str]) -> Need {
        let missing = Some("not known yet".to_owned());
        let known = NeedStatus { what: what.into(), services: services.to_vec(), missing, remark: None };
        let mut at = 0;
        self.0.send_modify(|state| {
            state.names.extend(services);
            at = state.needs.len();
            state.needs.push(known);
        });
        Need { readiness: self.clone(), at }
    }

    /// The process answers calls, or does no longer.
    pub(crate) fn open(&self, open: bool) {
        self.0.send_modify(|state| state.open = open);
    }

    /// What a service lacks, empty when it is ready; `None` when there is no such service. No name means the whole process.
    pub fn lacks(&self, service: &str) -> Option<Vec<String>> {
        self.0.borrow().lacks(service)
    }

    /// What should be known of what a service needs and has. No name means the whole process.
    pub fn remarks(&self, service: &str) -> Vec<String> {
        self.0.borrow().remarks(service)
    }

    pub(super) fn changes(&self) -> watch::Receiver<ReadinessState> {
        self.0.subscribe()
    }
}

impl ReadinessState {
    pub(super) fn lacks(&self, service: &str) -> Option<Vec<String>> {
        if service == LIVENESS {
            return Some(Vec::new());
        }
        if !service.is_empty() && !self.names.contains(service) {
            return None;
        }
        if !self.open {
            return Some(vec!["the process is starting or stopping".to_owned()]);
        }
        let missing = |need: &NeedStatus| Some(format!("{}: {}", need.what, need.missing.as_ref()?));
        Some(self.needs_of(service).filter_map(missing).collect())
    }

    fn remarks(&self, service: &str) -> Vec<String> {
        let there = self.needs_of(service).filter(|need| need.missing.is_none());
        there.filter_map(|need| Some(format!("{}: {}", need.what, need.remark.as_ref()?))).collect()
    }

    fn needs_of(&self, service: &str) -> impl Iterator<Item = &NeedStatus> {
        self.needs.iter().filter(move |need| service.is_empty() || need.services.contains(&service))
    }
}

impl Need {
    /// It is there.
    pub fn there(&self) {
        self.set(None);
    }

    /// It is missing, in a few words that name no secret and nobody's data.
    pub fn missing(&self, why: impl Into<String>) {
        self.set(Some(why.into()));
    }

    /// What should be known of it while it is there, in a few words that name no secret and nobody's data; or nothing.
    pub fn remark(&self, remark: Option<String>) {
        self.readiness.0.send_if_modified(|state| {
            let Some(need) = state.needs.get_mut(self.at).filter(|need| need.remark != remark) else { return false };
            need.remark = remark;
            true
        });
    }

    fn set(&self, missing: Option<String>) {
        self.readiness.0.send_if_modified(|state| {
            let Some(need) = state.needs.get_mut(self.at).filter(|need| need.missing != missing) else { return false };
            match &missing {
                Some(why) => tracing::warn!(what = need.what, why, "something this process needs is missing"),
                None => tracing::info!(what = need.what, "a dependency of this process is ready"),
            }
            need.missing = missing;
            true
        });
    }
}
