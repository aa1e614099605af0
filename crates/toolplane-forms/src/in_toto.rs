//! An in-toto statement, version 1: which bytes came out of a call, and how the call came about. It is not signed.

use serde::Deserialize;
use std::collections::BTreeMap;
use toolplane_records::payload::{Digest, JsonPayload, PayloadRef};
use toolplane_records::result::{ContentBlock, ToolResult};

use crate::object::Object;
use crate::story::Story;

/// What the statement is.
const STATEMENT: &str = "https://in-toto.io/Statement/v1";
/// What it says of its subjects.
pub const PREDICATE: &str = "https://toolplane.dev/invocation/v0.1";

/// The statement about a result.
pub(crate) fn statement(story: &Story<'_>, result: &ToolResult) -> Object {
    Object::new()
        .with("_type", STATEMENT)
        .list("subject", &subjects(story, result))
        .with("predicateType", PREDICATE)
        .object("predicate", &predicate(story, result))
}

/// The result itself, and everything of it whose digest is known. There is always one.
fn subjects(story: &Story<'_>, result: &ToolResult) -> Vec<Object> {
    let record = JsonPayload::of(result);
    let name = |what: &str| format!("{}/{what}", story.call.invocation_id);
    let mut found = vec![described(&name("result"), record.digest(), "application/json")];
    if let Some(value) = &result.structured_content {
        found.push(described(&name("structured_content"), value.digest(), "application/json"));
    }
    let kept = result.content.iter().filter_map(ContentBlock::payload);
    let kept = kept.chain(story.persistence.and_then(|persistence| persistence.persisted_ref.as_ref()));
    let mut seen = Vec::new();
    for payload in kept {
        if !seen.contains(&payload.digest) {
            seen.push(payload.digest);
            let name = name(&format!("output/{}", seen.len()));
            found.push(described(&name, payload.digest, &payload.media_type).with("uri", &payload.uri));
        }
    }
    for made in &result.artifact_refs {
        let Some(digest) = made.digest else { continue };
        found.push(described(&made.artifact_id, digest, &made.media_type).text("uri", &made.uri));
    }
    found
}

/// A resource, as the framework describes one.
fn described(name: &str, digest: Digest, media_type: &str) -> Object {
    let digest = Object::new().with("sha256", &digest.hex());
    Object::new().with("name", name).object("digest", &digest).text("mediaType", media_type)
}

fn predicate(story: &Story<'_>, result: &ToolResult) -> Object {
    let call = story.call;
    let input = |name: &str, payload: &PayloadRef| described(name, payload.digest, &payload.media_type);
    let mut inputs = vec![input("model_input", &call.inputs.model)];
    inputs.extend(call.inputs.call.as_ref().map(|payload| input("call_input", payload)));
    let tool = Object::new()
        .with("tool_id", &call.tool_id)
        .with("name", &call.tool_name)
        .maybe("declaration_digest", story.tool.declaration)
        .maybe("provider", story.tool.provider);
    let decisions: Vec<Object> = story
        .decisions
        .iter()
        .map(|decision| {
            Object::new()
                .with("decision_id", &decision.decision_id)
                .with("behavior", &decision.behavior)
                .text("policy_digest", &decision.policy_digest)
                .with("decided_at", &decision.decided_at)
        })
        .collect();
    let mutations: Vec<&str> = story.mutations.iter().map(|mutation| mutation.mutation_id.as_str()).collect();
    Object::new()
        .with("invocation_id", &call.invocation_id)
        .with("tenant", &call.tenant)
        .object("tool", &tool)
        .with("status", &result.status)
        .maybe("error_class", result.error.as_ref().map(|error| error.error_class))
        .maybe("error_code", result.error.as_ref().map(|error| &error.error_code))
        .list("inputs", &inputs)
        .list("decisions", &decisions)
        .with("input_mutations", &mutations)
        .with("attempt", &call.attempt)
        .maybe("actor", call.actor_ref.as_ref())
        .maybe("caller", call.caller_ref.as_ref())
        .with("accepted_at", &call.created_at)
        .maybe("started_at", call.started_at)
        .maybe("ended_at", call.ended_at)
        .with("policy_refs", &result.policy_refs)
        .with("evidence_refs", &result.evidence_refs)
        .maybe("trace_id", call.telemetry_refs.first().map(|trace| &trace.trace_id))
}

/// A statement read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenStatement {
    /// Digests by the name of their subject.
    pub subjects: BTreeMap<String, Digest>,
    /// What it says of them.
    pub predicate: JsonPayload,
}

/// Why a text is no statement of ours.
#[derive(Debug, thiserror::Error)]
pub enum BadStatement {
    /// It is not of the form.
    #[error("is no in-toto statement: {0}")]
    Form(#[from] serde_json::Error),
    /// It is of another type.
    #[error("`{field}` is `{given}`, not `{wanted}`")]
    Type {
        /// Which field.
        field: &'static str,
        /// What it says.
        given: String,
        /// What is known here.
        wanted: &'static str,
    },
    /// A subject without a digest that is known here.
    #[error("the subject `{0}` has no sha256 digest")]
    Digest(String),
}

/// Reads a statement. Fails with [`BadStatement`] when it is none, or says something else of its subjects.
pub fn read(json: &str) -> Result<GivenStatement, BadStatement> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Given {
        #[serde(rename = "_type")]
        kind: String,
        subject: Vec<Subject>,
        predicate_type: String,
        predicate: JsonPayload,
    }
    #[derive(Deserialize)]
    struct Subject {
        name: String,
        digest: BTreeMap<String, String>,
    }
    let given: Given = serde_json::from_str(json)?;
    for (field, given, wanted) in [("_type", given.kind, STATEMENT), ("predicateType", given.predicate_type, PREDICATE)]
    {
        if given != wanted {
            return Err(BadStatement::Type { field, given: given.chars().take(200).collect(), wanted });
        }
    }
    let digest = |subject: Subject| match subject.digest.get("sha256").and_then(|hex| hex.parse().ok()) {
        Some(digest) => Ok((subject.name, digest)),
        None => Err(BadStatement::Digest(subject.name)),
    };
    let subjects = given.subject.into_iter().map(digest).collect::<Result<_, _>>()?;
    Ok(GivenStatement { subjects, predicate: given.predicate })
}
