//! Control groups, where this process may make them: bounds on the whole tree, evidence that one was reached, and a
//! kill that misses no process.
//!
//! Version 2 is used when it carries the `memory` and `pids` controllers and they are delegated to this process, else
//! version 1. Where neither can be written, memory and processes are bound per process by resource limits; the posture
//! says which it is.

mod abandoned;

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::exit::{LimitHit, LimitKind};
use crate::limits::RunLimits;

/// Processes of the sandbox itself that count towards `pids`: bubblewrap outside, the launcher inside.
const OWN_PIDS: u64 = 2;

/// The control groups this process can make children in.
#[derive(Debug, Default)]
pub struct ControlGroups {
    hierarchies: Vec<Hierarchy>,
}

#[derive(Debug)]
struct Hierarchy {
    /// The directory of this worker, beneath the group it was started in.
    dir: PathBuf,
    /// Held while this worker lives: who can take it may clear the directory.
    _lock: Option<File>,
    unified: bool,
    memory: bool,
    pids: bool,
}

impl ControlGroups {
    /// Finds out what can be used, by making the groups. Finding nothing is not an error.
    pub fn detect() -> Self {
        let (Ok(mounts), Ok(memberships)) =
            (fs::read_to_string("/proc/self/mountinfo"), fs::read_to_string("/proc/self/cgroup"))
        else {
            return Self::default();
        };
        let mut hierarchies = Vec::new();
        if let Some(unified) = unified(&mounts, &memberships) {
            hierarchies.push(unified);
        }
        for controller in ["memory", "pids"] {
            let covered = hierarchies.iter().any(|h| if controller == "memory" { h.memory } else { h.pids });
            if !covered && let Some(hierarchy) = legacy(controller, &mounts, &memberships) {
                hierarchies.push(hierarchy);
            }
        }
        Self { hierarchies }
    }

    /// Whether memory of the whole tree can be bound.
    pub fn bounds_memory(&self) -> bool {
        self.hierarchies.iter().any(|hierarchy| hierarchy.memory)
    }

    /// Whether processes of the whole tree can be bound.
    pub fn bounds_pids(&self) -> bool {
        self.hierarchies.iter().any(|hierarchy| hierarchy.pids)
    }

    /// What is used, for people.
    pub fn describe(&self) -> String {
        if self.hierarchies.is_empty() {
            return "no writable control group".into();
        }
        let one = |h: &Hierarchy| {
            let version = if h.unified { "v2" } else { "v1" };
            let controllers = match (h.memory, h.pids) {
                (true, true) => "memory and pids",
                (true, false) => "memory",
                (false, true) => "pids",
                (false, false) => "kill only",
            };
            format!("{version} {controllers}")
        };
        self.hierarchies.iter().map(one).collect::<Vec<_>>().join(", ")
    }

    /// Makes the groups of one run and sets its bounds. They are removed when the value is dropped.
    pub(crate) fn create(&self, name: &str, limits: &RunLimits) -> io::Result<RunGroup> {
        let mut group = RunGroup { parts: Vec::new() };
        for hierarchy in &self.hierarchies {
            let dir = hierarchy.dir.join(name);
            fs::create_dir(&dir)?;
            let part =
                CgroupHierarchy { dir, unified: hierarchy.unified, memory: hierarchy.memory, pids: hierarchy.pids };
            let set = part.bound(limits);
            group.parts.push(part);
            set?;
        }
        Ok(group)
    }
}

impl Drop for ControlGroups {
    fn drop(&mut self) {
        for hierarchy in &self.hierarchies {
            let _ = fs::remove_dir(&hierarchy.dir);
        }
    }
}

/// The control groups of one run.
#[derive(Debug)]
pub(crate) struct RunGroup {
    parts: Vec<CgroupHierarchy>,
}

#[derive(Debug)]
struct CgroupHierarchy {
    dir: PathBuf,
    unified: bool,
    memory: bool,
    pids: bool,
}

impl CgroupHierarchy {
    fn bound(&self, limits: &RunLimits) -> io::Result<()> {
        if self.pids {
            fs::write(self.dir.join("pids.max"), (limits.pids + OWN_PIDS).to_string())?;
        }
        if self.memory {
            let file = if self.unified { "memory.max" } else { "memory.limit_in_bytes" };
            fs::write(self.dir.join(file), limits.memory_bytes.to_string())?;
            // Swap accounting may be switched off; then there is nothing to bound.
            let swap = if self.unified {
                ("memory.swap.max", 0)
            } else {
                ("memory.memsw.limit_in_bytes", limits.memory_bytes)
            };
            if self.dir.join(swap.0).exists() {
                fs::write(self.dir.join(swap.0), swap.1.to_string())?;
            }
        }
        Ok(())
    }
}

