//! Searching a surface: one page of what was found, in an order that the next page goes on in.

use prost::Message as _;
use tonic::Request;
use toolplane_catalog::search::{Answer, Filter, FilterKind, Position, Question, meant};
use toolplane_proto::convert::field;
use toolplane_proto::v1;
use toolplane_records::ids::{SurfaceId, TenantId, ToolId};
use toolplane_records::payload::JsonPayload;
use toolplane_records::search::SearchResult;
use toolplane_runtime::{ApiError, Caller, page};

use super::api::SurfaceApi;
use super::scope as surface_scope;
use crate::error::of_field;
use crate::learning::today;
use crate::meaning::Asked;
use crate::rerank::{self, Begun, First, Page, Place};

/// The orders a page token can be of.
const WORDS: &str = "words";
const MEANING: &str = "meaning";
/// What stands behind one where a reranker has put the head of the list into order: of a place behind the head, and of one in it.
const BEHIND: &str = "reranked";
const HEAD: &str = "head";
/// What an answer says of a reranker that was not asked, or did not answer.
const AWAY: &str = "away";
const DEFAULT_MATCHES: usize = 10;
const MAX_MATCHES: usize = 100;
/// Most values of one filter.
const MAX_FILTERS: usize = 100;
/// Longest query, in bytes.
const MAX_QUERY_BYTES: usize = 8 * 1024;

/// Where a page begins.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Begin {
    /// The list is ordered by meaning too.
    by_meaning: bool,
    after: After,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum After {
    /// In a list that no reranker has put into order.
    Plain(Position),
    /// In one whose head a reranker has put into order.
    Reranked(Place),
}

pub(super) async fn search(
    api: &SurfaceApi,
    request: Request<v1::SearchToolsRequest>,
) -> Result<v1::SearchToolsResponse, ApiError> {
    let caller = Caller::of(&request);
    let tenant = caller.tenant.clone();
    let request = request.into_inner();
    let id = field::surface(&request.surface_id).map_err(of_field)?;
    let filters = filters(&request)?;
    if (request.query.trim().is_empty() && filters.is_empty()) || request.query.len() > MAX_QUERY_BYTES {
        let rule = format!("must have 1 to {MAX_QUERY_BYTES} bytes; it may be empty where a filter is given");
        return Err(ApiError::invalid_argument("query", rule));
    }
    surface_scope::within(api, &caller, &id, &request.runtime_refs, "search").await?;
    let limit = match usize::try_from(request.limit) {
        Ok(0) => DEFAULT_MATCHES,
        Ok(limit) => limit.min(MAX_MATCHES),
        Err(_) => MAX_MATCHES,
    };
    let scope = ("search", &tenant, &request.surface_id, &request.query, &filters);
    let begin = page::position(&scope, &request.page_token)?.map(|text| Begin::parse(&text)).transpose()?;
    let asked = match &api.meaning {
        Some(meaning) => meaning.ask(&tenant, &request.query).await,
        None => Asked::Not,
    };
    let meaning = asked.nearest();
    let after = begin.map(|begin| begin.of_order(meaning.is_some())).transpose()?;
    let thesaurus = api.parts.books.thesauri().of_tenant(&tenant);
    let learned = if request.without_use { None } else { api.parts.learning.of_tenant(&tenant) };
    let learned = learned.as_ref().map(|learned| learned.on(today()));
    let text = &request.query;
    let thesaurus = &thesaurus;
    let question = Question { text, filters: &filters, limit, after: None, thesaurus, learned, meaning };
    let (mut result, next) = found(api, (&tenant, &id), question, after).await?;
    api.parts.search.note(&tenant, &id, &result).await?;
    if !request.without_use {
        api.parts.learning.found(&caller, &id, &result);
    }
    if let Some(after) = next {
        result.next_page_token = page::token(&scope, &Begin { by_meaning: meaning.is_some(), after }.to_text());
    }
    asked.word(api.parts.registry.tenant(&tenant).catalog.read().len()).clone_into(&mut result.meaning);
    // A tool may bring much of its own; the names of all matches are told anyway.
    let refs = result.refs.iter().map(v1::DeferredToolRef::from);
    let told = page::fill(refs, result.refs.len(), v1::DeferredToolRef::encoded_len).len();
    result.refs.truncate(told);
    let wants_json = request.view() == v1::RecordView::Json;
    Ok(v1::SearchToolsResponse {
        result: Some((&result).into()),
        json: wants_json.then(|| (&JsonPayload::of(&result)).into()),
    })
}

