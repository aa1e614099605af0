//! What happens to the report of a worker that is not known: the rules of its tool and the hooks after a call hold for
//! it.

use bytes::Bytes;
use serde_json::json;
use toolplane_lifecycle::{Command, Holder};
use toolplane_records::evidence::ExecutionEvidence;
use toolplane_records::payload::PayloadRef;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::{EventClass, InvocationStatus as Status, PersistenceStrategy, RedactionState};
use toolplane_results::payload::PayloadOrigin;
use toolplane_runtime::caller::{Role, RoleSet};
use toolplane_store::{Commit, Store, Write};

use super::fakes::tool;
use super::*;
use crate::calls::Attached;
use crate::ending::{ReportReceipt, StoredReport};
use crate::keeping::DeletionRequest;
use crate::storage::keys;

const SECRET: &str = "s3cret";

pub(super) fn text(text: &str) -> v1::ContentBlock {
    (&ContentBlock::Text { text: text.to_owned() }).into()
}

/// A success that says this everywhere a worker can say something.
pub(super) fn success(said: &str) -> v1::ExecutionOutcome {
    v1::ExecutionOutcome { content: vec![text(said)], ..bare("succeeded") }
}

pub(super) fn bare(status: &str) -> v1::ExecutionOutcome {
    v1::ExecutionOutcome { status: status.to_owned(), ..Default::default() }
}

fn replaced(with: &str) -> v1::HookOutput {
    v1::HookOutput { updated_output: Some(super::payload(&json!(with).to_string())), ..Default::default() }
}

fn keeps(how: v1::PersistenceStrategy) -> v1::HookOutput {
    v1::HookOutput { persistence: how.into(), ..Default::default() }
}

pub(super) fn texts(blocks: &[ContentBlock]) -> Vec<&str> {
    let text = blocks.iter().map(|block| match block {
        ContentBlock::Text { text } => Some(text.as_str()),
        _ => None,
    });
    text.flatten().collect()
}

pub(super) fn reference(result: &ToolResult) -> Option<&PayloadRef> {
    result.content.iter().find_map(|block| match block {
        ContentBlock::PersistedOutputRef { payload } => Some(payload),
        _ => None,
    })
}