impl RunGroup {
    /// The files a process writes `0` to, to join.
    pub(crate) fn joins(&self) -> Vec<PathBuf> {
        self.parts.iter().map(|part| part.dir.join("cgroup.procs")).collect()
    }

    /// Kills every member at once, where the kernel can.
    pub(crate) fn kill(&self) {
        for part in self.parts.iter().filter(|part| part.unified) {
            let _ = fs::write(part.dir.join("cgroup.kill"), "1");
        }
    }

    /// Bounds that were reached, as counted by the kernel.
    pub(crate) fn limits_hit(&self, limits: &RunLimits) -> Vec<LimitHit> {
        let mut hits = Vec::new();
        for part in &self.parts {
            if part.pids
                && let Some(count) = counter(&part.dir.join("pids.events"), "max")
            {
                let evidence = format!("pids.events max {count}");
                hits.push(LimitHit { limit: LimitKind::Pids, allowed: limits.pids, evidence });
            }
            let file = if part.unified { "memory.events" } else { "memory.oom_control" };
            if part.memory
                && let Some(count) = counter(&part.dir.join(file), "oom_kill")
            {
                let evidence = format!("{file} oom_kill {count}");
                hits.push(LimitHit { limit: LimitKind::Memory, allowed: limits.memory_bytes, evidence });
            }
        }
        hits
    }

    fn remove(&self) {
        for part in &self.parts {
            remove_when_empty(&part.dir);
        }
    }
}

impl Drop for RunGroup {
    fn drop(&mut self) {
        self.remove();
    }
}

/// Removes a group whose last member may still be ending. One that stays is left to the next worker.
#[expect(
    clippy::disallowed_methods,
    reason = "the kernel tells nobody when the last member of a control group is gone"
)]
fn remove_when_empty(dir: &Path) {
    for _ in 0..50 {
        match fs::remove_dir(dir) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            _ => break,
        }
    }
}

/// The value of `key` in a flat-keyed file, if it is there and not zero.
fn counter(file: &Path, key: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(key)?.trim().parse().ok())?;
    (value > 0).then_some(value)
}

fn unified(mounts: &str, memberships: &str) -> Option<Hierarchy> {
    let mount = mounts.lines().filter_map(parse_mount).find(|mount| mount.kind == "cgroup2")?;
    let own = memberships.lines().find_map(|line| line.strip_prefix("0::"))?;
    let base = beneath(&mount.point, own);
    let (dir, lock) = make_worker_dir(&base)?;
    let offered = fs::read_to_string(base.join("cgroup.controllers")).unwrap_or_default();
    let offers = |name: &str| offered.split_whitespace().any(|controller| controller == name);
    let delegated = offers("memory")
        && offers("pids")
        && delegate(&base.join("cgroup.subtree_control"))
        && delegate(&dir.join("cgroup.subtree_control"));
    Some(Hierarchy { dir, _lock: lock, unified: true, memory: delegated, pids: delegated })
}

fn delegate(file: &Path) -> bool {
    let enabled = fs::read_to_string(file).unwrap_or_default();
    let has = |name: &str| enabled.split_whitespace().any(|controller| controller == name);
    (has("memory") && has("pids")) || fs::write(file, "+memory +pids").is_ok()
}

fn legacy(controller: &str, mounts: &str, memberships: &str) -> Option<Hierarchy> {
    let carries = |options: &str| options.split(',').any(|option| option == controller);
    let mount = mounts.lines().filter_map(parse_mount).find(|m| m.kind == "cgroup" && carries(&m.super_options))?;
    let own = memberships.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (names, path) = rest.split_once(':')?;
        carries(names).then_some(path)
    })?;
    let (dir, lock) = make_worker_dir(&beneath(&mount.point, own))?;
    Some(Hierarchy { dir, _lock: lock, unified: false, memory: controller == "memory", pids: controller == "pids" })
}

fn beneath(mount: &Path, own: &str) -> PathBuf {
    mount.join(own.trim_start_matches('/'))
}

/// Makes the directory of this worker and clears those of workers that are gone.
fn make_worker_dir(base: &Path) -> Option<(PathBuf, Option<File>)> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    abandoned::sweep(base);
    let dir = base.join(format!("toolplane-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    fs::create_dir(&dir).ok()?;
    let lock = abandoned::lock(&dir);
    Some((dir, lock))
}

struct Mount {
    point: PathBuf,
    kind: String,
    super_options: String,
}

/// One line of `/proc/self/mountinfo`: fields before and after a lone dash.
fn parse_mount(line: &str) -> Option<Mount> {
    let (before, after) = line.split_once(" - ")?;
    let point = before.split(' ').nth(4)?;
    let mut after = after.split(' ');
    let kind = after.next()?.to_owned();
    Some(Mount { point: point.into(), kind, super_options: after.nth(1)?.to_owned() })
}
