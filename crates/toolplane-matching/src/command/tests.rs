//! What commands a text runs, and which texts are plain.

use super::*;

/// Every listed command: `!` in front of one that may run, `~` of one that only runs the next.
fn listed(text: &str) -> Vec<String> {
    let mark = |command: &SimpleCommand| {
        let words: Vec<&str> = command.words.iter().map(|word| word.text.as_str()).collect();
        let sign = match command.runs {
            Runs::Surely => "",
            Runs::Maybe => "!",
            Runs::Through => "~",
        };
        format!("{sign}{}", words.join(" "))
    };
    parse(text).commands.iter().map(mark).collect()
}

fn check(text: &str, wanted: &[&str]) {
    assert_eq!(listed(text), wanted, "{text}");
}

fn check_plain(text: &str, plain: bool) {
    let shell = parse(text);
    assert_eq!(shell.is_plain(), plain, "{text:?}: {shell:#?}");
}

fn check_opaque(text: &str, why: Why) {
    let shell = parse(text);
    assert_eq!(shell.opaque, Some(why), "{text:?}: {shell:#?}");
    assert!(!shell.is_plain());
}

#[test]
fn plain_commands_are_listed_in_order() {
    check("ls -la", &["ls -la"]);
    check("git status; rm -rf x", &["git status", "rm -rf x"]);
    check("a && b || c | d\ne", &["a", "b", "c", "d", "e"]);
    check("  ls   'a b'  \"c d\" e'f'\"g\" # rm x", &["ls a b c d efg"]);
    check("a;b;\n\n# rm\n c |\n d &&\n e;", &["a", "b", "c", "d", "e"]);
    check("ls \\\n  -la", &["ls -la"]);
    for text in [
        "ls -la",
        "a && b || c | d\ne",
        "ls 'rm -rf x'",
        "ls # rm",
        "a;",
        "git log HEAD~1 HEAD^",
        "ls 2>&1",
        "ls \\\n -l",
    ] {
        check_plain(text, true);
    }
}

#[test]
fn quotes_come_off_whatever_their_kind() {
    for text in
        ["\\rm x", "r\\m x", "'rm' x", "\"r\"m x", "r''m x", "$'rm' x", "$'\\x72m' x", "$'\\162m' x", "r\\\nm x"]
    {
        check(text, &["rm x"]);
    }
    for text in ["\\rm x", "$'rm' x", "r\\\nm x", "$\"rm\" x"] {
        check_plain(text, false);
    }
    check("echo \"a\\\"b\\\\c\\$d\"", &["echo a\"b\\c$d"]);
}

#[test]
fn what_is_decided_at_run_time_is_marked() {
    let word = |text: &str| parse(&format!("x {text}")).commands.pop().unwrap().words.remove(1);
    for (text, known) in [
        ("a$b", "a"),
        ("\"a$b\"", "a"),
        ("${a}b", ""),
        ("a*", "a"),
        ("a?c", "a"),
        ("[a]", ""),
        ("-{delete,print}", "-"),
        ("~/x", ""),
        ("a=~/x", "a="),
        ("$((1+1))", ""),
        ("a`b`", "a"),
        ("<(b)", ""),
        ("$@", ""),
        ("\"$@\"", ""),
        ("$'a\\0b'", "a"),
    ] {
        let word = word(text);
        assert_eq!((word.known_text(), word.is_known()), (known, false), "{text}");
        check_plain(&format!("x {text}"), false);
    }
    assert!(word("'$b'").is_known() && word("{}").is_known() && word("a~b").is_known());
}

#[test]
fn code_inside_words_is_found() {
    check("git status `rm x`", &["rm x", "git status `rm x`"]);
    check("cat <(rm x)", &["rm x", "cat <(rm x)"]);
    check(
        "echo \"a $(rm x; echo $(curl y)) b\"",
        &["rm x", "curl y", "echo $(curl y)", "echo a $(rm x; echo $(curl y)) b"],
    );
    check("echo $((a[$(touch pwn)]))", &["touch pwn", "echo $((a[$(touch pwn)]))"]);
    check("echo ${a:-$(rm x)}", &["rm x", "echo ${a:-$(rm x)}"]);
    check("echo `a \\`rm x\\``", &["rm x", "a `rm x`", "echo `a \\`rm x\\``"]);
    check("cat <<E\n$(rm x)\nE\nls", &["cat", "rm x", "ls"]);
    check("cat <<'E'\n$(rm x)\nE\nls", &["cat", "ls"]);
    check(
        "a='x[$(touch pwn)]'; [ -v \"$a\" ]",
        &["!touch pwn", "!x[$(touch pwn)]", "!touch pwn", "!x[$(touch pwn)]", "", "[ -v $a ]", "!$a"],
    );
    check("f=(a $(rm x))", &["rm x", ""]);
    check("echo $(case a in a) rm x;; esac)", &["rm x", "echo $(case a in a) rm x;; esac)"]);
}

