//! The command line: what can be typed, and which command answers it.

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

mod advised;
mod answer;
mod approvals;
mod argument;
mod batch;
mod calls;
mod connection;
mod credentials;
mod explain;
mod export;
mod failure;
mod fetch;
mod follow;
mod form;
mod get;
mod hold;
mod hooks;
mod invoke;
mod kept;
mod keys;
mod link;
mod manual;
mod mcp;
mod original;
mod outage;
mod outcome;
mod output;
mod providers;
mod result;
mod results;
mod rules;
mod search;
mod span;
mod spelled;
mod status;
mod store;
mod surface;
mod synonyms;
mod taints;
mod tools;
mod verify;
mod waiting;
mod watch;
mod workers;

pub(crate) use outcome::CommandOutcome;

pub use connection::ConnectionArgs;
pub use failure::Failure;

use connection::Connection;
use output::{Format, Output};

/// The tool plane of agent platforms: declare tools, search them, call them, follow every call.
#[derive(Debug, Parser)]
#[command(name = "toolplane", version, disable_help_subcommand = true)]
struct Cli {
    #[command(flatten)]
    connection: ConnectionArgs,
    /// How answers are printed: for people, or as the standard's JSON records.
    #[arg(
        short = 'o',
        long = "output",
        global = true,
        value_enum,
        default_value_t = Format::Text,
        help_heading = "Global options"
    )]
    output: Format,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run a cluster: all roles in one process, or one of them.
    #[command(version)]
    Serve(crate::serve::ServeArgs),
    /// Declare, list and retire tools.
    #[command(subcommand)]
    Tools(tools::ToolsCommand),
    /// Providers: MCP servers, OpenAPI documents and files whose tools nobody declares by hand.
    #[command(subcommand)]
    Providers(providers::ProvidersCommand),
    /// Make and look at surfaces: the tools one session may see.
    #[command(subcommand)]
    Surface(surface::SurfaceCommand),
    /// Find tools in a surface: `select:a,b` by name, anything else by words and filters.
    Search(search::SearchArgs),
    /// Words that mean the same when tools are searched: list, add, take out.
    #[command(subcommand)]
    Synonyms(synonyms::SynonymsCommand),
    /// Load deferred tools, so that they can be called.
    Load(search::LoadArgs),
    /// Make loaded tools of a surface deferred again.
    Unload(search::LoadArgs),
    /// Call a tool and follow it to its result.
    Invoke(invoke::InvokeArgs),
    /// Call several tools under one policy and print the results in order.
    Batch(batch::BatchArgs),
    /// Batches: show, list, follow, cancel.
    #[command(subcommand)]
    Batches(batch::BatchesCommand),
    /// Answer the question of a call that needs input.
    Input(answer::InputArgs),
    /// Follow a call from any event on.
    Watch(watch::WatchArgs),
    /// Questions that wait for a person.
    #[command(subcommand)]
    Approvals(approvals::ApprovalsCommand),
    /// Rules: list, add, check, revoke, and say what they would do about a call.
    #[command(subcommand)]
    Rules(rules::RulesCommand),
    /// What taints the calls of sessions: list, and clear.
    #[command(subcommand)]
    Taints(taints::TaintsCommand),
    /// What hooks did about a call.
    #[command(subcommand)]
    Hooks(hooks::HooksCommand),
    /// Make API keys, or certificates for encryption.
    #[command(subcommand)]
    Keys(keys::KeysCommand),
    /// The credentials of this machine's worker: names, kinds, scopes and ages, never values.
    #[command(subcommand)]
    Credentials(credentials::CredentialsCommand),
    /// What the roles keep on disk: check, back up, restore. While they do not run.
    #[command(subcommand)]
    Store(store::StoreCommand),
    /// Show one record: an invocation, a result, a surface, a tool, an approval.
    Get(get::GetArgs),
    /// Tell the whole story of a call: who, what was said, decided, run, kept and masked, how long each step took, what to do next.
    Explain(explain::ExplainArgs),
    /// Write all records of ended calls as a signed chain of lines, which `verify` proves without a cluster.
    Export(export::ExportArgs),
    /// Prove exports: nothing in them was changed, taken out, put in or moved. Without a cluster.
    Verify(verify::VerifyArgs),
    /// Holds: what may not be removed, whoever asks and however old it is.
    #[command(subcommand)]
    Hold(hold::HoldCommand),
    /// Delete ended calls with everything that belongs to them; a tombstone stays.
    Delete(hold::DeleteArgs),
    /// Read bytes a call keeps by reference, whole or in part.
    Fetch(fetch::FetchArgs),
    /// Read what a tool gave before it was cleaned, where policy has it kept for you. Each reading is in the log of the call.
    Original(original::OriginalArgs),
    /// Make links to kept outputs, and list those that nobody names.
    #[command(subcommand)]
    Results(results::ResultsCommand),
    /// Speak MCP on standard input and output, for clients that start their servers as programs.
    Mcp(mcp::McpArgs),
    /// Ask a call to stop.
    Cancel(calls::CancelArgs),
    /// List calls, newest first.
    Ls(calls::LsArgs),
    /// List the workers that run calls, in the whole cluster, and those that were lost.
    Workers(workers::WorkersArgs),
    /// Whether the process at the endpoint can do its work, and what it lacks.
    Status(status::StatusArgs),
    /// Print the completions for a shell, e.g. `source <(toolplane completions bash)`.
    Completions(manual::CompletionsArgs),
    /// Print the manual page, or write a page for every command into a folder.
    Man(manual::ManArgs),
}

