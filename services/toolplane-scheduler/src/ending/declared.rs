//! What a tool declares of what it gives, beside its schema, and what is made of a report that does not keep to it; pure.

use toolplane_hooks::fold::Keeping;
use toolplane_matching::glob::PathGlob;
use toolplane_records::codes::{self, Code};
use toolplane_records::error::ToolError;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::ResultStatus;

use super::report::{Report, is_error};
use crate::plan::PlannedOutput;

/// Classes of content that the platform makes of others, and that no tool has to declare.
const OF_THE_PLATFORM: &[&str] = &["log", "empty", "persisted_output_ref"];

/// Holds a report against what its tool declares.
///
/// Artifacts of a tool that declares none are left out, and the evidence counts them. Content of a class it does not declare is left out
/// of a success, and an expected artifact that is not there is named: what the tool did is done, so both make it a partial success.
pub(super) fn apply(report: &mut Report, declared: &PlannedOutput) {
    if !declared.supports_artifacts {
        undeclared_artifacts(report);
    }
    report.hints = declared.rendering.clone();
    report.fallback_summary = declared.fallback_summary.clone();
    report.keep_ms = declared.keep_ms;
    if is_error(report.status) {
        return;
    }
    undeclared_content(report, declared);
    if declared.supports_artifacts {
        missing_artifacts(report, &declared.artifact_expectations);
    }
}

/// How the outputs of a tool are kept, by its persistence policy.
pub(super) fn keeping(declared: &PlannedOutput) -> Keeping {
    match declared.persistence_policy.as_deref() {
        Some("ref_only") => Keeping::RefOnly,
        Some("never_persist") => Keeping::NeverPersist,
        _ => Keeping::AsUsual,
    }
}

fn undeclared_artifacts(report: &mut Report) {
    let is_artifact = |block: &ContentBlock| matches!(block, ContentBlock::ArtifactRef { .. });
    let blocks = report.output.content.iter().filter(|block| is_artifact(block)).count();
    let left_out = std::mem::take(&mut report.beside.artifact_refs).len().max(blocks);
    if left_out > 0 {
        report.output.content.retain(|block| !is_artifact(block));
        report.words.facing.retain(|block| !is_artifact(block));
        report.execution.refs.push(format!("artifacts_left_out:{left_out}"));
    }
}

fn undeclared_content(report: &mut Report, declared: &PlannedOutput) {
    let (content_types, expects) = (&declared.content_types, !declared.artifact_expectations.is_empty());
    if content_types.is_empty() {
        return;
    }
    let fits = |block: &ContentBlock| {
        let class = block.class();
        let expected = class == "artifact_ref" && expects;
        expected || OF_THE_PLATFORM.contains(&class) || content_types.iter().any(|declared| declared == class)
    };
    let mut classes: Vec<&'static str> =
        report.output.content.iter().filter(|block| !fits(block)).map(ContentBlock::class).collect();
    classes.dedup();
    report.output.content.retain(fits);
    report.words.facing.retain(fits);
    if !classes.is_empty() {
        let message =
            format!("the tool gave content of a class it does not declare, which is left out: {}", classes.join(", "));
        partly(report, codes::RESULT_CONTENT, message);
    }
}

fn missing_artifacts(report: &mut Report, expectations: &[String]) {
    let there = |expected: &&String| {
        let Ok(glob) = PathGlob::parse(expected) else { return false };
        report.beside.artifact_refs.iter().any(|artifact| glob.is_match(&artifact.artifact_id))
    };
    let missing: Vec<&str> = expectations.iter().filter(|expected| !there(expected)).map(String::as_str).collect();
    if !missing.is_empty() {
        let message = format!("the tool ended, and left no artifact as it was expected to: {}", missing.join(", "));
        partly(report, codes::RESULT_ARTIFACT, message);
    }
}

/// The effect is done, and something of its result is not there.
fn partly(report: &mut Report, code: Code, message: String) {
    if report.error.is_some() {
        // What was wrong before is said first, and alone.
        return;
    }
    let mut error = ToolError::of(code, message);
    error.side_effects = Some("completed".to_owned());
    report.error = Some(error);
    report.status = ResultStatus::PartialSucceeded;
}

#[cfg(test)]
mod tests {
    use toolplane_records::refs::ArtifactRef;

    use super::*;

    fn success(content: Vec<ContentBlock>, artifacts: &[&str]) -> Report {
        let mut report = Report::of(ResultStatus::Succeeded, None);
        report.output.content = content;
        let artifact = |id: &&str| ArtifactRef { artifact_id: (*id).to_owned(), ..ArtifactRef::default() };
        report.beside.artifact_refs = artifacts.iter().map(artifact).collect();
        report
    }

    fn text() -> ContentBlock {
        ContentBlock::Text { text: "a".to_owned() }
    }

    fn code(report: &Report) -> Option<&str> {
        report.error.as_ref().map(|error| error.error_code.as_str())
    }

    #[test]
    fn artifacts_nobody_declared_are_left_out_and_counted() {
        let mut report = success(vec![text()], &["a", "b"]);
        apply(&mut report, &PlannedOutput::default());
        assert_eq!((report.status, report.beside.artifact_refs.len()), (ResultStatus::Succeeded, 0));
        assert_eq!(report.execution.refs, ["artifacts_left_out:2"]);
    }

    #[test]
    fn an_artifact_that_was_expected_is_missed() {
        let declared = PlannedOutput {
            supports_artifacts: true,
            artifact_expectations: vec!["out/*.csv".into(), "report.md".into()],
            ..PlannedOutput::default()
        };
        let mut report = success(vec![text()], &["out/a.csv"]);
        apply(&mut report, &declared);
        assert_eq!((report.status, code(&report)), (ResultStatus::PartialSucceeded, Some("result.artifact_missing")));
        assert!(report.error.unwrap().message.ends_with(": report.md"));
        let mut whole = success(vec![text()], &["out/a.csv", "report.md"]);
        apply(&mut whole, &declared);
        assert_eq!((whole.status, whole.error), (ResultStatus::Succeeded, None));
    }

    #[test]
    fn content_of_another_class_than_declared_is_left_out_and_said() {
        let declared = PlannedOutput { content_types: vec!["text".into()], ..PlannedOutput::default() };
        let log = ContentBlock::Log { text: "x".into(), stream: "stderr".into() };
        let mut report = success(vec![text(), ContentBlock::diff("+".into()), log.clone()], &[]);
        apply(&mut report, &declared);
        assert_eq!(report.output.content, [text(), log], "logs are of the platform");
        assert_eq!((report.status, code(&report)), (ResultStatus::PartialSucceeded, Some("result.content_undeclared")));
        let mut any = success(vec![text(), ContentBlock::diff("+".into())], &[]);
        apply(&mut any, &PlannedOutput::default());
        assert_eq!((any.status, any.output.content.len()), (ResultStatus::Succeeded, 2));
    }
}
