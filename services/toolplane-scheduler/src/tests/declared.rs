//! What the declaration of a tool says of its outputs is done: for how long they are kept, what is taken out of them, which files are.

use serde_json::{Value, json};
use tonic::Request;
use toolplane_proto::v1::invocation_service_server::InvocationService as _;
use toolplane_records::payload::PayloadRef;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::{EventClass, PersistenceStrategy, RedactionState, ResultStatus};

use super::endings::{bare, reference, success, text, texts, uploaded};
use super::fakes::tool;
use super::*;

const MAIL: &str = "mia@example.org";

impl World {
    /// A call of a tool of which this is declared besides.
    async fn leased_of(&self, permission: Value, output: Value, execution: Value) -> LeaseKey {
        let mut declared = tool();
        declared["permission_profile"] = json!({ "permission_profile_id": "permission:test", "risk_level": "low" });
        let mut set = |place: &str, more: Value| {
            for (name, value) in more.as_object().unwrap() {
                *declared.pointer_mut(place).unwrap().as_object_mut().unwrap().entry(name).or_insert(Value::Null) =
                    value.clone();
            }
        };
        set("/permission_profile", permission);
        set("/declaration", json!({ "output_contract": output }));
        set("/execution_profile", execution);
        self.change(|fakes| fakes.declare(Some(declared))).await;
        self.leased().await
    }

    async fn kept_bytes(&self, payload: &PayloadRef) -> String {
        let now = self.parts.calls.now().await.unwrap();
        String::from_utf8(self.objects.read_verified(payload, 1 << 20, now).await.unwrap().to_vec()).unwrap()
    }
}

fn read_of(lease: &LeaseKey, payload: &PayloadRef) -> Request<v1::ReadPayloadRequest> {
    Request::new(v1::ReadPayloadRequest {
        invocation_id: lease.invocation_id.to_string(),
        selector: Some(v1::read_payload_request::Selector::Uri(payload.uri.to_string())),
        ..Default::default()
    })
}

