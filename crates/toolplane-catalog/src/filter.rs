//! What tools are chosen by, beside their names: one vocabulary for searches and for surfaces.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use toolplane_records::vocabulary::{RiskLevel, ToolKind};

use crate::search::fold;
use crate::traits::Traits;

/// What tools are filtered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FilterKind {
    /// The namespace, or one above it.
    Namespace,
    /// The kind of the tool.
    Kind,
    /// Its declared risk.
    Risk,
    /// The provider it comes from.
    Provider,
    /// One of its tags.
    Tag,
    /// One of its capabilities.
    Capability,
}

/// What a tool has to be, or must not be. Several of one kind: one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// What is compared.
    pub by: FilterKind,
    /// With what, in the form that is compared.
    pub value: String,
    /// Whether those that fit are left out.
    pub not: bool,
}

/// A filter no tool can fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryFault {
    /// Which.
    pub by: FilterKind,
    /// What is wrong with it.
    pub message: String,
}

/// The form in which what is asked for is compared with what tools say: letter case, accents and wide letters do not matter.
pub(crate) fn plain(text: &str) -> String {
    fold(text).to_lowercase()
}

impl FilterKind {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::Namespace, Self::Kind, Self::Risk, Self::Provider, Self::Tag, Self::Capability];

    /// The word before the colon.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Namespace => "namespace",
            Self::Kind => "kind",
            Self::Risk => "risk",
            Self::Provider => "provider",
            Self::Tag => "tag",
            Self::Capability => "capability",
        }
    }

    /// What a tool of these traits says to that.
    pub(crate) fn words_of(self, traits: &Traits) -> Vec<&str> {
        match self {
            Self::Namespace => {
                // A namespace has what is below it.
                let namespace = traits.namespace.as_str();
                let ends = namespace.match_indices('.').map(|(at, _)| at).chain([namespace.len()]);
                ends.filter_map(|end| namespace.get(..end)).collect()
            }
            Self::Kind => vec![traits.tool_kind.as_str()],
            Self::Risk => traits.risk.iter().map(|risk| risk.as_str()).collect(),
            Self::Provider => traits.provider.iter().map(String::as_str).collect(),
            Self::Tag => traits.tags.iter().map(String::as_str).collect(),
            Self::Capability => traits.capabilities.iter().map(String::as_str).collect(),
        }
    }
}

impl Filter {
    /// A filter by what people write.
    ///
    /// # Errors
    ///
    /// A kind or a risk that does not exist.
    pub fn new(by: FilterKind, value: &str, not: bool) -> Result<Self, QueryFault> {
        let value = plain(value);
        match by {
            FilterKind::Kind => {
                known::<ToolKind>(by, &value, ToolKind::ALL.iter().map(|kind| kind.as_str())).map(drop)?
            }
            FilterKind::Risk => {
                known::<RiskLevel>(by, &value, RiskLevel::ALL.iter().map(|risk| risk.as_str())).map(drop)?;
            }
            FilterKind::Namespace | FilterKind::Provider | FilterKind::Tag | FilterKind::Capability => {}
        }
        Ok(Self { by, value, not })
    }
}

/// A word of a closed vocabulary.
fn known<T: std::str::FromStr>(
    by: FilterKind,
    value: &str,
    words: impl Iterator<Item = &'static str>,
) -> Result<T, QueryFault> {
    value.parse().map_err(|_| {
        let (told, by_word) = (crate::violations::shown(value, 40), by.as_str());
        let known = words.collect::<Vec<_>>().join(", ");
        QueryFault { by, message: format!("`{told}` is no {by_word} of a tool; there are {known}") }
    })
}

/// What tools are to be, beside their names and namespaces: of each list that is not empty one.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Criteria {
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    tags: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    capabilities: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    providers: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    risk_levels: BTreeSet<RiskLevel>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    kinds: BTreeSet<ToolKind>,
}

impl Criteria {
    /// Also tools that say this.
    ///
    /// # Errors
    ///
    /// A kind or a risk that does not exist, an empty word, and namespaces, which have their own place.
    pub fn also(&mut self, by: FilterKind, value: &str) -> Result<(), QueryFault> {
        let Filter { value, .. } = Filter::new(by, value.trim(), false)?;
        if value.is_empty() {
            return Err(QueryFault { by, message: "is empty".to_owned() });
        }
        let _: bool = match by {
            FilterKind::Tag => self.tags.insert(value),
            FilterKind::Capability => self.capabilities.insert(value),
            FilterKind::Provider => self.providers.insert(value),
            FilterKind::Risk => self.risk_levels.insert(known(by, &value, std::iter::empty())?),
            FilterKind::Kind => self.kinds.insert(known(by, &value, std::iter::empty())?),
            FilterKind::Namespace => return Err(QueryFault { by, message: "is not chosen here".to_owned() }),
        };
        Ok(())
    }

    /// Whether any tool is to be taken.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many words there are.
    pub(crate) fn len(&self) -> usize {
        let words = self.tags.len() + self.capabilities.len() + self.providers.len();
        words + self.risk_levels.len() + self.kinds.len()
    }

    /// Whether a tool of these traits is all of that.
    pub(crate) fn fits(&self, traits: &Traits) -> bool {
        // Capabilities and providers are ASCII; tags are compared in the form both have.
        let is_any = |asked: &BTreeSet<String>, has: &str| asked.iter().any(|word| word.eq_ignore_ascii_case(has));
        (self.tags.is_empty() || traits.tags.iter().any(|tag| self.tags.contains(tag)))
            && (self.capabilities.is_empty() || traits.capabilities.iter().any(|has| is_any(&self.capabilities, has)))
            && (self.providers.is_empty() || traits.provider.as_ref().is_some_and(|has| is_any(&self.providers, has)))
            && (self.risk_levels.is_empty() || traits.risk.is_some_and(|risk| self.risk_levels.contains(&risk)))
            && (self.kinds.is_empty() || self.kinds.contains(&traits.tool_kind))
    }
}
