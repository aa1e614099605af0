//! The Lua scripts, and how one is called: by its digest, or by its text where the server does not know it yet.

use std::sync::LazyLock;

use redis::Cmd;

/// A commit that is refused when memory is full.
pub(crate) static COMMIT: LazyLock<Script> =
    LazyLock::new(|| Script::of("#!lua\n", include_str!("scripts/commit.lua")));
/// A commit that passes when memory is full.
pub(crate) static ESSENTIAL_COMMIT: LazyLock<Script> =
    LazyLock::new(|| Script::of("#!lua flags=allow-oom\n", include_str!("scripts/commit.lua")));
/// A page of an index.
pub(crate) static SCAN: LazyLock<Script> = LazyLock::new(|| Script::of("", include_str!("scripts/scan.lua")));
/// A page of a stream.
pub(crate) static EVENTS: LazyLock<Script> = LazyLock::new(|| Script::of("", include_str!("scripts/events.lua")));
/// A page of the records of a family.
pub(crate) static KEYS: LazyLock<Script> = LazyLock::new(|| Script::of("", include_str!("scripts/keys.lua")));
/// Keeping a pattern.
pub(crate) static PATTERN: LazyLock<Script> = LazyLock::new(|| Script::of("", include_str!("scripts/pattern.lua")));

/// One script with its digest.
#[derive(Debug)]
pub(crate) struct Script {
    text: String,
    digest: String,
}

/// How a script is named in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// By its digest; the server must know it.
    Digest,
    /// By its text, which the server keeps.
    Text,
}

impl Script {
    fn of(first_line: &str, body: &str) -> Self {
        let text = format!("{first_line}{body}");
        let digest = redis::Script::new(&text).get_hash().to_owned();
        Self { text, digest }
    }

    /// The beginning of a call with `keys` keys, which come next, and then the arguments.
    pub(crate) fn call(&self, by: By, keys: usize) -> Cmd {
        self.call_within(Cmd::new(), by, keys)
    }

    /// The same in an empty command, which may have room for the rest.
    pub(crate) fn call_within(&self, mut command: Cmd, by: By, keys: usize) -> Cmd {
        match by {
            By::Digest => command.arg("EVALSHA").arg(&self.digest),
            By::Text => command.arg("EVAL").arg(&self.text),
        };
        command.arg(keys);
        command
    }
}
