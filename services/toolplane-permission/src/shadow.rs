//! Rules that only watch: what they would have said is logged and counted, and changes nothing.

use std::collections::HashMap;

use parking_lot::Mutex;
use toolplane_records::vocabulary::{Behavior, RuleFit};

use crate::decide::Deciding;

/// Most rules that are counted apart; further ones are only logged.
const MAX_COUNTED: usize = 10_000;

/// How often watching rules had something to say, since the process started.
#[derive(Debug, Default)]
pub(crate) struct Shadow(Mutex<HashMap<String, u64>>);

impl Shadow {
    /// Notes every watching rule that fits the call, with what was decided without it.
    pub(crate) fn watch(&self, deciding: &Deciding) {
        for hit in &deciding.verdict().shadow {
            let times = self.count(&hit.rule_id);
            tracing::info!(
                rule_id = hit.rule_id,
                would = %hit.behavior,
                sure = hit.fit == RuleFit::Yes,
                decided = %deciding.verdict().behavior,
                differs = hit.behavior != deciding.verdict().behavior && hit.behavior != Behavior::Passthrough,
                invocation_id = %deciding.request().invocation_id,
                tool = deciding.request().tool.facts.full_name,
                times,
                "a watching rule fits"
            );
        }
    }

    fn count(&self, rule_id: &str) -> u64 {
        let mut counts = self.0.lock();
        if let Some(count) = counts.get_mut(rule_id) {
            *count += 1;
            return *count;
        }
        if counts.len() < MAX_COUNTED {
            counts.insert(rule_id.to_owned(), 1);
        }
        1
    }
}
