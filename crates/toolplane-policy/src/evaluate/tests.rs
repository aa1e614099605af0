//! Decisions about commands, paths and settings, one table each.

use std::sync::Arc;

use serde_json::json;
use toolplane_records::ids::{ProfileId, ToolId};
use toolplane_records::payload::JsonPayload;
use toolplane_records::profile::PermissionProfile;
use toolplane_records::rule::PermissionRule;
use toolplane_records::vocabulary::{AccessKind, RiskLevel, RuleSource, ToolKind, WriteEffect};

use super::*;
use crate::set::RuleSet;
use crate::settings::PolicySettings;
use toolplane_matching::ToolFacts;

/// A policy of lines such as `deny Bash(rm:*)`.
fn policy(lines: &[&str]) -> Policy {
    let records: Vec<PermissionRule> = lines
        .iter()
        .enumerate()
        .map(|(index, line)| {
            let (behavior, matcher) = line.split_once(' ').unwrap();
            PermissionRule::new(
                format!("r{index}"),
                RuleSource::ProjectSettings,
                behavior.parse().unwrap(),
                matcher.to_owned(),
            )
        })
        .collect();
    let settings = PolicySettings { trust_repositories: true, ..PolicySettings::default() };
    Policy { settings: Arc::new(settings), ..Policy::of(RuleSet::build(&records).unwrap()) }
}

fn profile(access: &[AccessKind]) -> PermissionProfile {
    PermissionProfile {
        access_kinds: access.to_vec(),
        write_effects: vec![WriteEffect::LocalPersistent],
        ..PermissionProfile::new(ProfileId::from_trusted("p"), RiskLevel::High)
    }
}

fn shell(command: &str) -> CallFacts {
    let mut tool = ToolFacts::named(ToolId::from_trusted("tool_shell"), "local.shell.exec", "local.shell");
    tool.kind = Some(ToolKind::ShellCommand);
    tool.permission_matcher = "shell_pattern".to_owned();
    tool.profile = Some(profile(&[AccessKind::CodeExecution]));
    CallFacts::new(tool, JsonPayload::of(&json!({ "command": command })))
}

fn writer(path: &str) -> CallFacts {
    let mut tool = ToolFacts::named(ToolId::from_trusted("tool_write"), "files.write_file", "files");
    tool.kind = Some(ToolKind::FileOperation);
    tool.permission_matcher = "path_pattern".to_owned();
    tool.profile = Some(profile(&[AccessKind::FileWrite]));
    CallFacts::new(tool, JsonPayload::of(&json!({ "path": path })))
}

fn check(policy: &Policy, call: &CallFacts, behavior: Behavior, reason: ReasonType) {
    let verdict = evaluate(policy, call, Timestamp::from_millis(0));
    let found = (verdict.behavior, verdict.reason.reason_type);
    assert_eq!(found, (behavior, reason), "{}: {verdict:?}", call.input.text());
}

#[test]
fn every_command_of_a_text_is_decided() {
    let rules = policy(&["allow Bash(git status:*)", "allow Bash(ls:*)", "ask Bash(git push:*)", "deny Bash(rm:*)"]);
    for (command, behavior, reason) in [
        ("git status", Behavior::Allow, ReasonType::Rule),
        ("git status -s", Behavior::Allow, ReasonType::Rule),
        ("git status && ls -l | ls", Behavior::Allow, ReasonType::SubcommandResults),
        ("ls; ls", Behavior::Allow, ReasonType::Rule),
        ("git log", Behavior::Ask, ReasonType::Other),
        ("git status; git log", Behavior::Ask, ReasonType::SubcommandResults),
        ("ls && git push", Behavior::Ask, ReasonType::SubcommandResults),
        ("git push", Behavior::Ask, ReasonType::Rule),
        ("git push; rm -rf x", Behavior::Deny, ReasonType::SubcommandResults),
        ("sudo rm -rf x", Behavior::Deny, ReasonType::SubcommandResults),
        ("bash -c 'rm x'", Behavior::Deny, ReasonType::Rule),
        ("ls $(cat list)", Behavior::Ask, ReasonType::SubcommandResults),
        ("ls 'rm -rf x'", Behavior::Allow, ReasonType::Rule),
        ("ls > listing.txt", Behavior::Ask, ReasonType::SubcommandResults),
    ] {
        check(&rules, &shell(command), behavior, reason);
    }
}

