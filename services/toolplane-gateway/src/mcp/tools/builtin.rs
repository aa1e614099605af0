//! The tools of the front door itself: to find others where they are many, and to come back to calls.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolplane_proto::v1;
use toolplane_proto::v1::json_payload::Body;
use toolplane_proto::v1::load_outcome::Outcome;
use toolplane_records::alias;
use toolplane_records::json::compact;
use tracing::warn;

use crate::mcp::call::session_ref;
use crate::mcp::exchange::Exchange;
use crate::mcp::fault::Fault;
use crate::mcp::reply::Reply;
use crate::mcp::seal::Purpose;
use crate::mcp::version::Version;

/// A tool of the front door itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Builtin {
    /// Finds tools.
    Search,
    /// Shows what tools want, and lists them from then on.
    Load,
    /// Calls any tool.
    Call,
    /// Comes back to a call.
    Result,
}

/// All of them.
const BUILTINS: [Builtin; 4] = [Builtin::Search, Builtin::Load, Builtin::Call, Builtin::Result];

impl Builtin {
    pub(crate) fn name(self) -> &'static str {
        let [search, load, call, result] = alias::RESERVED;
        match self {
            Self::Search => search,
            Self::Load => load,
            Self::Call => call,
            Self::Result => result,
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        BUILTINS.into_iter().find(|builtin| builtin.name() == name)
    }

    /// Those that are listed, where some tools are `hidden` and where none is.
    pub(crate) fn listed(hidden: bool) -> impl Iterator<Item = Self> {
        BUILTINS.into_iter().filter(move |builtin| hidden || *builtin == Self::Result)
    }

    fn says(self) -> (&'static str, &'static str) {
        match self {
            Self::Search => (
                "Find tools",
                "Finds tools that are not listed here. `query` is some words about what the tool should do, or `select:` and names \
                 separated by commas. Words may be `+must`, `-not`, `begin*`, `\"a phrase\"`, `namespace:`, `kind:`, `risk:` and \
                 `provider:`. Then use `tool_load` to see what a tool wants, and `tool_call` to call it.",
            ),
            Self::Load => (
                "Load tools",
                "Shows the input schemas of tools by name, and lists these tools from now on, so that they can be called directly.",
            ),
            Self::Call => (
                "Call a tool",
                "Calls any tool by name, also one that is not listed here. `arguments` must fit the input schema that `tool_load` shows.",
            ),
            Self::Result => (
                "Result of a call",
                "Waits for a call that had not ended when it was answered, e.g. because it takes long or a person has to approve it, \
                 and gives its result.",
            ),
        }
    }

    fn schema(self) -> Value {
        let name = json!({ "type": "string", "minLength": 1 });
        match self {
            Self::Search => json!({
                "type": "object",
                "properties": {
                    "query": name, "limit": { "type": "integer", "minimum": 1, "maximum": 100 },
                    "page": { "type": "string", "description": "`next_page` of the answer before, to the same query" },
                },
                "required": ["query"], "additionalProperties": false,
            }),
            Self::Load => json!({
                "type": "object",
                "properties": { "names": { "type": "array", "items": name, "minItems": 1, "maxItems": 100 } },
                "required": ["names"], "additionalProperties": false,
            }),
            Self::Call => json!({
                "type": "object",
                "properties": { "name": name, "arguments": { "type": "object" } },
                "required": ["name"], "additionalProperties": false,
            }),
            Self::Result => json!({
                "type": "object", "properties": { "invocation_id": name },
                "required": ["invocation_id"], "additionalProperties": false,
            }),
        }
    }

    /// The tool as clients of this version are told.
    pub(crate) fn write(self, version: Version) -> String {
        let (title, description) = self.says();
        let mut tool = json!({ "name": self.name(), "description": description, "inputSchema": self.schema() });
        if version >= Version::V2025June {
            tool["title"] = title.into();
        }
        tool["annotations"] = match self {
            // What it calls may be anything.
            Self::Call => json!({ "title": title }),
            _ => json!({
                "title": title, "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false,
            }),
        };
        tool.to_string()
    }
}

