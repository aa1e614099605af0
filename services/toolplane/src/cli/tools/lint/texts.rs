//! What can be said of tools by their texts alone.

use std::collections::BTreeMap;

use toolplane_proto::v1;

use super::Finding;

/// A description of fewer words says next to nothing.
const FEW_WORDS: usize = 3;
/// Most words of a tool that are searched for.
const ASKED_WORDS: usize = 20;
/// Most other tools that are named.
const NAMED: usize = 5;

/// Whether searches may find the tool at all.
pub(super) fn is_shown(tool: &v1::ToolSummary) -> bool {
    matches!(tool.lifecycle(), v1::ToolLifecycle::Available | v1::ToolLifecycle::Deferred)
}

/// What the tool says it is for: its hint, else its title, else its description; without signs that mean something in a question.
pub(super) fn own_words(tool: &v1::ToolSummary) -> Option<String> {
    let said = [&tool.search_hint, &tool.title, &tool.description].into_iter().map(|text| words(text));
    said.into_iter().find(|words| !words.is_empty()).map(|words| words[..words.len().min(ASKED_WORDS)].join(" "))
}

/// Tools that say too little, and those that say the same as another one.
pub(super) fn check(tools: &[v1::ToolSummary]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let (mut texts, mut names) = (BTreeMap::<_, Vec<&str>>::new(), BTreeMap::<_, Vec<&str>>::new());
    for tool in tools {
        let name = tool.full_name.as_str();
        let finding = |what, more: &str| Finding { tool: name.to_owned(), what, more: more.to_owned() };
        let described = words(&tool.description);
        if tool.search_hint.trim().is_empty() && tool.title.trim().is_empty() {
            findings.push(finding("no_hint", "has neither a `search_hint` nor a `title`"));
        }
        if described.len() < FEW_WORDS {
            findings.push(finding("short_description", "its description has fewer than 3 words"));
        }
        let said = [words(&tool.title), words(&tool.search_hint), described].concat().join(" ").to_lowercase();
        texts.entry(said).or_default().push(name);
        let letters: String = bare(name).chars().filter(|c| c.is_alphanumeric()).collect();
        names.entry(letters.to_lowercase()).or_default().push(name);
    }
    texts.remove("");
    findings.extend(shared(&texts, "same_text", "says word for word the same as", |_, _| true));
    // One name in several namespaces is no accident, and two spellings of one name are.
    findings.extend(shared(&names, "same_name", "but for case and signs is called like", |one, other| {
        bare(one) != bare(other)
    }));
    findings
}

/// One finding for each tool that has something in common with others, of which `counts` says so.
fn shared(
    by: &BTreeMap<String, Vec<&str>>,
    what: &'static str,
    verb: &str,
    counts: fn(&str, &str) -> bool,
) -> Vec<Finding> {
    let each = by.values().flat_map(|tools| tools.iter().map(move |tool| (*tool, tools)));
    each.filter_map(|(tool, tools)| {
        let others = tools.iter().copied().filter(|other| *other != tool && counts(tool, other));
        let others: Vec<&str> = others.collect();
        let more = if others.len() > NAMED { format!(" and {} more", others.len() - NAMED) } else { String::new() };
        let told = others[..others.len().min(NAMED)].join(", ");
        (!others.is_empty()).then(|| Finding { tool: tool.to_owned(), what, more: format!("{verb} {told}{more}") })
    })
    .collect()
}

/// A name without its namespace.
fn bare(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, bare)| bare)
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, hint: &str, description: &str) -> v1::ToolSummary {
        v1::ToolSummary {
            full_name: name.to_owned(),
            search_hint: hint.to_owned(),
            description: description.to_owned(),
            lifecycle: v1::ToolLifecycle::Available.into(),
            ..Default::default()
        }
    }

    #[test]
    fn what_cannot_be_told_apart_is_found() {
        let tools = [
            tool("files.readFile", "read a file", "Reads a file as text."),
            tool("disk.read_file", "look at bytes", "Reads a file as bytes."),
            tool("mail.send", "send a message", "Sends a message to people."),
            tool("chat.post", "Send a message!", "sends a message, to people"),
            tool("misc.do", "", "Does it."),
            tool("chat.send", "write to somebody", "Writes to one person."),
        ];
        let found: Vec<_> = check(&tools).into_iter().map(|one| (one.tool, one.what)).collect();
        let expected = [
            ("misc.do", "no_hint"),
            ("misc.do", "short_description"),
            ("mail.send", "same_text"),
            ("chat.post", "same_text"),
            ("files.readFile", "same_name"),
            ("disk.read_file", "same_name"),
        ];
        assert_eq!(found, expected.map(|(tool, what)| (tool.to_owned(), what)));
    }

    #[test]
    fn own_words_mean_nothing_else_in_a_question() {
        let odd = tool("n.x", "select: -kind:x \"quo", "d");
        assert_eq!(own_words(&odd).unwrap(), "select kind x quo");
        assert_eq!(own_words(&tool("n.x", " ", "Counts words, fast.")).unwrap(), "Counts words fast");
        assert_eq!(own_words(&tool("n.x", "", "!")), None);
    }
}
