//! Questions a running tool asks. While it waits for the answer its clock is paused; its lease and its locks stay.

use toolplane_records::invocation::{InputAnswer, Invocation, PendingInput};
use toolplane_records::payload::JsonPayload;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{EventClass, InvocationStatus as Status};

use crate::command::{InputRequest, LeaseKey};
use crate::data::data;
use crate::draft::Draft;
use crate::lease::{execution_backstop, held, saturating_millis};
use crate::message::LeaseMessage;
use crate::transition::{Effect, Refusal, Timer, Transition};

pub(crate) fn request(
    invocation: &Invocation,
    key: &LeaseKey,
    input: InputRequest,
    now: Timestamp,
) -> Result<Transition, Refusal> {
    held(invocation, key)?;
    if let Some(pending) = invocation.pending_input.as_ref().filter(|pending| pending.input_id == input.input_id) {
        return asked_again(invocation, pending, now);
    }
    let mut draft = Draft::of(invocation.clone(), now);
    match invocation.status {
        Status::Running => {}
        Status::PartialResult => draft.silent_status(Status::Running, "input")?,
        status => return Err(Refusal::Illegal { command: "ask for input", status }),
    }
    let ttl = match input.ttl_ms {
        0 => crate::times::INPUT_TTL_MS,
        asked => saturating_millis(asked).min(crate::times::MAX_INPUT_TTL_MS),
    };
    let expires_at = now.plus_millis(ttl);
    let data =
        data! { "input_id": input.input_id, "prompt": input.prompt, "schema": input.schema, "expires_at": expires_at, };
    draft.status(Status::NeedsInput, EventClass::ExtNeedsInput, "input", data)?;
    let InputRequest { input_id, prompt, schema, .. } = input;
    draft.invocation.pending_input =
        Some(PendingInput { input_id, prompt, schema, requested_at: now, expires_at, answer: None });
    draft.invocation.clock_stopped_at = Some(now);
    if let Some(lease) = &mut draft.invocation.lease {
        lease.confirmed = true;
    }
    draft.effect(Effect::ClearTimer(Timer::Execution));
    draft.effect(Effect::SetTimer(Timer::Input, expires_at));
    Ok(draft.done())
}

/// The worker repeats its question: it has not heard the answer, if there is one.
fn asked_again(invocation: &Invocation, pending: &PendingInput, now: Timestamp) -> Result<Transition, Refusal> {
    let Some(answer) = &pending.answer else { return Err(Refusal::NothingToDo) };
    let mut draft = Draft::of(invocation.clone(), now);
    send(&mut draft, &pending.input_id, answer);
    Ok(draft.done())
}

pub(crate) fn provide(
    invocation: &Invocation,
    input_id: &str,
    input: Option<JsonPayload>,
    by: String,
    now: Timestamp,
) -> Result<Transition, Refusal> {
    answer(invocation, input_id, InputAnswer { input, provided_by: by, expired: false, answered_at: now }, now)
}

/// There was no answer in time: the tool is told so and goes on.
pub(crate) fn expire(invocation: &Invocation, now: Timestamp) -> Result<Transition, Refusal> {
    match &invocation.pending_input {
        Some(pending) if pending.answer.is_none() && pending.expires_at <= now => {
            let nothing = InputAnswer { input: None, provided_by: String::new(), expired: true, answered_at: now };
            answer(invocation, &pending.input_id, nothing, now)
        }
        _ => Err(Refusal::NothingToDo),
    }
}

fn answer(invocation: &Invocation, input_id: &str, answer: InputAnswer, now: Timestamp) -> Result<Transition, Refusal> {
    match &invocation.pending_input {
        Some(pending) if pending.input_id == input_id && pending.answer.is_none() => {}
        // The first answer counts.
        Some(pending) if pending.input_id == input_id => return Err(Refusal::NothingToDo),
        _ => return Err(Refusal::Illegal { command: "provide input", status: invocation.status }),
    }
    let mut draft = Draft::of(invocation.clone(), now);
    let data = data! { "input_id": input_id,
    "provided_by": answer.provided_by,
    "declined": answer.input.is_none() && !answer.expired,
    "expired": answer.expired, };
    draft.status(Status::Running, EventClass::ExtInputProvided, "input", data)?;
    if let Some(stopped_at) = draft.invocation.clock_stopped_at.take() {
        let stood_still = u64::try_from(now.since_millis(stopped_at)).unwrap_or(0);
        draft.invocation.clock_paused_ms = draft.invocation.clock_paused_ms.saturating_add(stood_still);
    }
    draft.effect(Effect::ClearTimer(Timer::Input));
    if let Some(backstop) = execution_backstop(&draft.invocation) {
        draft.effect(Effect::SetTimer(Timer::Execution, backstop));
    }
    send(&mut draft, input_id, &answer);
    if let Some(pending) = &mut draft.invocation.pending_input {
        pending.answer = Some(answer);
    }
    Ok(draft.done())
}

fn send(draft: &mut Draft, input_id: &str, answer: &InputAnswer) {
    if let Some(lease) = &draft.invocation.lease {
        let message = LeaseMessage::Input {
            lease: LeaseKey::of(&draft.invocation, lease),
            input_id: input_id.to_owned(),
            input: answer.input.clone(),
            expired: answer.expired,
        };
        draft.effect(Effect::Tell(message));
    }
}
