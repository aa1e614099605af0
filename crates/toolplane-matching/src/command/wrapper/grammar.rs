//! The options of wrappers.

use crate::command::Word;

/// The options of a wrapper.
pub(super) struct Grammar {
    pub(super) name: &'static str,
    /// Letters of options without a value.
    pub(super) flags: &'static str,
    /// Letters of options with a value, in the same word or the next.
    pub(super) values: &'static str,
    /// Letters of options whose value can only be in the same word.
    pub(super) attached: &'static str,
    /// Long options, those that take the next word as value with `=` at their end.
    pub(super) long: &'static [&'static str],
    /// Words between the options and the command.
    pub(super) operands: usize,
    /// Variables may be set before the command.
    pub(super) assigns: bool,
    /// Nothing but the inner command matters.
    pub(super) through: bool,
}

pub(super) const NONE: Grammar =
    Grammar { name: "", flags: "", values: "", attached: "", long: &[], operands: 0, assigns: false, through: false };

pub(super) const GRAMMARS: &[Grammar] = &[
    Grammar {
        name: "timeout",
        flags: "v",
        values: "ks",
        long: &["foreground", "preserve-status", "verbose", "kill-after=", "signal="],
        operands: 1,
        through: true,
        ..NONE
    },
    Grammar { name: "nice", values: "n", attached: "0123456789", long: &["adjustment="], through: true, ..NONE },
    Grammar { name: "nohup", through: true, ..NONE },
    Grammar { name: "stdbuf", values: "ioe", long: &["input=", "output=", "error="], through: true, ..NONE },
    // The word of the shell, behind which a command begins as it does anywhere; the program takes no assignments.
    Grammar {
        name: "time",
        flags: "pqv",
        long: &["portability", "verbose", "quiet"],
        assigns: true,
        through: true,
        ..NONE
    },
    Grammar {
        name: "ionice",
        flags: "t",
        values: "cn",
        long: &["class=", "classdata=", "ignore"],
        through: true,
        ..NONE
    },
    Grammar { name: "chrt", flags: "bfiorvR", long: &["batch", "fifo", "idle", "other", "rr"], operands: 1, ..NONE },
    Grammar { name: "command", flags: "p", through: true, ..NONE },
    Grammar { name: "builtin", through: true, ..NONE },
    Grammar { name: "noglob", through: true, ..NONE },
    Grammar { name: "exec", flags: "cl", values: "a", ..NONE },
    Grammar {
        name: "env",
        flags: "i0v",
        values: "uC",
        long: &["ignore-environment", "null", "debug", "unset=", "chdir="],
        assigns: true,
        ..NONE
    },
    Grammar {
        name: "sudo",
        flags: "AbBEHiKklNnPSsVv",
        values: "CcDghpRrTtUu",
        long: &[
            "preserve-env",
            "login",
            "non-interactive",
            "set-home",
            "shell",
            "stdin",
            "user=",
            "group=",
            "host=",
            "chdir=",
        ],
        assigns: true,
        ..NONE
    },
    Grammar { name: "doas", flags: "Lns", values: "aCu", ..NONE },
    Grammar {
        name: "xargs",
        flags: "0oprtx",
        values: "adEILnPs",
        attached: "eil",
        long: &[
            "null",
            "no-run-if-empty",
            "verbose",
            "interactive",
            "exit",
            "open-tty",
            "arg-file=",
            "delimiter=",
            "max-args=",
            "max-chars=",
            "max-procs=",
        ],
        ..NONE
    },
    Grammar { name: "setsid", flags: "cfw", long: &["ctty", "fork", "wait"], ..NONE },
    Grammar { name: "chroot", long: &["skip-chdir"], operands: 1, ..NONE },
    Grammar { name: "busybox", ..NONE },
    Grammar { name: "toybox", ..NONE },
    Grammar {
        name: "flock",
        flags: "sxenuvFo",
        values: "wE",
        long: &["shared", "exclusive", "nonblock"],
        operands: 1,
        ..NONE
    },
    Grammar { name: "taskset", flags: "a", operands: 1, ..NONE },
    Grammar { name: "faketime", flags: "mf", operands: 1, ..NONE },
    Grammar { name: "fakeroot", ..NONE },
    Grammar { name: "setarch", flags: "RXZLBFIST3v", operands: 1, ..NONE },
    Grammar { name: "linux32", flags: "RXZLBFIST3v", ..NONE },
    Grammar { name: "linux64", flags: "RXZLBFIST3v", ..NONE },
    Grammar { name: "gosu", operands: 1, ..NONE },
    Grammar { name: "su-exec", operands: 1, ..NONE },
    Grammar { name: "dumb-init", flags: "cv", ..NONE },
    Grammar { name: "tini", flags: "sgvw", values: "pe", ..NONE },
    Grammar { name: "unbuffer", flags: "p", ..NONE },
    Grammar { name: "caffeinate", flags: "disum", values: "tw", ..NONE },
];

