//! Whose turn it is, through the real dispatcher.

use std::collections::BTreeMap;

use super::spread::Spread;
use super::*;

/// Tenants in the order their waiting calls are offered to one worker with few slots.
async fn order_of(options: PartsOptions, calls: Vec<Ask>, count: usize) -> Vec<Arc<Invocation>> {
    order_over(1, options, calls, count).await
}

/// The same over so many shards.
async fn order_over(shards: usize, options: PartsOptions, calls: Vec<Ask>, count: usize) -> Vec<Arc<Invocation>> {
    let cluster = Spread::over(shards);
    let bench = Bench::with(cluster.member(), cluster.options(options)).await;
    for call in calls {
        bench.admit(call).await.unwrap();
    }
    let (_link, mut messages) = bench.worker(2, vec![]).await;
    let mut order = Vec::new();
    while order.len() < count {
        let (record, lease, _) = offered(&mut messages).await;
        order.push(record);
        finish(&bench.parts.calls, &lease).await.unwrap();
    }
    order
}

#[tokio::test(start_paused = true)]
async fn a_tenant_that_floods_does_not_hold_up_those_who_trickle() {
    let mut calls: Vec<Ask> = (0..200).map(|number| Ask { tenant: "flood", ..ask(format!("inv_f{number}")) }).collect();
    for tenant in ["a", "b", "c"] {
        calls.extend((0..40).map(|number| Ask { tenant, ..ask(format!("inv_{tenant}{number}")) }));
    }
    for shards in [1, 3] {
        nobody_is_held_up(&order_over(shards, options(), calls.clone(), 160).await);
    }
}

fn nobody_is_held_up(order: &[Arc<Invocation>]) {
    let mut last = BTreeMap::new();
    for (place, record) in order.iter().enumerate() {
        if let Some(before) = last.insert(record.tenant.clone(), place) {
            let others = place - before - 1;
            assert!(others <= 8, "{others} claims of others between two of {}", record.tenant);
        }
    }
    let of = |tenant: &str| order.iter().filter(|record| record.tenant.as_str() == tenant).count();
    assert_eq!([of("flood"), of("a"), of("b"), of("c")], [40, 40, 40, 40]);
}

#[tokio::test(start_paused = true)]
async fn weights_and_bands_share_as_declared_and_within_a_tenant_the_oldest_goes_first() {
    let weights = BTreeMap::from([(TenantId::from_trusted("big"), 3)]);
    let mut calls = Vec::new();
    for tenant in ["big", "small"] {
        calls.extend((0..200).map(|number| Ask { tenant, ..ask(format!("inv_{tenant}_{number:03}")) }));
    }
    let order = order_over(3, PartsOptions { weights, ..options() }, calls, 200).await;
    let big = order.iter().filter(|record| record.tenant.as_str() == "big").count();
    assert!((145..=155).contains(&big), "{big} of 200 at weights 3 to 1");
    let created: Vec<_> =
        order.iter().filter(|record| record.tenant.as_str() == "big").map(|record| record.created_at).collect();
    assert!(created.is_sorted(), "the oldest first");

    let mut calls = Vec::new();
    for (band, name) in [(Band::Background, "b"), (Band::Normal, "n"), (Band::Interactive, "i")] {
        calls.extend((0..120).map(|number| Ask { band, ..ask(format!("inv_{name}{number}")) }));
    }
    let order = order_of(options(), calls, 120).await;
    let of = |band: Band| order.iter().filter(|record| record.band == band).count();
    let shares = [of(Band::Interactive), of(Band::Normal), of(Band::Background)];
    for (share, expected) in shares.iter().zip([80, 30, 10]) {
        assert!(share.abs_diff(expected) <= 2, "{shares:?} of 120 at 8:3:1");
    }
}

#[tokio::test(start_paused = true)]
async fn many_queues_are_all_served() {
    let names: Vec<&'static str> = (0..300).map(|number| &*format!("t{number}").leak()).collect();
    let calls = names.iter().map(|tenant| Ask { tenant, ..ask(format!("inv_{tenant}")) }).collect();
    let order = order_of(options(), calls, 300).await;
    let tenants: std::collections::BTreeSet<_> = order.iter().map(|record| record.tenant.clone()).collect();
    assert_eq!(tenants.len(), 300);
}

#[tokio::test(start_paused = true)]
async fn an_offer_says_how_long_the_call_was_queued() {
    let bench = Bench::new().await;
    bench.admit(ask("inv_a")).await.unwrap();
    tokio::time::sleep(Duration::from_millis(120)).await;
    let (_link, mut messages) = bench.worker(1, vec![]).await;
    loop {
        if let WorkerMessage::Offer { queued_ms, .. } = messages.recv().await.unwrap() {
            assert!((100..10_000).contains(&queued_ms), "{queued_ms}");
            return;
        }
    }
}