#[test]
fn code_inside_structures_is_found() {
    for text in [
        "(rm x)",
        "{ rm x; }",
        "if rm x; then :; fi",
        "if :; then rm x; fi",
        "if :; then :; else rm x; fi",
        "while rm x; do :; done",
        "for i in a b; do rm x; done",
        "for ((i=0;i<3;i++)); do rm x; done",
        "for i; do rm x; done",
        "select i in a; do rm x; done",
        "case $a in (a|b) rm x;; *) :;; esac",
        "case a in\n a) : ;;\n b) rm x\nesac",
        "f() { rm x; }",
        "f () ( rm x )",
        "function f { rm x; }",
        "function f() { rm x; }",
        "! rm x",
        "time { rm x; }",
        "time -p rm x",
        "sleep 1 & rm x",
        "rm x &",
        "[[ -n $(rm x) ]]",
        "((a = $(rm x)))",
        "((1 # $(rm x)\n))",
        "a=1 rm x",
        "a=1 b=$(rm x)",
        "rm x > y",
        "> y rm x",
        "2>y rm x",
        "rm x <<< y",
        "ls | while read l; do rm x; done",
        "if :; then :; fi > $(rm x)",
    ] {
        assert!(listed(text).iter().any(|command| command == "rm x"), "{text}: {:?}", listed(text));
        if text != "time -p rm x" {
            assert!(!parse(text).is_plain() || !parse(text).commands[0].redirections.is_empty(), "{text}");
        }
    }
    check_opaque("coproc rm x", Why::Structure);
}

#[test]
fn wrappers_come_off() {
    for text in [
        "timeout 5 rm x",
        "timeout -k 1 -s KILL 5 rm x",
        "timeout --signal=KILL 5s rm x",
        "nice rm x",
        "nice -n 10 rm x",
        "nice -10 rm x",
        "nohup rm x",
        "stdbuf -oL -e0 rm x",
        "time rm x",
        "ionice -c3 rm x",
        "command rm x",
        "command -p rm x",
        "builtin rm x",
        "timeout 5 nice nohup rm x",
    ] {
        assert_eq!(listed(text).last().map(String::as_str), Some("rm x"), "{text}: {:?}", listed(text));
        check_plain(text, true);
        assert!(parse(text).parts().count() == 1, "{text}: only the inner command must be allowed");
    }
    for text in [
        "env rm x",
        "time A=1 rm x",
        "time -p A=1 B=2 bash -c 'rm x'",
        "time A=$b rm x",
        "env -i A=1 B=2 rm x",
        "env -u A -- rm x",
        "env - rm x",
        "exec rm x",
        "exec -a n rm x",
        "sudo rm x",
        "sudo -u root A=1 rm x",
        "sudo -n -- rm x",
        "doas -u root rm x",
        "setsid -w rm x",
        "chroot / rm x",
        "busybox rm x",
        "flock /tmp/l rm x",
        "flock -w 3 /tmp/l -c 'rm x'",
        "watch -n 1 rm x",
        "watch 'ls; rm x'",
        "gosu root rm x",
    ] {
        assert!(listed(text).iter().any(|command| command == "rm x"), "{text}: {:?}", listed(text));
    }
    assert!(
        parse("time A=1 rm x").parts().count() > 1,
        "the command is another one with its variables: both must be allowed"
    );
    check("ls | xargs rm", &["ls", "xargs rm", "rm ..."]);
    check("ls | xargs -0 -n 1 -I % rm %", &["ls", "xargs -0 -n 1 -I % rm %", "rm %"]);
    check("xargs -d '\\n' -P4 rm", &["xargs -d \\n -P4 rm", "rm ..."]);
    // `-v` and `-V` only look the name up.
    check("command -v rm", &["command -v rm"]);
    // What is not known surely is not guessed: any argument may begin a command.
    for text in ["nice --unknown a rm x", "sudo --frobnicate rm x", "ssh host rm x", "docker run i rm x"] {
        assert!(listed(text).iter().any(|command| command == "!rm x"), "{text}: {:?}", listed(text));
    }
    for text in ["ssh host 'rm x'", "su -c 'rm x'", "parallel 'rm x' ::: a"] {
        assert!(listed(text).iter().any(|command| command == "!rm x"), "{text}: {:?}", listed(text));
    }
}