#[test]
fn a_tool_as_a_whole_allows_what_no_pattern_can() {
    let whole = policy(&["allow Bash", "deny Bash(rm:*)"]);
    check(&whole, &shell("for f in *; do echo $f; done"), Behavior::Allow, ReasonType::Rule);
    check(&whole, &shell("for f in *; do rm $f; done"), Behavior::Deny, ReasonType::Rule);
    check(&policy(&["allow Bash(*)"]), &shell("for f in *; do echo $f; done"), Behavior::Allow, ReasonType::Rule);
    check(&whole, &shell("ls > out.txt"), Behavior::Allow, ReasonType::Rule);
    check(&whole, &shell("ls > /etc/motd"), Behavior::Ask, ReasonType::WorkingDir);
    check(&whole, &shell("ls > .git/hooks/pre-commit"), Behavior::Ask, ReasonType::SafetyCheck);
}

#[test]
fn redirections_are_edits() {
    let rules = policy(&["allow Bash(ls:*)", "allow Edit(out/**)", "deny Edit(secrets/**)", "deny Read(keys/**)"]);
    check(&rules, &shell("ls > out/list"), Behavior::Allow, ReasonType::SubcommandResults);
    check(&rules, &shell("ls > elsewhere"), Behavior::Ask, ReasonType::SubcommandResults);
    check(&rules, &shell("ls > secrets/list"), Behavior::Deny, ReasonType::SubcommandResults);
    check(&rules, &shell("ls < keys/id"), Behavior::Deny, ReasonType::SubcommandResults);
    let mut edits = shell("ls > elsewhere");
    edits.caller.mode = Mode::AcceptEdits;
    check(&rules, &edits, Behavior::Allow, ReasonType::SubcommandResults);
}

#[test]
fn paths_out_of_the_ordinary_need_a_rule_that_names_them() {
    let wide = policy(&["allow *", "allow Edit(**)"]);
    check(&wide, &writer("src/a.rs"), Behavior::Allow, ReasonType::Rule);
    check(&wide, &writer("/etc/hosts"), Behavior::Ask, ReasonType::WorkingDir);
    check(&wide, &writer("a/../../x"), Behavior::Ask, ReasonType::WorkingDir);
    check(&wide, &writer(".git/config"), Behavior::Ask, ReasonType::SafetyCheck);
    check(&wide, &writer("a\0b"), Behavior::Deny, ReasonType::SafetyCheck);
    check(&policy(&["allow Edit(//etc/hosts)"]), &writer("/etc/hosts"), Behavior::Allow, ReasonType::Rule);
    check(&policy(&["allow Edit(.git/config)"]), &writer(".git/config"), Behavior::Allow, ReasonType::Rule);
    // A wide pattern takes in protected files without meaning them.
    check(&policy(&["allow Edit(/**)"]), &writer(".git/config"), Behavior::Ask, ReasonType::SafetyCheck);
    let verdict = evaluate(&wide, &writer("/etc/hosts"), Timestamp::from_millis(0));
    assert_eq!(verdict.blocked_path.as_deref(), Some("/etc/hosts"));
}

#[test]
fn further_directories_of_work_are_inside() {
    let mut policy = policy(&["allow files.*"]);
    policy.settings = Arc::new(PolicySettings { working_dirs: vec!["/data".to_owned()], ..PolicySettings::default() });
    check(&policy, &writer("/data/x"), Behavior::Allow, ReasonType::Rule);
    check(&policy, &writer("/database/x"), Behavior::Ask, ReasonType::WorkingDir);
}

