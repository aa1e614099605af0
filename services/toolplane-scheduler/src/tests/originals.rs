//! Originals of cleaned outputs: kept sealed where policy says so, read by whom it names, and gone when they are to go.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use futures_util::StreamExt as _;
use tonic::{Code, Request};
use toolplane_proto::v1::invocation_service_server::InvocationService as _;
use toolplane_proto::v1::read_original_response::Part;
use toolplane_records::vocabulary::EventClass;
use toolplane_runtime::caller::{Role, RoleSet};

use super::endings::{success, texts, uploaded};
use super::*;
use crate::keeping::{DeletionRequest, HoldScope, LegalHold};
use crate::originals::{KeptOriginal, OriginalRule};

/// A token of the right form that nobody was ever given.
const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
pub(super) const KEY: &str = "a key of originals, of forty characters.";

/// A file with these keys.
pub(super) fn key_file(folder: &Path, keys: &str) -> PathBuf {
    let file = folder.join("originals.key");
    std::fs::write(&file, keys).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    file
}

fn rule(keep_ms: i64) -> OriginalRule {
    let readers = vec!["role:auditor".to_owned(), "ann".to_owned()];
    OriginalRule { found: vec!["credentials".to_owned()], readers, keep_ms, ..OriginalRule::default() }
}

/// A world that keeps originals of credentials for so long, with the keys of `file`.
async fn keeping(file: &Path, keep_ms: i64) -> World {
    let originals = Originals::new(&[file.to_owned()], &[rule(keep_ms)]).unwrap();
    World::keeping(&[], &[], Cleaning::usual(), originals).await
}

fn caller(actor: &str, roles: &[Role]) -> Arc<Caller> {
    Arc::new(Caller {
        actor: Some(actor.to_owned()),
        roles: RoleSet::of(roles),
        authenticated: true,
        ..Caller::clone(&Caller::unauthenticated())
    })
}

impl World {
    /// What `caller` is given of an original: the text of its output, and the bytes of what was kept elsewhere.
    async fn original(&self, id: &InvocationId, caller: &Arc<Caller>) -> Result<(String, Vec<u8>), tonic::Status> {
        let mut request = Request::new(v1::ReadOriginalRequest {
            invocation_id: id.to_string(),
            reason: "case 17".to_owned(),
            requested_by: String::new(),
        });
        request.extensions_mut().insert(Arc::clone(caller));
        let mut messages = self.api().read_original(request).await?.into_inner();
        let (mut said, mut bytes) = (String::new(), Vec::new());
        while let Some(message) = messages.next().await {
            match message?.part.expect("a part") {
                Part::Output(output) => {
                    said = String::from_utf8_lossy(&prost::Message::encode_to_vec(&output)).into_owned()
                }
                Part::Bytes(piece) => bytes.extend_from_slice(&piece.data),
            }
        }
        Ok((said, bytes))
    }

    async fn kept_original(&self, id: &InvocationId) -> Option<KeptOriginal> {
        self.parts.calls.records().original(&key(id)).await.unwrap()
    }

    /// Every sealed part as it lies in the object store.
    async fn sealed(&self, kept: &KeptOriginal) -> Vec<u8> {
        let now = self.parts.calls.now().await.unwrap();
        let mut all = Vec::new();
        for part in &kept.parts {
            all.extend_from_slice(&self.objects.read_verified(&part.sealed, 1 << 22, now).await.unwrap());
        }
        all
    }

    /// Waits until the original of a call is gone from the store and the object store.
    async fn gone(&self, id: &InvocationId, kept: &KeptOriginal) {
        let gone = async || match self.kept_original(id).await {
            None if !self.is_kept(&kept.parts[0].sealed).await => Some(()),
            _ => None,
        };
        toolplane_wait::eventually("the original is gone", Duration::from_secs(20), gone).await;
    }
}

