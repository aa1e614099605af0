//! What checking a registration found out, kept where the registration is stored.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolplane_records::payload::Digest;

use super::Checked;
use crate::registration::Registration;

/// What the checks of a registration found. Who reads it back with the registration need not compile its schemas again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    /// Of the registration that passed.
    pub(super) digest: Digest,
    /// The fields a caller may give.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parameters: Vec<String>,
}

impl Checked {
    /// What the checks found.
    pub fn findings(&self) -> Findings {
        Findings { digest: self.digest, parameters: self.parameters.to_vec() }
    }

    /// The registration that these findings are about.
    pub(super) fn found(registration: Arc<Registration>, findings: &Findings) -> Self {
        Self {
            full_name: registration.declaration.full_name(),
            registration,
            digest: findings.digest,
            parameters: findings.parameters.as_slice().into(),
        }
    }
}
