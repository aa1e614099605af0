//! Secrets that programs write.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use toolplane_credentials::CredentialError;
use toolplane_wait::eventually;

use crate::house::{House, get, look};

fn config(argv: &[&str], more: &str) -> String {
    let argv: Vec<String> = argv.iter().map(|arg| format!("{arg:?}")).collect();
    format!(
        "[[credentials]]\nname = 'key'\nkind = 'api_key'\ntools = ['*']\n{more}\n\
         [credentials.source.command]\nargv = [{}]\ntimeout_ms = 20000\n",
        argv.join(", ")
    )
}

#[tokio::test]
async fn a_program_is_run_once_for_all_who_wait_and_again_by_age() {
    let house = House::new();
    let runs = house.path("runs");
    let script = format!("echo run >> {}; echo secret-number-$(wc -l < {})", runs.display(), runs.display());
    // `wc` is found where a shell without PATH looks.
    let broker = house.broker(&config(&["/bin/sh", "-c", &script], "refresh_ms = 60000\nmax_age_ms = 120000"));
    let counted = || std::fs::read_to_string(&runs).unwrap_or_default().lines().count();
    let all = join_all((0..20).map(|_| look(&broker, "key"))).await;
    assert_eq!((all.iter().filter(|one| *one == "secret-number-1").count(), counted()), (20, 1));
    house.later(59);
    assert_eq!(look(&broker, "key").await, "secret-number-1");
    house.later(1);
    assert_eq!((look(&broker, "key").await.as_str(), counted()), ("secret-number-2", 2));
    // Refused by its provider: looked at again, whatever its age is.
    let held = get(&broker, "key").await.unwrap();
    broker.refused(&held);
    assert_eq!((look(&broker, "key").await.as_str(), counted()), ("secret-number-3", 3));
    broker.refused(&held);
    assert_eq!(counted(), 3, "an old value says nothing about the new one");
    // A look at all sources is no use of one: nothing is run while there is a value.
    house.later(30);
    broker.load().await;
    house.later(40);
    broker.load().await;
    assert_eq!(counted(), 3);
    // What was used is renewed, and once only.
    look(&broker, "key").await;
    assert_eq!(counted(), 4);
    house.later(61);
    broker.renew().await;
    assert_eq!(counted(), 5);
    house.later(59);
    broker.load().await;
    house.later(2);
    broker.renew().await;
    assert_eq!(counted(), 5, "nobody used the last one");
}

#[tokio::test]
async fn a_program_that_fails_leaves_the_last_value_for_a_while() {
    let house = House::new();
    let flag = house.path("works");
    house.write("works", "");
    let script = format!("test -e {} || exit 3; echo first-secret", flag.display());
    let broker = house.broker(&config(&["/bin/sh", "-c", &script], "refresh_ms = 60000\nmax_age_ms = 120000"));
    assert_eq!(look(&broker, "key").await, "first-secret");
    std::fs::remove_file(&flag).unwrap();
    house.later(61);
    assert_eq!(look(&broker, "key").await, "first-secret");
    assert_eq!(broker.names()[0].fault.as_ref().unwrap().1, "its command ended with exit code 3");
    house.later(60);
    assert_eq!(look(&broker, "key").await, "credential.unreadable");
    house.write("works", "");
    assert_eq!(look(&broker, "key").await, "credential.unreadable", "it was tried a moment ago");
    house.later(30);
    assert_eq!(look(&broker, "key").await, "first-secret");
}

#[tokio::test]
async fn a_program_sees_nothing_of_the_worker() {
    let house = House::new();
    // An environment, if there was one, would be long enough for a secret.
    let broker = house.broker(&config(&["/usr/bin/env"], ""));
    assert!(get(&broker, "key").await.unwrap_err().to_string().contains("it has fewer than 8 bytes"));
    let broker =
        house.broker(&config(&["/bin/sh", "-c", "pwd; cat; echo loud-noise >&2; echo $$ | wc -c >/dev/null"], ""));
    assert!(get(&broker, "key").await.unwrap_err().to_string().contains("it has fewer than 8 bytes"), "it is `/`");
}

#[tokio::test]
async fn what_a_program_does_is_bounded() {
    let house = House::new();
    for (argv, code, text) in [
        (&["/no/such/program"][..], "credential.unreadable", "cannot be started"),
        (
            &["/bin/sh", "-c", "while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done"],
            "credential.unreadable",
            "more than 16384",
        ),
        (&["/bin/sh", "-c", "kill -9 $$"], "credential.unreadable", "ended by a signal"),
        (&["/bin/sh", "-c", "echo two-lines; echo of-it"], "credential.unreadable", "visible ASCII"),
    ] {
        let error = get(&house.broker(&config(argv, "")), "key").await.unwrap_err();
        assert_eq!(error.code().as_str(), code);
        assert!(error.to_string().contains(text), "{argv:?}: {error}");
    }
}

#[tokio::test]
async fn a_program_that_is_late_ends_with_all_it_started() {
    let house = House::new();
    let pid_file = house.path("pid");
    let script = format!("sleep 600 & echo $! > {}; wait", pid_file.display());
    let text = config(&["/bin/sh", "-c", &script], "").replace("20000", "300");
    let began = Instant::now();
    let broker = house.broker(&text);
    let error = get(&broker, "key").await.unwrap_err();
    assert!(matches!(error, CredentialError::Unavailable { .. }), "{error}");
    assert_eq!(error.to_tool_error().retry_after_ms, Some(1000));
    assert!(began.elapsed() < Duration::from_secs(60));
    gone(&pid_file).await;
    // So it does when nobody waits any more.
    std::fs::remove_file(&pid_file).unwrap();
    let broker = house.broker(&config(&["/bin/sh", "-c", &script], ""));
    let mut waiting = Box::pin(get(&broker, "key"));
    let started = eventually("the program writes its number", Duration::from_secs(20), async || {
        let one_look = tokio::time::timeout(Duration::from_millis(10), &mut waiting).await;
        assert!(one_look.is_err());
        std::fs::read_to_string(&pid_file).ok().filter(|text| text.ends_with('\n'))
    });
    started.await;
    drop(waiting);
    gone(&pid_file).await;
}

/// Waits until the process whose number is in the file has ended.
async fn gone(pid_file: &std::path::Path) {
    let pid = std::fs::read_to_string(pid_file).unwrap().trim().to_owned();
    eventually("the process is gone", Duration::from_secs(20), async || {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // One that nobody has taken note of is a zombie for a moment.
        (state.is_empty() || state.contains(") Z ")).then_some(())
    })
    .await;
}
