use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use toolplane_execution::{Exact, Outcome};
use toolplane_records::payload::JsonPayload;
use toolplane_records::time::Timestamp;
use toolplane_sandbox::OutputWriter;

use super::log::{Log, SEGMENT_BYTES, key_of};
use super::{Finished, Frame, Journal};
use crate::messages::{Lease, OutputBounds};

fn lease(name: &str) -> Lease {
    Lease { number: 3, ..Lease::example(&format!("inv_{name}")) }
}

fn frame() -> Frame {
    Frame {
        bounds: OutputBounds { max_inline_chars: Some(7), max_inline_bytes: None },
        inline_bytes: 99,
        started_at: Timestamp::from_millis(1_234),
        duration: Duration::from_millis(56),
    }
}

fn finished(name: &str, text: &str) -> Finished {
    let mut outcome = Outcome::text(text.to_owned()).structured(&[1.5, 2.0]);
    outcome.context_modifiers = vec![JsonPayload::of(&serde_json::json!({"a": 1}))];
    Finished { lease: lease(name), frame: frame(), outcome }
}

/// A journal whose outputs in files are beside it.
fn open(dir: &Path) -> Result<(Journal, Vec<Finished>), crate::error::ExecutorError> {
    Journal::open(dir, &dir.join("outputs"))
}

fn names(left: &[Finished]) -> Vec<String> {
    left.iter().map(|finished| finished.lease.invocation_id.to_string()).collect()
}

fn segments(dir: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(dir).unwrap().map(|file| file.unwrap().path()).collect();
    paths.sort();
    paths
}

#[tokio::test]
async fn endings_survive_whole_until_they_are_settled() {
    let dir = tempfile::tempdir().unwrap();
    let (journal, left) = open(dir.path()).unwrap();
    assert!(left.is_empty());
    let all = ["a", "b", "c"].map(|name| finished(name, "säid\n"));
    let kept = futures_util::future::join_all(all.iter().map(|finished| journal.keep(finished))).await;
    assert!(kept.iter().all(Result::is_ok));
    journal.settle(&lease("b"));
    journal.settle(&lease("unknown"));
    journal.keep(&finished("d", "")).await.unwrap();
    drop(journal);
    let (journal, left) = open(dir.path()).unwrap();
    assert_eq!(names(&left), ["inv_a", "inv_c", "inv_d"]);
    assert_eq!(format!("{:?}", left[0]), format!("{:?}", finished("a", "säid\n")));
    for name in ["a", "c", "d"] {
        journal.settle(&lease(name));
    }
    drop(journal);
    assert!(Log::open(dir.path()).unwrap().1.is_empty());
}

#[test]
fn what_was_not_written_whole_is_not_there_and_nothing_before_it_is_lost() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = Log::open(dir.path()).unwrap();
    for name in ["a", "b"] {
        log.keep(key_of(&lease(name)), name.as_bytes()).unwrap();
    }
    log.commit(true).unwrap();
    drop(log);
    let [path] = &segments(dir.path())[..] else { panic!("one segment") };
    let whole = fs::read(path).unwrap();
    let second = whole.len() / 2;
    for cut in 0..whole.len() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(path.file_name().unwrap()), &whole[..cut]).unwrap();
        let wanted: &[&[u8]] = if cut < second { &[] } else { &[b"a"] };
        assert_eq!(Log::open(dir.path()).unwrap().1, wanted, "cut at {cut}");
    }
    for at in second..whole.len() {
        let mut broken = whole.clone();
        broken[at] ^= 0x10;
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join(path.file_name().unwrap()), &broken).unwrap();
        assert_eq!(Log::open(dir.path()).unwrap().1, [b"a"], "broken at {at}");
    }
}

