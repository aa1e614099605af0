//! The matcher against the real shell: what it allows runs only what was allowed, and what runs a denied program is never
//! passed over.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use toolplane_matching::Fit;
use toolplane_matching::command::parse;
use toolplane_matching::pattern::CommandPattern;
use toolplane_records::vocabulary::Behavior;

const CASES: u32 = 1_500;
/// Programs there are in the world of the test; each only writes down how it was called.
const PROGRAMS: &[&str] = &["alpha", "beta", "rm"];

/// A directory in which texts are run.
struct World {
    root: PathBuf,
    runs: Cell<u32>,
}

impl World {
    fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("toolplane-policy-{name}-{}", std::process::id()));
        fs::create_dir_all(root.join("bin")).unwrap();
        for program in PROGRAMS {
            let file = root.join("bin").join(program);
            // One call is one line, written at once: members of a pipeline write at the same time.
            let line = format!("line=$(printf '%s\\037' {program} \"$@\" | tr -d '\\n')");
            let script = format!("#!/bin/sh\n{line}\nprintf '%s\\n' \"$line\" >&9\n");
            fs::write(&file, script).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        }
        // Wrappers that are looked through, and what the scripts themselves need.
        for program in ["timeout", "nice", "env", "xargs", "tr", "bash", "sh"] {
            let real = ["/usr/bin", "/bin"].iter().map(|dir| Path::new(dir).join(program)).find(|path| path.exists());
            let _ = std::os::unix::fs::symlink(real.unwrap(), root.join("bin").join(program));
        }
        Self { root, runs: Cell::new(0) }
    }

    /// The calls of programs that running `text` makes, each as its arguments.
    fn run(&self, text: &str) -> BTreeSet<Vec<String>> {
        // A background job may outlive its text: it must not write into the log of the next.
        self.runs.set(self.runs.get() + 1);
        let (log, place) = (self.root.join(format!("log-{}", self.runs.get())), self.root.join("place"));
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(&place).unwrap();
        fs::write(&log, "").unwrap();
        let script = "ulimit -t 5; exec 9>>\"$1\"; exec bash --norc --noprofile -c \"$2\"";
        let mut command = Command::new("/usr/bin/timeout");
        command.args(["-k", "1", "5", "/bin/bash", "-c", script, "run"]).arg(&log).arg(text);
        command.env_clear().env("PATH", self.root.join("bin")).current_dir(&place);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().unwrap();
        let calls = fs::read_to_string(&log).unwrap();
        let _ = fs::remove_file(&log);
        let words = |line: &str| line.split_terminator('\u{1f}').map(str::to_owned).collect();
        calls.lines().filter(|line| !line.is_empty()).map(words).collect()
    }

    /// Files the last text left behind.
    fn left_behind(&self) -> usize {
        fs::read_dir(self.root.join("place")).unwrap().count()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// Whether the shell finds nothing wrong with the text.
fn reads(text: &str) -> bool {
    Command::new("/bin/bash").args(["-n", "-c", text]).stderr(Stdio::null()).status().unwrap().success()
}

fn text(odd: u32) -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        60 => prop::sample::select(vec![
            "alpha", "beta", " ", " ", " ", " a", " b.c", " -x", " 'q q'", " \"d d\"", " --k=v", " HEAD~1", " x^", ";", " && ", " || ",
            " | ", "\n", "alpha ", "beta ", " ''", " 2>&1", " # c", "\t", "timeout 5 ", "nice ",
        ]),
        odd => prop::sample::select(vec![
            "rm", "rm ", "rm x", "$x", "\"$x\"", "`beta`", "$(rm)", "$(", ")", "(", "{a,b}", "{", "}", "*", "~", "<", ">", ">f", "&", "'", "\"", "\\",
            "\\\n", "é", "\r", "!", "=", "A=1 ", "x=rm;", "$x y", "\\rm", "r''m", "$'rm'", "$'\\x72m'", "bash -c 'rm y'", "bash -c \"alpha\"",
            "eval ", "env ", "env A=1 ", "xargs ", "|xargs rm", "command ", "exec ", "if alpha; then ", "; fi", "for i in rm a; do ", "; done",
            "$i", "f() {", "f", "; }", "trap 'rm t' EXIT", "alias beta=rm", "[[ a ]]", "((1))", "<<E\n", "\nE\n", "<<<x", "<(rm)", "case a in a) ",
            ";; esac", "#", "\u{a0}", "$IFS", "${x:-rm}", "[", "]", "^", "\u{b}", "function g { ", "time ", "! ", "builtin ", "${IFS}",
        ]),
    ];
    prop::collection::vec(piece, 1..12).prop_map(|pieces| pieces.concat())
}

