//! Where a stream can be taken up again: what is told with each event (`id:`), and what a caller that comes back with it is sent.
//!
//! Found in the messages themselves: events have a sequence, changes a revision, differences of a surface a moment, and the items of a batch
//! the first two, call by call.

use std::collections::BTreeMap;

use prost_reflect::{DynamicMessage, MessageDescriptor, ReflectMessage as _, Value};
use toolplane_runtime::ApiError;

const HEADER: &str = "last-event-id";

/// How far a stream is, as its messages say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Cursor {
    /// Its messages say nothing of it.
    None,
    /// The last sequence of one log.
    Sequence(u64),
    /// The revision up to which everything has been sent.
    Revision(u64),
    /// The moment of a surface up to which everything has been sent; empty before there was one.
    Moment(String),
    /// Of each call of a batch the next sequence, and the results that were released.
    Batch { next: BTreeMap<u32, u64>, yielded: u64 },
}

impl Cursor {
    /// The beginning of a stream of such messages.
    pub(crate) fn begin(output: &MessageDescriptor) -> Self {
        match () {
            () if output.get_field_by_name("items").is_some() => Self::Batch { next: BTreeMap::new(), yielded: 0 },
            () if output.get_field_by_name("events").is_some() => Self::Sequence(0),
            () if output.get_field_by_name("moment").is_some() => Self::Moment(String::new()),
            () if output.get_field_by_name("revision").is_some() => Self::Revision(0),
            () => Self::None,
        }
    }

    /// Whether such a stream can be taken up again at all.
    pub(crate) fn is_some(&self) -> bool {
        *self != Self::None
    }

    /// Whether a stream that was asked for so, and of which nothing was told yet, loses nothing when it ends: it can be taken up again,
    /// and it begins nothing anew.
    pub(crate) fn goes_on_anywhere(&self, input: &MessageDescriptor) -> bool {
        self.is_some() && input.get_field_by_name("spec").is_none()
    }

    /// Goes on by one message.
    pub(crate) fn pass(&mut self, message: &DynamicMessage) {
        match self {
            Self::None => {}
            Self::Sequence(last) => *last = (*last).max(last_sequence(message)),
            Self::Revision(last) => *last = (*last).max(number(message, "revision")),
            Self::Moment(last) => match message.get_field_by_name("moment").as_deref() {
                // The parts of a difference have none but the last.
                Some(Value::String(moment)) if !moment.is_empty() => last.clone_from(moment),
                _ => {}
            },
            Self::Batch { next, yielded } => {
                for item in list(message, "items") {
                    *yielded = (*yielded).max(number(&item, "yield_seq"));
                    let last = last_sequence(&item);
                    if last > 0 {
                        let index = u32::try_from(number(&item, "index")).unwrap_or(u32::MAX);
                        next.insert(index, last + 1);
                    }
                }
            }
        }
    }

    /// What is told with an event; nothing before there is something to come back to.
    pub(crate) fn id(&self) -> Option<String> {
        match self {
            Self::Sequence(at) | Self::Revision(at) => (*at > 0).then(|| at.to_string()),
            Self::Batch { next, yielded } if *yielded > 0 || !next.is_empty() => {
                let calls = next.iter().map(|(index, next)| format!(";{index}:{next}"));
                Some(format!("{yielded}{}", calls.collect::<String>()))
            }
            Self::Moment(at) => (!at.is_empty()).then(|| at.clone()),
            Self::None | Self::Batch { .. } => None,
        }
    }

    /// Changes a request so that the stream goes on after the event of this id. Returns an [`ApiError::InvalidArgument`] when the
    /// id is none of such a stream, when the request itself says where to begin, or when it would make something anew.
    pub(crate) fn resume(&self, id: &str, request: &mut DynamicMessage) -> Result<(), ApiError> {
        let wrong = || ApiError::invalid_argument(HEADER, "is no id of an event of this stream");
        let at: Option<u64> = id.parse().ok();
        match self {
            Self::Sequence(_) => set(request, "from_seq", Value::U64(at.ok_or_else(wrong)?.saturating_add(1))),
            Self::Revision(_) => set(request, "from_revision", Value::U64(at.ok_or_else(wrong)?)),
            Self::Moment(_) => set(request, "from_moment", Value::String(id.to_owned())),
            Self::Batch { .. } => {
                let (yielded, next) = batch(id).ok_or_else(wrong)?;
                let calls = cursors(request, &next).ok_or_else(unresumable)?;
                set(request, "from", Value::List(calls))?;
                set(request, "after_yield_seq", Value::U64(yielded))
            }
            Self::None => Err(unresumable()),
        }
    }
}

fn unresumable() -> ApiError {
    ApiError::invalid_argument(HEADER, "goes on with a stream that watches; this request would begin something anew")
}

fn set(request: &mut DynamicMessage, name: &str, value: Value) -> Result<(), ApiError> {
    let Some(field) = request.descriptor().get_field_by_name(name) else { return Err(unresumable()) };
    if request.has_field(&field) {
        return Err(ApiError::invalid_argument(name, format!("cannot be given beside the header `{HEADER}`")));
    }
    request.set_field(&field, value);
    Ok(())
}

