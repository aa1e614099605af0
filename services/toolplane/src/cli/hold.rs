//! `toolplane hold` and `toolplane delete`: what may not be removed, and removing what may.

use clap::{Args, Subcommand};
use serde_json::json;
use toolplane_proto::v1;
use toolplane_proto::v1::legal_hold::Scope;

use super::connection::Connection;
use super::failure::Failure;
use super::outcome::CommandOutcome;
use super::output::{Output, Table, instant};

/// What can be done with holds.
#[derive(Debug, Subcommand)]
pub(crate) enum HoldCommand {
    /// Put a hold on a call, a session or everything of the tenant: nothing of it is removed, whoever asks and however old it is.
    Set(SetArgs),
    /// Take a hold away.
    Clear(ClearArgs),
    /// List all holds of the tenant.
    #[command(alias = "ls")]
    List,
}

/// What a hold is on.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct WhatArgs {
    /// The call.
    id: Option<String>,
    /// Every call of this session.
    #[arg(long)]
    session: Option<String>,
    /// Every call of the tenant.
    #[arg(long)]
    tenant: bool,
}

/// A new hold.
#[derive(Debug, Args)]
pub(crate) struct SetArgs {
    #[command(flatten)]
    what: WhatArgs,
    /// Why, for the record.
    #[arg(long)]
    reason: String,
    /// Who asks; counts only where the credential names no actor.
    #[arg(long = "as", env = "USER", default_value = "")]
    who: String,
}

/// A hold that goes.
#[derive(Debug, Args)]
pub(crate) struct ClearArgs {
    #[command(flatten)]
    what: WhatArgs,
    /// Who asks; counts only where the credential names no actor.
    #[arg(long = "as", env = "USER", default_value = "")]
    who: String,
}

/// What is deleted.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["id", "session"]))]
pub(crate) struct DeleteArgs {
    /// The call; it must have ended.
    id: Option<String>,
    /// Every call of this session that has ended.
    #[arg(long)]
    session: Option<String>,
    /// Why, for the record.
    #[arg(long)]
    reason: String,
    /// Who asks; counts only where the credential names no actor.
    #[arg(long = "as", env = "USER", default_value = "")]
    who: String,
}

impl WhatArgs {
    fn scope(self) -> Scope {
        match (self.id, self.session) {
            (Some(id), _) => Scope::InvocationId(id),
            (None, Some(session)) => Scope::SessionRef(session),
            (None, None) => Scope::Tenant(true),
        }
    }
}

/// Runs one of the commands.
pub(crate) async fn run(
    command: HoldCommand,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    match command {
        HoldCommand::Set(args) => {
            use v1::set_legal_hold_request::Scope as Of;
            let scope = match args.what.scope() {
                Scope::Tenant(all) => Of::Tenant(all),
                Scope::SessionRef(session) => Of::SessionRef(session),
                Scope::InvocationId(id) => Of::InvocationId(id),
            };
            let request = v1::SetLegalHoldRequest { scope: Some(scope), reason: args.reason, requested_by: args.who };
            let answer = connection.invocations().set_legal_hold(request).await?.into_inner();
            show(answer.hold.as_slice(), out)?;
        }
        HoldCommand::Clear(args) => {
            use v1::clear_legal_hold_request::Scope as Of;
            let scope = match args.what.scope() {
                Scope::Tenant(all) => Of::Tenant(all),
                Scope::SessionRef(session) => Of::SessionRef(session),
                Scope::InvocationId(id) => Of::InvocationId(id),
            };
            let request = v1::ClearLegalHoldRequest { scope: Some(scope), requested_by: args.who };
            connection.invocations().clear_legal_hold(request).await?;
            out.note("the hold is cleared")?;
        }
        HoldCommand::List => {
            let answer = connection.invocations().list_legal_holds(v1::ListLegalHoldsRequest {}).await?.into_inner();
            show(&answer.holds, out)?;
        }
    }
    Ok(CommandOutcome::Done)
}

fn show(holds: &[v1::LegalHold], out: &mut Output) -> Result<(), Failure> {
    let on = |hold: &v1::LegalHold| match &hold.scope {
        Some(Scope::InvocationId(id)) => ("call", id.clone()),
        Some(Scope::SessionRef(session)) => ("session", session.clone()),
        _ => ("tenant", String::new()),
    };
    if out.json() {
        return holds.iter().try_for_each(|hold| {
            let (scope, id) = on(hold);
            let set_at = instant(hold.set_at.as_ref());
            out.serialized(&json!({
                "scope": scope, "id": id, "reason": hold.reason, "set_by": hold.set_by, "set_at": set_at,
            }))
        });
    }
    let mut table = Table::new(&["ON", "ID", "SINCE", "BY", "REASON"]);
    for hold in holds {
        let (scope, id) = on(hold);
        let set_at = instant(hold.set_at.as_ref());
        table.row([scope.to_owned(), id, set_at, hold.set_by.clone(), hold.reason.clone()]);
    }
    out.table(&table, "there is no hold")
}

/// Deletes calls.
pub(crate) async fn delete(
    args: DeleteArgs,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    use v1::delete_invocations_request::What;
    let what = match (args.id, args.session) {
        (Some(id), _) => Some(What::InvocationId(id)),
        (None, session) => session.map(What::SessionRef),
    };
    let request = v1::DeleteInvocationsRequest { what, reason: args.reason, requested_by: args.who };
    let mut all = v1::DeleteInvocationsResponse::default();
    loop {
        let answer = connection.invocations().delete_invocations(request.clone()).await?.into_inner();
        all.deleted += answer.deleted;
        (all.held, all.living, all.more) = (answer.held, answer.living, answer.more);
        if !answer.more || answer.deleted == 0 {
            break;
        }
    }
    let v1::DeleteInvocationsResponse { deleted, held, living, .. } = all;
    if out.json() {
        out.serialized(&json!({ "deleted": deleted, "held": held, "living": living }))?;
    } else {
        out.line(format!("{deleted} deleted"))?;
        if held > 0 {
            out.line(format!("{held} kept by a hold"))?;
        }
        if living > 0 {
            out.line(format!("not ended yet, so not deleted: {living}"))?;
        }
    }
    // Whoever has to erase a session is not told that it is done.
    Ok(if held + living > 0 { CommandOutcome::ToolFailed } else { CommandOutcome::Done })
}
