//! Rules as a company may have them: a few that concern every call, and many about tools, hosts and folders of others.

use toolplane_records::payload::JsonPayload;
use toolplane_records::rule::{ArgumentCondition, PermissionRule, RuleScope};
use toolplane_records::vocabulary::{Behavior, RuleSource};

/// Policies in [`CEDAR`].
pub(crate) const POLICIES: usize = 8;

/// The organisation's policies of the bench: about all tools and about single ones, on facts, commands, hosts and arguments.
pub(crate) const CEDAR: &str = r#"
@id("no-clusters") @reason("deploys go through the pipeline")
forbid (principal, action, resource in ToolKind::"shell_command")
when { context has commands && context.commands.programs.containsAny(["kubectl", "helm", "terraform"]) };

@id("no-inside") @reason("nothing inside the network is fetched")
forbid (principal, action, resource) when { context has urls && context.urls.non_public };

@id("no-keys") @reason("keys stay where they are")
forbid (principal, action, resource) when { context has paths && context.paths.beneath.contains("secrets") };

@id("no-tainted-sinks") @reason("what came from outside does not go out again")
forbid (principal, action, resource)
when { context.taints.contains("web") && resource has sensitive_sink && resource.sensitive_sink };

@id("readers") permit (principal in Role::"agent", action, resource in Namespace::"files")
when { resource has read_only && resource.read_only };

@id("small-payments") permit (principal, action, resource == Tool::"pay.transfer")
when { context.arguments.number.hasTag("/cents") && context.arguments.number.getTag("/cents") < 1000 };

@id("payments") @ask("money leaves the house")
forbid (principal, action, resource == Tool::"pay.transfer")
unless { context.arguments.number.hasTag("/cents") && context.arguments.number.getTag("/cents") < 1000 };

@id("other-tenants") @reason("this cluster is not for them")
forbid (principal, action, resource) unless { principal in Tenant::"default" };
"#;

/// Rules every call of the bench can meet.
const COMMON: [(Behavior, &str); 10] = [
    (Behavior::Allow, "Bash(git log:*)"),
    (Behavior::Allow, "Bash(git status)"),
    (Behavior::Allow, "Bash(cargo test:*)"),
    (Behavior::Deny, "Bash(rm:*)"),
    (Behavior::Allow, "Read(./src/**)"),
    (Behavior::Deny, "Read(./secrets/**)"),
    (Behavior::Allow, "Edit(./src/**)"),
    (Behavior::Allow, "WebFetch(domain:docs.rs)"),
    (Behavior::Ask, "namespace:pay"),
    (Behavior::Allow, "mcp__tracker__search"),
];

/// So many rules, the common ones first.
pub(crate) fn rules(count: usize) -> Vec<PermissionRule> {
    let common = COMMON.iter().map(|(behavior, matcher)| rule(*behavior, matcher));
    let others = (0..count.saturating_sub(COMMON.len())).map(other);
    let number = |(index, rule): (usize, PermissionRule)| PermissionRule { rule_id: format!("rule-{index}"), ..rule };
    common.chain(others).take(count).enumerate().map(number).collect()
}

/// So many rules about commands, of which half allow, a quarter ask and a quarter deny.
pub(super) fn about_commands(count: usize) -> Vec<PermissionRule> {
    let behaviors = [Behavior::Allow, Behavior::Ask, Behavior::Deny, Behavior::Allow];
    let about = |at: usize| rule(behaviors[at % 4], &format!("Bash(tool{at} run:*)"));
    let number = |at: usize| PermissionRule { rule_id: format!("rule-{at}"), ..about(at) };
    (0..count).map(number).collect()
}

/// Of fifty rules: 18 about commands, 10 about paths, 6 about hosts, 9 about tools, 3 about providers, 2 about arguments, and
/// 2 that are about all tools of one actor or namespace.
fn other(at: usize) -> PermissionRule {
    let behavior = [Behavior::Allow, Behavior::Ask, Behavior::Deny, Behavior::Allow][at / 50 % 4];
    match at % 50 {
        0..18 => rule(behavior, &format!("Bash(tool{at} run:*)")),
        18..28 => {
            let family = if at.is_multiple_of(2) { "Read" } else { "Edit" };
            rule(behavior, &format!("{family}(./area{}/part{at}/**)", at % 7))
        }
        28..34 => rule(behavior, &format!("WebFetch(domain:host{at}.example.org)")),
        34..43 => rule(behavior, &format!("team{}.tool{at}", at % 100)),
        43..46 => rule(behavior, &format!("mcp__server{at}__*")),
        46..48 => PermissionRule {
            arguments: vec![ArgumentCondition {
                pointer: "/amount".to_owned(),
                op: "lt".to_owned(),
                value: Some(JsonPayload::of(&at)),
            }],
            ..rule(behavior, &format!("team{}.pay{at}", at % 100))
        },
        48 => PermissionRule {
            facts: vec!["risk>=high".to_owned()],
            ..rule(Behavior::Ask, &format!("namespace:team{at}"))
        },
        _ => PermissionRule {
            scope: RuleScope { actor: format!("actor-{at}"), ..RuleScope::default() },
            facts: vec!["read_only".to_owned()],
            ..rule(Behavior::Allow, "*")
        },
    }
}

fn rule(behavior: Behavior, matcher: &str) -> PermissionRule {
    PermissionRule {
        reason: "a rule of the bench".to_owned(),
        ..PermissionRule::new(String::new(), RuleSource::ProjectSettings, behavior, matcher.to_owned())
    }
}
