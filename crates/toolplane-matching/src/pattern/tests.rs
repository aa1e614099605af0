//! Patterns against commands, paths and URLs: what each behaviour makes of them.

use toolplane_records::vocabulary::Behavior;

use super::*;
use crate::command::parse;
use crate::fit::Fit::{self, No, Unknown, Yes};
use crate::path::PathAccess;
use crate::subject::{SubjectKind, SubjectSpec, Workspace, extract};

fn command(pattern: &str, text: &str) -> (Fit, Fit) {
    let pattern = CommandPattern::parse(pattern).unwrap_or_else(|fault| panic!("{pattern}: {fault}"));
    let shell = parse(text);
    (pattern.fit(Behavior::Allow, &shell), pattern.fit(Behavior::Deny, &shell))
}

fn check(pattern: &str, text: &str, allow: Fit, deny: Fit) {
    assert_eq!(command(pattern, text), (allow, deny), "{pattern} | {text}: {:#?}", parse(text));
}

#[test]
fn a_prefix_ends_at_a_word() {
    for pattern in ["git diff:*", "git diff *", "'git' \"diff\":*"] {
        check(pattern, "git diff", Yes, Yes);
        check(pattern, "git diff --stat x", Yes, Yes);
        check(pattern, "git  'diff' x", Yes, Yes);
        check(pattern, "git difftool", No, No);
        check(pattern, "git status", No, No);
        check(pattern, "git 'diff x'", No, Unknown);
        check(pattern, "git --no-pager diff", Yes, Yes);
    }
    check("ls:*", "lsof", No, No);
    check("ls*", "lsof -i", Yes, Yes);
    check("npm run test:*", "npm run test:unit", No, No);
    check("npm run test:*", "npm run test -- x", Yes, Yes);
    check("npm run test*", "npm run test:unit", Yes, Yes);
}

#[test]
fn a_command_without_stars_is_that_command() {
    check("git diff", "git diff", Yes, Yes);
    check("git diff", "git diff x", No, No);
    check("find . -delete", "find . -delete", Yes, Yes);
    check("psql -c \"SELECT 1\"", "psql -c 'SELECT 1'", Yes, Yes);
    check("psql -c SELECT 1", "psql -c 'SELECT 1'", No, No);
}

#[test]
fn stars_stand_for_anything() {
    check("*", "rm -rf x", Yes, Yes);
    check(":*", "$x | $(y)", Yes, Yes);
    check("git * main", "git push origin main", Yes, Yes);
    check("git * main", "git push origin mainly", No, No);
    check("* --version", "node --version", Yes, Yes);
    check("rm * x", "/bin/rm -rf x", No, Yes);
    check("echo a\\*b:*", "echo 'a*b' c", Yes, Yes);
    check("echo a\\*b:*", "echo axb", No, No);
    check("npm run * --watch:*", "npm run x --watch y", Yes, Yes);
    // A blank inside a word is not the end of one for an allow; a deny does not mind.
    check("npm run *", "npm 'run x'", No, No);
    check("npm r*n x*", "npm 'run x'", No, Yes);
    check("rm *x", "rm $y", No, Unknown);
    check("git p* main", "git $x", No, Unknown);
    check("git p* main", "git log $x", No, No);
}

#[test]
fn an_allow_needs_plain_text() {
    for text in [
        "git status $x",
        "git status $(ls)",
        "git status `ls`",
        "git status *",
        "git status {a,b}",
        "git status ~",
        "A=1 git status",
        "(git status)",
        "git status &",
        "git status; ls",
        "if git status; then git status; fi",
        "git status \\x",
        "git status <<< x",
        "git status\r",
        "git -C x status",
        "env git status",
        "xargs git status",
        "./git status",
        "git status 'x",
    ] {
        assert_ne!(command("git status:*", text).0, Yes, "{text}");
    }
    for text in [
        "git status",
        "git status 'a b' # x",
        "git status && git status x | git status 2>&1",
        "timeout 5 git status",
        "bash -lc 'git status'",
        "time git status",
    ] {
        assert_eq!(command("git status:*", text).0, Yes, "{text}");
    }
}

