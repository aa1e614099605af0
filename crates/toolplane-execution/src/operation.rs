//! One operation of an HTTP API: the request that a binding and an input make, within the one place it may go to.
//!
//! What the request is and what the answer means is said by `toolplane_openapi`. It is sent as requests of HTTP tools are, with the same
//! checks of addresses and redirects, and with the credentials the binding names.

mod answer;

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use toolplane_catalog::values::Egress;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::operation::OperationBinding;
use toolplane_records::profile::ExecutionBinding;
use toolplane_records::time::Timestamp;
use uuid::Uuid;

use crate::adapter::Adapter;
use crate::call::{Call, Context};
use crate::deadline::bounded;
use crate::failure::{excerpt, invalid_binding, nothing_done};
use crate::http::body::{self, DEFAULT_MAX_BYTES};
use crate::http::{PreparedRequest, Requests};
use crate::outcome::Outcome;
use crate::progress::{Counts, Meter, final_status};

/// Asks for operations.
#[derive(Debug)]
pub(crate) struct Operation {
    requests: Arc<Requests>,
    default_timeout: Duration,
    clock: fn() -> Timestamp,
}

impl Operation {
    pub(crate) fn new(requests: Arc<Requests>, default_timeout: Duration, clock: fn() -> Timestamp) -> Self {
        Self { requests, default_timeout, clock }
    }

    async fn ask(&self, call: &Call, binding: &OperationBinding, meter: &mut Meter) -> Result<Outcome, ToolError> {
        let uses = binding.credential_uses().map_err(|schemes| unbound(&schemes))?;
        let egress = Egress::of_places(std::slice::from_ref(&binding.allowed_host), &[binding.allowed_port]);
        let boundary = Uuid::new_v4().simple().to_string();
        let asked =
            toolplane_openapi::request(binding, &call.input, &boundary).map_err(|error| nothing_done(*error))?;
        egress.check_url(&asked.url).map_err(|error| nothing_done(*error))?;
        let request = PreparedRequest::of_operation(asked, call)?;
        let repeatable = binding.idempotent || request.is_safe();
        let sent = self.requests.send(call, &egress, request, &uses, repeatable).await?;
        let most = binding.max_response_bytes.unwrap_or(DEFAULT_MAX_BYTES);
        let most = call.limits.max_output_bytes.map_or(most, |bytes| bytes.min(most));
        // What the document says of an answer is held against all of it.
        let read = body::read(sent, most, None, meter, &self.requests.credentials).await;
        Ok(answer::outcome(binding, read, (self.clock)()))
    }
}

impl Adapter for Operation {
    fn pool(&self) -> &'static str {
        "openapi"
    }

    fn needs_sandbox(&self) -> bool {
        false
    }

    fn execute<'a>(&'a self, call: &'a Call, context: &'a Context) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let ExecutionBinding::Operation(binding) = &call.binding else {
                return Outcome::failure(invalid_binding("the tool is not bound to an operation"));
            };
            let mut meter = Meter::start(&context.progress);
            let ask = async { self.ask(call, binding, &mut meter).await.unwrap_or_else(Outcome::failure) };
            let outcome = bounded(call.limits.timeout.unwrap_or(self.default_timeout), context, ask).await;
            let counts = Counts { bytes_read: Some(outcome.output_bytes), ..Counts::default() };
            meter.finish(counts, final_status(&outcome));
            outcome
        })
    }
}

/// The document asks for credentials, and nobody has named one.
fn unbound(schemes: &[&str]) -> ToolError {
    let mut schemes: Vec<String> = schemes.iter().map(|scheme| format!("`{}`", excerpt(scheme))).collect();
    schemes.dedup();
    let message = format!("no credential is named for the security scheme {} of the document", schemes.join(", "));
    nothing_done(ToolError::of(codes::CREDENTIAL_MISSING, message))
}
