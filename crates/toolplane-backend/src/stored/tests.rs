use std::fs;
use std::path::Path;

use bytes::Bytes;
use tempfile::TempDir;
use toolplane_runtime::Config;
use toolplane_runtime::config::StoreBackend;
use toolplane_store::{Commit, CommitOutcome, Family, RecordKey, Store as _, Write};
use toolplane_store_embedded::{EmbeddedOptions, EmbeddedStore};

use super::{StoredError, backup, check, restore};
use crate::Keeper;

mod forgotten;
mod full;

const TEXT: &str = "what was said, and nothing else that is like it";
const PAYLOAD: &[u8] = b"the bytes of a payload";

fn config(dir: &Path) -> Config {
    let mut config = Config::default();
    config.server.data_dir = dir.to_owned();
    config
}

fn key() -> RecordKey {
    RecordKey::new(Family::Meta, "said")
}

/// A cluster's stores with a record each and one payload.
async fn filled(dir: &Path) -> Config {
    for role in Keeper::ALL.map(Keeper::as_str) {
        let store = EmbeddedStore::open(dir.join(role), EmbeddedOptions::default()).unwrap();
        let write = Write::Put { key: key(), bytes: Bytes::from(format!("{role}: {TEXT}")) };
        let commit = Commit { writes: vec![write], ..Commit::default() };
        assert_eq!(store.commit(commit).await, Ok(CommitOutcome::Applied));
        store.close().await.unwrap();
    }
    let config = config(dir);
    let path = payload(&config);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, PAYLOAD).unwrap();
    config
}

/// A record names the payloads whose addresses are its lines.
fn payloads_of(_: Keeper, key: &RecordKey, bytes: &[u8]) -> Vec<String> {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    text.lines().filter(|_| key.family == Family::Result).map(str::to_owned).collect()
}

fn payload(config: &Config) -> std::path::PathBuf {
    let digest = toolplane_records::payload::Digest::of(PAYLOAD);
    config.objects_dir().join("results/default/20260101/inv_1").join(format!("1-{}", digest.hex()))
}

async fn said(dir: &Path, role: &str) -> String {
    let store = EmbeddedStore::open(dir.join(role), EmbeddedOptions::default()).unwrap();
    let found = store.get(&key()).await.unwrap().unwrap();
    store.close().await.unwrap();
    String::from_utf8(found.bytes.to_vec()).unwrap()
}

fn flip(path: &Path, needle: &[u8]) {
    let mut bytes = fs::read(path).unwrap();
    let places: Vec<_> = (0..bytes.len() - needle.len()).filter(|at| bytes[*at..].starts_with(needle)).collect();
    assert!(!places.is_empty());
    places.into_iter().for_each(|at| bytes[at + 3] ^= 0x20);
    fs::write(path, bytes).unwrap();
}

fn refusal<T: std::fmt::Debug>(answer: Result<T, StoredError>) -> String {
    answer.unwrap_err().to_string()
}

async fn is_sound(config: &Config) -> bool {
    check(config, payloads_of).await.unwrap().sound
}

#[tokio::test]
async fn what_is_backed_up_comes_back() {
    let root = TempDir::new().unwrap();
    let from = filled(&root.path().join("from")).await;
    let copy = root.path().join("copy");
    assert!(backup(&from, &copy, payloads_of).unwrap().files >= 4, "three stores and a payload");
    assert!(refusal(backup(&from, &copy, payloads_of)).contains("already"), "a backup is never written over");

    let to = config(&root.path().join("to"));
    restore(&to, &copy).unwrap();
    for role in Keeper::ALL.map(Keeper::as_str) {
        assert_eq!(said(&to.server.data_dir, role).await, format!("{role}: {TEXT}"));
    }
    assert_eq!(fs::read(payload(&to)).unwrap(), PAYLOAD);
    assert!(is_sound(&to).await);
    // Nothing is written over what is there.
    let text = refusal(restore(&to, &copy));
    assert!(text.contains("holds something") && text.contains("to/surface"), "{text}");
}

/// Earlier versions kept tools and surfaces in a directory beside Redis: until it is moved there, it is looked after.
#[tokio::test]
async fn what_the_surface_role_kept_beside_redis_is_looked_after() {
    let (from, to, copy) = (TempDir::new().unwrap(), TempDir::new().unwrap(), TempDir::new().unwrap());
    let mut before = filled(from.path()).await;
    before.store.backend = StoreBackend::Redis;
    let copied = backup(&before, &copy.path().join("backup"), payloads_of).unwrap();
    assert_eq!(copied.not_included, ["surface", "permission", "scheduler"]);
    let mut after = config(to.path());
    after.store.backend = StoreBackend::Redis;
    restore(&after, &copy.path().join("backup")).unwrap();
    assert_eq!(said(to.path(), "surface").await, format!("surface: {TEXT}"));
    assert!(!to.path().join("scheduler").exists());
}

#[tokio::test]
async fn a_store_in_use_is_left_alone() {
    let root = TempDir::new().unwrap();
    let config = filled(&root.path().join("data")).await;
    let open = EmbeddedStore::open(config.server.data_dir.join("scheduler"), EmbeddedOptions::default()).unwrap();
    let copy = root.path().join("copy");
    let text = refusal(backup(&config, &copy, payloads_of));
    assert!(text.contains("in use") && text.contains("scheduler"), "{text}");
    assert!(refusal(check(&config, payloads_of).await).contains("in use"));
    assert!(!copy.exists());
    drop(open);
    backup(&config, &copy, payloads_of).unwrap();
}