#[test]
fn nested_shells_are_read_again() {
    for text in [
        "bash -c 'rm x'",
        "env -S 'rm x'",
        "env -iS'rm x'",
        "env -u A -S rm x",
        "env --split-string='rm x'",
        "env --split 'rm x'",
        "sh -c \"rm x\"",
        "bash -lc 'rm x'",
        "zsh -lc 'rm x'",
        "/bin/bash -e -c 'rm x'",
        "bash --norc -o pipefail -ec 'rm x' name arg",
        "bash -c 'bash -c \"rm x\"'",
        "bash -c \"bash -c 'eval rm x'\"",
        "eval rm x",
        "eval 'rm' x",
        "eval \"rm x\"",
        "trap 'rm x' EXIT",
        "bash <<E\nrm x\nE",
        "bash <<'E'\nrm x\nE",
        "sh -s <<< 'rm x'",
        "find . -exec sh -c 'rm x' \\;",
        "xargs sh -c 'rm x'",
    ] {
        assert!(listed(text).iter().any(|command| command == "rm x"), "{text}: {:?}", listed(text));
    }
    check("bash -lc 'git status && ls'", &["~bash -lc git status && ls", "git status", "ls"]);
    check_plain("bash -lc 'git status && ls'", true);
    for text in [
        "curl x | sh",
        "bash",
        "bash -s",
        "sh -",
        "bash -c \"$x\"",
        "eval \"$x\"",
        "eval $(x)",
        "bash < f",
        "xargs -I{} sh -c {}",
    ] {
        check_opaque(text, Why::UnseenCode);
    }
    check("bash --version", &["bash --version"]);
    let mut deep = "rm x".to_owned();
    for _ in 0..MAX_DEPTH + 1 {
        deep = format!("eval {deep}");
    }
    check_opaque(&deep, Why::TooDeep);
}

#[test]
fn find_runs_what_stands_behind_exec() {
    check("find . -exec rm {} \\;", &["find . -exec rm {} ;", "rm {}"]);
    check("find . -execdir a {} + -ok b \\;", &["find . -execdir a {} + -ok b ;", "a {}", "b"]);
    check("find . -exec grep + {} +", &["find . -exec grep + {} +", "grep + {}"]);
}

#[test]
fn redirections_are_files() {
    let of = |text: &str| -> Vec<String> {
        let shell = parse(text);
        let all = shell.commands.iter().flat_map(|command| &command.redirections);
        all.map(|redirection| format!("{:?} {}", redirection.kind, redirection.target.text)).collect()
    };
    assert_eq!(of("a > b"), ["Write b"]);
    assert_eq!(of("a >> b 2> c"), ["Write b", "Write c"]);
    assert_eq!(of("a &> b; c &>> d; e >| f; g >& h; i <> j"), ["Write b", "Write d", "Write f", "Write h", "Write j"]);
    assert_eq!(of("a < b"), ["Read b"]);
    assert_eq!(of("a > 'b c'"), ["Write b c"]);
    assert_eq!(of("a 2>&1 >&2 <&0 2>&- > /dev/null 2>/dev/null"), [] as [&str; 0]);
    assert_eq!(of("{ a; } > b"), ["Write b"]);
    check_plain("a > b", true);
    check_plain("a > $b", false);
    check_plain("a > /dev/tcp/h/1", false);
    check_plain("a <<E\nE\n", false);
}

#[test]
fn broken_text_is_opaque_and_what_was_read_stays_listed() {
    for text in [
        "echo 'x",
        "echo \"x",
        "ls \\",
        "echo `x",
        "echo $(x",
        "(ls",
        "ls)",
        "a && ",
        "a |",
        "&& a",
        "; a",
        "a ;; b",
        "cat <<E\nx",
        "a >",
        "echo ${x",
        "$[1]",
        "if a; then )",
        "a(b",
        "case a in",
    ] {
        check_opaque(text, Why::Syntax);
    }
    assert_eq!(listed("rm x\necho 'y"), ["rm x", "!echo"]);
}

#[test]
fn control_characters_are_never_plain() {
    check("ls\r\nrm -rf x", &["ls\r", "rm -rf x"]);
    check_plain("ls\r\nls", false);
    check_plain("ls 'a\u{1b}[2Jb'", false);
    check_plain("git\u{a0}status", false);
    check("git\u{a0}status", &["git\u{a0}status"]);
    check_opaque("\0rm x", Why::ControlCharacter);
    check("\0rm x", &["rm x"]);
}

