//! Search results.

use toolplane_records::search as records;

use crate::convert::word::Word as _;
use crate::convert::{ConvertError, field, word};
use crate::v1;

impl From<&records::SearchResult> for v1::SearchResult {
    fn from(record: &records::SearchResult) -> Self {
        Self {
            schema_version: record.schema_version.to_string(),
            query: record.query.clone(),
            query_type: record.query_type.clone(),
            matches: field::texts(&record.matches),
            total_deferred_tools: record.total_deferred_tools,
            pending_providers: record.pending_providers.clone(),
            missing_names: record.missing_names.clone(),
            next_action: record.next_action.clone(),
            refs: field::outs(&record.refs),
            found: field::outs(&record.found),
            ambiguous_names: field::outs(&record.ambiguous_names),
            total_matches: record.total_matches,
            more_matches: record.more_matches,
            next_page_token: record.next_page_token.clone(),
            provider_states: field::outs(&record.provider_states),
            meaning: record.meaning.clone(),
            reranked: record.reranked.clone(),
        }
    }
}

impl TryFrom<v1::SearchResult> for records::SearchResult {
    type Error = ConvertError;

    fn try_from(message: v1::SearchResult) -> Result<Self, ConvertError> {
        Ok(Self {
            schema_version: field::version(&message.schema_version),
            query: message.query,
            query_type: message.query_type,
            matches: field::ids("matches", &message.matches)?,
            total_deferred_tools: message.total_deferred_tools,
            pending_providers: message.pending_providers,
            missing_names: message.missing_names,
            next_action: message.next_action,
            refs: field::list("refs", message.refs)?,
            found: field::list("found", message.found)?,
            ambiguous_names: message.ambiguous_names.into_iter().map(Into::into).collect(),
            total_matches: message.total_matches,
            more_matches: message.more_matches,
            next_page_token: message.next_page_token,
            provider_states: field::list("provider_states", message.provider_states)?,
            meaning: message.meaning,
            reranked: message.reranked,
        })
    }
}

impl From<&records::FoundTool> for v1::FoundTool {
    fn from(record: &records::FoundTool) -> Self {
        Self {
            tool_id: record.tool_id.to_string(),
            name: record.name.clone(),
            title: record.title.clone(),
            description: record.description.clone(),
            score: record.score,
            why: field::outs(&record.why),
            loading_state: record.loading_state.number(),
            next_action: record.next_action.clone(),
        }
    }
}

impl TryFrom<v1::FoundTool> for records::FoundTool {
    type Error = ConvertError;

    fn try_from(message: v1::FoundTool) -> Result<Self, ConvertError> {
        Ok(Self {
            tool_id: field::id("tool_id", &message.tool_id)?,
            name: message.name,
            title: message.title,
            description: message.description,
            score: message.score,
            why: message.why.into_iter().map(Into::into).collect(),
            loading_state: word::closed("loading_state", message.loading_state)?,
            next_action: message.next_action,
        })
    }
}

impl From<&records::MatchReason> for v1::MatchReason {
    fn from(record: &records::MatchReason) -> Self {
        let records::MatchReason { asked, found, how, fields, times, score } = record.clone();
        Self { asked, found, how, fields, times, score }
    }
}

impl From<v1::MatchReason> for records::MatchReason {
    fn from(message: v1::MatchReason) -> Self {
        let v1::MatchReason { asked, found, how, fields, times, score } = message;
        Self { asked, found, how, fields, times, score }
    }
}

impl From<&records::AmbiguousName> for v1::AmbiguousName {
    fn from(record: &records::AmbiguousName) -> Self {
        Self { name: record.name.clone(), candidates: record.candidates.clone() }
    }
}

impl From<v1::AmbiguousName> for records::AmbiguousName {
    fn from(message: v1::AmbiguousName) -> Self {
        Self { name: message.name, candidates: message.candidates }
    }
}

impl From<&records::ProviderStanding> for v1::ProviderStanding {
    fn from(record: &records::ProviderStanding) -> Self {
        Self { provider_id: record.provider_id.clone(), state: record.state.number() }
    }
}

impl TryFrom<v1::ProviderStanding> for records::ProviderStanding {
    type Error = ConvertError;

    fn try_from(message: v1::ProviderStanding) -> Result<Self, ConvertError> {
        Ok(Self { provider_id: message.provider_id, state: word::closed("state", message.state)? })
    }
}
