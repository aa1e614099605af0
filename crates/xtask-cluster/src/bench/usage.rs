//! What a process has used so far, as Linux counts it.

use std::io::{Error, Result};

use rustix::param::clock_ticks_per_second;
use serde::Serialize;

/// What a process has used since it was started, or within a time, or for one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Usage {
    /// Microseconds of CPU, in the program and in the kernel.
    pub(crate) cpu_us: f64,
    /// Bytes it had written to disk, at most: Linux counts a page cache folio as a whole whenever a byte of it becomes dirty, and on
    /// newer kernels (large folios on ext4, from 6.16) one may have hundreds of kilobytes. To be compared on one kernel alone, and
    /// with many calls in flight rather than few.
    pub(crate) written_bytes: f64,
    /// How often it asked for memory; `None` of a program that does not count.
    pub(crate) allocations: Option<f64>,
}

impl Usage {
    /// Of the process with this id. Fails when it is gone, or belongs to somebody else.
    pub(crate) fn of(process: u32) -> Result<Self> {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/{process}/{name}"));
        let ticks = cpu_ticks(&read("stat")?).ok_or_else(|| Error::other("its `stat` cannot be read"))?;
        let written = written_bytes(&read("io")?).ok_or_else(|| Error::other("its `io` cannot be read"))?;
        let allocations = match process == std::process::id() {
            true => Some(toolplane_allocations::count()),
            false => toolplane_allocations::ask(process).ok(),
        };
        Ok(Self {
            cpu_us: ticks as f64 * 1_000_000.0 / clock_ticks_per_second() as f64,
            written_bytes: written as f64,
            allocations: allocations.map(|count| count as f64),
        })
    }

    /// Of several processes together; allocations are known when all of them count.
    pub(crate) fn of_all(processes: &[u32]) -> Result<Self> {
        let none = Self { allocations: Some(0.0), ..Self::default() };
        processes.iter().try_fold(none, |sum, process| {
            let one = Self::of(*process)?;
            Ok(sum.with(&one, |sum, one| sum + one))
        })
    }

    /// What was used between `earlier` and this, for each of so many calls.
    pub(crate) fn per_call(&self, earlier: &Self, calls: f64) -> Self {
        self.with(earlier, |now, before| (now - before) / calls.max(1.0))
    }

    fn with(&self, other: &Self, joined: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            cpu_us: joined(self.cpu_us, other.cpu_us),
            written_bytes: joined(self.written_bytes, other.written_bytes),
            allocations: self.allocations.zip(other.allocations).map(|(own, other)| joined(own, other)),
        }
    }
}

/// Ticks in the program and in the kernel, from `/proc/PID/stat`.
fn cpu_ticks(stat: &str) -> Option<u64> {
    // The name, in parentheses, may hold anything; what follows it are words: these are the 12th and the 13th.
    let mut words = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut next = || words.next()?.parse::<u64>().ok();
    Some(next()? + next()?)
}

/// Bytes of memory the process with this id holds. Fails as [`Usage::of`] does.
pub(crate) fn memory(process: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    resident_bytes(&status).ok_or_else(|| Error::other("its `status` cannot be read"))
}

/// Bytes that are in memory, from `/proc/PID/status`.
fn resident_bytes(status: &str) -> Option<u64> {
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.trim().strip_suffix(" kB")?;
    Some(kilobytes.parse::<u64>().ok()? * 1024)
}

/// Bytes that were to go to disk at most, from `/proc/PID/io`; see [`Usage::written_bytes`].
fn written_bytes(io: &str) -> Option<u64> {
    io.lines().find_map(|line| line.strip_prefix("write_bytes: "))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_linux_says_is_read() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 100 200 0 0 250 31 9 9 20 0 4 0 100 1000 200";
        assert_eq!(cpu_ticks(stat), Some(281));
        assert_eq!(cpu_ticks("7 (a) S 1"), None);
        let io = "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\nwrite_bytes: 4096\ncancelled_write_bytes: 7\n";
        assert_eq!(written_bytes(io), Some(4096));
        assert_eq!(written_bytes("rchar: 1\n"), None);
        assert_eq!(resident_bytes("Name:\tx\nVmRSS:\t  1234 kB\nThreads:\t1\n"), Some(1234 * 1024));
        assert!(memory(std::process::id()).unwrap() > 0);
    }

    #[test]
    fn this_process_has_used_something() {
        let own = Usage::of(std::process::id()).unwrap();
        assert!(own.allocations > Some(0.0), "{own:?}");
        assert!(Usage::of_all(&[std::process::id(), u32::MAX]).is_err(), "no such process");
    }

    #[test]
    fn what_is_known_of_all_is_told_of_the_calls() {
        let before = Usage { cpu_us: 100.0, written_bytes: 0.0, allocations: Some(10.0) };
        let after = Usage { cpu_us: 500.0, written_bytes: 8192.0, allocations: Some(50.0) };
        let expected = Usage { cpu_us: 100.0, written_bytes: 2048.0, allocations: Some(10.0) };
        assert_eq!(after.per_call(&before, 4.0), expected);
        let silent = Usage { allocations: None, ..after };
        assert_eq!(silent.per_call(&before, 4.0).allocations, None);
    }
}
