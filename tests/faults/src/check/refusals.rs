//! C12: who is refused for want of room is told when to come again, and what is refused is not there.

use super::facts::Facts;
use super::verdict::{Check, Verdict};
use crate::history::Answer;

pub(super) fn check(facts: &Facts<'_>, verdict: &mut Verdict) {
    for (key, answers) in &facts.answers {
        let mut exists = false;
        let mut only_refused = true;
        for answer in answers {
            match answer {
                Answer::Exhausted { retry_info } => {
                    verdict.refusals += 1;
                    if !retry_info {
                        verdict.red(Check::C12, format!("`{key}` was refused without a word when to come again"));
                    }
                }
                Answer::Refused { .. } => {}
                Answer::Accepted { .. } => (exists, only_refused) = (true, false),
                Answer::Unknown => only_refused = false,
            }
        }
        if only_refused && !exists && facts.by_key.contains_key(key) {
            verdict.red(Check::C12, format!("`{key}` was refused every time, and exists"));
        }
    }
}
