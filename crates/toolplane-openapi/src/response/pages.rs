//! Whether there is more, and how it is asked for.

use serde_json::Value;
use toolplane_records::operation::{OperationBinding, ParameterPlace};
use toolplane_records::payload::JsonPayload;
use toolplane_records::visible::excerpt;
use url::Url;

/// Members that hold what asks for the next page.
const NEXT: [&str; 11] = [
    "next",
    "next_cursor",
    "nextCursor",
    "next_page_token",
    "nextPageToken",
    "next_token",
    "nextToken",
    "next_page",
    "nextPage",
    "nextLink",
    "@odata.nextLink",
];
/// Objects in which those may stand.
const AROUND: [&str; 7] = ["links", "_links", "paging", "pagination", "meta", "page", "response_metadata"];
/// Largest body that is looked into, in bytes.
const MAX_LOOKED_INTO: u64 = 1024 * 1024;
const MAX_SHOWN: usize = 300;

/// There is more of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextPage {
    /// Where the answer says so: `Link`, or the name of a member.
    pub said_by: String,
    /// What it says there: a URL, a cursor, a number; bounded.
    pub value: String,
    /// Fields of the input that ask for it, with their values, where the answer gives a URL of this operation.
    pub fields: Vec<(String, String)>,
}

impl NextPage {
    /// The same in one sentence, for models.
    pub fn hint(&self) -> String {
        if self.fields.is_empty() {
            return format!("There is a next page (`{}`: `{}`).", self.said_by, self.value);
        }
        let fields: Vec<String> = self.fields.iter().map(|(field, value)| format!("`{field}` = `{value}`")).collect();
        format!("There is a next page: call again with {}.", fields.join(", "))
    }
}

/// By `Link: <...>; rel="next"`, else by a member of the content.
pub(super) fn next(
    binding: &OperationBinding,
    headers: &[(String, String)],
    json: Option<&JsonPayload>,
) -> Option<NextPage> {
    let link = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("link"));
    if let Some(target) = link.filter_map(|(_, value)| next_of_link(value)).next() {
        return Some(page(binding, "Link", target));
    }
    let value = json.filter(|json| json.size() <= MAX_LOOKED_INTO)?.to_value();
    let inner = AROUND.iter().filter_map(|name| value.get(name));
    for place in std::iter::once(&value).chain(inner) {
        for name in NEXT {
            let said = match place.get(name) {
                Some(Value::String(text)) if !text.is_empty() => text.clone(),
                Some(Value::Number(number)) => number.to_string(),
                Some(Value::Object(link)) => match link.get("href").and_then(Value::as_str) {
                    Some(text) if !text.is_empty() => text.to_owned(),
                    _ => continue,
                },
                _ => continue,
            };
            return Some(page(binding, name, &said));
        }
    }
    None
}

/// The target of the link whose relation is `next`.
fn next_of_link(value: &str) -> Option<&str> {
    let mut rest = value;
    loop {
        let (_, after) = rest.split_once('<')?;
        let (target, after) = after.split_once('>')?;
        let parameters = after.split_once(",").filter(|(_, next)| next.trim_start().starts_with('<'));
        let (own, next) = parameters.unwrap_or((after, ""));
        // A comma may stand in a quoted parameter; the next link begins where the next `<` is.
        let own = if parameters.is_none() { own.split('<').next().unwrap_or_default() } else { own };
        let is_next = own.split(';').filter_map(|parameter| parameter.split_once('=')).any(|(name, value)| {
            let relations = value.trim().trim_end_matches(',').trim().trim_matches('"');
            name.trim().eq_ignore_ascii_case("rel") && relations.split(' ').any(|one| one.eq_ignore_ascii_case("next"))
        });
        if is_next {
            return Some(target);
        }
        rest = if parameters.is_some() { next } else { after };
    }
}

fn page(binding: &OperationBinding, said_by: &str, said: &str) -> NextPage {
    let fields = fields(binding, said).unwrap_or_default();
    NextPage { said_by: said_by.to_owned(), value: excerpt(said, MAX_SHOWN), fields }
}

/// The fields that make a request to `said`, if it is a URL of the same server.
fn fields(binding: &OperationBinding, said: &str) -> Option<Vec<(String, String)>> {
    let server = Url::parse(&format!("{}/", binding.server)).ok()?;
    let is_url = said.starts_with("http://") || said.starts_with("https://") || said.starts_with(['/', '?']);
    let target = server.join(said).ok().filter(|target| is_url && target.origin() == server.origin())?;
    let field = |name: &str| {
        let is_it = |place, other: &str| place == ParameterPlace::Query && other == name;
        let parameter = binding.parameters.iter().find(|parameter| is_it(parameter.place, &parameter.name))?;
        Some(parameter.input.join("."))
    };
    let pairs = target.query_pairs().filter_map(|(name, value)| Some((field(&name)?, excerpt(&value, MAX_SHOWN))));
    Some(pairs.collect())
}
