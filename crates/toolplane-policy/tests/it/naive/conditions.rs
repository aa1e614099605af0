//! What a rule asks of facts and arguments, compared as texts.

use toolplane_records::rule::{ArgumentCondition, PermissionRule};
use toolplane_records::vocabulary::{AccessKind, RiskLevel, ToolKind, WriteEffect};

use super::{Truth, and, known, not};
use crate::world::{Case, TOOLS};

pub(super) fn conditions(rule: &PermissionRule, case: &Case) -> Truth {
    let facts = rule.facts.iter().map(|fact| fact_holds(fact, case));
    let arguments = rule.arguments.iter().map(|condition| argument_holds(condition, case));
    facts.chain(arguments).fold(Some(true), and)
}

fn fact_holds(text: &str, case: &Case) -> Truth {
    if let Some(text) = text.strip_prefix('!') {
        return not(fact_holds(text, case));
    }
    let tool = &TOOLS[case.tool];
    let untrusted = tool.namespace.starts_with("mcp.");
    let in_favour = |value: Truth, good: bool| if untrusted && value == Some(good) { None } else { value };
    let safety = &case.safety;
    match text {
        "read_only" => in_favour(known(safety.read_only), true),
        "destructive" => in_favour(known(safety.destructive), false),
        "open_world" => in_favour(known(safety.open_world), false),
        "sensitive_sink" => in_favour(known(safety.sensitive_sink), false),
        "approval_required" => in_favour(known(safety.approval_required), false),
        "untrusted" => Some(untrusted),
        "kind:mcp_tool" => Some(tool.kind == ToolKind::McpTool),
        "access:file_write" if tool.access.is_empty() => None,
        "access:file_write" => in_favour(Some(tool.access.contains(&AccessKind::FileWrite)), false),
        "effect:none" if tool.effects.is_empty() => None,
        "effect:none" => in_favour(Some(tool.effects.contains(&WriteEffect::None)), true),
        "taint:web" => case.assurance.as_ref().map(|assurance| assurance.taints.iter().any(|taint| taint == "web")),
        "network:none" => None,
        _ => {
            let risk = tool.risk?;
            // An untrusted tool may be worse than it says.
            let worst = if untrusted { RiskLevel::Critical } else { risk };
            let range: Vec<RiskLevel> =
                RiskLevel::ALL.iter().copied().filter(|level| *level >= risk && *level <= worst).collect();
            let fits: Vec<bool> = range
                .iter()
                .map(|level| match text {
                    "risk:high" => *level == RiskLevel::High,
                    "risk>=medium" => *level != RiskLevel::Low,
                    "risk<=low" => *level == RiskLevel::Low,
                    "risk>high" => *level == RiskLevel::Critical,
                    other => panic!("no fact {other}"),
                })
                .collect();
            if fits.iter().all(|fit| *fit) {
                Some(true)
            } else if fits.iter().any(|fit| *fit) {
                None
            } else {
                Some(false)
            }
        }
    }
}

fn argument_holds(condition: &ArgumentCondition, case: &Case) -> Truth {
    let given = match condition.pointer.as_str() {
        "/limit" => case.limit,
        "/label" => case.label,
        other => panic!("no argument {other}"),
    };
    let wanted = condition.value.as_ref().map(|value| value.text().to_owned()).unwrap_or_default();
    let hidden = given == Some("\"[redacted]\"");
    let number = |text: &str| text.parse::<i128>().ok();
    match (condition.op.as_str(), given) {
        ("exists", given) => Some(given.is_some()),
        ("absent", given) => Some(given.is_none()),
        (_, None) => None,
        (_, Some(_)) if hidden => None,
        ("eq", Some(given)) => Some(given == wanted),
        ("ne", Some(given)) => Some(given != wanted),
        ("in", Some(given)) => Some(wanted.trim_matches(['[', ']']).split(',').any(|one| one == given)),
        ("le", Some(given)) => {
            Some(matches!((number(given), number(&wanted)), (Some(given), Some(bound)) if given <= bound))
        }
        ("gt", Some(given)) => {
            Some(matches!((number(given), number(&wanted)), (Some(given), Some(bound)) if given > bound))
        }
        ("prefix", Some(given)) => Some(given.starts_with(wanted.trim_end_matches('"'))),
        (other, _) => panic!("no operator {other}"),
    }
}
