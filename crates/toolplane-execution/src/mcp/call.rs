//! One call: a session, the request, and once more where nothing was sent.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::time::Instant;
use toolplane_mcp::{Failure, LendError, Lent, ToolCall, ToolList};
use toolplane_records::error::ToolError;
use toolplane_records::mcp::McpBinding;
use toolplane_records::payload::JsonPayload;
use toolplane_records::vocabulary::ErrorClass;

use super::answer::{self, Evidence};
use super::stdio::{ServerGuard, ServerRun};
use super::watch::CallWatch;
use super::{Mcp, Prepared, fault};
use crate::call::{Call, Context};
use crate::failure::{canceled, invalid_input, nothing_done, timed_out};
use crate::outcome::Outcome;

/// Most bytes of an input: a message of the protocol holds it, and a little more.
const MAX_INPUT_BYTES: u64 = 8 * 1024 * 1024 - 64 * 1024;

/// What a server gave.
enum Given {
    Answer(toolplane_mcp::ToolAnswer),
    List(Box<ToolList>),
}

/// The time of a call until it has a session.
#[derive(Clone, Copy)]
struct Time {
    timeout: Duration,
    deadline: Instant,
}

impl Mcp {
    /// Runs one call to its end.
    pub(super) async fn run(
        &self,
        call: &Call,
        binding: &McpBinding,
        context: &Context,
        watch: &CallWatch<'_>,
    ) -> Outcome {
        let timeout = call.limits.timeout.unwrap_or(self.default_timeout);
        let time = Time { timeout, deadline: Instant::now() + timeout };
        if let Err(error) = check_input(call, binding) {
            return Outcome::failure(error);
        }
        let mut prepared = match within(time, context, self.prepared(call, binding)).await {
            Ok(Ok(prepared)) => prepared,
            Ok(Err(error)) | Err(error) => return Outcome::failure(error),
        };
        let mut outcome = prepared.tried(time, context, watch).await;
        if is_refused(&outcome) {
            prepared.injections.refused();
            // Nothing was done: with a newer credential it is tried once more.
            if let Ok(Ok(anew)) = within(time, context, self.prepared(call, binding)).await
                && anew.injections.differs_from(&prepared.injections)
            {
                prepared = anew;
                outcome = prepared.tried(time, context, watch).await;
                if is_refused(&outcome) {
                    prepared.injections.refused();
                }
            }
        }
        if prepared.key.scope.is_over_with_its_call() {
            self.sessions.let_go(|key| *key == prepared.key);
        }
        outcome
    }
}

/// Whether the server refused the credentials (status 401).
fn is_refused(outcome: &Outcome) -> bool {
    outcome.error.as_ref().is_some_and(|error| error.error_class == ErrorClass::CredentialMissing)
}

