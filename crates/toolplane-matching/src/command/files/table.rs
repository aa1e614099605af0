//! Programs and what they do to the files they name.

/// What is done to the operands.
#[derive(Clone, Copy)]
pub(super) enum Operands {
    Read,
    Write,
    Both,
    /// All but the last are read, the last is written.
    Copy,
}

/// A program by how its words name files.
pub(super) struct Program {
    pub(super) names: &'static [&'static str],
    pub(super) operands: Operands,
    /// First operands that are no files: a pattern, a script, a mode.
    pub(super) lead: usize,
    /// Letters and long names of options that stand for the lead: then every operand is a file.
    pub(super) no_lead_with: &'static str,
    pub(super) no_lead_with_long: &'static [&'static str],
    /// Letters of options whose next word is a value and no file.
    pub(super) values: &'static str,
    /// Everything beneath the operands is used as well.
    pub(super) tree: bool,
    /// The same with one of these letters.
    pub(super) tree_with: &'static str,
    /// Without an operand the directory it runs in is used.
    pub(super) here: bool,
    /// Operands are written too with one of these letters or long options.
    pub(super) writes_with: &'static str,
    pub(super) writes_with_long: &'static [&'static str],
    /// From the first word that looks like an option on, words are an expression.
    pub(super) expression: bool,
    /// Files are named by `if=` and `of=`.
    pub(super) assigns: bool,
}

const NONE: Program = Program {
    names: &[],
    operands: Operands::Read,
    lead: 0,
    no_lead_with: "",
    no_lead_with_long: &[],
    values: "",
    tree: false,
    tree_with: "",
    here: false,
    writes_with: "",
    writes_with_long: &[],
    expression: false,
    assigns: false,
};

