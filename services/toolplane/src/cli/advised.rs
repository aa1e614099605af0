//! Commands that are advised, as they have to be typed to ask the same cluster: where it was named with `--endpoint`, that is repeated. What came from
//! the environment, or from nowhere, holds for the next command as well.

use std::fmt::Display;
use std::sync::OnceLock;

use clap::ArgMatches;
use clap::parser::ValueSource;

/// What a command line is to say again. A process runs one command, so it is known once its arguments are read.
static REPEATED: OnceLock<String> = OnceLock::new();
/// The argument that names the cluster.
const ENDPOINT: &str = "endpoint";
/// Commands that ask no cluster.
const OFFLINE: [&str; 7] = ["serve", "keys", "store", "credentials", "verify", "completions", "man"];

/// Takes note of what was typed.
pub(super) fn note(typed: &ArgMatches) {
    if typed.value_source(ENDPOINT) == Some(ValueSource::CommandLine)
        && let Some(endpoint) = typed.get_one::<String>(ENDPOINT)
    {
        // Set twice by nobody: `main` alone reads arguments.
        let _ = REPEATED.set(format!(" --{ENDPOINT} {}", word(endpoint)));
    }
}

/// A command line of this program: `words` are the command and its arguments, each as [`word`] gives it where others wrote it.
pub(crate) fn command(words: impl Display) -> String {
    format!("toolplane{} {words}", repeated())
}

/// A text of this program's own with what is to be said again in each command that it names in backquotes.
pub(crate) fn in_text(text: &str) -> String {
    completed(text, repeated())
}

fn repeated() -> &'static str {
    REPEATED.get().map_or("", String::as_str)
}

fn completed(text: &str, repeated: &str) -> String {
    let pieces = text.split('`').enumerate().map(|(at, piece)| {
        // Every other piece is in backquotes.
        let words = piece.strip_prefix("toolplane ").filter(|_| at % 2 == 1);
        match words.filter(|words| words.split(' ').next().is_some_and(|command| !OFFLINE.contains(&command))) {
            Some(words) => format!("toolplane{repeated} {words}"),
            None => piece.to_owned(),
        }
    });
    pieces.collect::<Vec<_>>().join("`")
}

/// A text as one word of a command line.
pub(crate) fn word(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.:/@%+,".contains(&byte);
    if text.bytes().all(plain) && !text.is_empty() {
        return text.to_owned();
    }
    if !text.contains(char::is_control) {
        return format!("'{}'", text.replace('\'', "'\\''"));
    }
    // What acts on a terminal is never printed as it is; shells read it spelled out.
    let spelled = text.chars().map(|letter| match letter {
        '\'' | '\\' => format!("\\{letter}"),
        _ if letter.is_control() => {
            let mut bytes = [0; 4];
            letter.encode_utf8(&mut bytes).bytes().map(|byte| format!("\\x{byte:02x}")).collect()
        }
        _ => letter.to_string(),
    });
    format!("$'{}'", spelled.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_one_that_a_shell_reads_back() {
        for (text, expected) in [
            ("out/a.txt", "out/a.txt"),
            ("http://127.0.0.1:7420", "http://127.0.0.1:7420"),
            ("session:a-1", "session:a-1"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
            ("$(x)", "'$(x)'"),
            ("=x", "'=x'"),
            ("", "''"),
            ("new\nline", "$'new\\x0aline'"),
            ("\u{1b}it's\\", "$'\\x1bit\\'s\\\\'"),
        ] {
            assert_eq!(word(text), expected);
        }
    }

    #[test]
    fn each_command_of_a_text_is_completed_that_asks_a_cluster() {
        let text = "read `a` with `toolplane get`, or `toolplane tools register FILE...`; `toolplane serve` starts one, toolplane does not";
        let expected = "read `a` with `toolplane --endpoint h:1 get`, or `toolplane --endpoint h:1 tools register FILE...`; \
                        `toolplane serve` starts one, toolplane does not";
        assert_eq!(completed(text, " --endpoint h:1"), expected);
        assert_eq!(completed(text, ""), text);
    }
}
