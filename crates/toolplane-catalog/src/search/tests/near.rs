//! What is near a question by its meaning, beside what has its words.

use toolplane_records::ids::ToolId;

use super::*;
use crate::catalog::CatalogEntry;

/// Knows an order of tools, whatever the question.
#[derive(Debug)]
struct Order(Vec<ToolId>);

fn named<'c>(catalog: &'c Catalog, name: &str) -> &'c CatalogEntry {
    catalog.entries().find(|entry| entry.tool.full_name() == name).unwrap()
}

impl Order {
    fn of(catalog: &Catalog, names: &[&str]) -> Self {
        Self(names.iter().map(|name| named(catalog, name).tool_id().clone()).collect())
    }
}

impl Nearest for Order {
    fn nearest(&self, most: usize, fits: &mut dyn FnMut(&ToolId) -> bool) -> Vec<ToolId> {
        self.0.iter().filter(|id| fits(id)).take(most).cloned().collect()
    }
}

fn answer(catalog: &Catalog, near: &Order, query: &str, limit: usize, after: Option<&Position>) -> Answer {
    let starter = Thesaurus::starter();
    let asked = Question { meaning: Some(near), after, ..question(query, limit, &starter) };
    super::super::search(&Everything::default(), &catalog.index().snapshot(), &asked).unwrap()
}

fn found(catalog: &Catalog, near: &Order, query: &str) -> Vec<String> {
    answer(catalog, near, query, 10, None).result.found.into_iter().map(|tool| tool.name).collect()
}

#[test]
fn what_is_near_is_found_without_its_words_and_says_so() {
    let catalog = library();
    let near = Order::of(&catalog, &["weather.get_forecast", "files.readFile"]);
    let told = answer(&catalog, &near, "umbrella", 10, None).result;
    assert_eq!(
        told.found.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(),
        ["weather.get_forecast", "files.readFile"]
    );
    assert_eq!((told.found[0].why[0].how.as_str(), told.total_matches), ("meaning", 2));
    // Found both ways comes before found in one.
    let both = answer(&catalog, &near, "workspace", 10, None).result;
    assert_eq!(both.found[0].name, "files.readFile");
    let how: Vec<&str> = both.found[0].why.iter().map(|why| why.how.as_str()).collect();
    assert_eq!(how, ["word", "meaning"]);
}

#[test]
fn what_is_asked_for_holds_for_what_is_near() {
    let catalog = library();
    let everything = ["weather.get_forecast", "weather.control_weather", "mcp.github.search_issues", "files.readFile"];
    let near = Order::of(&catalog, &everything);
    let check = |query: &str, names: &[&str]| assert_eq!(found(&catalog, &near, query), names, "{query}");
    check("umbrella namespace:weather", &["weather.get_forecast"]);
    check("umbrella +repository", &["mcp.github.search_issues"]);
    check("umbrella -rain -issues", &["files.readFile"]);
    check("\"pull requests\"", &["mcp.github.search_issues"]);
    // A name is in front of all that is near.
    assert_eq!(found(&catalog, &near, "search_text")[0], "files.search_text");
}

#[test]
fn what_use_taught_stands_among_words_and_goes_with_meaning() {
    let catalog = library();
    let near = Order::of(&catalog, &["weather.get_forecast", "files.readFile"]);
    let file = named(&catalog, "files.readFile").tool_id().clone();
    let lesson = Lesson { words: words_of("umbrella"), tool: file, teacher: 1, day: 20_000, weight: 1_000, era: 0 };
    let mut notebook = Notebook::default();
    notebook.learn(&lesson, 30);
    let (learned, starter) = (Learned::of([&notebook], 30), Thesaurus::starter());
    let ask = |learned| {
        let asked = Question { meaning: Some(&near), learned, ..question("umbrella", 10, &starter) };
        super::super::search(&Everything::default(), &catalog.index().snapshot(), &asked).unwrap().result.found
    };
    assert_eq!(ask(None)[0].name, "weather.get_forecast");
    let taught = ask(Some(learned.on(20_000)));
    let how: Vec<&str> = taught[0].why.iter().map(|why| why.how.as_str()).collect();
    assert_eq!((taught[0].name.as_str(), how), ("files.readFile", vec!["use", "meaning"]));
}

/// What people did with these very words says more than what is near, and what one word of many led to says little.
#[test]
fn what_use_is_sure_of_is_not_outweighed_by_what_is_near() {
    let catalog = library();
    let near = Order::of(&catalog, &["files.readFile"]);
    let tool = named(&catalog, "weather.get_forecast").tool_id().clone();
    let starter = Thesaurus::starter();
    let first = |taught: &str, asked: &str| {
        let mut notebook = Notebook::default();
        for teacher in 0..20 {
            let (words, tool) = (words_of(taught), tool.clone());
            notebook.learn(&Lesson { words, tool, teacher, day: 20_000, weight: 1_000, era: 0 }, 30);
        }
        let learned = Learned::of([&notebook], 30);
        let (meaning, learned) = (Some(&near as &dyn Nearest), Some(learned.on(20_000)));
        let asked = Question { meaning, learned, ..question(asked, 10, &starter) };
        let found =
            super::super::search(&Everything::default(), &catalog.index().snapshot(), &asked).unwrap().result.found;
        found[0].name.clone()
    };
    assert_eq!(first("umbrella gloves coat", "umbrella gloves coat workspace"), "weather.get_forecast");
    assert_eq!(first("umbrella", "umbrella reads files of the workspace"), "files.readFile");
}

#[test]
fn pages_have_everything_once() {
    let catalog = library();
    let near = Order::of(&catalog, &["weather.get_forecast", "files.readFile", "translate.translate_text"]);
    let (mut told, mut after) = (Vec::new(), None);
    loop {
        let page = answer(&catalog, &near, "files searching", 2, after.as_ref());
        told.extend(page.result.found.into_iter().map(|tool| tool.name));
        let Some(next) = page.next else { break };
        after = Some(next);
    }
    assert_eq!(told, found(&catalog, &near, "files searching"));
    assert_eq!(told.len(), 5);
}

#[test]
fn a_model_is_given_words_and_not_signs() {
    let check = |query: &str, text: Option<&str>| assert_eq!(meant(query).as_deref(), text, "{query}");
    check("send* +email -draft kind:function", Some("send email"));
    check("\"pull request\" of mine", Some("pull request of mine"));
    check("select:a,b", None);
    check("kind:function", None);
    check("-draft", None);
    check("kind:nonsense", None);
    let catalog = library();
    let tool = &named(&catalog, "weather.get_forecast").tool;
    assert_eq!(told(tool), "get forecast. weather forecast for a city. Returns temperature and rain.");
}
