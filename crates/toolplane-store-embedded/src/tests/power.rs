//! A power cut at any moment: writes that were not flushed survive, vanish or tear, in any combination.

use toolplane_store::{CommitOutcome, ScoreRange, Store};

use super::{SimStore, key, nth};
use crate::{EmbeddedOptions, EmbeddedStore};

// xorshift, seeded, so that a failing cut can be cut again.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

// Everything the first `count` commits of the series leave, and nothing more.
async fn check_holds(store: &EmbeddedStore, count: u64, at: &str) {
    let page = store.events("log", 1, usize::MAX).await.unwrap();
    assert_eq!(page.head_seq, count, "{at}");
    let seqs: Vec<_> = page.events.iter().map(|(seq, _)| *seq).collect();
    assert_eq!(seqs, (1..=count).collect::<Vec<_>>(), "{at}");
    let entries = store.scan("all", ScoreRange::all(), usize::MAX).await.unwrap();
    let scores: Vec<_> = entries.iter().map(|entry| entry.score).collect();
    assert_eq!(scores, (1..=count).collect::<Vec<_>>(), "{at}");
    assert_eq!(store.index_len("all").await.unwrap(), count, "{at}");
    let last = store.get(&key("last")).await.unwrap();
    assert_eq!(last.map(|found| found.version), (count > 0).then_some(count), "{at}");
    for n in 1..=count {
        let found = store.get(&key(&format!("r{n:06}"))).await.unwrap();
        assert_eq!(found.map(|found| found.version), Some(1), "{at}, record {n}");
    }
}

#[tokio::test]
async fn answered_commits_survive_a_power_cut_at_any_write() {
    // Small enough that checkpoints and changes of segment are under way at many of the cuts.
    let options = EmbeddedOptions { checkpoint_bytes: 4 * 1024, segment_bytes: 2 * 1024, ..EmbeddedOptions::default() };
    for seed in 1..=60 {
        let mut random = Random(seed * 0x9e37_79b9);
        let mut disk = SimStore::default();
        let mut answered = 0;
        for cut in 0..3 {
            let at = format!("seed {seed} cut {cut}");
            let store = disk.open(options.clone());
            let head = store.events("log", 1, 0).await.unwrap().head_seq;
            assert!((answered..=answered + 1).contains(&head), "{at}: answered {answered}, found {head}");
            check_holds(&store, head, &at).await;
            if head > 0 {
                assert_eq!(store.commit(nth(head)).await, Ok(CommitOutcome::Replayed), "{at}");
            }
            answered = head;

            // A failing call stands for the cut: nothing after it reaches the disk.
            match random.below(3) {
                0 => disk.state.fail_after(1 + random.below(120)),
                _ => disk.log.fail_after(1 + random.below(120)),
            }
            let mut poisoned = false;
            for n in answered + 1..answered + 60 {
                match store.commit(nth(n)).await {
                    Ok(outcome) => assert_eq!(outcome, CommitOutcome::Applied, "{at}"),
                    Err(error) => {
                        assert_eq!(error.code(), "store.poisoned", "{at}");
                        poisoned = true;
                        break;
                    }
                }
                answered = n;
            }
            let cut_disk = disk.after_power_cut(|bound| random.below(bound));
            drop(store);
            disk = cut_disk;
            assert!(poisoned || answered > 0, "{at}");
        }
    }
}
