//! Questions, in both ways, and what is refused.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use toolplane_wait::pause;

use super::script::{Calling, Seen, new, old};
use crate::{Failure, Limits, QuestionKind};

fn asked(thinks: u64) -> Calling {
    let seen = Seen { thinks: Some(Duration::from_secs(thinks)), ..Seen::default() };
    Calling { deadline: Some(Instant::now() + Duration::from_secs(5)), seen, ..Calling::default() }
}

#[tokio::test(start_paused = true)]
async fn a_person_is_asked_and_the_time_stands_still() {
    let (session, mut script) = old(Limits::default()).await;
    let calling = asked(3_600);
    let serve = async {
        let id = script.call().await;
        script.ask("q").await;
        let reply = script.next().await;
        assert_eq!(
            reply,
            json!({"jsonrpc": "2.0", "id": "q", "result": {"action": "accept", "content": {"name": "Ann"}}})
        );
        pause(Duration::from_secs(4), "the clock is paused, and time is what this is about").await;
        script.done(&id).await;
    };
    let (answer, ()) = tokio::join!(calling.on(&session), serve);
    answer.unwrap();
    let questions = calling.seen.questions.lock();
    let QuestionKind::Form { schema } = &questions[0].kind else { panic!("a form") };
    assert_eq!((questions[0].message.as_str(), schema.text()), ("who?", r#"{"type":"object","properties":{}}"#));
}

#[tokio::test(start_paused = true)]
async fn where_nobody_is_there_nobody_answers() {
    let (session, mut script) = old(Limits::default()).await;
    let calling = Calling::default();
    let serve = async {
        let id = script.call().await;
        script.ask("q").await;
        assert_eq!(script.next().await["result"], json!({"action": "cancel"}));
        script.done(&id).await;
    };
    tokio::join!(calling.on(&session), serve).0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_question_that_is_taken_back_is_not_answered() {
    let (session, mut script) = old(Limits::default()).await;
    let calling = asked(3_600);
    let began = Instant::now();
    let serve = async {
        let id = script.call().await;
        script.ask("q").await;
        pause(Duration::from_secs(60), "the clock is paused, and time is what this is about").await;
        script.say(json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "q"}})).await;
        // The next answer is that of the ping: the question has none.
        script.say(json!({"jsonrpc": "2.0", "id": "p", "method": "ping"})).await;
        assert_eq!(script.next().await["id"], "p");
        script.done(&id).await;
    };
    tokio::join!(calling.on(&session), serve).0.unwrap();
    assert!(began.elapsed() < Duration::from_secs(61));
}