impl World {
    /// A call that a worker holds.
    pub(super) async fn leased(&self) -> LeaseKey {
        let record = self.call(r#"{"path":"a","key":"s3cret"}"#).await;
        self.lease_of(&record.invocation_id).await
    }

    /// The lease of a call, once the one worker there is has it.
    async fn lease_of(&self, id: &InvocationId) -> LeaseKey {
        if self.parts.workers.list().is_empty() {
            // What it is told is not read: its reports are all that matters here.
            std::mem::forget(self.worker().await);
        }
        let record = self.until_it(id, |record| record.lease.is_some()).await.expect("a lease");
        LeaseKey::of(&record, record.lease.as_ref().unwrap())
    }

    /// The result of a call whose worker reported this.
    pub(super) async fn ended(&self, lease: &LeaseKey, outcome: v1::ExecutionOutcome) -> ToolResult {
        assert_eq!(self.endings.take(lease, Some(Box::new(outcome)), None, 0).await.unwrap(), ReportReceipt::Stored);
        let terminal = |record: &Invocation| record.status.is_terminal();
        self.until_it(&lease.invocation_id, terminal).await.expect("an end");
        self.result(&lease.invocation_id).await
    }

    /// Keeps `bytes` as the worker of `lease` would.
    pub(super) async fn upload(&self, lease: &LeaseKey, bytes: &str) -> PayloadRef {
        let origin = PayloadOrigin {
            tenant: toolplane_records::ids::TenantId::unauthenticated(),
            invocation_id: lease.invocation_id.clone(),
            lease_no: lease.lease_no,
            media_type: "text/plain; charset=utf-8".to_owned(),
            made_at: self.parts.calls.now().await.unwrap(),
        };
        self.objects.put(&origin, bytes.to_owned().into()).await.unwrap()
    }

    pub(super) async fn is_kept(&self, payload: &PayloadRef) -> bool {
        let now = self.parts.calls.now().await.unwrap();
        self.objects.read_verified(payload, 1 << 20, now).await.is_ok()
    }

    /// Nothing of the secret is in the result, the log or what hooks did.
    async fn kept_secret(&self, id: &InvocationId) {
        let log = self.parts.calls.records().log(&key(id)).await.unwrap();
        let hooks = self.parts.calls.records().hooks(&*self.record(id).await).await.unwrap();
        let told = serde_json::to_string(&(self.result(id).await, log, hooks)).unwrap();
        assert!(!told.contains(SECRET), "{told}");
    }
}

pub(super) fn uploaded(payload: &PayloadRef, preview: &str) -> v1::ExecutionOutcome {
    let kept = v1::PersistedOutput {
        name: "result".into(),
        strategy: v1::PersistenceStrategy::PreviewAndPersist.into(),
        original_size_bytes: payload.size_bytes,
        preview_size_bytes: Some(preview.len() as u64),
        payload: Some(payload.into()),
        ..Default::default()
    };
    let block = (&ContentBlock::PersistedOutputRef { payload: payload.clone() }).into();
    v1::ExecutionOutcome { content: vec![text(preview), block], persisted: vec![kept], ..bare("succeeded") }
}

#[tokio::test]
async fn a_redaction_hook_holds_for_whoever_runs_the_tool() {
    let world = World::with_hooks_after(&["clean"]).await;
    world.fakes.hook(|request| match request.hook_event.as_str() {
        "post_tool_use" => {
            v1::HookOutput { additional_context: vec![super::payload("\"ask again\"")], ..replaced("clean") }
        }
        _ => v1::HookOutput::default(),
    });
    let mut caller = Caller::clone(&Caller::unauthenticated());
    caller.authenticated = true;
    caller.actor = Some("bot-1".to_owned());
    caller.roles = RoleSet::of(&[Role::Agent]);
    let named = v1::InvocationSpec { actor_ref: "somebody-else".into(), ..spec(r#"{"path":"a","key":"s3cret"}"#) };
    let record = world.call_by(caller, named).await;
    let lease = world.lease_of(&record.invocation_id).await;
    let everywhere = v1::ExecutionOutcome {
        model_facing_content: vec![text(SECRET)],
        structured_content: Some(super::payload(&json!([SECRET]).to_string())),
        ui_facing_summary: SECRET.into(),
        summary: SECRET.into(),
        context_modifiers: vec![super::payload(r#"{"s3cret":1}"#)],
        ..success(SECRET)
    };
    // A report of another worker about it changes nothing.
    let holder = Holder { worker_id: WorkerId::from_trusted("thief"), incarnation: None };
    let stolen = LeaseKey { holder, ..lease.clone() };
    assert_eq!(
        world.endings.take(&stolen, Some(Box::new(success("stolen"))), None, 0).await.unwrap(),
        ReportReceipt::Fenced
    );
    let result = world.ended(&lease, everywhere).await;
    assert_eq!((texts(&result.content), result.is_error), (vec!["clean"], false));
    assert_eq!(texts(&result.model_facing_content), ["clean", "ask again"]);
    assert_eq!(result.redaction_state, Some(RedactionState::Redacted));
    world.kept_secret(&lease.invocation_id).await;
    let told = &world.fakes.told()[0];
    assert_eq!((told.hook_event.as_str(), told.actor_ref.as_str()), ("post_tool_use", "bot-1"));
    let Some(Body::Inline(shown)) = told.observable_input.as_ref().and_then(|input| input.body.clone()) else {
        panic!()
    };
    assert!(String::from_utf8_lossy(&shown).contains("[redacted]"), "{shown:?}");
    let log = world.parts.calls.records().log(&lease.call()).await.unwrap();
    let classes: Vec<_> = log.iter().map(|event| event.class).collect();
    let asked = classes.iter().position(|class| *class == EventClass::HookPostStarted).unwrap();
    assert_eq!(classes[asked + 1], EventClass::HookPostCompleted);
    // Said once more, as after a broken stream: known, and no evidence of anything.
    assert_eq!(
        world.endings.take(&lease, Some(Box::new(success(SECRET))), None, 0).await.unwrap(),
        ReportReceipt::Stored
    );
    world.kept_secret(&lease.invocation_id).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_was_uploaded_is_shown_to_hooks_whole_and_gone_when_they_replace_it() {
    let world = World::with_hooks_after(&["clean"]).await;
    let (asked, seen) = std::sync::mpsc::channel();
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Mutex::new(wait);
    world.fakes.hook(move |request| {
        if request.hook_event != "post_tool_use" {
            return v1::HookOutput::default();
        }
        asked.send(request.clone()).unwrap();
        wait.lock().unwrap().recv().unwrap();
        replaced("clean")
    });
    let lease = world.leased().await;
    let whole = format!("first line\n{SECRET}\n{}", "x".repeat(200_000));
    let payload = world.upload(&lease, &whole).await;
    let report = uploaded(&payload, "first line [...]");
    assert_eq!(world.endings.take(&lease, Some(Box::new(report)), None, 0).await.unwrap(), ReportReceipt::Stored);
    let told = tokio::task::spawn_blocking(move || seen.recv().unwrap()).await.unwrap();
    let shown = ContentBlock::try_from(told.content[0].clone()).unwrap();
    assert_eq!((told.content.len(), texts(&[shown])[0]), (1, whole.as_str()), "the whole in the place of its preview");
    let waits = world.record(&lease.invocation_id).await;
    assert_eq!((waits.status, waits.lease.is_none()), (Status::PostHooksRunning, true));
    assert!(
        world.parts.calls.records().result(&lease.call()).await.unwrap().is_none() && world.is_kept(&payload).await
    );
    go.send(()).unwrap();
    world.until(&lease.invocation_id, Status::Succeeded).await;
    let result = world.result(&lease.invocation_id).await;
    assert_eq!((texts(&result.content), reference(&result)), (vec!["clean"], None));
    world.kept_secret(&lease.invocation_id).await;
    while world.is_kept(&payload).await {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(
        world.parts.calls.records().ending(&lease.call()).await.unwrap().is_none(),
        "the ending itself is forgotten too"
    );
}

#[tokio::test]
async fn how_it_is_kept_is_the_platforms_decision() {
    for (how, strategy) in [
        (v1::PersistenceStrategy::NeverPersist, PersistenceStrategy::NeverPersist),
        (v1::PersistenceStrategy::RefOnly, PersistenceStrategy::RefOnly),
        (v1::PersistenceStrategy::DropWithReason, PersistenceStrategy::DropWithReason),
        (v1::PersistenceStrategy::Redact, PersistenceStrategy::Redact),
    ] {
        let world = World::with_hooks_after(&["keeps"]).await;
        world.fakes.hook(move |request| match request.hook_event.as_str() {
            "result_persistence" => keeps(how),
            _ => v1::HookOutput::default(),
        });
        let lease = world.leased().await;
        let whole = SECRET.repeat(20_000);
        let payload = world.upload(&lease, &whole).await;
        let result = world.ended(&lease, uploaded(&payload, "preview")).await;
        let kept = world.parts.calls.records().result(&lease.call()).await.unwrap().unwrap().persistence.unwrap();
        assert_eq!(kept.strategy, strategy, "{result:?}");
        assert_eq!(reference(&result).is_some(), how == v1::PersistenceStrategy::RefOnly, "{result:?}");
        if how != v1::PersistenceStrategy::RefOnly {
            while world.is_kept(&payload).await {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    }
    // Without a hook: what a worker puts into its report beyond the bounds of the tool is cut and still kept.
    let world = World::new().await;
    let lease = world.leased().await;
    let result = world.ended(&lease, success(&"line\n".repeat(40_000))).await;
    let payload = reference(&result).expect("kept elsewhere");
    assert_eq!(payload.size_bytes, 200_000);
    assert!(texts(&result.content)[0].len() < 10_000 && texts(&result.content)[0].contains("omitted"));
    assert!(world.is_kept(payload).await);
    let record = world.record(&lease.invocation_id).await;
    assert!(record.status_transitions.iter().all(|step| step.to != Status::PostHooksRunning), "nothing is in its way");
}

#[tokio::test]
async fn hooks_that_fail_withhold_the_output_and_the_effect_is_called_done() {
    let world = World::with_hooks_after(&["fails"]).await;
    let lease = world.leased().await;
    let result = world.ended(&lease, success(SECRET)).await;
    let error = result.error.clone().unwrap();
    assert_eq!((error.error_code.as_str(), error.side_effects.as_deref()), ("hooks.failed", Some("completed")));
    world.kept_secret(&lease.invocation_id).await;
    // A failure is another point, and stays the failure it was.
    let lease = world.leased().await;
    let failed = v1::ExecutionOutcome {
        error: Some(v1::ToolError {
            error_code: "exec.exit_code".into(),
            error_class: "execution_failed".into(),
            recoverability: "not_retryable".into(),
            message: SECRET.into(),
            ..Default::default()
        }),
        ..v1::ExecutionOutcome { status: "failed".into(), ..success(SECRET) }
    };
    let result = world.ended(&lease, failed).await;
    assert_eq!(result.error.unwrap().error_code, "exec.exit_code");
    world.kept_secret(&lease.invocation_id).await;
    let hooks = world.parts.calls.records().hooks(&*world.record(&lease.invocation_id).await).await.unwrap();
    assert_eq!(hooks[0].hook_event, HookEvent::PostToolUseFailure);
}

#[tokio::test]
async fn an_ending_nobody_asks_hooks_about_any_more_is_taken_over() {
    let world = World::with_hooks_after(&["clean"]).await;
    world.fakes.hook(|_| replaced("clean"));
    for (takes, code) in [(0, None), (3, Some("hooks.failed"))] {
        let lease = world.leased().await;
        // As a scheduler leaves it that dies right after it has stored the report.
        let due_at = world.parts.calls.now().await.unwrap().plus_millis(600_000);
        let command =
            |_: &Invocation| Command::AwaitHooks { lease: lease.clone(), hook_ids: vec![], due_at, question: None };
        let mut ending =
            StoredReport { outcome: Some(Box::new(success(SECRET))), progress_left_out: 7, ..Default::default() };
        let attached = Attached { ending: Some(ending.encoded(None)), ..Attached::default() };
        world.parts.calls.command_with(&lease.call(), attached, command).await.unwrap();
        for _ in 0..takes {
            let take = |_: &Invocation| Command::TakeHooks { due_at, alone: true };
            world.parts.calls.command(&lease.call(), take).await.unwrap();
        }
        let asked = world.fakes.told().len();
        // The next start finds it.
        let (again, overdue) = world.endings_of(&["clean"]).await;
        tokio::spawn(again.run(overdue, world.stop.clone()));
        let terminal = |record: &Invocation| record.status.is_terminal();
        world.until_it(&lease.invocation_id, terminal).await.expect("an end");
        let result = world.result(&lease.invocation_id).await;
        assert_eq!(result.error.as_ref().map(|error| error.error_code.as_str()), code, "{result:?}");
        assert_eq!(result.evidence_refs, ["progress_left_out:7"], "told although another one ends the call");
        assert_eq!(world.fakes.told().len() > asked, code.is_none(), "who kills whoever asks is not asked for ever");
        world.kept_secret(&lease.invocation_id).await;
    }
}

#[tokio::test]
async fn a_report_names_only_what_its_own_lease_uploaded() {
    let world = World::new().await;
    let (one, other) = (world.leased().await, world.leased().await);
    let foreign = world.upload(&other, "of somebody else").await;
    let inputs = PayloadRef { uri: format!("payload:{}/00", other.invocation_id).into(), ..foreign.clone() };
    for payload in [foreign, inputs] {
        let lease = if payload.uri.starts_with("payload:") { &other } else { &one };
        let result = world.ended(lease, uploaded(&payload, "")).await;
        assert_eq!(result.error.as_ref().unwrap().error_code, "result.mapping_failed", "{result:?}");
        assert_eq!(reference(&result), None);
    }
}

#[tokio::test]
async fn output_that_breaks_its_schema_is_no_success_and_is_kept_by_reference() {
    let world = World::new().await;
    let mut declared = tool();
    declared["interface"]["output_schema"] =
        json!({ "type": "object", "required": ["total"], "properties": { "total": { "type": "integer" } } });
    world.fakes.declare(Some(declared));
    let structured = |value: serde_json::Value| Some(super::payload(&value.to_string()));
    let give = async |outcome| {
        let lease = world.leased().await;
        world.ended(&lease, outcome).await
    };
    let fits =
        give(v1::ExecutionOutcome { structured_content: structured(json!({ "total": 1 })), ..bare("succeeded") }).await;
    assert!(!fits.is_error && fits.structured_content.is_some(), "{fits:?}");
    assert_eq!(texts(&fits.model_facing_content), [r#"{"total":1}"#]);
    let broken = json!({ "total": "many" });
    let wrong = give(v1::ExecutionOutcome {
        structured_content: structured(broken.clone()),
        model_facing_content: vec![text("all is well")],
        ..success("all is well")
    })
    .await;
    let error = wrong.error.as_ref().expect("it says so");
    assert_eq!((error.error_code.as_str(), wrong.is_error), ("result.output_schema_mismatch", true));
    assert_eq!(
        (error.field_violations[0].field.as_str(), error.side_effects.as_deref()),
        ("/total", Some("completed"))
    );
    assert!(wrong.structured_content.is_none() && texts(&wrong.model_facing_content)[0].contains("does not fit"));
    let kept = reference(&wrong).expect("the native output");
    let now = world.parts.calls.now().await.unwrap();
    assert_eq!(world.objects.read_verified(kept, 1_000, now).await.unwrap(), broken.to_string());
    // What a failed execution gave is not checked against anything.
    let failed = give(v1::ExecutionOutcome { structured_content: structured(broken), ..bare("failed") }).await;
    assert_eq!(failed.error.unwrap().error_code, "exec.unspecified");
}

#[tokio::test]
async fn modifiers_nobody_declared_are_left_out_and_the_log_says_so() {
    let world = World::new().await;
    let modifiers =
        || v1::ExecutionOutcome { context_modifiers: vec![super::payload(r#"{"cwd":"/"}"#)], ..success("a") };
    let lease = world.leased().await;
    let result = world.ended(&lease, modifiers()).await;
    assert!(result.context_modifiers.is_empty());
    let log = serde_json::to_string(&world.parts.calls.records().log(&lease.call()).await.unwrap()).unwrap();
    assert!(log.contains(r#""context_modifiers_dropped":{"count":1,"reason":"not_declared"}"#), "{log}");
    let mut declared = tool();
    declared["execution_profile"]["supports_context_modifiers"] = json!(true);
    world.fakes.declare(Some(declared));
    let lease = world.leased().await;
    assert_eq!(world.ended(&lease, modifiers()).await.context_modifiers.len(), 1);
}

/// What a worker says of an execution is kept by name alone: what names it elsewhere, and nothing that could be read as text.
#[tokio::test]
async fn names_of_an_execution_elsewhere_are_kept() {
    let world = World::new().await;
    let names: Vec<String> = (0..20).map(|number| format!("mcp.request:{number}")).collect();
    let refs =
        [vec!["two words".to_owned(), String::new(), "x".repeat(201), "\u{e9}".to_owned()], names.clone()].concat();
    for (evidence, kept) in [
        (serde_json::json!({ "refs": refs, "more": [1] }), &names[..16]),
        (serde_json::json!({ "refs": "mcp.request:1" }), &[][..]),
        (serde_json::json!({ "exit_code": 1 }), &[][..]),
        (serde_json::json!(7), &[][..]),
    ] {
        let lease = world.leased().await;
        let evidence = Some((&toolplane_records::payload::JsonPayload::of(&evidence)).into());
        let result = world.ended(&lease, v1::ExecutionOutcome { evidence, ..success("done") }).await;
        assert_eq!(result.evidence_refs, kept);
    }
}

#[tokio::test]
async fn what_ran_a_call_is_read_where_earlier_versions_kept_it_and_goes_with_the_call() {
    for place in [keys::execution, keys::execution_before] {
        let world = World::new().await;
        let lease = world.leased().await;
        world.ended(&lease, success("done")).await;
        let records = world.parts.calls.records();
        let record = records.get(&lease.call()).await.unwrap();
        let kept = records.executions(&record).await.unwrap();
        let [evidence] = &kept[..] else { panic!("{kept:?}") };
        assert_eq!(record.last_execution.as_deref(), Some(evidence), "in the record of the call");
        let apart = place(&record.tenant, &evidence.evidence_id);
        assert_eq!(world.store.get(&apart).await.unwrap(), None, "and nowhere else");
        let before = Invocation { last_execution: None, ..Invocation::clone(&record) };
        let writes = [(keys::invocation(&lease.call()), stored(&before)), (apart.clone(), stored(evidence))];
        let writes = writes.map(|(key, bytes)| Write::Put { key, bytes }).into();
        world.store.commit(Commit { writes, ..Commit::default() }).await.unwrap();
        let record = records.get(&lease.call()).await.unwrap();
        assert_eq!((record.last_execution.as_deref(), records.executions(&record).await.unwrap()), (None, kept));
        let by = DeletionRequest { by: "auditor", reason: "asked for" };
        world.parts.deletions.delete(&lease.call(), by).await.unwrap();
        assert_eq!(world.store.get(&apart).await.unwrap(), None);
    }
}

/// A record as it is stored.
fn stored(record: &impl serde::Serialize) -> Bytes {
    let mut bytes = Vec::new();
    toolplane_records::stored::write(record, &mut bytes).unwrap();
    bytes.into()
}

#[tokio::test]
async fn executions_that_were_not_the_last_and_what_is_large_have_records_of_their_own() {
    let world = World::new().await;
    let lease = world.leased().await;
    let detail = serde_json::json!({ "said": "x".repeat(2048) });
    let evidence = Some((&toolplane_records::payload::JsonPayload::of(&detail)).into());
    world.ended(&lease, v1::ExecutionOutcome { evidence, ..success("done") }).await;
    let records = world.parts.calls.records();
    let record = records.get(&lease.call()).await.unwrap();
    assert_eq!(record.last_execution, None);
    let kept = records.executions(&record).await.unwrap();
    let [large] = &kept[..] else { panic!("{kept:?}") };
    assert_eq!(large.detail.as_ref().map(|kept| kept.text().len()), Some(detail.to_string().len()));
    // One of a call that was executed again, as its record has the last one.
    let last = ExecutionEvidence { evidence_id: ExecutionEvidence::id_of(&record.invocation_id, 2), ..large.clone() };
    let mut again = Invocation::clone(&record);
    again.evidence_refs.push(last.evidence_id.clone());
    again.last_execution = Some(Arc::new(last.clone()));
    assert_eq!(records.executions(&again).await.unwrap(), [large.clone(), last], "oldest first");
}
