//! What has changed at a provider, printed.

use toolplane_proto::v1;
use toolplane_records::provider::ProviderStatus;

use super::super::advised;
use super::super::failure::Failure;
use super::super::outcome::CommandOutcome;
use super::super::output::Output;
use super::super::spelled::word;

/// Most tools of each list that are printed.
const SHOWN: usize = 20;

/// Prints what a look came to. A provider that did not say what it has is a failure.
pub(super) fn print(
    name: &str,
    answer: v1::RefreshProviderResponse,
    dry_run: bool,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let Some(difference) = answer.difference else {
        if out.json() {
            let status = answer.status.ok_or_else(|| Failure::Answer("the status is missing".to_owned()))?;
            out.record::<ProviderStatus, _>(status)?;
        } else {
            out.line(format!("{name}: {}", answer.line))?;
        }
        return Ok(CommandOutcome::ToolFailed);
    };
    if out.json() {
        out.serialized(&json(&difference))?;
        return Ok(CommandOutcome::Done);
    }
    let would = if dry_run { " would be" } else { "" };
    for (sign, tools) in [("+", &difference.added), ("~", &difference.changed)] {
        for tool in tools.iter().take(SHOWN) {
            let state = word(tool.state().as_str_name(), "REVIEW_STATE_");
            // Where the id spells out what an id cannot hold, the provider's own name is the one to read.
            let own = if tool.tool_id.ends_with(&tool.native_id) { "" } else { &tool.native_id };
            out.line(format!("{sign} {}  {state}  {own}", tool.tool_id).trim_end())?;
            tool.changes.iter().take(5).try_for_each(|change| out.line(format!("    {change}")))?;
        }
    }
    difference.withdrawn.iter().take(SHOWN).try_for_each(|tool| out.line(format!("- {tool}")))?;
    for refused in difference.refused.iter().take(SHOWN) {
        let reason = refused.refusal.as_ref().map_or("", |refusal| refusal.reason.as_str());
        out.line(format!("! {}  {reason}", refused.native_id))?;
    }
    out.line(format!(
        "{name}: {} added, {} changed, {} withdrawn, {} refused, {} as before{would}",
        difference.added_count,
        difference.changed_count,
        difference.withdrawn_count,
        difference.refused_count,
        difference.unchanged_count
    ))?;
    let waits = |tool: &v1::DifferentTool| matches!(tool.state(), v1::ReviewState::New | v1::ReviewState::Changed);
    if !dry_run && difference.added.iter().chain(&difference.changed).any(waits) {
        let review = advised::command(format_args!("providers review {name}"));
        out.note(&format!("look at those that wait with `{review}`"))?;
    }
    Ok(CommandOutcome::Done)
}

fn json(difference: &v1::ToolDifference) -> serde_json::Value {
    let tools = |tools: &[v1::DifferentTool]| {
        let one = |tool: &v1::DifferentTool| {
            serde_json::json!({ "tool_id": tool.tool_id, "native_id": tool.native_id, "digest": tool.digest,
                "state": word(tool.state().as_str_name(), "REVIEW_STATE_"), "changes": tool.changes })
        };
        tools.iter().map(one).collect::<Vec<_>>()
    };
    let refused = |refused: &v1::RefusedTool| {
        let refusal = refused.refusal.as_ref();
        serde_json::json!({ "tool_id": refused.tool_id, "native_id": refused.native_id,
            "code": refusal.map(|refusal| word(refusal.code().as_str_name(), "REFUSAL_CODE_")),
            "reason": refusal.map(|refusal| refusal.reason.clone()) })
    };
    serde_json::json!({
        "added": tools(&difference.added), "added_count": difference.added_count,
        "changed": tools(&difference.changed), "changed_count": difference.changed_count,
        "withdrawn": difference.withdrawn, "withdrawn_count": difference.withdrawn_count,
        "refused": difference.refused.iter().map(refused).collect::<Vec<_>>(), "refused_count": difference.refused_count,
        "unchanged_count": difference.unchanged_count,
    })
}
