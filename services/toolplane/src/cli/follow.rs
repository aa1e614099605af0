//! Following one call to its result, over broken connections and restarts of the cluster.

use tonic::{Code, Status, Streaming};
use toolplane_proto::v1;

use super::connection::Connection;
use super::failure::Failure;
use super::outage::{Outage, PAUSE};

/// What is learned on the way.
#[derive(Debug)]
pub(crate) enum CallUpdate<'a> {
    /// The call is on record.
    Accepted(&'a v1::Acceptance),
    /// Something happened; sequences are gapless and come once each.
    Event(&'a v1::Event),
    /// The same, or the end of the call, in the form that was asked for. Where the connection breaks, one may come twice.
    Formed(&'a v1::Formed),
    /// The connection broke; it is being made again.
    Broken(&'a Status),
}

/// Makes a call and follows it. An error before acceptance means that there is no call.
pub(crate) async fn call(
    connection: &Connection,
    spec: v1::InvocationSpec,
    on_step: &mut impl FnMut(CallUpdate<'_>),
) -> Result<v1::ToolResult, Failure> {
    let request = v1::InvokeRequest { spec: Some(spec), ..Default::default() };
    let mut stream = connection.invocations().invoke(request).await?.into_inner();
    let mut accepted = None;
    let mut next = 1;
    loop {
        match stream.message().await {
            Ok(Some(message)) => {
                if let Some(acceptance) = &message.accepted {
                    accepted = Some(acceptance.invocation_id.clone());
                    on_step(CallUpdate::Accepted(acceptance));
                }
                deliver(&message.events, &mut next, on_step);
                if let Some(result) = message.result {
                    return Ok(*result);
                }
            }
            Ok(None) => break,
            Err(status) if accepted.is_some() && is_break(&status) => {
                on_step(CallUpdate::Broken(&status));
                break;
            }
            Err(status) => return Err(status.into()),
        }
    }
    match accepted {
        Some(invocation_id) => watch(connection, &invocation_id, next, None, on_step).await,
        None => Err(Failure::Answer("the stream ended before the call was accepted".to_owned())),
    }
}

/// Follows a call from event `next` on.
pub(crate) async fn watch(
    connection: &Connection,
    invocation_id: &str,
    mut next: u64,
    form: Option<v1::FormSpec>,
    on_step: &mut impl FnMut(CallUpdate<'_>),
) -> Result<v1::ToolResult, Failure> {
    let mut outage = Outage::none();
    loop {
        let before = next;
        match watch_once(connection, invocation_id, &mut next, &form, &mut outage, on_step).await {
            Ok(Some(result)) => return Ok(result),
            Ok(None) => {}
            Err(status) if is_break(&status) && outage.may_end() => {
                if outage.is_news() {
                    on_step(CallUpdate::Broken(&status));
                }
            }
            Err(status) => return Err(status.into()),
        }
        if next > before {
            outage.heard();
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// One stream, until its result or its end.
async fn watch_once(
    connection: &Connection,
    invocation_id: &str,
    next: &mut u64,
    form: &Option<v1::FormSpec>,
    outage: &mut Outage,
    on_step: &mut impl FnMut(CallUpdate<'_>),
) -> Result<Option<v1::ToolResult>, Status> {
    let request =
        v1::WatchInvocationRequest { invocation_id: invocation_id.to_owned(), from_seq: *next, form: form.clone() };
    let mut stream: Streaming<v1::WatchInvocationResponse> =
        connection.invocations().watch_invocation(request).await?.into_inner();
    outage.opened();
    while let Some(message) = stream.message().await? {
        message.formed.iter().for_each(|formed| on_step(CallUpdate::Formed(formed)));
        deliver(&message.events, next, on_step);
        if message.result.is_some() {
            return Ok(message.result.map(|result| *result));
        }
    }
    Ok(None)
}

fn deliver(events: &[v1::Event], next: &mut u64, on_step: &mut impl FnMut(CallUpdate<'_>)) {
    for event in events {
        // A stream that was made again may start a little earlier than asked.
        if event.sequence >= *next {
            *next = event.sequence + 1;
            on_step(CallUpdate::Event(event));
        }
    }
}

/// The connection or the server went away; the call itself goes on.
pub(super) fn is_break(status: &Status) -> bool {
    matches!(status.code(), Code::Unavailable | Code::Unknown | Code::Internal | Code::Cancelled | Code::Aborted)
}
