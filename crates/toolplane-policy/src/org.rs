//! Where the organisation's own policies come in: as one more voice, of source `policy_settings`.

use std::fmt;

use toolplane_records::payload::Digest;
use toolplane_records::vocabulary::Behavior;

use crate::call::CallFacts;
use crate::looked_at::LookedAt;

/// Policies written in another language than rules.
pub trait OrgPolicy: Send + Sync + fmt::Debug {
    /// What they say of one call. Must be a function of the call and of what [`OrgPolicy::digest`] covers, and nothing else.
    fn decide(&self, call: &CallFacts) -> OrgVerdict;

    /// Which facts of calls they look at; everything where that is not known.
    fn looks_at(&self) -> LookedAt {
        LookedAt::EVERYTHING
    }

    /// SHA-256 over everything that can change an answer.
    fn digest(&self) -> Digest;
}

/// What the organisation's policies say of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OrgVerdict {
    /// `deny` and `ask` cannot be outvoted; `allow` counts as an allow rule; `passthrough` is no opinion. A policy that
    /// could not be evaluated must not end up as a weaker answer than it could have given.
    pub behavior: Behavior,
    /// The policies that determined it.
    pub policy_ids: Vec<String>,
    /// Why, for people; may be empty.
    pub reason: String,
    /// What went wrong on the way.
    pub errors: Vec<String>,
}

impl Default for OrgVerdict {
    /// No opinion.
    fn default() -> Self {
        Self { behavior: Behavior::Passthrough, policy_ids: Vec::new(), reason: String::new(), errors: Vec::new() }
    }
}
