//! Random situations out of the small world of the tests.

use proptest::prelude::*;
use proptest::sample::select;
use toolplane_matching::Certainty;
use toolplane_policy::SafetyFacts;
use toolplane_records::assurance::{CallAssurance, Confidence};
use toolplane_records::explanation::{ClassifierCheck, HookVerdict};
use toolplane_records::mode::Mode;
use toolplane_records::payload::JsonPayload;
use toolplane_records::rule::{ArgumentCondition, PermissionRule, RuleScope};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{Behavior, ClassifierAuthority, RuleSource};

use crate::world::{Case, FETCHER, NOW, SHELL, TOOLS, rule};

const BARE: &[&str] = &[
    "*",
    "files.*",
    "namespace:files",
    "namespace:mcp",
    "namespace:mcp.github",
    "local.shell.exec",
    "tool_shell_exec",
    "shell.exec",
    "remember",
    "notes.add",
    "Bash",
    "Read",
    "Edit",
    "Write",
    "Grep",
    "WebFetch",
    "mcp__github",
    "mcp__github__*",
    "mcp__github__search_issues",
    "mcp__disk",
    "read_file",
    "files.read_file",
    "files.write_file",
    "http.*",
];
const COMMAND_PATTERNS: &[&str] =
    &["git diff:*", "git diff", "git:*", "git push:*", "ls:*", "rm:*", "cat notes.txt", "*"];
const PATH_PATTERNS: &[&str] =
    &["src/**", "/src/**", "*.rs", "./docs/x.md", "docs", ".git/**", "//etc/**", "out.txt", "*"];
const URL_PATTERNS: &[&str] =
    &["domain:example.com", "domain:*.example.com", "domain:example.com:8443", "domain:evil.test", "domain:*"];
const COMMANDS: &[&str] =
    &["git diff", "git diff --stat", "git push origin", "git status", "ls", "ls -l", "rm old.txt", "cat notes.txt"];
const PATHS: &[&str] =
    &["src/a.rs", "src/deep/b.rs", "docs/x.md", ".git/config", "/etc/hosts", "../up.txt", "bad\0path"];
const URLS: &[&str] = &[
    "https://example.com/a",
    "https://api.example.com/",
    "http://example.com/",
    "https://example.com:8443/x",
    "https://evil.test/",
    "not a url",
];
const FACTS: &[&str] = &[
    "read_only",
    "destructive",
    "open_world",
    "sensitive_sink",
    "approval_required",
    "untrusted",
    "kind:mcp_tool",
    "access:file_write",
    "effect:none",
    "taint:web",
    "network:none",
    "risk:high",
    "risk>=medium",
    "risk<=low",
    "risk>high",
];
const ARGUMENTS: &[(&str, &str, &str)] = &[
    ("/limit", "le", "5"),
    ("/limit", "gt", "9007199254740992"),
    ("/limit", "eq", "9007199254740992"),
    ("/limit", "ne", "5"),
    ("/limit", "in", "[1,5]"),
    ("/limit", "exists", ""),
    ("/limit", "absent", ""),
    ("/label", "prefix", "\"al\""),
    ("/label", "eq", "\"beta\""),
    ("/label", "exists", ""),
];

pub(crate) fn behavior() -> impl Strategy<Value = Behavior> {
    select(vec![Behavior::Allow, Behavior::Allow, Behavior::Ask, Behavior::Deny])
}

pub(crate) fn matcher() -> impl Strategy<Value = String> {
    let with = |tools: &'static [&'static str], patterns: &'static [&'static str]| {
        (select(tools), select(patterns)).prop_map(|(tool, pattern)| format!("{tool}({pattern})"))
    };
    prop_oneof![
        3 => select(BARE).prop_map(str::to_owned),
        4 => with(&["Bash", "Bash", "local.shell.exec", "shell.exec"], COMMAND_PATTERNS),
        4 => with(&["Read", "Edit", "Write", "Grep", "files.write_file", "files.read_file", "notes.add"], PATH_PATTERNS),
        2 => with(&["WebFetch", "http.fetch"], URL_PATTERNS),
    ]
}

