//! What has changed between two registrations of a tool, for people who are asked about it again.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value;
use toolplane_records::approval::DefinitionChange;
use toolplane_records::payload::JsonPayload;
use toolplane_records::visible::excerpt;

/// Most changes that are told.
pub const MAX_CHANGES: usize = 24;
/// Most characters of each side of a change.
const MAX_SIDE: usize = 400;
/// Characters that both sides share and that are told before the first that differs.
const LEAD: usize = 60;

/// The differences between two registrations given as JSON, in the order of their places, at most [`MAX_CHANGES`]. Each names the
/// smallest part that differs, e.g. `declaration/description`; a part that came or went is told as a whole. Of a long text what is told
/// begins shortly before the first character that differs. Texts are as they are shown to people.
pub fn difference(before: &JsonPayload, after: &JsonPayload) -> Vec<DefinitionChange> {
    let mut changes = Vec::new();
    collect("", Some(&before.to_value()), Some(&after.to_value()), &mut changes);
    changes
}

fn collect(place: &str, before: Option<&Value>, after: Option<&Value>, changes: &mut Vec<DefinitionChange>) {
    if before == after || changes.len() >= MAX_CHANGES {
        return;
    }
    if let (Some(Value::Object(before)), Some(Value::Object(after))) = (before, after) {
        let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        for name in names {
            let below = if place.is_empty() { name.clone() } else { format!("{place}/{name}") };
            collect(&below, before.get(name), after.get(name), changes);
        }
        return;
    }
    let (before, after) = (side(before), side(after));
    let start = start_of(&before, &after);
    let field = excerpt(place, MAX_SIDE);
    changes.push(DefinitionChange { field, before: told(&before, start), after: told(&after, start) });
}

fn side(value: Option<&Value>) -> Cow<'_, str> {
    match value {
        None => Cow::Borrowed(""),
        Some(Value::String(text)) => Cow::Borrowed(text),
        Some(value) => Cow::Owned(value.to_string()),
    }
}

/// From which character on two texts are told: from the first one where what differs is among those told then.
fn start_of(before: &str, after: &str) -> usize {
    let same = before.chars().zip(after.chars()).take_while(|(one, other)| one == other).count();
    if same < MAX_SIDE - LEAD { 0 } else { same - LEAD }
}

fn told(text: &str, start: usize) -> String {
    match text.char_indices().nth(start) {
        _ if start == 0 => excerpt(text, MAX_SIDE),
        Some((at, _)) => format!("…{}", excerpt(&text[at..], MAX_SIDE)),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(before: Value, after: Value, expected: &[(&str, &str, &str)]) {
        let found = difference(&JsonPayload::of(&before), &JsonPayload::of(&after));
        let found: Vec<_> = found.iter().map(|c| (c.field.as_str(), c.before.as_str(), c.after.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_smallest_part_that_differs_is_told() {
        check(
            json!({"declaration": {"description": "reads", "schema": {"a": {"max": 1}, "gone": {"type": "string"}}}}),
            json!({"declaration": {"description": "writes\u{202e}", "schema": {"a": {"max": 2}, "came": true}}}),
            &[
                ("declaration/description", "reads", "writes\\u{202e}"),
                ("declaration/schema/a/max", "1", "2"),
                ("declaration/schema/came", "", "true"),
                ("declaration/schema/gone", "{\"type\":\"string\"}", ""),
            ],
        );
        check(json!({"a": [1, 2]}), json!({"a": [1, 3]}), &[("a", "[1,2]", "[1,3]")]);
        check(json!({"a": 1}), json!({"a": 1}), &[]);
    }

    /// Nobody hides a change behind a long beginning that stays.
    #[test]
    fn what_differs_is_told_wherever_it_is() {
        let long = "x".repeat(5000);
        let of = |end: &str| JsonPayload::of(&json!({ "description": format!("{long}{end}") }));
        let found = difference(&of("reads"), &of("sends them away"));
        let lead = "x".repeat(LEAD);
        assert_eq!((&found[0].before, &found[0].after), (&format!("…{lead}reads"), &format!("…{lead}sends them away")));
        let grown = difference(&of(""), &of(" and more"));
        assert_eq!((&grown[0].before, &grown[0].after), (&format!("…{lead}"), &format!("…{lead} and more")));
    }

    #[test]
    fn a_great_change_is_told_in_part() {
        let many = |value: u32| Value::Object((0..100).map(|n| (format!("k{n}"), json!(value))).collect());
        assert_eq!(difference(&JsonPayload::of(&many(1)), &JsonPayload::of(&many(2))).len(), MAX_CHANGES);
    }
}
