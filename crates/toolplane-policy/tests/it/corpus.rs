//! Hostile commands, each decided through the public interface. A case that must be asked about or denied and is allowed
//! fails; one that may be allowed and is asked about is counted.
//!
//! Cases are in `data/hostile.jsonl`; those below are ours, in the same policy.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolplane_matching::ToolFacts;
use toolplane_policy::{CallFacts, Policy, PolicySettings, RuleSet, evaluate};
use toolplane_records::ids::ToolId;
use toolplane_records::payload::JsonPayload;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{Behavior, ToolKind};

const CASES: &str = include_str!("data/hostile.jsonl");
/// Generous: the point is seconds against milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

fn rules(policy: &Value) -> Vec<String> {
    let prefixes = |name: &str| -> Vec<String> {
        let lists = policy[name].as_array().cloned().unwrap_or_default();
        let joined = |list: &Value| {
            let words: Vec<&str> = list.as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
            words.join(" ")
        };
        lists.iter().map(joined).collect()
    };
    let texts = |name: &str| -> Vec<String> {
        let texts = policy[name].as_array().cloned().unwrap_or_default();
        texts.iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let mut rules: Vec<String> = prefixes("allow_prefix").iter().map(|text| format!("allow Bash({text}:*)")).collect();
    rules.extend(prefixes("deny_prefix").iter().map(|text| format!("deny Bash({text}:*)")));
    rules.extend(texts("deny_regex").iter().map(|text| format!("deny Bash(regex:{text})")));
    rules.extend(texts("deny_glob").iter().map(|text| format!("deny Bash({text})")));
    rules
}

fn build(rules: &[String]) -> Option<RuleSet> {
    let record = |(index, rule): (usize, &String)| {
        let (behavior, matcher) = rule.split_once(' ').unwrap();
        let record = json!({
            "rule_id": format!("r{index}"), "source": "user_settings", "behavior": behavior, "matcher": matcher,
        });
        serde_json::from_value(record).unwrap()
    };
    RuleSet::build(&rules.iter().enumerate().map(record).collect::<Vec<_>>()).ok()
}

fn with(rules: RuleSet, trust_repositories: bool) -> Policy {
    let settings = PolicySettings { trust_repositories, ..PolicySettings::default() };
    Policy { settings: Arc::new(settings), ..Policy::of(rules) }
}

fn decide(policy: &Policy, command: &str) -> Behavior {
    let mut tool = ToolFacts::named(ToolId::from_trusted("tool_shell"), "local.shell.exec", "local.shell");
    tool.kind = Some(ToolKind::ShellCommand);
    tool.permission_matcher = "shell_pattern".to_owned();
    let call = CallFacts::new(tool, JsonPayload::of(&json!({ "command": command })));
    let began = Instant::now();
    let behavior = evaluate(policy, &call, Timestamp::from_millis(0)).behavior;
    let took = began.elapsed();
    let shown: String = command.chars().take(80).collect();
    assert!(took < PATIENCE, "`{shown}` took {took:?}");
    behavior
}

fn command(case: &Value) -> String {
    match case["input"]["command_gen"].as_str() {
        None => case["input"]["command"].as_str().unwrap_or_default().to_owned(),
        Some("'('*50000 + 'ls' + ')'*50000") => format!("{}ls{}", "(".repeat(50_000), ")".repeat(50_000)),
        Some("';'.join(['echo x']*100000)") => vec!["echo x"; 100_000].join(";"),
        Some(other) => panic!("`{other}` is not spelled out here"),
    }
}

#[test]
fn no_hostile_command_is_allowed() {
    let mut failures = Vec::new();
    let (mut exact, mut stricter, mut asked) = (0, Vec::new(), Vec::new());
    for line in CASES.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let id = case["id"].as_str().unwrap();
        let built = build(&rules(&case["input"]["policy"]));
        if case["expect"]["error_class"] == "invalid_arguments" {
            if built.is_some() {
                failures.push(format!("{id}: the rules were taken"));
            }
            exact += 1;
            continue;
        }
        let rules = built.unwrap_or_else(|| panic!("{id}: the rules were refused"));
        let trusted = case["input"]["context"]["repo_config_trusted"] != json!(false);
        let found = decide(&with(rules, trusted), &command(&case));
        match (case["expect"]["decision"].as_str().unwrap(), found) {
            ("allow", Behavior::Allow) | ("ask", Behavior::Ask) | ("deny", Behavior::Deny) => exact += 1,
            // A nested command that a rule denies is denied where the case is content with a question.
            ("ask", Behavior::Deny) => stricter.push(id.to_owned()),
            ("allow", Behavior::Ask) => asked.push(id.to_owned()),
            (wanted, found) => failures.push(format!("{id}: {found} where {wanted} is due")),
        }
    }
    println!("as listed {exact}, denied where a question is due {stricter:?}, asked where an allow is due {asked:?}");
    assert!(failures.is_empty(), "{failures:#?}");
    assert_eq!(asked, [] as [String; 0], "an ordinary command is asked about");
    assert_eq!(exact + stricter.len() + asked.len(), CASES.lines().count());
}

