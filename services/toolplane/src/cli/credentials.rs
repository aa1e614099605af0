//! `toolplane credentials`: what the worker of this machine is configured to hold, looked at from here. Never a value, a path or the name of
//! a variable.

use std::sync::Arc;
use std::time::Duration;

use clap::Subcommand;
use serde_json::{Value, json};
use toolplane_credentials::{Broker, BrokerOptions, CredentialStatus, HttpTokens, ScopeTexts};

use super::failure::Failure;
use super::outcome::CommandOutcome;
use super::output::{Output, Table, duration};
use super::store::ConfigArgs;

/// What to do with credentials. Exit codes: 0 all are there, 1 one is not, 2 it could not be done.
#[derive(Debug, Subcommand)]
pub(crate) enum CredentialsCommand {
    /// List the credentials of the configuration, with what their files and programs give now. Token servers are not asked.
    Ls {
        #[command(flatten)]
        config: ConfigArgs,
    },
    /// Look at the source of each credential, token servers too, and say what is wrong.
    Test {
        /// Only these; all of them when none is named.
        names: Vec<String>,
        #[command(flatten)]
        config: ConfigArgs,
    },
}

/// Runs the command.
pub(crate) async fn run(command: &CredentialsCommand, out: &mut Output) -> Result<CommandOutcome, Failure> {
    match command {
        CredentialsCommand::Ls { config } => {
            let broker = broker(config)?;
            broker.load().await;
            show(&broker.names(), out)
        }
        CredentialsCommand::Test { names, config } => test(&broker(config)?, names, out).await,
    }
}

fn broker(config: &ConfigArgs) -> Result<Broker, Failure> {
    let credentials = config.load()?.credentials;
    let tokens = HttpTokens::usual().map_err(|error| Failure::Local(format!("TLS cannot be set up: {error}")))?;
    Broker::new(BrokerOptions::new(credentials, Arc::new(tokens))).map_err(|fault| Failure::Usage(fault.to_string()))
}

async fn test(broker: &Broker, names: &[String], out: &mut Output) -> Result<CommandOutcome, Failure> {
    let known: Vec<String> = broker.names().into_iter().map(|status| status.name).collect();
    if let Some(unknown) = names.iter().find(|name| !known.contains(name)) {
        return Err(Failure::Usage(format!("the configuration has no credential `{unknown}`")));
    }
    let wanted = if names.is_empty() { &known } else { names };
    let mut all_there = true;
    for name in wanted {
        let tested = broker.test(name).await;
        all_there &= tested.is_ok();
        let (code, said) = match &tested {
            Ok(_) => ("ok", "it is there".to_owned()),
            Err(error) => (error.code().as_str(), error.to_string()),
        };
        if out.json() {
            out.serialized(&json!({ "name": name, "ok": tested.is_ok(), "code": code, "message": said }))?;
        } else {
            out.line(format!("{name}  {code}: {said}"))?;
        }
    }
    if wanted.is_empty() && !out.json() {
        out.note("no credentials are configured: `[[credentials]]` of the worker's configuration names them")?;
    }
    Ok(if all_there { CommandOutcome::Done } else { CommandOutcome::ToolFailed })
}

fn show(all: &[CredentialStatus], out: &mut Output) -> Result<CommandOutcome, Failure> {
    let ended = match all.iter().all(|status| status.available) {
        true => CommandOutcome::Done,
        false => CommandOutcome::ToolFailed,
    };
    if out.json() {
        all.iter().try_for_each(|status| out.serialized(&record(status)))?;
        return Ok(ended);
    }
    let mut table = Table::new(&["CREDENTIAL", "KIND", "SOURCE", "STATE", "AGE", "FOR"]);
    for status in all {
        table.row([
            status.name.clone(),
            status.kind.to_owned(),
            status.source.to_owned(),
            state(status).to_owned(),
            status.file_age.map_or_else(|| "-".to_owned(), duration),
            scope(&status.scope),
        ]);
    }
    out.table(&table, "no credentials; `[[credentials]]` of the worker's configuration names them")?;
    for status in all {
        if let Some((code, text)) = &status.fault {
            out.note(&format!("{} ({}): {text}", status.name, code.as_str()))?;
        }
    }
    Ok(ended)
}

/// A token that nobody asked for yet is neither there nor missing.
fn state(status: &CredentialStatus) -> &'static str {
    match (status.available, status.generation) {
        (false, _) => "missing",
        (true, 0) => "not asked",
        (true, _) => "there",
    }
}

fn scope(scope: &ScopeTexts) -> String {
    let lists =
        [("provider", &scope.providers), ("tool", &scope.tools), ("tenant", &scope.tenants), ("actor", &scope.actors)];
    let told = lists.into_iter().filter_map(|(what, list)| Some(format!("{what} {}", list.as_ref()?.join(","))));
    told.collect::<Vec<_>>().join("; ")
}

fn record(status: &CredentialStatus) -> Value {
    let seconds = |age: Option<Duration>| age.map(|age| age.as_secs());
    let ScopeTexts { providers, tools, tenants, actors } = &status.scope;
    json!({
        "name": status.name,
        "kind": status.kind,
        "source": status.source,
        "state": state(status),
        "age_seconds": seconds(status.file_age),
        "scope": { "providers": providers, "tools": tools, "tenants": tenants, "actors": actors },
        "fault": status.fault.as_ref().map(|(code, text)| json!({ "code": code.as_str(), "message": text })),
    })
}
