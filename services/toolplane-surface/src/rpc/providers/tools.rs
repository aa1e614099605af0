//! Tools of providers: listed, shown and reviewed.

use prost::Message as _;
use tonic::Request;
use toolplane_proto::convert::{field, word};
use toolplane_proto::v1;
use toolplane_providers::names::of_tool_id;
use toolplane_providers::review::{Answer, Wanted};
use toolplane_providers::{Standing, definition_digest, shown};
use toolplane_records::codes;
use toolplane_records::ids::ToolId;
use toolplane_records::payload::JsonPayload;
use toolplane_records::vocabulary::ReviewState;
use toolplane_runtime::{ApiError, Caller, page};

use super::{bounded, number, provider_id};
use crate::error::of_field;
use crate::providers::{Reviewed, stands};
use crate::rpc::api::SurfaceApi;

/// Most tools of one review.
const MAX_TOOLS: usize = 1_000;

pub(in crate::rpc) fn tools(
    api: &SurfaceApi,
    request: Request<v1::ListProvidedToolsRequest>,
) -> Result<v1::ListProvidedToolsResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let request = request.into_inner();
    let size = page::size(request.page_size)?;
    let id = provider_id(&request.provider_id)?;
    let states: Vec<ReviewState> = request
        .states
        .iter()
        .enumerate()
        .map(|(at, number)| word::closed(&format!("states[{at}]"), *number))
        .collect::<Result<_, _>>()
        .map_err(of_field)?;
    let scope = ("ListProvidedTools", &tenant, &id, &request.states);
    let after = page::position(&scope, &request.page_token)?;
    let held = api.parts.providers.shelf().get(&tenant, &id);
    let held = held.ok_or_else(|| ApiError::not_found("provider", id.as_str()))?;
    let is_wanted = |tool_id: &ToolId, state: Option<ReviewState>| {
        let is_later = after.as_deref().is_none_or(|after| tool_id.as_str() > after);
        is_later && (states.is_empty() || state.is_some_and(|state| states.contains(&state)))
    };
    let wanted: Vec<_> = held
        .tools
        .iter()
        .filter(|(tool_id, tool)| is_wanted(tool_id, tool.record.read().map(|record| record.state)))
        .collect();
    let listed = wanted.iter().map(|(tool_id, tool)| {
        let standing = stands(&held, Some(tool));
        v1::ListedTool {
            tool: tool.record.read().map(Into::into),
            tool_id: tool_id.to_string(),
            callable: standing == Standing::Callable && !held.is_retired(),
            error_code: standing.error("").map(|error| error.error_code).unwrap_or_default(),
        }
    });
    let listed = page::fill(listed, size, v1::ListedTool::encoded_len);
    let last = listed.last().filter(|_| listed.len() < wanted.len());
    let next_page_token = last.map(|tool| page::token(&scope, &tool.tool_id)).unwrap_or_default();
    Ok(v1::ListProvidedToolsResponse { tools: listed, next_page_token })
}

pub(in crate::rpc) fn show(
    api: &SurfaceApi,
    request: Request<v1::ShowToolRequest>,
) -> Result<v1::ShowToolResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let tool_id: ToolId = field::id("tool_id", &request.get_ref().tool_id).map_err(of_field)?;
    let missing = || ApiError::not_found("tool", tool_id.as_str());
    let (id, _) = of_tool_id(&tool_id).ok_or_else(missing)?;
    let held = api.parts.providers.shelf().get(&tenant, &id).ok_or_else(missing)?;
    let tool = held.tools.get(&tool_id).ok_or_else(missing)?;
    let (definition, approved) = {
        let owner = api.parts.registry.tenant(&tenant);
        let catalog = owner.catalog.read();
        let known = held.known(&catalog).get(&tool_id).and_then(|tool| tool.approved.clone());
        (held.definition(&tool_id, &catalog), known)
    };
    let Some(definition) = definition else {
        let state = tool.record.read().map_or_else(|| "unreadable".to_owned(), |record| record.state.to_string());
        let message = format!("`{tool_id}` is {state}: there is no definition to look at");
        let (reason, subject) = (codes::REVIEW_NOT_WANTED, format!("tool/{tool_id}"));
        return Err(ApiError::FailedPrecondition { reason, subject, message });
    };
    let digest = definition_digest(&definition);
    let approved = approved.filter(|approved| definition_digest(approved) != digest);
    let (words, view) = shown::review(approved.as_deref(), &definition);
    let texts = view.shown().into_iter().map(|part| v1::ShownText {
        kind: part.kind.as_str().to_owned(),
        lines: part.lines,
        spelled_out: number(part.spelled_out),
        look_alikes: part.look_alikes.iter().map(ToString::to_string).collect(),
    });
    Ok(v1::ShowToolResponse {
        tool: tool.record.read().map(Into::into),
        digest: digest.to_string(),
        texts: texts.collect(),
        rendered: view.rendered(),
        changed: words.is_some(),
        changes: words.map(|words| words.lines()).unwrap_or_default(),
        registration: Some((&JsonPayload::of(&*definition)).into()),
    })
}

pub(in crate::rpc) async fn review(
    api: &SurfaceApi,
    request: Request<v1::ReviewToolsRequest>,
) -> Result<v1::ReviewToolsResponse, ApiError> {
    let caller = Caller::of(&request);
    let request = request.into_inner();
    let id = provider_id(&request.provider_id)?;
    bounded("comment", &request.comment)?;
    bounded("by", &request.by)?;
    if request.tools.is_empty() || request.tools.len() > MAX_TOOLS {
        let rule = format!("has {} tools; 1 to {MAX_TOOLS} are allowed", request.tools.len());
        return Err(ApiError::invalid_argument("tools", rule));
    }
    let wanted: Vec<Wanted> = request
        .tools
        .iter()
        .enumerate()
        .map(|(at, tool)| {
            Ok(Wanted {
                tool_id: field::id(&format!("tools[{at}].tool_id"), &tool.tool_id)?,
                digest: field::id(&format!("tools[{at}].digest"), &tool.digest)?,
            })
        })
        .collect::<Result<_, _>>()
        .map_err(of_field)?;
    let by = caller.doer(&request.by).to_owned();
    let at = api.parts.registry.now().await?;
    let answer = Answer { approves: request.approve, by, comment: request.comment, at };
    let reviewed = api.parts.providers.review(&caller.tenant, &id, wanted, answer).await?;
    let outcomes = request.tools.into_iter().zip(reviewed).map(|(tool, reviewed)| match reviewed {
        Reviewed::Counts(record) => v1::ReviewOutcome {
            tool_id: tool.tool_id,
            tool: Some((&*record).into()),
            error_code: String::new(),
            message: String::new(),
        },
        Reviewed::Refused { code, message } => {
            v1::ReviewOutcome { tool_id: tool.tool_id, tool: None, error_code: code.as_str().to_owned(), message }
        }
    });
    Ok(v1::ReviewToolsResponse { outcomes: outcomes.collect() })
}
