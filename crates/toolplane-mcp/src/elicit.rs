//! Questions of servers, in both ways the protocol has for them.

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use toolplane_records::payload::JsonPayload;

use crate::limits::Limits;
use crate::watch::{Question, QuestionKind};

/// Longest question, and longest address, in bytes.
const TEXT: usize = 16 * 1024;

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(default)]
    mode: Option<String>,
    message: String,
    #[serde(rename = "requestedSchema", borrow, default)]
    schema: Option<&'a RawValue>,
    #[serde(default)]
    url: Option<String>,
}

/// Reads the parameters of `elicitation/create`. Fails with the reason when they are not what the protocol says.
pub(crate) fn read(params: &Bytes, limits: &Limits) -> Result<Question, String> {
    let read: Params<'_> = serde_json::from_slice(params).map_err(|error| format!("not a question: {error}"))?;
    if read.message.len() > TEXT {
        return Err(format!("the question has more than {TEXT} bytes"));
    }
    let kind = match (read.mode.as_deref().unwrap_or("form"), read.schema, read.url) {
        ("form", Some(schema), _) => {
            let bytes = params.slice_ref(schema.get().as_bytes());
            let schema =
                JsonPayload::ingest(bytes, &limits.json()).map_err(|refusal| format!("the schema {refusal}"))?;
            QuestionKind::Form { schema }
        }
        ("url", _, Some(url)) if url.len() <= TEXT => QuestionKind::Url { url },
        ("form", None, _) => return Err("the question has no schema".to_owned()),
        _ => return Err("the question is neither a form nor an address".to_owned()),
    };
    Ok(Question { message: read.message, kind })
}
