//! Files of commands, one line each: `r` is read, `w` written, `b` both; `?` may be, `*` with all beneath it.

use super::*;
use crate::command::parse;

fn check(text: &str, expected: &[&str]) {
    let mut found: Vec<String> = Vec::new();
    for file in parse(text).commands.iter().flat_map(of) {
        let access = match file.access {
            [PathAccess::Read] => "r",
            [PathAccess::Write] => "w",
            _ => "b",
        };
        let marks = [(!file.sure, "?"), (file.tree, "*")];
        let marks: String = marks.into_iter().filter_map(|(set, mark)| set.then_some(mark)).collect();
        found.push(format!("{access}{marks} {}", file.text));
    }
    assert_eq!(found, expected, "{text}");
}

#[test]
fn operands_of_well_known_programs_are_files() {
    check("cat a ./b -n -- -c", &["r a", "r ./b", "r -c"]);
    check("head -n 5 a", &["r a"]);
    check("head -n5 a", &["r a", "b? 5"]);
    check("grep -r x a b", &["r* a", "r* b"]);
    check("grep -r x", &["r* ."]);
    check("grep -e x a", &["r a"]);
    check("grep -f p a", &["r p", "r a"]);
    check("rg x", &["r* ."]);
    check("sed -n p a", &["r a"]);
    check("sed -i s/a/b/ a", &["b a"]);
    check("awk -F : p a", &["r a"]);
    check("find a b -name x", &["r* a", "r* b", "b?* x"]);
    check("find -name x", &["r* .", "b?* x"]);
    check("ls", &["r ."]);
    check("ls -R a", &["r* a"]);
    check("cp a b c", &["r a", "r b", "w c"]);
    check("cp -r a b", &["r* a", "w* b"]);
    check("cp -t d a", &["b d", "b a"]);
    check("mv a b", &["b* a", "b* b"]);
    check("ln -s a b", &["b* a", "b* b"]);
    check("rm -rf a", &["w* a", "b?* f"]);
    check("tee a b", &["w a", "w b"]);
    check("chmod +x a", &["w a"]);
    check("dd if=a of=b", &["b if=a", "b of=b", "r a", "w b"]);
    check("sort -o a b", &["b a", "b b"]);
    check("sort --output=a b", &["b b", "b? a", "b? a"]);
    check("/bin/cat a", &["r a"]);
    check("timeout 5 cat a", &["r a"]);
    check("echo a; printf b; cd c", &[]);
}

#[test]
fn what_is_not_known_may_be_a_file() {
    check("cat $x", &["r? $x"]);
    check("cat a*", &["r? a*"]);
    check("tool a --in=b -oc x:d", &["b? a", "b? b", "b? c", "b? x:d", "b? x", "b? d"]);
    check("git show HEAD:a", &["r? show", "r? HEAD:a", "r? HEAD", "r? a"]);
    check("$x a", &["b? $x", "b? a"]);
}
