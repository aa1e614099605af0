//! Tools in the shapes of vendors, tool cards, and the calls of models back to tools.

use std::collections::BTreeMap;

use prost::Message as _;
use tonic::Request;
use toolplane_catalog::Registration;
use toolplane_catalog::catalog::CatalogEntry;
use toolplane_proto::convert::field;
use toolplane_proto::v1;
use toolplane_records::codes;
use toolplane_records::interface::SafetyFact;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_runtime::{ApiError, Caller, page};
use toolplane_shapes::{
    Exported, ModelCall, NotGiven, Options, Shape, Tool, calls, cards, export_one, given, together,
};

use super::api::SurfaceApi;
use super::encode;
use crate::error::of_field;
use crate::surfaces::{Called, LeftOut, Offered, Refusal, RefusalKind};

/// Most names of a request, and most tools that are named as left out.
const MAX_NAMES: usize = 1000;
/// Tokens of cards when the caller leaves the choice open, and the most.
const CARD_TOKENS: (u64, u64) = (2_000, 200_000);

pub(super) async fn surface(
    api: &SurfaceApi,
    request: Request<v1::ExportSurfaceRequest>,
) -> Result<v1::ExportSurfaceResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let request = request.into_inner();
    let id = field::surface(&request.surface_id).map_err(of_field)?;
    let shape: Shape =
        request.shape.parse().map_err(|error| ApiError::invalid_argument("shape", format!("{error}")))?;
    let (options, size) = (Options { shape, strict: request.strict }, page::size(request.page_size)?);
    let offered = api.parts.shown.offered(&tenant, &id, few(&request.names)?, false).await?;
    let scope = (
        "ExportSurface",
        &tenant,
        id.as_str(),
        offered.revision,
        shape,
        request.strict,
        &request.names,
        request.max_tokens,
    );
    let (first, before) = place(page::position(&scope, &request.page_token)?);
    let most = (request.max_tokens > 0).then_some(request.max_tokens);
    let (mut tokens, mut is_full) = (before, false);
    let each = offered.tools.iter().skip(first).map_while(|tool| {
        let exported = export_one(&to_be_shown(&tool.entry), options);
        is_full = most.is_some_and(|most| tokens + exported.tokens > most);
        tokens += if is_full { 0 } else { exported.tokens };
        (!is_full).then(|| (told(&tool.entry, &exported), exported))
    });
    let page = page::fill(each, size, |(told, exported)| exported.definition.len() + told.encoded_len());
    let next = first + page.len();
    // A page may be full of bytes before what was looked at last.
    let spent = before + page.iter().map(|(_, exported)| exported.tokens).sum::<u64>();
    let ends = next >= offered.tools.len() || is_full;
    let mut left_out: Vec<v1::LeftOutTool> =
        if first == 0 { offered.left_out.iter().map(left).collect() } else { Vec::new() };
    if ends {
        left_out.extend(offered.tools[next.min(offered.tools.len())..].iter().map(|tool| beyond(&tool.entry)));
    }
    let left_out_count = u32::try_from(left_out.len()).unwrap_or(u32::MAX);
    left_out.truncate(MAX_NAMES);
    let (tools, exported): (Vec<v1::ExportedTool>, Vec<Exported>) = page.into_iter().unzip();
    Ok(v1::ExportSurfaceResponse {
        tools_json: Some((&together(shape, &exported)).into()),
        tools,
        revision: offered.revision,
        next_page_token: if ends { String::new() } else { page::token(&scope, &format!("{next}:{spent}")) },
        left_out,
        left_out_count,
        token_count: toolplane_shapes::ESTIMATE.to_owned(),
    })
}

/// Where a page begins, and the tokens of those before.
fn place(position: Option<String>) -> (usize, u64) {
    let parts = position.as_deref().and_then(|position| position.split_once(':'));
    parts.and_then(|(at, tokens)| Some((at.parse().ok()?, tokens.parse().ok()?))).unwrap_or_default()
}

fn few(names: &[String]) -> Result<&[String], ApiError> {
    match names.len() {
        0..=MAX_NAMES => Ok(names),
        many => Err(ApiError::invalid_argument("names", format!("has {many} names; at most {MAX_NAMES} are allowed"))),
    }
}

