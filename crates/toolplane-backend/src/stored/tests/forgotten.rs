//! Damage of which there is no backup, taken out.

use std::fs;

use tempfile::TempDir;
use toolplane_runtime::Config;
use toolplane_runtime::config::StoreBackend;
use toolplane_store::{Append, Commit, CommitOutcome, Family, IndexOp, RecordKey, ScoreRange, Store, Write};
use toolplane_store_embedded::{EmbeddedOptions, EmbeddedStore};
use toolplane_testkit::redis::{RedisOptions, RedisServer};

use super::super::{Report, backup, forget};
use super::{TEXT, check, config, filled, flip, key, payload, payloads_of, refusal, said};
use crate::forget::{Along, DamageLocation, Entries, Verdict};
use crate::{Backend, Keeper};

const LOG: &str = "log/said";

/// The record goes with its log and its places in lists.
fn goes(_: Keeper, place: &DamageLocation) -> Verdict {
    match place {
        DamageLocation::Record(key) => {
            let entries = Some(Entries { member: "said".to_owned(), stand_for_it: |index| index.starts_with("list/") });
            Verdict::Goes(Along { records: vec![key.clone()], streams: vec![LOG.to_owned()], entries })
        }
        other => Verdict::usual(other),
    }
}

/// A log and two lists of the record, and one that has a member of the same name.
async fn refer_to_it(store: &dyn Store) {
    let entry = |index: &str| IndexOp::Put { index: index.to_owned(), score: 1, member: "said".to_owned() };
    let events = vec![Append { stream: LOG.to_owned(), first_seq: 1, events: vec!["first event".into()] }];
    let index = vec![entry("list/a"), entry("list/b"), entry("other")];
    let commit = Commit { index, events, ..Commit::default() };
    assert_eq!(store.commit(commit).await, Ok(CommitOutcome::Applied));
}

async fn check_gone(store: &dyn Store) {
    assert_eq!(store.get(&key()).await, Ok(None));
    assert_eq!(store.events(LOG, 1, 9).await.unwrap().head_seq, 0);
    for (index, left) in [("list/a", 0), ("list/b", 0), ("other", 1)] {
        assert_eq!(store.scan(index, ScoreRange::all(), 9).await.unwrap().len(), left, "{index}");
    }
    assert!(store.damage().is_empty());
}

fn named(report: &Report) -> Vec<(&str, &str)> {
    let damaged = report.stores.iter().flat_map(|part| &part.damaged);
    damaged.map(|damage| (damage.kind.as_str(), damage.name.as_str())).collect()
}

/// Forgets the record and looks at the file that keeps it.
async fn forget_it(config: &Config, kept: &[&str]) {
    let stays = |_, _: &DamageLocation| Verdict::Stays("it is needed");
    assert!(refusal(forget(config, "meta", "said", stays).await).contains("it is needed"));
    let done = forget(config, "meta", "said", goes).await.unwrap();
    assert!(done.file.starts_with(&config.server.data_dir));
    let text = fs::read_to_string(&done.file).unwrap();
    for bytes in kept {
        assert!(text.contains(&hex::encode(bytes)), "{bytes} is not in {text}");
    }
    let report = check(config, payloads_of).await.unwrap();
    assert!(report.sound, "{report:?}");
    let text = refusal(forget(config, "meta", "said", goes).await);
    assert!(text.contains("no damaged meta `said`"), "what is sound is not taken out: {text}");
}

#[tokio::test]
async fn what_nobody_has_is_taken_out_of_a_directory() {
    let root = TempDir::new().unwrap();
    let config = filled(root.path()).await;
    let open = || EmbeddedStore::open(root.path().join("permission"), EmbeddedOptions::default()).unwrap();
    let store = open();
    refer_to_it(&store).await;
    store.close().await.unwrap();
    drop(store);
    flip(&root.path().join("permission/state.redb"), TEXT.as_bytes());
    // Opening sets it aside, and it is named as ever.
    for _ in 0..2 {
        assert_eq!(named(&check(&config, payloads_of).await.unwrap()), [("meta", "said")]);
        open().close().await.unwrap();
    }
    // The fourth byte of the text is what was flipped.
    forget_it(&config, &["first event", &TEXT[4..]]).await;
    check_gone(&open()).await;
    assert!(said(root.path(), "scheduler").await.starts_with("scheduler"), "others have such a record too");
}

/// The input of a call is of the same kind as a kept output, and has no address.
#[tokio::test]
async fn a_damaged_input_is_taken_out() {
    let root = TempDir::new().unwrap();
    let config = filled(root.path()).await;
    let input = RecordKey::new(Family::Payload, "inv_1/abc");
    let open = || EmbeddedStore::open(root.path().join("scheduler"), EmbeddedOptions::default()).unwrap();
    let store = open();
    let write = Write::Put { key: input.clone(), bytes: "an input to be damaged".into() };
    let commit = Commit { writes: vec![write], ..Commit::default() };
    assert_eq!(store.commit(commit).await, Ok(CommitOutcome::Applied));
    store.close().await.unwrap();
    drop(store);
    flip(&root.path().join("scheduler/state.redb"), b"an input to be");
    assert_eq!(named(&check(&config, payloads_of).await.unwrap()), [("payload", "inv_1/abc")]);
    forget(&config, "payload", "inv_1/abc", |_, place| Verdict::usual(place)).await.unwrap();
    assert!(check(&config, payloads_of).await.unwrap().sound);
    assert_eq!(open().get(&input).await, Ok(None));
}

