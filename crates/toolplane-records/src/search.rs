//! Search results (contracts/deferred-loading-and-tool-search).

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::ids::ToolId;
use crate::surface::DeferredToolRef;
use crate::vocabulary::{LoadingState, ProviderState};

/// Answer to a search in a surface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchResult {
    /// Version of the standard.
    #[serde(default = "crate::schema_version")]
    pub schema_version: SmolStr,
    /// The question.
    pub query: String,
    /// `select` or `keyword`.
    pub query_type: String,
    /// Ids of the tools found, best first.
    pub matches: Vec<ToolId>,
    /// How many deferred tools the surface has.
    pub total_deferred_tools: u64,
    /// Providers still connecting.
    #[serde(default)]
    pub pending_providers: Vec<String>,
    /// Names asked for exactly that do not exist here.
    #[serde(default)]
    pub missing_names: Vec<String>,
    /// `load_schema_then_call`, `call`, `refine_query`, `wait_for_provider`, `not_available`.
    pub next_action: String,
    /// The matches with everything needed to choose (ours).
    #[serde(default)]
    pub refs: Vec<DeferredToolRef>,
    /// Each match with its score, why it was found, and what to do with it, in the order of `matches` (ours).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<FoundTool>,
    /// Names asked for exactly that several tools have (ours).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ambiguous_names: Vec<AmbiguousName>,
    /// How many tools match, those of other pages included, as far as they are counted (ours).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub total_matches: u64,
    /// There are more matches than were counted (ours).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more_matches: bool,
    /// Where to go on; nothing on the last page (ours).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub next_page_token: String,
    /// Providers that are not connected, and what they are (ours).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provider_states: Vec<ProviderStanding>,
    /// Whether what the question means was looked at too, where a model is set up: `complete`, `partial` (not all tools have been
    /// read by it yet) or `away` (it could not be asked; what was found was found by words). Empty where it was not to be asked
    /// (ours).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub meaning: String,
    /// Whether a reranker put the best of them into order, where one is set up: `complete` or `away` (it did not answer, or had not for
    /// the first page; the order is that of the search). Empty where there was nothing for it to do (ours).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reranked: String,
}

/// A tool a search found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FoundTool {
    /// The tool.
    pub tool_id: ToolId,
    /// Its full name.
    pub name: String,
    /// Human-readable title.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The beginning of its description.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// How well it fits, in thousandths; comparable within one query only. 0 where only filters or names were given.
    #[serde(default)]
    pub score: u32,
    /// Why it was found, what counts most first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<MatchReason>,
    /// How far the tool is from being callable.
    pub loading_state: LoadingState,
    /// What is to be done with it: `load_schema_then_call`, `call`, `wait_for_provider` or `not_available`.
    pub next_action: String,
}

impl FoundTool {
    /// What is to be done with a tool in that state.
    pub const fn action(state: LoadingState) -> &'static str {
        match state {
            LoadingState::Loaded => "call",
            LoadingState::Discoverable | LoadingState::Deferred => "load_schema_then_call",
            LoadingState::PendingProvider => "wait_for_provider",
            _ => "not_available",
        }
    }
}

/// One reason why a tool was found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MatchReason {
    /// The word of the query; empty where the whole of it, or a name in it, is the tool's.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub asked: String,
    /// The word of the tool.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub found: String,
    /// `word` (with whatever ending), `prefix`, `joined`, `synonym`, `typo`, `use`, `name`, `name_within`, `meaning` (the whole
    /// question) or `reranked` (put at its place by a reranker).
    pub how: String,
    /// Where the tool has it: `name`, `alias`, `title`, `search_hint`, `namespace`, `description`, `parameters`,
    /// `search_examples`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// How often questions with this word led to the tool, what is long ago counting less; only for `use`.
    #[serde(default, skip_serializing_if = "is_none")]
    pub times: u32,
    /// What the reranker gave it, in thousandths; only for `reranked`.
    #[serde(default, skip_serializing_if = "is_no_score")]
    pub score: i32,
}

/// A name that several tools of the surface have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AmbiguousName {
    /// The name.
    pub name: String,
    /// Full names of some of them.
    pub candidates: Vec<String>,
}

/// A provider, and how it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProviderStanding {
    /// The provider.
    pub provider_id: String,
    /// How it is.
    pub state: ProviderState,
}

impl Default for SearchResult {
    fn default() -> Self {
        Self {
            schema_version: crate::schema_version(),
            query: String::new(),
            query_type: "keyword".to_owned(),
            matches: Vec::new(),
            total_deferred_tools: 0,
            pending_providers: Vec::new(),
            missing_names: Vec::new(),
            next_action: "refine_query".to_owned(),
            refs: Vec::new(),
            found: Vec::new(),
            ambiguous_names: Vec::new(),
            total_matches: 0,
            more_matches: false,
            next_page_token: String::new(),
            provider_states: Vec::new(),
            meaning: String::new(),
            reranked: String::new(),
        }
    }
}

fn is_none(number: &u32) -> bool {
    *number == 0
}

fn is_no_score(number: &i32) -> bool {
    *number == 0
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}