#[test]
fn segments_are_removed_with_their_last_ending() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = Log::open(dir.path()).unwrap();
    let large = vec![b'x'; usize::try_from(SEGMENT_BYTES).unwrap()];
    for name in ["a", "b", "c"] {
        log.keep(name.to_owned(), &large).unwrap();
        log.commit(true).unwrap();
    }
    assert_eq!(segments(dir.path()).len(), 4);
    log.settle("b");
    log.commit(false).unwrap();
    assert_eq!(segments(dir.path()).len(), 3);
    drop(log);
    // Kept again under the same name: the newer one counts, and the older no longer.
    let (mut log, left) = Log::open(dir.path()).unwrap();
    assert_eq!(left.len(), 2);
    log.keep("a".to_owned(), b"new").unwrap();
    log.settle("c");
    log.commit(true).unwrap();
    drop(log);
    let (mut log, left) = Log::open(dir.path()).unwrap();
    assert_eq!(left, [b"new"]);
    log.settle("a");
    log.commit(false).unwrap();
    assert_eq!(segments(dir.path()).len(), 1);
    assert!(fs::metadata(&segments(dir.path())[0]).unwrap().len() < 100);
}

#[test]
fn it_is_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = Log::open(dir.path()).unwrap();
    log.most_bytes = 500 * 1024;
    let large = vec![0; 300 * 1024];
    log.keep("a".to_owned(), &large).unwrap();
    assert!(log.keep("b".to_owned(), &large).is_err());
    log.commit(true).unwrap();
    assert!(log.keep("b".to_owned(), &large).is_err(), "also when it is written");
    log.settle("a");
    log.commit(false).unwrap();
    log.keep("small".to_owned(), b"x").unwrap();
    log.commit(true).unwrap();
    assert_eq!(Log::open(dir.path()).unwrap().1, [b"x"]);
}

#[tokio::test]
async fn a_worker_that_stops_leaves_no_ending_that_was_acknowledged() {
    let dir = tempfile::tempdir().unwrap();
    let (journal, _) = open(dir.path()).unwrap();
    for name in ["a", "b"] {
        journal.keep(&finished(name, "what a tool gave")).await.unwrap();
    }
    journal.settle(&lease("a"));
    drop(journal);
    let (journal, left) = open(dir.path()).unwrap();
    assert_eq!(names(&left), ["inv_b"], "one was not");
    journal.settle(&lease("b"));
    drop(journal);
    let bytes: Vec<u8> = segments(dir.path()).iter().flat_map(|path| std::fs::read(path).unwrap()).collect();
    assert_eq!(String::from_utf8_lossy(&bytes), "");
}

#[tokio::test]
async fn a_disk_that_fails_is_said_and_the_next_ending_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = Log::open(dir.path()).unwrap();
    log.keep("a".to_owned(), b"one").unwrap();
    log.break_file();
    assert!(log.commit(true).is_err());
    log.keep("b".to_owned(), b"two").unwrap();
    log.commit(true).unwrap();
    drop(log);
    assert_eq!(Log::open(dir.path()).unwrap().1, [b"two"]);
}

#[tokio::test]
async fn an_output_in_a_file_stays_as_long_as_its_ending() {
    let dir = tempfile::tempdir().unwrap();
    let outputs = dir.path().join("outputs");
    let (journal, _) = open(dir.path()).unwrap();
    let file = async |text: &[u8]| {
        let mut writer = OutputWriter::create(&outputs).await.unwrap();
        writer.write(text).await.unwrap();
        Arc::new(writer.finish().await.unwrap())
    };
    let (needed, unneeded) = (file(b"all of it").await, file(b"of a call that is not in the journal").await);
    let path = needed.path().to_owned();
    let mut ending = finished("a", "");
    let exact = Exact::answer(Vec::new(), "text/plain", "");
    ending.outcome.exact = vec![Exact { file: Some(needed), total_bytes: 9, ..exact }];
    journal.keep(&ending).await.unwrap();
    drop(ending);
    assert!(path.exists(), "the journal needs it until the end is acknowledged");
    // The worker dies: nothing is tidied up.
    unneeded.leave();
    let left_over = unneeded.path().to_owned();
    drop((journal, unneeded));
    let (journal, left) = open(dir.path()).unwrap();
    let found = left[0].outcome.exact[0].file.clone().unwrap();
    assert_eq!((found.path(), found.size_bytes()), (path.as_path(), 9));
    assert!(!left_over.exists());
    drop((found, left));
    assert!(path.exists());
    journal.settle(&lease("a"));
    assert!(!path.exists());
}
