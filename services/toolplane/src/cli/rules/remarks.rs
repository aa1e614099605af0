//! What to know about rules just added: which of them do nothing, and why.

use toolplane_proto::convert::word;
use toolplane_proto::v1;
use toolplane_records::ids::ToolId;
use toolplane_records::rule::PermissionRule;
use toolplane_records::tool_facts::ToolFacts;
use toolplane_runtime::clock;

use crate::cli::connection::Connection;

/// Most pages of rules, and of tools, that are looked through; with more there is nothing said.
const MAX_PAGES: usize = 20;

/// One line for each thing to know about the rules `added`. Nothing where rules or tools cannot be listed: the rules are
/// stored, and this is advice.
pub(super) async fn about(added: &[v1::PermissionRule], connection: &Connection) -> Vec<String> {
    let (Some(in_force), Some(tools)) = (rules(connection).await, tools(connection).await) else { return Vec::new() };
    let now = clock::now();
    let mut said = Vec::new();
    for rule in added.iter().filter_map(|rule| PermissionRule::try_from(rule.clone()).ok()) {
        let remarks = toolplane_permission::remarks(&rule, &in_force, &tools, now);
        said.extend(remarks.into_iter().map(|remark| format!("{}: {remark}", rule.rule_id)));
    }
    said
}

async fn rules(connection: &Connection) -> Option<Vec<PermissionRule>> {
    let mut request = v1::ListRulesRequest { page_size: 1000, ..Default::default() };
    let mut rules = Vec::new();
    for _ in 0..MAX_PAGES {
        let page = connection.permissions().list_rules(request.clone()).await.ok()?.into_inner();
        rules.extend(page.rules.into_iter().filter_map(|rule| PermissionRule::try_from(rule).ok()));
        if page.next_page_token.is_empty() {
            return Some(rules);
        }
        request.page_token = page.next_page_token;
    }
    None
}

async fn tools(connection: &Connection) -> Option<Vec<ToolFacts>> {
    let mut request = v1::ListToolsRequest { page_size: 1000, ..Default::default() };
    let mut tools = Vec::new();
    for _ in 0..MAX_PAGES {
        let page = connection.surfaces().list_tools(request.clone()).await.ok()?.into_inner();
        tools.extend(page.tools.into_iter().filter_map(tool));
        if page.next_page_token.is_empty() {
            return Some(tools);
        }
        request.page_token = page.next_page_token;
    }
    None
}

/// What a list says of a tool. Its risk facts are not in it; a rule that depends on them may be about the tool.
fn tool(summary: v1::ToolSummary) -> Option<ToolFacts> {
    let namespace = summary.full_name.rsplit_once('.').map_or("", |(namespace, _)| namespace).to_owned();
    let kind = word::optional_open("tool_kind", &summary.tool_kind, summary.tool_kind_code).ok()?;
    let facts = ToolFacts::named(ToolId::parse(&summary.tool_id).ok()?, summary.full_name, namespace);
    Some(ToolFacts { aliases: summary.aliases, kind, ..facts })
}
