//! Results in which something is found that a person is asked about: held masked until the answer, and given out or not.

use std::sync::Arc;

use serde_json::json;
use toolplane_cleaning::{CleaningPolicy, Treatment};
use toolplane_lifecycle::Command;
use toolplane_records::SmolStr;
use toolplane_records::event::LogEvent;
use toolplane_records::vocabulary::EventClass;

use super::endings::{reference, success, texts, uploaded};
use super::originals::{KEY, key_file};
use super::*;
use crate::ending::ReportReceipt;

/// A token of the right form that nobody was ever given.
const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
const SAID: &str = "mia@example.org has ghp_0123456789abcdefghijABCDEFGHIJ012345";

/// A world in which data of persons is asked about; without a key where `file` is none.
async fn asking(files: &[std::path::PathBuf], after: &[&str]) -> World {
    let policy = CleaningPolicy { personal: Treatment::Ask, ..CleaningPolicy::default() };
    let cleaning = Cleaning::new(&policy, &[]).unwrap();
    World::keeping(&[], after, cleaning, Originals::new(files, &[]).unwrap()).await
}

impl World {
    /// The question about the result of a call whose worker reported this.
    async fn held(&self, lease: &LeaseKey, outcome: v1::ExecutionOutcome) -> String {
        assert_eq!(self.endings.take(lease, Some(Box::new(outcome)), None, 0).await.unwrap(), ReportReceipt::Stored);
        let record = self.record(&lease.invocation_id).await;
        assert_eq!((record.status, record.lease.is_none()), (InvocationStatus::PostHooksRunning, true));
        let named = |said: &SmolStr| said.strip_prefix("ask:question:").map(str::to_owned);
        record.evidence_refs.iter().find_map(named).expect("a question")
    }

    async fn held_ends(&self, lease: &LeaseKey) -> ToolResult {
        self.until_it(&lease.invocation_id, |record| record.status.is_terminal()).await.expect("an end");
        self.result(&lease.invocation_id).await
    }
}

fn says(result: &ToolResult, note: &str) -> bool {
    result.evidence_refs.iter().any(|said| said == note)
}

#[tokio::test]
async fn a_yes_gives_out_what_was_asked_about_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let world = asking(&[key_file(folder.path(), KEY)], &[]).await;
    let lease = world.leased().await;
    let whole = format!("{}{SAID}\n", "an ordinary line\n".repeat(9_000));
    let payload = world.upload(&lease, &whole).await;
    let question = world.held(&lease, uploaded(&payload, &format!("{SAID} \u{2026}"))).await;
    let asked = world.fakes.questions().pop().unwrap();
    let text = &asked.hook_verdicts[0].message;
    assert!(text.contains("email (personal)") && !text.contains("mia@") && !text.contains(TOKEN), "{text}");
    let kept = world.parts.calls.records().original(&key(&lease.invocation_id)).await.unwrap().expect("it is sealed");
    assert_eq!(asked.call_input_digest, kept.parts[0].sealed.digest.to_string(), "a question of its own");
    assert!(!world.is_kept(&payload).await, "nothing of it is there but sealed");

    world.fakes.approve(&question, None);
    let result = world.held_ends(&lease).await;
    let shown = texts(&result.content)[0];
    assert!(shown.contains("mia@example.org") && !shown.contains(TOKEN), "{shown}");
    let now = world.parts.calls.now().await.unwrap();
    let bytes = world.objects.read_verified(reference(&result).expect("kept"), 1 << 20, now).await.unwrap();
    let expected = whole.replace(TOKEN, "[redacted github_token]");
    assert!(bytes == expected, "the whole output is as it was, without what nobody was asked about");
    assert!(says(&result, "ask:released"), "{:?}", result.evidence_refs);
    let log = world.parts.calls.records().log(&key(&lease.invocation_id)).await.unwrap();
    let answered = |event: &&LogEvent| {
        let told = event.data.as_ref().map_or("", |data| data.text());
        event.class == EventClass::PermissionDecided && told.contains("_answer")
    };
    assert_eq!(log.iter().filter(answered).count(), 1, "the answer is in the log");
}

