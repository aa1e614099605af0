use std::sync::{Arc, Mutex};
use std::time::Duration;

use toolplane_records::vocabulary::ProgressStatus;

use super::{Counts, Meter, ProgressSink, ProgressUpdate};

#[derive(Default)]
struct Seen(Mutex<Vec<ProgressUpdate>>);

impl ProgressSink for Seen {
    fn report(&self, update: ProgressUpdate) {
        self.0.lock().unwrap().push(update);
    }
}

fn bytes(count: u64) -> Counts {
    Counts { bytes_written: Some(count), ..Counts::default() }
}

#[tokio::test(start_paused = true)]
async fn updates_are_numbered_spaced_and_end_with_the_final_state() {
    let seen = Arc::new(Seen::default());
    let sink: Arc<dyn ProgressSink> = Arc::clone(&seen) as _;
    let mut meter = Meter::start(&sink);
    for count in 1..=1000 {
        meter.note(bytes(count));
        tokio::time::advance(Duration::from_millis(1)).await;
    }
    meter.finish(bytes(1000), ProgressStatus::Completed);
    let seen = seen.0.lock().unwrap();
    assert!((5..=6).contains(&seen.len()), "{} updates in one second", seen.len());
    assert!(seen.iter().enumerate().all(|(at, update)| update.sequence == at as u64 + 1));
    assert_eq!(seen[0].status, ProgressStatus::Started);
    let last = seen.last().unwrap();
    assert_eq!((last.status, last.bytes_written), (ProgressStatus::Completed, Some(1000)));
}

#[tokio::test(start_paused = true)]
async fn what_was_held_back_is_told_soon_and_silence_after_a_second() {
    let seen = Arc::new(Seen::default());
    let sink: Arc<dyn ProgressSink> = Arc::clone(&seen) as _;
    let mut meter = Meter::start(&sink);
    meter.note(bytes(1));
    meter.note(bytes(2));
    let begin = tokio::time::Instant::now();
    meter.due().await;
    assert_eq!(begin.elapsed(), super::MIN_INTERVAL);
    meter.flush();
    assert_eq!(seen.0.lock().unwrap().last().unwrap().bytes_written, Some(2));
    meter.due().await;
    assert_eq!(begin.elapsed(), super::MIN_INTERVAL + super::MAX_INTERVAL);
}
