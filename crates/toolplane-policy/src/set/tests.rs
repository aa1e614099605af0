//! Sets: what refuses one, what its digest covers, and that looking rules up misses none.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;
use toolplane_records::ids::{ProfileId, ToolId};
use toolplane_records::profile::PermissionProfile;
use toolplane_records::rule::{ArgumentCondition, RuleScope};
use toolplane_records::vocabulary::{Behavior, RiskLevel, ToolKind};

use super::*;
use crate::call::CallFacts;
use crate::evaluate::evaluate_and_note;
use crate::policy::Policy;
use crate::settings::PolicySettings;
use toolplane_matching::ToolFacts;
use toolplane_matching::fit::Fit;

fn record(id: &str, behavior: Behavior, matcher: &str) -> PermissionRule {
    PermissionRule::new(id.to_owned(), RuleSource::ProjectSettings, behavior, matcher.to_owned())
}

#[test]
fn one_wrong_rule_refuses_the_whole_set_and_names_every_fault() {
    let rules = [
        record("a", Behavior::Deny, "Bash(regex:[)"),
        record("b", Behavior::Allow, "*"),
        record("b", Behavior::Allow, "files.*"),
        record("c", Behavior::Passthrough, "*"),
    ];
    let faults = RuleSet::build(&rules).unwrap_err();
    let fields: Vec<&str> = faults.iter().map(|fault| fault.field.as_str()).collect();
    assert_eq!(fields, ["rules[0].matcher", "rules[2].rule_id", "rules[3].behavior"]);
}

#[test]
fn a_set_has_a_bound() {
    let rules = vec![record("a", Behavior::Allow, "*"); MAX_RULES + 1];
    assert_eq!(RuleSet::build(&rules).unwrap_err()[0].field, "rules");
}

#[test]
fn the_next_expiry_is_the_earliest_to_come() {
    let at = |id: &str, end: i64| PermissionRule {
        expires_at: Some(Timestamp::from_millis(end)),
        ..record(id, Behavior::Allow, "*")
    };
    let set = RuleSet::build(&[at("a", 10), at("b", 30), at("c", 20)]).unwrap();
    let next = |now: i64| set.next_expiry(Timestamp::from_millis(now)).map(Timestamp::as_millis);
    assert_eq!([next(0), next(10), next(29), next(30)], [Some(10), Some(20), Some(30), None]);
}

