use proptest::prelude::*;
use toolplane_lifecycle::Timer;
use toolplane_records::ids::{BatchId, DecisionId, InvocationId};
use toolplane_records::payload::Digest;
use toolplane_records::vocabulary::Band;
use toolplane_store::Expect;

use super::*;
use crate::storage::keys::QueueName;

fn tenant(name: &str) -> TenantId {
    TenantId::from_trusted(name)
}

fn call(tenant: &TenantId, id: &str) -> InvocationKey {
    InvocationKey::new(tenant, &InvocationId::from_trusted(id))
}

/// Tenants and ids as callers choose them: with separators, prefixes of ours, and numbers at their ends.
fn ids() -> impl Strategy<Value = (TenantId, InvocationId)> {
    let tenants = prop_oneof![Just("default".to_owned()), "[a-z]{1,6}(/[a-z]{1,4})?"];
    let ids =
        prop_oneof!["inv_[0-9a-f]{32}", "[a-z:./@+_-]{1,12}", "hook:[a-z]{1,4}(/[0-9]{1,3})?", "[0-9]{1,4}/[0-9]{1,2}"];
    (tenants, ids).prop_map(|(tenant, id)| (TenantId::from_trusted(tenant), InvocationId::from_trusted(id)))
}

/// Everything that belongs to a call, as the store names it.
fn names_of(key: &InvocationKey) -> (Vec<RecordKey>, Vec<String>) {
    let (tenant, digest) = (&key.tenant, Digest::of(b"{}"));
    let records = vec![
        keys::invocation(key),
        keys::result(key),
        keys::payload(key, &digest),
        keys::input_at(tenant, &keys::payload_uri(&key.id, &digest)).unwrap(),
        keys::facts(key),
        keys::ending(key),
        keys::hook(tenant, &format!("hook:{}/3", key.id)),
        keys::execution(tenant, &format!("execution:{}/2", key.id)),
        keys::execution_before(tenant, &format!("execution:{}/2", key.id)),
        keys::tombstone(key),
    ];
    let queue = |tool: Option<&str>| QueueName {
        pool: "shell".into(),
        band: Band::Normal,
        tenant: tenant.clone(),
        tool: tool.map(toolplane_records::ids::ToolId::from_trusted),
    };
    let mut indexes: Vec<String> =
        [keys::AWAITING, keys::LIVING, keys::ENDED, keys::TOMBSTONES].map(str::to_owned).into();
    indexes.extend(Timer::ALL.iter().map(|timer| keys::timers(*timer)));
    indexes.extend([keys::listing(tenant), keys::waiting(tenant), keys::running_of_tenant(tenant)]);
    indexes.extend([queue(None).to_string(), queue(Some("t/1")).to_string(), "undecodable/living".to_owned()]);
    (records, indexes)
}

proptest! {
    #[test]
    fn everything_of_a_call_lies_with_it((tenant, id) in ids(), count in 1_usize..=64) {
        let (shards, key) = (Shards::new(count), InvocationKey::new(&tenant, &id));
        let place = Place::At(shards.of_call(&key));
        let (records, indexes) = names_of(&key);
        for record in &records {
            prop_assert_eq!(shards.record(record), place, "{}", record);
        }
        for index in &indexes {
            prop_assert_eq!(shards.entry(index, &key.to_string()), place, "{}", index);
            prop_assert_eq!(shards.index(index), Place::WithTheRest);
        }
        prop_assert_eq!(shards.stream(&keys::stream(&key)), place);
        let decision = DecisionId::from_trusted("perm_1");
        prop_assert_eq!(shards.record(&keys::decision(&tenant, decision.as_str())), Place::WithTheRest);
    }

    #[test]
    fn what_calls_share_lies_with_them((tenant, id) in ids(), domain in "[ -~]{1,20}", count in 1_usize..=64) {
        let shards = Shards::new(count);
        // A batch, and the domain of its locks.
        let batch = BatchId::from_trusted(id.as_str());
        let name = tenant.scoped(&batch);
        let place = Place::At(shards.of_domain(&tenant, &format!("batch:{batch}")));
        prop_assert_eq!(shards.record(&RecordKey::new(Family::Batch, name.as_str())), place);
        for index in [format!("batches/{tenant}"), "ended-batches".to_owned()] {
            prop_assert_eq!(shards.entry(&index, &name), place, "{}", index);
        }
        let scope = Scope::Batch { tenant: tenant.clone(), id: batch };
        prop_assert_eq!(shards.index(&keys::coordination(&scope)), place);
        // A domain.
        let record = RecordKey::new(Family::LockDomain, format!("{}/{domain}", tenant.as_str().replace('/', "%")));
        let place = Place::At(shards.of_domain(&tenant, &domain));
        prop_assert_eq!(shards.record(&record), place, "{}", record);
        prop_assert_eq!(shards.entry(keys::IDLE_DOMAINS, &record.id), place);
        let scope = Scope::Locks { tenant, domain: domain.into() };
        prop_assert_eq!(shards.index(&keys::coordination(&scope)), place);
        prop_assert_eq!(shards.entry(&keys::coordination(&scope), "any"), place);
    }

    #[test]
    fn an_id_can_be_made_for_every_place(count in 1_usize..=64, place in 0_usize..64, text in "[a-z]{1,8}") {
        let shards = Shards::new(count);
        let place = place % count;
        let made = shards.made(Some(place), String::clone, |attempt| format!("{text}{attempt}"));
        prop_assert_eq!(shards.of_name(&made), place);
        prop_assert_eq!(&made, &shards.made(Some(place), String::clone, |attempt| format!("{text}{attempt}")));
        prop_assert_eq!(shards.made(None, String::clone, |attempt| format!("{text}{attempt}")), format!("{text}0"));
    }
}

