//! What is learned of use, how long it counts, and how far it moves an answer.

use serde_json::json;
use toolplane_records::ids::ToolId;
use toolplane_records::search::FoundTool;

use super::{Learned, Lesson, Notebook, words_of};
use crate::catalog::Catalog;
use crate::fixtures::{catalog, registration, tool_json};
use crate::search::{Everything, Question, Thesaurus, search};

const HALF_LIFE: u32 = 30;
const TODAY: u32 = 20_000;

fn office() -> Catalog {
    let described = |namespace: &str, name: &str, description: &str| {
        let mut json = tool_json(namespace, name);
        json["declaration"]["description"] = json!(description);
        registration(&json)
    };
    catalog(&[
        described("hr", "leave", "Asks for days off."),
        described("hr", "payslip", "The payslip of a month."),
        described("mail", "send", "Sends a message."),
        described("chat", "send", "Sends a message to a channel."),
    ])
}

fn lesson(question: &str, tool: &str, teacher: u32, day: u32) -> Lesson {
    let tool = ToolId::parse(&format!("tool_{tool}")).unwrap();
    Lesson { words: words_of(question), tool, teacher, day, weight: 1_000, era: 0 }
}

fn learned(lessons: &[Lesson]) -> Learned {
    let mut notebook = Notebook::default();
    for lesson in lessons {
        notebook.learn(lesson, HALF_LIFE);
    }
    Learned::of([&notebook], HALF_LIFE)
}

fn found(learned: &Learned, day: u32, text: &str) -> Vec<FoundTool> {
    let (tools, thesaurus) = (office(), Thesaurus::empty());
    let learned = Some(learned.on(day));
    let question =
        Question { text, filters: &[], limit: 10, after: None, thesaurus: &thesaurus, learned, meaning: None };
    search(&Everything::default(), &tools.index().snapshot(), &question).unwrap().result.found
}

fn names(found: &[FoundTool]) -> Vec<&str> {
    found.iter().map(|tool| tool.name.as_str()).collect()
}

#[test]
fn a_word_no_tool_has_leads_to_the_tool_it_led_to() {
    assert_eq!(names(&found(&learned(&[]), TODAY, "vacation")), [""; 0]);
    let known = learned(&[lesson("book my vacation", "hr_leave", 1, TODAY), lesson("vacations", "hr_leave", 2, TODAY)]);
    let told = found(&known, TODAY, "vacation in June");
    assert_eq!(names(&told), ["hr.leave"]);
    let why = &told[0].why[0];
    assert_eq!((why.asked.as_str(), why.how.as_str(), why.times), ("vacation", "use", 2));
    // What is asked for by all else still holds.
    assert_eq!(names(&found(&known, TODAY, "vacation namespace:mail")), [""; 0]);
    assert_eq!(names(&found(&known, TODAY, "vacation -leave")), [""; 0]);
}

#[test]
fn use_moves_the_order_and_says_so_beside_the_words() {
    let both = found(&learned(&[]), TODAY, "send message");
    assert_eq!(both.len(), 2);
    let last = if both[1].name == "chat.send" { "chat_send" } else { "mail_send" };
    let told = found(&learned(&[lesson("send a message", last, 1, TODAY)]), TODAY, "send message");
    assert_eq!(told[0].name, both[1].name);
    let how: Vec<&str> = told[0].why.iter().map(|why| why.how.as_str()).collect();
    assert_eq!(how.iter().filter(|how| **how == "use").count(), 2, "{how:?}");
    assert_eq!(how.iter().filter(|how| **how == "word").count(), 2, "{how:?}");
}

#[test]
fn a_name_stays_a_name_and_a_tool_of_that_word_goes_before_one_it_led_to_once() {
    let known = learned(&[lesson("payslip mail.send", "hr_leave", 1, TODAY)]);
    assert_eq!(names(&found(&known, TODAY, "payslip")), ["hr.payslip", "hr.leave"]);
    let many: Vec<Lesson> = (0..1_000).map(|n| lesson("mail.send", "hr_leave", n, TODAY - n / 10)).collect();
    assert_eq!(names(&found(&learned(&many), TODAY, "mail.send"))[0], "mail.send");
}