#[test]
fn bypass_needs_the_operators_switch_and_stops_at_the_floor() {
    let mut policy = policy(&["deny Bash(rm:*)", "ask Bash(git push:*)"]);
    let in_bypass = |mut call: CallFacts| {
        call.caller.mode = Mode::Bypass;
        call
    };
    let call = |command: &str| in_bypass(shell(command));
    check(&policy, &call("make all"), Behavior::Ask, ReasonType::Other);
    let said = evaluate(&policy, &call("make all"), Timestamp::from_millis(0)).reason.message;
    assert!(said.contains("`bypass` is not allowed here"), "{said}");
    policy.settings = Arc::new(PolicySettings { allow_bypass: true, ..PolicySettings::default() });
    check(&policy, &call("make all"), Behavior::Allow, ReasonType::Mode);
    check(&policy, &call("rm x"), Behavior::Deny, ReasonType::Rule);
    check(&policy, &call("git push"), Behavior::Ask, ReasonType::Rule);
    let mut destructive = call("make all");
    destructive.safety.destructive = Certainty::Yes;
    check(&policy, &destructive, Behavior::Ask, ReasonType::Policy);
    check(&policy, &in_bypass(writer(".git/config")), Behavior::Ask, ReasonType::SafetyCheck);
    check(&policy, &in_bypass(writer("/etc/hosts")), Behavior::Allow, ReasonType::Mode);
}

#[test]
fn an_unsure_deny_of_the_policy_settings_asks() {
    let record = PermissionRule {
        source: RuleSource::PolicySettings,
        facts: vec!["destructive".to_owned()],
        ..policy(&["deny *"]).rules.rules()[0].record().clone()
    };
    let policy = Policy::of(RuleSet::build(&[record]).unwrap());
    check(&policy, &shell("ls"), Behavior::Ask, ReasonType::Policy);
}

#[test]
fn a_call_out_of_its_sandbox_is_asked_about() {
    let rules = policy(&["allow *"]);
    for (field, behavior) in [
        (json!({ "sandbox_override_ref": "x" }), Behavior::Ask),
        (json!({ "dangerouslyDisableSandbox": true }), Behavior::Ask),
        (json!({ "dangerouslyDisable\u{53}andbox": true }), Behavior::Ask),
        (json!({ "sandbox_profile": "none" }), Behavior::Ask),
        (json!({ "dangerouslyDisableSandbox": false }), Behavior::Allow),
        (json!({ "sandbox_override_ref": null }), Behavior::Allow),
        (json!({ "sandbox_profile": "workspace_read_only" }), Behavior::Allow),
    ] {
        let mut input = field.clone();
        input["command"] = json!("ls");
        let mut call = shell("ls");
        call.input = JsonPayload::of(&input);
        assert_eq!(evaluate(&rules, &call, Timestamp::from_millis(0)).behavior, behavior, "{field}");
    }
}

#[test]
fn an_input_that_cannot_be_read_is_allowed_only_as_a_whole() {
    let hidden = || shell("[redacted]");
    check(&policy(&["allow Bash(ls:*)"]), &hidden(), Behavior::Ask, ReasonType::Other);
    check(&policy(&["allow Bash"]), &hidden(), Behavior::Allow, ReasonType::Rule);
    check(&policy(&["allow Bash", "deny Bash(rm:*)"]), &hidden(), Behavior::Ask, ReasonType::Rule);
}

