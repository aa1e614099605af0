//! What an operation answers with, as the document says.

use std::collections::HashMap;

use serde_json::{Map, Value};
use toolplane_records::payload::JsonPayload;

use super::{Found, pointer_token};
use crate::document::Document;
use crate::error::Fault;
use crate::schema::{Direction, Fitted, fitted};

/// Most media types that are asked for.
const MAX_ACCEPT: usize = 8;
/// Longest text of a schema that is remembered: references and little more.
const MAX_KNOWN_BYTES: usize = 512;
/// Parameters that ask for another page.
const PAGES: [&str; 16] = [
    "page",
    "per_page",
    "page_size",
    "pageSize",
    "perPage",
    "limit",
    "offset",
    "cursor",
    "page_token",
    "pageToken",
    "starting_after",
    "after",
    "next",
    "nextToken",
    "marker",
    "skip",
];

/// What is known of answers.
#[derive(Debug, Default)]
pub(super) struct Answers {
    pub(super) accept: Vec<String>,
    pub(super) schema: Option<JsonPayload>,
    /// Success comes with a `Link` header.
    pub(super) pages: bool,
    pub(super) notes: Vec<String>,
}

/// Schemas of answers that were written already: many operations answer with the same ones.
#[derive(Debug, Default)]
pub(super) struct Known {
    by_text: HashMap<String, Result<Fitted, Fault>>,
}

impl Known {
    /// What is written of a schema depends on the schema alone, because references name places of the whole document.
    fn fitted(&mut self, document: &Document, schema: &Value, place: &str) -> Result<Fitted, Fault> {
        let write = || fitted(document, Direction::Response, |writer| writer.write(schema, place));
        let text = schema.to_string();
        match text.len() <= MAX_KNOWN_BYTES {
            true => self.by_text.entry(text).or_insert_with(write).clone(),
            false => write(),
        }
    }
}

/// Reads the successful answers. Nothing here refuses an operation: what cannot be used is left out and told.
pub(super) fn read(document: &Document, one: &Found<'_>, known: &mut Known) -> Answers {
    let mut answers = Answers::default();
    let Some(responses) = one.members.get("responses").and_then(Value::as_object) else { return answers };
    let mut schema = None;
    for (status, response) in successes(responses) {
        let place = format!("{}/responses/{status}", one.place);
        let Ok((response, place)) = document.follow(response, &place) else { continue };
        let headers = response.get("headers").and_then(Value::as_object).into_iter().flatten();
        answers.pages |= headers.into_iter().any(|(name, _)| name.eq_ignore_ascii_case("link"));
        let content = response.get("content").and_then(Value::as_object).into_iter().flatten();
        for (kind, media) in content {
            let name = kind.split(';').next().unwrap_or_default().trim();
            let plain = name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b',');
            if plain
                && name.contains('/')
                && !answers.accept.iter().any(|one| one == name)
                && answers.accept.len() < MAX_ACCEPT
            {
                answers.accept.push(name.to_owned());
            }
            let is_json = name == "application/json" || name.ends_with("+json") || name == "*/*";
            if is_json && schema.is_none() {
                let at = format!("{place}/content/{}/schema", pointer_token(kind));
                schema = media.get("schema").map(|schema| (schema, at));
            }
        }
    }
    if let Some((schema, place)) = schema {
        match known.fitted(document, schema, &place) {
            Ok(fitted) => {
                if fitted.cut {
                    let rule = "is larger than the catalogue takes: only its outer parts are checked";
                    answers.notes.push(format!("the schema of the answer {rule}"));
                }
                answers.schema = Some(fitted.schema);
            }
            Err(fault) => answers.notes.push(format!("the schema of the answer is left out: {}", fault.rule)),
        }
    }
    answers
}

/// Successful answers, the likeliest first; `default` only where there is no other.
fn successes(responses: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut found: Vec<_> =
        responses.iter().filter(|(status, _)| status.len() == 3 && status.starts_with('2')).collect();
    found.sort_by_key(|(status, _)| status.to_ascii_uppercase());
    if found.is_empty() {
        found.extend(responses.iter().filter(|(status, _)| *status == "default"));
    }
    found
}

/// The names of fields by which pages are asked for, as they are in the input.
pub(super) fn page_fields<'a>(parameters: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<&'a str> {
    parameters.filter(|(name, _)| PAGES.contains(name)).map(|(_, field)| field).collect()
}
