//! Fields of JSON that are masked by their paths, wherever JSON stands: a whole value, a line of a text, a text inside a value.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// What stands in the place of a masked value.
const MASKED: &str = "\"[redacted declared_field]\"";
/// Deepest nesting that is looked through.
const MAX_DEPTH: usize = 128;
/// Most steps of a path.
const MAX_STEPS: usize = 32;

/// The way to a field: names from the outermost value on, `*` for any one name or place in a list, `**` for any number of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldPath(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Step {
    Name(String),
    Any,
    Deep,
}

impl FromStr for FieldPath {
    type Err = String;

    /// Reads `/a/b`; as in a JSON pointer `~1` is a slash in a name and `~0` a tilde.
    fn from_str(text: &str) -> Result<Self, String> {
        let rest = text.strip_prefix('/').ok_or("must begin with `/`")?;
        let step = |part: &str| match part {
            "*" => Step::Any,
            "**" => Step::Deep,
            name => Step::Name(name.replace("~1", "/").replace("~0", "~")),
        };
        let steps: Vec<Step> = rest.split('/').map(step).collect();
        if steps.len() > MAX_STEPS {
            return Err(format!("has more than {MAX_STEPS} steps"));
        }
        if steps.contains(&Step::Name(String::new())) {
            return Err("has a step without a name".to_owned());
        }
        if steps.last() == Some(&Step::Deep) {
            return Err("must end with a name or `*`".to_owned());
        }
        Ok(Self(steps))
    }
}

/// What became of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Looked {
    /// There is no such field in it.
    Same,
    /// The text without so many values.
    Masked(String, u64),
    /// It begins like JSON and cannot be read: what is in it is not known.
    Unreadable,
}

/// Masks the fields `paths` of a text: of the JSON value it is, else of each line that is one.
pub fn mask(text: &str, paths: &[FieldPath]) -> Looked {
    let trimmed = text.trim();
    if trimmed.is_empty() || paths.is_empty() {
        return Looked::Same;
    }
    if begins_as_json(trimmed)
        && let Ok(value) = serde_json::from_str::<&RawValue>(trimmed)
    {
        return whole(value.get(), paths);
    }
    let (mut out, mut places) = (String::with_capacity(text.len()), 0);
    for line in text.split_inclusive('\n') {
        let shown = line.trim();
        if !begins_as_json(shown) {
            out.push_str(line);
            continue;
        }
        let Ok(value) = serde_json::from_str::<&RawValue>(shown) else { return Looked::Unreadable };
        match whole(value.get(), paths) {
            Looked::Masked(masked, more) => {
                out.push_str(&masked);
                out.push_str(if line.ends_with('\n') { "\n" } else { "" });
                places += more;
            }
            _ => out.push_str(line),
        }
    }
    if places == 0 { Looked::Same } else { Looked::Masked(out, places) }
}

/// A log may begin with a bracket too: `[info]`.
fn begins_as_json(text: &str) -> bool {
    let inner = |rest: &str| matches!(rest.trim_start().bytes().next(), Some(b'{' | b'[' | b'"'));
    text.starts_with('{') || text.strip_prefix('[').is_some_and(inner)
}

fn whole(value: &str, paths: &[FieldPath]) -> Looked {
    let steps: Vec<&[Step]> = paths.iter().map(|path| path.0.as_slice()).collect();
    let mut writer =
        Writer { paths, roots: &steps, out: String::with_capacity(value.len()), places: 0, depth: 0, lost: false };
    writer.value(value, &steps, true);
    match writer {
        Writer { lost: true, .. } => Looked::Unreadable,
        Writer { places: 0, .. } => Looked::Same,
        Writer { out, places, .. } => Looked::Masked(out, places),
    }
}

struct Writer<'a> {
    paths: &'a [FieldPath],
    roots: &'a [&'a [Step]],
    out: String,
    places: u64,
    depth: usize,
    lost: bool,
}

