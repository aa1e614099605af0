//! Decisions inside this process: from the facts of a call to the verdict, commands, paths and URLs parsed anew each time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use toolplane_cedar::{CedarPolicies, PolicyText};
use toolplane_policy::{CallFacts, OrgPolicy, Policy, PolicySettings, RuleSet, evaluate};
use toolplane_records::rule::PermissionRule;
use toolplane_records::time::Timestamp;
use toolplane_testkit::Problem;

use super::Figures;
use super::rules::CEDAR;

/// Decisions before measuring starts.
const WARM_UP: usize = 2_000;

/// The organisation's policies of the bench.
pub(super) fn policies() -> Result<Arc<dyn OrgPolicy>, Problem> {
    let loaded = CedarPolicies::load(&[PolicyText::new("bench.cedar", CEDAR)], None, &PolicySettings::default());
    let policies = loaded.map_err(|faults| {
        let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
        Problem::Missing(format!("policies without faults: {}", faults.join("; ")))
    })?;
    Ok(Arc::new(policies))
}

/// Decides these calls in turn on one thread.
pub(super) fn run(
    rules: &[PermissionRule],
    org: Option<Arc<dyn OrgPolicy>>,
    calls: Vec<CallFacts>,
    time: Duration,
) -> Result<Figures, Problem> {
    let rules = RuleSet::build(rules).map_err(|faults| {
        let first = faults.first().map(|fault| format!("{}: {}", fault.field, fault.description)).unwrap_or_default();
        Problem::Missing(format!("rules without faults: {first}"))
    })?;
    let policy = Policy { org, ..Policy::of(rules) };
    let now = Timestamp::from_millis(1_700_000_000_000);
    let mut nanos: Vec<u64> = Vec::new();
    let mut begin = Instant::now();
    for turn in 0.. {
        if turn == WARM_UP {
            begin = Instant::now();
        }
        if turn > WARM_UP && begin.elapsed() >= time {
            break;
        }
        // A call that was never evaluated: what is parsed of it once is not parsed yet.
        let call = calls[turn % calls.len()].clone();
        let before = Instant::now();
        let verdict = evaluate(&policy, &call, now);
        let took = before.elapsed();
        std::hint::black_box(&verdict);
        if turn >= WARM_UP {
            nanos.push(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
        }
    }
    let per_second = nanos.len() as f64 / nanos.iter().sum::<u64>() as f64 * 1e9;
    nanos.sort_unstable();
    let at = |percent: usize| nanos.get(nanos.len() * percent / 100).copied().unwrap_or_default() as f64 / 1000.0;
    Ok(Figures { per_second, p50_us: at(50), p99_us: at(99) })
}

#[cfg(test)]
mod tests {
    use toolplane_records::vocabulary::Behavior::{self, Allow, Deny};

    use super::*;
    use crate::bench::decide::calls::{templates, unreadable};
    use crate::bench::decide::rules::{about_commands, rules};

    /// The bench measures decisions that mean something, and the same ones whatever the number of rules.
    #[test]
    fn calls_are_allowed_and_denied_as_the_common_rules_say() {
        for count in [10, 1_000] {
            let policy = Policy::of(RuleSet::build(&rules(count)).unwrap());
            let decide = |facts| evaluate(&policy, &facts, Timestamp::from_millis(0)).behavior;
            let found: Vec<Behavior> = templates().iter().map(|template| decide(template.facts())).collect();
            assert_eq!(found, [Allow, Deny, Deny, Deny, Allow, Deny, Allow, Allow, Deny, Deny], "{count} rules");
        }
    }

    /// Any rule may be about what cannot be seen, so each of them has a say.
    #[test]
    fn every_rule_may_be_about_an_unreadable_command() {
        let policy = Policy::of(RuleSet::build(&about_commands(1_000)).unwrap());
        for call in unreadable() {
            let verdict = evaluate(&policy, &call, Timestamp::from_millis(0));
            assert_eq!((verdict.behavior, verdict.matched.len()), (Deny, 500));
        }
    }

    #[test]
    fn the_policies_have_no_faults() {
        let loaded = CedarPolicies::load(&[PolicyText::new("bench.cedar", CEDAR)], None, &PolicySettings::default());
        assert_eq!(loaded.unwrap().len(), crate::bench::decide::rules::POLICIES);
    }
}
