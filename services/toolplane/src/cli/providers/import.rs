//! `toolplane providers import`: the MCP servers that a client's configuration file names, as providers.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Map, Value};
use toolplane_proto::v1;
use toolplane_proto::v1::provider::Source;

use super::super::connection::Connection;
use super::super::failure::Failure;
use super::super::outcome::CommandOutcome;
use super::super::output::Output;
use super::add::{self, Trust, Workspace};

mod server;

/// Members of such a file that hold servers by name.
const MEMBERS: [&str; 3] = ["mcpServers", "servers", "context_servers"];

/// Servers of a file.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// A JSON file with `mcpServers` (or `servers`), as clients of MCP keep it, e.g. `.mcp.json`.
    file: PathBuf,
    /// Only this server; may be given several times.
    #[arg(long = "only", value_name = "NAME")]
    only: Vec<String>,
    /// Which of their tools may be called before somebody has looked at them.
    #[arg(long, value_enum, default_value_t = Trust::None)]
    trust: Trust,
    /// A credential of the workers in place of a secret of the file: `env:VARIABLE=NAME`, `header:HEADER=NAME`, `authorization=NAME`,
    /// `query:PARAMETER=NAME`. Each server that has that variable, header or parameter is given it.
    #[arg(long = "credential", value_name = "PLACE=NAME")]
    credentials: Vec<String>,
    /// A host that its programs may reach; may be given several times.
    #[arg(long = "host")]
    hosts: Vec<String>,
    /// A path outside of the workspace that its programs may read.
    #[arg(long = "read", value_name = "PATH")]
    read: Vec<String>,
    /// What its programs may do in the workspace.
    #[arg(long, value_enum, default_value_t = Workspace::None)]
    workspace: Workspace,
    /// Change nothing: only check, ask each server what it has, and tell what that would change.
    #[arg(long)]
    dry_run: bool,
    /// Do not wait for the first answers.
    #[arg(long)]
    no_wait: bool,
}

/// Makes a provider of each server. One that cannot be taken keeps no other back; the command then ends with exit code 1.
pub(super) async fn run(
    args: ImportArgs,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let given = add::placed_credentials(&args.credentials)?;
    let servers = servers(&args.file)?;
    if let Some(unknown) = args.only.iter().find(|name| !servers.contains_key(*name)) {
        return Err(Failure::Usage(format!("`{}` names no server `{unknown}`", args.file.display())));
    }
    let (mut outcome, mut ids) = (CommandOutcome::Done, BTreeSet::new());
    for (name, entry) in servers.iter().filter(|(name, _)| args.only.is_empty() || args.only.contains(*name)) {
        let taken = match server::read(entry, &given) {
            Ok(_) if !ids.insert(provider_id(name)) => {
                Err(Failure::Local("another server of the file has its name".to_owned()))
            }
            Ok(server) => take(name, server, &args, connection, out).await,
            Err(reason) => Err(Failure::Local(reason)),
        };
        match taken {
            Ok(CommandOutcome::Done) => {}
            Ok(other) => outcome = other,
            Err(failure @ (Failure::Api(_) | Failure::Local(_))) if !failure.is_denied() => {
                out.note(&format!("{name}: {failure}"))?;
                outcome = CommandOutcome::ToolFailed;
            }
            Err(failure) => return Err(failure),
        }
    }
    Ok(outcome)
}

async fn take(
    name: &str,
    server: server::Server,
    args: &ImportArgs,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    server.notes.iter().try_for_each(|note| out.note(&format!("{name}: {note}")))?;
    let mut source = server.source;
    if let Source::McpStdio(stdio) = &mut source {
        stdio.read_only_paths.clone_from(&args.read);
        stdio.workspace = args.workspace.of_wire().into();
    }
    let provider = v1::Provider {
        provider_id: provider_id(name),
        title: name.to_owned(),
        source: Some(source),
        reach: Some(v1::Reach { hosts: args.hosts.clone(), ports: Vec::new() }),
        credentials: server.credentials,
        trust: args.trust.of_wire().into(),
        sessions: v1::SessionSharing::Tenant.into(),
        ..Default::default()
    };
    add::put(provider, add::Put { dry_run: args.dry_run, waits: !args.no_wait }, connection, out).await
}

/// The servers of a file, by name.
fn servers(file: &Path) -> Result<Map<String, Value>, Failure> {
    let text = std::fs::read_to_string(file).map_err(|error| Failure::file(file, &error))?;
    let wrong = |what: String| Failure::Local(format!("cannot use `{}`: {what}", file.display()));
    let value: Value = serde_json::from_str(&text).map_err(|error| wrong(format!("it is no JSON: {error}")))?;
    MEMBERS
        .iter()
        .find_map(|member| value.get(member)?.as_object().cloned())
        .ok_or_else(|| wrong(format!("it has no object `{}`", MEMBERS[0])))
}

/// A name that a provider may have, as near to that of the server as it can be.
fn provider_id(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '-' };
    name.chars().map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_found_where_clients_keep_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp.json");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            servers(&path).map(|servers| servers.keys().cloned().collect::<Vec<_>>())
        };
        assert_eq!(read(r#"{"mcpServers":{"a":{},"b":{}}}"#).unwrap(), ["a", "b"]);
        assert_eq!(read(r#"{"inputs":[],"servers":{"a":{}}}"#).unwrap(), ["a"]);
        assert!(read("{}").unwrap_err().to_string().contains("no object `mcpServers`"));
        assert!(read("{").unwrap_err().to_string().contains("no JSON"));
    }

    #[test]
    fn names_become_names_of_providers() {
        for (name, id) in [("github", "github"), ("My Server", "My-Server"), ("a/b.c", "a-b-c")] {
            assert_eq!(provider_id(name), id);
        }
    }
}
