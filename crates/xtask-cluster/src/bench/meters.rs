//! What the processes of a bench use while calls are measured.

use std::time::{Duration, Instant};

use serde::Serialize;
use toolplane_testkit::Problem;

use super::usage::Usage;

/// The processes that are looked at.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meters {
    /// Those that answer calls.
    pub(crate) server: Vec<u32>,
    /// Whether this process calls them. Otherwise it is the server itself, and there is no client.
    pub(crate) called_from_here: bool,
    /// The Redis servers below them.
    pub(crate) redis: Vec<u32>,
}

/// What they had used at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    at: Instant,
    used: Used,
}

/// What the sides of a call used: up to one moment, or for each call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Used {
    /// The processes that answer.
    pub(crate) server: Usage,
    /// The process that calls, which also counts the spans it is sent.
    pub(crate) client: Option<Usage>,
    /// The Redis servers, where there are any.
    pub(crate) redis: Option<Usage>,
}

impl Meters {
    /// The bench alone: it is its own server.
    pub(crate) fn alone() -> Self {
        Self { server: vec![std::process::id()], ..Self::default() }
    }

    /// These processes, called by this one.
    pub(crate) fn of(server: Vec<u32>) -> Self {
        Self { server, called_from_here: true, redis: Vec::new() }
    }

    /// The same above these Redis servers.
    #[must_use]
    pub(crate) fn above(self, redis: Vec<u32>) -> Self {
        Self { redis, ..self }
    }

    /// What they have used up to now.
    pub(crate) fn read(&self) -> Result<Reading, Problem> {
        let own = std::process::id();
        let read = |process| Usage::of(process).map_err(failed);
        let server = Usage::of_all(&self.server).map_err(failed)?;
        let client = self.called_from_here.then(|| read(own)).transpose()?;
        let redis = (!self.redis.is_empty()).then(|| Usage::of_all(&self.redis).map_err(failed)).transpose()?;
        Ok(Reading { at: Instant::now(), used: Used { server, client, redis } })
    }
}

impl Reading {
    /// What each call used between `earlier` and this, where so many calls ended in a second.
    pub(crate) fn per_call(&self, earlier: &Self, calls_per_s: f64) -> Used {
        let calls = calls_per_s * (self.at - earlier.at).max(Duration::from_millis(1)).as_secs_f64();
        let both = |now: Option<Usage>, before: Option<Usage>| {
            now.zip(before).map(|(now, before)| now.per_call(&before, calls))
        };
        Used {
            server: self.used.server.per_call(&earlier.used.server, calls),
            client: both(self.used.client, earlier.used.client),
            redis: both(self.used.redis, earlier.used.redis),
        }
    }
}

fn failed(error: std::io::Error) -> Problem {
    Problem::Program { what: "looking at what a process uses".to_owned(), said: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_has_its_part_of_the_time() {
        let usage = |cpu_us: f64| Usage { cpu_us, ..Usage::default() };
        let at = Instant::now();
        let used = |server: f64| Used { server: usage(server), client: Some(usage(server * 2.0)), redis: None };
        let before = Reading { at, used: used(1000.0) };
        let after = Reading { at: at + Duration::from_secs(2), used: used(5000.0) };
        let per_call = after.per_call(&before, 10.0);
        assert_eq!(per_call, Used { server: usage(200.0), client: Some(usage(400.0)), redis: None });
    }
}
