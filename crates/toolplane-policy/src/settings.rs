//! What an operator sets beside rules.

use serde::Serialize;
use toolplane_records::payload::{Digest, JsonPayload};

/// Bounds of decisions that no rule moves.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PolicySettings {
    /// The mode `bypass` allows; without it the mode is the same as `default`.
    pub allow_bypass: bool,
    /// An agent less sure than this (0 to 1) is asked about.
    pub confidence_floor: f64,
    /// Verdicts of an agent about its own work that are asked about, in any case.
    pub uncertain_verdicts: Vec<String>,
    /// Namespaces (and those below) whose authors are not trusted: their claims never help a call, and a call with facts
    /// missing is asked about.
    pub untrusted_namespaces: Vec<String>,
    /// The workspace, absolute: relative paths start there.
    pub workspace: String,
    /// Further directories that count as inside, absolute.
    pub working_dirs: Vec<String>,
    /// Repositories are trusted: version control may run the programs their configuration and attributes name. Without it, a
    /// command that may come to them (`git status`, `git diff`) is asked about whatever patterns allow it.
    pub trust_repositories: bool,
}

impl Default for PolicySettings {
    /// No bypass, confidence from 0.8, `uncertain` verdicts and providers' tools (`mcp`) looked at, `/workspace`, repositories
    /// not trusted.
    fn default() -> Self {
        Self {
            allow_bypass: false,
            confidence_floor: 0.8,
            uncertain_verdicts: vec!["uncertain".to_owned()],
            untrusted_namespaces: vec!["mcp".to_owned()],
            workspace: "/workspace".to_owned(),
            working_dirs: Vec::new(),
            trust_repositories: false,
        }
    }
}

impl PolicySettings {
    /// Whether the authors of a namespace are not trusted.
    pub fn is_untrusted(&self, namespace: &str) -> bool {
        self.untrusted_namespaces.iter().any(|untrusted| toolplane_matching::tools::within(namespace, untrusted))
    }

    /// SHA-256 over everything set.
    pub fn digest(&self) -> Digest {
        JsonPayload::of(self).digest()
    }
}
