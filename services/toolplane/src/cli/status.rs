//! `toolplane status`: whether a process can do its work, and what it lacks.

use clap::Args;
use serde_json::json;
use tonic::Code;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use toolplane_records::cluster::ClusterRole;
use toolplane_runtime::health::{REASON, REMARK};

use super::connection::Connection;
use super::failure::Failure;
use super::outcome::CommandOutcome;
use super::output::{Output, Table};

/// Nothing to choose.
#[derive(Debug, Args)]
pub(crate) struct StatusArgs {}

/// What a process says of one of its services.
struct ServiceReport {
    /// What the service lacks; nothing when it is ready.
    lacks: Option<String>,
    /// What should be known of it although it is well.
    remark: Option<String>,
}

/// Asks the process at the endpoint for its health; needs no credential. Exit code 1 when it is not ready.
pub(crate) async fn run(_: StatusArgs, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let mut table = Table::new(&["ROLE", "STATE", "LACKS"]);
    let (mut ready, mut remark) = (true, None);
    for name in ClusterRole::ALL.map(ClusterRole::as_str).into_iter().chain([""]) {
        let Some(said) = ask(connection, name).await? else { continue };
        let state = if said.lacks.is_none() { "ready" } else { "not ready" };
        if name.is_empty() {
            (ready, remark) = (said.lacks.is_none(), said.remark.clone());
        }
        let name = if name.is_empty() { "(all)" } else { name };
        if out.json() {
            let ServiceReport { lacks, remark } = said;
            out.value(
                &json!({ "role": name, "ready": lacks.is_none(), "lacks": lacks, "remark": remark }).to_string(),
            )?;
        } else {
            table.row([name.to_owned(), state.to_owned(), said.lacks.unwrap_or_default()]);
        }
    }
    if !out.json() {
        out.table(&table, "the process serves no role")?;
        remark.iter().try_for_each(|remark| out.line(remark))?;
    }
    Ok(if ready { CommandOutcome::Done } else { CommandOutcome::ToolFailed })
}

/// What a process says of a service; nothing when it does not answer for it.
async fn ask(connection: &Connection, service: &str) -> Result<Option<ServiceReport>, Failure> {
    let request = HealthCheckRequest { service: service.to_owned() };
    let answer = match HealthClient::new(connection.transport()).check(request).await {
        Ok(answer) => answer,
        Err(status) if status.code() == Code::NotFound => return Ok(None),
        Err(status) => return Err(status.into()),
    };
    let header = |name| answer.metadata().get(name).and_then(|said| said.to_str().ok()).map(str::to_owned);
    let lacks = match answer.get_ref().status() {
        ServingStatus::Serving => None,
        _ => Some(header(REASON).unwrap_or_else(|| "it does not say what".to_owned())),
    };
    Ok(Some(ServiceReport { lacks, remark: header(REMARK) }))
}
