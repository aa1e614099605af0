//! `toolplane mcp`: the tools of the cluster for a client of MCP that starts its servers as programs.

use clap::Args;
use tokio::io::BufReader;
use toolplane_gateway::{StdioOptions, Upstream, serve_lines};
use toolplane_runtime::config::McpConfig;

use super::connection::{Connection, MAX_ANSWER_BYTES};
use super::failure::Failure;
use super::outcome::CommandOutcome;

/// What the client sees.
#[derive(Debug, Args)]
pub(crate) struct McpArgs {
    /// The surface whose tools are seen; the default one when absent: every tool.
    #[arg(long)]
    surface: Option<String>,
    /// List tools by their names without the namespace, where only one tool has such a name.
    #[arg(long)]
    short_names: bool,
    /// Most tools that are listed. Where there are more, the client gets tools to search and load them instead.
    #[arg(long, default_value_t = McpConfig::default().list_at_most, value_name = "N")]
    list_at_most: u32,
    /// How long a call is waited for before the client is told how to come back to it.
    #[arg(long, default_value_t = McpConfig::default().wait_ms, value_name = "MS")]
    wait_ms: u64,
}

/// Speaks MCP on standard input and output until the client closes it. Nothing else is written there.
pub(crate) async fn run(args: McpArgs, connection: &Connection) -> Result<CommandOutcome, Failure> {
    let mcp = McpConfig {
        surface: args.surface,
        short_names: args.short_names,
        list_at_most: args.list_at_most,
        wait_ms: args.wait_ms,
        ..McpConfig::default()
    };
    let upstream = Upstream::own(connection.transport(), MAX_ANSWER_BYTES);
    let input = BufReader::new(tokio::io::stdin());
    let served = serve_lines(upstream, StdioOptions { mcp }, input, tokio::io::stdout()).await;
    served.map_err(|error| Failure::Local(format!("the MCP client is gone: {error}")))?;
    Ok(CommandOutcome::Done)
}