/// `12;0:5;1:9`: twelve results, the first call goes on at 5, the second at 9.
fn batch(id: &str) -> Option<(u64, Vec<(u32, u64)>)> {
    let mut parts = id.split(';');
    let yielded = parts.next()?.parse().ok()?;
    let next = parts.map(|part| {
        let (index, next) = part.split_once(':')?;
        Some((index.parse().ok()?, next.parse().ok()?))
    });
    Some((yielded, next.collect::<Option<_>>()?))
}

fn cursors(request: &DynamicMessage, next: &[(u32, u64)]) -> Option<Vec<Value>> {
    let kind = request.descriptor().get_field_by_name("from")?.kind();
    let descriptor = kind.as_message()?;
    let cursor = |(index, next): &(u32, u64)| {
        let mut cursor = DynamicMessage::new(descriptor.clone());
        cursor.set_field_by_name("index", Value::U32(*index));
        cursor.set_field_by_name("from_seq", Value::U64(*next));
        Value::Message(cursor)
    };
    Some(next.iter().map(cursor).collect())
}

fn last_sequence(message: &DynamicMessage) -> u64 {
    list(message, "events").last().map_or(0, |event| number(event, "sequence"))
}

fn list(message: &DynamicMessage, name: &str) -> Vec<DynamicMessage> {
    let values = message.get_field_by_name(name).map(std::borrow::Cow::into_owned);
    let Some(Value::List(values)) = values else { return Vec::new() };
    values.into_iter().filter_map(|value| if let Value::Message(one) = value { Some(one) } else { None }).collect()
}

fn number(message: &DynamicMessage, name: &str) -> u64 {
    match message.get_field_by_name(name).as_deref() {
        Some(Value::U64(number)) => *number,
        Some(Value::U32(number)) => u64::from(*number),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::json::{methods, read, write};

    fn resumed(route: &str, seen: &[Json], request: Json) -> Result<(String, Json), String> {
        let method = methods::all().iter().find(|method| method.route == route).unwrap();
        let read = |json: &Json, of| read::message(json.to_string().as_bytes(), of).unwrap();
        let mut cursor = Cursor::begin(&method.output);
        seen.iter().for_each(|message| cursor.pass(&read(message, &method.output)));
        let id = cursor.id().unwrap_or_default();
        let mut request = read(&request, &method.input);
        Cursor::begin(&method.output).resume(&id, &mut request).map_err(|error| error.to_string())?;
        Ok((id, serde_json::from_slice(&write::message(&request)).unwrap()))
    }

    #[test]
    fn a_stream_goes_on_after_what_was_seen() {
        let seen = [json!({"events": [{"sequence": 1}, {"sequence": 2}]}), json!({"head_seq": 9})];
        let found = resumed("/v1/watch-invocation", &seen, json!({"invocation_id": "inv_1"}));
        assert_eq!(found, Ok(("2".to_owned(), json!({"invocation_id": "inv_1", "from_seq": 3}))));
        let found = resumed("/v1/watch-approvals", &[json!({"revision": 7}), json!({})], json!({}));
        assert_eq!(found, Ok(("7".to_owned(), json!({"from_revision": 7}))));
        let seen = [json!({"moment": "2.9", "revision": 4}), json!({"anew": true})];
        let found = resumed("/v1/watch-surface", &seen, json!({"surface_id": "s"}));
        assert_eq!(found, Ok(("2.9".to_owned(), json!({"surface_id": "s", "from_moment": "2.9"}))));
        let items = |items: Json| json!({ "items": items });
        let seen = [
            items(json!([{"index": 0, "events": [{"sequence": 1}]}, {"index": 2, "events": [{"sequence": 4}]}])),
            items(json!([{"index": 2, "events": [{"sequence": 5}], "yield_seq": 1}])),
        ];
        let (id, request) = resumed("/v1/watch-batch", &seen, json!({"batch_id": "b"})).unwrap();
        assert_eq!(id, "1;0:2;2:6");
        let from = json!([{"from_seq": 2}, {"index": 2, "from_seq": 6}]);
        assert_eq!(request, json!({"batch_id": "b", "from": from, "after_yield_seq": 1}));
    }

    #[test]
    fn what_cannot_go_on_says_so() {
        let seen = [json!({"events": [{"sequence": 2}]})];
        let refused = resumed("/v1/invoke", &seen, json!({"spec": {}})).unwrap_err();
        assert!(refused.contains("begin something anew"), "{refused}");
        let refused = resumed("/v1/watch-invocation", &seen, json!({"from_seq": 1})).unwrap_err();
        assert_eq!(refused, "`from_seq` cannot be given beside the header `last-event-id`");
        for (route, id) in [("/v1/watch-invocation", "x"), ("/v1/watch-batch", "1;2"), ("/v1/watch-batch", "1;a:2")] {
            let method = methods::all().iter().find(|method| method.route == route).unwrap();
            let mut request = DynamicMessage::new(method.input.clone());
            assert!(Cursor::begin(&method.output).resume(id, &mut request).is_err(), "{route} {id}");
        }
    }
}