/// Programs that run others by grammars that are not in the table.
pub(super) const LAUNCHERS: &[&str] = &[
    "apptainer",
    "arch",
    "aws-vault",
    "bpftrace",
    "bunx",
    "bwrap",
    "capsh",
    "catchsegv",
    "cgexec",
    "chpst",
    "chronic",
    "ctr",
    "daemonize",
    "dbus-run-session",
    "direnv",
    "distrobox",
    "docker",
    "dtrace",
    "entr",
    "envdir",
    "expect",
    "firejail",
    "forkstat",
    "gdb",
    "hyperfine",
    "ifne",
    "kubectl",
    "lldb",
    "logsave",
    "ltrace",
    "machinectl",
    "nerdctl",
    "newgrp",
    "nix-shell",
    "nodemon",
    "npx",
    "nsenter",
    "numactl",
    "parallel",
    "pdsh",
    "perf",
    "pkexec",
    "plink",
    "pnpx",
    "podman",
    "poetry",
    "pipx",
    "prlimit",
    "proot",
    "proxychains",
    "proxychains4",
    "retry",
    "rlwrap",
    "rsh",
    "run-parts",
    "runcon",
    "runuser",
    "s6-setuidgid",
    "schroot",
    "screen",
    "script",
    "sem",
    "setfacl",
    "setpriv",
    "setuidgid",
    "sg",
    "singularity",
    "softlimit",
    "ssh",
    "ssh-agent",
    "start-stop-daemon",
    "stress",
    "strace",
    "su",
    "systemd-nspawn",
    "systemd-run",
    "tmux",
    "torify",
    "torsocks",
    "trickle",
    "ts-node",
    "tsocks",
    "udocker",
    "unshare",
    "usbreset",
    "uv",
    "uvx",
    "valgrind",
    "vipe",
    "watchexec",
    "watchman",
    "with-contenv",
    "wsl",
    "x11docker",
    "xvfb-run",
    "zoxide",
];

impl Grammar {
    /// The index behind the options; none when there is one that is not known.
    pub(super) fn behind_options(&self, words: &[Word]) -> Option<usize> {
        let mut at = 1;
        while let Some(word) = words.get(at) {
            if !word.is_known() {
                return (!word.text[..word.known].is_empty() && !word.text.starts_with('-')).then_some(at);
            }
            let text = word.text.as_str();
            if text == "--" {
                return Some(at + 1);
            }
            if text == "-" && self.assigns {
                // `env -` is `env -i`.
                at += 1;
                continue;
            }
            if !text.starts_with('-') || text.len() < 2 {
                return Some(at);
            }
            at += match text.strip_prefix("--") {
                Some(long) => self.long_option(long)?,
                None => self.letters(&text[1..])?,
            };
        }
        Some(at)
    }

    /// How many words a long option takes.
    fn long_option(&self, text: &str) -> Option<usize> {
        let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        let known = self.long.iter().find(|option| option.trim_end_matches('=') == name)?;
        match (known.ends_with('='), value) {
            (true, None) => Some(2),
            _ => Some(1),
        }
    }

    /// How many words a group of short options takes.
    fn letters(&self, letters: &str) -> Option<usize> {
        for (index, letter) in letters.char_indices() {
            if self.attached.contains(letter) {
                return Some(1);
            }
            if self.values.contains(letter) {
                return Some(if index + letter.len_utf8() < letters.len() { 1 } else { 2 });
            }
            if !self.flags.contains(letter) {
                return None;
            }
        }
        Some(1)
    }
}
