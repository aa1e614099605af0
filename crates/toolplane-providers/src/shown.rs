//! What a person is shown of a tool who has to look at it: exactly what a model is given.
//!
//! There is one function for both ([`ModelView::of`]). Whoever gives a tool to a model takes its parts from here, and so does whoever
//! shows it to a person; the person sees the same text, with everything that has no glyph spelled out.

use toolplane_catalog::Registration;
use toolplane_records::visible::{self, LookAlike, look_alikes};

use crate::words::{Words, words};

/// A tool as a model is given it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelView {
    parts: Vec<Part>,
}

/// One text a model is given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// What it is.
    pub kind: PartKind,
    /// The text, to the last byte.
    pub text: String,
}

/// Which text it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// The name by which a model calls the tool.
    Name,
    /// A further name.
    Alias,
    /// The title.
    Title,
    /// What a search tells before the tool is loaded.
    SearchHint,
    /// The description.
    Description,
    /// The schema of its arguments, as JSON.
    InputSchema,
    /// An example of its arguments, as JSON.
    Example,
    /// The schema of what it gives back, as JSON.
    OutputSchema,
}

impl PartKind {
    /// What it is called in front of people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Alias => "also called",
            Self::Title => "title",
            Self::SearchHint => "search hint",
            Self::Description => "description",
            Self::InputSchema => "arguments",
            Self::Example => "example",
            Self::OutputSchema => "gives back",
        }
    }
}

/// One text as a person is shown it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownPart {
    /// What it is.
    pub kind: PartKind,
    /// The text in lines, with everything that has no glyph spelled out, line ends of other kinds too.
    pub lines: Vec<String>,
    /// How many characters are spelled out. Where there are none, what looks spelled out is what the text really says.
    pub spelled_out: usize,
    /// Words that may be taken for others.
    pub look_alikes: Vec<LookAlike>,
}

impl ModelView {
    /// The tool as a model is given it. A part that the registration does not have is left out.
    pub fn of(registration: &Registration) -> Self {
        let declaration = &registration.declaration;
        let mut parts = vec![Part { kind: PartKind::Name, text: declaration.full_name() }];
        let mut add = |kind, text: &str| {
            if !text.is_empty() {
                parts.push(Part { kind, text: text.to_owned() });
            }
        };
        registration.aliases().into_iter().for_each(|alias| add(PartKind::Alias, alias));
        add(PartKind::Title, &declaration.title);
        add(PartKind::SearchHint, registration.search_hint());
        add(PartKind::Description, &declaration.description);
        add(PartKind::InputSchema, registration.model_schema().map_or("", |schema| schema.text()));
        let examples = registration.contract().map_or(&[][..], |contract| &contract.examples);
        examples.iter().for_each(|example| add(PartKind::Example, example.text()));
        add(PartKind::OutputSchema, registration.output_schema().map_or("", |schema| schema.text()));
        Self { parts }
    }

    /// The texts, in the order in which they matter.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The text of that kind; the first one where there may be several.
    pub fn text(&self, kind: PartKind) -> Option<&str> {
        self.parts.iter().find(|part| part.kind == kind).map(|part| part.text.as_str())
    }

    /// The texts as a person is shown them.
    pub fn shown(&self) -> Vec<ShownPart> {
        self.parts.iter().map(shown).collect()
    }

    /// All of it as one text for a terminal. Each line of a tool's text begins with a bar, so that none of it can be taken for a line of
    /// ours, however it is written.
    pub fn rendered(&self) -> String {
        let mut out = String::new();
        for part in self.shown() {
            out.push_str(part.kind.as_str());
            match part.spelled_out {
                0 => {}
                1 => out.push_str(" (1 character that is not seen is spelled out)"),
                n => out.push_str(&format!(" ({n} characters that are not seen are spelled out)")),
            }
            out.push('\n');
            for line in &part.lines {
                out.push_str("  | ");
                out.push_str(line);
                out.push('\n');
            }
            for doubt in &part.look_alikes {
                out.push_str(&format!("  ! {doubt}\n"));
            }
        }
        out
    }
}

/// What a person is shown of a tool that was approved before as something else: what has changed, and then all of it.
pub fn review(approved: Option<&Registration>, now: &Registration) -> (Option<Words>, ModelView) {
    (approved.map(|before| words(before, now)), ModelView::of(now))
}

fn shown(part: &Part) -> ShownPart {
    let mut spelled_out = 0;
    let line = |line: &str| {
        let shown = visible::line(line).into_owned();
        spelled_out += count(line, &shown);
        shown
    };
    let lines = part.text.split('\n').map(line).collect();
    ShownPart { kind: part.kind, lines, spelled_out, look_alikes: look_alikes(&part.text) }
}