#[tokio::test]
async fn a_damaged_payload_is_taken_out() {
    let root = TempDir::new().unwrap();
    let config = filled(root.path()).await;
    let file = payload(&config);
    let address = format!("toolplane://payloads/{}", file.strip_prefix(config.objects_dir()).unwrap().display());
    // A result names it, and goes on to.
    let store = EmbeddedStore::open(root.path().join("scheduler"), EmbeddedOptions::default()).unwrap();
    let names_it = Write::Put { key: RecordKey::new(Family::Result, "default/inv_1"), bytes: address.clone().into() };
    let commit = Commit { writes: vec![names_it], ..Commit::default() };
    assert_eq!(store.commit(commit).await, Ok(CommitOutcome::Applied));
    store.close().await.unwrap();
    drop(store);
    let sound = refusal(forget(&config, "payload", &address, goes).await);
    assert!(sound.contains("no damaged payload"), "what is sound is not taken out: {sound}");
    fs::write(&file, b"other bytes").unwrap();
    let report = check(&config, payloads_of).await.unwrap();
    let [damaged] = &report.objects.damaged[..] else { panic!("{report:?}") };
    assert_eq!((damaged.kind.as_str(), damaged.name.as_str()), ("payload", address.as_str()));
    assert!(damaged.reason.contains("digest"), "{damaged:?}");
    let open = EmbeddedStore::open(root.path().join("surface"), EmbeddedOptions::default()).unwrap();
    assert!(refusal(forget(&config, "payload", &address, goes).await).contains("in use"));
    drop(open);
    let done = forget(&config, "payload", &address, goes).await.unwrap();
    assert!(done.file.starts_with(root.path().join("forgotten")) && done.file.ends_with(file.file_name().unwrap()));
    assert_eq!((fs::read(&done.file).unwrap(), file.exists()), (b"other bytes".to_vec(), false));
    assert!(check(&config, payloads_of).await.unwrap().sound, "what was taken out is not missing");
    assert_eq!(backup(&config, &root.path().join("copy"), payloads_of).unwrap().missing, []);
    for other in ["toolplane://payloads/../../etc/passwd", &address] {
        assert!(refusal(forget(&config, "payload", other, goes).await).contains("no damaged payload"), "{other}");
    }
}

#[tokio::test]
async fn a_record_without_a_readable_name_is_taken_out() {
    let root = TempDir::new().unwrap();
    let config = filled(root.path()).await;
    let tables = root.path().join("surface/state.redb");
    let mut bytes = fs::read(&tables).unwrap();
    let name = b"\x0asaid";
    let places: Vec<_> = (0..bytes.len() - name.len()).filter(|at| bytes[*at..].starts_with(name)).collect();
    assert!(!places.is_empty());
    places.into_iter().for_each(|at| bytes[at + 2] |= 0x80);
    fs::write(&tables, bytes).unwrap();
    let report = check(&config, payloads_of).await.unwrap();
    let [("part", name)] = named(&report)[..] else { panic!("{report:?}") };
    let done = forget(&config, "part", name, goes).await.unwrap();
    assert_eq!(done.values.len(), 1);
    assert!(hex::decode(&done.values[0].bytes).unwrap().ends_with(TEXT.as_bytes()));
    assert!(check(&config, payloads_of).await.unwrap().sound);
}

#[tokio::test]
async fn what_nobody_has_is_taken_out_of_redis() {
    for keeper in [Keeper::Scheduler, Keeper::Surface] {
        taken_out_of_redis(keeper).await;
    }
}

async fn taken_out_of_redis(keeper: Keeper) {
    let server = RedisServer::start(RedisOptions::default()).await.unwrap();
    let root = TempDir::new().unwrap();
    let mut config = config(root.path());
    config.store.backend = StoreBackend::Redis;
    config.store.redis.url = Some(server.url());
    let backend = Backend::open(&config, keeper).await.unwrap();
    let commit = Commit { writes: vec![Write::Put { key: key(), bytes: TEXT.into() }], ..Commit::default() };
    assert_eq!(backend.store().commit(commit).await, Ok(CommitOutcome::Applied));
    refer_to_it(&*backend.store()).await;
    assert!(check(&config, payloads_of).await.unwrap().sound);
    let row = format!("{{{}}}:r:m:said", keeper.namespace("toolplane"));
    server.command(&["SETRANGE", &row, "20", "?"]).unwrap();
    let report = check(&config, payloads_of).await.unwrap();
    assert_eq!(named(&report), [("meta", "said")]);
    assert_eq!(report.stores.iter().map(|part| part.role).collect::<Vec<_>>(), ["surface", "permission", "scheduler"]);
    forget_it(&config, &["first event", &TEXT[12..]]).await;
    check_gone(&*backend.store()).await;
}