impl Prepared<'_> {
    /// Makes the call, and a second time with another session where nothing of the first try has left.
    async fn tried(&self, time: Time, context: &Context, watch: &CallWatch<'_>) -> Outcome {
        let mut retried = false;
        loop {
            let lent = match within(time, context, self.lent()).await {
                Ok(Ok(lent)) => lent,
                Ok(Err(error)) | Err(error) => return Outcome::failure(error),
            };
            if context.kill.is_thrown() {
                // The server is not to go because of a call that is over already.
                return Outcome::failure(nothing_done(canceled()));
            }
            let (given, mut evidence, run) = self.once(lent, time, context, watch).await;
            evidence.retried = retried;
            match given {
                Err(Failure::NotSent(_)) if !retried => {
                    retried = true;
                    self.mcp.sessions.let_go(|key| *key == self.key);
                }
                Err(failure) => return self.failed(&failure, time, evidence, run).await,
                Ok(Given::Answer(given)) => {
                    return answer::outcome(given, self.call.limits.max_output_bytes, evidence);
                }
                Ok(Given::List(list)) => return answer::listed(&list, evidence),
            }
        }
    }

    async fn lent(&self) -> Result<Lent, ToolError> {
        let start = || -> BoxFuture<'_, _> { Box::pin(self.start()) };
        let lent = self.mcp.sessions.lend(&self.key, &start).await;
        lent.map_err(|error| match self.fault.lock().take() {
            Some(fault) if !matches!(error, LendError::AllInUse(_) | LendError::LeftAlone { .. }) => {
                nothing_done(fault)
            }
            _ => self.not_lent(&error),
        })
    }

    /// Why there is no session, with the last the server said of it.
    fn not_lent(&self, error: &LendError) -> ToolError {
        let error = fault::of_lending(error);
        let said = self.run.lock().as_ref().and_then(|run| run.last_words());
        match said {
            Some(said) => ToolError { message: format!("{}; it says `{said}`", error.message), ..error },
            None => error,
        }
    }

    /// One try on one session, which is given back.
    async fn once(
        &self,
        lent: Lent,
        time: Time,
        context: &Context,
        watch: &CallWatch<'_>,
    ) -> (Result<Given, Failure>, Evidence, Option<Arc<ServerRun>>) {
        let run = lent.guard().downcast_ref::<ServerGuard>().map(|guard| Arc::clone(&guard.0));
        let _armed = run.as_ref().map(|run| context.kill.arm_for_now(run.killer.clone()));
        let given = match &self.binding.tool {
            Some(tool) => self.called(&lent, tool, time, context, watch).await.map(Given::Answer),
            None => listed(&lent, time, context).await.map(|list| Given::List(Box::new(list))),
        };
        let evidence = Evidence::of(&lent, watch.seen());
        (given, evidence, run)
    }

    async fn called(
        &self,
        lent: &Lent,
        tool: &str,
        time: Time,
        context: &Context,
        watch: &CallWatch<'_>,
    ) -> Result<toolplane_mcp::ToolAnswer, Failure> {
        let call = ToolCall {
            tool,
            arguments: &self.call.input,
            headers: &self.binding.header_parameters,
            deadline: Some(time.deadline),
            cancel: &context.cancel,
            watch,
            trace: &context.trace,
        };
        lent.call_tool(call).await
    }

    async fn failed(
        &self,
        failure: &Failure,
        time: Time,
        mut evidence: Evidence,
        run: Option<Arc<ServerRun>>,
    ) -> Outcome {
        let mut error = fault::of_failure(failure, time.timeout);
        if self.binding.tool.is_none() {
            // Asking what there is does nothing.
            error = nothing_done(error);
        }
        if let (Failure::Lost(_), Some(run)) = (failure, run)
            && let Some(fate) = run.fate().await
        {
            error.message = format!("{}: {}", error.message, fate.how);
            error.evidence_refs = fate.violations.clone();
            evidence.ended = Some(fate.how);
            evidence.violations = fate.violations;
        }
        // A request that was refused on the way says more than that it was not sent.
        if let (Failure::NotSent(_), Some(fault)) = (failure, self.fault.lock().take()) {
            error = nothing_done(fault);
        }
        let mut outcome = Outcome::failure(error);
        outcome.evidence = Some(JsonPayload::of(&evidence));
        outcome
    }
}

/// Asks what the server has; every page has a bound of its own as well.
async fn listed(lent: &Lent, time: Time, context: &Context) -> Result<ToolList, Failure> {
    match tokio::time::timeout_at(time.deadline, lent.list_tools(&context.cancel)).await {
        Ok(listed) => listed,
        Err(_) => Err(Failure::TimedOut { sent: true }),
    }
}

/// `work` before anything was sent: it ends early with the call, or with its time.
async fn within<T>(time: Time, context: &Context, work: impl Future<Output = T>) -> Result<T, ToolError> {
    tokio::select! {
        biased;
        () = context.cancel.cancelled() => Err(nothing_done(canceled())),
        done = work => Ok(done),
        () = tokio::time::sleep_until(time.deadline) => Err(nothing_done(timed_out(time.timeout.as_secs_f64()))),
    }
}

fn check_input(call: &Call, binding: &McpBinding) -> Result<(), ToolError> {
    if binding.tool.is_none() {
        return Ok(());
    }
    if !call.input.text().trim_start().starts_with('{') {
        return Err(invalid_input("", "must be an object: arguments of an MCP tool are one"));
    }
    match call.input.size() > MAX_INPUT_BYTES {
        true => Err(invalid_input("", format!("has more than {MAX_INPUT_BYTES} bytes"))),
        false => Ok(()),
    }
}
