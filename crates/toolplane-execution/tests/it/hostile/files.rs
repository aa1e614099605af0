//! Cases that are paths, each with the workspace its `setup` describes and a directory outside that must not be touched.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use toolplane_execution::{Call, Outcome};

use super::{Case, Verdict, compare};
use crate::support::{call, execute, native, structured, text, toolbox};

/// What every file outside holds; none of it may be in a result.
const OUTSIDE: &str = "root:OUTSIDE";
/// More entries than one search looks at.
const TOO_MANY: usize = 100_001;
/// Reads of the race.
const READS: u32 = 50_000;

/// A workspace and what lies outside of it, in one directory so that hard links between them can be made.
struct Bed {
    _both: tempfile::TempDir,
    workspace: PathBuf,
    outside: PathBuf,
}

impl Bed {
    fn new() -> Self {
        let both = tempfile::tempdir().unwrap();
        let (workspace, outside) = (both.path().join("ws"), both.path().join("outside"));
        for dir in [workspace.join(".git/hooks"), outside.clone()] {
            fs::create_dir_all(dir).unwrap();
        }
        fs::write(workspace.join(".git/config"), "[core]\n").unwrap();
        for name in ["passwd", "f"] {
            fs::write(outside.join(name), OUTSIDE).unwrap();
        }
        Self { _both: both, workspace, outside }
    }

    /// Makes what `setup` says; an unknown one is a failed test.
    fn set_up(&self, setup: &str) {
        let words: Vec<&str> = setup.split_whitespace().collect();
        let place = |name: &str| self.workspace.join(name.strip_prefix("ws/").unwrap());
        match words.as_slice() {
            [] => {}
            ["mkfifo", name] => assert!(Command::new("mkfifo").arg(place(name)).status().unwrap().success()),
            [name, "->", _, "(dangling)"] => symlink(self.outside.join("new"), place(name)).unwrap(),
            [name, "->", target] => symlink(target, place(name)).unwrap(),
            [name, "is", "a", "hard", "link", ..] => fs::hard_link(self.outside.join("f"), place(name)).unwrap(),
            ["a", "second", "process", "swaps", ..] => {
                fs::create_dir(self.workspace.join("d")).unwrap();
                fs::write(self.workspace.join("d/f"), "inside").unwrap();
                symlink(&self.outside, self.workspace.join("l")).unwrap();
            }
            _ => panic!("no bed for the setup `{setup}`"),
        }
    }

