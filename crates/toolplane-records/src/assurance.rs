//! What an agent says of its own certainty about a call (ours; the review rules of the HITL document read it).

use serde::{Deserialize, Deserializer, Serialize};

/// How sure the source is, from 0 to 1.
#[derive(Clone, Copy, Debug, PartialOrd, Serialize)]
pub struct Confidence(f64);

impl Confidence {
    /// The confidence, unless it is no number from 0 to 1.
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then_some(Self(value))
    }

    /// The number.
    pub fn get(self) -> f64 {
        self.0
    }
}

// Never NaN: see `new`.
impl PartialEq for Confidence {
    fn eq(&self, other: &Self) -> bool {
        self.0.total_cmp(&other.0).is_eq()
    }
}

impl Eq for Confidence {}

impl<'de> Deserialize<'de> for Confidence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        Self::new(value).ok_or_else(|| serde::de::Error::custom("a confidence must be a number from 0 to 1"))
    }
}

/// What an agent says of its own certainty. It can only make a decision stricter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallAssurance {
    /// How sure the agent is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// Outcome of the agent's own check, e.g. `uncertain`; open vocabulary.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub verdict: String,
    /// Evidence the call rests on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence_refs: Vec<String>,
    /// Evidence that should be there and is not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_evidence: Vec<String>,
    /// Labels of untrusted material the arguments were made from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taints: Vec<String>,
}
