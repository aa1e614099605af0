//! What every object store is asked for: a directory, memory, a spool, and buckets of clouds.

use bytes::Bytes;
use futures_util::TryStreamExt;
use object_store::path::Path;
use object_store::{Attribute, ObjectStore as _, ObjectStoreExt as _};
use toolplane_records::ids::{InvocationId, InvocationKey, TenantId};
use toolplane_records::payload::Digest;
use toolplane_records::time::Timestamp;

use super::error::PayloadError;
use super::key::PayloadKey;
use super::upload::PART_BYTES;
use super::{PayloadOptions, PayloadOrigin, PayloadStore, StartClaim};

pub(super) const DAY: i64 = 86_400_000;
/// 2026-11-21T00:00:00Z.
pub(super) const NOW: i64 = 1_795_219_200_000;

/// The bounds the suite is run with: a little more than one part, and two days.
pub(super) fn options() -> PayloadOptions {
    PayloadOptions { max_bytes: PART_BYTES as u64 + 1_000_000, retention_days: Some(2) }
}

pub(super) fn origin(tenant: &str, invocation: &str) -> PayloadOrigin {
    PayloadOrigin {
        tenant: TenantId::from_trusted(tenant),
        invocation_id: InvocationId::from_trusted(invocation),
        lease_no: 3,
        media_type: "text/plain".to_owned(),
        made_at: now(),
    }
}

pub(super) fn now() -> Timestamp {
    Timestamp::from_millis(NOW)
}

pub(super) async fn read(store: &PayloadStore, uri: &str, offset: u64, limit: u64) -> Result<Vec<u8>, PayloadError> {
    let part = store.read_range(&uri.parse()?, offset, limit, now()).await?;
    let chunks: Vec<Bytes> = part.stream.try_collect().await?;
    Ok(chunks.concat())
}

/// All of it, on a store with nothing in it.
pub(super) async fn run_all(store: &PayloadStore) {
    store.probe("one").await.expect("a store that can be used");
    bytes_come_back_by_range(store).await;
    the_same_bytes_again_are_the_same_payload(store).await;
    a_long_output_is_streamed(store).await;
    what_is_too_large_or_cut_short_is_not_kept(store).await;
    of_all_claims_the_first_one_stands(store).await;
    expired_is_not_the_same_as_unknown(store).await;
    store.put_archive(now(), "one", Bytes::from("{}\n")).await.expect("archive");
    let left: Vec<_> = store.objects.list(None).map_ok(|found| found.location).try_collect().await.expect("list");
    let strange =
        |path: &&Path| !["results", "start", "archive"].contains(&path.parts().next().expect("a name").as_ref());
    assert_eq!(left.iter().filter(strange).count(), 0, "nothing of probes and uploads is left: {left:?}");
}

async fn bytes_come_back_by_range(store: &PayloadStore) {
    let payload = store.put(&origin("acme", "inv_1"), Bytes::from("0123456789")).await.expect("put");
    let digest = Digest::of(b"0123456789");
    assert_eq!(payload.uri, format!("toolplane://payloads/results/acme/20261121/inv_1/3-{}", digest.hex()));
    assert_eq!((payload.digest, payload.size_bytes), (digest, 10));
    assert_eq!(read(store, &payload.uri, 0, 4).await.expect("head"), b"0123");
    assert_eq!(read(store, &payload.uri, 8, 100).await.expect("tail"), b"89");
    assert_eq!(read(store, &payload.uri, 10, 5).await.expect("end"), b"");
    assert_eq!(read(store, &payload.uri, 3, 0).await.expect("nothing"), b"");
    let beyond = read(store, &payload.uri, 11, 1).await.expect_err("beyond the end");
    assert_eq!(beyond.code(), "PAYLOAD_OFFSET_OUT_OF_RANGE");
    assert_eq!(store.read_verified(&payload, 10, now()).await.expect("whole"), "0123456789");
    let bound = store.read_verified(&payload, 9, now()).await.expect_err("too large to read whole");
    assert_eq!(bound.code(), "PAYLOAD_TOO_LARGE");
    let empty = store.put(&origin("acme", "inv_1"), Bytes::new()).await.expect("put nothing");
    assert_eq!(read(store, &empty.uri, 0, 0).await.expect("nothing"), b"");
}