#[test]
fn every_digest_is_of_everything() {
    #[derive(Debug)]
    struct Org;
    impl crate::org::OrgPolicy for Org {
        fn decide(&self, _: &CallFacts) -> OrgVerdict {
            OrgVerdict::default()
        }
        fn digest(&self) -> toolplane_records::payload::Digest {
            toolplane_records::payload::Digest::of(b"org")
        }
    }
    let base = policy(&["allow Bash"]);
    let other_rules = policy(&["deny Bash"]);
    let settings = PolicySettings { confidence_floor: 0.9, ..PolicySettings::default() };
    let other_settings = Policy { settings: Arc::new(settings), ..base.clone() };
    let with_org = Policy { org: Some(Arc::new(Org)), ..base.clone() };
    let digests = [base.digest(), other_rules.digest(), other_settings.digest(), with_org.digest()];
    let different: std::collections::BTreeSet<_> = digests.iter().collect();
    assert_eq!(different.len(), digests.len());
    assert_eq!(base.digest(), policy(&["allow Bash"]).digest());
}

/// Whatever a command does with a file, a deny about the file is about it.
#[test]
fn files_that_commands_name_are_decided_about() {
    let rules = policy(&["allow Bash", "deny Read(./secrets/**)", "deny Edit(./docs/**)"]);
    for denied in [
        "cat secrets/x",
        "cat ./secrets/x",
        "cat -- secrets/x",
        "cat -n secrets/x",
        "cat notes/../secrets/x",
        "cat .//secrets/./x",
        "cat /workspace/secrets/x",
        "cat SECRETS/x",
        "cd secrets && cat x",
        "cd notes; head -n 3 ../secrets/x",
        "ls | grep -f secrets/list x",
        "sort a secrets/x",
        "cp secrets/x y",
        "cp -t y secrets/x",
        "ln -s ../workspace/secrets/x y",
        "mv secrets other",
        "tar cf y secrets",
        "dd if=secrets/x of=y",
        "base64 secrets/x | cat",
        "bash -c 'cat secrets/x'",
        "timeout 3 xxd secrets/x",
        "wc -l notes secrets/x",
        "touch docs/a",
        "tee docs/a",
        "sed -i s/a/b/ docs/a",
        "rm -r docs",
        "cp notes docs/a",
        "sort -o docs/a notes",
        "dd if=notes of=docs/a",
        "chmod 600 docs/a",
    ] {
        let verdict = evaluate(&rules, &shell(denied), Timestamp::from_millis(0));
        assert_eq!(verdict.behavior, Behavior::Deny, "{denied}: {verdict:?}");
        assert!(verdict.blocked_path.is_some(), "{denied}: {verdict:?}");
    }
    for asked in [
        "tool secrets/x",
        "tool --file=secrets/x",
        "tool -fsecrets/x",
        "tool @secrets/x",
        "git show HEAD:secrets/x",
        "git add docs/a",
        "cat $x",
        "cat sec*/x",
        "cat $(echo secrets/x)",
        "xargs cat",
        "grep -r x .",
        "rg x",
        "find . -name x",
        "cp -r . y",
        "find . -exec cat {} +",
        "docker run image cat secrets/x",
        "cd $x && cat y",
    ] {
        let verdict = evaluate(&rules, &shell(asked), Timestamp::from_millis(0));
        assert_eq!(verdict.behavior, Behavior::Ask, "{asked}: {verdict:?}");
    }
    for allowed in [
        "cat notes",
        "cat notes/secrets/x docs/a",
        "echo secrets/x",
        "grep secrets/x notes",
        "sed -n s/secrets/x/ notes",
        "rg x src",
        "git diff docs/a",
        "tool notes",
        "ls",
        "touch notes # docs/a",
        "cp docs/a notes",
        "cat <<E\nsecrets/x\nE",
    ] {
        let verdict = evaluate(&rules, &shell(allowed), Timestamp::from_millis(0));
        assert_eq!(verdict.behavior, Behavior::Allow, "{allowed}: {verdict:?}");
    }
}

