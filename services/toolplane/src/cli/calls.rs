//! `toolplane ls` and `toolplane cancel`: calls as a list, and asking one to stop.

use std::time::Duration;

use clap::Args;
use toolplane_proto::v1;
use toolplane_records::invocation::{InputBodies, Invocation};
use toolplane_records::vocabulary::AbortReason;

use super::advised;
use super::connection::Connection;
use super::failure::Failure;
use super::outcome::CommandOutcome;
use super::output::{Output, Table, age, duration};

/// Which calls are listed.
#[derive(Debug, Args)]
pub(crate) struct LsArgs {
    /// Only this status, e.g. running or awaiting_approval.
    #[arg(long, default_value = "")]
    status: String,
    /// Only this tool, by id.
    #[arg(long, default_value = "")]
    tool: String,
    /// Only this surface.
    #[arg(long, default_value = "")]
    surface: String,
    /// Only calls of this session.
    #[arg(long, default_value = "")]
    session: String,
    /// Only calls of this batch.
    #[arg(long, default_value = "")]
    batch: String,
    /// Only calls accepted under this idempotency key.
    #[arg(long, default_value = "")]
    key: String,
    /// Most calls listed.
    #[arg(long, default_value_t = 50)]
    limit: usize,
}

/// What is to stop.
#[derive(Debug, Args)]
pub(crate) struct CancelArgs {
    /// The call.
    id: String,
    /// Why, for the record.
    #[arg(long, default_value = "")]
    reason: String,
    /// The model stream that made the call is thrown away: its result is discarded, for it has no reader.
    #[arg(long)]
    fallback: bool,
    /// Who asks; counts only where the credential names no actor.
    #[arg(long = "as", env = "USER", default_value = "")]
    who: String,
}

/// Lists calls, newest first.
pub(crate) async fn list(args: LsArgs, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let filters = [&args.status, &args.tool, &args.surface, &args.session, &args.batch, &args.key];
    let all = args.limit > 0 && filters.iter().all(|filter| filter.is_empty());
    let mut request = v1::ListInvocationsRequest {
        status: args.status,
        tool_id: args.tool,
        surface_id: args.surface,
        session_ref: args.session,
        batch_id: args.batch,
        idempotency_key: args.key,
        page_size: i32::try_from(args.limit.min(200)).unwrap_or(200),
        ..Default::default()
    };
    let mut table = Table::new(&["CALL", "TOOL", "STATUS", "AGE", "TOOK", "ATTEMPT", "CALLED BY"]);
    let mut left = args.limit;
    while left > 0 {
        let page = connection.invocations().list_invocations(request.clone()).await?.into_inner();
        for call in page.invocations.into_iter().take(left) {
            left -= 1;
            if out.json() {
                print_record(call, out)?;
                continue;
            }
            table.row([
                call.invocation_id.clone(),
                call.tool_name.clone(),
                call.status.clone(),
                age(call.created_at.as_ref()),
                took(&call),
                call.attempt.to_string(),
                called_by(&call),
            ]);
        }
        super::surface::left_out(&page.damaged_ids, out)?;
        if page.next_page_token.is_empty() {
            break;
        }
        request.page_token = page.next_page_token;
    }
    if !out.json() {
        let none = if all { "no calls; make one with `toolplane invoke TOOL --input JSON`" } else { "no call fits" };
        let none = &advised::in_text(none);
        out.table(&table, none)?;
    }
    Ok(CommandOutcome::Done)
}

/// The call as the standard's JSON, inputs by reference.
pub(crate) fn print_record(call: v1::Invocation, out: &mut Output) -> Result<(), Failure> {
    let record = Invocation::try_from(call).map_err(|error| Failure::Answer(error.to_string()))?;
    out.value(record.to_json(&InputBodies::default()).text())
}

/// Who called: the proven identity, and beside that the name the call was made in, when it is another one.
pub(crate) fn called_by(call: &v1::Invocation) -> String {
    let said = call.actor_ref.as_deref().unwrap_or_default();
    let proved = [call.caller_actor.as_deref(), call.caller_ref.as_deref()];
    match proved.into_iter().flatten().find(|name| !name.is_empty()) {
        None => said.to_owned(),
        Some(proved) if said.is_empty() || said == proved => proved.to_owned(),
        Some(proved) => format!("{proved} (as {said})"),
    }
}

/// Time from acceptance to the end.
fn took(call: &v1::Invocation) -> String {
    let (Some(from), Some(to)) = (call.created_at, call.ended_at) else { return "-".to_owned() };
    let millis = (to.seconds - from.seconds) * 1000 + i64::from(to.nanos - from.nanos) / 1_000_000;
    duration(Duration::from_millis(u64::try_from(millis).unwrap_or_default()))
}

/// Asks a call to stop. The answer says what was asked; the result says what came of it.
pub(crate) async fn cancel(
    args: CancelArgs,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let request = v1::CancelInvocationRequest {
        invocation_id: args.id,
        reason: args.reason,
        requested_by: args.who,
        request_id: uuid::Uuid::now_v7().to_string(),
        abort_reason: if args.fallback { AbortReason::Fallback.as_str().to_owned() } else { String::new() },
    };
    let answer = connection.invocations().cancel_invocation(request).await?.into_inner();
    let call = answer.invocation.ok_or_else(|| Failure::Answer("the invocation is missing".to_owned()))?;
    if out.json() {
        print_record(call, out)?;
        return Ok(CommandOutcome::Done);
    }
    let said = match answer.cancel.and_then(|cancel| cancel.failed).as_deref() {
        // What it gave is not told yet; a person who is asked about that is not asked any more.
        Some("completed_first" | "ended_first") if call.ended_at.is_none() => {
            "its tool ended first; the result follows"
        }
        Some("completed_first" | "ended_first") => "it ended first",
        Some("unsupported") => "its tool cannot be stopped while it runs",
        Some(other) => other,
        None if call.ended_at.is_some() => "it has stopped",
        None => "asked to stop",
    }
    .to_owned();
    out.line(format!("{}  {}: {said}", call.invocation_id, call.status))?;
    Ok(CommandOutcome::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(said: &str, actor: &str, credential: &str, expected: &str) {
        let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let call = v1::Invocation {
            actor_ref: given(said),
            caller_actor: given(actor),
            caller_ref: given(credential),
            ..Default::default()
        };
        assert_eq!(called_by(&call), expected);
    }

    #[test]
    fn who_called_is_who_proved_it() {
        check("night-agent", "", "", "night-agent");
        check("night-agent", "bot-1", "key:bot", "bot-1 (as night-agent)");
        check("night-agent", "", "key:bot", "key:bot (as night-agent)");
        check("bot-1", "bot-1", "key:bot", "bot-1");
        check("", "", "key:bot", "key:bot");
    }
}