const PROGRAMS: &[Program] = &[
    Program {
        names: &[
            "cat",
            "tac",
            "nl",
            "less",
            "more",
            "most",
            "bat",
            "batcat",
            "zcat",
            "bzcat",
            "xzcat",
            "zstdcat",
            "zless",
            "zmore",
            "rev",
            "strings",
            "hd",
            "hexdump",
            "sum",
            "cksum",
            "md5sum",
            "sha1sum",
            "sha224sum",
            "sha256sum",
            "sha384sum",
            "sha512sum",
            "b2sum",
            "b3sum",
            "readlink",
            "realpath",
            "file",
            "cmp",
            "comm",
            "wc",
            "test",
            "[",
            "source",
            ".",
            "xmllint",
            "dos2unix",
            "look",
            "tsort",
            "shuf",
            "ptx",
            "iconv",
            "tput",
            "nm",
            "objdump",
            "readelf",
            "size",
            "ldd",
            "getfacl",
            "lsattr",
            "identify",
            "exiftool",
            "pdftotext",
        ],
        ..NONE
    },
    Program { names: &["head", "tail"], values: "ncs", ..NONE },
    Program { names: &["cut"], values: "bcdf", ..NONE },
    Program { names: &["paste", "column", "expand", "unexpand"], values: "dts", ..NONE },
    Program { names: &["join"], values: "aeijotv12", ..NONE },
    Program { names: &["fold", "fmt", "pr", "base64", "base32", "basenc"], values: "wl", ..NONE },
    Program { names: &["od"], values: "AjNStw", ..NONE },
    Program { names: &["stat"], values: "c", ..NONE },
    Program { names: &["xxd"], values: "clos", operands: Operands::Copy, ..NONE },
    Program { names: &["uniq"], values: "fsw", operands: Operands::Copy, ..NONE },
    Program { names: &["sort"], values: "ktS", writes_with: "o", writes_with_long: &["output"], ..NONE },
    Program { names: &["split", "csplit"], values: "abCln", operands: Operands::Copy, ..NONE },
    Program { names: &["diff", "sdiff", "diff3", "colordiff", "vimdiff"], values: "UCWIFx", tree_with: "rR", ..NONE },
    Program { names: &["ls", "dir", "vdir", "exa", "eza", "lsd"], values: "ITw", tree_with: "R", here: true, ..NONE },
    Program { names: &["du", "ncdu"], values: "dBt", tree: true, here: true, ..NONE },
    Program { names: &["tree"], values: "LPI", tree: true, here: true, ..NONE },
    Program {
        names: &["grep", "egrep", "fgrep", "zgrep", "bzgrep", "xzgrep"],
        lead: 1,
        no_lead_with: "ef",
        no_lead_with_long: &["regexp", "file"],
        values: "eABCmdD",
        tree_with: "rR",
        ..NONE
    },
    Program {
        names: &["rg", "ag", "ack", "ugrep"],
        lead: 1,
        no_lead_with: "ef",
        no_lead_with_long: &["regexp", "file", "files"],
        values: "eABCmgtTEjM",
        tree: true,
        here: true,
        ..NONE
    },
    Program { names: &["fd", "fdfind"], lead: 1, values: "etdEjS", tree: true, here: true, ..NONE },
    Program {
        names: &["sed", "gsed"],
        lead: 1,
        no_lead_with: "ef",
        no_lead_with_long: &["expression", "file"],
        values: "el",
        writes_with: "i",
        writes_with_long: &["in-place"],
        ..NONE
    },
    Program {
        names: &["awk", "gawk", "mawk", "nawk"],
        lead: 1,
        no_lead_with: "f",
        no_lead_with_long: &["file"],
        values: "Fv",
        ..NONE
    },
    Program {
        names: &["jq", "yq", "xq", "gron"],
        lead: 1,
        no_lead_with: "f",
        no_lead_with_long: &["from-file"],
        writes_with: "i",
        writes_with_long: &["inplace", "in-place"],
        ..NONE
    },
    Program { names: &["find", "gfind"], tree: true, here: true, expression: true, ..NONE },
    Program { names: &["touch"], values: "dt", operands: Operands::Write, ..NONE },
    Program { names: &["mkdir", "mkfifo"], values: "m", operands: Operands::Write, ..NONE },
    Program { names: &["rmdir", "unlink", "tee", "sponge"], operands: Operands::Write, ..NONE },
    Program { names: &["truncate", "fallocate"], values: "slo", operands: Operands::Write, ..NONE },
    Program { names: &["shred"], values: "ns", operands: Operands::Write, ..NONE },
    Program { names: &["rm"], operands: Operands::Write, tree_with: "rRd", ..NONE },
    Program {
        names: &["chmod", "chown", "chgrp", "chattr", "setfacl"],
        operands: Operands::Write,
        lead: 1,
        no_lead_with_long: &["reference"],
        tree_with: "R",
        ..NONE
    },
    Program {
        names: &["cp", "gcp"],
        values: "S",
        operands: Operands::Copy,
        tree_with: "rRa",
        writes_with: "tlsT",
        writes_with_long: &["target-directory", "link", "symbolic-link"],
        ..NONE
    },
    Program {
        names: &["install"],
        values: "gmoS",
        operands: Operands::Copy,
        writes_with: "td",
        writes_with_long: &["target-directory", "directory"],
        ..NONE
    },
    Program { names: &["scp", "rsync", "rclone"], operands: Operands::Copy, tree: true, ..NONE },
    Program { names: &["mv", "ln", "rename"], values: "S", operands: Operands::Both, tree: true, ..NONE },
    Program {
        names: &["link", "patch", "vi", "vim", "nvim", "view", "nano", "ed", "ex", "emacs"],
        operands: Operands::Both,
        ..NONE
    },
    Program {
        names: &[
            "tar", "gtar", "bsdtar", "zip", "unzip", "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "7z",
            "cpio",
        ],
        operands: Operands::Both,
        tree: true,
        ..NONE
    },
    Program { names: &["dd"], operands: Operands::Both, assigns: true, ..NONE },
];

/// Programs that open no file their words name.
const NO_FILES: &[&str] = &[
    ":", "basename", "cd", "clear", "continue", "date", "dirname", "echo", "exit", "export", "expr", "false",
    "hostname", "id", "jobs", "kill", "popd", "printf", "pushd", "pwd", "return", "seq", "set", "shift", "sleep", "tr",
    "true", "tty", "type", "umask", "uname", "unset", "wait", "which", "whoami", "yes",
];

pub(super) fn find(name: &str) -> Option<&'static Program> {
    PROGRAMS.iter().find(|program| program.names.contains(&name))
}

pub(super) fn opens_nothing(name: &str) -> bool {
    NO_FILES.contains(&name)
}
