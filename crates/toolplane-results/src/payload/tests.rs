use bytes::Bytes;
use futures_util::TryStreamExt;
use object_store::ObjectStoreExt as _;
use proptest::prelude::*;
use toolplane_records::ids::{InvocationId, TenantId};
use toolplane_records::payload::Digest;
use toolplane_records::time::Timestamp;

use super::error::PayloadError;
use super::key::PayloadKey;
use super::writer::PART_BYTES;
use super::*;

/// A little more than one part.
const MOST: usize = PART_BYTES + 1_000_000;
const DAY: i64 = 86_400_000;
/// 2026-11-21T00:00:00Z.
const NOW: i64 = 1_795_219_200_000;

fn origin(tenant: &str, invocation: &str) -> PayloadOrigin {
    PayloadOrigin {
        tenant: TenantId::from_trusted(tenant),
        invocation_id: InvocationId::from_trusted(invocation),
        lease_no: 3,
        media_type: "text/plain".to_owned(),
        made_at: Timestamp::from_millis(NOW),
    }
}

fn now() -> Timestamp {
    Timestamp::from_millis(NOW)
}

/// The same behaviour is asked of every object store.
fn stores() -> (tempfile::TempDir, [PayloadStore; 2]) {
    let options = PayloadOptions { max_bytes: MOST as u64, retention_days: Some(2) };
    let folder = tempfile::tempdir().expect("temporary folder");
    let local = PayloadStore::local(&folder.path().join("objects"), options.clone()).expect("local store");
    (folder, [local, PayloadStore::in_memory(options)])
}

async fn read(store: &PayloadStore, uri: &str, offset: u64, limit: u64) -> Result<Vec<u8>, PayloadError> {
    let part = store.read_range(&uri.parse()?, offset, limit, now()).await?;
    let chunks: Vec<Bytes> = part.stream.try_collect().await?;
    Ok(chunks.concat())
}

#[tokio::test]
async fn bytes_come_back_by_range() {
    let (_folder, stores) = stores();
    for store in stores {
        let payload = store.put(&origin("acme", "inv_1"), Bytes::from("0123456789")).await.expect("put");
        let digest = Digest::of(b"0123456789");
        assert_eq!(payload.uri, format!("toolplane://payloads/results/acme/20261121/inv_1/3-{}", digest.hex()));
        assert_eq!((payload.digest, payload.size_bytes), (digest, 10));
        assert_eq!(read(&store, &payload.uri, 0, 4).await.expect("head"), b"0123");
        assert_eq!(read(&store, &payload.uri, 8, 100).await.expect("tail"), b"89");
        assert_eq!(read(&store, &payload.uri, 10, 5).await.expect("end"), b"");
        assert_eq!(read(&store, &payload.uri, 3, 0).await.expect("nothing"), b"");
        let beyond = read(&store, &payload.uri, 11, 1).await.expect_err("beyond the end");
        assert_eq!(beyond.code(), "PAYLOAD_OFFSET_OUT_OF_RANGE");
        assert_eq!(store.read_verified(&payload, 10, now()).await.expect("whole"), "0123456789");
        let bound = store.read_verified(&payload, 9, now()).await.expect_err("too large to read whole");
        assert_eq!(bound.code(), "PAYLOAD_TOO_LARGE");
    }
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

#[tokio::test]
async fn a_long_output_is_streamed_and_leaves_nothing_behind() {
    let (folder, stores) = stores();
    let chunk = Bytes::from(vec![b'x'; 1_000_000]);
    let whole = chunk.repeat(9);
    for store in &stores {
        for _ in 0..2 {
            let chunks = futures_util::stream::iter((0..9).map(|_| Ok::<_, String>(chunk.clone())));
            let payload = store.put_stream(origin("acme", "inv_2"), chunks).await.expect("put");
            assert_eq!((payload.digest, payload.size_bytes), (Digest::of(&whole), whole.len() as u64));
            assert_eq!(read(store, &payload.uri, 8_999_990, 50).await.expect("tail"), b"xxxxxxxxxx");
        }
    }
    assert_eq!(files(&folder.path().join("objects")).len(), 1, "only the payload remains");
}

#[tokio::test]
async fn an_output_over_the_bound_or_cut_short_is_not_kept() {
    let (_folder, stores) = stores();
    for store in &stores {
        let too_large = Bytes::from(vec![0; MOST + 1]);
        let put = store.put(&origin("acme", "inv_3"), too_large.clone()).await.expect_err("too large");
        assert_eq!(put.code(), "PAYLOAD_TOO_LARGE");
        let mut writer = store.writer(origin("acme", "inv_3"));
        writer.write(too_large.slice(..PART_BYTES + 1)).await.expect("within the bound");
        let over = writer.write(too_large.slice(..1_000_000)).await.expect_err("over the bound");
        assert_eq!(over.code(), "PAYLOAD_TOO_LARGE");
        writer.abort().await;
        let broken = [Ok(Bytes::from("a")), Err("worker died")];
        let put = store.put_stream(origin("acme", "inv_3"), futures_util::stream::iter(broken)).await;
        assert_eq!(put.expect_err("interrupted").code(), "PAYLOAD_UPLOAD_INTERRUPTED");
        let listed: Vec<_> = store.objects.list(None).try_collect().await.expect("list");
        assert_eq!(listed.len(), 0);
    }
}

#[tokio::test]
async fn expired_is_not_the_same_as_unknown() {
    let (_folder, stores) = stores();
    for store in &stores {
        let old = PayloadOrigin { made_at: Timestamp::from_millis(NOW - 3 * DAY), ..origin("acme", "inv_4") };
        let old = store.put(&old, Bytes::from("old")).await.expect("put");
        let fresh = store.put(&origin("acme", "inv_4"), Bytes::from("fresh")).await.expect("put");
        assert_eq!(store.remove_expired(now()).await.expect("sweep"), 1);
        assert_eq!(read(store, &old.uri, 0, 1).await.expect_err("expired").code(), "PAYLOAD_EXPIRED");
        assert_eq!(read(store, &fresh.uri, 0, 9).await.expect("kept"), b"fresh");
        let unknown = PayloadKey::new(&origin("acme", "inv_5"), Digest::of(b"?")).uri();
        assert_eq!(read(store, &unknown, 0, 1).await.expect_err("unknown").code(), "PAYLOAD_NOT_FOUND");
    }
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

fn files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("folder") {
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
    }
}
