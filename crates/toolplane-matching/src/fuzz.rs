//! Texts of others: commands, paths, URLs and patterns.

use toolplane_fuzz::fuzz;

use crate::command::{parse, parse_argv};
use crate::path::{PathFact, normalize};
use crate::pattern::{CommandPattern, PathPattern, UrlPattern};
use crate::{glob, url};

const COMMANDS: [&str; 8] = [
    "git diff --stat HEAD~2 -- src/lib.rs | head -20 && echo done",
    "FOO=bar env -S 'nice -n 5 cat a b' > out.txt 2>&1 <in &",
    "for f in $(ls *.rs); do sed -i \"s/a/$f/\" \"$f\" || exit 1; done # all of them",
    "if [[ -f x ]]; then cat <<'END'\nbody $x\nEND\nfi; case $x in a|b) echo;; esac",
    "echo ${x:-$(date)} `id` $((1 + 2)) {a,b}{1..3} ~root \\\n next",
    "function f() { find . -name '*.c' -exec rm -rf {} \\; ; }; f",
    "sudo -u root xargs -I{} sh -c 'rm {}' < <(cat list)",
    "echo \u{e9}\u{1f980} \"a\\\"b\" 'c d'\tx",
];

/// Whatever the text is, it is read to an end, and what is called plain is made of known words.
#[test]
fn commands() {
    fuzz!("commands", COMMANDS, |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let shell = parse(&text);
        assert!(text.contains(shell.raw()) || shell.raw().len() <= text.len());
        if shell.is_plain() {
            for part in shell.parts() {
                assert!(part.words.first().is_none_or(crate::command::Word::is_known), "{text:?}");
            }
        }
        let words: Vec<&str> = text.split('\n').collect();
        let _ = parse_argv(&words).is_plain();
    });
}

/// A path that was normalised is what it is, and never leads out again.
#[test]
fn paths() {
    let corpus =
        ["src/../lib.rs", "/work/space/./a//b/", "../../etc/passwd", "~/x", "file:///etc", "a\0b", ".git/config"];
    fuzz!("paths", corpus, |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        match normalize(&text, "/work/space") {
            PathFact::Inside(path) => {
                assert!(!path.starts_with('/') && !path.split('/').any(|part| part == ".." || part == "."), "{path:?}");
                // The workspace itself has no text of its own.
                assert!(
                    path.is_empty() || normalize(&path, "/work/space") == PathFact::Inside(path.clone()),
                    "{path:?}"
                );
            }
            PathFact::Outside(path) => {
                assert!(path.starts_with('/') && !path.split('/').any(|part| part == ".."), "{path:?}");
                assert_eq!(normalize(&path, "/work/space"), PathFact::Outside(path));
            }
            PathFact::Invalid(_) => {}
        }
    });
}

#[test]
fn urls() {
    let corpus = [
        "https://user:secret@Example.COM:8443/a?b#c",
        "http://[::ffff:127.0.0.1]/",
        "http://0x7f.1/",
        "https://xn--bcher-kva.example./",
        "ftp://192.168.1.1:21/x",
    ];
    fuzz!("urls", corpus, |bytes: &[u8]| {
        let Ok(fact) = url::parse(&String::from_utf8_lossy(bytes)) else { return };
        assert_eq!(fact.host, fact.host.to_lowercase());
        assert!(!fact.host.is_empty() && !fact.host.contains(['/', '@', '[']), "{fact:?}");
    });
}

/// Patterns are read and matched in bounded time, whatever their text is.
#[test]
fn patterns() {
    fuzz!(
        "patterns",
        ["git diff:*", "**/*.{a,b}/[!x]?", "*.example.com:443", "a*a*a*a*a*b", "npm run *"],
        |bytes: &[u8]| {
            let text = String::from_utf8_lossy(bytes);
            let (pattern, subject) = text.split_once('\n').unwrap_or((&text, &text));
            let _ = (CommandPattern::parse(pattern), PathPattern::parse(pattern), UrlPattern::parse(pattern));
            assert!(glob::matches("*", subject));
            let _ = glob::matches(pattern, subject);
        }
    );
}