/// The policy that the listed cases share, and what it says to more of the kind.
fn check(behavior: Behavior, commands: &[&str]) {
    let first: Value = CASES
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .find(|case: &Value| case["id"] == "sh-001")
        .unwrap();
    let policy = with(build(&rules(&first["input"]["policy"])).unwrap(), true);
    for command in commands {
        assert_eq!(decide(&policy, command), behavior, "{command:?}");
    }
}

#[test]
fn ordinary_commands_are_allowed() {
    check(
        Behavior::Allow,
        &[
            "git status",
            "git log --oneline -n 5",
            "git diff HEAD~1 -- src/main.rs",
            "git --no-pager diff",
            "git status && git diff | cat",
            "ls -la; cat a b",
            "ls 'rm -rf x'",
            "echo \"rm -rf x\" # rm -rf y",
            "find . -name '*.rs' -type f",
            "rg -n 'curl .*' src",
            "sed -n '1,20p' src/main.rs",
            "cat src/main.rs 2>/dev/null",
            "git status 2>&1",
            "timeout 10 git status",
            "bash -lc 'git status && ls'",
            "ls \\\n  -la",
            "echo 'a\nb'",
        ],
    );
}

#[test]
fn what_runs_a_denied_command_is_denied() {
    check(
        Behavior::Deny,
        &[
            "ls && /bin/rm x",
            "\\rm x",
            "r'm' x",
            "$'\\x72m' x",
            "FOO=1 rm x",
            "env FOO=1 rm x",
            "command rm x",
            "nohup nice rm x",
            "sudo rm x",
            "zsh -lc 'cd x && rm y'",
            "eval 'rm x'",
            "find . -exec rm {} +",
            "echo $(rm x)",
            "if true; then rm x; fi",
            "for i in a; do rm $i; done",
            "rm x & ls",
            "! rm x",
            "cat <<E\n$(rm x)\nE",
            "bash <<E\nrm x\nE",
            "time rm x",
            "(rm x)",
            "ls\nrm x",
            "ls | xargs -I{} rm {}",
        ],
    );
}

#[test]
fn whatever_is_open_is_asked_about() {
    check(
        Behavior::Ask,
        &[
            "echo $HOME",
            "ls *",
            "ls ~",
            "cat ~/.ssh/id_rsa",
            "ls {a,b}",
            "ls a\\ b",
            "r$x y",
            "alias ls='rm -rf x'; ls",
            "PATH=/tmp ls",
            "export PATH=/tmp; ls",
        ],
    );
}

#[test]
fn options_and_shapes_out_of_the_ordinary_are_asked_about() {
    check(
        Behavior::Ask,
        &[
            "git -C x status",
            "git -c core.pager='rm x' log",
            "git -c core.fsmonitor=x status",
            "git --git-dir=x status",
            "git diff --ext-diff",
            "git diff --output=x",
            "git log --outp=x",
            "git grep -O x",
            "git status --upload-pack=x",
            "git p",
            "sed -n '1e id'",
            "sed -n 's/a/b/w f' x",
            "sed -ni p f",
            "sed -n -f s f",
            "find . -delete",
            "find . -fls x",
            "rg --pre x y",
            "rg -z x",
            "ls > f",
            "ls >> .git/hooks/pre-commit",
            "ls &> f",
            "cat < /etc/passwd",
            "cat /etc/passwd",
            "cat ../../etc/passwd",
            "echo x > /dev/tcp/h/1",
            "ls &",
            "(ls)",
            "{ ls; }",
            "ls || (ls)",
            "while ls; do ls; done",
            "ls <<< x",
            "cat <<E\nx\nE",
            "echo \"$(ls)\"",
            "ls\t-la\u{b}",
            "ls\u{2028}rm x",
            "ｒｍ x",
            "./ls",
            "/tmp/ls",
            "source ls",
            ". ls",
            "exec ls",
            "coproc ls",
            "trap ls EXIT",
            "set -x; ls",
            "ls; shopt -s expand_aliases",
            "IFS=x; ls",
            "printf -v x y",
            "[[ -v x ]]",
            "ls &&",
            "ls )",
            "ls \"",
            "ls $'\\x41'",
            "ls $\"x\"",
            "python3 -c 'x'",
            "ssh h rm x",
            "watch ls",
            "xargs ls",
            "cd /etc && cat passwd",
            "cd && cat x",
            "echo ${x@P}",
            "echo $((1))",
            "echo !x",
            "lsx",
            "git",
            "",
            "# ls",
        ],
    );
}
