//! Real input: the repository's own sources, and a day of logs.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use toolplane_testkit::{Problem, binary};

/// Lines of the log; about 9 MB.
const LINES: u32 = 90_000;

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// Fills the workspace and says with what.
pub(crate) fn fill(workspace: &Path) -> Result<String, Problem> {
    let mut files = 0;
    for part in ["crates", "services"] {
        files += copy_sources(&binary::root().join(part), &workspace.join("src").join(part))?;
    }
    let log = log();
    let folder = workspace.join("logs");
    fs::create_dir_all(&folder).map_err(file(&folder))?;
    fs::write(folder.join("app.log"), &log).map_err(file(&folder))?;
    Ok(format!("{files} source files and a log of {:.1} MB in {}", log.len() as f64 / 1e6, workspace.display()))
}

fn copy_sources(from: &Path, to: &Path) -> Result<usize, Problem> {
    let mut copied = 0;
    fs::create_dir_all(to).map_err(file(to))?;
    for entry in fs::read_dir(from).map_err(file(from))? {
        let path = entry.map_err(file(from))?.path();
        let Some(name) = path.file_name() else { continue };
        if path.is_dir() {
            copied += copy_sources(&path, &to.join(name))?;
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "toml") {
            fs::copy(&path, to.join(name)).map_err(file(&path))?;
            copied += 1;
        }
    }
    Ok(copied)
}

/// One day of a service's log, the same every time.
fn log() -> String {
    const PATHS: [&str; 6] = ["/login", "/cart", "/search?q=lamp", "/item/4711", "/checkout", "/health"];
    let mut text = String::with_capacity(10_000_000);
    let mut random = 0x2545_f491_u32;
    for line in 0..LINES {
        // xorshift: even enough for a log, and without a dependency.
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        let second = (f64::from(line) / f64::from(LINES) * DAY) as u32;
        let level = match random % 100 {
            0..=11 => "error",
            12..=20 => "warn",
            _ => "info",
        };
        let path = PATHS[(random >> 8) as usize % PATHS.len()];
        let (hour, minute) = (second / 3600, second / 60 % 60);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "2026-11-20T{hour:02}:{minute:02}:{:02}Z level={level} request={random:08x} path={path} took={}ms user={}",
            second % 60,
            random % 900,
            random % 5000,
        );
    }
    text
}

fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Problem {
    let path = path.to_owned();
    move |source| Problem::File { path, source }
}
