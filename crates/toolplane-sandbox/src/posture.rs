//! What the sandbox on this machine really gives.

use serde::{Deserialize, Serialize};

/// The outcome of a probe: facts found by running inside the sandbox, not read from configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Posture {
    /// Every required layer held. Only then may runs be offered.
    pub available: bool,
    /// Which backend was probed, e.g. `bubblewrap 0.8.0`.
    pub backend: String,
    /// Each layer that was checked.
    pub layers: Vec<Layer>,
    /// Why the sandbox is not available, and what would help.
    pub missing_reason: Option<String>,
}

/// One checked property.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// Stable name, e.g. `network_namespace`.
    pub name: String,
    /// It held.
    pub held: bool,
    /// The sandbox is offered only if it holds.
    pub required: bool,
    /// What was seen.
    pub detail: String,
}

impl Posture {
    /// A posture without a sandbox.
    pub fn unavailable(backend: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { available: false, backend: backend.into(), layers: Vec::new(), missing_reason: Some(reason.into()) }
    }

    /// A posture from checked layers: available when every required one held.
    pub fn of_layers(backend: impl Into<String>, layers: Vec<Layer>) -> Self {
        let missing: Vec<_> = layers
            .iter()
            .filter(|layer| layer.required && !layer.held)
            .map(|layer| format!("{} ({})", layer.name, layer.detail))
            .collect();
        let missing_reason =
            (!missing.is_empty()).then(|| format!("required layers do not hold: {}", missing.join("; ")));
        Self { available: missing_reason.is_none(), backend: backend.into(), layers, missing_reason }
    }

    /// Whether the layer `name` was checked and held.
    pub fn holds(&self, name: &str) -> bool {
        self.layers.iter().any(|layer| layer.name == name && layer.held)
    }
}
