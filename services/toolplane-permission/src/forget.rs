//! What of a damaged record may be taken out for good when there is no backup, and what goes with it.

use toolplane_backend::forget::{Along, Entries, Verdict};
use toolplane_store::{DamageLocation, Family};

use crate::rules::stored;

/// Judges damage in the permission role's store. A rule may have denied anything, so it is never just forgotten; a
/// question is, and then the call that waits for its answer is asked about again or refused.
pub fn forget(place: &DamageLocation) -> Verdict {
    match place {
        DamageLocation::Record(key) if stored::is_record(key) => Verdict::Stays(
            "it is a rule, and its tenant is denied everything until an operator replaces it: revoke it with `toolplane rules \
             revoke` while the permission role runs, and add it again",
        ),
        DamageLocation::Record(key) if key.family == Family::Approval => {
            // The name of an approval is its member in every index.
            let entries =
                Some(Entries { member: key.id.clone(), stand_for_it: |index| index.starts_with("approvals") });
            Verdict::Goes(Along { entries, ..Along::record(key) })
        }
        other => Verdict::usual(other),
    }
}

#[cfg(test)]
mod tests {
    use toolplane_records::ids::TenantId;
    use toolplane_store::RecordKey;

    use super::*;

    #[test]
    fn a_question_goes_and_a_rule_stays() {
        let rule = stored::record(&TenantId::from_trusted("acme"), "rule/acme/no_rm");
        let Verdict::Stays(instead) = forget(&DamageLocation::Record(rule)) else { panic!("a rule is forgotten") };
        assert!(instead.contains("toolplane rules revoke"), "{instead}");
        let key = RecordKey::new(Family::Approval, "acme|appr_1");
        let Verdict::Goes(along) = forget(&DamageLocation::Record(key.clone())) else { panic!("a question stays") };
        assert_eq!(along.records, [key]);
        assert_eq!(along.entries.map(|entries| entries.member).as_deref(), Some("acme|appr_1"));
        let stream = DamageLocation::Stream { stream: "approvals".to_owned(), from_seq: 1 };
        assert!(matches!(forget(&stream), Verdict::Stays(_)), "watchers count its events");
    }
}