#[tokio::test]
async fn damage_is_found_and_not_backed_up() {
    let root = TempDir::new().unwrap();
    let config = filled(&root.path().join("data")).await;
    assert!(is_sound(&config).await);
    let copy = root.path().join("copy");
    flip(&config.server.data_dir.join("permission/state.redb"), TEXT.as_bytes());
    assert!(!is_sound(&config).await);
    let text = refusal(backup(&config, &copy, payloads_of));
    assert!(text.contains("permission") && text.contains("damaged"), "{text}");
    assert!(!copy.exists());

    let config = filled(&root.path().join("other")).await;
    fs::write(payload(&config), b"other bytes of a payload").unwrap();
    assert!(!is_sound(&config).await, "payloads are proved too");
    let text = refusal(backup(&config, &copy, payloads_of));
    assert!(text.contains(&payload(&config).display().to_string()) && text.contains("damaged"), "{text}");
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 2, "no part of a copy is left");
}

#[tokio::test]
async fn where_nothing_is_stored_nothing_is_sound() {
    let root = TempDir::new().unwrap();
    let elsewhere = config(&root.path().join("elsewhere"));
    let error = check(&elsewhere, payloads_of).await.unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("elsewhere"), "{error}");
    assert!(!elsewhere.server.data_dir.exists());
}

#[tokio::test]
async fn a_backup_that_is_damaged_or_cut_restores_nothing() {
    let root = TempDir::new().unwrap();
    let from = filled(&root.path().join("from")).await;
    let to = config(&root.path().join("to"));
    let spoils: [fn(&Path); 5] = [
        |copy| flip(&copy.join("stores/scheduler/state.redb"), TEXT.as_bytes()),
        |copy| fs::write(copy.join("stores/surface/state.redb"), b"cut").unwrap(),
        |copy| fs::remove_dir_all(copy.join("objects")).unwrap(),
        |copy| fs::write(copy.join("manifest.json"), b"{").unwrap(),
        |copy| {
            let path = copy.join("manifest.json");
            let text = fs::read_to_string(&path).unwrap();
            fs::write(path, text.replacen("stores/surface/", "stores/surface/../../../", 1)).unwrap();
        },
    ];
    for (number, spoil) in spoils.into_iter().enumerate() {
        let copy = root.path().join(format!("copy-{number}"));
        backup(&from, &copy, payloads_of).unwrap();
        spoil(&copy);
        let text = refusal(restore(&to, &copy));
        assert!(text.contains(&format!("copy-{number}")), "{number}: {text}");
        assert!(!to.server.data_dir.exists(), "{number}: something was written");
    }
}

#[tokio::test]
async fn a_backup_that_cannot_be_finished_leaves_none() {
    let root = TempDir::new().unwrap();
    let config = filled(&root.path().join("data")).await;
    // A payload that cannot be read, in the middle of the copy.
    let object = payload(&config);
    fs::remove_file(&object).unwrap();
    std::os::unix::fs::symlink("/nowhere", &object).unwrap();
    let copy = root.path().join("copy");
    backup(&config, &copy, payloads_of).unwrap();
    fs::remove_dir_all(&copy).unwrap();
    // The target lies where no directory can be.
    fs::write(root.path().join("file"), b"").unwrap();
    let text = refusal(backup(&config, &root.path().join("file/copy"), payloads_of));
    assert!(text.contains("file"), "{text}");
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 2, "nothing is left behind");
}

#[tokio::test]
async fn a_payload_that_is_named_and_not_there_is_told() {
    let root = TempDir::new().unwrap();
    let config = filled(&root.path().join("data")).await;
    let name = |config: &Config| payload(config).strip_prefix(config.objects_dir()).unwrap().display().to_string();
    let uri = format!("toolplane://payloads/{}", name(&config));
    let result = |id: &str| RecordKey::new(Family::Result, id);
    let commit = async |write: Write, laid_down: bool| {
        let store = EmbeddedStore::open(config.server.data_dir.join("scheduler"), EmbeddedOptions::default()).unwrap();
        let commit = Commit { writes: vec![write], ..Commit::default() };
        assert_eq!(store.commit(commit).await, Ok(CommitOutcome::Applied));
        if laid_down {
            store.checkpoint().await.unwrap();
        }
        store.close().await.unwrap();
    };
    let put = |id: &str| Write::Put { key: result(id), bytes: Bytes::from(uri.clone()) };
    commit(put("default/inv_1"), true).await;
    assert!(is_sound(&config).await);
    assert_eq!(backup(&config, &root.path().join("whole"), payloads_of).unwrap().missing, []);

    fs::remove_file(payload(&config)).unwrap();
    let report = check(&config, payloads_of).await.unwrap();
    assert!(!report.sound);
    let [lost] = &report.objects.damaged[..] else { panic!("{report:?}") };
    assert_eq!((lost.kind.as_str(), lost.name.as_str()), ("payload", uri.as_str()));
    assert!(lost.reason.contains("default/inv_1"), "{lost:?}");
    let copied = backup(&config, &root.path().join("rest"), payloads_of).unwrap();
    assert_eq!(copied.missing, report.objects.damaged);

    // What is named in the log alone counts as well, and what goes names nothing any more.
    commit(put("default/inv_2"), false).await;
    assert_eq!(check(&config, payloads_of).await.unwrap().objects.damaged.len(), 2);
    for id in ["default/inv_1", "default/inv_2"] {
        commit(Write::Delete { key: result(id) }, false).await;
    }
    assert!(is_sound(&config).await);
    // Payloads are kept for some days only where that is said.
    commit(put("default/inv_3"), false).await;
    let mut brief = config.clone();
    brief.objects.retention_days = Some(1);
    assert!(is_sound(&brief).await && !is_sound(&config).await);
}
