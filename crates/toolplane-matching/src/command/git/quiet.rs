//! Which commands of version control may run programs that the repository names.
//!
//! A repository is data from its author, and much of what is set in it is a program: `diff.external`, a `textconv`, the
//! `clean` filter of an attribute, which `git status` runs to see whether a file has changed. Programs that git can be
//! told to leave alone (hooks, the file system monitor, pagers, programs for signatures and transports) the sandbox
//! turns off for every tool. Those that attributes name cannot be turned off without changing what git answers, so
//! commands that may come to them are not harmless. Listed here are the others; whatever is not listed may run
//! anything.

use crate::command::SimpleCommand;

/// Programs that work in a repository by its own configuration, in ways that are not looked into. `gh` and the like run git.
const OTHERS: &[&str] = &[
    "hg", "jj", "sl", "chg", "fossil", "bzr", "brz", "darcs", "gh", "glab", "hub", "tig", "lazygit", "gitk", "git-lfs",
];

/// A subcommand that only looks at what is recorded, and the options with which it stays so.
struct Quiet {
    name: &'static str,
    /// Every option is fine.
    any: bool,
    /// Letters of short options that are.
    letters: &'static str,
    /// Long options that are, written in full.
    long: &'static [&'static str],
}

const NONE: Quiet = Quiet { name: "", any: false, letters: "", long: &[] };

/// Options of `log` and `show` that come to no difference of contents.
const HISTORY: &[&str] = &[
    "abbrev",
    "abbrev-commit",
    "after",
    "all",
    "author",
    "before",
    "branches",
    "color",
    "committer",
    "date",
    "date-order",
    "decorate",
    "first-parent",
    "format",
    "graph",
    "grep",
    "max-count",
    "merges",
    "name-only",
    "name-status",
    "no-abbrev-commit",
    "no-color",
    "no-decorate",
    "no-merges",
    "no-patch",
    "numstat",
    "oneline",
    "pretty",
    "remotes",
    "reverse",
    "shortstat",
    "since",
    "skip",
    "stat",
    "summary",
    "tags",
    "topo-order",
    "until",
];

/// Any of these keeps `show` from printing the difference it prints by default.
const NO_PATCH: &[&str] = &["-s", "--no-patch", "--name-only", "--name-status", "--stat", "--numstat", "--shortstat"];

const QUIET: &[Quiet] = &[
    Quiet { name: "branch", letters: "alrv", long: &["all", "list", "remotes", "show-current", "verbose"], ..NONE },
    Quiet { name: "cat-file", letters: "epst", ..NONE },
    Quiet { name: "check-attr", any: true, ..NONE },
    Quiet { name: "check-ignore", any: true, ..NONE },
    Quiet { name: "count-objects", any: true, ..NONE },
    Quiet { name: "for-each-ref", any: true, ..NONE },
    Quiet { name: "log", letters: "0123456789nisEF", long: HISTORY, ..NONE },
    Quiet {
        name: "ls-files",
        letters: "cosuz",
        long: &["cached", "error-unmatch", "exclude-standard", "full-name", "others", "stage", "unmerged"],
        ..NONE
    },
    Quiet { name: "ls-tree", any: true, ..NONE },
    Quiet { name: "merge-base", any: true, ..NONE },
    Quiet { name: "name-rev", any: true, ..NONE },
    Quiet { name: "rev-list", any: true, ..NONE },
    Quiet { name: "rev-parse", any: true, ..NONE },
    Quiet { name: "shortlog", any: true, ..NONE },
    Quiet { name: "show", letters: "0123456789nisEF", long: HISTORY, ..NONE },
    Quiet { name: "show-ref", any: true, ..NONE },
    Quiet { name: "tag", letters: "ln", long: &["list", "contains", "merged", "sort"], ..NONE },
    Quiet { name: "version", any: true, ..NONE },
];

/// Whether `command` may run a program that the repository it runs in names.
pub(crate) fn may_run_named_programs(command: &SimpleCommand) -> bool {
    match command.program() {
        Some("git") => !is_quiet(command),
        Some(program) => OTHERS.contains(&program) || program.starts_with("git-"),
        None => false,
    }
}

fn is_quiet(git: &SimpleCommand) -> bool {
    // Global options have been taken off where they change nothing; with others it may be another repository.
    let Some(name) = git.words.get(1) else { return true };
    if matches!(name.text.as_str(), "--version" | "--help") && git.words.len() == 2 {
        return true;
    }
    let Some(quiet) = QUIET.iter().find(|quiet| name.is_known() && quiet.name == name.text) else { return false };
    let options = git.words[2..].iter().take_while(|word| word.text != "--");
    let mut options = options.filter(|word| word.text.starts_with('-') || !word.is_known());
    let prints = quiet.name == "show" && !git.words.iter().any(|word| NO_PATCH.contains(&word.text.as_str()));
    !prints && options.all(|word| word.is_known() && quiet.takes(&word.text))
}

impl Quiet {
    fn takes(&self, option: &str) -> bool {
        if self.any {
            return true;
        }
        match option.strip_prefix("--") {
            // git takes any beginning of a long option for it, so only whole names are surely what they look like.
            Some(long) => self.long.contains(&long.split('=').next().unwrap_or_default()),
            None => option.chars().skip(1).all(|letter| self.letters.contains(letter)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::parse;

    fn runs(text: &str) -> bool {
        parse(text).commands.iter().any(may_run_named_programs)
    }

    #[test]
    fn looking_at_what_is_recorded_runs_nothing() {
        for text in [
            "git log",
            "git --no-pager log --oneline -n 3 --stat",
            "git log -5 --format=%h main..x -- src",
            "git show -s HEAD",
            "git show --stat HEAD~1",
            "git ls-files -co --exclude-standard",
            "git cat-file -p HEAD:a",
            "git rev-parse --show-toplevel",
            "git branch -a",
            "git tag",
            "git version",
            "git --version",
            "ls",
            "cat .git/config",
        ] {
            assert!(!runs(text), "{text}");
        }
    }

    #[test]
    fn whatever_looks_at_files_or_prints_differences_may_run_anything() {
        for text in [
            "git status",
            "git diff",
            "git diff --stat",
            "git diff --no-ext-diff --no-textconv",
            "git log -p",
            "git log -u",
            "git log -np",
            "git log --patch",
            "git log --pat",
            "git log -S x",
            "git log -Gx",
            "git log -L1,2:a",
            "git log --cc",
            "git log --remerge-diff",
            "git log $x",
            "git show",
            "git show --pretty=%h HEAD",
            "git show --stat -p",
            "git blame a",
            "git ls-files -m",
            "git cat-file --filters HEAD:a",
            "git cat-file --textconv HEAD:a",
            "git branch --edit-description",
            "git tag -v x",
            "git -C sub log",
            "git -c diff.external=x log",
            "git add .",
            "git commit -m x",
            "git checkout main",
            "git stash",
            "git submodule status",
            "git describe --dirty",
            "git config --list",
            "git difftool",
            "git unknown",
            "/usr/bin/git diff",
            "timeout 5 git diff",
            "git-upload-pack x",
            "hg status",
            "jj log",
            "gh pr list",
        ] {
            assert!(runs(text), "{text}");
        }
    }
}
