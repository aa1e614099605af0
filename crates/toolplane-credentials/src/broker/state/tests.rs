//! When a source is looked at again, by a clock that the test turns.

use super::*;
use crate::config::CredentialKind;
use crate::secret::Secret;
use crate::value::Value;

const MINUTE: Duration = Duration::from_secs(60);

fn credential(generation: u64) -> Credential {
    Credential::new("a", CredentialKind::Bearer, generation, Value::Token(Secret::new("0123456789")))
}

fn by_age() -> Policy {
    Policy::ByAge { refresh: 5 * MINUTE, max_age: 60 * MINUTE }
}

#[test]
fn a_command_is_run_again_by_age_and_its_value_outlives_failures_for_a_while() {
    let (mut state, start, policy) = (State::default(), Instant::now(), by_age());
    assert_eq!(state.want(policy, start), Want::Read);
    state.took(credential(1), None, None, start);
    assert_eq!(state.want(policy, start + 4 * MINUTE), Want::Use);
    assert_eq!(state.want(policy, start + 5 * MINUTE), Want::Renew);
    state.failed(SourceFault::CommandLate, start + 5 * MINUTE);
    assert_eq!(state.want(policy, start + 5 * MINUTE), Want::Use, "it was tried a moment ago");
    assert_eq!(state.want(policy, start + 6 * MINUTE), Want::Renew);
    assert!(state.usable(policy, start + 60 * MINUTE).is_some());
    assert_eq!(state.want(policy, start + 61 * MINUTE), Want::Read);
    assert!(state.usable(policy, start + 61 * MINUTE).is_none());
    state.failed(SourceFault::ExitCode(1), start + 61 * MINUTE);
    assert_eq!(state.want(policy, start + 61 * MINUTE), Want::Fail);
}

#[test]
fn pauses_grow_and_end() {
    let (mut state, now) = (State::default(), Instant::now());
    for seconds in [1, 2, 4, 8, 16, 30, 30] {
        state.failed(SourceFault::ServerAway, now);
        assert_eq!(state.retry_after(now), Duration::from_secs(seconds));
        assert_eq!(state.want(Policy::ByLifetime, now + Duration::from_secs(seconds) - PAUSE / 2), Want::Fail);
        assert_eq!(state.want(Policy::ByLifetime, now + Duration::from_secs(seconds)), Want::Read);
    }
    state.took(credential(1), None, Some(MINUTE * 10), now);
    assert_eq!((state.want(Policy::ByLifetime, now), state.fault()), (Want::Use, None));
}

#[test]
fn a_token_is_renewed_before_its_end_and_never_used_after_it() {
    for (lifetime, renew, over) in [(3600, 2880, 3590), (120, 60, 110), (10, 5, 9), (1, 0, 0)] {
        let (mut state, start, policy) = (State::default(), Instant::now(), Policy::ByLifetime);
        state.took(credential(1), None, Some(Duration::from_secs(lifetime)), start);
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        assert_eq!(state.want(policy, at(renew) + Duration::from_millis(500)), Want::Renew, "{lifetime}");
        assert!(renew == 0 || state.want(policy, at(renew - 1)) == Want::Use, "{lifetime}");
        state.failed(SourceFault::ServerAway, at(renew));
        assert!(over == 0 || state.usable(policy, at(over) - PAUSE / 2).is_some(), "{lifetime}");
        assert!(state.usable(policy, at(over) + PAUSE).is_none(), "{lifetime}");
        assert_eq!(state.want(policy, at(over) + 2 * PAUSE), Want::Read, "{lifetime}");
    }
}

#[test]
fn tokens_that_are_refused_one_after_the_other_are_asked_for_ever_more_slowly() {
    let (mut state, mut now, policy) = (State::default(), Instant::now(), Policy::ByLifetime);
    let mut waits = Vec::new();
    for generation in 1..=5 {
        state.took(credential(generation), None, Some(60 * MINUTE), now);
        assert!(state.refused(generation, policy, now));
        assert!(!state.refused(generation, policy, now), "it is dropped already");
        let wait =
            (0..60).find(|seconds| state.want(policy, now + Duration::from_secs(*seconds)) == Want::Read).unwrap();
        assert_eq!(state.fault(), Some(SourceFault::TokensRefused));
        waits.push(wait);
        now += Duration::from_secs(wait);
    }
    assert_eq!(waits, [0, 1, 2, 4, 8]);
    // One that was good for a while is another matter.
    state.took(credential(6), None, Some(60 * MINUTE), now);
    state.refused(6, policy, now + 2 * MINUTE);
    assert_eq!(state.want(policy, now + 2 * MINUTE), Want::Read);
}

#[test]
fn what_was_taken_away_or_laid_open_is_not_used_any_more() {
    let policy = Policy::EveryUse { max_age: MINUTE };
    for (fault, stays) in [
        (SourceFault::NoFile, false),
        (SourceFault::NotSet, false),
        (SourceFault::Exposed(0o644), false),
        (SourceFault::Foreign, false),
        (SourceFault::TooShort, true),
        (SourceFault::Io, true),
    ] {
        let (mut state, now) = (State::default(), Instant::now());
        state.took(credential(1), None, None, now);
        state.failed(fault, now);
        assert_eq!(state.usable(policy, now).is_some(), stays, "{fault}");
        assert!(state.usable(policy, now + 2 * MINUTE).is_none(), "{fault}");
        assert_eq!(state.want(policy, now), Want::Read, "files are looked at before every use");
    }
}

#[test]
fn a_refused_value_of_a_command_is_looked_for_again_and_used_meanwhile() {
    let (mut state, now) = (State::default(), Instant::now());
    state.took(credential(2), None, None, now);
    assert!(!state.refused(1, by_age(), now), "an older one says nothing about this one");
    assert_eq!(state.want(by_age(), now), Want::Use);
    assert!(state.refused(2, by_age(), now));
    assert_eq!(state.want(by_age(), now), Want::Renew);
    state.saw_the_same(now);
    assert_eq!(state.want(by_age(), now), Want::Use);
}