    /// Whether everything outside, and everything protected inside, is as it was made.
    fn untouched(&self) -> Result<(), String> {
        let mut names: Vec<_> = fs::read_dir(&self.outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        if names != ["f", "passwd"] {
            return Err(format!("outside there are {names:?}"));
        }
        for name in names {
            let held = fs::read_to_string(self.outside.join(&name)).unwrap();
            if held != OUTSIDE {
                return Err(format!("{name:?} outside holds {held}"));
            }
        }
        let hooks = fs::read_dir(self.workspace.join(".git/hooks")).unwrap().count();
        if hooks > 0 || fs::read_to_string(self.workspace.join(".git/config")).unwrap() != "[core]\n" {
            return Err("`.git` was changed".into());
        }
        Ok(())
    }
}

pub(super) async fn judge(case: &Case) -> Verdict {
    let bed = Bed::new();
    let setup = case.expect["setup"].as_str().unwrap_or_default();
    bed.set_up(setup);
    let path = case.text("path");
    let (tool, input) = match case.text("op") {
        "read" => ("files.read_file", json!({"path": path})),
        "write" => ("files.write_file", json!({"path": path, "content": "new", "overwrite": true})),
        "glob" => {
            fill(&bed.workspace);
            ("files.search_text", json!({"pattern": "x", "glob": path}))
        }
        other => return Verdict::Failed(format!("no built-in tool does `{other}`")),
    };
    let wanted = call(native(tool), input);
    let result = if setup.contains("RENAME_EXCHANGE") {
        race(case, &bed, &wanted).await
    } else {
        once(case, &bed, &wanted).await
    };
    result.and_then(|()| bed.untouched()).into()
}

async fn once(case: &Case, bed: &Bed, wanted: &Call) -> Result<(), String> {
    let begin = Instant::now();
    let outcome = execute(&toolbox(&bed.workspace).await, wanted).await;
    if begin.elapsed() > Duration::from_secs(30) {
        return Err(format!("took {} ms", begin.elapsed().as_millis()));
    }
    compare(case, &outcome)?;
    inside_only(&outcome)?;
    if case.class == "path.hardlink" {
        // Refusing would be right as well; then the file is the old one.
        let kept = fs::metadata(bed.workspace.join(case.text("path"))).unwrap();
        if outcome.is_success() && kept.nlink() != 1 {
            return Err("written in place, through a second name".into());
        }
    }
    Ok(())
}

/// Nothing of a file outside is in what the tool gave.
fn inside_only(outcome: &Outcome) -> Result<(), String> {
    let given = format!("{}{}", text(outcome), structured(outcome));
    if given.contains("root:") { Err("a byte from outside".into()) } else { Ok(()) }
}

fn fill(workspace: &Path) {
    for at in 0..TOO_MANY {
        if at % 2000 == 0 {
            fs::create_dir(workspace.join(format!("d{}", at / 2000))).unwrap();
        }
        fs::File::create(workspace.join(format!("d{}/{at}", at / 2000))).unwrap();
    }
    // A search that followed this would never end.
    symlink("..", workspace.join("d0/up")).unwrap();
}

/// The same call again and again, while a directory on its way is swapped with a link to the outside.
async fn race(case: &Case, bed: &Bed, wanted: &Call) -> Result<(), String> {
    let stop = Arc::new(AtomicBool::new(false));
    let swapper = swap(&bed.workspace.join("d"), &bed.workspace.join("l"), &stop);
    let toolbox = toolbox(&bed.workspace).await;
    let (mut inside, mut refused, mut found) = (0_u32, 0_u32, Ok(()));
    while inside + refused < READS && found.is_ok() {
        let outcome = execute(&toolbox, wanted).await;
        found = match (&outcome.error, text(&outcome)) {
            (None, "inside") => {
                inside += 1;
                Ok(())
            }
            (None, other) => Err(format!("read {other:.40}")),
            (Some(_), _) => {
                refused += 1;
                compare(case, &outcome)
            }
        };
    }
    stop.store(true, Ordering::Relaxed);
    swapper.join().unwrap();
    found?;
    println!("race: {inside} reads inside, {refused} refused");
    if inside > 0 && refused > 0 { Ok(()) } else { Err(format!("no race: {inside} read, {refused} refused")) }
}

/// Exchanges two names until it is told to stop.
pub(crate) fn swap(one: &Path, other: &Path, stop: &Arc<AtomicBool>) -> std::thread::JoinHandle<()> {
    let (one, other, stop) = (one.to_owned(), other.to_owned(), Arc::clone(stop));
    std::thread::spawn(move || {
        let (here, flags) = (rustix::fs::CWD, rustix::fs::RenameFlags::EXCHANGE);
        while !stop.load(Ordering::Relaxed) {
            rustix::fs::renameat_with(here, &one, here, &other, flags).unwrap();
        }
    })
}

/// Every case of the class is judged, none is set aside.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_path_is_held() {
    let mut wrong = Vec::new();
    let cases: Vec<Case> = super::cases().into_iter().filter(|case| case.class.starts_with("path.")).collect();
    assert_eq!(cases.len(), 14);
    for case in &cases {
        match judge(case).await {
            Verdict::Passed => {}
            Verdict::Failed(reason) => wrong.push(format!("{}: {reason}", case.id)),
            Verdict::NotApplicable(reason) => wrong.push(format!("{}: set aside: {reason}", case.id)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
