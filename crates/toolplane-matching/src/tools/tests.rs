//! Names and families of tools: which rule is about which tool.

use toolplane_records::ids::{ProfileId, ToolId};
use toolplane_records::profile::PermissionProfile;
use toolplane_records::vocabulary::{AccessKind, RiskLevel, ToolKind, WriteEffect};

use super::*;

fn tool(full_name: &str, namespace: &str, aliases: &[&str]) -> ToolFacts {
    let id = format!("tool_{}", full_name.replace('.', "_"));
    let mut tool = ToolFacts::named(ToolId::from_trusted(id), full_name, namespace);
    tool.aliases = aliases.iter().map(ToString::to_string).collect();
    tool
}

fn with_access(mut tool: ToolFacts, matcher: &str, access: &[AccessKind], effects: &[WriteEffect]) -> ToolFacts {
    tool.permission_matcher = matcher.to_owned();
    tool.profile = Some(PermissionProfile {
        access_kinds: access.to_vec(),
        write_effects: effects.to_vec(),
        ..PermissionProfile::new(ProfileId::from_trusted("p"), RiskLevel::Low)
    });
    tool
}

fn check(pattern: &str, tool: &ToolFacts, allow: Fit, deny: Fit) {
    let pattern: ToolPattern = pattern.parse().unwrap();
    let found = (pattern.fit(Behavior::Allow, tool), pattern.fit(Behavior::Deny, tool));
    assert_eq!(found, (allow, deny), "{pattern} and {}", tool.full_name);
    assert_eq!(pattern.fit(Behavior::Ask, tool), deny, "an ask knows tools as a deny does");
}

#[test]
fn names_beginnings_and_namespaces() {
    let reader = tool("files.read_file", "files", &["read_file", "files__read_file"]);
    for (pattern, allow, deny) in [
        ("*", Fit::Yes, Fit::Yes),
        ("files.read_file", Fit::Yes, Fit::Yes),
        ("tool_files_read_file", Fit::Yes, Fit::Yes),
        ("files.*", Fit::Yes, Fit::Yes),
        ("files", Fit::No, Fit::No),
        ("namespace:files", Fit::Yes, Fit::Yes),
        ("namespace:file", Fit::No, Fit::No),
        ("read_file", Fit::No, Fit::Yes),
        ("files__*", Fit::No, Fit::Yes),
    ] {
        check(pattern, &reader, allow, deny);
    }
    check("namespace:a", &tool("a.b.c", "a.b", &[]), Fit::Yes, Fit::Yes);
    check("namespace:a", &tool("ab.c", "ab", &[]), Fit::No, Fit::No);
}

#[test]
fn tools_of_providers() {
    let search = tool("mcp.github.search", "mcp.github", &["mcp__github__search"]);
    for (pattern, allow, deny) in [
        ("mcp__github", Fit::Yes, Fit::Yes),
        ("mcp__github__*", Fit::Yes, Fit::Yes),
        ("mcp__github__search", Fit::Yes, Fit::Yes),
        ("mcp__github__sea*", Fit::Yes, Fit::Yes),
        ("mcp__github__other", Fit::No, Fit::No),
        ("mcp__git", Fit::No, Fit::No),
    ] {
        check(pattern, &search, allow, deny);
    }
    // An alias that looks like another provider's tool opens nothing.
    let imposter = tool("mcp.evil.search", "mcp.evil", &["mcp__github__search"]);
    check("mcp__github__search", &imposter, Fit::No, Fit::Yes);
    check("mcp__github", &tool("mcp.github__x.search", "mcp.github__x", &[]), Fit::No, Fit::Yes);
}

#[test]
fn an_allow_for_providers_names_the_provider() {
    for text in ["mcp__*", "mcp__*__search", "mcp__git*__search"] {
        let pattern: ToolPattern = text.parse().unwrap();
        assert!(pattern.check(Behavior::Allow).is_err(), "{text}");
        assert!(pattern.check(Behavior::Deny).is_ok(), "{text}");
    }
    let search = tool("mcp.github.search", "mcp.github", &[]);
    let pattern: ToolPattern = "mcp__*__sea*".parse().unwrap();
    assert_eq!(pattern.fit(Behavior::Deny, &search), Fit::Yes);
}