#[test]
fn the_digest_covers_every_field() {
    let base = PermissionRule {
        facts: vec!["read_only".to_owned()],
        arguments: vec![ArgumentCondition {
            pointer: "/a".to_owned(),
            op: "eq".to_owned(),
            value: Some(JsonPayload::of(&1)),
        }],
        scope: RuleScope { tenant: "t".to_owned(), ..RuleScope::default() },
        reason: "why".to_owned(),
        author: "ann".to_owned(),
        created_at: Some(Timestamp::from_millis(1)),
        expires_at: Some(Timestamp::from_millis(2)),
        matches: vec![JsonPayload::of("git diff")],
        not_matches: vec![JsonPayload::of("git push")],
        shadow: true,
        origin: "config".to_owned(),
        revoked_at: Some(Timestamp::from_millis(1)),
        revoked_by: "bob".to_owned(),
        pin: None,
        ..record("r", Behavior::Allow, "Bash(git diff)")
    };
    type Change = (&'static str, fn(&mut PermissionRule));
    let changes: [Change; 17] = [
        ("rule_id", |rule| rule.rule_id = "s".to_owned()),
        ("source", |rule| rule.source = RuleSource::Session),
        ("behavior", |rule| rule.behavior = Behavior::Ask),
        ("matcher", |rule| rule.matcher = "Bash(git diff:*)".to_owned()),
        ("facts", |rule| rule.facts = vec!["!read_only".to_owned()]),
        ("arguments", |rule| rule.arguments[0].value = Some(JsonPayload::of(&2))),
        ("scope", |rule| rule.scope.session = "s".to_owned()),
        ("reason", |rule| rule.reason = "because".to_owned()),
        ("author", |rule| rule.author = "eve".to_owned()),
        ("created_at", |rule| rule.created_at = None),
        ("expires_at", |rule| rule.expires_at = None),
        ("match", |rule| rule.matches.clear()),
        ("not_match", |rule| rule.not_matches.clear()),
        ("shadow", |rule| rule.shadow = false),
        ("origin", |rule| rule.origin = "stored".to_owned()),
        ("revoked_at", |rule| rule.revoked_at = None),
        ("revoked_by", |rule| rule.revoked_by = "eve".to_owned()),
    ];
    let digest = |rule: &PermissionRule| RuleSet::build(std::slice::from_ref(rule)).unwrap().digest();
    for (field, change) in changes {
        let mut other = base.clone();
        change(&mut other);
        assert_ne!(digest(&base), digest(&other), "{field}");
    }
    // A field that is added to the record needs a line above.
    let written = JsonPayload::of(&base).to_value();
    let fields: Vec<&String> = written.as_object().unwrap().keys().collect();
    assert_eq!(fields.len(), changes.len(), "{fields:?}");
    assert!(changes.iter().all(|(field, _)| written.get(field).is_some()));
}

#[test]
fn rules_say_what_they_look_at() {
    let rule = |change: fn(&mut PermissionRule)| {
        let mut record = record("a", Behavior::Deny, "*");
        change(&mut record);
        record
    };
    let looked_at = |record: PermissionRule| {
        let policy = Policy::of(RuleSet::build(&[record]).unwrap());
        let call = CallFacts::new(
            ToolFacts::named(ToolId::from_trusted("tool_n"), "notes.add", "notes"),
            JsonPayload::of(&json!({"x": 1})),
        );
        evaluate_and_note(&policy, &call, Timestamp::from_millis(0)).1
    };
    let nothing = LookedAt::NOTHING;
    assert_eq!(looked_at(rule(|_| {})), nothing);
    assert_eq!(looked_at(rule(|rule| rule.scope.session = "s".to_owned())), LookedAt { session: true, ..nothing });
    assert_eq!(looked_at(rule(|rule| rule.scope.surface = "s".to_owned())), LookedAt { surface: true, ..nothing });
    let ends = rule(|rule| rule.expires_at = Some(Timestamp::from_millis(9)));
    assert_eq!(looked_at(ends.clone()), LookedAt { time: true, ..nothing });
    // About another tool it says nothing, unless it denies paths: those are kept from every tool.
    let of = |matcher: &str| PermissionRule { matcher: matcher.to_owned(), ..ends.clone() };
    assert_eq!(looked_at(of("files.read")), nothing);
    assert_eq!(looked_at(of("Read(secrets/**)")), LookedAt { time: true, ..nothing });
    let asks_input = rule(|rule| {
        let pointer = "/a".to_owned();
        rule.arguments = vec![ArgumentCondition { pointer, op: "exists".to_owned(), value: None }];
    });
    assert_eq!(looked_at(asks_input), LookedAt { input: true, ..nothing });
}

#[test]
fn only_a_rule_about_every_call_of_everybody_denies_outright() {
    let is_outright = |change: fn(&mut PermissionRule)| {
        let mut record = record("a", Behavior::Deny, "files.*");
        change(&mut record);
        RuleSet::build(&[record]).unwrap().denied_outright().count() == 1
    };
    assert!(is_outright(|_| {}));
    assert!(is_outright(|rule| rule.scope.tenant = "t".to_owned()));
    assert!(is_outright(|rule| rule.scope.namespace = "files".to_owned()));
    assert!(!is_outright(|rule| rule.behavior = Behavior::Ask));
    assert!(!is_outright(|rule| rule.shadow = true));
    assert!(!is_outright(|rule| rule.expires_at = Some(Timestamp::from_millis(9))));
    assert!(!is_outright(|rule| rule.scope.actor = "ann".to_owned()));
    assert!(!is_outright(|rule| rule.scope.role = "agent".to_owned()));
    assert!(!is_outright(|rule| rule.scope.session = "s".to_owned()));
    assert!(!is_outright(|rule| rule.scope.surface = "s".to_owned()));
    assert!(!is_outright(|rule| rule.facts = vec!["destructive".to_owned()]));
    assert!(!is_outright(|rule| rule.matcher = "Bash(rm:*)".to_owned()));
    assert!(!is_outright(|rule| {
        let (pointer, op) = ("/a".to_owned(), "exists".to_owned());
        rule.arguments = vec![ArgumentCondition { pointer, op, value: None }];
    }));
}

// --- looking up ---

const MATCHERS: &[&str] = &[
    "*",
    "files.*",
    "fil*",
    "namespace:files",
    "namespace:mcp",
    "files.read",
    "tool_files_read",
    "reader",
    "Bash",
    "Read",
    "Edit",
    "Write",
    "WebFetch",
    "mcp__github",
    "mcp__github__read",
    "mcp__git.hub",
    "Bash(git:*)",
    "Bash(git diff)",
    "Bash(rm:*)",
    "Bash(/bin/rm:*)",
    "Bash(g* push)",
    "Bash(* push)",
    "Bash(regex:rm)",
    "Bash(git push | tee)",
    "local.shell.exec(ls:*)",
    "local.shell.exec(src/**)",
    "Read(src/**)",
    "Read(./SRC/**)",
    "Read(*.rs)",
    "Read(//workspace/src/**)",
    "Read(/src/a.rs)",
    "Edit(src/**)",
    "Edit(out/**)",
    "Edit(~/x)",
    "Read({src,docs}/**)",
    "files.read(src/**)",
    "files.read(ls:*)",
    "WebFetch(domain:example.com)",
    "WebFetch(domain:*.example.com)",
    "WebFetch(domain:127.0.0.1)",
    "WebFetch(domain:example.com:8443)",
    "http.fetch(domain:*)",
    "http.fetch(ls:*)",
    "notes.add(x)",
    "notes.add(*)",
    "Bash(:*)",
    "Read(**)",
];
const COMMANDS: &[&str] = &[
    "git diff",
    "/usr/bin/git push",
    "sudo rm -rf x",
    "ls && rm x",
    "ls > out/x",
    "ls > src/y",
    "xargs rm < src/list",
    "bash -c 'rm x'",
    "find . -exec rm {} ;",
    "$X y",
    "echo $(rm x)",
    "X=rm; $X",
    "\\rm x",
    "RM x",
    "git -C /tmp push",
    "if true; then rm x; fi",
    "",
    "rm-old x",
    "cat 'a rm b'",
    "[redacted]",
];
const PATHS: &[&str] = &[
    "src/a.rs",
    "SRC/a.rs",
    "\u{212a}src/a",
    "docs/b",
    ".",
    "/workspace/src/a.rs",
    "/data/src/a",
    "/etc/x",
    "../src/a",
    "src",
];
const URLS: &[&str] = &[
    "https://example.com/",
    "https://api.example.com/",
    "http://2130706433/",
    "http://[::ffff:127.0.0.1]/",
    "https://EXAMPLE.com.:8443/",
    "example.com",
    "ftp://example.com/",
];

fn any_rule() -> impl Strategy<Value = PermissionRule> {
    let scope = select(vec![
        RuleScope::default(),
        RuleScope::default(),
        RuleScope { tenant: "t".to_owned(), ..RuleScope::default() },
        RuleScope { tenant: "t".to_owned(), session: "s".to_owned(), ..RuleScope::default() },
        RuleScope { actor: "ann".to_owned(), ..RuleScope::default() },
        RuleScope { surface: "x".to_owned(), ..RuleScope::default() },
    ]);
    let behavior = select(vec![Behavior::Allow, Behavior::Ask, Behavior::Deny]);
    (behavior, select(MATCHERS), scope).prop_map(|(behavior, matcher, scope)| {
        let refused = behavior == Behavior::Allow && Rule::from_record(&record("r", behavior, matcher)).is_err();
        let behavior = if refused { Behavior::Deny } else { behavior };
        PermissionRule { scope, ..record("r", behavior, matcher) }
    })
}

fn any_call() -> impl Strategy<Value = CallFacts> {
    let tool = |name: &str, namespace: &str, matcher: &str| {
        let mut tool =
            ToolFacts::named(ToolId::from_trusted(format!("tool_{}", name.replace('.', "_"))), name, namespace);
        tool.permission_matcher = matcher.to_owned();
        tool.aliases = vec!["reader".to_owned(), name.replace('.', "__")];
        tool
    };
    let mut notes = tool("notes.add", "notes", "");
    notes.kind = Some(ToolKind::Function);
    let command = select(COMMANDS).prop_map(|text| json!({ "command": text }));
    let path = select(PATHS).prop_map(|text| json!({ "path": text }));
    let url = select(URLS).prop_map(|text| json!({ "url": text }));
    let one = prop_oneof![
        command.prop_map(move |input| (tool("local.shell.exec", "local.shell", "shell_pattern"), input)),
        path.prop_map(move |input| (tool("files.read", "files", "path_pattern"), input)),
        url.prop_map(move |input| (tool("http.fetch", "http", "url_pattern"), input)),
        Just((notes, json!({ "x": 1 }))),
        Just((tool("mcp.github.read", "mcp.github", ""), json!({}))),
        Just((tool("mcp.git.hub.read", "mcp.git.hub", ""), json!({}))),
    ];
    let place = (select(vec!["", "ann"]), select(vec!["", "s"]), select(vec!["", "x"]), select(vec!["t", "u"]));
    (one, place).prop_map(|((tool, input), (actor, session, surface, tenant))| {
        let mut call = CallFacts::new(tool, JsonPayload::of(&input));
        call.caller.actor = actor.to_owned();
        call.caller.session = session.to_owned();
        call.caller.surface = surface.to_owned();
        call.caller.tenant = tenant.to_owned();
        call
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn looking_up_misses_no_rule_that_fits(mut rules in prop::collection::vec(any_rule(), 1..40), call in any_call()) {
        rules.iter_mut().enumerate().for_each(|(index, rule)| rule.rule_id = format!("r{index}"));
        let set = RuleSet::build(&rules).unwrap();
        let settings = PolicySettings { working_dirs: vec!["/data".to_owned()], ..PolicySettings::default() };
        let scene = Scene::new(&settings, &call);
        let found: Vec<&str> = set.candidates(&scene).map(|(rule, _)| rule.id()).collect();
        for rule in set.rules() {
            let fits = rule.is_in_scope(&call) && scene.reach(rule).fit != Fit::No;
            // An allow counts only where it surely fits.
            let counts = fits && !(rule.behavior() == Behavior::Allow && scene.reach(rule).fit == Fit::Unknown);
            prop_assert!(!counts || found.contains(&rule.id()), "{} {}", rule.behavior(), rule.matcher());
        }
    }

    /// A tool that is said to be denied outright is denied, whatever else there is.
    #[test]
    fn what_is_denied_outright_is_denied(mut rules in prop::collection::vec(any_rule(), 1..20), call in any_call()) {
        rules.iter_mut().enumerate().for_each(|(index, rule)| rule.rule_id = format!("r{index}"));
        let policy = Policy::of(RuleSet::build(&rules).unwrap());
        let is_of = |rule: &Rule| {
            let tenant = &rule.scope().tenant;
            let fits = rule.matcher().tools.fit(Behavior::Deny, &call.tool) == Fit::Yes;
            fits && (tenant.is_empty() || *tenant == call.caller.tenant)
        };
        if policy.rules.denied_outright().any(is_of) {
            prop_assert_eq!(evaluate_and_note(&policy, &call, Timestamp::from_millis(0)).0.behavior, Behavior::Deny);
        }
    }

    /// What is said of a rule because its program is not seen is what comparing it with every command says.
    #[test]
    fn programs_that_are_not_seen_take_no_comparison(
        mut rules in prop::collection::vec(any_command_rule(), 1..40),
        command in any_command(),
        // One of the fields that hold commands cannot be read.
        hidden in prop::bool::weighted(0.2),
    ) {
        rules.iter_mut().enumerate().for_each(|(index, rule)| rule.rule_id = format!("r{index}"));
        let set = RuleSet::build(&rules).unwrap();
        let mut tool = ToolFacts::named(ToolId::from_trusted("tool_sh"), "local.shell.exec", "local.shell");
        tool.permission_matcher = "shell_pattern".to_owned();
        let profile = PermissionProfile::new(ProfileId::from_trusted("perm_sh"), RiskLevel::Low);
        tool.profile = Some(PermissionProfile {
            rule_matching_fields: vec!["command".to_owned(), "more".to_owned()],
            ..profile
        });
        let input = if hidden { json!({ "command": command, "more": 1 }) } else { json!({ "command": command }) };
        let call = CallFacts::new(tool, JsonPayload::of(&input));
        let settings = PolicySettings::default();
        let scene = Scene::new(&settings, &call);
        let programs = scene.target.unlisted();
        let found: HashMap<&str, bool> = set.candidates(&scene).map(|(rule, unlisted)| (rule.id(), unlisted)).collect();
        for rule in set.rules() {
            let reach = scene.reach(rule);
            let says = match found.get(rule.id()) {
                Some(false) => continue,
                Some(true) => scene.reach_unlisted(rule, &programs).fit,
                None => Fit::No,
            };
            prop_assert_eq!((reach.whole, reach.fit), (false, says), "{} {}", rule.behavior(), rule.matcher());
            for part in scene.target.parts.iter().filter(|part| part.names_its_program()) {
                prop_assert_eq!(scene.part_fit(rule, part), Fit::No, "{} {:?}", rule.matcher(), part.what);
            }
        }
    }
}

const PROGRAMS: &[&str] = &[
    "git",
    "rm",
    "ls",
    "sh",
    "bash",
    "make",
    "curl",
    "/bin/rm",
    "./rm",
    "\\rm",
    "RM",
    "$X",
    "r$X",
    "/opt/g$X",
    "r[m]",
    "g*",
    "\"$X\"",
    "'rm x'",
    "'ls -l' 'x'",
    "r'm'",
    "\"my tool\"",
    "`pick`",
    "sudo rm",
    "xargs rm",
    "env A=rm $A",
    "timeout 5 git",
    "",
];
const REST: &[&str] =
    &["", "x", "-rf x", "push --force", "-c 'rm x'", "$Y", "-l", "<(rm x)", "\"$(rm y)\"", "git", "# rm"];
const JOINTS: &[&str] = &[" | ", " && ", "; ", " & ", "\n", " | sh; ", " || "];

fn any_command() -> impl Strategy<Value = String> {
    let simple = (select(PROGRAMS), select(REST)).prop_map(|(program, rest)| format!("{program} {rest}"));
    let odd = select(vec![
        "",
        "",
        "",
        " | sh",
        " | bash -s",
        "; (",
        "; for x in a; do $x; done",
        " \"",
        "; eval $Z",
        " <<E\nrm\nE",
    ]);
    (prop::collection::vec(simple, 1..4), select(JOINTS), odd).prop_map(|(all, joint, odd)| all.join(joint) + odd)
}

fn any_command_rule() -> impl Strategy<Value = PermissionRule> {
    const PATTERNS: &[&str] = &[
        "git:*",
        "git push",
        "git push:*",
        "git * --force",
        "git*",
        "rm:*",
        "rm -rf *",
        "/bin/rm:*",
        "/opt/git *",
        "r* x",
        "rm * y",
        "rm",
        "ls",
        "ls -l",
        "ls -l *",
        "'ls -l' x",
        "sh:*",
        "bash *",
        "make:*",
        "curl:*",
        "my tool *",
        "my:*",
        "absent:*",
        "gone x",
        "regex:rm",
        "* | sh",
        "RM *",
        "$X",
        "sudo:*",
        "xargs rm:*",
        "eval:*",
    ];
    let tools = select(vec!["Bash", "Bash", "local.shell.exec", "shell.exec", "local.*", "namespace:local", "Read"]);
    let behavior = select(vec![Behavior::Allow, Behavior::Ask, Behavior::Deny]);
    (behavior, tools, select(PATTERNS)).prop_map(|(behavior, tools, pattern)| {
        let matcher = format!("{tools}({pattern})");
        let refused = behavior == Behavior::Allow && Rule::from_record(&record("r", behavior, &matcher)).is_err();
        record("r", if refused { Behavior::Deny } else { behavior }, &matcher)
    })
}