#[tokio::test(start_paused = true)]
async fn nobody_answers_the_question_of_somebody_elses_call() {
    let (session, mut script) = old(Limits::default()).await;
    let (one, other) = (asked(1), asked(1));
    let serve = async {
        let (first, second) = (script.call().await, script.call().await);
        script.ask("q").await;
        assert_eq!(script.next().await["error"]["code"], -32_600);
        script.done(&first).await;
        // Given up, it may still run, and ask.
        other.cancel.cancel();
        script.expect("notifications/cancelled").await;
        second
    };
    let (first, second, late) = tokio::join!(one.on(&session), other.on(&session), serve);
    first.unwrap();
    second.unwrap_err();
    let third = asked(1);
    let serve = async {
        let id = script.call().await;
        script.ask("q").await;
        assert_eq!(script.next().await["error"]["code"], -32_600);
        assert!(session.is_in_doubt(), "no further call is to begin here");
        script.done(&late).await;
        // Now it is known to be over.
        script.ask("q").await;
        assert_eq!(script.next().await["result"]["action"], "accept");
        assert!(!session.is_in_doubt());
        script.done(&id).await;
    };
    tokio::join!(third.on(&session), serve).0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn too_many_and_unreadable_questions_are_refused() {
    let (session, mut script) = old(Limits { questions: 1, ..Limits::default() }).await;
    let calling = asked(60);
    let serve = async {
        let id = script.call().await;
        for question in ["a", "b", "c"] {
            script.ask(question).await;
            pause(Duration::from_secs(1), "the clock is paused, and time is what this is about").await;
        }
        let refused = script.next().await;
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!("c"), &json!(-32_600)));
        for params in [json!({}), json!({"message": "x"}), json!({"message": "x", "mode": "telepathy"})] {
            script.say(json!({"jsonrpc": "2.0", "id": "d", "method": "elicitation/create", "params": params})).await;
            assert_eq!(script.next().await["error"]["code"], -32_600);
        }
        script.done(&id).await;
    };
    tokio::join!(calling.on(&session), serve).0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_is_not_given_is_refused_with_the_right_code() {
    let (session, mut script) = old(Limits::default()).await;
    let serve = async {
        let id = script.call().await;
        for (method, answer) in [
            ("ping", json!({"jsonrpc": "2.0", "id": 7, "result": {}})),
            ("sampling/createMessage", Value::Null),
            ("roots/list", Value::Null),
            ("tasks/get", Value::Null),
            ("elicitation/create", Value::Null),
        ] {
            script.say(json!({"jsonrpc": "2.0", "id": 7, "method": method, "params": {"message": "m"}})).await;
            let said = script.next().await;
            match answer {
                Value::Null => assert!([-32_601, -32_600].map(Value::from).contains(&said["error"]["code"]), "{said}"),
                answer => assert_eq!(said, answer),
            }
        }
        // What is told and not known is left.
        script.say(json!({"jsonrpc": "2.0", "method": "notifications/later", "params": 1})).await;
        script.done(&id).await;
    };
    let later = Calling::default();
    tokio::join!(later.on(&session), serve).0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_server_of_2026_asks_by_its_answer_and_is_asked_again() {
    let (session, mut script) = new(Limits::default()).await;
    let calling = asked(3_600);
    let serve = async {
        let message = script.next().await;
        let capabilities = &message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"];
        assert_eq!(*capabilities, json!({"elicitation": {"form": {}, "url": {}}}));
        let question = json!({"message": "who?", "requestedSchema": {"type": "object"}});
        let page = json!({"mode": "url", "message": "go", "url": "https://example.org/x"});
        let requests = json!({"one": {"method": "elicitation/create", "params": question},
                              "two": {"method": "elicitation/create", "params": page}});
        let wants = json!({"resultType": "input_required", "requestState": "opaque", "inputRequests": requests});
        script.answer(&message["id"], wants).await;
        let again = script.next().await;
        assert_ne!(again["id"], message["id"]);
        assert_eq!(again["params"]["requestState"], "opaque");
        let accepted = json!({"action": "accept", "content": {"name": "Ann"}});
        assert_eq!(again["params"]["inputResponses"], json!({"one": accepted, "two": accepted}));
        // Only the state: the server wants to be asked again.
        script.answer(&again["id"], json!({"resultType": "input_required", "requestState": "more"})).await;
        let last = script.next().await;
        assert_eq!(
            (&last["params"]["requestState"], &last["params"]["inputResponses"]),
            (&json!("more"), &Value::Null)
        );
        script.done(&last["id"]).await;
    };
    tokio::join!(calling.on(&session), serve).0.unwrap();
    assert_eq!((calling.seen.requests.lock().len(), calling.seen.questions.lock().len()), (3, 2));
}

#[tokio::test(start_paused = true)]
async fn a_server_of_2026_is_not_given_everything() {
    let (session, mut script) = new(Limits { rounds: 3, ..Limits::default() }).await;
    for wants in [
        json!({"resultType": "input_required", "inputRequests": {"s": {"method": "sampling/createMessage", "params": {}}}}),
        json!({"resultType": "input_required", "inputRequests": {"r": {"method": "roots/list"}}}),
        json!({"resultType": "input_required", "inputRequests": {"a": {}, "b": {}, "c": {}, "d": {}, "e": {}}}),
    ] {
        let serve = async {
            let id = script.call().await;
            script.answer(&id, wants).await;
        };
        let calling = asked(1);
        let (ended, ()) = tokio::join!(calling.on(&session), serve);
        assert!(matches!(ended, Err(Failure::NotGiven(_))), "{ended:?}");
    }
    let serve = async {
        for _ in 0..3 {
            let id = script.call().await;
            script.answer(&id, json!({"resultType": "input_required", "requestState": "again"})).await;
        }
    };
    let calling = asked(1);
    let (ended, ()) = tokio::join!(calling.on(&session), serve);
    assert!(matches!(ended, Err(Failure::NotGiven(_))), "{ended:?}");
    let serve = async {
        let id = script.call().await;
        script.answer(&id, json!({"resultType": "input_required"})).await;
    };
    let calling = asked(1);
    let (ended, ()) = tokio::join!(calling.on(&session), serve);
    assert!(matches!(ended, Err(Failure::Unreadable(_))), "{ended:?}");
}