/// Arguments of a tool of ours; the failure is one the model can read.
pub(crate) fn arguments<'a, T: Deserialize<'a>>(builtin: Builtin, arguments: &'a RawValue) -> Result<T, Reply> {
    serde_json::from_str(arguments.get())
        .map_err(|error| failed(&format!("the arguments do not fit the input schema of `{}`: {error}", builtin.name())))
}

/// A result that says what was wrong with a call of a tool of ours.
pub(crate) fn failed(message: &str) -> Reply {
    Reply::new().value("content", &json!([{ "type": "text", "text": message }])).value("isError", &true)
}

/// A result that is one JSON object, as text too.
fn found(json: &str) -> Reply {
    let text = json!([{ "type": "text", "text": json }]);
    Reply::new().value("content", &text).raw("structuredContent", json).value("isError", &false)
}

/// What a search or a load belongs to, as calls of the same client do.
fn belongs_to(x: &Exchange) -> Vec<String> {
    x.scope.iter().map(|scope| format!("session:{}", session_ref(&scope.0))).collect()
}

/// `tool_search`.
pub(crate) async fn search(x: &Exchange, given: &RawValue) -> Result<Reply, Fault> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Search {
        query: String,
        #[serde(default)]
        limit: u32,
        #[serde(default)]
        page: String,
    }
    let wanted: Search = match arguments(Builtin::Search, given) {
        Ok(wanted) => wanted,
        Err(reply) => return Ok(reply),
    };
    let surface = x.front.surface();
    let listing = x.front.listings.now(&x.upstream, &surface).await?;
    let query = match selected(&wanted.query) {
        // Names are those of here.
        Some(names) => {
            let names = names.split(',').map(str::trim);
            let full = names.map(|name| listing.named(name).map_or(name, |entry| entry.full_name.as_str()));
            format!("select:{}", full.collect::<Vec<_>>().join(","))
        }
        None => wanted.query,
    };
    let page_token = wanted.page;
    let request = v1::SearchToolsRequest {
        surface_id: surface,
        query,
        limit: wanted.limit,
        page_token,
        runtime_refs: belongs_to(x),
        ..Default::default()
    };
    let answer = match x.upstream.surfaces().search_tools(request).await {
        // A model can mend its query.
        Err(status) if status.code() == tonic::Code::InvalidArgument => return Ok(failed(status.message())),
        answer => answer?.into_inner(),
    };
    let result = answer.result.unwrap_or_default();
    let told = |(at, tool): (usize, &v1::DeferredToolRef)| {
        let mut told = json!({ "name": listing.name_of(&tool.name), "hint": tool.search_hint, "source": tool.source });
        if let Some(found) = result.found.get(at) {
            told["title"] = found.title.as_str().into();
            told["description"] = found.description.as_str().into();
            told["why"] = found.why.iter().map(reason).collect();
        }
        told
    };
    let tools: Vec<Value> = result.refs.iter().enumerate().map(told).collect();
    let ambiguous = result.ambiguous_names.iter().map(|one| {
        let could_be: Vec<_> = one.candidates.iter().map(|name| listing.name_of(name)).collect();
        json!({ "name": one.name, "could_be": could_be })
    });
    let ambiguous: Value = ambiguous.collect();
    let next = match result.next_action.as_str() {
        "load_schema_then_call" | "call" => "see what a tool wants with `tool_load`, then call it",
        "refine_query" => "nothing fits: search with other words",
        "wait_for_provider" => "the tools of a provider are on their way: search again in a moment",
        _ => "there is no such tool here",
    };
    let missing = &result.missing_names;
    let mut answer = json!({ "tools": tools, "missing": missing, "next": next });
    for (field, value) in [("ambiguous", ambiguous), ("next_page", result.next_page_token.as_str().into())] {
        if value != json!([]) && value != json!("") {
            answer[field] = value;
        }
    }
    Ok(found(&answer.to_string()))
}

