//! What taints a call: what was found in outputs its caller was given before (ours).
//!
//! A label says what was found, and the calls say where. Agents have labels of their own for what they read elsewhere
//! ([`CallAssurance::taints`](crate::assurance::CallAssurance)); these here are given by the platform, to whatever a session does
//! next, whether the agent says so or not.

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use crate::ids::InvocationId;
use crate::time::Timestamp;

/// The output had text that speaks to a model.
pub const INSTRUCTIONS: &str = "instructions";
/// The output had markup that loads or runs something where it is shown.
pub const MARKUP: &str = "markup";
/// The output had characters that hide text, or turn it round.
pub const INVISIBLE: &str = "invisible";
/// The output came from a tool whose author is not trusted.
pub const UNTRUSTED: &str = "untrusted";
/// Any of these: what rules say that are about all of them.
pub const TOOL_OUTPUT: &str = "tool_output";

/// Labels that outputs are given by the platform.
pub const LABELS: &[&str] = &[INSTRUCTIONS, MARKUP, INVISIBLE, UNTRUSTED];

/// Most calls that are named for one label: the first and the newest.
pub const MAX_CALLS: usize = 8;

/// One label, and the calls whose outputs it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Taint {
    /// What was found, one of [`LABELS`].
    pub label: SmolStr,
    /// Calls whose outputs had it, the newest last; of many, the first and the newest.
    pub invocation_ids: Vec<InvocationId>,
    /// When the first of them ended.
    pub since: Timestamp,
}

/// Whether the platform itself knows of a session whether it has this label.
pub fn is_followed(label: &str) -> bool {
    label == TOOL_OUTPUT || LABELS.contains(&label)
}

/// Whether `label`, as a rule says it, is among `taints`.
pub fn has(taints: &[Taint], label: &str) -> bool {
    taints.iter().any(|taint| label == TOOL_OUTPUT || taint.label == label)
}

/// Adds to `taints` that an output of `call` had `label` at `now`. True when anything is different now.
pub fn add(taints: &mut Vec<Taint>, label: &str, call: &InvocationId, now: Timestamp) -> bool {
    let Some(known) = taints.iter_mut().find(|taint| taint.label == label) else {
        let (label, invocation_ids) = (label.into(), vec![call.clone()]);
        taints.push(Taint { label, invocation_ids, since: now });
        taints.sort_by(|one, other| one.label.cmp(&other.label));
        return true;
    };
    if known.invocation_ids.contains(call) {
        return false;
    }
    if known.invocation_ids.len() >= MAX_CALLS {
        // The first half stays: that is where it began.
        known.invocation_ids.remove(MAX_CALLS / 2);
    }
    known.invocation_ids.push(call.clone());
    true
}

/// As people read it: `instructions (inv_1, inv_2), untrusted (inv_2)`; of many calls the newest.
pub fn told(taints: &[Taint]) -> String {
    const NAMED: usize = 2;
    let one = |taint: &Taint| {
        let newest = taint.invocation_ids.iter().rev().take(NAMED).map(InvocationId::as_str).collect::<Vec<_>>();
        format!("{} ({})", taint.label, newest.join(", "))
    };
    taints.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(number: usize) -> InvocationId {
        InvocationId::from_trusted(format!("inv_{number}"))
    }

    #[test]
    fn of_many_calls_the_first_and_the_newest_are_named() {
        let (mut taints, now) = (Vec::new(), Timestamp::from_millis(1));
        assert!(add(&mut taints, UNTRUSTED, &call(0), now));
        assert!(!add(&mut taints, UNTRUSTED, &call(0), now), "known already");
        (1..20).for_each(|number| assert!(add(&mut taints, UNTRUSTED, &call(number), now)));
        assert!(add(&mut taints, INSTRUCTIONS, &call(3), now));
        let [instructions, untrusted] = taints.as_slice() else { panic!("{taints:?}") };
        assert_eq!(instructions.invocation_ids, [call(3)]);
        assert_eq!(untrusted.invocation_ids, [0, 1, 2, 3, 16, 17, 18, 19].map(call));
        assert_eq!(told(&taints), "instructions (inv_3), untrusted (inv_19, inv_18)");
    }

    #[test]
    fn one_label_stands_for_all() {
        let mut taints = Vec::new();
        assert!(!has(&taints, TOOL_OUTPUT));
        add(&mut taints, MARKUP, &call(1), Timestamp::from_millis(1));
        assert!(has(&taints, TOOL_OUTPUT) && has(&taints, MARKUP) && !has(&taints, UNTRUSTED));
        assert!(is_followed(TOOL_OUTPUT) && is_followed(INVISIBLE) && !is_followed("web"));
    }
}
