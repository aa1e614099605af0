//! What a client reads is what was told: forms read back.

use toolplane_forms::mcp::GivenContent;
use toolplane_forms::{FormedBody, View, a2a, acp, cloudevents, in_toto, mcp, of_call, of_event};
use toolplane_records::payload::JsonPayload;
use toolplane_records::vocabulary::PermissionOption;

use crate::samples::{Sample, all, approval};

fn text(view: View, sample: &Sample) -> Option<String> {
    match of_call(view, &sample.story())?.body {
        FormedBody::Json(json) => Some(json.text().to_owned()),
        FormedBody::Bytes(_) => None,
    }
}

/// The contents and the structured content of every result come back, the latter to the byte.
#[test]
fn a_result_of_mcp() {
    for sample in all() {
        let Some(result) = &sample.result else { continue };
        let given = mcp::read(&text(View::Mcp, &sample).unwrap()).unwrap();
        assert_eq!(given.is_error, result.is_error, "{}", sample.name);
        assert_eq!(given.structured_content, result.structured_content, "{}", sample.name);
        let texts = given.content.iter().filter_map(|one| match one {
            GivenContent::Text { text } => Some(text.as_str()),
            _ => None,
        });
        let texts: Vec<&str> = texts.collect();
        for block in result.content.iter().filter_map(|block| block.text()) {
            assert!(texts.contains(&block), "{}: {block} is not among {texts:?}", sample.name);
        }
    }
}

#[test]
fn a_task_of_a2a() {
    for sample in all() {
        let given = a2a::read(&text(View::A2a, &sample).unwrap()).unwrap();
        assert_eq!((given.id.as_str(), given.context_id.as_str()), ("inv_1", "sess_1"));
        let ended = ["COMPLETED", "FAILED", "CANCELED", "REJECTED"].iter().any(|end| given.status.state.ends_with(end));
        assert_eq!(ended, sample.result.is_some(), "{}: {}", sample.name, given.status.state);
        for part in given.artifacts.iter().flat_map(|artifact| &artifact.parts) {
            let contents = [part.text.is_some(), part.raw.is_some(), part.url.is_some(), part.data.is_some()];
            assert_eq!(contents.iter().filter(|there| **there).count(), 1, "{}: exactly one", sample.name);
        }
    }
}

#[test]
fn events_as_cloudevents() {
    for sample in all() {
        let batch = of_call(View::CloudEventsProtobuf, &sample.story()).unwrap();
        let FormedBody::Bytes(batch) = batch.body else { panic!("not bytes") };
        assert_eq!(cloudevents::read_protobuf_batch(&batch).unwrap(), sample.events);
        for event in &sample.events {
            let told = |view| of_event(view, &sample.story(), event).unwrap().body;
            let FormedBody::Json(json) = told(View::CloudEvents) else { panic!("no JSON") };
            assert_eq!(cloudevents::read_json(json.text()).unwrap(), *event);
            let FormedBody::Bytes(bytes) = told(View::CloudEventsProtobuf) else { panic!("not bytes") };
            assert_eq!(cloudevents::read_protobuf(&bytes).unwrap(), *event);
        }
    }
    for wrong in [
        "{}",
        r#"{"specversion":"0.3","id":"1","source":"s","type":"t"}"#,
        r#"{"specversion":"1.0","id":"1","source":"s","type":"t"}"#,
    ] {
        assert!(cloudevents::read_json(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_statement_of_in_toto() {
    for sample in all() {
        let Some(result) = &sample.result else { continue };
        let given = in_toto::read(&text(View::InToto, &sample).unwrap()).unwrap();
        assert_eq!(given.subjects.get("inv_1/result"), Some(&JsonPayload::of(result).digest()), "{}", sample.name);
        let kept = result.content.iter().filter_map(|block| block.payload());
        for kept in kept {
            assert!(given.subjects.values().any(|digest| *digest == kept.digest), "{}", sample.name);
        }
    }
    assert!(in_toto::read(r#"{"_type":"x","subject":[],"predicateType":"y","predicate":{}}"#).is_err());
}

#[test]
fn an_outcome_answers_its_question() {
    let approval = approval();
    let request = acp::request(&approval, toolplane_forms::Reader::default()).json();
    for (kind, id) in [(PermissionOption::AllowOnce, ""), (PermissionOption::AllowAlways, "s1")] {
        assert!(request.contains(&format!(r#""optionId":"{kind}""#)));
        let answer =
            format!(r#"{{"id":"appr_1","result":{{"outcome":{{"outcome":"selected","optionId":"{kind}"}}}}}}"#);
        let chosen = acp::answer(&approval, &acp::Outcome::read(&answer).unwrap()).unwrap();
        assert_eq!((chosen.kind, chosen.suggestion_id.as_str()), (kind, id));
    }
    let unknown = acp::Outcome::Selected("reject_always".to_owned());
    assert!(matches!(acp::answer(&approval, &unknown), Err(acp::BadOutcome::Option(_))));
    assert_eq!(acp::answer(&approval, &acp::Outcome::Cancelled), Err(acp::BadOutcome::Cancelled));
}