impl<'a> Writer<'a> {
    /// Writes a JSON value from which `steps` lead to what is masked.
    fn value(&mut self, value: &str, steps: &[&'a [Step]], outermost: bool) {
        if steps.iter().any(|steps| steps.is_empty()) {
            self.places += 1;
            return self.out.push_str(MASKED);
        }
        if self.depth > MAX_DEPTH {
            return self.lose();
        }
        self.depth += 1;
        match value.bytes().next() {
            Some(b'{') => self.object(value, steps, outermost),
            Some(b'[') => self.list(value, steps),
            Some(b'"') => self.text(value),
            _ => self.out.push_str(value),
        }
        self.depth -= 1;
    }

    fn object(&mut self, value: &str, steps: &[&'a [Step]], outermost: bool) {
        let Ok(Members(members)) = serde_json::from_str(value) else { return self.lose() };
        self.out.push('{');
        for (at, (name, member)) in members.into_iter().enumerate() {
            let mut inner = below(steps, &name);
            // Reports of HTTP tools have the answer there.
            if outermost && name == "json" {
                inner.extend_from_slice(self.roots);
            }
            self.out.push_str(if at == 0 { "" } else { "," });
            // A text is always JSON.
            self.out.push_str(&serde_json::to_string(&name).unwrap_or_default());
            self.out.push(':');
            self.value(member.get(), &inner, false);
        }
        self.out.push('}');
    }

    fn list(&mut self, value: &str, steps: &[&'a [Step]]) {
        let Ok(places) = serde_json::from_str::<Vec<&RawValue>>(value) else { return self.lose() };
        self.out.push('[');
        for (at, place) in places.into_iter().enumerate() {
            self.out.push_str(if at == 0 { "" } else { "," });
            let name = at.to_string();
            self.value(place.get(), &below(steps, &name), false);
        }
        self.out.push(']');
    }

    /// A text may be JSON itself, as what a program wrote is in the report of its run.
    fn text(&mut self, value: &str) {
        let meant = serde_json::from_str::<String>(value).unwrap_or_default();
        if !meant.contains(['{', '[']) {
            return self.out.push_str(value);
        }
        match mask(&meant, self.paths) {
            Looked::Same => self.out.push_str(value),
            Looked::Masked(masked, places) => {
                self.places += places;
                self.out.push_str(&serde_json::to_string(&masked).unwrap_or_default());
            }
            Looked::Unreadable => {
                self.places += 1;
                self.out.push_str(MASKED);
            }
        }
    }

    fn lose(&mut self) {
        self.lost = true;
    }
}

/// Where the steps lead from a member of this name.
fn below<'a>(steps: &[&'a [Step]], name: &str) -> Vec<&'a [Step]> {
    let mut inner: Vec<&'a [Step]> = Vec::new();
    for steps in steps {
        let mut steps = *steps;
        // `**` may stand for nothing, and stays for what is deeper.
        while let [Step::Deep, rest @ ..] = steps {
            inner.push(steps);
            steps = rest;
        }
        match steps {
            [Step::Any, rest @ ..] => inner.push(rest),
            [Step::Name(wanted), rest @ ..] if wanted == name => inner.push(rest),
            _ => {}
        }
    }
    inner
}

/// The members of an object in their order, also those of the same name.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(text: &str, paths: &[&str]) -> Looked {
        let paths: Vec<FieldPath> = paths.iter().map(|path| path.parse().unwrap()).collect();
        mask(text, &paths)
    }

    fn of(text: &str, places: u64) -> Looked {
        Looked::Masked(text.replace("***", "[redacted declared_field]"), places)
    }

    #[test]
    fn a_field_is_masked_whatever_it_holds_and_the_rest_stays_letter_for_letter() {
        let text = r#"{"id":12345678901234567890.10, "a":{"b":[1,{"c":"x"}]},"b":1,"b":2}"#;
        assert_eq!(masked(text, &["/a/b"]), of(r#"{"id":12345678901234567890.10,"a":{"b":"***"},"b":1,"b":2}"#, 1));
        assert_eq!(
            masked(text, &["/b", "/a/b/*/c"]),
            of(r#"{"id":12345678901234567890.10,"a":{"b":[1,{"c":"***"}]},"b":"***","b":"***"}"#, 3)
        );
        assert_eq!(
            masked(text, &["/**/c"]),
            of(r#"{"id":12345678901234567890.10,"a":{"b":[1,{"c":"***"}]},"b":1,"b":2}"#, 1)
        );
        assert_eq!(masked(text, &["/c", "/a/c", "/a/b/c"]), Looked::Same);
        assert_eq!(masked(r#"{"a/b":1,"c~":2}"#, &["/a~1b", "/c~0"]), of(r#"{"a/b":"***","c~":"***"}"#, 2));
        assert_eq!(masked(r#"[{"k":1},{"k":2}]"#, &["/1/k"]), of(r#"[{"k":1},{"k":"***"}]"#, 1));
    }

    #[test]
    fn json_is_found_in_lines_and_in_texts_of_values() {
        assert_eq!(masked("start\n{\"k\":1}\n[info] {\n", &["/k"]), of("start\n{\"k\":\"***\"}\n[info] {\n", 1));
        let report = r#"{"exit_code":0,"stdout":"{\"k\":1}\n"}"#;
        assert_eq!(masked(report, &["/k"]), of(r#"{"exit_code":0,"stdout":"{\"k\":\"***\"}"}"#, 1));
        assert_eq!(masked(r#"{"status":200,"json":{"k":1}}"#, &["/k"]), of(r#"{"status":200,"json":{"k":"***"}}"#, 1));
    }

    #[test]
    fn what_begins_as_json_and_is_none_is_not_known() {
        for text in [
            "{\"k\": 1, \"l\": [",
            "head\n{\n  \"k\": 1\n}",
            "[{\"k\":",
            &format!("{}1{}", "[".repeat(200), "]".repeat(200)),
        ] {
            assert_eq!(masked(text, &["/k"]), Looked::Unreadable, "{text}");
        }
        for text in ["", "plain", "[info] x", "[1/2] building", "see {x}"] {
            assert_eq!(masked(text, &["/k"]), Looked::Same, "{text}");
        }
    }
}