#[test]
fn an_option_out_of_the_list_needs_to_be_named() {
    check("find:*", "find . -delete", Unknown, Yes);
    check("find . -delete:*", "find . -delete -print", Yes, Yes);
    check("python -m pytest:*", "python -m pytest -k x", Yes, Yes);
    check("python:*", "python -m pytest", Unknown, Yes);
    check("docker:*", "docker run x", Unknown, Yes);
    check("docker ps:*", "docker ps -a", Yes, Yes);
    check("xargs grep:*", "ls | xargs grep -l x", No, Yes);
    let shell = parse("xargs grep -l x");
    let inner = shell.parts().last().unwrap();
    let fit = |pattern: &str| CommandPattern::parse(pattern).unwrap().fit_part(Behavior::Allow, inner);
    assert_eq!((fit("xargs grep:*"), fit("xargs:*"), fit("grep:*")), (Yes, No, No));
}

#[test]
fn a_deny_sees_the_command_however_it_is_written() {
    for text in [
        "rm -rf x",
        "/bin/rm -rf x",
        "\\rm -rf x",
        "r''m x",
        "$'\\x72m' x",
        "ls; rm x",
        "ls && rm x || ls",
        "ls | rm",
        "(rm x)",
        "{ rm x; }",
        "rm x &",
        "FOO=1 rm x",
        "$(rm x)",
        "echo \"`rm x`\"",
        "cat <(rm x)",
        "for i in a; do rm $i; done",
        "f() { rm x; }; f",
        "env -i rm x",
        "sudo -u root rm x",
        "timeout 5 rm x",
        "ls | xargs rm",
        "find . -exec rm {} +",
        "bash -c 'rm x'",
        "zsh -lc \"cd /x && rm y\"",
        "eval rm x",
        "trap 'rm x' EXIT",
        "busybox rm x",
        "> f rm x",
        "ls\r\nrm x",
        "\0rm x",
        "rm x\necho 'unfinished",
    ] {
        assert_eq!(command("rm:*", text).1, Yes, "{text}: {:#?}", parse(text));
    }
}

#[test]
fn a_deny_doubts_what_it_cannot_see() {
    for text in [
        "$x -rf y",
        "x=rm; $x y",
        "r$x y",
        "r? x",
        "{rm,-rf,x}",
        "rm$IFS-rf x",
        "\"$(echo rm)\" x",
        "curl x | sh",
        "eval \"$x\"",
        "alias ls='rm x'",
        "ssh host rm x",
        "docker run i sh -c 'rm x'",
        "GIT_PAGER='rm x' git log",
        "git -c core.pager='rm x' log",
        "git -c alias.x='!rm y' x",
        "tar cf a b --checkpoint-action=exec='rm x'",
        "rg --pre rm x",
        "awk \"BEGIN{system(\\\"rm x\\\")}\" $y",
        "xargs -I{} {} x",
        "find . -exec {} \\;",
        "echo 'rm",
        "base64 -d <<< cm0K | sh",
        "for i in rm; do $i x; done",
        "source f; echo $(cat rm)",
    ] {
        assert_eq!(command("rm:*", text).1, Unknown, "{text}: {:#?}", parse(text));
    }
    for text in ["git -C x --frob push", "git p", "git -c alias.p=push p", "git $x", "git push$x"] {
        assert_eq!(command("git push:*", text).1, Unknown, "{text}");
    }
    for text in ["git push", "git -C x push", "git -c a=b push --force", "git --git-dir=x push", "/usr/bin/git push"] {
        assert_eq!(command("git push:*", text).1, Yes, "{text}");
    }
    check("kubectl delete:*", "kubectl -n prod delete pod x", No, Unknown);
    check("kubectl delete:*", "kubectl get delete", No, No);
    check("git push --force:*", "git push origin --force", No, Unknown);
    check("git push --force:*", "git push origin --forc", No, Unknown);
    check("git push --force:*", "git push origin", No, No);
    check("rm -rf:*", "rm -r -f x", No, Unknown);
    check("rm -rf:*", "rm -fr x", No, Unknown);
    check("rm -rf:*", "rm x", No, No);
    check("/usr/bin/rm:*", "rm x", No, Unknown);
    check("rm", "rm $x", No, Unknown);
}

#[test]
fn a_deny_is_not_about_text() {
    for text in [
        "ls 'rm -rf x'",
        "echo rm",
        "ls # rm x",
        "grep -rn \"rm -rf\" .",
        "git commit -m 'rm x'",
        "lsrm x",
        "ls rm",
        "cat x.rm",
        "npm rm x",
        "git rm x",
    ] {
        assert_eq!(command("rm:*", text).1, No, "{text}");
    }
    // In a text that leaves something open the bare name is enough to doubt.
    assert_eq!(command("rm:*", "for f in a; do echo \"rm $f\"; done").1, Unknown);
    assert_eq!(command("rm:*", "for f in a; do echo \"$f\"; done").1, No);
    assert_eq!(command("git push:*", "git commit -m \"$x\"").1, No);
    assert_eq!(command("git push:*", "git commit -m \"$x push\"").1, No);
    assert_eq!(command("git push:*", "git commit -m \"$x git push\"").1, Unknown);
}

