//! The classifier never says more than it knows.

use super::is_read_only;

fn check(commands: &[&str], expected: Option<bool>) {
    for command in commands {
        assert_eq!(is_read_only(command), expected, "{command:?}");
    }
}

#[test]
fn plain_readers_are_read_only() {
    check(
        &[
            "ls",
            "ls -la /workspace",
            "  cat a.txt\n",
            "cat a | grep -n x | head -5",
            "wc -l a && echo done; pwd",
            "ls\npwd\n",
            "test -f a || echo no",
            "sort -k2,3 -n a | uniq -c",
            "date +%F",
            "stat a.txt;",
            "du -sh .",
            "ls |& cat",
            "ls 2>/dev/null",
            "true",
            "printf %s a",
            "ls 'rm -rf x'",
            "grep \"rm; dd\"'$(x)' a | 'cat'",
        ],
        Some(true),
    );
    assert_eq!(is_read_only("cat rm"), Some(true));
    assert_eq!(is_read_only("ls 'rm -rf x'"), Some(true));
}

#[test]
fn comments_are_no_commands() {
    check(
        &["ls # rm -rf x", "# rm\nls", "cat a # dd of=b\nwc -l a # shred", "ls;# rm", "cat 'a # rm' # it's"],
        Some(true),
    );
    check(&["git status # rm -rf x", "make # kill -9 1", "git log \\\" # rm", "make `# a` # rm"], None);
    // What is no comment still counts, and so does everything behind what is not read surely.
    check(
        &[
            "ls # a\nrm -rf x",
            "ls a#; rm b",
            "make \\# ; rm b",
            "make 'a # b'; rm c",
            "make \"a # b\"; rm c",
            "make $'a\\' # '; rm c",
            "make ${#a} ; rm b",
            "cat <<E\n# E; rm a\nE\nmake # rm",
        ],
        Some(false),
    );
}

#[test]
fn what_the_grammar_does_not_cover_gets_no_answer() {
    check(
        &[
            "",
            "   ",
            "make",
            "git status",
            "./ls",
            "/bin/ls",
            "ls > a",
            "ls >> a",
            "cat < a",
            "cat <(ls)",
            "ls &",
            "ls & pwd",
            "ls |",
            "| ls",
            "ls ;; pwd",
            "&& ls",
            "ls || ",
            "echo $HOME",
            "echo $(ls)",
            "echo `ls`",
            "echo *",
            "echo a?",
            "echo 'a",
            "echo \"$a\"",
            "echo \"`ls`\"",
            "echo 'a\" \"`ls`",
            "echo $'a'",
            "echo ~",
            "ls \\",
            "A=b ls",
            "BASH_ENV=/workspace/e ls",
            "echo {a,b}",
            "ls !$",
            "(ls)",
            "{ ls; }",
            "if true",
            "ls\r\npwd",
            "git\u{a0}status",
            "ls \u{202e}",
            "ls\u{0}",
            "sort -o a b",
            "sort --output=a b",
            "sort -T /tmp a",
            "uniq a b",
            "date 010203042026",
            "date -s now",
            "date --set=now",
            "file -C -m a",
            "printf -v x a",
            "find . -name x",
            "tee a",
            "env",
            "xargs ls",
            "bash -c ls",
            "sed -n p a",
            "awk 1 a",
            "tar tf a",
            "python3 a.py",
        ],
        None,
    );
    check(&[&"ls;".repeat(65), &format!("echo {}", "a".repeat(5000)), &"(".repeat(50_000)], None);
}

#[test]
fn destroyers_are_named_wherever_they_stand() {
    check(
        &[
            "rm -rf x",
            "ls; rm x",
            "ls | xargs rm",
            "bash -c 'rm -rf x'",
            "ls\r\nrm -rf x",
            "find . -delete",
            "git push --force",
            "git reset --hard",
            "mkfs.ext4 /dev/sda",
            "x=$(shred y)",
            "/bin/rm x",
            "dd if=a of=b",
        ],
        Some(false),
    );
    assert_eq!(is_read_only("rm x"), Some(false));
    assert_eq!(is_read_only("'r'm x"), None, "nothing is known of it, so it is asked about");
    assert_eq!(is_read_only("perform drm firmware"), None);
}
