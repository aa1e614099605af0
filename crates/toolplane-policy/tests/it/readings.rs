//! A hook and a rule read the same text alike: the hook is asked exactly where a rule of that text denies, or may.

use proptest::prelude::*;
use proptest::test_runner::Config;
use toolplane_matching::subject::Workspace;
use toolplane_matching::{Family, MatchTarget, Matchers, ToolMatching as _};
use toolplane_policy::{Rule, evaluate, rule};
use toolplane_records::vocabulary::{Behavior, RuleSource};

use crate::generate::{any_case, matcher};
use crate::world::{self, Case, now};

fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}

/// Whether a deny of that text has a say about the call.
fn denied(text: &str, case: &Case) -> bool {
    let only = vec![world::rule("only", Behavior::Deny, RuleSource::ProjectSettings, text)];
    let case = Case { rules: only, ..case.clone() };
    evaluate(&case.policy(), &case.call(), now()).matched == ["only"]
}

/// Whether a hook of that text is asked about the call.
fn asked(text: &str, case: &Case) -> bool {
    let matchers: Matchers = text.parse().unwrap_or_else(|fault| panic!("{text}: {fault}"));
    let call = case.call();
    // The workspace of the default settings, as hooks find it in the configuration.
    let workspace = Workspace { root: "/workspace".to_owned(), working_dirs: Vec::new(), trust_repositories: true };
    let subjects = call.tool.subjects(&call.input.to_value(), &workspace);
    let fits = matchers.fit(&MatchTarget::new(&call.tool, &subjects));
    assert!(!fits || matchers.may_fit(&call.tool), "`{text}` fits a call of a tool that it may not fit");
    fits
}

fn any_text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[A-Za-z_.*:]{1,10}",
        proptest::sample::select(Family::WORDS).prop_map(|(word, _)| word.to_owned()),
        "mcp__[a-z*]{0,4}(__[a-z.*]{0,4})?",
        "namespace:[a-z.*]{0,6}",
        "(files|local[.]shell)[.][a-z_*]{0,10}",
    ];
    (word, proptest::option::of("[a-zA-Z*./:{},$ ]{0,12}")).prop_map(|(word, pattern)| match pattern {
        Some(pattern) => format!("{word}({pattern})"),
        None => word,
    })
}

proptest! {
    #![proptest_config(config(20_000))]

    #[test]
    fn a_hook_is_asked_where_a_rule_of_its_text_denies_or_may(text in matcher(), case in any_case()) {
        prop_assert_eq!(asked(&text, &case), denied(&text, &case), "{}", text);
    }

    #[test]
    fn one_of_several_is_asked_like_each_alone(one in matcher(), other in matcher(), case in any_case()) {
        let both = format!("{one}|{other}");
        prop_assert_eq!(asked(&both, &case), denied(&one, &case) || denied(&other, &case), "{}", both);
    }

    #[test]
    fn what_a_rule_refuses_a_hook_refuses(text in any_text(), case in any_case()) {
        let record = world::rule("only", Behavior::Deny, RuleSource::ProjectSettings, &text);
        let by_rule = Rule::from_record(&record).is_ok() && rule::slip(&record).is_none();
        prop_assert_eq!(text.parse::<Matchers>().is_ok(), by_rule, "{}", text);
        if by_rule {
            prop_assert_eq!(asked(&text, &case), denied(&text, &case), "{}", text);
        }
    }
}
