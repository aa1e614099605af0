//! The golden tables: what is decided for every role, behaviour, source and mode, and for every kind of reason.
//!
//! `UPDATE_GOLDEN=1 cargo test -p toolplane-policy` writes them anew; look at the difference before you keep it.

use std::fmt::Write as _;

use toolplane_matching::Certainty;
use toolplane_matching::tools::Family;
use toolplane_policy::rule::ROLES;
use toolplane_policy::verdict::source;
use toolplane_policy::{SafetyFacts, Verdict, evaluate, suggestions};
use toolplane_records::assurance::{CallAssurance, Confidence};
use toolplane_records::explanation::{ClassifierCheck, HookVerdict};
use toolplane_records::mode::Mode;
use toolplane_records::rule::RuleScope;
use toolplane_records::vocabulary::{Behavior, ClassifierAuthority, ReasonType, RuleSource};

use crate::world::{Case, ISSUES, NOTES, READER, SHELL, TOOLS, WRITER, now, rule};

fn path(name: &str) -> String {
    format!("{}/tests/it/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn read(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap_or_default()
}

fn golden(name: &str, found: &str) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path(name), found).unwrap();
    }
    let kept = read(name);
    let differs = kept.lines().zip(found.lines()).find(|(kept, found)| kept != found);
    assert!(kept == found, "{name} is not what is decided now; first difference (kept, found): {differs:?}");
}

fn verdict(case: &Case) -> Verdict {
    evaluate(&case.policy(), &case.call(), now())
}

/// A call that nothing speaks against: a known harmless reader.
fn harmless() -> Case {
    let safety = SafetyFacts {
        read_only: Certainty::Yes,
        destructive: Certainty::No,
        open_world: Certainty::No,
        sensitive_sink: Certainty::No,
        approval_required: Certainty::No,
        trusted: Vec::new(),
    };
    Case { safety, allow_bypass: true, ..Case::of(READER, "src/a.rs") }
}

/// An edit of a file in the workspace.
fn edit() -> Case {
    let safety = SafetyFacts { read_only: Certainty::No, ..harmless().safety };
    Case { tool: WRITER, safety, ..harmless() }
}

/// Every role, behaviour and source: what one rule for that role decides for a caller who has it and for one who has not, in
/// every mode, about reading and about editing a file.
#[test]
fn every_role_behaviour_source_and_mode() {
    let mut text = String::from(
        "# role behavior source | decision and reason in each mode, reading / editing | without the role\n",
    );
    let cell = |case: &Case| {
        let verdict = verdict(case);
        format!("{}:{}", verdict.behavior, verdict.reason.reason_type)
    };
    for role in ROLES {
        for behavior in Behavior::ALL {
            for source in RuleSource::ALL {
                let mut only = rule("r", *behavior, *source, "files.*");
                only.scope = RuleScope { role: (*role).to_owned(), ..RuleScope::default() };
                write!(text, "{role} {behavior} {source} |").unwrap();
                if toolplane_policy::Rule::from_record(&only).is_err() {
                    text.push_str(" refused\n");
                    continue;
                }
                for mode in Mode::ALL {
                    let [read, write] = [harmless(), edit()]
                        .map(|case| cell(&Case { rules: vec![only.clone()], role, mode: *mode, ..case }));
                    write!(text, " {mode}={read}/{write}").unwrap();
                }
                let other = if *role == "agent" { "auditor" } else { "agent" };
                writeln!(text, " | {}", cell(&Case { rules: vec![only], role: other, ..harmless() })).unwrap();
            }
        }
    }
    golden("decisions.txt", &text);
}

/// Words that are added to a vocabulary need a row; this fails when one has none, also if the table was written anew without.
#[test]
fn the_table_has_a_row_for_every_word() {
    let decisions = read("decisions.txt");
    let rows: Vec<&str> = decisions.lines().filter(|line| !line.starts_with('#')).collect();
    for role in ROLES {
        for behavior in Behavior::ALL {
            for source in RuleSource::ALL {
                let beginning = format!("{role} {behavior} {source} |");
                let row = rows.iter().find(|row| row.starts_with(&beginning));
                let row = row.unwrap_or_else(|| panic!("no row begins with {beginning}"));
                if *behavior != Behavior::Passthrough {
                    for mode in Mode::ALL {
                        assert!(row.contains(&format!(" {mode}=")), "{row} lacks {mode}");
                    }
                }
            }
        }
    }
    assert_eq!(rows.len(), ROLES.len() * Behavior::ALL.len() * RuleSource::ALL.len());
    // The reasons are listed by a match that must name all of them.
    let reasons = read("reasons.txt");
    for reason in ReasonType::ALL {
        assert!(reasons.lines().any(|row| row.starts_with(&format!("{reason} |"))), "no row for {reason}");
    }
}