fn scope() -> impl Strategy<Value = RuleScope> {
    let any = |words: &'static [&'static str]| select(words).prop_map(str::to_owned);
    let one = (
        any(&["acme", "other"]),
        any(&["files", "mcp", "local"]),
        any(&["ann", "bob"]),
        any(&["agent", "operator"]),
        any(&["s1", "s2"]),
        0..5usize,
    );
    let one = one.prop_map(|(tenant, namespace, actor, role, session, which)| match which {
        0 => RuleScope { tenant, ..RuleScope::default() },
        1 => RuleScope { namespace, ..RuleScope::default() },
        2 => RuleScope { actor, ..RuleScope::default() },
        3 => RuleScope { role, tenant, ..RuleScope::default() },
        _ => RuleScope { session, tenant, ..RuleScope::default() },
    });
    prop_oneof![4 => Just(RuleScope::default()), 1 => one]
}

/// One rule; its id is given later.
pub(crate) fn any_rule() -> impl Strategy<Value = PermissionRule> {
    let facts = prop_oneof![3 => Just(Vec::new()), 1 => prop::sample::subsequence(FACTS.to_vec(), 1..=2)];
    let facts = (facts, any::<[bool; 2]>()).prop_map(|(facts, negated)| {
        let signed =
            facts.iter().zip(negated).map(|(fact, negated)| format!("{}{fact}", if negated { "!" } else { "" }));
        signed.collect::<Vec<_>>()
    });
    let arguments = prop_oneof![4 => Just(None), 1 => select(ARGUMENTS).prop_map(Some)];
    let expires = select(vec![None, None, None, Some(NOW - 1), Some(NOW), Some(NOW + 1)]);
    let shadow = select(vec![false, false, false, true]);
    (behavior(), select(RuleSource::ALL), matcher(), scope(), facts, arguments, expires, shadow).prop_map(
        |(behavior, source, matcher, scope, facts, argument, expires, shadow)| PermissionRule {
            scope,
            facts,
            shadow,
            arguments: argument.into_iter().map(argument_condition).collect(),
            expires_at: expires.map(Timestamp::from_millis),
            ..rule("", behavior, source, &matcher)
        },
    )
}

fn argument_condition((pointer, op, value): (&str, &str, &str)) -> ArgumentCondition {
    let value = Some(value).filter(|value| !value.is_empty()).map(|value| JsonPayload::from_checked(value.to_owned()));
    ArgumentCondition { pointer: pointer.to_owned(), op: op.to_owned(), value }
}

pub(crate) fn numbered(mut rules: Vec<PermissionRule>) -> Vec<PermissionRule> {
    rules.iter_mut().enumerate().for_each(|(index, rule)| rule.rule_id = format!("r{index}"));
    rules
}

fn subject(tool: usize) -> BoxedStrategy<Option<String>> {
    let strange = prop_oneof![Just(None), Just(Some("[redacted]".to_owned()))];
    let usual: BoxedStrategy<String> = match tool {
        SHELL => {
            let simple = (select(COMMANDS), select(vec!["", "", "", " > out.txt", " > .git/config"]));
            let simple = simple.prop_map(|(command, redirection)| format!("{command}{redirection}"));
            let joined = (prop::collection::vec(simple, 1..=3), select(vec![" && ", "; ", " | "]));
            let joined = joined.prop_map(|(commands, separator)| commands.join(separator));
            prop_oneof![9 => joined, 1 => Just("$(pick one)".to_owned())].boxed()
        }
        FETCHER => select(URLS).prop_map(str::to_owned).boxed(),
        _ => select(PATHS).prop_map(str::to_owned).boxed(),
    };
    prop_oneof![12 => usual.prop_map(Some), 1 => strange].boxed()
}

fn certainty(alarming: bool) -> impl Strategy<Value = Certainty> {
    // Alarms end most decisions early, so they are kept rare.
    let values = if alarming {
        vec![
            Certainty::No,
            Certainty::No,
            Certainty::No,
            Certainty::No,
            Certainty::Unknown,
            Certainty::Unknown,
            Certainty::Yes,
        ]
    } else {
        vec![Certainty::No, Certainty::Unknown, Certainty::Yes, Certainty::Yes]
    };
    select(values)
}

