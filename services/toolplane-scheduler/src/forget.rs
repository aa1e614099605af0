//! What of a damaged record or log may be taken out for good when there is no backup, and what goes with it.

use toolplane_backend::forget::{Along, Entries, Verdict};
use toolplane_records::ids::InvocationKey;
use toolplane_store::{DamageLocation, Family};

use crate::groups;
use crate::storage::keys;

/// Judges damage in the scheduler's store. A call goes as a whole, by its record, its log or one of its inputs: its record, its log,
/// its result and every place in a list or queue. It is not known any more then, so its id is free.
pub fn forget(place: &DamageLocation) -> Verdict {
    let call = match place {
        DamageLocation::Record(key) if key.family == Family::Invocation => Some(key.id.as_str()),
        // Without its input it can neither be run nor shown.
        DamageLocation::Record(key) if key.family == Family::Payload => key.id.rsplit_once('/').map(|(call, _)| call),
        DamageLocation::Stream { stream, .. } => keys::call_of_stream(stream),
        _ => None,
    };
    if let Some(call) = call.and_then(|id| InvocationKey::parse(id).ok()) {
        let mut records = vec![keys::invocation(&call), keys::result(&call), keys::facts(&call), keys::ending(&call)];
        records.push(keys::original(&call));
        if let DamageLocation::Record(damaged) = place
            && !records.contains(damaged)
        {
            records.push(damaged.clone());
        }
        let entries = Some(Entries { member: call.to_string(), stand_for_it: |index| !groups::lists_batches(index) });
        return Verdict::Goes(Along { records, streams: vec![keys::stream(&call)], entries });
    }
    match place {
        // Without it, what it keeps would be removed.
        DamageLocation::Record(key) if key.family == Family::Meta && keys::shard_of_holds(&key.id).is_some() => {
            Verdict::Stays("a legal hold is written there: restore a backup")
        }
        DamageLocation::Record(key) if key.family == Family::Batch => {
            let entries = Some(Entries { member: key.id.clone(), stand_for_it: groups::lists_batches });
            Verdict::Goes(Along { entries, ..Along::record(key) })
        }
        other => Verdict::usual(other),
    }
}

#[cfg(test)]
mod tests {
    use toolplane_records::ids::{InvocationId, TenantId};
    use toolplane_store::RecordKey;

    use super::*;

    fn gone(place: DamageLocation) -> Along {
        match forget(&place) {
            Verdict::Goes(along) => along,
            Verdict::Stays(instead) => panic!("{place} stays: {instead}"),
        }
    }

    #[test]
    fn a_call_goes_as_a_whole_by_its_record_or_its_log() {
        let call = InvocationKey::new(&TenantId::from_trusted("acme"), &InvocationId::from_trusted("inv_1"));
        let log = DamageLocation::Stream { stream: keys::stream(&call), from_seq: 3 };
        let input = keys::payload(&call, &toolplane_records::payload::Digest::of(b"{}"));
        for place in [DamageLocation::Record(keys::invocation(&call)), log, DamageLocation::Record(input.clone())] {
            let is_input = matches!(&place, DamageLocation::Record(key) if *key == input);
            let along = gone(place);
            assert_eq!(along.records.contains(&input), is_input, "the damaged input itself");
            assert!(along.records.contains(&keys::invocation(&call)) && along.records.contains(&keys::result(&call)));
            assert_eq!(along.streams, [keys::stream(&call)]);
            let Entries { member, stand_for_it } = along.entries.unwrap();
            assert_eq!(member, call.to_string());
            assert!(stand_for_it(keys::LIVING) && stand_for_it("queue/native/1/acme"));
            assert!(!stand_for_it("batches/acme"), "a batch may have the id of a call");
        }
        let holds = DamageLocation::Record(keys::holds(0, &TenantId::from_trusted("acme")));
        assert!(matches!(forget(&holds), Verdict::Stays(_)), "a hold is not forgotten");
        let decision = RecordKey::new(Family::Decision, "acme/dec_1");
        let along = gone(DamageLocation::Record(decision.clone()));
        assert_eq!((along.records, along.streams.len(), along.entries.is_none()), (vec![decision], 0, true));
    }
}