#[test]
fn what_the_cluster_knows_of_itself_lies_in_the_first_shard() {
    let shards = Shards::new(7);
    let worker = RecordKey::new(Family::Worker, "w1");
    assert_eq!((shards.record(&keys::scheduler(3)), shards.record(&worker)), (Place::At(0), Place::At(0)));
    assert_eq!((shards.entry(keys::SCHEDULERS, "3"), shards.index(keys::SCHEDULERS)), (Place::At(0), Place::At(0)));
    for shard in 0..7 {
        assert_eq!(shards.record(&keys::places(shard, "running/tenant/a/b")), Place::At(shard));
        assert_eq!(shards.record(&keys::nothing(shard)), Place::At(shard));
    }
    assert_eq!(shards.record(&keys::quarantined("00ff")), Place::WithTheRest);
    assert_eq!(shards.entry(keys::QUARANTINE, "00ff"), Place::WithTheRest);
    let commit = Commit {
        compare: vec![(keys::plan(&Digest::of(b"p")), Expect::Absent), (keys::places(5, "x"), Expect::Absent)],
        ..Commit::default()
    };
    assert_eq!(shards.of_commit(&commit), Some(5));
    assert_eq!(shards.of_commit(&Commit::default()), None);
}

/// Stored records were placed by this: it is not to change.
#[test]
fn places_are_what_they_always_were() {
    let places = |count: usize| {
        let shards = Shards::new(count);
        ["inv_1", "acme|inv_2", "batch_3", "default/session:s"].map(|name| shards.of_name(name))
    };
    assert_eq!((places(1), places(2), places(3), places(16)), ([0; 4], PLACES_2, PLACES_3, PLACES_16));
    let acme = tenant("acme");
    assert_eq!(Shards::new(16).of_call(&call(&acme, "inv_2")), PLACES_16[1]);
    assert_eq!(Shards::new(16).of_domain(&acme, "batch:b"), Shards::new(16).of_name("acme|b"));
}

const PLACES_2: [usize; 4] = [0, 1, 1, 1];
const PLACES_3: [usize; 4] = [2, 2, 0, 2];
const PLACES_16: [usize; 4] = [12, 15, 15, 1];

#[test]
fn names_are_spread_evenly() {
    for count in [2, 3, 5, 16] {
        let (shards, mut found) = (Shards::new(count), vec![0_usize; count]);
        (0..10_000 * count).for_each(|number| found[shards.of_name(&format!("inv_{number}"))] += 1);
        assert!(found.iter().all(|here| (9_500..=10_500).contains(here)), "{count}: {found:?}");
    }
}

#[test]
fn items_are_sorted_by_their_place_and_keep_their_order() {
    let sorted = Shards::new(3).sorted(0..8, |number| number % 2 * 2);
    assert_eq!(sorted, [vec![0, 2, 4, 6], vec![1, 3, 5, 7]]);
}
