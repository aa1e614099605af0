//! `toolplane tools lint`: tools that a search hardly finds, or that nobody can tell apart.

mod texts;

use clap::Args;
use serde_json::json;
use toolplane_proto::v1;

use crate::cli::connection::Connection;
use crate::cli::failure::Failure;
use crate::cli::outcome::CommandOutcome;
use crate::cli::output::{Output, Table};
use texts::{is_shown, own_words};

/// What is looked at.
#[derive(Debug, Args)]
pub(crate) struct LintArgs {
    /// Only tools of this namespace, or of one below it.
    #[arg(long)]
    namespace: Option<String>,
    /// A question, and the full name of the tool that has to be found by it: `send an email=mail.send`. May be given several times.
    #[arg(long, value_name = "QUERY=TOOL", value_parser = expectation)]
    expect: Vec<Expectation>,
    /// Among how many matches a tool has to be.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=100))]
    within: u32,
}

/// A question, and the tool that answers it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Expectation {
    query: String,
    tool: String,
}

fn expectation(text: &str) -> Result<Expectation, String> {
    let parts = text.rsplit_once('=').map(|(query, tool)| (query.trim(), tool.trim()));
    match parts {
        Some((query, tool)) if !query.is_empty() && !tool.is_empty() => {
            Ok(Expectation { query: query.to_owned(), tool: tool.to_owned() })
        }
        _ => Err("is a question, `=`, and the full name of a tool".to_owned()),
    }
}

/// Something to mend.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Finding {
    /// Full name of the tool.
    tool: String,
    /// What is wrong, as one stable word.
    what: &'static str,
    /// The same in words.
    more: String,
}

/// Looks at every tool; what is found makes the command fail.
pub(super) async fn run(args: LintArgs, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let tools: Vec<v1::ToolSummary> = all(connection).await?.into_iter().filter(is_shown).collect();
    let here = |name: &str| {
        args.namespace
            .as_ref()
            .is_none_or(|within| name.strip_prefix(within.as_str()).is_some_and(|rest| rest.starts_with('.')))
    };
    let mut findings = texts::check(&tools);
    findings.retain(|finding| here(&finding.tool));
    let looked_at: Vec<&v1::ToolSummary> = tools.iter().filter(|tool| here(&tool.full_name)).collect();
    if looked_at.is_empty() && args.expect.is_empty() {
        // A slip must not look like tools without faults.
        let within =
            args.namespace.map(|within| format!(" in the namespace `{within}`, or below it")).unwrap_or_default();
        return Err(Failure::Usage(format!("there is no tool{within} to look at")));
    }
    for tool in &looked_at {
        if let Some(query) = own_words(tool) {
            findings
                .extend(missed(&query, &tool.full_name, "not_found_by_its_own_words", args.within, connection).await?);
        }
    }
    for Expectation { query, tool } in &args.expect {
        findings.extend(missed(query, tool, "not_found_as_expected", args.within, connection).await?);
    }
    findings.sort_by(|one, other| (&one.tool, one.what).cmp(&(&other.tool, other.what)));
    tell(&findings, looked_at.len(), out)?;
    Ok(if findings.is_empty() { CommandOutcome::Done } else { CommandOutcome::ToolFailed })
}

fn tell(findings: &[Finding], looked_at: usize, out: &mut Output) -> Result<(), Failure> {
    if out.json() {
        let rows = findings.iter().map(|one| json!({ "tool": one.tool, "what": one.what, "more": one.more }));
        return rows.into_iter().try_for_each(|row| out.serialized(&row));
    }
    let mut table = Table::new(&["TOOL", "WHAT", "MORE"]);
    findings.iter().for_each(|one| table.row([one.tool.clone(), one.what.to_owned(), one.more.clone()]));
    out.table(&table, "nothing to mend")?;
    out.note(&format!("{looked_at} tools looked at"))
}

async fn all(connection: &Connection) -> Result<Vec<v1::ToolSummary>, Failure> {
    let mut request = v1::ListToolsRequest { page_size: 1000, ..Default::default() };
    let mut tools = Vec::new();
    loop {
        let page = connection.surfaces().list_tools(request.clone()).await?.into_inner();
        tools.extend(page.tools);
        request.page_token = page.next_page_token;
        if request.page_token.is_empty() {
            return Ok(tools);
        }
    }
}

/// What is wrong when `query` does not find the tool among the first matches.
async fn missed(
    query: &str,
    tool: &str,
    what: &'static str,
    within: u32,
    connection: &Connection,
) -> Result<Option<Finding>, Failure> {
    let found = search(query, within, connection).await?;
    if found.found.iter().any(|found| found.name == tool) {
        return Ok(None);
    }
    let finding = |what, more| Ok(Some(Finding { tool: tool.to_owned(), what, more }));
    let selected = search(&format!("select:{tool}"), 1, connection).await?;
    if selected.found.is_empty() {
        return match selected.refs.first() {
            Some(hidden) => finding("hidden", hidden.reason.clone()),
            None => finding("unknown", "no tool of the default surface has this name".to_owned()),
        };
    }
    let first: Vec<&str> = found.found.iter().map(|found| found.name.as_str()).take(3).collect();
    let instead = if first.is_empty() { "nothing".to_owned() } else { first.join(", ") };
    finding(what, format!("`{query}` finds {instead}"))
}

async fn search(query: &str, limit: u32, connection: &Connection) -> Result<v1::SearchResult, Failure> {
    let request = v1::SearchToolsRequest { query: query.to_owned(), limit, without_use: true, ..Default::default() };
    Ok(connection.surfaces().search_tools(request).await?.into_inner().result.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expectation_is_a_question_and_a_tool() {
        let read = expectation("is a = b? = math.equal").unwrap();
        assert_eq!((read.query.as_str(), read.tool.as_str()), ("is a = b?", "math.equal"));
        for wrong in ["", "send", "=mail.send", "send ="] {
            assert!(expectation(wrong).is_err(), "{wrong}");
        }
    }
}