#[tokio::test]
async fn a_no_or_a_cancel_or_another_input_ends_it_masked() {
    let folder = tempfile::tempdir().unwrap();
    let world = asking(&[key_file(folder.path(), KEY)], &[]).await;
    for why in ["refused", "canceled", "not_a_plain_yes"] {
        let lease = world.leased().await;
        let left = v1::ArtifactRef { artifact_id: "out/a.csv".into(), ..Default::default() };
        let outcome = v1::ExecutionOutcome { artifact_refs: vec![left], ..success(SAID) };
        let question = world.held(&lease, outcome).await;
        let text = world.fakes.questions().pop().unwrap().hook_verdicts[0].message.clone();
        assert!(
            text.contains(" and the files `out/a.csv` is to be given out") && text.contains("in 1 place."),
            "{text}"
        );
        match why {
            "refused" => world.fakes.reject(&question),
            "canceled" => {
                let command = |_: &Invocation| Command::RequestCancel {
                    requested_by: "ann".to_owned(),
                    message: String::new(),
                    abort_reason: toolplane_records::vocabulary::AbortReason::UserInterruption,
                };
                world.parts.calls.command(&key(&lease.invocation_id), command).await.unwrap();
                assert!(world.approvals.look_at_result(&key(&lease.invocation_id), None).await);
            }
            _ => world.fakes.approve(&question, Some(json!({ "path": "b" }))),
        }
        let result = world.held_ends(&lease).await;
        assert_eq!(texts(&result.content), ["[redacted email] has [redacted github_token]"]);
        assert!(says(&result, &format!("ask:masked:{why}")), "{why}: {:?}", result.evidence_refs);
    }
}