pub(super) async fn tool_cards(
    api: &SurfaceApi,
    request: Request<v1::ListToolCardsRequest>,
) -> Result<v1::ListToolCardsResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let request = request.into_inner();
    let id = field::surface(&request.surface_id).map_err(of_field)?;
    let most = match request.max_tokens {
        0 => CARD_TOKENS.0,
        most => most.min(CARD_TOKENS.1),
    };
    let Offered { tools, left_out, revision } =
        api.parts.shown.offered(&tenant, &id, few(&request.names)?, true).await?;
    let shown: Vec<Tool> = tools.iter().map(|tool| to_be_shown(&tool.entry)).collect();
    let made = cards(&shown, Some(most));
    let card = |(at, card): (usize, toolplane_shapes::Card)| v1::ToolCard {
        alias: shown[at].alias.clone(),
        tool_id: shown[at].tool_id.clone(),
        name: shown[at].full_name.clone(),
        text: card.text,
        tokens: card.tokens,
        deferred: tools[at].deferred,
    };
    let without = left_out.iter().map(left).chain(made.left_out.iter().map(|at| beyond(&tools[*at].entry)));
    Ok(v1::ListToolCardsResponse {
        tokens: made.tokens,
        left_out_count: u32::try_from(left_out.len() + made.left_out.len()).unwrap_or(u32::MAX),
        left_out: without.take(MAX_NAMES).collect(),
        cards: made.cards.into_iter().map(card).collect(),
        revision,
        token_count: toolplane_shapes::ESTIMATE.to_owned(),
    })
}

pub(super) async fn map_calls(
    api: &SurfaceApi,
    request: Request<v1::MapCallsRequest>,
) -> Result<v1::MapCallsResponse, ApiError> {
    let tenant = Caller::of(&request).tenant.clone();
    let request = request.into_inner();
    let id = field::surface(&request.surface_id).map_err(of_field)?;
    let said: JsonPayload = field::required("said", request.said).map_err(of_field)?;
    let made = calls(said.text()).map_err(|error| ApiError::invalid_argument("said", error.to_string()))?;
    let known = known(&request.known_digests)?;
    let names: Vec<_> = made.iter().map(|call| (call.alias.clone(), known.get(&call.alias).copied())).collect();
    let (called, surface_revision) = api.parts.names.called(&tenant, &id, &names).await?;
    let calls = made.into_iter().zip(called).map(|(call, called)| mapped(call, called, request.strict)).collect();
    Ok(v1::MapCallsResponse { calls, surface_revision })
}

/// What the model was shown, by alias. The first that is no digest is named by its alias.
fn known(digests: &BTreeMap<String, String>) -> Result<BTreeMap<String, Digest>, ApiError> {
    let read = digests.iter().map(|(alias, digest)| match digest.parse() {
        Ok(digest) => Ok((alias.clone(), digest)),
        Err(_) => {
            let rule = "must be the digest of a declaration, as the export gives it: `sha256:` and 64 hex digits";
            Err(ApiError::invalid_argument(format!("known_digests.{alias}"), rule))
        }
    });
    read.collect()
}

fn mapped(call: ModelCall, called: Called, strict: bool) -> v1::MappedCall {
    use v1::mapped_call::Outcome;
    let outcome = match called {
        Called::Refused(refusal, similar_aliases) => Outcome::Refusal(refused(*refusal, similar_aliases)),
        Called::Tool(entry) => {
            let registration = entry.tool.registration();
            match given(&call.arguments, registration.model_schema(), call.shape, strict) {
                Ok(given) => Outcome::Target(v1::CallTarget {
                    tool_id: entry.tool_id().to_string(),
                    name: entry.tool.full_name().to_owned(),
                    digest: entry.tool.digest().to_string(),
                    arguments: Some((&given.arguments).into()),
                    alias: registration.alias(),
                    left_out: given.left_out,
                }),
                Err(error) => Outcome::Refusal(v1::CallRefusal {
                    code: match &error {
                        NotGiven::Json(refusal) => refusal.code().to_owned(),
                        NotGiven::NoObject => codes::INPUT_SCHEMA.into(),
                    },
                    message: format!("what `{}` was given {error}", call.alias),
                    ..Default::default()
                }),
            }
        }
    };
    v1::MappedCall {
        shape: call.shape.as_str().to_owned(),
        alias: call.alias,
        call_id: call.call_id,
        outcome: Some(outcome),
    }
}

