//! A surface with its tools, for people and as its record.

use toolplane_proto::v1;
use toolplane_proto::v1::surface_tool::Tool;
use toolplane_records::surface::ToolSurface;

use super::choosing;
use crate::cli::connection::Connection;
use crate::cli::failure::Failure;
use crate::cli::output::Output;

/// The surface with all of its tools: an answer holds the first ones only when there are many.
pub(super) async fn whole(mut surface: v1::ToolSurface, connection: &Connection) -> Result<v1::ToolSurface, Failure> {
    let mut page_token = std::mem::take(&mut surface.next_tools_token);
    while !page_token.is_empty() {
        let request =
            v1::ListSurfaceToolsRequest { surface_id: surface.surface_id.clone(), page_size: 1_000, page_token };
        let page = connection.surfaces().list_surface_tools(request).await?.into_inner();
        for tool in page.tools.into_iter().filter_map(|tool| tool.tool) {
            surface.tool_refs.push(match &tool {
                Tool::Loaded(tool) => tool.tool_id.clone(),
                Tool::Deferred(tool) => tool.tool_id.clone(),
                Tool::Blocked(tool) | Tool::Excluded(tool) => tool.tool_id.clone(),
            });
            match tool {
                Tool::Loaded(tool) => surface.loaded_tools.push(tool),
                Tool::Deferred(tool) => surface.deferred_tools.push(tool),
                Tool::Blocked(tool) => surface.blocked_tools.push(tool),
                Tool::Excluded(tool) => surface.excluded_tools.push(tool),
            }
        }
        page_token = page.next_page_token;
    }
    Ok(surface)
}

/// Most surfaces above one.
const MOST_ABOVE: usize = 3;

/// What those above a surface hold at each call in it, too: one line each, the nearest first, as far as they can be read.
pub(super) async fn held_above(surface: &v1::ToolSurface, connection: &Connection) -> Vec<String> {
    let (mut held, mut next) = (Vec::new(), surface.parent_surface_id.clone());
    for _ in 0..MOST_ABOVE {
        if next.is_empty() {
            break;
        }
        let request = v1::GetSurfaceRequest { surface_id: next, ..Default::default() };
        let Ok(answer) = connection.surfaces().get_surface(request).await else { break };
        let Some(above) = answer.into_inner().surface else { break };
        held.extend(held_by(&above));
        next = above.parent_surface_id;
    }
    held
}

/// What a surface holds at each call in those within it, with its id; nothing where it holds nothing.
fn held_by(above: &v1::ToolSurface) -> Option<String> {
    choosing::told(above).map(|held| format!("{held}  (of {}, which it is within)", above.surface_id))
}

/// A surface as it is shown; `held_above` says what those above it hold.
pub(super) fn print(surface: v1::ToolSurface, held_above: &[String], out: &mut Output) -> Result<(), Failure> {
    if out.json() {
        return out.record::<ToolSurface, _>(surface);
    }
    out.line(headline(&surface))?;
    if let Some(missed) = &surface.outdated {
        out.line(format!("  {}", outdated(missed)))?;
    }
    if let Some(used) = &surface.budget {
        out.line(format!("  {}", budget(used)))?;
    }
    for held in choosing::told(&surface).iter().chain(held_above) {
        out.line(format!("  {held}"))?;
    }
    for tool in &surface.loaded_tools {
        let changed = match tool.changed.as_str() {
            "" => String::new(),
            what => format!("  (its schema changed since: {what}; load it again)"),
        };
        let uncallable = if tool.message.is_empty() { String::new() } else { format!("  ({})", tool.message) };
        out.line(format!("  loaded    {}{changed}{uncallable}", tool.name))?;
    }
    for tool in &surface.deferred_tools {
        out.line(format!("  deferred  {}  {}  ({})", tool.name, tool.search_hint, tool.reason))?;
    }
    for (state, hidden) in [("blocked ", &surface.blocked_tools), ("excluded", &surface.excluded_tools)] {
        for tool in hidden {
            out.line(format!("  {state}  {}  {}: {}", tool.name, tool.reason, tool.message))?;
        }
    }
    Ok(())
}

/// What it is, in one line.
fn headline(surface: &v1::ToolSurface) -> String {
    let v1::ToolSurface { surface_id, scope, revision, moment, pinned, parent_surface_id, .. } = surface;
    let pinned = if *pinned { "  pinned" } else { "" };
    let within = if parent_surface_id.is_empty() { String::new() } else { format!("  within {parent_surface_id}") };
    format!("{surface_id}  {scope}  revision {revision}  moment {moment}{pinned}{within}")
}