fn hook(behavior: Behavior, authoritative: bool) -> HookVerdict {
    HookVerdict { hook_id: "h".to_owned(), behavior, message: "as it says".to_owned(), authoritative }
}

fn classifier(behavior: Behavior, authority: ClassifierAuthority) -> ClassifierCheck {
    ClassifierCheck {
        classifier_ref: "c".to_owned(),
        pending: false,
        confidence: None,
        reason: "as it says".to_owned(),
        behavior: Some(behavior),
        authority,
    }
}

/// Situations in which the evaluation gives that reason.
fn situations(reason: ReasonType) -> Vec<Case> {
    let with = |matcher: &str, behavior, source, case: Case| Case {
        rules: vec![rule("r", behavior, source, matcher)],
        ..case
    };
    let project = RuleSource::ProjectSettings;
    let shell = |command: &str| Case { safety: edit().safety, ..Case::of(SHELL, command) };
    let unsure = |assurance: CallAssurance| Case { assurance: Some(assurance), ..harmless() };
    let alarmed = |change: fn(&mut SafetyFacts)| {
        let mut case = edit();
        change(&mut case.safety);
        with("*", Behavior::Allow, project, case)
    };
    match reason {
        ReasonType::Rule => vec![
            with("files.*", Behavior::Allow, project, harmless()),
            with("Read(src/**)", Behavior::Ask, project, harmless()),
            with("Read(src/**)", Behavior::Deny, RuleSource::Session, harmless()),
            with("Bash(git diff:*)", Behavior::Allow, project, shell("git diff --stat")),
        ],
        ReasonType::Mode => vec![
            Case { mode: Mode::Plan, ..edit() },
            Case { mode: Mode::AcceptEdits, ..edit() },
            Case { mode: Mode::Bypass, ..edit() },
        ],
        ReasonType::Policy => vec![
            Case { org: Behavior::Deny, ..harmless() },
            Case { org: Behavior::Ask, ..harmless() },
            Case { org: Behavior::Allow, ..harmless() },
            with("files.*", Behavior::Ask, RuleSource::PolicySettings, harmless()),
            alarmed(|safety| safety.destructive = Certainty::Yes),
            alarmed(|safety| safety.sensitive_sink = Certainty::Yes),
            alarmed(|safety| safety.approval_required = Certainty::Yes),
            Case { safety: SafetyFacts::default(), ..Case::of(ISSUES, "") },
            unsure(CallAssurance { confidence: Confidence::new(0.79), ..CallAssurance::default() }),
            unsure(CallAssurance { verdict: "uncertain".to_owned(), ..CallAssurance::default() }),
            unsure(CallAssurance {
                missing_evidence: vec!["diagram_roi_not_found".to_owned()],
                ..CallAssurance::default()
            }),
        ],
        ReasonType::Hook => vec![
            Case { hooks: vec![hook(Behavior::Deny, false)], ..harmless() },
            Case { hooks: vec![hook(Behavior::Ask, false)], ..with("*", Behavior::Allow, project, harmless()) },
            Case { hooks: vec![hook(Behavior::Allow, true)], ..harmless() },
        ],
        ReasonType::Classifier => vec![
            Case { classifier: Some(classifier(Behavior::Deny, ClassifierAuthority::Deny)), ..harmless() },
            Case { classifier: Some(classifier(Behavior::Ask, ClassifierAuthority::Deny)), ..harmless() },
            Case { classifier: Some(classifier(Behavior::Allow, ClassifierAuthority::Approve)), ..harmless() },
            Case {
                classifier: Some(ClassifierCheck {
                    pending: true,
                    behavior: None,
                    ..classifier(Behavior::Allow, ClassifierAuthority::Approve)
                }),
                ..with("*", Behavior::Allow, project, harmless())
            },
        ],
        ReasonType::WorkingDir => vec![
            with("Read", Behavior::Allow, project, Case { subject: Some("/etc/hosts".to_owned()), ..harmless() }),
            with("Bash", Behavior::Allow, project, shell("ls > /etc/motd")),
        ],
        ReasonType::SandboxOverride => vec![Case {
            subject: None,
            label: Some("1,\"sandbox_override_ref\":\"approved:1\""),
            ..with("*", Behavior::Allow, project, shell("ls"))
        }],
        ReasonType::SafetyCheck => vec![
            with("Edit", Behavior::Allow, project, Case { subject: Some(".git/config".to_owned()), ..edit() }),
            with("Read", Behavior::Allow, project, Case { subject: Some("a\0b".to_owned()), ..harmless() }),
            shell("echo bHM= | base64 -d | sh"),
        ],
        // Given by the approvals, when a person or a prompt tool has answered.
        ReasonType::PermissionPromptTool => vec![],
        ReasonType::AsyncAgent => vec![
            Case { can_ask: false, ..harmless() },
            Case { mode: Mode::DontAsk, ..harmless() },
            with("files.*", Behavior::Ask, project, Case { can_ask: false, ..harmless() }),
        ],
        ReasonType::SubcommandResults => vec![
            with("Bash(rm:*)", Behavior::Deny, project, shell("ls && rm -r old")),
            with("Bash(rm:*)", Behavior::Ask, project, shell("ls && rm -r old")),
            with("Bash(ls:*)", Behavior::Allow, project, shell("ls && git push origin")),
            Case {
                rules: vec![
                    rule("a", Behavior::Allow, project, "Bash(ls:*)"),
                    rule("b", Behavior::Allow, RuleSource::Session, "Bash(git diff:*)"),
                ],
                ..shell("git diff | ls")
            },
        ],
        ReasonType::Other => vec![harmless(), Case::of(NOTES, ""), shell("ls $HOME")],
    }
}

