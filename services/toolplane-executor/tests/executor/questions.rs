//! Tools that ask.

use std::time::Duration;

use toolplane_proto::v1::worker_command::Command;
use toolplane_proto::v1::worker_report::Report;
use toolplane_proto::v1::{CancelExecution, HeartbeatResponse, InputProvided, InputRequested, LeaseRef};
use toolplane_records::payload::JsonPayload;

use crate::fake::{Connection, Fake};
use crate::worker::{Call, Worker};

async fn connected() -> (Fake, Worker, Connection) {
    let mut fake = Fake::start().await;
    let worker = Worker::start(&fake.url).await;
    let connection = fake.connection().await;
    (fake, worker, connection)
}

async fn question(connection: &mut Connection, lease: &LeaseRef) -> InputRequested {
    let asked = connection.until("a question", |report| match report {
        Report::InputRequested(asked) if asked.lease.as_ref() == Some(lease) => Some(asked.clone()),
        _ => None,
    });
    asked.await
}

fn asking(name: &str) -> (LeaseRef, Command) {
    let input = r#"{"prompt":"which?","schema":{"type":"string"},"ttl_ms":60000}"#;
    // Less than a person takes to answer: waiting is not working.
    Call::native("native.ask", input).timeout_ms(1).offer(name)
}

fn provided(asked: &InputRequested, answer: &str) -> InputProvided {
    InputProvided {
        lease: asked.lease.clone(),
        input_id: asked.input_id.clone(),
        input: Some((&JsonPayload::of(answer)).into()),
        ..InputProvided::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_said_until_it_is_answered_and_time_stands_still() {
    let (mut fake, _worker, mut connection) = connected().await;
    let (lease, offer) = asking("asks");
    connection.send(offer);
    let asked = question(&mut connection, &lease).await;
    assert_eq!((asked.prompt.as_str(), asked.ttl_ms), ("which?", 60_000));
    assert!(asked.schema.is_some());
    assert_eq!(question(&mut connection, &lease).await, asked, "nobody answered, so it is said again");
    drop(connection);
    let mut connection = fake.connection().await;
    assert_eq!(connection.hello.held, std::slice::from_ref(&lease));
    assert_eq!(question(&mut connection, &lease).await, asked, "and to whoever comes next");
    // Far beyond its time and the grace after it.
    toolplane_wait::pause(Duration::from_millis(3500), "the time of the tool must stand still while real time passes")
        .await;
    connection.send(Command::InputProvided(InputProvided { input_id: "other".into(), ..provided(&asked, "no") }));
    connection.send(Command::InputProvided(provided(&asked, "blue")));
    connection.send(Command::InputProvided(provided(&asked, "too late")));
    let outcome = connection.done(&lease).await;
    assert_eq!(outcome.status, "succeeded");
    let answer = JsonPayload::try_from(outcome.structured_content.unwrap()).unwrap().to_value();
    assert_eq!(answer, serde_json::json!({"outcome": "answered", "answer": "blue"}));
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_answering_is_an_answer_and_it_may_come_with_a_heartbeat() {
    let (fake, _worker, mut connection) = connected().await;
    for (name, declined, expired) in [("declined", true, false), ("expired", false, true)] {
        let (lease, offer) = asking(name);
        connection.send(offer);
        let asked = question(&mut connection, &lease).await;
        let answer = InputProvided { declined, expired, input: None, ..provided(&asked, "") };
        *fake.beats.answer.lock().unwrap() = HeartbeatResponse { inputs: vec![answer], ..Default::default() };
        let outcome = connection.done(&lease).await;
        let said = JsonPayload::try_from(outcome.structured_content.unwrap()).unwrap().to_value();
        assert_eq!((outcome.status.as_str(), said), ("succeeded", serde_json::json!({"outcome": name})));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_waits_for_an_answer_can_be_canceled() {
    let (_fake, _worker, mut connection) = connected().await;
    let (lease, offer) = asking("canceled");
    connection.send(offer);
    question(&mut connection, &lease).await;
    connection.send(Command::Cancel(CancelExecution { lease: Some(lease.clone()), ..CancelExecution::default() }));
    assert_eq!(connection.done(&lease).await.status, "canceled");
}