#[tokio::test]
async fn an_original_is_sealed_and_read_by_its_readers_and_each_reading_is_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let world = keeping(&key_file(folder.path(), KEY), 3_600_000).await;
    let lease = world.leased().await;
    let whole = format!("{}token {TOKEN}\n", "an ordinary line of a log\n".repeat(9_000));
    let payload = world.upload(&lease, &whole).await;
    let result = world.ended(&lease, uploaded(&payload, &format!("token {TOKEN} …"))).await;
    assert!(!texts(&result.content)[0].contains(TOKEN));
    assert!(result.evidence_refs.iter().any(|said| said == "original:kept"), "{:?}", result.evidence_refs);
    let (id, kept) = (&lease.invocation_id, world.kept_original(&lease.invocation_id).await.expect("it is kept"));
    assert_eq!((kept.parts.len(), kept.rules[0].as_str()), (2, "github_token"));
    let sealed = world.sealed(&kept).await;
    assert!(sealed.len() > whole.len() && !sealed.windows(20).any(|window| window == &TOKEN.as_bytes()[..20]));
    assert!(!sealed.windows(20).any(|window| window == b"an ordinary line of "));

    // Who is named reads it; nobody else learns whether there is one.
    for reader in [caller("bob", &[Role::Auditor]), caller("ann", &[Role::Agent])] {
        let (said, bytes) = world.original(id, &reader).await.unwrap();
        assert!(said.contains(TOKEN), "{said}");
        assert!(bytes == whole.as_bytes(), "byte for byte");
    }
    for other in [caller("bob", &[Role::Agent, Role::Operator, Role::Approver]), caller("role:auditor", &[])] {
        let refused = world.original(id, &other).await.unwrap_err();
        assert_eq!(refused.code(), Code::PermissionDenied, "{refused}");
    }
    let log = world.parts.calls.records().log(&key(id)).await.unwrap();
    let read = log.iter().filter(|event| event.class == EventClass::ExtOriginalRead);
    let by: Vec<&str> = read.map(|event| event.data.as_ref().unwrap().text()).collect();
    assert_eq!(by, [r#"{"by":"bob","reason":"case 17"}"#, r#"{"by":"ann","reason":"case 17"}"#]);
    assert_eq!(world.orphans().remove(Some(0)).await.unwrap().0, 0, "what is sealed is named");

    // Without its key nobody reads it, and no reading is noted.
    key_file(folder.path(), "another key of originals, and a long one");
    let auditor = caller("bob", &[Role::Auditor]);
    assert_eq!(world.original(id, &auditor).await.unwrap_err().code(), Code::FailedPrecondition);
    key_file(folder.path(), &format!("another key of originals, and a long one\n{KEY}\n"));
    assert!(world.original(id, &auditor).await.is_ok(), "a key that seals no more still opens");
}

#[tokio::test]
async fn nothing_is_kept_without_a_key_or_where_policy_does_not_say_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = key_file(folder.path(), KEY);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let world = keeping(&file, 3_600_000).await;
    let lease = world.leased().await;
    let result = world.ended(&lease, success(&format!("it is {TOKEN}"))).await;
    assert!(result.evidence_refs.iter().any(|said| said == "original:not_kept:no_key"), "{:?}", result.evidence_refs);
    assert_eq!(world.kept_original(&lease.invocation_id).await, None);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    for said in ["nothing to take out", "hidden\u{202e}"] {
        let lease = world.leased().await;
        let result = world.ended(&lease, success(said)).await;
        assert!(!result.evidence_refs.iter().any(|said| said.starts_with("original:")), "{:?}", result.evidence_refs);
        let auditor = caller("bob", &[Role::Auditor]);
        assert_eq!(world.original(&lease.invocation_id, &auditor).await.unwrap_err().code(), Code::NotFound);
    }
}

#[tokio::test]
async fn an_original_goes_with_its_time_or_its_call_and_a_hold_keeps_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = key_file(folder.path(), KEY);
    let world = keeping(&file, 3_600_000).await;
    let lease = world.leased().await;
    world.ended(&lease, success(&format!("it is {TOKEN}"))).await;
    let (id, kept) = (&lease.invocation_id, world.kept_original(&lease.invocation_id).await.unwrap());
    let request = DeletionRequest { by: "alice", reason: "erasure request 4" };
    world.parts.deletions.delete(&key(id), request).await.unwrap();
    world.gone(id, &kept).await;

    // One whose time is over at once: a hold keeps it, and it goes when the hold does.
    let world = keeping(&file, 0).await;
    let tenant = TenantId::unauthenticated();
    let set_at = world.parts.calls.now().await.unwrap();
    let hold = LegalHold { scope: HoldScope::Tenant, reason: "case 17".into(), set_by: "bob".into(), set_at };
    world.parts.holds.set(&tenant, &hold).await.unwrap();
    let lease = world.leased().await;
    world.ended(&lease, success(&format!("it is {TOKEN}"))).await;
    let (id, kept) = (&lease.invocation_id, world.kept_original(&lease.invocation_id).await.unwrap());
    let put_off = async || {
        let all = toolplane_store::ScoreRange::all();
        let page = world.parts.calls.storage().scan(crate::storage::keys::ORIGINALS, all, 10).await.unwrap();
        page.first().filter(|entry| entry.score > crate::storage::commit::score(kept.expires_at)).map(|_| ())
    };
    toolplane_wait::eventually("it is looked at and stays", Duration::from_secs(20), put_off).await;
    assert!(world.is_kept(&kept.parts[0].sealed).await);
    let auditor = caller("bob", &[Role::Auditor]);
    assert_eq!(world.original(id, &auditor).await.unwrap_err().code(), Code::NotFound, "held, and for nobody to read");
    world.parts.holds.clear(&tenant, &HoldScope::Tenant).await.unwrap();
    let lease = world.leased().await;
    world.ended(&lease, success(&format!("it is {TOKEN}"))).await;
    let later = &lease.invocation_id;
    toolplane_wait::eventually("its time is over", Duration::from_secs(20), async || {
        world.kept_original(later).await.is_none().then_some(())
    })
    .await;
}