#[test]
fn families_go_by_what_tools_declare() {
    let read = &[AccessKind::FileRead];
    let both = &[AccessKind::FileRead, AccessKind::FileWrite];
    let reader = with_access(tool("files.read_file", "files", &[]), "path_pattern", read, &[]);
    let writer = with_access(tool("files.write_file", "files", &[]), "path_pattern", both, &[]);
    let sender = with_access(
        tool("files.publish", "files", &[]),
        "path_pattern",
        &[AccessKind::FileRead, AccessKind::FileWrite, AccessKind::ExternalSend],
        &[],
    );
    let silent = with_access(tool("files.touch", "files", &[]), "path_pattern", &[], &[]);
    check("Read", &reader, Fit::Yes, Fit::Yes);
    check("Edit", &reader, Fit::No, Fit::No);
    // What also writes is no mere reader, but a deny of reading is about it as well.
    check("Read", &writer, Fit::No, Fit::Yes);
    check("Edit", &writer, Fit::Yes, Fit::Yes);
    check("Write", &writer, Fit::Yes, Fit::Yes);
    check("Edit", &sender, Fit::No, Fit::Yes);
    check("Edit", &silent, Fit::Unknown, Fit::Unknown);
    check("Read", &silent, Fit::Unknown, Fit::Unknown);
    check("Grep", &reader, Fit::No, Fit::No);
    check("Grep", &with_access(tool("files.search_text", "files", &[]), "path_pattern", read, &[]), Fit::Yes, Fit::Yes);
    check("Glob", &with_access(tool("files.list_dir", "files", &[]), "path_pattern", read, &[]), Fit::Yes, Fit::Yes);
    check("Bash", &with_access(tool("shell.exec", "shell", &[]), "shell_pattern", &[], &[]), Fit::Yes, Fit::Yes);
    check("Bash", &reader, Fit::No, Fit::No);
}

#[test]
fn fetching_that_changes_things_is_no_mere_fetching() {
    let network = &[AccessKind::Network];
    let fetch = |effects: &[WriteEffect]| with_access(tool("http.fetch", "http", &[]), "url_pattern", network, effects);
    check("WebFetch", &fetch(&[WriteEffect::None]), Fit::Yes, Fit::Yes);
    check("WebFetch", &fetch(&[WriteEffect::RemoteMutation]), Fit::No, Fit::Yes);
    check("WebFetch", &fetch(&[]), Fit::Unknown, Fit::Yes);
    let mut search = fetch(&[WriteEffect::None]);
    search.kind = Some(ToolKind::WebSearch);
    check("WebFetch", &search, Fit::No, Fit::No);
    check("WebSearch", &search, Fit::Yes, Fit::Yes);
}

#[test]
fn a_tool_that_has_the_name_of_a_family_is_meant_as_well() {
    let odd = tool("Read", "", &[]);
    check("Read", &odd, Fit::Yes, Fit::Yes);
}

#[test]
fn what_names_no_tool_is_refused() {
    for (text, wrong) in [
        ("", "must not be empty"),
        ("a*b", "only at the end"),
        ("*.read", "only at the end"),
        ("rm file", "only letters"),
        ("namespace:", "must not be empty"),
        ("mcp__", "must not be empty"),
        ("mcp__a b__c", "only letters"),
        ("[", "only letters"),
        ("(?<=x)y", "only letters"),
    ] {
        let error = text.parse::<ToolPattern>().unwrap_err().to_string();
        assert!(error.contains(wrong), "{text}: {error}");
    }
}

#[test]
fn patterns_are_shown_as_they_are_written() {
    for text in ["*", "files.*", "namespace:files", "Bash", "Task", "mcp__github__search", "mcp__github__*"] {
        assert_eq!(text.parse::<ToolPattern>().unwrap().to_string(), text);
    }
}
