//! How long what a call leaves is kept: which data it is about, and what of it went before the rest (ours).

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::profile::PermissionProfile;
use crate::time::Timestamp;
use crate::vocabulary::{RecordClass, RiskLevel};

/// Longest of the words a tool says of its data, in bytes. A longer one is no word, and is not kept.
const MAX_WORD_BYTES: usize = 64;

/// What is said of the data of a call when it is accepted, and what of it is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallKeeping {
    /// Risk of the tool (`risk_level` of its permission profile).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk_level: Option<RiskLevel>,
    /// How sensitive its data is (`data_sensitivity`).
    #[serde(skip_serializing_if = "SmolStr::is_empty")]
    pub data_sensitivity: SmolStr,
    /// How long its results should be kept (`retention_hint`).
    #[serde(skip_serializing_if = "SmolStr::is_empty")]
    pub retention_hint: SmolStr,
    /// What was removed before the rest of the call, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<RemovedRecords>,
}

/// Records of one class that are gone while their call is still kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RemovedRecords {
    /// Which.
    pub class: RecordClass,
    /// Since when.
    pub at: Timestamp,
}

impl CallKeeping {
    /// What a tool says of its data.
    pub fn of(profile: &PermissionProfile) -> Self {
        let word = |said: &Option<String>| match said.as_deref() {
            Some(text) if text.len() <= MAX_WORD_BYTES => SmolStr::from(text),
            _ => SmolStr::default(),
        };
        Self {
            risk_level: Some(profile.risk_level),
            data_sensitivity: word(&profile.data_sensitivity),
            retention_hint: word(&profile.retention_hint),
            removed: Vec::new(),
        }
    }

    /// Nothing is said, and all of it is there.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Since when the records of `class` are gone.
    pub fn removed_at(&self, class: RecordClass) -> Option<Timestamp> {
        self.removed.iter().find(|gone| gone.class == class).map(|gone| gone.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::ProfileId;

    #[test]
    fn what_a_tool_says_of_its_data_is_kept_as_words_and_not_as_texts() {
        let mut profile = PermissionProfile::new(ProfileId::from_trusted("p"), RiskLevel::High);
        profile.data_sensitivity = Some("personal".to_owned());
        profile.retention_hint = Some("x".repeat(MAX_WORD_BYTES + 1));
        let kept = CallKeeping::of(&profile);
        assert_eq!((kept.data_sensitivity.as_str(), kept.retention_hint.as_str()), ("personal", ""));
        assert!(!kept.is_empty() && CallKeeping::default().is_empty());
        assert_eq!(serde_json::to_string(&kept).unwrap(), r#"{"risk_level":"high","data_sensitivity":"personal"}"#);
    }

    #[test]
    fn what_is_gone_is_known_by_its_class() {
        let gone = RemovedRecords { class: RecordClass::Inputs, at: Timestamp::from_millis(7) };
        let kept = CallKeeping { removed: vec![gone], ..CallKeeping::default() };
        assert_eq!(kept.removed_at(RecordClass::Inputs), Some(gone.at));
        assert_eq!(kept.removed_at(RecordClass::Outputs), None);
    }
}