#[test]
fn who_repeats_counts_once_a_day_and_a_crowd_is_bounded() {
    let mut notebook = Notebook::default();
    assert!(notebook.learn(&lesson("vacation", "hr_leave", 1, TODAY), HALF_LIFE));
    for _ in 0..100 {
        assert!(!notebook.learn(&lesson("vacation", "hr_leave", 1, TODAY), HALF_LIFE));
    }
    // Told late, of a day before.
    assert!(!notebook.learn(&lesson("vacation", "hr_leave", 2, TODAY - 1), HALF_LIFE));
    let times = |notebook: &Notebook| found(&Learned::of([notebook], HALF_LIFE), TODAY, "vacation")[0].why[0].times;
    assert_eq!(times(&notebook), 1);
    for teacher in 0..100 {
        notebook.learn(&lesson("vacation", "hr_leave", teacher, TODAY), HALF_LIFE);
    }
    assert_eq!(times(&notebook), 8);
}

#[test]
fn what_is_long_ago_counts_less_and_is_forgotten() {
    let known = learned(&[lesson("vacation", "hr_leave", 1, TODAY), lesson("vacation", "hr_leave", 2, TODAY)]);
    let score = |day| found(&known, day, "vacation").first().map(|tool| (tool.score, tool.why[0].times));
    let (now, later) = (score(TODAY).unwrap(), score(TODAY + HALF_LIFE).unwrap());
    assert!(now.0 > later.0, "{now:?} {later:?}");
    assert_eq!((now.1, later.1), (2, 1));
    assert_eq!(score(TODAY + 20 * HALF_LIFE), None);
}

#[test]
fn a_word_that_leads_everywhere_says_little() {
    let sure = found(&learned(&[lesson("vacation", "hr_leave", 1, TODAY)]), TODAY, "vacation")[0].score;
    let everywhere: Vec<Lesson> =
        ["hr_leave", "hr_payslip", "mail_send", "chat_send"].map(|tool| lesson("vacation", tool, 1, TODAY)).to_vec();
    let torn = found(&learned(&everywhere), TODAY, "vacation")[0].score;
    assert!(torn * 3 < sure, "{torn} {sure}");
}

#[test]
fn what_is_forgotten_is_not_written_down_late() {
    let mut notebook = Notebook::default();
    notebook.learn(&lesson("vacation in June", "hr_leave", 1, TODAY), HALF_LIFE);
    notebook.learn(&lesson("money", "hr_payslip", 1, TODAY), HALF_LIFE);
    assert_eq!(notebook.forget(Some(&ToolId::from_trusted("tool_hr_leave"))), (1, 2));
    let found_by = |notebook: &Notebook, word| found(&Learned::of([notebook], HALF_LIFE), TODAY, word).len();
    assert_eq!((found_by(&notebook, "vacation"), found_by(&notebook, "money")), (0, 1));
    assert!(!notebook.learn(&lesson("vacation", "hr_leave", 2, TODAY), HALF_LIFE), "it was learned before");
    let again = Lesson { era: notebook.era(), ..lesson("vacation", "hr_leave", 2, TODAY) };
    assert!(notebook.learn(&again, HALF_LIFE));
    assert_eq!((found_by(&notebook, "vacation"), notebook.forget(None)), (1, (2, 2)));
    assert_eq!((notebook.era(), found_by(&notebook, "money")), (2, 0));
}

#[test]
fn notebooks_stay_small_and_the_weakest_leave() {
    let mut notebook = Notebook::default();
    for teacher in 0..5 {
        notebook.learn(&lesson("vacation", "hr_leave", teacher, TODAY), HALF_LIFE);
    }
    let letters = |n: u32| n.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect::<String>();
    for n in 0..400 {
        notebook.learn(&lesson(&format!("word{}x", letters(n)), "hr_leave", 1, TODAY), HALF_LIFE);
    }
    assert_eq!(notebook.entries().count(), 256);
    for n in 0..3_000 {
        notebook.learn(&lesson("other words", &format!("t{n}"), 1, TODAY), HALF_LIFE);
    }
    assert!(notebook.entries().count() <= 2_000, "{}", notebook.entries().count());
    assert!(notebook.entries().any(|(tool, word, _)| tool.as_str() == "tool_hr_leave" && word == "vacat"));
    let json = serde_json::to_string(&notebook).unwrap();
    assert_eq!(serde_json::from_str::<Notebook>(&json).unwrap(), notebook);
}

#[test]
fn words_are_learned_and_keys_numbers_names_and_what_is_excluded_are_not() {
    assert_eq!(
        words_of("Please find a flight to Paris, flights +hotel -train kind:function 2026 x"),
        ["flight", "pari", "hotel"]
    );
    assert_eq!(words_of("select:mail.send"), [""; 0]);
    assert_eq!(words_of(&"k".repeat(40)), [""; 0]);
}
