//! `git`: global options taken off, so that rules about a subcommand see it.

mod quiet;

pub(crate) use quiet::may_run_named_programs;

use super::{SimpleCommand, Why, Word};

/// Global options that change nothing but how output is shown.
const HARMLESS: &[&str] = &["--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--no-advice"];
/// Global options whose value is the next word.
const VALUES: &[&str] =
    &["-C", "-c", "--git-dir", "--work-tree", "--namespace", "--config-env", "--super-prefix", "--attr-source"];
/// Other global options; those with `=` at their end have a value in the same word.
const FLAGS: &[&str] = &[
    "-p",
    "--paginate",
    "--bare",
    "--no-replace-objects",
    "--no-lazy-fetch",
    "--glob-pathspecs",
    "--noglob-pathspecs",
    "--icase-pathspecs",
    "--git-dir=",
    "--work-tree=",
    "--namespace=",
    "--config-env=",
    "--super-prefix=",
    "--exec-path=",
    "--attr-source=",
];
/// Subcommands of git itself. Another name may be an alias, and an alias may be anything.
const SUBCOMMANDS: &[&str] = &[
    "add",
    "am",
    "annotate",
    "apply",
    "archive",
    "bisect",
    "blame",
    "branch",
    "bundle",
    "cat-file",
    "check-attr",
    "check-ignore",
    "check-mailmap",
    "check-ref-format",
    "checkout",
    "checkout-index",
    "cherry",
    "cherry-pick",
    "clean",
    "clone",
    "column",
    "commit",
    "commit-graph",
    "commit-tree",
    "config",
    "count-objects",
    "credential",
    "daemon",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "difftool",
    "fast-export",
    "fast-import",
    "fetch",
    "fetch-pack",
    "filter-branch",
    "fmt-merge-msg",
    "for-each-ref",
    "for-each-repo",
    "format-patch",
    "fsck",
    "gc",
    "get-tar-commit-id",
    "grep",
    "gui",
    "hash-object",
    "help",
    "hook",
    "http-backend",
    "imap-send",
    "index-pack",
    "init",
    "instaweb",
    "interpret-trailers",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "mailinfo",
    "mailsplit",
    "maintenance",
    "merge",
    "merge-base",
    "merge-file",
    "merge-index",
    "merge-tree",
    "mergetool",
    "mktag",
    "mktree",
    "multi-pack-index",
    "mv",
    "name-rev",
    "notes",
    "pack-objects",
    "pack-refs",
    "patch-id",
    "prune",
    "prune-packed",
    "pull",
    "push",
    "range-diff",
    "read-tree",
    "rebase",
    "reflog",
    "remote",
    "repack",
    "replace",
    "replay",
    "request-pull",
    "rerere",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "revert",
    "rm",
    "send-email",
    "send-pack",
    "shortlog",
    "show",
    "show-branch",
    "show-index",
    "show-ref",
    "sparse-checkout",
    "stage",
    "stash",
    "status",
    "stripspace",
    "submodule",
    "subtree",
    "svn",
    "switch",
    "symbolic-ref",
    "tag",
    "unpack-file",
    "unpack-objects",
    "update-index",
    "update-ref",
    "update-server-info",
    "upload-archive",
    "upload-pack",
    "var",
    "verify-commit",
    "verify-pack",
    "verify-tag",
    "version",
    "whatchanged",
    "worktree",
    "write-tree",
];

/// Whether git itself has that subcommand.
pub(crate) fn is_subcommand(name: &str) -> bool {
    SUBCOMMANDS.contains(&name)
}

/// Takes harmless global options out of `words`, which begin with `git`.
pub(crate) fn without_harmless(words: &mut Vec<Word>) {
    while words.get(1).is_some_and(|word| word.is_known() && HARMLESS.contains(&word.text.as_str())) {
        words.remove(1);
    }
}

/// Notes what is special about a command of git.
pub(super) fn mark(command: &mut SimpleCommand) {
    without_harmless(&mut command.words);
    let mut at = 1;
    while let Some(word) = command.words.get(at).filter(|word| word.is_known()) {
        let text = word.text.as_str();
        let flag = FLAGS.iter().any(|flag| text == *flag || (flag.ends_with('=') && text.starts_with(flag)));
        at += match text {
            text if VALUES.contains(&text) => 2,
            text if flag || HARMLESS.contains(&text) => 1,
            // `--exec-path` alone prints; an unknown option is not guessed at.
            _ => break,
        };
    }
    if at == 1 {
        return;
    }
    // Another repository, another configuration: what a rule allows here is not what would happen there.
    command.risk(1, Why::DangerousOption);
    let rest = command.words.get(at..).unwrap_or_default();
    command.canonical = Some(command.words[..1].iter().chain(rest).cloned().collect());
}
