//! Hooks that are services behind `HookService`.

use std::path::Path;
use std::time::Duration;

use toolplane_proto::convert::payload::ingest;
use toolplane_proto::convert::word::Word as _;
use toolplane_proto::convert::{ConvertError, field, word};
use toolplane_proto::v1;
use toolplane_proto::v1::hook_service_client::HookServiceClient;
use toolplane_records::assurance::Confidence;
use toolplane_records::json::JsonLimits;
use toolplane_records::payload::JsonPayload;
use toolplane_records::vocabulary::HookEvent;
use toolplane_runtime::client::{Peer, PeerSettings, connect};
use toolplane_runtime::clock;
use toolplane_runtime::config::HookConfig;
use toolplane_runtime::server::ServerError;

use crate::bounds::MAX_ANSWER_BYTES;
use crate::failure::HookFailure;
use crate::hook_meta::HookMeta;
use crate::input::HookInput;
use crate::output::{Classified, HookOutput, fields};
use crate::replacement::Replacement;

/// Bytes of a message around the values in it.
const MESSAGE_SLACK: usize = 64 * 1024;

/// One hook that is a service.
#[derive(Clone, Debug)]
pub(crate) struct ServiceHook {
    client: HookServiceClient<Peer>,
    timeout: Duration,
}

impl ServiceHook {
    /// The service of `hook`. Connects at the first question; must be called within the runtime. Only its own token is ever
    /// shown to it.
    pub(crate) fn of(hook: &HookConfig, peers_ca: Option<&Path>) -> Result<Self, ServerError> {
        let settings = settings(hook, peers_ca)?;
        let peer = connect(hook.grpc.as_deref().unwrap_or_default(), &settings)?;
        let client = HookServiceClient::new(peer)
            .max_decoding_message_size(MAX_ANSWER_BYTES + MESSAGE_SLACK)
            .max_encoding_message_size(usize::MAX);
        Ok(Self { client, timeout: hook.timeout() })
    }

    /// How long it may take.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Asks the service.
    pub(crate) async fn ask(
        &self,
        event: HookEvent,
        hook: &HookMeta,
        input: &HookInput,
    ) -> Result<HookOutput, HookFailure> {
        let mut request = tonic::Request::new(question(event, hook, input, self.timeout));
        request.set_timeout(self.timeout);
        let mut client = self.client.clone();
        let begun = tokio::time::Instant::now();
        let late = HookFailure::Timeout { after: self.timeout };
        let answer = tokio::time::timeout(self.timeout, client.run_hook(request)).await.map_err(|_| late.clone())?;
        let answer = answer.map_err(|status| match status.code() {
            // The time was up; the service, the connection or this process saw it first.
            tonic::Code::DeadlineExceeded | tonic::Code::Cancelled => late,
            _ if begun.elapsed() >= self.timeout => late,
            code => HookFailure::Status { code: format!("{code:?}") },
        })?;
        match answer.into_inner().output {
            None => Ok(HookOutput::default()),
            Some(output) => Ok(read(output)?.fit(event)),
        }
    }
}

/// How the service is connected to: with the files of the hook, never with what this process shows its peers.
pub(crate) fn settings(hook: &HookConfig, peers_ca: Option<&Path>) -> Result<PeerSettings, ServerError> {
    PeerSettings::of_files(hook.token_file.as_deref(), hook.ca_file.as_deref().or(peers_ca))
}

fn question(event: HookEvent, hook: &HookMeta, input: &HookInput, timeout: Duration) -> v1::RunHookRequest {
    let (caller, outcome) = (&input.caller, input.outcome.clone().unwrap_or_default());
    v1::RunHookRequest {
        hook_id: hook.hook_id.clone(),
        hook_event: event.as_str().to_owned(),
        hook_event_code: event.number(),
        tenant: caller.tenant.to_string(),
        invocation_id: input.invocation_id.to_string(),
        native_call_id: input.native_call_id.clone(),
        tool_id: input.tool.tool_id.to_string(),
        tool_name: input.tool.full_name.clone(),
        session_ref: caller.session_ref.to_string(),
        surface_id: field::text(&caller.surface_id),
        actor_ref: caller.actor_ref.to_string(),
        permission_mode: caller.mode.map(|mode| mode.as_str().to_owned()).unwrap_or_default(),
        observable_input: Some((&input.input).into()),
        decision: field::out(&input.decision),
        content: field::outs(&outcome.content),
        structured_content: field::out(&outcome.structured_content),
        error: field::out(&outcome.error),
        duration_ms: outcome.duration_ms,
        deadline_at: field::instant(clock::now().plus_millis(i64::try_from(timeout.as_millis()).unwrap_or(i64::MAX))),
    }
}

fn read(output: v1::HookOutput) -> Result<HookOutput, HookFailure> {
    let bad = |error: ConvertError| HookFailure::bad(error.to_string());
    let persistence = word::optional_closed("persistence", output.persistence).map_err(bad)?;
    let context = output.additional_context.into_iter().map(|value| {
        let value = self::value(Some(value), "additional_context")?;
        Ok(value.map(|value| fields::text_of(value.text())).unwrap_or_default())
    });
    Ok(HookOutput {
        messages: Some(output.message).filter(|text| !text.is_empty()).into_iter().collect(),
        progress: output.progress,
        updated_input: value(output.updated_input, "updated_input")?,
        permission: field::optional("permission_result", output.permission_result).map_err(bad)?,
        additional_context: context.collect::<Result<_, HookFailure>>()?,
        stop: field::optional("stop", output.stop).map_err(bad)?,
        updated_output: value(output.updated_output, "updated_output")?.map(Replacement::of).transpose()?,
        block: Some(output.block).filter(|text| !text.is_empty()),
        persistence,
        classifier: output.classifier.map(classified).transpose()?,
        notes: Vec::new(),
    })
}

/// What a classifier said; what it may decide is not its own word.
fn classified(said: v1::ClassifierCheck) -> Result<Classified, HookFailure> {
    let confidence = match said.confidence {
        None => None,
        Some(number) => {
            let rule = || HookFailure::bad("`confidence` must be a number from 0 to 1");
            Some(Confidence::new(number).ok_or_else(rule)?)
        }
    };
    let behavior =
        word::optional_closed("behavior", said.behavior).map_err(|error| HookFailure::bad(error.to_string()))?;
    Ok(Classified {
        classifier_ref: said.classifier_ref,
        pending: said.pending,
        confidence,
        reason: said.reason,
        behavior,
    })
}

fn value(message: Option<v1::JsonPayload>, name: &str) -> Result<Option<JsonPayload>, HookFailure> {
    let limits = JsonLimits { max_bytes: MAX_ANSWER_BYTES, ..JsonLimits::default() };
    let read = message.map(|message| ingest(message, &limits)).transpose();
    read.map_err(|error| HookFailure::bad(error.within(name).to_string()))
}