#[tokio::test]
async fn an_output_goes_when_its_tool_says_and_not_while_it_is_held() {
    let world = World::new().await;
    let lease = world.leased_of(json!({ "retention_hint": "1s" }), json!({}), json!({})).await;
    let payload = world.upload(&lease, &"a line\n".repeat(20_000)).await;
    world.ended(&lease, uploaded(&payload, "a …")).await;
    let end = world.parts.calls.records().result(&lease.call()).await.unwrap().unwrap();
    let (made, until) = end.decisions().map(|kept| (kept.created_at, kept.expires_at.unwrap())).next().unwrap();
    assert!((made.plus_millis(1_000)..made.plus_millis(10_000)).contains(&until), "{made} {until}");
    let hold = crate::keeping::LegalHold {
        scope: crate::keeping::HoldScope::Tenant,
        reason: "a dispute".into(),
        set_by: "ann".into(),
        set_at: made,
    };
    let (tenant, api, orphans) = (toolplane_records::ids::TenantId::unauthenticated(), world.api(), world.orphans());
    assert!(world.parts.holds.set(&tenant, &hold).await.unwrap());
    while world.parts.calls.now().await.unwrap() < until {
        assert_eq!(orphans.remove(None).await.unwrap(), (0, 0));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert!(api.read_payload(read_of(&lease, &payload)).await.is_ok(), "what is held may be read");
    assert_eq!(orphans.remove(None).await.unwrap(), (0, 0), "and stays");
    assert!(world.parts.holds.clear(&tenant, &hold.scope).await.unwrap());
    let refused = api.read_payload(read_of(&lease, &payload)).await.err().unwrap();
    assert_eq!(refused.code(), tonic::Code::FailedPrecondition, "{refused}");
    assert_eq!(orphans.remove(None).await.unwrap().0, 1);
    assert!(!world.is_kept(&payload).await);
}

#[tokio::test]
async fn an_output_that_is_not_to_be_kept_is_gone_with_the_end_of_its_call() {
    let world = World::new().await;
    let never = json!({ "persistence_policy_ref": "never_persist" });
    let lease = world.leased_of(json!({}), never, json!({})).await;
    let payload = world.upload(&lease, &"a line\n".repeat(20_000)).await;
    // As workers say it to models and to people.
    let place = format!("[the whole output is kept at {}]", payload.uri);
    let outcome = v1::ExecutionOutcome {
        model_facing_content: vec![text("a …"), text(&place)],
        ui_facing_summary: "a … (140,000 bytes kept)".to_owned(),
        ..uploaded(&payload, "a …")
    };
    let result = world.ended(&lease, outcome).await;
    assert!(!world.is_kept(&payload).await);
    let end = world.parts.calls.records().result(&lease.call()).await.unwrap().unwrap();
    let stored = serde_json::to_string(&end).unwrap();
    assert!(!stored.contains(payload.uri.as_str()) && !stored.contains("bytes kept"), "{stored}");
    for told in [&result.content, &result.model_facing_content] {
        assert_eq!(texts(told), ["a …", "[the whole output of 140000 bytes was not kept: persistence_policy]"]);
    }
    let kept = end.persistence.unwrap();
    assert_eq!((kept.strategy, &kept.persisted_ref), (PersistenceStrategy::NeverPersist, &None));
    // What its worker says of an output that is small stays.
    let lease = world.leased().await;
    let result = world.ended(&lease, v1::ExecutionOutcome { summary: "one".into(), ..success("1") }).await;
    assert_eq!(result.ui_facing_summary, "one");
}

#[tokio::test]
async fn where_redaction_is_required_every_value_is_taken_out() {
    let world = World::new().await;
    let lease = world.leased_of(json!({ "redaction_required": true }), json!({}), json!({})).await;
    let payload = world.upload(&lease, &format!("{MAIL}\n").repeat(20_000)).await;
    let result = world.ended(&lease, uploaded(&payload, MAIL)).await;
    assert_eq!((result.status, result.redaction_state), (ResultStatus::Succeeded, Some(RedactionState::Redacted)));
    let kept = world.kept_bytes(reference(&result).unwrap()).await;
    assert!(!kept.contains(MAIL) && kept.starts_with("[redacted email]"), "what is kept is cleaned too");
    let log = world.parts.calls.records().log(&lease.call()).await.unwrap();
    assert!(log.iter().any(|event| event.class == EventClass::ResultRedacted));
}

#[tokio::test]
async fn where_redaction_is_required_what_cannot_be_looked_through_is_withheld() {
    // Whatever it is called: a process cannot say what it writes.
    let utf_16: String = MAIL.chars().flat_map(|letter| [letter, '\0']).collect();
    for (media_type, bytes) in [("image/png", "not really a picture"), ("application/octet-stream", &utf_16)] {
        withheld(media_type, bytes).await;
    }
}

async fn withheld(media_type: &str, bytes: &str) {
    let world = World::new().await;
    let lease = world.leased_of(json!({ "redaction_required": true }), json!({}), json!({})).await;
    let mut payload = world.upload(&lease, bytes).await;
    payload.media_type = media_type.into();
    let block: v1::ContentBlock = (&ContentBlock::kept(payload.clone(), MAIL.to_owned())).into();
    let outcome = v1::ExecutionOutcome { content: vec![block, text("and this")], ..bare("succeeded") };
    let result = world.ended(&lease, outcome).await;
    let error = result.error.as_ref().unwrap();
    assert_eq!((result.status, error.error_code.as_str()), (ResultStatus::Failed, "result.not_cleaned"));
    assert_eq!(error.side_effects.as_deref(), Some("completed"));
    let stored = serde_json::to_string(&result).unwrap();
    assert!(!stored.contains("and this") && !stored.contains(MAIL), "{stored}");
    assert!(!world.is_kept(&payload).await, "nothing of it is left");
}

#[tokio::test]
async fn declared_fields_and_rules_are_masked_in_every_form_of_an_output() {
    let world = World::new().await;
    let rules = json!({ "redaction_rules": ["/customer/salary", "email"] });
    let lease = world.leased_of(json!({}), rules, json!({})).await;
    let value = json!({ "customer": { "salary": 4711, "name": "Mia", "mail": MAIL } }).to_string();
    let payload = world.upload(&lease, &format!("{value}{}", " ".repeat(100_000))).await;
    let cut = &value[..30];
    let outcome = v1::ExecutionOutcome {
        structured_content: Some(super::payload(&value)),
        model_facing_content: vec![text(&value)],
        ui_facing_summary: cut.to_owned(),
        ..uploaded(&payload, cut)
    };
    let mut outcome = outcome;
    outcome.content.push(text(&value));
    let result = world.ended(&lease, outcome).await;
    let masked = r#"{"customer":{"salary":"[redacted declared_field]","name":"Mia","mail":"[redacted email]"}}"#;
    assert_eq!(result.structured_content.as_ref().unwrap().text(), masked);
    assert_eq!(texts(&result.content)[1], masked);
    assert_eq!(world.kept_bytes(reference(&result).unwrap()).await, masked);
    let log = world.parts.calls.records().log(&lease.call()).await.unwrap();
    let stored = serde_json::to_string(&(&result, log)).unwrap();
    assert!(!stored.contains("4711") && !stored.contains(MAIL), "{stored}");
    assert!(!world.is_kept(&payload).await, "what was replaced is gone");
    assert!(result.evidence_refs.contains(&"cleaning:mask:declared_field:2".to_owned()), "{:?}", result.evidence_refs);
    assert_eq!(result.redaction_state, Some(RedactionState::Redacted));
}

#[tokio::test]
async fn an_artifact_is_cleaned_read_and_named_by_what_is_kept_of_it() {
    let world = World::new().await;
    let output = json!({ "artifact_expectations": ["out/*.csv"], "content_types": ["text"] });
    let lease =
        world.leased_of(json!({ "redaction_required": true }), output, json!({ "supports_artifacts": true })).await;
    let payload = world.upload(&lease, &format!("name,mail\nMia,{MAIL}\n")).await;
    let artifact = v1::ArtifactRef {
        artifact_id: "out/a.csv".into(),
        uri: payload.uri.to_string(),
        media_type: payload.media_type.to_string(),
        digest: payload.digest.to_string(),
        payload: Some((&payload).into()),
        ..Default::default()
    };
    let block = v1::ContentBlock { block: Some(v1::content_block::Block::ArtifactRef(artifact.clone())) };
    let mut outcome = success("done");
    outcome.content.push(block);
    outcome.artifact_refs = vec![artifact];
    let result = world.ended(&lease, outcome).await;
    assert_eq!(
        (result.status, &result.error),
        (ResultStatus::Succeeded, &None),
        "what is expected needs no word of its own"
    );
    let made = &result.artifact_refs[0];
    let kept = made.payload.as_ref().unwrap();
    assert_eq!((made.uri.as_str(), made.digest), (kept.uri.as_str(), Some(kept.digest)));
    assert!(result.content.contains(&ContentBlock::ArtifactRef { artifact: made.clone() }));
    assert_eq!(world.kept_bytes(kept).await, "name,mail\nMia,[redacted email]\n");
    assert!(!world.is_kept(&payload).await, "what was replaced is gone");
    assert!(world.api().read_payload(read_of(&lease, kept)).await.is_ok());
    assert!(world.orphans().list(&toolplane_records::ids::TenantId::unauthenticated(), 10).await.unwrap().0.is_empty());
}

/// As workers in Python and TypeScript name what they have uploaded.
#[tokio::test]
async fn an_artifact_that_is_named_by_its_address_alone_is_cleaned_read_and_kept() {
    let world = World::new().await;
    let lease = world.leased_of(json!({}), json!({}), json!({ "supports_artifacts": true })).await;
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let payload = world.upload(&lease, &format!("a {token}\n")).await;
    let left = |id: &str, uri: &str| v1::ArtifactRef { artifact_id: id.into(), uri: uri.into(), ..Default::default() };
    let elsewhere = "https://example.org/a";
    let foreign = payload.uri.replace(lease.invocation_id.as_str(), "inv_other");
    let artifact_refs = vec![left("a.txt", &payload.uri), left("page", elsewhere), left("not_mine", &foreign)];
    let result = world.ended(&lease, v1::ExecutionOutcome { artifact_refs, ..success("done") }).await;
    let [kept, page, not_mine] = result.artifact_refs.as_slice() else { panic!("{result:?}") };
    assert!(page.payload.is_none() && not_mine.payload.is_none(), "{result:?}");
    let kept = kept.payload.as_ref().expect("it is kept");
    assert_eq!(world.kept_bytes(kept).await, "a [redacted github_token]\n");
    assert!(!world.is_kept(&payload).await, "nothing of it is there as it came");
    let mut read = world.api().read_payload(read_of(&lease, kept)).await.unwrap().into_inner();
    assert!(futures_util::StreamExt::next(&mut read).await.unwrap().is_ok());
    assert_eq!(world.orphans().remove(Some(0)).await.unwrap(), (0, 0));
    let shown = result.content.iter().filter(|block| matches!(block, ContentBlock::ArtifactRef { .. })).count();
    assert_eq!(shown, 1);
}
