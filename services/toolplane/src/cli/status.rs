//! `toolplane status`: whether a process can do its work, and what it lacks.

use clap::Args;
use serde_json::json;
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use toolplane_runtime::health::REASON;

use super::connection::Connection;
use super::output::{Output, Table};
use super::{Ending, Failure};

/// What a process may answer for; roles by their names.
const NAMES: [&str; 4] = ["surface", "permission", "scheduler", "executor"];

/// Nothing to choose.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {}

/// Asks the process at the endpoint for its health; needs no credential. Exit code 1 when it is not ready.
pub(crate) async fn run(_: StatusArgs, connection: &Connection, out: &mut Output) -> Result<Ending, Failure> {
    let mut table = Table::new(&["ROLE", "STATE", "LACKS"]);
    let mut ready = true;
    for name in NAMES.into_iter().chain([""]) {
        let Some(lacks) = lacks(connection, name).await? else { continue };
        let state = if lacks.is_none() { "ready" } else { "not ready" };
        if name.is_empty() {
            ready = lacks.is_none();
        }
        let name = if name.is_empty() { "(all)" } else { name };
        if out.json() {
            out.value(&json!({ "role": name, "ready": lacks.is_none(), "lacks": lacks }).to_string())?;
        } else {
            table.row([name.to_owned(), state.to_owned(), lacks.unwrap_or_default()]);
        }
    }
    if !out.json() {
        out.table(&table, "the process answers for nothing")?;
    }
    Ok(if ready { Ending::Done } else { Ending::ToolFailed })
}

/// What a service lacks, nothing when it is ready; `None` when the process does not answer for it.
async fn lacks(connection: &Connection, service: &str) -> Result<Option<Option<String>>, Failure> {
    let request = HealthCheckRequest { service: service.to_owned() };
    let answer = match HealthClient::new(connection.transport()).check(request).await {
        Ok(answer) => answer,
        Err(status) if status.code() == Code::NotFound => return Ok(None),
        Err(status) => return Err(status.into()),
    };
    if answer.get_ref().status() == ServingStatus::Serving {
        return Ok(Some(None));
    }
    let said = answer.metadata().get(REASON).and_then(|reason| reason.to_str().ok());
    Ok(Some(Some(said.unwrap_or("it does not say what").to_owned())))
}
