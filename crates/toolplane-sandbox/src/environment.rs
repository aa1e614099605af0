//! The environment variables a tool gets: a fixed few, and what was declared.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::SandboxError;
use crate::excerpt::excerpt;
use crate::inside::SCRATCH;

/// Where programs are looked up.
pub const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Most bytes of all names and values a caller adds.
const MAX_BYTES: usize = 64 * 1024;

/// Names that make an interpreter, the loader or git run something else. They need the operator's declaration.
const DANGEROUS_NAMES: &[&str] = &[
    "PATH",
    "ENV",
    "BASH_ENV",
    "BASHOPTS",
    "SHELLOPTS",
    "PS4",
    "PROMPT_COMMAND",
    "IFS",
    "CDPATH",
    "GLOBIGNORE",
    "SHELL",
    "NODE_OPTIONS",
    "NODE_PATH",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "CLASSPATH",
    "PHPRC",
    "LUA_PATH",
    "LUA_CPATH",
    "LUA_INIT",
    "GCONV_PATH",
    "LOCPATH",
    "NLSPATH",
    "HOSTALIASES",
    "RES_OPTIONS",
    "TMPDIR",
    "HOME",
    "EDITOR",
    "VISUAL",
    "PAGER",
    "MANPAGER",
    "BROWSER",
    "SSH_ASKPASS",
];
const DANGEROUS_PREFIXES: &[&str] =
    &["LD_", "GIT_", "PYTHON", "PERL", "BASH_FUNC_", "DYLD_", "MALLOC_", "GLIBC_", "NPM_CONFIG_", "COR_", "DOTNET_"];

/// A repository is data of the call: git neither asks nor pages, and runs none of the programs named in its configuration
/// that it can be told to leave alone. Those named by attributes (filters, text conversions, drivers of differences and merges)
/// and `diff.external` cannot be taken away without changing what git answers; rules ask about commands that come to them.
const GIT: &[(&str, &str)] = &[
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "true"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    ("GIT_ASKPASS", "false"),
    ("GIT_SSH_COMMAND", "false"),
    ("GIT_PROXY_COMMAND", ""),
    // No transports that are programs of their own, and no object is fetched in passing.
    ("GIT_ALLOW_PROTOCOL", "file:git:http:https:ssh"),
    ("GIT_NO_LAZY_FETCH", "1"),
];

/// Settings that count more than those of any repository.
const GIT_CONFIG: &[(&str, &str)] = &[
    ("core.fsmonitor", "false"),
    ("core.hooksPath", "/dev/null"),
    ("core.alternateRefsCommand", "true"),
    ("credential.helper", ""),
    ("log.showSignature", "false"),
    ("gpg.program", "false"),
    ("gpg.openpgp.program", "false"),
    ("gpg.x509.program", "false"),
    ("gpg.ssh.program", "false"),
    ("gpg.ssh.defaultKeyCommand", "false"),
];

/// What every tool gets. Nothing of the worker's own environment is passed on.
fn fixed() -> BTreeMap<String, String> {
    let pairs = [
        ("PATH", DEFAULT_PATH),
        ("HOME", SCRATCH),
        ("TMPDIR", SCRATCH),
        ("LANG", "C.UTF-8"),
        ("TERM", "dumb"),
        ("PAGER", "cat"),
        ("EDITOR", "true"),
    ];
    let pairs = pairs.iter().chain(GIT).map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let mut env: BTreeMap<String, String> = pairs.collect();
    env.insert("GIT_CONFIG_COUNT".to_owned(), GIT_CONFIG.len().to_string());
    for (index, (key, value)) in GIT_CONFIG.iter().enumerate() {
        env.insert(format!("GIT_CONFIG_KEY_{index}"), (*key).to_owned());
        env.insert(format!("GIT_CONFIG_VALUE_{index}"), (*value).to_owned());
    }
    env
}

/// The whole environment of a tool: the fixed variables, overlaid with `added`.
pub fn complete(added: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut env = fixed();
    env.extend(added.iter().map(|(name, value)| (name.clone(), value.clone())));
    env
}

/// Checks variables a caller wants to add.
///
/// Fails with [`SandboxError::Invalid`] for the field `env` when a name is not 1 to 256 letters, digits and underscores
/// without a digit in front, when a value has a NUL, when all names and values together have more than 64 KiB, and when
/// a name that can make programs load or run something else is not in `declared`.
pub fn check(added: &BTreeMap<String, String>, declared: &BTreeSet<String>) -> Result<(), SandboxError> {
    let refuse = |name: &str, rule: &str| {
        Err(SandboxError::invalid("env", format!("has the variable `{}`, which {rule}", excerpt(name))))
    };
    for (name, value) in added {
        let plain = name
            .bytes()
            .enumerate()
            .all(|(at, byte)| byte == b'_' || byte.is_ascii_alphabetic() || (at > 0 && byte.is_ascii_digit()));
        if name.is_empty() || !plain || name.len() > 256 {
            return refuse(name, "is not a name of letters, digits and underscores");
        }
        if value.contains('\0') {
            return refuse(name, "has a value with NUL");
        }
        if is_dangerous(name) && !declared.contains(name) {
            return refuse(name, "can change what programs run and is not declared for this tool");
        }
    }
    if added.iter().map(|(name, value)| name.len() + value.len() + 2).sum::<usize>() > MAX_BYTES {
        return Err(SandboxError::invalid("env", format!("is larger than {MAX_BYTES} bytes")));
    }
    Ok(())
}

fn is_dangerous(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    DANGEROUS_NAMES.contains(&upper.as_str()) || DANGEROUS_PREFIXES.iter().any(|prefix| upper.starts_with(prefix))
}

#[cfg(test)]
mod tests;
