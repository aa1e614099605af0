//! Tools and questions that are made up, as many as one likes: always the same ones.

use serde_json::{Value, json};

const VERBS: &str = "get list create update delete search send read write upload download copy move rename share archive restore \
    approve reject assign schedule cancel start stop restart deploy build test merge review publish convert translate summarize \
    analyze compare validate export import sync monitor notify invite remove add track count filter sort tag watch lock unlock \
    refresh rotate encrypt sign verify render";
const NOUNS: &str = "file folder document image video message email calendar event meeting contact user team project task issue \
    comment branch commit release pipeline job build log metric alert dashboard report invoice payment order customer product cart \
    shipment ticket chat channel thread note page table row column query database backup server container cluster network domain \
    certificate secret token role policy permission webhook workflow template form survey answer lead deal campaign audience \
    playlist song movie recipe flight hotel booking trip route place weather forecast stock price account transaction budget";
const ADJECTIVES: &str = "new open recent large shared private public active archived daily weekly monthly pending failed expired \
    draft final internal external global local remote default custom";
const DETAILS: &str = "Returns the identifier and the current state.|Fails when the caller has no access.|Supports paging and sorting.|\
    Only items changed since the given date are considered.|The result is a list of objects with their fields.|Use it before you \
    change anything.|Large results are cut.|Accepts either a name or an identifier.|Sends a notification to everybody who \
    watches.|Runs in the background and reports progress.|Needs administrator rights.|Can be repeated without harm.";
const SYLLABLES: &str =
    "ka lo mi ren tas vo bel dri fon gar hul jet kin lor mav nex oro pim qua rix sol tev uno vex wim yar zed";

/// Chance that is always the same.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % most.max(1)
    }

    fn of<'a>(&mut self, words: &'a str, separator: char) -> &'a str {
        let all = words.split(separator).filter(|word| !word.trim().is_empty());
        let at = self.below(all.clone().count());
        all.map(str::trim).nth(at).unwrap_or_default()
    }
}

/// A service many tools are of: a made-up word.
fn service(number: usize) -> String {
    let syllables: Vec<&str> = SYLLABLES.split_whitespace().collect();
    let mut left = number + 31;
    let mut name = String::new();
    while left > 0 {
        name.push_str(syllables[left % syllables.len()]);
        left /= syllables.len();
    }
    name
}

/// The tool with that number: of a service of about fifty tools.
pub(crate) fn tool(number: usize) -> Value {
    let mut chance = Chance::new(number as u64 + 1);
    let service = service(number / 50);
    let (verb, noun, adjective) = (chance.of(VERBS, ' '), chance.of(NOUNS, ' '), chance.of(ADJECTIVES, ' '));
    let (other, first, second) = (chance.of(NOUNS, ' '), chance.of(DETAILS, '|'), chance.of(DETAILS, '|'));
    let description = format!("{verb}s the {adjective} {noun} of a {other} in {service}. {first} {second}");
    let parameter = |name: &str| (name.to_owned(), json!({ "type": "string" }));
    let parameters: serde_json::Map<String, Value> =
        [format!("{noun}_id"), format!("{other}_name"), "limit".to_owned()]
            .iter()
            .map(|name| parameter(name))
            .collect();
    json!({
        "tool_id": format!("tool_{number}"), "namespace": format!("mcp.{service}"), "name": format!("{verb}_{adjective}_{noun}_{number}"),
        "title": format!("{verb} {noun}"), "search_hint": format!("{verb} {adjective} {noun} {service}"), "description": description,
        "lifecycle": "available", "tool_kind": "mcp_tool",
        "input_contract": { "model_input_schema": { "type": "object", "properties": parameters } },
    })
}

/// A question: mostly a sentence, sometimes with a slip, a beginning, a filter or a word that has to be there.
pub(crate) fn question(number: usize, tools: usize) -> String {
    let mut chance = Chance::new(number as u64 + 77_777);
    let service = service(chance.below(tools.div_ceil(50)));
    let (verb, noun, adjective) = (chance.of(VERBS, ' '), chance.of(NOUNS, ' '), chance.of(ADJECTIVES, ' '));
    let other = chance.of(NOUNS, ' ');
    let slip = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        let middle = letters.len() / 2;
        letters.swap(middle - 1, middle);
        letters.into_iter().collect::<String>()
    };
    match chance.below(10) {
        0 | 1 => format!("{verb} {noun}"),
        2 | 3 => format!("I want to {verb} the {adjective} {noun} of our {other}"),
        4 => format!("please {verb} every {adjective} {noun} in {service} and tell me which {other} it belongs to"),
        5 => format!("how can I {verb} a {} that failed", slip(noun)),
        6 => format!("{verb} {} {}", slip(noun), slip(other)),
        7 => format!("{} {noun}*", &verb[..3]),
        8 => format!("+{noun} {verb} -{other} namespace:mcp.{service}"),
        _ => format!("{service} {verb} {noun}"),
    }
}

/// A name no tool has, nearly like one that a tool has.
pub(crate) fn wrong_name(number: usize, tools: usize) -> String {
    let number = Chance::new(number as u64 + 5).below(tools);
    let tool = tool(number);
    let name = tool["name"].as_str().unwrap_or_default().replacen('e', "3", 1);
    format!("{}.{name}x", tool["namespace"].as_str().unwrap_or_default())
}
