//! The server's clock, read now and then and carried on with this machine's.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use toolplane_records::time::Timestamp;

/// For how long a reading is carried on before the clock stops.
pub(crate) const TRUSTED_FOR: Duration = Duration::from_secs(5);
/// For how long a sharp reading is preferred to newer ones that are less sharp.
const SHARP_FOR: Duration = Duration::from_secs(2);

/// The server's clock as this process knows it. It never goes back.
#[derive(Debug, Default)]
pub(crate) struct ServerClock {
    state: Mutex<ClockReadings>,
}

#[derive(Debug, Default)]
struct ClockReadings {
    reading: Option<Reading>,
    latest: Option<Instant>,
    shown: i64,
}

/// The server's time in the middle of one round trip.
#[derive(Clone, Copy, Debug)]
struct Reading {
    micros: i64,
    at: Instant,
    round_trip: Duration,
}

impl ServerClock {
    /// Takes in that the server's clock was at `micros` since 1970 when asked between `sent` and `received`.
    pub(crate) fn read(&self, micros: i64, sent: Instant, received: Instant) {
        let round_trip = received.duration_since(sent);
        let reading = Reading { micros, at: sent + round_trip / 2, round_trip };
        let mut state = self.state.lock();
        let keeps = state.reading.is_some_and(|kept| {
            let fresh = received.duration_since(kept.at) < SHARP_FOR;
            // A step of the server's clock is more than the two round trips can explain.
            let apart = kept.at_time(reading.at).abs_diff(micros);
            fresh && kept.round_trip < round_trip && u128::from(apart) <= (round_trip + kept.round_trip).as_micros()
        });
        if !keeps {
            state.reading = Some(reading);
        }
        state.latest = Some(received);
    }

    /// The server's time at `now`; nothing when the last reading is too old to be carried on.
    pub(crate) fn at(&self, now: Instant) -> Option<Timestamp> {
        let mut state = self.state.lock();
        let latest = state.latest?;
        if now.saturating_duration_since(latest) > TRUSTED_FOR {
            return None;
        }
        let millis = state.reading?.at_time(now).div_euclid(1000);
        state.shown = state.shown.max(millis);
        Some(Timestamp::from_millis(state.shown))
    }
}

impl Reading {
    fn at_time(&self, time: Instant) -> i64 {
        let micros = |duration: Duration| i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        match time.checked_duration_since(self.at) {
            Some(since) => self.micros.saturating_add(micros(since)),
            None => self.micros.saturating_sub(micros(self.at.duration_since(time))),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::ServerClock;

    const MS: Duration = Duration::from_millis(1);

    fn millis(clock: &ServerClock, now: Instant) -> Option<i64> {
        clock.at(now).map(|time| time.as_millis())
    }

    #[test]
    fn a_reading_is_carried_on_for_five_seconds() {
        let (clock, start) = (ServerClock::default(), Instant::now());
        assert_eq!(millis(&clock, start), None);
        clock.read(1_000_000, start, start + 2 * MS);
        assert_eq!(millis(&clock, start + MS), Some(1000));
        assert_eq!(millis(&clock, start + 4001 * MS), Some(5000));
        assert_eq!(millis(&clock, start + 5003 * MS), None);
        clock.read(7_000_000, start + 6000 * MS, start + 6000 * MS);
        assert_eq!(millis(&clock, start + 6000 * MS), Some(7000));
    }

    #[test]
    fn a_sharp_reading_outlives_blunt_ones_but_not_a_step() {
        let (clock, start) = (ServerClock::default(), Instant::now());
        clock.read(1_000_000, start, start + MS);
        // 40 ms late, as half of its round trip allows: not trusted.
        clock.read(1_190_000, start + 100 * MS, start + 200 * MS);
        assert_eq!(millis(&clock, start + 200 * MS), Some(1199));
        // An hour: trusted.
        clock.read(3_601_300_000, start + 250 * MS, start + 350 * MS);
        assert_eq!(millis(&clock, start + 300 * MS), Some(3_601_300));
        // And back: the clock stops.
        clock.read(1_400_000, start + 400 * MS, start + 400 * MS);
        assert_eq!(millis(&clock, start + 400 * MS), Some(3_601_300));
    }

    proptest! {
        #[test]
        fn it_never_goes_back(readings in prop::collection::vec((0_i64..10_000_000, 0_u32..300, 1_u32..500), 1..40)) {
            let (clock, mut now, mut last) = (ServerClock::default(), Instant::now(), 0);
            for (micros, trip, pause) in readings {
                let sent = now;
                now += trip * MS;
                clock.read(micros, sent, now);
                now += pause * MS;
                let shown = millis(&clock, now).unwrap();
                prop_assert!(shown >= last);
                last = shown;
            }
        }
    }
}