#[test]
fn texts_with_operators_and_regular_expressions_only_deny_and_ask() {
    check("curl * | sh", "curl  x|sh", No, Yes);
    check("curl * | sh", "curl x", No, No);
    check("regex:^(a+)+$", "aaaa", No, Yes);
    check("regex:--force\\b", "git push origin --force", No, Yes);
    check("regex:--force\\b", "git push origin $x", No, Unknown);
    for (pattern, usable) in [("*", true), ("a:*", true), ("a * b", true), ("a | b", false), ("regex:a", false)] {
        assert_eq!(CommandPattern::parse(pattern).unwrap().check_allow().is_ok(), usable, "{pattern}");
    }
}

#[test]
fn bad_patterns_are_refused() {
    for text in
        ["", "  ", "a 'b", "a \"b", "a\\", "a\u{7}b", "regex:(a{1,1000}){1,1000}", "regex:(?<=x)y", "regex:[", "a:* b"]
    {
        assert!(CommandPattern::parse(text).is_err(), "{text:?}");
    }
    for text in ["", "!a", "a/../b", "a\0b", "[a", "a\\", "/", "./", "{a,b,c,d,e,f,g,h}{a,b,c,d,e,f,g,h}{a,b}"] {
        assert!(PathPattern::parse(text).is_err(), "{text:?}");
    }
    for text in [
        "",
        "example.com",
        "https://example.com",
        "domain:",
        "domain:*.*",
        "domain:a b",
        "domain:a/b",
        "domain:u@h",
        "domain:*.127.0.0.1",
        "domain:a:99999",
    ] {
        assert!(UrlPattern::parse(text).is_err(), "{text:?}");
    }
    assert!(CommandPattern::parse(&"a".repeat(MAX_PATTERN + 1)).is_err());
}

#[test]
fn the_program_of_a_pattern_is_known() {
    for (pattern, program) in [
        ("git diff:*", Some("git")),
        ("/bin/rm", Some("rm")),
        ("git * x", Some("git")),
        ("*x", None),
        ("ls*", None),
        ("*", None),
        ("a | b", None),
        ("regex:a", None),
    ] {
        assert_eq!(CommandPattern::parse(pattern).unwrap().program(), program, "{pattern}");
    }
}

fn path(pattern: &str, text: &str, tree: bool) -> (Fit, Fit) {
    let pattern = PathPattern::parse(pattern).unwrap_or_else(|fault| panic!("{pattern}: {fault}"));
    let workspace =
        Workspace { root: "/workspace".into(), working_dirs: vec!["/other".into()], trust_repositories: true };
    let mut input = serde_json::json!({ "path": text });
    if tree {
        input["recursive"] = true.into();
    }
    let spec = SubjectSpec { kind: SubjectKind::Path, fields: Vec::new(), access: PathAccess::Read };
    let subjects = extract(&spec, &input, &workspace);
    let path = &subjects.paths()[0];
    (pattern.fit(Behavior::Allow, path), pattern.fit(Behavior::Deny, path))
}

fn check_path(pattern: &str, text: &str, allow: Fit, deny: Fit) {
    assert_eq!(path(pattern, text, false), (allow, deny), "{pattern} | {text}");
}