fn safety() -> impl Strategy<Value = SafetyFacts> {
    (certainty(false), certainty(true), certainty(false), certainty(true), certainty(true)).prop_map(
        |(read_only, destructive, open_world, sensitive_sink, approval_required)| SafetyFacts {
            read_only,
            destructive,
            open_world,
            sensitive_sink,
            approval_required,
            trusted: Vec::new(),
        },
    )
}

pub(crate) fn hook() -> impl Strategy<Value = HookVerdict> {
    (
        select(vec![Behavior::Allow, Behavior::Allow, Behavior::Passthrough, Behavior::Ask, Behavior::Deny]),
        any::<bool>(),
    )
        .prop_map(|(behavior, authoritative)| HookVerdict {
            hook_id: "hook".to_owned(),
            behavior,
            message: String::new(),
            authoritative,
        })
}

fn classifier() -> impl Strategy<Value = ClassifierCheck> {
    let says = select(vec![Behavior::Allow, Behavior::Allow, Behavior::Ask, Behavior::Deny]);
    (select(ClassifierAuthority::ALL), says, select(vec![false, false, false, true])).prop_map(
        |(authority, says, pending)| ClassifierCheck {
            classifier_ref: "classifier".to_owned(),
            pending,
            confidence: None,
            reason: String::new(),
            behavior: (!pending).then_some(says),
            authority,
        },
    )
}

fn assurance() -> impl Strategy<Value = CallAssurance> {
    (select(vec![None, Some(0.8), Some(0.95), Some(0.79)]), select(vec!["", "", "", "uncertain"]), any::<bool>())
        .prop_map(|(confidence, verdict, tainted)| CallAssurance {
            confidence: confidence.and_then(Confidence::new),
            verdict: verdict.to_owned(),
            taints: if tainted { vec!["web".to_owned()] } else { Vec::new() },
            ..CallAssurance::default()
        })
}

fn sometimes<T: std::fmt::Debug + Clone + 'static>(
    strategy: impl Strategy<Value = T> + 'static,
) -> BoxedStrategy<Option<T>> {
    prop_oneof![3 => Just(None), 1 => strategy.prop_map(Some)].boxed()
}

pub(crate) fn any_case() -> impl Strategy<Value = Case> {
    let org = select(vec![
        Behavior::Passthrough,
        Behavior::Passthrough,
        Behavior::Passthrough,
        Behavior::Passthrough,
        Behavior::Passthrough,
        Behavior::Allow,
        Behavior::Ask,
        Behavior::Deny,
    ]);
    let caller = (
        select(vec!["acme", "other"]),
        select(vec!["", "ann"]),
        select(vec!["", "s1"]),
        select(vec!["agent", "operator"]),
    );
    let arguments = (
        select(vec![None, Some("1"), Some("5"), Some("9007199254740993")]),
        select(vec![None, Some("\"alpha\""), Some("\"[redacted]\"")]),
    );
    let mode = select(vec![
        Mode::Default,
        Mode::Default,
        Mode::Default,
        Mode::AcceptEdits,
        Mode::Plan,
        Mode::Bypass,
        Mode::DontAsk,
    ]);
    let rules = prop::collection::vec(any_rule(), 0..7).prop_map(numbered);
    let others = (sometimes(hook()), sometimes(classifier()), sometimes(assurance()));
    let world = (rules, any::<bool>(), org, mode, any::<bool>());
    let call = (0..TOOLS.len()).prop_flat_map(|tool| (Just(tool), subject(tool)));
    (call, world, caller, arguments, safety(), others).prop_map(
        |((tool, subject), world, caller, arguments, safety, others)| {
            let (rules, allow_bypass, org, mode, can_ask) = world;
            let (tenant, actor, session, role) = caller;
            let (hook, classifier, assurance) = others;
            Case {
                rules,
                allow_bypass,
                org,
                tool,
                subject,
                limit: arguments.0,
                label: arguments.1,
                tenant,
                actor,
                session,
                role,
                safety,
                mode,
                can_ask,
                hooks: hook.into_iter().collect(),
                classifier,
                assurance,
            }
        },
    )
}