/// Parses the process's arguments, runs the command, and reports. Exit codes: 0 done, 1 the tool failed or was denied,
/// 2 wrong usage or an error of the API, 3 the call still waits for a person.
pub fn main() -> ExitCode {
    let typed = Cli::command().get_matches_from(link::typed(std::env::args_os()));
    let cli = Cli::from_arg_matches(&typed).unwrap_or_else(|error| error.format(&mut Cli::command()).exit());
    advised::note(&typed);
    if let Command::Serve(args) = &cli.command {
        return crate::serve::main(args);
    }
    let outcome = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(run(cli)),
        Err(error) => Err(Failure::Local(format!("cannot start the runtime: {error}"))),
    };
    match outcome {
        Ok(CommandOutcome::Done) => ExitCode::SUCCESS,
        Ok(CommandOutcome::ToolFailed) => ExitCode::from(1),
        Ok(CommandOutcome::StillWaiting) => ExitCode::from(3),
        Err(failure) => failure.report(),
    }
}

async fn run(cli: Cli) -> Result<CommandOutcome, Failure> {
    let mut out = Output::standard(cli.output);
    match &cli.command {
        Command::Keys(command) => return keys::run(command, &mut out),
        Command::Store(command) => return store::run(command, &mut out).await,
        Command::Credentials(command) => return credentials::run(command, &mut out).await,
        Command::Verify(args) => return verify::run(args, &mut out),
        Command::Completions(args) => return manual::completions(args, &mut Cli::command(), &mut out),
        Command::Man(args) => return manual::man(args, Cli::command(), &mut out),
        _ => {}
    }
    if let Command::Rules(command) = &cli.command
        && let Some(ended) = rules::run_offline(command, &mut out)
    {
        return ended;
    }
    let connection = Connection::open(&cli.connection).await?;
    match answered(cli.command, &connection, &mut out).await {
        Err(failure) => Err(connection::diagnose(&cli.connection, failure).await),
        ended => ended,
    }
}

/// Runs a command that asks the cluster.
async fn answered(command: Command, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    match command {
        Command::Serve(_)
        | Command::Keys(_)
        | Command::Store(_)
        | Command::Credentials(_)
        | Command::Verify(_)
        | Command::Completions(_)
        | Command::Man(_) => Ok(CommandOutcome::Done),
        Command::Tools(command) => tools::run(command, connection, out).await,
        Command::Providers(command) => providers::run(command, connection, out).await,
        Command::Surface(command) => surface::run(command, connection, out).await,
        Command::Search(args) => search::search(args, connection, out).await,
        Command::Synonyms(command) => synonyms::run(command, connection, out).await,
        Command::Load(args) => search::load(args, connection, out).await,
        Command::Unload(args) => search::unload(args, connection, out).await,
        Command::Invoke(args) => invoke::run(args, connection, out).await,
        Command::Batch(args) => batch::run(args, connection, out).await,
        Command::Batches(command) => batch::batches(command, connection, out).await,
        Command::Input(args) => answer::run(args, connection, out).await,
        Command::Watch(args) => watch::run(args, connection, out).await,
        Command::Approvals(command) => approvals::run(command, connection, out).await,
        Command::Rules(command) => rules::run(command, connection, out).await,
        Command::Taints(command) => taints::run(command, connection, out).await,
        Command::Hooks(command) => hooks::run(command, connection, out).await,
        Command::Get(args) => get::run(args, connection, out).await,
        Command::Export(args) => export::run(args, connection, out).await,
        Command::Hold(command) => hold::run(command, connection, out).await,
        Command::Delete(args) => hold::delete(args, connection, out).await,
        Command::Explain(args) => explain::run(args, connection, out).await,
        Command::Fetch(args) => fetch::run(args, connection, out).await,
        Command::Original(args) => original::run(args, connection, out).await,
        Command::Results(command) => results::run(command, connection, out).await,
        Command::Mcp(args) => mcp::run(args, connection).await,
        Command::Cancel(args) => calls::cancel(args, connection, out).await,
        Command::Ls(args) => calls::list(args, connection, out).await,
        Command::Workers(args) => workers::run(args, connection, out).await,
        Command::Status(args) => status::run(args, connection, out).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// clap's own consistency checks: clashing flags, bad defaults, missing values.
    #[test]
    fn arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    /// How to reach a cluster is told apart from what a command does, in the help of every command.
    #[test]
    fn connection_and_global_options_have_headings_of_their_own() {
        fn check(command: &clap::Command) {
            for argument in command.get_arguments().filter(|argument| argument.is_global_set()) {
                let heading = argument.get_help_heading();
                let expected = if argument.get_id() == "output" { "Global options" } else { "Connection" };
                assert_eq!(heading, Some(expected), "{} of {}", argument.get_id(), command.get_name());
            }
            command.get_subcommands().for_each(check);
        }
        let mut command = Cli::command();
        command.build();
        check(&command);
        let invoke = command.find_subcommand_mut("invoke").unwrap().render_long_help().to_string();
        let (own, rest) = invoke.split_once("Connection:").unwrap();
        assert!(own.contains("--input") && !own.contains("--endpoint") && rest.contains("--endpoint"), "{invoke}");
    }
}