/// What of a budget is used, and what was deferred for it, in one line.
fn budget(used: &v1::SurfaceBudgetUse) -> String {
    let v1::SurfaceBudgetUse { budget, tools, schema_tokens, schema_bytes, deferred, deferred_tools } = used;
    let most = budget.unwrap_or_default();
    let of = |had: u64, most: u64, what: &str| match most {
        0 => format!("{had} {what}"),
        most => format!("{had} of {most} {what}"),
    };
    let parts = [
        of(*tools, most.max_tools, "tools"),
        of(*schema_tokens, most.max_schema_tokens, "tokens"),
        of(*schema_bytes, most.max_schema_bytes, "bytes"),
    ];
    let mut names: Vec<&str> = deferred_tools.iter().map(|tool| tool.name.as_str()).collect();
    if *deferred > names.len() as u64 {
        names.push("...");
    }
    let rest =
        if *deferred == 0 { String::new() } else { format!("; {deferred} deferred for it  ({})", names.join(", ")) };
    format!("budget: {}{rest}", parts.join(", "))
}

/// What a pinned surface misses, in one line.
fn outdated(missed: &v1::SurfaceOutdated) -> String {
    let v1::SurfaceOutdated { added, removed, changed, more, tools } = missed;
    let more = if *more { " or more" } else { "" };
    let mut names: Vec<String> = tools.iter().map(|tool| format!("{} {}", tool.name, tool.change)).collect();
    if u64::from(*added) + u64::from(*removed) + u64::from(*changed) > names.len() as u64 {
        names.push("...".to_owned());
    }
    format!("misses since: {added} added, {removed} removed, {changed} changed{more}  ({})", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_of_a_budget_is_used_is_one_line() {
        let mut used = v1::SurfaceBudgetUse {
            budget: Some(v1::SurfaceBudget { max_tools: 20, max_schema_tokens: 8000, max_schema_bytes: 0 }),
            tools: 2,
            schema_tokens: 340,
            schema_bytes: 1200,
            ..Default::default()
        };
        assert_eq!(budget(&used), "budget: 2 of 20 tools, 340 of 8000 tokens, 1200 bytes");
        used.deferred = 2;
        used.deferred_tools = vec![v1::BudgetTool { tool_id: String::new(), name: "a.b".to_owned() }];
        assert!(budget(&used).ends_with("; 2 deferred for it  (a.b, ...)"), "{}", budget(&used));
    }

    #[test]
    fn the_surface_it_is_within_is_in_the_first_line() {
        let surface = v1::ToolSurface {
            surface_id: "surf_b".to_owned(),
            scope: "task".to_owned(),
            revision: 4,
            moment: "1.2.9".to_owned(),
            ..Default::default()
        };
        assert_eq!(headline(&surface), "surf_b  task  revision 4  moment 1.2.9");
        let surface = v1::ToolSurface { parent_surface_id: "surf_a".to_owned(), pinned: true, ..surface };
        assert_eq!(headline(&surface), "surf_b  task  revision 4  moment 1.2.9  pinned  within surf_a");
    }

    #[test]
    fn what_one_above_holds_is_told_with_its_id() {
        let above = v1::ToolSurface { surface_id: "surf_a".to_owned(), ..Default::default() };
        assert_eq!(held_by(&above), None);
        let above = v1::ToolSurface { policy_refs: vec!["frozen".to_owned()], ..above };
        let line = "calls: policies frozen  (of surf_a, which it is within)";
        assert_eq!(held_by(&above).as_deref(), Some(line));
    }

    #[test]
    fn what_a_surface_misses_is_one_line() {
        let tool = |name: &str, change: &str| v1::OutdatedTool {
            tool_id: String::new(),
            name: name.to_owned(),
            change: change.to_owned(),
        };
        let mut missed =
            v1::SurfaceOutdated { added: 1, removed: 1, tools: vec![tool("a.new", "added")], ..Default::default() };
        assert_eq!(outdated(&missed), "misses since: 1 added, 1 removed, 0 changed  (a.new added, ...)");
        missed.tools.push(tool("a.old", "removed"));
        missed.more = true;
        assert_eq!(
            outdated(&missed),
            "misses since: 1 added, 1 removed, 0 changed or more  (a.new added, a.old removed)"
        );
    }
}
