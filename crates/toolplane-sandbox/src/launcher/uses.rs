//! What the tree uses while it runs, as process 1 sees it.

use std::fs;

use super::sys;
use crate::exit::UseNow;

/// Looks at every process but this one.
pub(super) fn now() -> UseNow {
    let (user_cpu_us, system_cpu_us, _) = sys::usage_of_children();
    let mut uses = UseNow { user_cpu_us, system_cpu_us, ..UseNow::default() };
    let (tick_us, page) = (1_000_000 / rustix::param::clock_ticks_per_second(), rustix::param::page_size() as u64);
    let own = std::process::id();
    for entry in fs::read_dir("/proc").into_iter().flatten().flatten() {
        let pid = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok());
        let Some(pid) = pid.filter(|pid| *pid != own) else { continue };
        // One that has ended meanwhile counts among the ended the next time.
        let stat = fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
        let Some(process) = read(&stat) else { continue };
        uses.processes += 1;
        // What `stat` says is put together from counters of each processor, and may be far too low for a small process.
        let exact = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok().and_then(|text| share(&text));
        uses.resident_bytes += exact.unwrap_or_else(|| process.pages.saturating_mul(page));
        uses.user_cpu_us += process.user_ticks.saturating_mul(tick_us);
        uses.system_cpu_us += process.system_ticks.saturating_mul(tick_us);
    }
    uses
}

/// What the kernel says of one process and of the children it has waited for.
#[derive(Debug, PartialEq, Eq)]
struct ProcessUse {
    user_ticks: u64,
    system_ticks: u64,
    pages: u64,
}

/// Reads the line of `/proc/PID/stat`. The second field is the name in parentheses, which the process chooses: what follows begins
/// after the last one. Nothing for a process that has ended and was not waited for.
fn read(line: &[u8]) -> Option<ProcessUse> {
    let end = line.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&line[end + 1..]).ok()?;
    let fields: Vec<_> = rest.split_ascii_whitespace().collect();
    // The first field here is the third of the line.
    let number = |field: usize| fields.get(field - 3)?.parse::<i64>().ok().map(|value| value.max(0) as u64);
    if matches!(fields.first(), Some(&("Z" | "X"))) {
        return None;
    }
    Some(ProcessUse {
        user_ticks: number(14)? + number(16)?,
        system_ticks: number(15)? + number(17)?,
        pages: number(24)?,
    })
}

/// Bytes of a process's pages, each divided by the number of processes that have it; nothing where it may not be looked at.
fn share(text: &str) -> Option<u64> {
    let kib = text.lines().find_map(|line| line.strip_prefix("Pss:"))?.trim().strip_suffix(" kB")?;
    Some(kib.parse::<u64>().ok()?.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::{ProcessUse, now, read, share};

    #[test]
    fn a_name_cannot_pass_for_figures() {
        let line = b"7 (a) R 1 2 (b) S 1 7 7 0 -1 4194560 9 9 9 9 10 20 3 4 20 0 1 0 99 1000 55 18446744073709551615 1";
        assert_eq!(read(line), Some(ProcessUse { user_ticks: 13, system_ticks: 24, pages: 55 }));
        assert_eq!(read(b"7 (a) Z 1 7 7 0 -1 4194560 9 9 9 9 10 20 3 4 20 0 1 0 99 0 0 1 1"), None);
        for line in ["", "7", "7 (a", "7 (a)", "7 (a) S 1 2 x"] {
            assert_eq!(read(line.as_bytes()), None, "{line}");
        }
    }

    #[test]
    fn shares_are_kibibytes() {
        assert_eq!(
            share("1-2 ---p 0 00:00 0 [rollup]\nRss:   900 kB\nPss:     12 kB\nPss_Dirty: 1 kB\n"),
            Some(12_288)
        );
        assert_eq!(share("Rss: 900 kB"), None);
    }

    #[test]
    fn this_machine_can_be_read() {
        let uses = now();
        assert!(uses.processes > 0 && uses.resident_bytes > 0, "{uses:?}");
    }
}
