//! Which patterns to suggest for a command.

use super::preview::Example;
use toolplane_matching::command::SimpleCommand;

/// Programs that run whatever their arguments say. A prefix of one allows anything, so none is suggested.
const RUNS_ANYTHING: &[&str] = &[
    "bash",
    "sh",
    "zsh",
    "dash",
    "ksh",
    "csh",
    "tcsh",
    "fish",
    "busybox",
    "ash",
    "eval",
    "exec",
    "source",
    ".",
    "trap",
    "sudo",
    "doas",
    "su",
    "runuser",
    "pkexec",
    "env",
    "xargs",
    "nohup",
    "nice",
    "ionice",
    "setsid",
    "timeout",
    "time",
    "watch",
    "stdbuf",
    "chroot",
    "unshare",
    "nsenter",
    "strace",
    "ltrace",
    "gdb",
    "script",
    "command",
    "builtin",
    "parallel",
    "entr",
    "python",
    "python2",
    "python3",
    "pypy",
    "ipython",
    "node",
    "nodejs",
    "deno",
    "bun",
    "ruby",
    "irb",
    "perl",
    "php",
    "lua",
    "luajit",
    "R",
    "Rscript",
    "julia",
    "swift",
    "scala",
    "groovy",
    "osascript",
    "powershell",
    "pwsh",
    "cmd",
    "awk",
    "gawk",
    "mawk",
    "sed",
    "find",
    "ed",
    "vi",
    "vim",
    "nvim",
    "emacs",
    "less",
    "more",
    "man",
    "ssh",
    "scp",
    "rsync",
    "socat",
    "nc",
    "ncat",
    "telnet",
    "docker",
    "podman",
    "nerdctl",
    "kubectl",
    "oc",
    "npx",
    "pnpx",
    "bunx",
    "uvx",
    "pipx",
    "make",
    "ninja",
    "tclsh",
    "expect",
    "screen",
    "tmux",
    "at",
    "batch",
    "crontab",
    "systemd-run",
    "systemctl",
    "dd",
    "tee",
    "rm",
    "curl",
    "wget",
    "tar",
    "zip",
    "unzip",
    "chmod",
    "chown",
];

/// Programs whose first argument says what they do; one word of them says nothing yet.
const HAS_SUBCOMMANDS: &[&str] = &[
    "git",
    "cargo",
    "npm",
    "pnpm",
    "yarn",
    "pip",
    "pip3",
    "uv",
    "go",
    "rustup",
    "gh",
    "glab",
    "apt",
    "apt-get",
    "brew",
    "dnf",
    "yum",
    "pacman",
    "conda",
    "poetry",
    "bundle",
    "gem",
    "composer",
    "dotnet",
    "mvn",
    "gradle",
    "terraform",
    "helm",
    "aws",
    "gcloud",
    "az",
    "svn",
    "hg",
    "jj",
];

/// Subcommands that run whatever the following arguments say.
const SUBCOMMAND_RUNS_ANYTHING: &[(&str, &str)] = &[
    ("npm", "exec"),
    ("npm", "x"),
    ("npm", "explore"),
    ("pnpm", "exec"),
    ("pnpm", "dlx"),
    ("yarn", "exec"),
    ("yarn", "dlx"),
    ("yarn", "run"),
    ("npm", "run"),
    ("pnpm", "run"),
    ("uv", "run"),
    ("poetry", "run"),
    ("bundle", "exec"),
    ("conda", "run"),
    ("go", "run"),
    ("go", "generate"),
    ("cargo", "run"),
    ("git", "config"),
    ("git", "bisect"),
    ("git", "submodule"),
    ("git", "filter-branch"),
    ("git", "rebase"),
    ("git", "difftool"),
    ("git", "mergetool"),
    ("gh", "alias"),
    ("gh", "extension"),
    ("gh", "api"),
    ("aws", "configure"),
    ("hg", "config"),
    ("rustup", "run"),
];

/// A pattern that is this command and no other.
pub(super) fn exact(command: &SimpleCommand) -> Option<Example> {
    let words = plain_words(command)?;
    let text = words.join(" ");
    Some(Example {
        does_not_match: vec![format!("{text} --other"), format!("other {text}")],
        pattern: text.clone(),
        matches: vec![text],
    })
}

/// A pattern of commands that begin like this one, where the beginning says what they do.
pub(super) fn prefix(command: &SimpleCommand) -> Option<Example> {
    let words = plain_words(command)?;
    let program = *words.first()?;
    if runs_anything(program) || program.contains('/') {
        return None;
    }
    let beginning = match words.get(1).copied().filter(|word| is_subcommand(word)) {
        Some(second) if SUBCOMMAND_RUNS_ANYTHING.contains(&(program, second)) => {
            let third =
                words.get(2).copied().filter(|word| is_subcommand(word) && second == "run" && program != "cargo")?;
            // What a script of the project is called says what it does; what other runners run does not.
            if !matches!(program, "npm" | "pnpm" | "yarn") {
                return None;
            }
            format!("{program} {second} {third}")
        }
        Some(second) if HAS_SUBCOMMANDS.contains(&program) => format!("{program} {second}"),
        _ if HAS_SUBCOMMANDS.contains(&program) => return None,
        _ => program.to_owned(),
    };
    let whole = words.join(" ");
    let mut matches = vec![whole];
    if matches[0] != beginning {
        matches.push(beginning.clone());
    }
    let neighbours = match (program, beginning.rsplit_once(' ')) {
        // What git does not know may be an alias of anything, so the neighbours must be its own.
        ("git", Some((_, second))) => {
            let own = ["status", "log", "push"].into_iter().filter(|other| *other != second);
            own.take(2).map(|other| format!("git {other}")).collect()
        }
        (_, Some((front, _))) => vec![format!("{beginning}other"), format!("{front} other")],
        (_, None) => vec![format!("{beginning}other"), format!("other {beginning}")],
    };
    Some(Example { pattern: format!("{beginning}:*"), matches, does_not_match: neighbours })
}

/// The words, when all of them are known and stand for themselves in a pattern.
fn plain_words(command: &SimpleCommand) -> Option<Vec<&str>> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_./:=@%+,-".contains(&byte);
    let known = command.words.iter().map(|word| {
        let fits = word.is_known() && !word.text.is_empty() && word.text.bytes().all(plain);
        fits.then_some(word.text.as_str())
    });
    let words: Vec<&str> = known.collect::<Option<_>>()?;
    // A `:*` at the end would be read as a pattern.
    (!words.is_empty() && !words.last().is_some_and(|word| word.ends_with(":*"))).then_some(words)
}

fn is_subcommand(word: &str) -> bool {
    word.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase())
        && word
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b':'))
}

/// Also with a version at its end: `python3.12`.
fn runs_anything(program: &str) -> bool {
    let bare = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    RUNS_ANYTHING.contains(&program) || (!bare.is_empty() && RUNS_ANYTHING.contains(&bare))
}
