use bytes::Bytes;
use object_store::ObjectStoreExt as _;
use proptest::prelude::*;
use toolplane_records::ids::{InvocationId, InvocationKey, TenantId, path_segment};
use toolplane_records::payload::Digest;

use super::conformance::{self, now, options, origin, read};
use super::key::PayloadKey;
use super::*;

mod clouds;
mod spool;

fn stores() -> (tempfile::TempDir, [PayloadStore; 2]) {
    let folder = tempfile::tempdir().expect("temporary folder");
    let local = PayloadStore::local(&folder.path().join("objects"), options()).expect("local store");
    (folder, [local, PayloadStore::in_memory(options())])
}

#[tokio::test]
async fn a_directory_and_memory_do_what_is_asked_of_every_store() {
    let (folder, stores) = stores();
    for store in &stores {
        conformance::run_all(store).await;
    }
    let staged = files(&folder.path().join("objects/staging"));
    assert_eq!(staged.len(), 0, "{staged:?}");
}

#[tokio::test]
async fn the_same_bytes_again_are_the_same_payload_and_damage_is_found() {
    let (folder, [local, _]) = stores();
    let first = local.put(&origin("acme", "inv_1"), Bytes::from("same")).await.expect("put");
    assert_eq!(local.put(&origin("acme", "inv_1"), Bytes::from("same")).await.expect("put again"), first);
    let file = folder.path().join("objects").join(first.uri.trim_start_matches(key::URI_PREFIX));
    std::fs::write(file, "damaged").expect("damage");
    let put = local.put(&origin("acme", "inv_1"), Bytes::from("same")).await.expect_err("damaged");
    assert_eq!(put.code(), "PAYLOAD_DAMAGED");
    let read = local.read_verified(&first, 100, now()).await.expect_err("damaged");
    assert_eq!(read.code(), "PAYLOAD_DAMAGED");
}

#[tokio::test]
async fn no_part_of_a_damaged_payload_is_given() {
    let (folder, [local, _]) = stores();
    let whole = Bytes::from(vec![b'x'; 100_000]);
    let kept = local.put(&origin("acme", "inv_1"), whole.clone()).await.expect("put");
    assert_eq!(read(&local, &kept.uri, 5, 3).await.expect("sound"), b"xxx");
    let file = folder.path().join("objects").join(kept.uri.trim_start_matches(key::URI_PREFIX));
    let mut flipped = whole.to_vec();
    flipped[50_000] ^= 1;
    // As long as before; cut, so that what is asked for lies behind its end; and nothing at all.
    for spoiled in [flipped.as_slice(), &flipped[..10], b""] {
        std::fs::write(&file, spoiled).expect("damage");
        for (offset, limit) in [(0, 10), (50_000, 1), (99_990, u64::MAX), (5, 0)] {
            let refused = read(&local, &kept.uri, offset, limit).await.expect_err("damaged");
            assert_eq!(refused.code(), "PAYLOAD_DAMAGED", "{offset}");
            assert!(refused.to_string().contains(kept.uri.as_str()), "{refused}");
        }
    }
    std::fs::write(&file, &whole).expect("mend");
    assert_eq!(read(&local, &kept.uri, 50_000, 1).await.expect("sound again"), b"x");
}

#[tokio::test]
async fn a_payload_is_read_whole_once_to_be_proved() {
    let (folder, [local, _]) = stores();
    let kept = local.put(&origin("acme", "inv_1"), Bytes::from("0123456789")).await.expect("put");
    let proved = || local.proofs.clone();
    let key: PayloadKey = kept.uri.parse().expect("an address");
    let before = local.objects.head(key.path()).await.expect("there");
    assert!(!proved().has(&before));
    read(&local, &kept.uri, 2, 1).await.expect("sound");
    assert!(proved().has(&before), "a second part is read alone");
    // The same bytes written again are another file, which is proved again.
    let file = folder.path().join("objects").join(kept.uri.trim_start_matches(key::URI_PREFIX));
    let changed = std::time::SystemTime::UNIX_EPOCH;
    std::fs::File::options().write(true).open(file).and_then(|file| file.set_modified(changed)).expect("touch");
    let after = local.objects.head(key.path()).await.expect("there");
    assert!(!proved().has(&after));
    assert_eq!(read(&local, &kept.uri, 2, 1).await.expect("sound"), b"2");
    assert!(proved().has(&after));
}

#[test]
fn only_addresses_of_our_making_are_taken() {
    let hex = Digest::of(b"x").hex();
    for (tenant, day, invocation, name) in [
        ("..", "20261121", "inv", format!("1-{hex}")),
        ("a", "2026112", "inv", format!("1-{hex}")),
        ("a", "20261121", "", format!("1-{hex}")),
        ("a", "20261121", "inv", format!("01-{hex}")),
        ("a", "20261121", "inv", format!("1-{}", hex.to_uppercase())),
        ("a", "20261121", "inv", format!("1-{hex}/../../x")),
        ("a%2e", "20261121", "inv", format!("1-{hex}")),
    ] {
        let text = format!("toolplane://payloads/results/{tenant}/{day}/{invocation}/{name}");
        let error = text.parse::<PayloadKey>().expect_err(&text);
        assert_eq!(error.code(), "PAYLOAD_ADDRESS_INVALID");
    }
    for text in ["", "file:///etc/passwd", "toolplane://payloads/staging/20261121/x"] {
        assert!(text.parse::<PayloadKey>().is_err(), "{text}");
    }
}

pub(super) fn files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("entry").path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

proptest! {
    #[test]
    fn no_identifier_escapes_its_place(
        tenant in "[A-Za-z0-9._:/@+-]{1,256}",
        other in "[A-Za-z0-9._:/@+-]{1,256}",
        invocation in "(\\.\\./){1,9}[a-z/.]{0,20}",
    ) {
        let key = PayloadKey::new(&origin(&tenant, &invocation), Digest::of(b"x"));
        prop_assert_eq!(key.path().parts().count(), 5);
        prop_assert!(key.path().parts().all(|part| part.as_ref().len() < 200 && !part.as_ref().contains('.')));
        prop_assert_eq!(&key.uri().parse::<PayloadKey>().expect("our own address"), &key);
        prop_assert_eq!(key.digest(), Some(Digest::of(b"x")));
        prop_assert!(key.belongs_to(&TenantId::from_trusted(&tenant)));
        prop_assert_eq!(key.belongs_to(&TenantId::from_trusted(&other)), tenant == other);
        let call = InvocationKey::new(&TenantId::from_trusted(&tenant), &InvocationId::from_trusted(&invocation));
        prop_assert!(key.call().is_none_or(|found| found == call), "never another call");
        prop_assert!(key.call().is_some() || [&tenant, &invocation].iter().any(|id| path_segment(id).contains("=h")));
    }
}
