//! A call in the form a reader asked for: finds what the form is made from, and bounds it. What forms are is known to
//! `toolplane_forms`.

mod telling;

use std::sync::Arc;

use prost::Message as _;
use toolplane_forms::{Asked, Kept, Story, Tool, View, wanted};
use toolplane_lifecycle::Terminal;
use toolplane_proto::v1;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::event::{LogEvent, ToolEvent};
use toolplane_records::hook::ToolHook;
use toolplane_records::invocation::Invocation;
use toolplane_records::mutation::InputMutation;
use toolplane_records::payload::JsonPayload;
use toolplane_records::profile::ExecutionBinding;
use toolplane_records::provider::provider_of;
use toolplane_records::result::ToolResult;
use toolplane_results::PayloadStore;
use toolplane_results::payload::key::PayloadKey;
use toolplane_runtime::Caller;

pub(super) use telling::Telling;

use super::sight::{may_follow, seen_by};
use crate::calls::Calls;
use crate::error::CallError;
use crate::plan::DispatchPlan;

/// Most bytes that are shown of what a call keeps, before they are coded.
const SHOWN: u64 = 2 << 20;
/// Most bytes of a whole answer, and a rest for frames: it stays below what clients take, 4 MiB.
const ANSWER_BYTES: usize = 4 * 1024 * 1024 - 64 * 1024;
/// Most records of one kind that one answer reads.
const ROWS: usize = 1_000;

/// Shows calls in forms.
#[derive(Clone, Debug)]
pub(super) struct Forms {
    pub(super) calls: Calls,
    pub(super) payloads: PayloadStore,
}

/// What a form is made from, as far as this one needs it.
struct Found {
    call: Arc<Invocation>,
    /// The reader may follow the call too, and read what it keeps.
    follows: bool,
    input: Option<JsonPayload>,
    plan: Option<Arc<DispatchPlan>>,
    decisions: Vec<PermissionDecision>,
    mutations: Vec<InputMutation>,
    hooks: Vec<ToolHook>,
    events: Vec<ToolEvent>,
}

impl Found {
    fn story<'a>(&'a self, asked: &'a Asked, terminal: Option<&'a Terminal>, kept: &'a Kept) -> Story<'a> {
        let plan = self.plan.as_deref();
        Story {
            input: self.input.as_ref(),
            tool: Tool {
                kind: plan.and_then(|plan| plan.matching.tool_kind),
                provider: provider(&self.call, plan),
                declaration: plan.map(|plan| plan.tool.declaration_digest),
            },
            result: terminal.map(|terminal| &terminal.result),
            persistence: terminal.and_then(|terminal| terminal.persistence.as_ref()).filter(|_| self.follows),
            decisions: &self.decisions,
            mutations: &self.mutations,
            hooks: &self.hooks,
            events: &self.events,
            reader: asked.reader(),
            ..Story::of(&self.call, kept)
        }
    }
}

/// Whom the tool of a call asks: the provider it comes from, or the one host it may ask. Tools that run here ask nobody.
fn provider<'a>(call: &'a Invocation, plan: Option<&'a DispatchPlan>) -> Option<&'a str> {
    if let Some((provider, _)) = provider_of(&call.tool_id) {
        return Some(provider);
    }
    match &plan?.execution.binding {
        ExecutionBinding::Mcp(binding) => Some(binding.provider_id.as_str()),
        ExecutionBinding::Http(binding) => match binding.allowed_hosts.as_slice() {
            [host] if !host.contains('*') => Some(host.as_str()),
            _ => None,
        },
        _ => None,
    }
}

/// The form a request asks for, when it asks for one.
pub(super) fn asked(form: Option<v1::FormSpec>) -> Result<Option<Asked>, CallError> {
    toolplane_proto::convert::form::asked(form).map_err(CallError::of_field)
}

impl Forms {
    /// The call in the form that was asked for, in an answer that has `beside` bytes without it. Nothing where the form is of a result
    /// and there is none yet.
    pub(super) async fn of_call(
        &self,
        caller: &Caller,
        record: &Arc<Invocation>,
        terminal: Option<&Terminal>,
        asked: Option<&Asked>,
        beside: usize,
    ) -> Result<Option<v1::Formed>, CallError> {
        let Some(asked) = asked else { return Ok(None) };
        if asked.view.is_of_a_result() && terminal.is_none() {
            return Ok(None);
        }
        let mut found = self.find(caller, record, asked).await?;
        if matches!(asked.view, View::CloudEvents | View::CloudEventsProtobuf) {
            if !found.follows {
                let rule = format!("is `{}`, the events of a call, which this credential may not follow", asked.view);
                return Err(CallError::invalid("form.view", rule));
            }
            let log = self.calls.records().log(&record.key()).await?;
            let envelope = |event: &LogEvent| {
                event.envelope(&record.tenant, &record.invocation_id, &record.tool_id, &record.telemetry_refs)
            };
            found.events = log.iter().map(envelope).collect();
        }
        let room = ANSWER_BYTES.saturating_sub(beside);
        let shown = terminal.map(|terminal| &terminal.result).filter(|_| found.follows);
        let kept = self.kept(record, asked.view, shown).await?;
        for kept in [kept, Kept::default()] {
            let formed = toolplane_forms::of_call(asked.view, &found.story(asked, terminal, &kept));
            let Some(formed) = formed.map(v1::Formed::from) else { return Ok(None) };
            if formed.encoded_len() <= room {
                return Ok(Some(formed));
            }
        }
        Err(CallError::Precondition(format!(
            "as `{}` the call is larger than one answer: read its records, or follow it in this form",
            asked.view
        )))
    }

    /// What a form needs of a call beside its log. `caller` sees of its input what every reader may see.
    async fn find(&self, caller: &Caller, record: &Arc<Invocation>, asked: &Asked) -> Result<Found, CallError> {
        let records = self.calls.records();
        let mut found = Found {
            call: Arc::clone(record),
            follows: may_follow(caller),
            input: None,
            plan: self.calls.plans().of(record).await?,
            decisions: Vec::new(),
            mutations: Vec::new(),
            hooks: Vec::new(),
            events: Vec::new(),
        };
        if matches!(asked.view, View::Acp | View::AcpTerminal | View::Record) {
            let seen = seen_by(caller, record, records.inputs(record).await?, false);
            found.input = seen.permission.or(seen.observable);
        }
        if matches!(asked.view, View::Record | View::InToto) {
            let decisions = records.decisions_after(record, 0, ROWS).await?;
            found.decisions = decisions.into_iter().filter_map(|(_, decision)| decision).collect();
            found.mutations = records.mutations(record).await?;
        }
        if asked.view == View::Record && found.follows {
            found.hooks = records.hooks(record).await?;
        }
        Ok(found)
    }

    /// The bytes a form shows. What is gone by now, by its retention, is shown as a link.
    async fn kept(&self, record: &Invocation, view: View, result: Option<&ToolResult>) -> Result<Kept, CallError> {
        let mut kept = Kept::default();
        let wanted = result.map(|result| wanted(view, result, SHOWN)).unwrap_or_default();
        if wanted.is_empty() {
            return Ok(kept);
        }
        let now = self.calls.records().now().await?;
        for payload in wanted {
            // A payload that is named in a result belongs to the tenant of its call; any other is not handed out.
            let belongs = payload.uri.parse::<PayloadKey>().is_ok_and(|key| key.belongs_to(&record.tenant));
            if belongs && let Ok(bytes) = self.payloads.read_verified(payload, SHOWN, now).await {
                kept.add(payload, bytes);
            }
        }
        Ok(kept)
    }
}