#[test]
fn every_kind_of_reason() {
    let mut text = String::from("# reason | behavior source queue: message [the rules with a say] {parts}\n");
    for reason in ReasonType::ALL {
        let cases = situations(*reason);
        if cases.is_empty() {
            writeln!(text, "{reason} | not given by the evaluation").unwrap();
        }
        for case in cases {
            let verdict = verdict(&case);
            assert_eq!(verdict.reason.reason_type, *reason, "{} {}: {verdict:?}", TOOLS[case.tool].name, case.input());
            let parts: Vec<String> =
                verdict.parts.iter().map(|part| format!("{}: {}", part.text, part.behavior)).collect();
            let (behavior, source, queue) = (verdict.behavior, &verdict.source, verdict.queue);
            let blocked = verdict.blocked_path.map(|path| format!(" blocked={path:?}")).unwrap_or_default();
            writeln!(
                text,
                "{reason} | {behavior} {source} {queue}: {} [{}] {{{}}}{blocked}",
                verdict.reason.message,
                verdict.matched.join(" "),
                parts.join("; "),
            )
            .unwrap();
        }
    }
    golden("reasons.txt", &text);
}

/// Names of families are words of rules, so a new one must be thought of where families meet modes and redirections.
#[test]
fn every_family_is_written_as_people_know_it() {
    let known = ["Bash", "Read", "Edit", "Glob", "Grep", "WebFetch", "WebSearch", "Agent", "Skill"];
    let families: std::collections::BTreeSet<Family> = Family::WORDS.iter().map(|(_, family)| *family).collect();
    assert_eq!(families.len(), known.len());
    assert!(known.iter().all(|name| Family::of(name).is_some()));
}

/// What rules let calls do is no answer to whether a result is given out; what they deny is not given out.
#[test]
fn a_question_about_a_result_is_answered_by_no_rule_and_offers_none() {
    let of_result = HookVerdict { hook_id: HookVerdict::OF_RESULT.to_owned(), ..hook(Behavior::Ask, false) };
    let case = |behavior| Case {
        hooks: vec![of_result.clone()],
        rules: vec![rule("r", behavior, RuleSource::ProjectSettings, "files.*")],
        mode: Mode::Bypass,
        allow_bypass: true,
        ..harmless()
    };
    for behavior in [Behavior::Allow, Behavior::Ask] {
        let (policy, call) = (case(behavior).policy(), case(behavior).call());
        let verdict = evaluate(&policy, &call, now());
        let said = (verdict.behavior, verdict.source, verdict.reason.message.as_str());
        assert_eq!(said, (Behavior::Ask, source::RESULT, "as it says"));
        assert!(suggestions(&policy, &call, &verdict, now()).is_empty());
    }
    let denied = case(Behavior::Deny);
    assert_eq!(evaluate(&denied.policy(), &denied.call(), now()).behavior, Behavior::Deny);
    let nobody = Case { can_ask: false, ..case(Behavior::Allow) };
    assert_eq!(evaluate(&nobody.policy(), &nobody.call(), now()).source, source::NO_APPROVER);
}