async fn the_same_bytes_again_are_the_same_payload(store: &PayloadStore) {
    let same = Bytes::from("same");
    let first = store.put(&origin("acme", "inv_1"), same.clone()).await.expect("put");
    assert_eq!(store.put(&origin("acme", "inv_1"), same).await.expect("put again"), first);
    let key: PayloadKey = first.uri.parse().expect("an address");
    if store.attributes("", None).is_empty() {
        return;
    }
    let found = store.objects.get(key.path()).await.expect("there");
    let kept = |attribute| found.attributes.get(&attribute).map(|value| value.as_ref().to_owned());
    assert_eq!(kept(Attribute::ContentType).as_deref(), Some("text/plain"));
    assert_eq!(kept(Attribute::Metadata("sha256".into())), Some(first.digest.hex()));
}

async fn a_long_output_is_streamed(store: &PayloadStore) {
    let chunk = Bytes::from(vec![b'x'; 1_000_000]);
    let whole = chunk.repeat(9);
    for _ in 0..2 {
        let chunks = futures_util::stream::iter((0..9).map(|_| Ok::<_, String>(chunk.clone())));
        let payload = store.put_stream(origin("acme", "inv_2"), chunks).await.expect("put");
        assert_eq!((payload.digest, payload.size_bytes), (Digest::of(&whole), whole.len() as u64));
        assert_eq!(read(store, &payload.uri, 8_999_990, 50).await.expect("tail"), b"xxxxxxxxxx");
        assert_eq!(read(store, &payload.uri, PART_BYTES as u64 - 2, 4).await.expect("across parts"), b"xxxx");
    }
}

async fn what_is_too_large_or_cut_short_is_not_kept(store: &PayloadStore) {
    let most = usize::try_from(store.max_bytes()).expect("a size");
    let too_large = Bytes::from(vec![0; most + 1]);
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
    let of_it = Path::from("results/acme/20261121/inv_3");
    let listed: Vec<_> = store.objects.list(Some(&of_it)).try_collect().await.expect("list");
    assert_eq!(listed.len(), 0);
}

async fn of_all_claims_the_first_one_stands(store: &PayloadStore) {
    let id: InvocationKey = "inv_1/2".parse().expect("a key");
    let claims = (0..8).map(|number| {
        let (store, id) = (store.clone(), id.clone());
        async move { store.claim_start(&id, &format!("lease-{number}")).await.expect("answer") }
    });
    let claims = futures_util::future::join_all(claims).await;
    assert_eq!(claims.iter().filter(|claim| **claim == StartClaim::Mine).count(), 1);
    store.forget_start(&id).await.expect("forget");
    store.forget_start(&id).await.expect("nothing is there");
}

async fn expired_is_not_the_same_as_unknown(store: &PayloadStore) {
    let old = PayloadOrigin { made_at: Timestamp::from_millis(NOW - 3 * DAY), ..origin("acme", "inv_4") };
    let old = store.put(&old, Bytes::from("old")).await.expect("put");
    let fresh = store.put(&origin("acme", "inv_4"), Bytes::from("fresh")).await.expect("put");
    assert_eq!(store.remove_expired(now()).await.expect("sweep"), 1);
    assert_eq!(read(store, &old.uri, 0, 1).await.expect_err("expired").code(), "PAYLOAD_EXPIRED");
    assert_eq!(read(store, &fresh.uri, 0, 9).await.expect("kept"), b"fresh");
    store.remove(&fresh.uri.parse().expect("an address")).await.expect("remove");
    let unknown = PayloadKey::new(&origin("acme", "inv_5"), Digest::of(b"?")).uri();
    for gone in [fresh.uri.as_str(), &unknown] {
        assert_eq!(read(store, gone, 0, 1).await.expect_err("not there").code(), "PAYLOAD_NOT_FOUND");
    }
}
