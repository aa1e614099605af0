use toolplane_records::ids::ToolId;
use toolplane_records::vocabulary::{AccessKind, ExecutionKind, ToolKind};

use super::{Family, ToolMatcher};
use crate::input::HookTool;

fn tool(name: &str, aliases: &[&str]) -> HookTool {
    let mut tool = HookTool::named(ToolId::from_trusted("tool:1"), name);
    tool.aliases = aliases.iter().map(|name| (*name).to_owned()).collect();
    tool
}

#[track_caller]
fn check(matcher: &str, tool: &HookTool, fits: bool) {
    let parsed: ToolMatcher = matcher.parse().unwrap();
    assert_eq!(parsed.fits(tool), fits, "`{matcher}` and {tool:?}");
}

#[test]
fn names_prefixes_namespaces_and_alternatives() {
    let read = tool("files.read_file", &["cat", "mcp__files__read"]);
    for fits in ["", "*", ".*", "files.read_file", "tool:1", "cat", "files.*", "namespace:files", "x|cat", " cat | y "]
    {
        check(fits, &read, true);
    }
    for fits in ["mcp__files", "mcp__files__*", "mcp__files__.*", "mcp__files__read", "mcp__*"] {
        check(fits, &read, true);
    }
    for not in ["files", "file", "files.read", "namespace:file", "mcp__file", "mcp__files__re", "Cat", "x|y", "Bash"] {
        check(not, &read, false);
    }
    // Without `mcp__` a dot is part of the name.
    check("read.*", &tool("read_file", &[]), false);
}

#[test]
fn families_are_known_by_what_a_tool_does() {
    let mut shell = tool("shell.exec", &[]);
    check("Bash", &shell, false);
    shell.kind = Some(ToolKind::ShellCommand);
    check("Bash", &shell, true);
    check("Write|Edit|Bash", &shell, true);
    check("Write|Edit", &shell, false);
    check("Bash", &tool("Bash", &[]), true);
    let mut file = tool("files.any", &[]);
    file.kind = Some(ToolKind::FileOperation);
    // Nobody says what it touches: it may do all of it.
    for family in ["Read", "Write", "Edit", "MultiEdit", "Glob", "Grep"] {
        check(family, &file, true);
    }
    file.access_kinds = vec![AccessKind::FileRead];
    check("Read", &file, true);
    check("Write|Edit|NotebookEdit", &file, false);
    let mut web = tool("http.fetch", &[]);
    web.execution_kind = Some(ExecutionKind::HttpApi);
    check("WebFetch", &web, true);
    let mut agent = tool("peer.ask", &[]);
    agent.kind = Some(ToolKind::PeerAgentTool);
    check("Task", &agent, true);
    assert_eq!(Family::ALL.len(), 9);
}

#[test]
fn what_could_never_match_is_refused() {
    for bad in ["Bash(git:*)", "a*b", "**", "a||b", "|", "namespace:", "namespace:*", "two words"] {
        assert!(bad.parse::<ToolMatcher>().is_err(), "{bad}");
    }
    assert!(vec!["a"; 65].join("|").parse::<ToolMatcher>().is_err());
}
