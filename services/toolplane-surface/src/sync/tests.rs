use super::*;

fn tool(id: &str) -> Subject {
    Subject::Tool(TenantId::unauthenticated(), ToolId::from_trusted(id))
}

fn hub(patience_ms: u64) -> Hub {
    Hub::new(10, Duration::from_millis(patience_ms))
}

#[tokio::test]
async fn a_change_waits_for_every_acknowledgement() {
    let hub = hub(30_000);
    let (one, two) = (hub.subscribe("one"), hub.subscribe("two"));
    for subscription in [&one, &two] {
        assert!(subscription.next().await.unwrap().reset);
    }
    let mut answer = {
        let (hub, revision) = (hub.clone(), hub.publish(&[tool("a")]));
        tokio::spawn(async move { hub.settled(revision).await })
    };
    let update = one.next().await.unwrap();
    assert_eq!(update, Update { changes: vec![tool("a")], revision: 11, reset: false });
    one.acknowledge(11);
    assert!(tokio::time::timeout(Duration::from_millis(100), &mut answer).await.is_err(), "the other is still behind");
    two.acknowledge(two.next().await.unwrap().revision);
    answer.await.unwrap();
    assert_eq!((hub.revision(), hub.subscribers()), (11, 2));
}

#[tokio::test]
async fn who_does_not_answer_is_cut_off_and_who_leaves_is_not_waited_for() {
    let hub = hub(50);
    let (silent, leaving) = (hub.subscribe("silent"), hub.subscribe("leaving"));
    silent.next().await.unwrap();
    drop(leaving);
    hub.settled(hub.publish(&[tool("a")])).await;
    assert_eq!(silent.next().await, None);
    assert_eq!(hub.subscribers(), 0);
    let started = Instant::now();
    hub.settled(hub.publish(&[tool("b")])).await;
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn changes_add_up_until_they_become_a_reset() {
    let hub = hub(1);
    let slow = hub.subscribe("slow");
    slow.next().await.unwrap();
    let changes: Vec<Subject> = (0..700).map(|n| tool(&format!("t{n}"))).collect();
    let revisions = [hub.publish(&changes), hub.publish(&changes)];
    let update = slow.next().await.unwrap();
    assert_eq!(update, Update { changes: Vec::new(), revision: 12, reset: true });
    slow.acknowledge(update.revision);
    for revision in revisions {
        hub.settled(revision).await;
    }
    assert_eq!(hub.subscribers(), 1);
}

#[tokio::test]
async fn an_acknowledgement_of_the_future_counts_for_the_present_only() {
    let hub = hub(20);
    let eager = hub.subscribe("eager");
    eager.next().await.unwrap();
    eager.acknowledge(u64::MAX);
    hub.settled(hub.publish(&[tool("a")])).await;
    assert_eq!(hub.subscribers(), 0, "the change itself was never acknowledged");
}

#[tokio::test(start_paused = true)]
async fn who_may_still_use_a_cache_is_waited_for_after_it_is_gone() {
    let hub = hub(50);
    let gone = hub.subscribe("gone");
    gone.trust(Duration::from_secs(2));
    drop(gone);
    let started = Instant::now();
    hub.settled(hub.publish(&[tool("a")])).await;
    assert!(started.elapsed() >= Duration::from_secs(2), "{:?}", started.elapsed());
    let again = Instant::now();
    hub.settled(hub.publish(&[tool("b")])).await;
    assert_eq!(again.elapsed(), Duration::ZERO);
}

#[tokio::test]
async fn revisions_given_elsewhere_never_go_back() {
    let hub = hub(1);
    let one = hub.subscribe("one");
    one.next().await.unwrap();
    hub.publish_at(&[tool("a")], 20);
    hub.publish_at(&[tool("b")], 15);
    assert_eq!(one.next().await.unwrap(), Update { changes: vec![tool("a"), tool("b")], revision: 20, reset: false });
    hub.publish_reset(21);
    assert_eq!(one.next().await.unwrap(), Update { changes: Vec::new(), revision: 21, reset: true });
}
