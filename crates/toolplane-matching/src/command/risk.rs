//! Options by which harmless-looking programs write files or run other programs.
//!
//! The lists are for allow rules only: a rule that allows `find:*` does not allow `find -delete`, one that names the option
//! word by word does. They can never be complete, which is why the sandbox and not this list is the wall.

use super::{SimpleCommand, Why, Word, sed};

/// Options of one program.
struct OptionWords {
    names: &'static [&'static str],
    /// Words exactly so.
    exact: &'static [&'static str],
    /// Letters of short options, wherever they are in a group.
    letters: &'static str,
    /// Long options, also shortened.
    long: &'static [&'static str],
}

const NONE: OptionWords = OptionWords { names: &[], exact: &[], letters: "", long: &[] };

const OPTIONS: &[OptionWords] = &[
    OptionWords {
        names: &["find", "gfind"],
        exact: &[
            "-exec",
            "-execdir",
            "-ok",
            "-okdir",
            "-delete",
            "-fprint",
            "-fprint0",
            "-fprintf",
            "-fls",
            "-files0-from",
        ],
        ..NONE
    },
    OptionWords { names: &["fd", "fdfind"], letters: "xX", long: &["exec", "exec-batch"], ..NONE },
    OptionWords {
        names: &["sort"],
        letters: "oT",
        long: &["output", "temporary-directory", "compress-program", "files0-from"],
        ..NONE
    },
    OptionWords { names: &["rg"], letters: "z", long: &["pre", "pre-glob", "hostname-bin", "search-zip"], ..NONE },
    OptionWords { names: &["ag"], letters: "zp", long: &["pager", "search-zip"], ..NONE },
    OptionWords {
        names: &["git"],
        exact: &["foreach", "filter-branch", "difftool", "mergetool", "bisect", "instaweb", "send-email"],
        letters: "Oo",
        long: &[
            "output",
            "output-directory",
            "ext-diff",
            "textconv",
            "upload-pack",
            "receive-pack",
            "exec",
            "open-files-in-pager",
            "config",
            "template",
            "tool",
            "extcmd",
            "show-signature",
            "filters",
            "no-index",
        ],
    },
    OptionWords {
        names: &["tar", "gtar", "bsdtar"],
        letters: "IF",
        long: &[
            "checkpoint-action",
            "to-command",
            "use-compress-program",
            "info-script",
            "new-volume-script",
            "rsh-command",
            "rmt-command",
        ],
        ..NONE
    },
    OptionWords {
        names: &["curl"],
        letters: "oOKTDc",
        long: &[
            "output",
            "remote-name",
            "config",
            "upload-file",
            "dump-header",
            "cookie-jar",
            "output-dir",
            "trace",
            "trace-ascii",
            "stderr",
        ],
        ..NONE
    },
    OptionWords {
        names: &["wget"],
        letters: "OPioa",
        long: &[
            "output-document",
            "directory-prefix",
            "input-file",
            "output-file",
            "append-output",
            "use-askpass",
            "execute",
            "post-file",
            "config",
        ],
        ..NONE
    },
    OptionWords { names: &["rsync"], letters: "e", long: &["rsh", "rsync-path", "delete"], ..NONE },
    OptionWords { names: &["scp", "sftp"], letters: "SoFD", ..NONE },
    OptionWords { names: &["zip"], letters: "T", long: &["unzip-command", "test"], ..NONE },
    OptionWords { names: &["date"], letters: "sf", long: &["set", "file"], ..NONE },
    OptionWords { names: &["file"], letters: "Cfm", long: &["compile", "files-from", "magic-file"], ..NONE },
    OptionWords { names: &["tree"], letters: "o", ..NONE },
    OptionWords { names: &["man"], letters: "PHT", long: &["pager", "html", "preprocessor"], ..NONE },
    OptionWords {
        names: &["less", "more", "most"],
        letters: "oOkt",
        exact: &["+!"],
        long: &["log-file", "lesskey-file"],
    },
    OptionWords { names: &["split"], long: &["filter"], ..NONE },
    OptionWords { names: &["bat", "batcat", "delta"], long: &["pager"], ..NONE },
    OptionWords { names: &["sqlite"], exact: &["-cmd", "-init"], ..NONE },
    OptionWords { names: &["ctags"], long: &["options", "config"], ..NONE },
    OptionWords { names: &["cmake"], letters: "PEC", ..NONE },
    OptionWords { names: &["mvn"], letters: "f", long: &["file"], ..NONE },
    OptionWords { names: &["gradle"], letters: "Ibcp", long: &["init-script", "build-file", "project-dir"], ..NONE },
    OptionWords {
        names: &["pytest", "py.test"],
        letters: "pc",
        long: &["rootdir", "confcutdir", "override-ini"],
        ..NONE
    },
    OptionWords {
        names: &["yq", "prettier", "gofmt", "rustfmt", "black"],
        letters: "iw",
        long: &["inplace", "in-place", "write"],
        ..NONE
    },
    OptionWords { names: &["jq"], letters: "fL", long: &["from-file", "rawfile", "slurpfile"], ..NONE },
    OptionWords { names: &["test", "["], exact: &["-v"], ..NONE },
    OptionWords { names: &["printf"], exact: &["-v"], ..NONE },
    OptionWords { names: &["compgen"], letters: "CFW", ..NONE },
    OptionWords { names: &["history", "fc"], letters: "warse", ..NONE },
    OptionWords {
        names: &["gcc", "cc", "g++", "clang", "clang++"],
        exact: &["-wrapper"],
        long: &["wrapper"],
        letters: "B",
    },
    OptionWords { names: &["go"], exact: &["-exec", "-toolexec", "--exec", "--toolexec"], ..NONE },
    OptionWords { names: &["cargo"], long: &["config"], exact: &["-Z"], ..NONE },
    OptionWords {
        names: &["make", "gmake"],
        letters: "fCIE",
        long: &["file", "makefile", "directory", "eval", "include-dir"],
        ..NONE
    },
    OptionWords {
        names: &["npm", "pnpm", "yarn"],
        letters: "C",
        long: &["prefix", "script-shell", "node-options", "dir", "cwd"],
        ..NONE
    },
    OptionWords { names: &["python", "pypy"], letters: "cmix", ..NONE },
    OptionWords {
        names: &["node", "deno", "bun"],
        exact: &["eval"],
        letters: "eprC",
        long: &["eval", "print", "require", "import", "loader", "experimental-loader"],
    },
    OptionWords { names: &["perl"], letters: "eEMmiIdpn", ..NONE },
    OptionWords { names: &["ruby"], letters: "erIipnx", ..NONE },
    OptionWords { names: &["php"], letters: "rBRFdfz", long: &["run", "process-code", "define"], ..NONE },
    OptionWords {
        names: &["lua", "Rscript", "R", "julia"],
        letters: "eElLP",
        long: &["eval", "load", "file", "args"],
        ..NONE
    },
    OptionWords {
        names: &["vim", "vi", "nvim", "ex", "view", "ed", "emacs", "nano"],
        letters: "cSsuUwWl",
        long: &["cmd", "eval", "load"],
        exact: &["+"],
    },
];

