//! The story of a call as a value; pure.

use prost_types::Timestamp;
use serde::Serialize;
use toolplane_proto::v1;

use super::steps::{self, Step};
use super::{chapters, next};
use crate::cli::kept::KeptOutputs;

/// Lines of one chapter that fit a screen.
pub(super) const SHOWN: usize = 6;

/// What is told of one call.
#[derive(Debug, Serialize)]
pub(super) struct Story {
    pub(super) invocation_id: String,
    pub(super) tool: String,
    pub(super) status: String,
    /// From acceptance to the end, milliseconds; absent while it goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) took_ms: Option<u64>,
    /// What there is to say, in the order of a screen; chapters without a line are left out.
    pub(super) chapters: Vec<Chapter>,
    /// How long each step took.
    pub(super) steps: Vec<Step>,
    /// What can be done now.
    pub(super) next: Vec<String>,
}

/// Lines about one question.
#[derive(Debug, Serialize)]
pub(super) struct Chapter {
    pub(super) name: &'static str,
    pub(super) lines: Vec<String>,
}

impl Story {
    /// What an answer that has everything says at `now`, and what people were asked. `None` for an answer without a call.
    pub(super) fn of(told: &v1::GetInvocationResponse, approvals: &[v1::Approval], now: Timestamp) -> Option<Self> {
        let call = told.invocation.as_ref()?;
        let nothing = v1::InvocationTrail::default();
        let trail = told.trail.as_ref().unwrap_or(&nothing);
        let result = told.result.as_ref();
        let outputs = result.map(|result| KeptOutputs::told(result, trail, now)).unwrap_or_default();
        let chapters = [
            ("who", chapters::who(call)),
            ("said", chapters::said(call, told.json.as_ref())),
            ("changed", chapters::changed(trail)),
            ("decided", chapters::decided(trail, approvals)),
            ("hooks", chapters::hooks(trail)),
            ("ran", chapters::ran(call, trail)),
            ("did", chapters::did(result)),
            ("kept", chapters::kept(trail, &outputs)),
            ("stays", chapters::stays(trail)),
            ("masked", chapters::masked(call, result, trail)),
            ("left out", chapters::left_out(call, trail)),
        ];
        let chapters = chapters.into_iter().map(|(name, lines)| Chapter { name, lines });
        Some(Self {
            invocation_id: call.invocation_id.clone(),
            tool: call.tool_name.clone(),
            status: call.status.clone(),
            took_ms: steps::between(call.created_at.as_ref(), call.ended_at.as_ref()),
            chapters: chapters.filter(|chapter| !chapter.lines.is_empty()).collect(),
            steps: steps::of(call),
            next: next::of(call, result, &outputs),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Option<Timestamp> {
        Some(Timestamp { seconds: millis / 1000, nanos: i32::try_from(millis % 1000).unwrap() * 1_000_000 })
    }

    fn step(to: &str, millis: i64) -> v1::StatusTransition {
        v1::StatusTransition { to: to.to_owned(), at: at(millis), attempt: 1, ..Default::default() }
    }

    fn told() -> v1::GetInvocationResponse {
        let call = v1::Invocation {
            invocation_id: "inv_1".to_owned(),
            tool_name: "shell.run".to_owned(),
            status: "succeeded".to_owned(),
            caller_ref: Some("key:ci".to_owned()),
            created_at: at(0),
            ended_at: at(1_500),
            evidence_refs: vec!["execution:inv_1/1".to_owned()],
            status_transitions: vec![
                step("planned", 0),
                step("awaiting_approval", 10),
                step("approved", 1_010),
                step("queued", 1_010),
                step("running", 1_100),
                step("succeeded", 1_500),
            ],
            ..Default::default()
        };
        let decision = v1::PermissionDecision {
            behavior: v1::Behavior::Ask.into(),
            source: Some("project_settings".to_owned()),
            approval_request_ref: "appr_1".to_owned(),
            ..Default::default()
        };
        let execution = v1::ExecutionEvidence {
            attempt: 1,
            site: Some(v1::ExecutionSite {
                worker_id: "w1".to_owned(),
                worker_version: "0.1.0".to_owned(),
                sandbox: Some(v1::SandboxFacts {
                    backend: "bubblewrap 0.8.0".to_owned(),
                    available: true,
                    ..Default::default()
                }),
                ..Default::default()
            }),
            tool: Some(v1::ExecutedTool { sandboxed: true, execution_kind: "shell".to_owned(), ..Default::default() }),
            native_ids: Some(v1::NativeIds { http_request_id: "req-9".to_owned(), ..Default::default() }),
            ..Default::default()
        };
        let stays = |class: &str, removed_at, held: &str| v1::KeptUntil {
            class: class.to_owned(),
            until: at(60_000),
            rule: "scheduler.retention[0]".to_owned(),
            removed_at,
            held: held.to_owned(),
        };
        let kept_until =
            vec![stays("inputs", at(50_000), ""), stays("events", None, ""), stays("calls", None, "case 17")];
        let trail = v1::InvocationTrail {
            decisions: vec![decision],
            executions: vec![execution],
            kept_until,
            ..Default::default()
        };
        let evidence = vec!["cleaning:mask:github_token:2".to_owned()];
        let result = v1::ToolResult { status: "succeeded".to_owned(), evidence_refs: evidence, ..Default::default() };
        v1::GetInvocationResponse {
            invocation: Some(call),
            result: Some(result),
            trail: Some(trail),
            ..Default::default()
        }
    }

    #[test]
    fn a_story_says_who_decided_where_it_ran_what_was_masked_and_how_long_each_step_took() {
        let approval = v1::Approval {
            approval_id: "appr_1".to_owned(),
            resolved_by: "alice".to_owned(),
            state: v1::ApprovalState::Approved.into(),
            ..Default::default()
        };
        let story = Story::of(&told(), &[approval], Timestamp::default()).unwrap();
        let chapter = |name: &str| {
            let found = story.chapters.iter().find(|chapter| chapter.name == name);
            found.map(|chapter| chapter.lines.join("\n")).unwrap_or_default()
        };
        assert!(chapter("who").contains("key:ci"), "{story:?}");
        assert!(chapter("decided").contains("ask") && chapter("decided").contains("alice"), "{story:?}");
        let ran = chapter("ran");
        for part in ["w1", "0.1.0", "bubblewrap 0.8.0", "req-9"] {
            assert!(ran.contains(part), "{part}: {ran}");
        }
        assert!(chapter("masked").contains("github_token"), "{story:?}");
        let stays = chapter("stays");
        for part in [
            "inputs removed at 1970-01-01",
            "events until 1970-01-01",
            "scheduler.retention[0]",
            "the call as long as",
            "case 17",
        ] {
            assert!(stays.contains(part), "{part}: {stays}");
        }
        let steps: Vec<_> = story.steps.iter().map(|step| (step.name.as_str(), step.at_ms, step.took_ms)).collect();
        let expected = [("prepare", 0, 10), ("wait for a person", 10, 1_000), ("wait for a worker", 1_010, 90)];
        assert_eq!((&steps[..3], steps[3]), (&expected[..], ("run", 1_100, 400)));
        assert_eq!(story.took_ms, Some(1_500));
    }

    #[test]
    fn what_is_gone_is_said_to_be_and_nobody_is_sent_for_it() {
        let mut told = told();
        let kept = |expires_at| v1::ResultPersistence {
            persisted_ref: Some(v1::PayloadRef { size_bytes: 23, ..Default::default() }),
            expires_at,
            ..Default::default()
        };
        let block = v1::content_block::Block::PersistedOutputRef(kept(None).persisted_ref.unwrap());
        told.result.as_mut().unwrap().content = vec![v1::ContentBlock { block: Some(block) }];
        let mut lines = |kept: v1::ResultPersistence, removed_at| {
            let trail = told.trail.as_mut().unwrap();
            trail.persistence = vec![kept];
            trail.kept_until = vec![v1::KeptUntil { class: "outputs".to_owned(), removed_at, ..Default::default() }];
            let story = Story::of(&told, &[], at(60_000).unwrap()).unwrap();
            let kept = story.chapters.into_iter().find(|chapter| chapter.name == "kept").unwrap();
            (kept.lines.join("\n"), story.next.join("\n"))
        };
        let (forever, fetched) = lines(kept(None), None);
        assert!(!forever.contains("until") && fetched.contains("toolplane fetch"), "{forever} {fetched}");
        let (later, fetched) = lines(kept(at(70_000)), None);
        assert!(later.contains("  until ") && fetched.contains("23 bytes"), "{later} {fetched}");
        let (gone, fetched) = lines(kept(at(50_000)), None);
        assert!(gone.contains("gone since 1970-01-01T00:00:50Z") && !fetched.contains("fetch"), "{gone} {fetched}");
        assert!(!lines(kept(None), at(50_000)).1.contains("fetch"), "what is removed");
    }

    #[test]
    fn a_result_that_is_asked_about_names_its_question() {
        let call = v1::Invocation {
            status: "post_hooks_running".to_owned(),
            evidence_refs: vec!["execution:inv_1/1".to_owned(), "ask:question:appr_2".to_owned()],
            ..told().invocation.unwrap()
        };
        let next = next::of(&call, None, &KeptOutputs::default());
        assert!(next[0].contains("toolplane approvals show appr_2"), "{next:?}");
    }
}
