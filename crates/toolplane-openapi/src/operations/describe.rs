//! What models are told of an operation.

use toolplane_records::operation::{OperationBinding, ParameterPlace};

use super::answers::page_fields;
use super::{Found, Overrides};
use crate::document::Document;
use crate::schema::bounded;

const MAX_TITLE: usize = 120;
/// Words of a search hint.
const MAX_HINT_WORDS: usize = 10;
const MAX_HINT: usize = 160;

/// A summary in one line, within its bound.
pub(super) fn title(summary: &str) -> String {
    let text: Vec<&str> = summary.split_whitespace().collect();
    text.join(" ").chars().take(MAX_TITLE).collect()
}

/// Its tags and its summary, or the words of its path.
pub(super) fn search_hint(one: &Found<'_>) -> String {
    let words = |text: &str| {
        let separated = text.replace(['/', '{', '}', '_', '-', '.'], " ");
        separated.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    let about = if one.text("summary").trim().is_empty() { one.path } else { one.text("summary") };
    let mut all: Vec<String> = Vec::new();
    for word in one.tags().take(2).flat_map(words).chain(words(about)) {
        if !all.iter().any(|other| other.eq_ignore_ascii_case(&word)) && all.len() < MAX_HINT_WORDS {
            all.push(word);
        }
    }
    all.join(" ").chars().take(MAX_HINT).collect()
}

/// The description of the document within its bound, and below it what asking means.
pub(super) fn description(
    document: &Document,
    one: &Found<'_>,
    said: &Overrides,
    binding: &OperationBinding,
    pages: bool,
    deprecated: bool,
) -> String {
    let (summary, long) = (one.text("summary").trim(), one.text("description").trim());
    let own = match (summary.is_empty(), long.is_empty()) {
        (false, false) if long.starts_with(summary) => long.to_owned(),
        (false, false) => format!("{summary}\n\n{long}"),
        (false, true) => summary.to_owned(),
        (true, _) => long.to_owned(),
    };
    let most = document.limits().max_description_chars;
    let mut lines = vec![bounded(said.description.as_deref().unwrap_or(&own), most)];
    lines.push(format!("{} {} at {}", binding.method, binding.path, binding.server));
    if deprecated {
        lines.push("Deprecated: the API advises against using it.".to_owned());
    }
    let query = binding.parameters.iter().filter(|parameter| parameter.place == ParameterPlace::Query);
    let query = query.filter_map(|parameter| Some((parameter.name.as_str(), parameter.input.last()?.as_str())));
    let fields = page_fields(query);
    if !fields.is_empty() {
        let link = if pages { ", and the answer says whether there is a next one" } else { "" };
        lines.push(format!("Answers may come in pages: ask for others with `{}`{link}.", fields.join("`, `")));
    } else if pages {
        lines.push("Answers may come in pages; the answer says whether there is a next one.".to_owned());
    }
    lines.retain(|line| !line.is_empty());
    lines.join("\n\n")
}
