//! What is kept of the outputs of a call, and what nobody names.

use toolplane_proto::v1;
use toolplane_proto::v1::invocation_service_server::InvocationService as _;
use toolplane_records::ids::TenantId;
use toolplane_records::result::ContentBlock;
use toolplane_results::payload::PayloadOrigin;

use super::World;
use super::endings::{reference, success, text, uploaded};

#[tokio::test]
async fn only_what_an_ended_call_does_not_name_is_an_orphan() {
    let world = World::new().await;
    let (ended, running) = (world.leased().await, world.leased().await);
    let (named, left) = (world.upload(&ended, "named").await, world.upload(&ended, "left behind").await);
    let not_yet_named = world.upload(&running, "not yet named").await;
    let origin = PayloadOrigin {
        tenant: TenantId::unauthenticated(),
        invocation_id: "inv_of_another_time".parse().unwrap(),
        lease_no: 1,
        media_type: "text/plain".to_owned(),
        made_at: world.parts.calls.now().await.unwrap(),
    };
    let unknown = world.objects.put(&origin, "of a call that is gone".into()).await.unwrap();
    world.ended(&ended, uploaded(&named, "")).await;

    let orphans = world.orphans();
    let tenant = TenantId::unauthenticated();
    let (found, more) = orphans.list(&tenant, 10).await.unwrap();
    let found: Vec<String> = found.iter().map(|kept| kept.key.uri()).collect();
    assert_eq!((found.as_slice(), more), ([left.uri.to_string()].as_slice(), false));
    assert!(orphans.list(&"elsewhere".parse().unwrap(), 10).await.unwrap().0.is_empty(), "of another tenant");
    let answer = world.api().list_orphans(tonic::Request::new(v1::ListOrphansRequest::default())).await.unwrap();
    assert_eq!(answer.into_inner().orphans[0].size_bytes, 11);

    assert_eq!(orphans.remove(Some(60_000)).await.unwrap(), (0, 0), "it is too young");
    assert_eq!(orphans.remove(Some(0)).await.unwrap(), (1, 11));
    let now = world.parts.calls.now().await.unwrap();
    for kept in [&named, &not_yet_named, &unknown] {
        world.objects.read_verified(kept, 1 << 20, now).await.expect("never one that is or may be named");
    }
    assert!(world.objects.read_verified(&left, 1 << 20, now).await.is_err());
    // The call goes on as if nothing had been looked for.
    world.ended(&running, uploaded(&not_yet_named, "")).await;
    assert_eq!(orphans.remove(Some(0)).await.unwrap(), (0, 0));
}

#[tokio::test]
async fn each_kept_output_has_a_decision_of_its_own() {
    let world = World::new().await;
    let lease = world.leased().await;
    let (long, longer): (String, String) = ("x".repeat(70_000), "y".repeat(90_000));
    let log = (&ContentBlock::Log { text: longer, stream: "stderr".to_owned() }).into();
    let outcome = v1::ExecutionOutcome { content: vec![text(&long), log], ..success("") };
    let result = world.ended(&lease, outcome).await;
    assert_eq!(result.persistence_refs.len(), 2, "{result:?}");
    let request = v1::GetPersistenceRequest { invocation_id: lease.invocation_id.to_string(), ..Default::default() };
    let decisions = world.api().get_persistence(tonic::Request::new(request)).await.unwrap().into_inner().decisions;
    let told: Vec<_> = decisions.iter().map(|kept| (kept.output.as_str(), kept.original_size_bytes)).collect();
    assert_eq!(told, [("stderr", 90_000), ("result", 70_000)], "the largest first");
    for (decision, id) in decisions.iter().zip(&result.persistence_refs) {
        let kept = decision.persisted_ref.as_ref().unwrap();
        assert_eq!((&decision.decision_id, kept.size_bytes), (id, decision.original_size_bytes));
        assert_eq!(decision.strategy(), v1::PersistenceStrategy::PreviewAndPersist);
        let one = v1::GetPersistenceRequest {
            invocation_id: lease.invocation_id.to_string(),
            decision_id: id.clone(),
            ..Default::default()
        };
        let one = world.api().get_persistence(tonic::Request::new(one)).await.unwrap().into_inner().decisions;
        assert_eq!(one, std::slice::from_ref(decision));
    }
    let log = serde_json::to_string(&world.parts.calls.records().log(&lease.call()).await.unwrap()).unwrap();
    assert_eq!(log.matches("tool.result.persisted").count(), 2, "{log}");
}

#[tokio::test]
async fn there_is_no_link_to_a_directory_and_the_answer_says_why() {
    let world = World::new().await;
    let lease = world.leased().await;
    let kept = world.upload(&lease, "kept").await;
    let result = world.ended(&lease, uploaded(&kept, "")).await;
    let uri = reference(&result).unwrap().uri.to_string();
    let request = |id: &str, expires_seconds| {
        let selector = Some(v1::link_payload_request::Selector::Uri(uri.clone()));
        tonic::Request::new(v1::LinkPayloadRequest { invocation_id: id.to_owned(), selector, expires_seconds })
    };
    let id = lease.invocation_id.as_str();
    let refused = world.api().link_payload(request(id, 60)).await.unwrap_err();
    assert_eq!(toolplane_runtime::status::reason(&refused).as_deref(), Some("LINK_UNSUPPORTED"));
    assert!(refused.message().contains("directory"), "{refused}");
    let too_long = world.api().link_payload(request(id, 8 * 24 * 3600)).await.unwrap_err();
    assert_eq!(too_long.code(), tonic::Code::InvalidArgument);
    let unknown = world.api().link_payload(request("inv_unknown", 60)).await.unwrap_err();
    assert_eq!(unknown.code(), tonic::Code::NotFound);
}
