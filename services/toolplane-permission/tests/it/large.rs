//! Large inputs and large edits: every answer stays below what gRPC clients take, and the tokens lead to each row once.

use std::collections::BTreeSet;

use prost::Message as _;
use serde_json::json;
use toolplane_proto::v1;
use toolplane_records::payload::JsonPayload;

use crate::support::{Home, Role, call_of};

/// What gRPC clients take by default.
const MESSAGE_BYTES: usize = 4 * 1024 * 1024;

/// An input of nearly a megabyte, the most there may be.
fn large(letter: &str) -> JsonPayload {
    JsonPayload::of(&json!({ "note": letter.repeat(1024 * 1024 - 64) }))
}

/// Asks about a call with a large input, and answers with another large one.
async fn edited(role: &Role, call: &str) -> v1::Approval {
    let input = large("i");
    let request = v1::DecideRequest {
        call_input_digest: input.digest().to_string(),
        permission_input: Some((&input).into()),
        ..call_of("local.write", call, false)
    };
    let asked = role.decide(request).await.approval.unwrap();
    let answer = v1::ResolveApprovalRequest {
        approval_id: asked.approval_id,
        option: v1::PermissionOption::AllowOnce.into(),
        updated_input: Some((&large("e")).into()),
        resolved_by: "ann".to_owned(),
        ..Default::default()
    };
    let answer = role.client.clone().resolve_approval(answer).await.unwrap().into_inner();
    assert!(answer.encoded_len() < MESSAGE_BYTES, "{} bytes", answer.encoded_len());
    answer.approval.unwrap()
}

#[tokio::test]
async fn approvals_with_large_inputs_and_edits_are_told_within_a_message() {
    let home = Home::embedded();
    let role = home.start().await;
    let mut made = BTreeSet::new();
    for number in 0..5 {
        // A small one between, so that a page is nearly full before a large one.
        role.ask(&format!("inv_small_{number}")).await;
        made.insert(edited(&role, &format!("inv_{number}")).await.approval_id);
    }
    let (mut listed, mut request) = (Vec::new(), v1::ListApprovalsRequest { page_size: 1000, ..Default::default() });
    loop {
        let page = role.client.clone().list_approvals(request.clone()).await.unwrap().into_inner();
        assert!(page.encoded_len() < MESSAGE_BYTES, "{} bytes", page.encoded_len());
        listed.extend(page.approvals.into_iter().map(|approval| approval.approval_id));
        request.page_token = page.next_page_token;
        if request.page_token.is_empty() {
            break;
        }
    }
    let ids: BTreeSet<_> = listed.iter().cloned().collect();
    assert_eq!((listed.len(), ids.len(), ids.is_superset(&made)), (10, 10, true));
    for id in &made {
        let got = role.get(id).await;
        assert!(got.encoded_len() < MESSAGE_BYTES, "{} bytes", got.encoded_len());
        assert!(got.approval.is_some_and(|approval| approval.resolution.is_some()));
    }
    role.stop().await;
}