#[test]
fn a_deny_about_a_command_knows_its_files_however_they_are_spelt() {
    let rules = policy(&["allow Bash", "deny Bash(cat secrets/*)", "deny Bash(rm notes/keep)"]);
    for denied in [
        "cat ./secrets/x",
        "cat -- secrets/x",
        "cat -n secrets/x",
        "cat -n -- ./secrets//x",
        "cat a secrets/x",
        "cat /workspace/secrets/x",
        "cd secrets; cat x",
        "/bin/cat notes/../secrets/x",
        "rm -rf -- ./notes/keep other",
    ] {
        let verdict = evaluate(&rules, &shell(denied), Timestamp::from_millis(0));
        assert_eq!(verdict.behavior, Behavior::Deny, "{denied}: {verdict:?}");
    }
    for allowed in ["cat secret/x", "cat x/secrets/y", "rm notes/keeper", "head secrets/x"] {
        let verdict = evaluate(&rules, &shell(allowed), Timestamp::from_millis(0));
        assert_eq!(verdict.behavior, Behavior::Allow, "{allowed}: {verdict:?}");
    }
}

#[test]
fn comments_alarm_nobody() {
    let rules = policy(&["allow Bash(ls:*)", "deny Bash(rm:*)", "deny Bash(regex:shred)"]);
    for (command, behavior) in [
        ("ls # rm -rf x", Behavior::Allow),
        ("ls # shred x", Behavior::Allow),
        ("for x in a; do ls; done # rm -rf x", Behavior::Ask),
        ("ls # x\nrm y", Behavior::Deny),
    ] {
        let verdict = evaluate(&rules, &shell(command), Timestamp::from_millis(0));
        assert_eq!(verdict.behavior, behavior, "{command}: {verdict:?}");
        if behavior != Behavior::Deny {
            assert_ne!(verdict.deciding.as_deref(), Some("r1"), "{command}: {verdict:?}");
        }
    }
}

/// What the platform knows of a session needs no word of the agent, and what nobody can know is asked about.
#[test]
fn a_taint_of_the_session_is_found_by_its_rule_and_named() {
    use toolplane_records::taint;

    let record = |matcher: &str, label: &str, behavior| PermissionRule {
        facts: vec![format!("taint:{label}")],
        ..PermissionRule::new(label.to_owned(), RuleSource::ProjectSettings, behavior, matcher.to_owned())
    };
    let mut records =
        vec![record("Bash", taint::INSTRUCTIONS, Behavior::Deny), record("Edit", taint::TOOL_OUTPUT, Behavior::Ask)];
    records.push(PermissionRule::new("rest", RuleSource::ProjectSettings, Behavior::Allow, "*".to_owned()));
    let policy = Policy::of(RuleSet::build(&records).unwrap());
    let with = |call: &CallFacts, taints: Option<&[&str]>| {
        let mut call = call.clone();
        call.signals.taints = taints.map(|labels| {
            let mut taints = Vec::new();
            for label in labels {
                let from = toolplane_records::ids::InvocationId::from_trusted("inv_1");
                taint::add(&mut taints, label, &from, Timestamp::from_millis(1));
            }
            taints
        });
        evaluate(&policy, &call, Timestamp::from_millis(0))
    };
    let (shell, writer) = (shell("ls"), writer("a.txt"));
    let denied = with(&shell, Some(&["instructions"]));
    assert_eq!(denied.behavior, Behavior::Deny);
    assert!(denied.reason.message.ends_with("taints it: instructions (inv_1)"), "{}", denied.reason.message);
    assert_eq!(with(&shell, Some(&["markup"])).behavior, Behavior::Allow);
    assert_eq!(with(&shell, Some(&[])).behavior, Behavior::Allow);
    let unknown = with(&shell, None);
    assert_eq!(unknown.behavior, Behavior::Ask, "a call of no session may rest on anything");
    assert!(!unknown.reason.message.contains("taints it"));
    assert_eq!(with(&writer, Some(&["untrusted"])).behavior, Behavior::Ask);
    assert_eq!(with(&writer, Some(&[])).behavior, Behavior::Allow);
}