/// How many characters of `text` are other ones in `shown`.
fn count(text: &str, shown: &str) -> usize {
    let mut rest = shown;
    let mut found = 0;
    for c in text.chars() {
        match rest.strip_prefix(c) {
            // A backslash that is there may be one of the text, or begin what is spelled out: only the latter is longer.
            Some(after) => rest = after,
            None => {
                found += 1;
                let end = match rest.strip_prefix("\\u{") {
                    Some(spelled) => spelled.find('}').map_or(rest.len(), |end| end + 4),
                    None => rest.len().min(2),
                };
                rest = rest.get(end..).unwrap_or_default();
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::fixtures::{registration, with_schema};

    #[test]
    fn a_person_sees_what_the_model_is_given() {
        let schema = "{ \"type\":\"object\",\n \"description\":\"zero\u{200b}width\" }";
        let mut tool = with_schema("search", schema);
        tool.declaration.description = "Searches.\r\narguments\n  | {}\u{202e}\u{e0041}".to_owned();
        tool.declaration.title = "S\u{435}arch".to_owned();
        let view = ModelView::of(&tool);
        assert_eq!(view.text(PartKind::Description), Some(tool.declaration.description.as_str()));
        assert_eq!(view.text(PartKind::InputSchema), Some(schema));
        let expected = "name\n  | gh.search\ntitle\n  | S\u{435}arch\n  ! `S\\u{435}arch` only looks like `Search`\n\
            description (3 characters that are not seen are spelled out)\n  | Searches.\\r\n  | arguments\n  |   | {}\\u{202e}\\u{e0041}\n\
            arguments (1 character that is not seen is spelled out)\n  | { \"type\":\"object\",\n  |  \"description\":\"zero\\u{200b}width\" }\n";
        assert_eq!(view.rendered(), expected);
        // What only looks spelled out is not counted.
        let honest = ModelView::of(&registration("t", "write \\u{202e} in hex"));
        assert_eq!(honest.shown().last().unwrap().spelled_out, 0);
    }

    #[test]
    fn what_changed_comes_with_it() {
        let (one, other) = (registration("t", "reads"), registration("t", "writes"));
        let (found, view) = review(Some(&one), &other);
        assert_eq!(found.unwrap().told[0].after, "writes");
        assert_eq!(view.text(PartKind::Description), Some("writes"));
        assert_eq!(review(None, &one).0, None);
    }

    /// What the model is given and is not among the parts is in no registration: names, texts and schemas.
    #[test]
    fn every_text_is_there() {
        let mut value = serde_json::to_value(with_schema("t", "{\"type\":\"object\"}")).unwrap();
        value["declaration"]["aliases"] = json!(["gh.other"]);
        value["declaration"]["title"] = json!("T");
        value["declaration"]["search_hint"] = json!("hint");
        value["declaration"]["input_contract"]["examples"] = json!([{ "a": 1 }, {}]);
        value["declaration"]["output_contract"] = json!({ "structured_schema": { "type": "string" } });
        let view = ModelView::of(&serde_json::from_value(value).unwrap());
        let texts: Vec<&str> = view.parts().iter().map(|part| part.text.as_str()).collect();
        let expected = [
            "gh.t",
            "gh.other",
            "T",
            "hint",
            "does it",
            "{\"type\":\"object\"}",
            "{\"a\":1}",
            "{}",
            "{\"type\":\"string\"}",
        ];
        assert_eq!(texts, expected);
    }

    proptest! {
        #[test]
        fn nothing_is_left_out_and_nothing_acts(text in "[a \\\\u{}\n\r\t\u{202e}\u{200b}\u{301}\u{e9}]{1,40}") {
            let view = ModelView::of(&registration("t", &text));
            let part = view.shown().into_iter().find(|part| part.kind == PartKind::Description).unwrap();
            prop_assert_eq!(part.lines.len(), text.split('\n').count());
            for line in &part.lines {
                prop_assert!(!line.chars().any(|c| c.is_control() || c == '\u{202e}' || c == '\u{200b}'), "{:?}", line);
            }
            // Every character is there, as it is or spelled out.
            let unspelled = |line: &str| {
                let line = line.replace("\\u{202e}", "\u{202e}").replace("\\u{200b}", "\u{200b}");
                line.replace("\\u{301}", "\u{301}").replace("\\t", "\t").replace("\\r", "\r")
            };
            let back: Vec<String> = part.lines.iter().map(|line| unspelled(line)).collect();
            prop_assert_eq!(back.join("\n"), unspelled(&text));
        }
    }
}
