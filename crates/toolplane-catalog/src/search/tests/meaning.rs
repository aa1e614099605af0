//! Slips, beginnings, synonyms, examples, and what is said of why a tool was found.

use std::sync::Arc;

use super::*;

fn office() -> Catalog {
    let examples = json!({
        "title": "Expense claim", "description": "Files a claim.", "search_examples": ["get my money back for the train ticket"],
    });
    catalog(&[
        described("calendar", "create_event", "Creates an event in the calendar."),
        described("mail", "send_email", "Sends an email to a recipient."),
        described("files", "delete_document", "Deletes a document for good."),
        described("github", "authenticate", "Authenticates with an access token."),
        described("weather", "forecast", "Returns temperature and humidity."),
        described("fonts", "typeface", "Returns forecasting letters."),
        described("hr", "cafe_menu", "Le menu du café à midi."),
        with("hr", "expenses", &examples),
        described("lang", "translate", "Translates text between languages, 翻译文本."),
    ])
}

/// The best match, and how its first reason came about.
fn check(query: &str, name: &str, how: &str) {
    let found = find(&office(), query);
    assert_eq!(names(&found).first().copied(), Some(name), "{query}: {found:?}");
    assert_eq!(found[0].why.first().map(|why| why.how.as_str()), Some(how), "{query}: {found:?}");
}

#[test]
fn slips_are_forgiven() {
    for slip in ["calender", "calednar", "calenda", "ccalendar", "clendar"] {
        check(slip, "calendar.create_event", "typo");
    }
    check("recipeint", "mail.send_email", "typo");
    check("tranlsation", "lang.translate", "typo");
    check("documnet", "files.delete_document", "typo");
    check("temprature", "weather.forecast", "typo");
    // In names first.
    check("forecsat", "weather.forecast", "typo");
    // Too short, too far, and what is there as it is.
    assert_eq!(names(&find(&office(), "teh")), [""; 0]);
    assert_eq!(names(&find(&office(), "kalindr")), [""; 0]);
    assert!(find(&office(), "document").iter().all(|tool| tool.why.iter().all(|why| why.how != "typo")));
}

#[test]
fn beginnings_and_words_in_one_are_found() {
    check("auth", "github.authenticate", "prefix");
    check("doc*", "files.delete_document", "prefix");
    check("type face", "fonts.typeface", "joined");
    check("deletedocument", "files.delete_document", "joined");
    // Who gives a beginning means words that begin so, and not what else they could be called.
    let tools = catalog(&[described("a", "create_thing", "A thing."), described("b", "report", "Makes a report.")]);
    assert_eq!(names(&find(&tools, "creat*")), ["a.create_thing"]);
    assert_eq!(names(&find(&tools, "create")), ["a.create_thing", "b.report"]);
}

#[test]
fn accents_and_scripts_are_one_spelling() {
    check("CAFE", "hr.cafe_menu", "word");
    check("ｃａｆé", "hr.cafe_menu", "word");
    check("翻译", "lang.translate", "word");
    check("译", "lang.translate", "word");
}

#[test]
fn synonyms_are_found_and_said_to_be_some() {
    check("remove", "files.delete_document", "synonym");
    check("inbox", "mail.send_email", "synonym");
    check("appointment", "calendar.create_event", "synonym");
    let own = Thesaurus::starter().with(&[vec!["PTO".to_owned(), "calendar".to_owned()]]).unwrap();
    assert_eq!(names(&find(&office(), "pto")), [""; 0]);
    assert_eq!(names(&find_with(&office(), "pto", &own)), ["calendar.create_event"]);
    let phrase = Arc::new(Thesaurus::empty()).with(&[vec!["sign in".to_owned(), "access token".to_owned()]]).unwrap();
    assert_eq!(names(&find_with(&office(), "how do I sign in", &phrase)), ["github.authenticate"]);
}

#[test]
fn groups_that_mean_nothing_are_refused() {
    let check = |groups: &[&[&str]], index: usize, rule: &str| {
        let groups: Vec<Vec<String>> =
            groups.iter().map(|group| group.iter().map(|word| (*word).to_owned()).collect()).collect();
        let bad = Arc::new(Thesaurus::empty()).with(&groups).unwrap_err();
        assert_eq!((bad.index, bad.rule.as_str()), (index, rule));
    };
    check(&[&["a", "b"], &["alone"]], 1, "has 1 words; 2 to 32 are allowed");
    check(&[&["a", "--"]], 0, "has `--`, which is not 1 to 4 words of letters and digits");
    check(
        &[&["one two three four five", "b"]],
        0,
        "has `one two three four five`, which is not 1 to 4 words of letters and digits",
    );
}

#[test]
fn declared_examples_are_found() {
    let found = find(&office(), "I want my money back for a train");
    assert_eq!(names(&found)[0], "hr.expenses");
    assert!(found[0].why.iter().all(|why| why.fields == ["search_examples"]), "{found:?}");
    assert_eq!((found[0].title.as_str(), found[0].description.as_str()), ("Expense claim", "Files a claim."));
}

#[test]
fn reasons_name_the_words_and_where_they_are() {
    let found = find(&office(), "sending emails");
    let why: Vec<_> =
        found[0].why.iter().map(|why| (why.asked.as_str(), why.how.as_str(), why.fields.join(" "))).collect();
    let both = "name description".to_owned();
    assert_eq!(why, [("emails", "word", both.clone()), ("sending", "word", both)]);
    assert!(found[0].score > 0 && found[0].next_action == "load_schema_then_call");
    assert_eq!(find(&office(), "mail.send_email")[0].why[0].how, "name");
    assert_eq!(find(&office(), "use files.delete_document now")[0].why[0].how, "name_within");
}

#[test]
fn descriptions_are_bounded() {
    let long = catalog(&[described("a", "long", &"word \n".repeat(2_000))]);
    let found = find(&long, "word");
    assert_eq!(found[0].description.chars().count(), 301);
    assert!(!found[0].description.contains('\n'));
}