#[tokio::test]
async fn where_nobody_can_be_asked_it_ends_masked_at_once() {
    let world = asking(&[], &[]).await;
    let result = world.ended(&world.leased().await, success(SAID)).await;
    assert_eq!(texts(&result.content), ["[redacted email] has [redacted github_token]"]);
    assert!(says(&result, "ask:not_possible:no_key"), "{:?}", result.evidence_refs);

    let folder = tempfile::tempdir().unwrap();
    let world = asking(&[key_file(folder.path(), KEY)], &[]).await;
    std::mem::forget(world.worker().await);
    let record = world.call_with(v1::InvocationSpec { no_approver: true, ..spec(r#"{"path":"a"}"#) }).await;
    let leased = world.until_it(&record.invocation_id, |record| record.lease.is_some()).await.expect("a lease");
    let lease = LeaseKey::of(&leased, leased.lease.as_ref().unwrap());
    let result = world.ended(&lease, success(SAID)).await;
    assert!(says(&result, "ask:not_possible:no_approver"), "{:?}", result.evidence_refs);
    let sealed = world.parts.calls.records().original(&key(&lease.invocation_id)).await.unwrap();
    assert!(sealed.is_none(), "nothing is kept that nobody can be asked about");
    let plain = world.ended(&world.leased().await, success("nobody")).await;
    assert_eq!(texts(&plain.content), ["nobody"], "nothing is found, nobody is asked");
}

/// Hooks after a call see what is given out, once that is known; a key that is gone gives out nothing.
#[tokio::test]
async fn hooks_are_shown_what_was_released_and_without_its_key_nothing_is() {
    let folder = tempfile::tempdir().unwrap();
    let world = asking(&[key_file(folder.path(), KEY)], &["look"]).await;
    let seen = Arc::new(parking_lot::Mutex::new(Vec::new()));
    let sees = seen.clone();
    world.fakes.hook(move |request| {
        sees.lock().push(String::from_utf8_lossy(&prost::Message::encode_to_vec(request)).into_owned());
        v1::HookOutput::default()
    });
    let lease = world.leased().await;
    let question = world.held(&lease, success(SAID)).await;
    assert!(seen.lock().is_empty(), "no hook is asked before");
    world.fakes.approve(&question, None);
    let result = world.held_ends(&lease).await;
    assert_eq!(texts(&result.content), ["mia@example.org has [redacted github_token]"]);
    assert!(seen.lock().concat().contains("mia@example.org"));

    let lease = world.leased().await;
    let question = world.held(&lease, success(SAID)).await;
    key_file(folder.path(), "another key of originals, and a long one");
    world.fakes.approve(&question, None);
    let result = world.held_ends(&lease).await;
    assert!(says(&result, "ask:masked:no_key"), "{:?}", result.evidence_refs);
}

/// The state of a question and why it was taken back.
fn state(world: &World, approval_id: &str) -> Option<(v1::ApprovalState, String)> {
    let found = world.fakes.approvals().into_iter().find(|approval| approval.approval_id == approval_id)?;
    Some((found.state(), found.feedback))
}

fn long_ago(approval: &mut v1::Approval) {
    approval.created_at.as_mut().unwrap().seconds -= 10 * 60;
}

/// A scheduler that dies between asking and storing leaves a question that stands for nothing; so does one that dies before it accepts.
#[tokio::test]
async fn a_question_nobody_waits_for_is_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let world = asking(&[key_file(folder.path(), KEY)], &[]).await;
    let lease = world.leased().await;
    let record = world.record(&lease.invocation_id).await;
    let calls = &world.parts.calls;
    let ask = async |digest: &[u8]| {
        let text = ("may it be given out?".to_owned(), toolplane_records::payload::Digest::of(digest));
        world.questions.ask(&record, text, None).await.unwrap().unwrap().approval_id.to_string()
    };
    let (early, other) = (ask(b"early").await, ask(b"other").await);
    world.fakes.change(&early, long_ago);
    world.approvals.withdraw_strays().await.unwrap();
    let said = |why: &str| Some((v1::ApprovalState::Withdrawn, why.to_owned()));
    assert_eq!(state(&world, &early), said("the result was never stored"));
    assert_eq!(state(&world, &other).unwrap().0, v1::ApprovalState::Pending, "it may be on its way");

    let question = world.held(&lease, success(SAID)).await;
    world.fakes.change(&question, long_ago);
    world.approvals.withdraw_strays().await.unwrap();
    assert_eq!(state(&world, &other).unwrap().0, v1::ApprovalState::Pending, "it may be that of a later attempt");
    world.fakes.change(&other, long_ago);
    world.approvals.withdraw_strays().await.unwrap();
    assert_eq!(state(&world, &other), said("another question was put about the result"));
    assert_eq!(state(&world, &question).unwrap().0, v1::ApprovalState::Pending, "this one is waited for");

    // No call has the id of this one.
    let unaccepted = ask(b"unaccepted").await;
    world.fakes.change(&unaccepted, |approval| {
        approval.invocation_id = "inv_none".to_owned();
        long_ago(approval);
    });
    world.approvals.withdraw_strays().await.unwrap();
    assert_eq!(state(&world, &unaccepted), said("its call was never accepted"));

    world.fakes.approve(&question, None);
    world.held_ends(&lease).await;
    let remove = async || world.approvals.remove_once(&world.parts.stays, &world.permission).await.unwrap();
    remove().await;
    assert!(state(&world, &unaccepted).is_some(), "it is kept as long as calls are");
    world.fakes.change(&unaccepted, |approval| approval.created_at.as_mut().unwrap().seconds -= 30 * 24 * 60 * 60);
    world.fakes.change(&question, |approval| approval.created_at.as_mut().unwrap().seconds -= 30 * 24 * 60 * 60);
    let hold = crate::keeping::LegalHold {
        scope: crate::keeping::HoldScope::Tenant,
        reason: "a case".to_owned(),
        set_by: "ann".to_owned(),
        set_at: calls.now().await.unwrap(),
    };
    world.parts.holds.set(&record.tenant, &hold).await.unwrap();
    remove().await;
    assert!(state(&world, &unaccepted).is_some(), "a hold keeps it");
    world.parts.holds.clear(&record.tenant, &hold.scope).await.unwrap();
    remove().await;
    assert!(
        state(&world, &unaccepted).is_none() && state(&world, &question).is_some(),
        "what has a call goes with that"
    );
}