/// A page of what was found, in the order of the reranker where there is one, and where the next one begins.
async fn found(
    api: &SurfaceApi,
    whose: (&TenantId, &SurfaceId),
    question: Question<'_>,
    after: Option<After>,
) -> Result<(SearchResult, Option<After>), ApiError> {
    // The order of the first page is that of the others.
    let plain = match after {
        Some(After::Reranked(place)) => {
            let page = rerank::go_on(&api.parts.search, whose, &question, &place).await?;
            return Ok(reranked(page));
        }
        Some(After::Plain(position)) => Some(position),
        None => None,
    };
    let mut said = "";
    if let (Some(reranker), Some(text)) = (&api.reranker, meant(question.text)) {
        said = AWAY;
        if plain.is_none() {
            match reranker.first(&api.parts.search, whose, &question, &text).await? {
                First::Page(page) => return Ok(reranked(*page)),
                First::Away => {}
                First::Nothing => said = "",
            }
        }
    }
    let question = Question { after: plain.as_ref(), ..question };
    let Answer { mut result, next } = api.parts.search.look(whose.0, whose.1, &question).await?;
    said.clone_into(&mut result.reranked);
    Ok((result, next.map(After::Plain)))
}

fn reranked(page: Page) -> (SearchResult, Option<After>) {
    let Page { mut result, next } = page;
    "complete".clone_into(&mut result.reranked);
    (result, next.map(After::Reranked))
}

/// The filters in the fields of a request.
fn filters(request: &v1::SearchToolsRequest) -> Result<Vec<Filter>, ApiError> {
    let fields = [
        (FilterKind::Namespace, "namespaces", &request.namespaces),
        (FilterKind::Kind, "kinds", &request.kinds),
        (FilterKind::Risk, "risk_levels", &request.risk_levels),
        (FilterKind::Provider, "providers", &request.providers),
        (FilterKind::Tag, "tags", &request.tags),
        (FilterKind::Capability, "capabilities", &request.capabilities),
    ];
    let mut filters = Vec::new();
    for (by, field, values) in fields {
        if values.len() > MAX_FILTERS {
            let rule = format!("has {} values; at most {MAX_FILTERS} are allowed", values.len());
            return Err(ApiError::invalid_argument(field, rule));
        }
        for value in values {
            filters
                .push(Filter::new(by, value, false).map_err(|fault| ApiError::invalid_argument(field, fault.message))?);
        }
    }
    Ok(filters)
}

impl Begin {
    /// What is in a token a process of this role made.
    fn parse(text: &str) -> Result<Self, ApiError> {
        let read = || {
            let (order, rest) = text.split_once(' ')?;
            let (order, kind) = order.split_once('+').map_or((order, ""), |(order, kind)| (order, kind));
            if !matches!(order, WORDS | MEANING) {
                return None;
            }
            let after = match kind {
                "" => After::Plain(position(rest)?),
                BEHIND => After::Reranked(Place::Behind(position(rest)?)),
                HEAD => After::Reranked(Place::Head(Begun::parse(rest)?)),
                _ => return None,
            };
            Some(Self { by_meaning: order == MEANING, after })
        };
        read().ok_or_else(|| ApiError::invalid_argument("page_token", "is not a token of this list"))
    }

    fn to_text(&self) -> String {
        let order = if self.by_meaning { MEANING } else { WORDS };
        let at = |position: &Position| format!("{} {}", position.score, position.tool_id);
        match &self.after {
            After::Plain(position) => format!("{order} {}", at(position)),
            After::Reranked(Place::Behind(position)) => format!("{order}+{BEHIND} {}", at(position)),
            After::Reranked(Place::Head(begun)) => format!("{order}+{HEAD} {}", begun.to_text()),
        }
    }

    /// The place, when the list has the order it is a place of.
    fn of_order(self, by_meaning: bool) -> Result<After, ApiError> {
        if self.by_meaning == by_meaning {
            return Ok(self.after);
        }
        let rule = "is of a list in another order: what says what texts mean has come or gone since; ask for the first page again";
        Err(ApiError::invalid_argument("page_token", rule))
    }
}

fn position(text: &str) -> Option<Position> {
    let (score, id) = text.split_once(' ')?;
    Some(Position { score: score.parse().ok()?, tool_id: ToolId::parse(id).ok()? })
}