/// The names of a query that selects, in whatever case it says so.
fn selected(query: &str) -> Option<&str> {
    const SELECT: &str = "select:";
    let query = query.trim_start();
    query.get(..SELECT.len()).filter(|head| head.eq_ignore_ascii_case(SELECT)).and_then(|_| query.get(SELECT.len()..))
}

/// Why a tool was found, in a word or two: `sned ~ send (typo)`.
fn reason(why: &v1::MatchReason) -> Value {
    match why.how.as_str() {
        "word" => why.asked.as_str().into(),
        "name" | "name_within" => "its name".into(),
        "use" => format!("{} (used)", why.asked).into(),
        "meaning" => "what it means".into(),
        "reranked" => "put here by the reranker".into(),
        how => format!("{} ~ {} ({how})", why.asked, why.found).into(),
    }
}

/// The surface that remembers what a client loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoadedSurface {
    pub(crate) request_id: String,
    pub(crate) surface_id: String,
}

/// Where what this client loads is remembered: its session, and without one its caller and name, for a day.
pub(crate) fn loaded_surface(x: &Exchange) -> LoadedSurface {
    let base = x.front.surface();
    let day = (toolplane_runtime::clock::since_epoch().as_secs() / 86_400).to_string();
    let of: [&str; 3] = match &x.scope {
        Some(scope) => ["session", &scope.0, &base],
        None => [&x.client.name, &day, &base],
    };
    let id = x.front.seals.name(Purpose::Surface, &x.principal, &of);
    LoadedSurface { request_id: id.to_string(), surface_id: format!("surf_{}", id.simple()) }
}