fn refused(refusal: Refusal, similar_aliases: Vec<String>) -> v1::CallRefusal {
    let code = match (refusal.kind, &refusal.error, refusal.reason) {
        (_, Some(error), _) => error.error_code.clone(),
        (RefusalKind::Unknown, ..) => codes::SURFACE_UNKNOWN_TOOL.into(),
        (RefusalKind::NotLoaded, ..) => codes::SURFACE_NOT_LOADED.into(),
        (RefusalKind::Changed, ..) => codes::SURFACE_CHANGED.into(),
        (RefusalKind::Renamed, ..) => codes::SURFACE_RENAMED.into(),
        (RefusalKind::Later, ..) => codes::SURFACE_LATER.into(),
        (RefusalKind::NoCalls, ..) => codes::SURFACE_NO_CALLS.into(),
        (RefusalKind::NotChosen, ..) => codes::SURFACE_NOT_CHOSEN.into(),
        (RefusalKind::NoMoment, ..) => codes::SURFACE_NO_MOMENT.into(),
        (RefusalKind::Retired, ..) => codes::SURFACE_RETIRED.into(),
        (RefusalKind::Provider, ..) => codes::PROVIDER_AWAY.into(),
        (RefusalKind::Blocked | RefusalKind::Excluded, _, reason) => {
            codes::SURFACE_HIDDEN.of(reason.map(|reason| reason.as_str()).unwrap_or_default())
        }
    };
    let not_callable = encode::not_callable(refusal);
    v1::CallRefusal { code, message: not_callable.message.clone(), similar_aliases, not_callable: Some(not_callable) }
}

/// A registered tool as shapes know it.
fn to_be_shown(entry: &CatalogEntry) -> Tool {
    let registration: &Registration = entry.tool.registration();
    let declaration = &registration.declaration;
    let interface = registration.interface.as_ref();
    let known = |fact: Option<&SafetyFact>| match fact {
        Some(SafetyFact::Known(known)) => Some(*known),
        _ => None,
    };
    let hints = interface.map(|interface| toolplane_shapes::Hints {
        read_only: known(interface.is_read_only.as_ref()),
        destructive: known(interface.is_destructive.as_ref()),
        idempotent: known(interface.is_idempotent.as_ref()),
        open_world: known(interface.is_open_world.as_ref()),
    });
    Tool {
        tool_id: entry.tool_id().to_string(),
        full_name: entry.tool.full_name().to_owned(),
        alias: registration.alias(),
        title: declaration.title.clone(),
        description: declaration.description.clone(),
        hint: registration.search_hint().to_owned(),
        input_schema: registration.model_schema().cloned(),
        output_schema: registration.output_schema().cloned(),
        hints: hints.unwrap_or_default(),
    }
}

fn told(entry: &CatalogEntry, exported: &Exported) -> v1::ExportedTool {
    let loss = |loss: &toolplane_shapes::Loss| v1::SchemaLoss {
        pointer: loss.pointer.clone(),
        rule: loss.rule.clone(),
        done: loss.done.as_str().to_owned(),
        note: loss.note.clone(),
    };
    v1::ExportedTool {
        alias: entry.tool.registration().alias(),
        tool_id: entry.tool_id().to_string(),
        name: entry.tool.full_name().to_owned(),
        digest: entry.tool.digest().to_string(),
        strict: exported.strict,
        losses: exported.losses.iter().map(loss).collect(),
        more_losses: u32::try_from(exported.more_losses).unwrap_or(u32::MAX),
        tokens: exported.tokens,
    }
}

fn left(tool: &LeftOut) -> v1::LeftOutTool {
    v1::LeftOutTool {
        tool_id: field::text(&tool.tool_id),
        name: tool.name.clone(),
        reason: tool.why.to_owned(),
        message: tool.message.clone(),
    }
}

fn beyond(entry: &CatalogEntry) -> v1::LeftOutTool {
    let name = entry.tool.full_name().to_owned();
    let (tool_id, reason) = (entry.tool_id().to_string(), "budget".to_owned());
    v1::LeftOutTool { tool_id, name, reason, message: String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_that_is_none_is_named_by_its_alias() {
        let digest = Digest::of(b"shown");
        let one = |alias: &str, digest: String| (alias.to_owned(), digest);
        let read = known(&BTreeMap::from([one("a__b", digest.to_string())])).unwrap();
        assert_eq!(read.get("a__b"), Some(&digest));
        for wrong in ["", "nonsense"] {
            let refused = known(&BTreeMap::from([one("a__b", digest.to_string()), one("c__d", wrong.to_owned())]));
            let said = tonic::Status::from(refused.unwrap_err());
            assert!(said.message().starts_with("`known_digests.c__d` must be the digest"), "{said}");
        }
    }
}
