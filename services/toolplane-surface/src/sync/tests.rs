use std::time::Instant;

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
    let mut answer = tokio::spawn(hub.publish(&[tool("a")]).acknowledged());
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
    hub.publish(&[tool("a")]).acknowledged().await;
    assert_eq!(silent.next().await, None);
    assert_eq!(hub.subscribers(), 0);
    let started = Instant::now();
    hub.publish(&[tool("b")]).acknowledged().await;
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn changes_add_up_until_they_become_a_reset() {
    let hub = hub(1);
    let slow = hub.subscribe("slow");
    slow.next().await.unwrap();
    let changes: Vec<Subject> = (0..700).map(|n| tool(&format!("t{n}"))).collect();
    let waits = [hub.publish(&changes), hub.publish(&changes)];
    let update = slow.next().await.unwrap();
    assert_eq!(update, Update { changes: Vec::new(), revision: 12, reset: true });
    slow.acknowledge(update.revision);
    for wait in waits {
        wait.acknowledged().await;
    }
    assert_eq!(hub.subscribers(), 1);
}

#[tokio::test]
async fn an_acknowledgement_of_the_future_counts_for_the_present_only() {
    let hub = hub(20);
    let eager = hub.subscribe("eager");
    eager.next().await.unwrap();
    eager.acknowledge(u64::MAX);
    hub.publish(&[tool("a")]).acknowledged().await;
    assert_eq!(hub.subscribers(), 0, "the change itself was never acknowledged");
}