/// `tool_load`.
pub(crate) async fn load(x: &Exchange, given: &RawValue) -> Result<Reply, Fault> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Load {
        names: Vec<String>,
    }
    let wanted: Load = match arguments(Builtin::Load, given) {
        Ok(wanted) => wanted,
        Err(reply) => return Ok(reply),
    };
    let surface = x.front.surface();
    let listing = x.front.listings.now(&x.upstream, &surface).await?;
    let named = wanted.names.iter().map(|name| listing.named(name).map_or(name, |entry| &entry.full_name));
    let names: Vec<String> = named.cloned().collect();
    let request = v1::LoadToolsRequest { surface_id: surface, names, runtime_refs: belongs_to(x) };
    let v1::LoadToolsResponse { outcomes, mut unloaded, .. } =
        x.upstream.surfaces().load_tools(request).await?.into_inner();
    let (mut tools, mut failures, mut loaded) = (Vec::new(), Vec::new(), Vec::new());
    for (asked, outcome) in wanted.names.iter().zip(outcomes) {
        match outcome.outcome {
            Some(Outcome::Loaded(schema)) => {
                let full_name = schema.tool.map(|tool| tool.name).unwrap_or_default();
                tools.push(shown(listing.name_of(&full_name), &schema.description, schema.model_input_schema.as_ref()));
                loaded.push(full_name);
            }
            Some(Outcome::Failure(failure)) => {
                let similar: Vec<_> = failure.similar_names.iter().map(|name| listing.name_of(name)).collect();
                failures.push(json!({ "name": asked, "message": failure.message, "similar": similar }));
            }
            None => {}
        }
    }
    if !loaded.is_empty() {
        unloaded.extend(remember(x, loaded).await);
    }
    let names: Vec<&str> = unloaded.iter().map(|tool| listing.name_of(&tool.name)).collect();
    let unloaded = match went(names) {
        Some(unloaded) => format!(r#","unloaded":{unloaded}"#),
        None => String::new(),
    };
    Ok(found(&format!(r#"{{"tools":[{}],"failed":{}{unloaded}}}"#, tools.join(","), Value::from(failures))))
}

fn shown(name: &str, description: &str, schema: Option<&v1::JsonPayload>) -> String {
    let schema: Bytes = match schema.and_then(|schema| schema.body.clone()) {
        Some(Body::Inline(schema)) => schema,
        _ => Bytes::from_static(b"{\"type\":\"object\"}"),
    };
    let (name, description) = (Value::from(name), Value::from(description));
    let schema = compact(&String::from_utf8_lossy(&schema));
    format!(r#"{{"name":{name},"description":{description},"inputSchema":{schema}}}"#)
}

/// What a model is told of tools that were unloaded so that others fit; nothing where none were.
fn went(mut names: Vec<&str>) -> Option<Value> {
    names.sort_unstable();
    names.dedup();
    (!names.is_empty()).then(|| {
        json!({
            "names": names,
            "why": "only so much fits at once, and these were used least: they are not listed any more; load them again with `tool_load` \
                    when you need them",
        })
    })
}

/// Lists these tools from now on; what had to go from the list for them. Where that cannot be done, they can be called all the same.
async fn remember(x: &Exchange, names: Vec<String>) -> Vec<v1::UnloadedTool> {
    let LoadedSurface { request_id, surface_id } = loaded_surface(x);
    let make = v1::CreateSurfaceRequest {
        request_id,
        defer_policy: v1::DeferPolicy::All.into(),
        role: "agent".to_owned(),
        interaction_mode: v1::InteractionMode::Interactive.into(),
        producer: "toolplane-mcp".to_owned(),
        surface_reason: "what a client of MCP loaded".to_owned(),
        ..Default::default()
    };
    let done = async {
        let mut surfaces = x.upstream.surfaces();
        surfaces.create_surface(make).await?;
        surfaces.load_tools(v1::LoadToolsRequest { surface_id: surface_id.clone(), names, ..Default::default() }).await
    };
    let answer = match done.await {
        Ok(answer) => answer.into_inner(),
        Err(status) => {
            warn!(code = ?status.code(), "loaded tools are not listed: {}", status.message());
            return Vec::new();
        }
    };
    if x.client.version.has_sessions() {
        x.notify(None, "notifications/tools/list_changed", &json!({})).await;
    } else {
        x.front.changes.changed(&surface_id);
    }
    answer.unloaded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_went_for_others_is_said_once_and_in_words() {
        assert_eq!(went(vec![]), None);
        let told = went(vec!["b", "a", "b"]).unwrap();
        assert_eq!(told["names"], json!(["a", "b"]));
        assert!(told["why"].as_str().unwrap().contains("`tool_load`"));
    }

    #[test]
    fn a_schema_is_shown_without_the_indentation_of_its_file() {
        let written = "{\n  \"type\": \"object\",\n  \"title\": \"a  b\",\n  \"maximum\": 1.50\n}";
        let body = Some(Body::Inline(Bytes::from_static(written.as_bytes())));
        let schema = v1::JsonPayload { body, ..Default::default() };
        assert_eq!(
            shown("a__b", "d", Some(&schema)),
            r#"{"name":"a__b","description":"d","inputSchema":{"type":"object","title":"a  b","maximum":1.50}}"#
        );
    }

    #[test]
    fn the_tools_of_the_front_door_are_listed_where_others_are_not() {
        assert_eq!(Builtin::listed(false).map(Builtin::name).collect::<Vec<_>>(), ["tool_result"]);
        assert_eq!(Builtin::listed(true).count(), 4);
        for builtin in BUILTINS {
            assert_eq!(Builtin::named(builtin.name()), Some(builtin));
            let told: Value = serde_json::from_str(&builtin.write(Version::V2026July)).unwrap();
            assert_eq!((&told["name"], &told["inputSchema"]["type"]), (&json!(builtin.name()), &json!("object")));
        }
    }
}
