//! Names of decisions.

use toolplane_records::ids::{DecisionId, InvocationId};
use toolplane_records::payload::Digest;

/// Longest part of an invocation's id that its decisions carry, so that theirs stays an identifier.
const CARRIED: usize = 200;

/// The id of the decision that `facts` determine for an invocation: the same facts give the same id.
pub(crate) fn decision_id(invocation: &InvocationId, facts: &[&str]) -> DecisionId {
    let digest = Digest::of(format!("{:?}", (invocation, facts)).as_bytes()).hex();
    let carried = &invocation.as_str()[..invocation.as_str().len().min(CARRIED)];
    DecisionId::from_trusted(format!("perm_{carried}_{}", &digest[..16]))
}

#[cfg(test)]
mod tests {
    use super::{InvocationId, decision_id};

    #[test]
    fn the_same_facts_have_the_same_name_and_others_another() {
        let call = InvocationId::from_trusted("inv_1");
        let first = decision_id(&call, &["input", "policy"]);
        assert_eq!(first, decision_id(&call, &["input", "policy"]));
        assert_ne!(first, decision_id(&call, &["input2", "policy"]));
        assert_ne!(first, decision_id(&call, &["inputpolicy"]));
    }

    #[test]
    fn the_longest_invocation_still_gives_an_identifier() {
        let call = InvocationId::from_trusted("i".repeat(256));
        assert!(decision_id(&call, &["x"]).as_str().len() <= 256);
    }
}