fn runner() -> TestRunner {
    TestRunner::new(Config { cases: CASES, failure_persistence: None, ..Config::default() })
}

#[test]
fn what_is_allowed_runs_only_what_was_allowed() {
    let world = World::new("allow");
    let patterns = ["alpha:*", "beta:*"].map(|pattern| CommandPattern::parse(pattern).unwrap());
    let allowed = Cell::new(0);
    let outcome = runner().run(&text(6).prop_filter("has a program", |text| text.contains("a")), |text| {
        let shell = parse(&text);
        let fits = |command| patterns.iter().any(|pattern| pattern.fit_part(Behavior::Allow, command) == Fit::Yes);
        let writes = shell.commands.iter().any(|command| !command.redirections.is_empty());
        if !shell.is_plain() || writes || !shell.parts().all(fits) {
            return Ok(());
        }
        allowed.set(allowed.get() + 1);
        let wanted: BTreeSet<Vec<String>> = shell
            .parts()
            .map(|command| command.words.iter().map(|word| word.text.replace('\n', "")).collect())
            .collect();
        let ran = world.run(&text);
        prop_assert!(ran.is_subset(&wanted), "{text:?} ran {ran:?}, allowed were {wanted:?}");
        prop_assert!(reads(&text), "{text:?} was allowed, and the shell cannot read it");
        prop_assert_eq!(world.left_behind(), 0, "{:?} left a file", text);
        Ok(())
    });
    outcome.unwrap();
    println!("{} of {CASES} texts were allowed", allowed.get());
    assert!(allowed.get() > CASES / 20, "only {} of {CASES} texts were allowed: the test is weak", allowed.get());
}

#[test]
fn what_runs_a_denied_program_is_denied_or_asked_about() {
    let world = World::new("deny");
    let pattern = CommandPattern::parse("rm:*").unwrap();
    let count = Cell::new(0);
    let outcome = runner().run(&text(60), |text| {
        if !text.contains("rm") || text.contains('\0') {
            return Ok(());
        }
        if world.run(&text).iter().any(|call| call[0] == "rm") {
            count.set(count.get() + 1);
            prop_assert!(pattern.fit(Behavior::Deny, &parse(&text)) != Fit::No, "{text:?} ran it: {:#?}", parse(&text));
        }
        Ok(())
    });
    outcome.unwrap();
    println!("{} of {CASES} texts ran it", count.get());
    assert!(count.get() > CASES / 50, "only {} of {CASES} texts ran it: the test is weak", count.get());
}

proptest! {
    #![proptest_config(Config { cases: 2_000, failure_persistence: None, ..Config::default() })]

    #[test]
    fn any_text_is_read(text in "\\PC*|[ -~\n\t\0]{0,200}", other in text(40)) {
        for text in [text, other] {
            let shell = parse(&text);
            prop_assert!(shell.is_plain() || !shell.why_not_plain.is_empty() || !shell.commands.is_empty());
            for pattern in ["rm:*", "git * x", "regex:a+$", "a | b"] {
                let pattern = CommandPattern::parse(pattern).unwrap();
                let fits = [Behavior::Allow, Behavior::Ask, Behavior::Deny].map(|behavior| pattern.fit(behavior, &shell));
                // An allow never fits where a deny would not.
                prop_assert!(fits[0] != Fit::Yes || fits[2] == Fit::Yes, "{text:?}");
                prop_assert_eq!(fits[1], fits[2]);
            }
        }
    }

    #[test]
    fn a_program_no_command_names_is_never_fitted(text in text(20)) {
        let shell = parse(&text);
        let named = shell.commands.iter().any(|command| command.program() == Some("beta"));
        if shell.is_plain() && !named {
            let pattern = CommandPattern::parse("beta:*").unwrap();
            prop_assert_eq!(pattern.fit(Behavior::Deny, &shell), Fit::No);
        }
    }

    #[test]
    fn any_text_is_a_pattern_or_is_not(text in "\\PC{0,60}|[a-z*?{}\\[\\]/~,:|'\" \\\\-]{0,40}") {
        let command = CommandPattern::parse(&text);
        let path = toolplane_matching::pattern::PathPattern::parse(&text);
        let url = toolplane_matching::pattern::UrlPattern::parse(&format!("domain:{text}"));
        let shell = parse("git push origin $x");
        if let Ok(pattern) = command {
            pattern.fit(Behavior::Deny, &shell);
        }
        prop_assert!(path.is_ok() || path.is_err() || url.is_ok());
    }
}