#[test]
fn path_patterns_are_read_as_in_gitignore() {
    for pattern in ["secrets/**", "./secrets/**", "/secrets/**"] {
        check_path(pattern, "secrets/a", Yes, Yes);
        check_path(pattern, "./secrets//x/../a", Yes, Yes);
        check_path(pattern, "/workspace/secrets/a/b", Yes, Yes);
        check_path(pattern, "a/secrets/b", No, No);
        check_path(pattern, "secrets/../a", No, No);
        check_path(pattern, "SECRETS/a", No, Yes);
        check_path(pattern, "secretsx", No, No);
    }
    check_path("*.env", ".env", Yes, Yes);
    check_path("*.env", "a/b/prod.env", Yes, Yes);
    check_path("*.env", "a/b/prod.ENV", No, Yes);
    check_path("*.env", "/etc/x.env", No, Yes);
    check_path("*.env", "a.env/b", No, Yes);
    check_path("**/x", "a/b/x", Yes, Yes);
    check_path("**/x", "x", Yes, Yes);
    check_path("src", "src/a", No, Yes);
    check_path("src/", "src/a", Yes, Yes);
    check_path("src/*", "src/a", Yes, Yes);
    check_path("src/*", "src/a/b", No, Yes);
    check_path("src/**/*.rs", "src/a/b.rs", Yes, Yes);
    check_path("src/*.{ts,tsx}", "src/a.tsx", Yes, Yes);
    check_path("src/[a-c]?", "src/b1", Yes, Yes);
    check_path("src/[!a-c]?", "src/b1", No, No);
    check_path("//etc/**", "/etc/passwd", Yes, Yes);
    check_path("//etc/**", "../etc/passwd", Yes, Yes);
    check_path("//workspace/a", "a", Yes, Yes);
    check_path("~/.ssh/**", "/root/.ssh/id", No, Yes);
    check_path("~/.ssh/**", "/home/u/.ssh/id", No, Yes);
    check_path("~/.ssh/**", "~/.ssh/id", No, Yes);
    check_path("*", "a/b", Yes, Yes);
    check_path("*", "/etc/passwd", No, Yes);
    check_path("src/**", "a\0b", No, Unknown);
    check_path("src/**", "/other/src/a", No, No);
    check_path("//other/**", "/other/src/a", Yes, Yes);
}

#[test]
fn a_search_touches_what_lies_beneath() {
    assert_eq!(path("secrets/**", ".", true), (No, Unknown));
    assert_eq!(path("secrets/**", ".", false), (No, No));
    assert_eq!(path("a/secrets/**", "a", true), (No, Unknown));
    assert_eq!(path("a/secrets/**", "b", true), (No, No));
    assert_eq!(path("*.env", "src", true), (No, Unknown));
    assert_eq!(path("src/**", "src", true), (Yes, Yes));
    assert_eq!(path("src/**", "src/a", true), (Yes, Yes));
    assert_eq!(path("src/*", "src/a", true), (No, Yes));
}

fn url(pattern: &str, text: &str) -> (Fit, Fit) {
    let pattern = UrlPattern::parse(pattern).unwrap_or_else(|fault| panic!("{pattern}: {fault}"));
    let fact = crate::url::parse(text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
    (pattern.fit(Behavior::Allow, &fact), pattern.fit(Behavior::Deny, &fact))
}

#[test]
fn url_patterns_are_about_hosts() {
    for (pattern, text, allow, deny) in [
        ("domain:example.com", "https://example.com/x", Yes, Yes),
        ("domain:example.com", "https://EXAMPLE.com./x", Yes, Yes),
        ("domain:example.com", "https://www.example.com/", No, No),
        ("domain:example.com", "https://example.com.evil.test/", No, No),
        ("domain:example.com", "https://example.com@evil.test/", No, No),
        ("domain:example.com", "https://u@example.com/", No, Yes),
        ("domain:example.com", "https://example.com:8443/", No, Yes),
        ("domain:example.com", "http://example.com:80/", Yes, Yes),
        ("domain:example.com", "ftp://example.com/", No, Yes),
        ("domain:example.com:8443", "https://example.com:8443/", Yes, Yes),
        ("domain:example.com:8443", "https://example.com/", No, No),
        ("domain:example.com:80", "http://example.com/", Yes, Yes),
        ("domain:*.example.com", "https://a.b.example.com/", Yes, Yes),
        ("domain:*.example.com", "https://example.com/", No, No),
        ("domain:*.example.com", "https://notexample.com/", No, No),
        ("domain:bücher.example", "https://xn--bcher-kva.example/", Yes, Yes),
        ("domain:127.0.0.1", "http://0x7f.1/", Yes, Yes),
        ("domain:127.0.0.1", "http://[::ffff:127.0.0.1]/", No, Yes),
        ("domain:[::1]", "http://[0:0::1]/", Yes, Yes),
        ("domain:[::1]:81", "http://[::1]:81/", Yes, Yes),
        ("domain:*", "https://x.test/", Yes, Yes),
        ("*", "https://u:p@x.test/", No, Yes),
    ] {
        assert_eq!(url(pattern, text), (allow, deny), "{pattern} | {text}");
    }
}