/// Marks the dangerous arguments of `command`.
pub(super) fn mark(command: &mut SimpleCommand, name: &str) {
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let listed = OPTIONS.iter().find(|options| options.names.contains(&name));
    for at in 1..command.words.len() {
        if listed.is_some_and(|options| options.name(&command.words[at].text)) || is_dangerous(name, &command.words, at)
        {
            command.risk(at, Why::DangerousOption);
        }
    }
    if matches!(name, "cd" | "pushd" | "popd") {
        let operands = command.words[1..].iter().filter(|word| !word.text.starts_with('-'));
        if operands.count() != 1 {
            // Home, the directory before, a stack: none of them is in the text.
            command.why(Why::OutsideWorkspace);
        }
    }
}

/// What the lists of options do not say.
fn is_dangerous(name: &str, words: &[Word], at: usize) -> bool {
    let text = words[at].text.as_str();
    let operand = !text.starts_with('-');
    match name {
        "sed" | "gsed" => sed::is_dangerous(&words[1..], at - 1),
        "awk" | "gawk" | "mawk" | "nawk" => !is_plain_awk(text),
        // The old form without a dash: `tar xf`.
        "tar" | "gtar" | "bsdtar" => at == 1 && operand && text.contains(['I', 'F']),
        // A second operand is written.
        "uniq" | "xxd" => operand && words[1..at].iter().any(|word| !word.text.starts_with('-')),
        "git" => match text {
            "-x" => words.iter().any(|word| word.text == "rebase"),
            "-u" => words.iter().any(|word| matches!(word.text.as_str(), "clone" | "ls-remote" | "fetch-pack")),
            // `ext::sh -c ...` is an address that is a command.
            _ => operand && text.contains("::"),
        },
        "dd" => text.starts_with("of="),
        // The loader of a program may be a program of the same file.
        "ldd" => operand,
        "sqlite" => operand && (text.contains(".shell") || text.contains(".system")),
        "read" | "unset" | "let" | "declare" | "typeset" | "local" | "export" | "readonly" | "wait" => {
            text.contains('[')
        }
        _ => false,
    }
}

impl OptionWords {
    fn name(&self, text: &str) -> bool {
        if self.exact.contains(&text) {
            return true;
        }
        match text.strip_prefix("--") {
            Some(long) => {
                let given = long.split('=').next().unwrap_or_default();
                // GNU programs take any beginning of a long option for it.
                !given.is_empty() && self.long.iter().any(|option| option.starts_with(given))
            }
            None => text.strip_prefix('-').is_some_and(|letters| {
                // `-X=value` and the like: only the text before the value is a group of letters.
                letters.split('=').next().unwrap_or_default().contains(|letter| self.letters.contains(letter))
            }),
        }
    }
}

/// Whether an argument of awk neither writes, reads more nor runs anything.
fn is_plain_awk(text: &str) -> bool {
    if text.starts_with('-') {
        return text.starts_with("-F") || text.starts_with("-v");
    }
    !["system", "getline", "|", ">", "@", "close", "fflush", "ENVIRON"].iter().any(|word| text.contains(word))
}