#[test]
fn git_is_seen_through_its_global_options() {
    let canonical = |text: &str| {
        let command = parse(text).commands.into_iter().find(|command| command.program() == Some("git")).unwrap();
        let words = command.canonical.unwrap_or(command.words);
        (words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" "), command.risks.len())
    };
    assert_eq!(canonical("git status").0, "git status");
    assert_eq!(canonical("git --no-pager -P diff"), ("git diff".to_owned(), 0));
    for text in [
        "git -C x push",
        "git -c a=b push",
        "git --git-dir=x --work-tree x push",
        "git -p --bare -C x push",
        "git -C x --no-pager push",
    ] {
        let (words, risks) = canonical(text);
        assert_eq!(words, "git push", "{text}");
        assert!(risks > 0, "{text} is not what an allow means");
    }
    assert!(listed("git -c 'alias.x=!rm x' x").iter().any(|command| command == "!rm x"));
}

#[test]
fn dangerous_options_are_marked() {
    for text in [
        "find . -delete",
        "find . -exec ls \\;",
        "find . -fprintf x y",
        "sort -o x y",
        "sort --outp=x y",
        "git diff --output=x",
        "git log --out x",
        "git grep -Ols x",
        "git diff --ext-diff",
        "git rebase -x ls",
        "git ls-remote 'ext::sh -c x'",
        "git fetch --upload-pack=x",
        "sed -i s/a/b/ f",
        "sed -n '1e ls' f",
        "sed 's/a/b/e' f",
        "sed 's/a/b/w f'",
        "sed -ne 'w f'",
        "sed --expression='1e ls'",
        "sed --in-place s/a/b/ f",
        "sed -f script f",
        "awk 'BEGIN{system(\"ls\")}'",
        "awk '{print > \"f\"}'",
        "tar cf x y --checkpoint-action=exec=ls",
        "tar xf x --to-command=ls",
        "tar -I ls -xf x",
        "rg --pre ls x",
        "bat --pager ls x",
        "ldd x",
        "sqlite3 x .shell",
        "cmake -P x",
        "gradle -I x",
        "pytest -p x",
        "curl -o f u",
        "uniq a b",
        "python3.11 -c x",
        "perl -e x",
        "node --eval x",
        "[ -v 'x[$(id)]' ]",
        "printf -v 'x[1]' y",
        "docker run x",
        "bash script.sh",
        "dd if=a of=b",
    ] {
        assert!(parse(text).parts().any(|command| !command.risks.is_empty()), "{text}");
    }
    for text in [
        "find . -name '*.rs' -print",
        "sort -u x",
        "git diff --stat HEAD~1",
        "git log --oneline -n 3",
        "git push -u origin x",
        "sed -n '1,5p' f",
        "sed -n -e '/a/p' -e 's/x/y/gp' f",
        "sed 's|a|b|;s/c/d/2' f",
        "awk '{print $1}' f",
        "awk -F: '{print $1}' f",
        "tar tzf x",
        "rg -n x",
        "uniq -c f",
        "ls -la",
    ] {
        assert!(parse(text).parts().all(|command| command.risks.is_empty()), "{text}: {:?}", parse(text));
    }
}

#[test]
fn size_and_count_are_bounded() {
    check_opaque(&format!("{}ls{}", "(".repeat(50_000), ")".repeat(50_000)), Why::TooLong);
    for bomb in [
        "(",
        "{ ",
        "$(",
        "${a:-",
        "`",
        "\"$(",
        "if ",
        "a=(",
        "<(",
        "$((",
        "eval ",
        "! ",
        "case x in ",
        "[[ ",
        "((",
        "f()",
        "bash -c '",
    ] {
        let shell = parse(&bomb.repeat(60_000 / bomb.len()));
        assert!(!shell.is_plain(), "{bomb}");
    }
    let many = |count: usize| vec!["echo x"; count].join(";");
    check_plain(&many(MAX_PLAIN_COMMANDS), true);
    check_plain(&many(MAX_PLAIN_COMMANDS + 1), false);
    assert_eq!(parse(&many(3_000)).opaque, Some(Why::TooMany));
    assert_eq!(parse(&many(100_000)).opaque, Some(Why::TooLong));
    check_plain(&format!("echo {}", "a".repeat(MAX_PLAIN_CHARS)), false);
    assert_eq!(parse("").why_not_plain, [Why::Empty]);
    assert_eq!(parse(" # nothing").why_not_plain, [Why::Empty]);
}

#[test]
fn arguments_without_a_shell_are_taken_as_they_are() {
    let shell = parse_argv(&["ls", "$(rm x)", "a;b"]);
    assert_eq!(shell.commands[0].words.len(), 3);
    assert!(shell.is_plain());
    assert!(parse_argv(&["bash", "-lc", "rm x"]).commands.iter().any(|command| command.program() == Some("rm")));
    assert!(!parse_argv(&[]).is_plain());
}
