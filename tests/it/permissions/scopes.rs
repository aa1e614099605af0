//! Rules that are only watched, that end by themselves, and that are about some calls only.

use std::time::Duration;

use toolplane_proto::v1;
use toolplane_proto::v1::Behavior;

use super::{bed, command, explain, shell};

#[tokio::test]
async fn a_watched_rule_is_reported_and_decides_nothing() {
    let bed = bed().await;
    shell(&bed).says(0, &["rules", "add", "Bash(ls:*)", "--deny", "--shadow", "--id", "trial"]);
    let explained = explain(&bed, command(&bed, "ls")).await;
    assert_eq!(explained.decision.unwrap().behavior(), Behavior::Allow);
    let explanation = explained.explanation.unwrap();
    let watched: Vec<_> = explanation.rules.iter().filter(|rule| rule.shadow).collect();
    assert_eq!(watched.len(), 1, "{:?}", explanation.rules);
    assert!(!watched[0].decided && watched[0].behavior() == Behavior::Deny);
    assert!(!bed.followed(command(&bed, "ls")).await.1.is_error);
}

#[tokio::test]
async fn a_rule_ends_by_itself() {
    let bed = bed().await;
    shell(&bed).says(0, &["rules", "add", "Bash(sort:*)", "--allow", "--expires", "2s"]);
    let spec = || v1::InvocationSpec { no_approver: true, ..command(&bed, "sort notes/a.txt") };
    assert!(!bed.followed(spec()).await.1.is_error);
    toolplane_wait::pause(Duration::from_millis(3_500), "the rule expires on the real clock").await;
    assert!(bed.followed(spec()).await.1.is_error, "it outlived its end");
}

#[tokio::test]
async fn a_rule_of_a_session_is_about_that_session() {
    let bed = bed().await;
    let words = ["rules", "add", "Bash(sort:*)", "--allow", "--source", "session", "--scope", "session=one"];
    shell(&bed).says(0, &words);
    let of =
        |session: &str| v1::InvocationSpec { session_ref: session.to_owned(), ..command(&bed, "sort notes/a.txt") };
    for (session, behavior) in [("one", Behavior::Allow), ("two", Behavior::Ask), ("", Behavior::Ask)] {
        let decision = explain(&bed, of(session)).await.decision.unwrap();
        assert_eq!(decision.behavior(), behavior, "session `{session}`");
    }
}

/// A rule whose own example does not hold is refused, with the others of its request.
#[tokio::test]
async fn examples_are_checked_before_a_rule_counts() {
    let bed = bed().await;
    let shell = shell(&bed);
    let wrong = shell.complains(2, &["rules", "add", "Bash(ls:*)", "--deny", "--match", "lsof"]);
    assert!(wrong.contains("rules[0].match[0]"), "{wrong}");
    let wrong = shell.complains(2, &["rules", "add", "Bash(", "--deny"]);
    assert!(wrong.contains("matcher"), "{wrong}");
    assert!(!bed.followed(command(&bed, "ls")).await.1.is_error);
    let good = ["rules", "add", "Bash(ls:*)", "--deny", "--match", "ls -l", "--not-match", "lsof"];
    shell.says(0, &[&good[..], &["--check"]].concat());
    assert!(!bed.followed(command(&bed, "ls")).await.1.is_error, "a check changed the rules");
    shell.says(0, &good);
    assert!(bed.followed(command(&bed, "ls")).await.1.is_error);
}
