//! Results for people: the content, what was kept elsewhere, and what to do after a failure.

use toolplane_proto::v1;
use toolplane_proto::v1::content_block::Block;
use toolplane_records::codes::{self, Code};
use toolplane_records::visible;

use super::advised;
use super::connection::Connection;
use super::failure::Failure;
use super::kept::KeptOutputs;
use super::outcome::CommandOutcome;
use super::output::{Output, bytes, instant, payload_text, pretty};

/// Most lines of structured content shown; the JSON record has all of it.
const STRUCTURED_LINES: usize = 40;

/// Whether the call did what it was asked to.
pub(crate) fn ending(result: &v1::ToolResult) -> CommandOutcome {
    if result.is_error { CommandOutcome::ToolFailed } else { CommandOutcome::Done }
}

/// What else is on standard output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Beside {
    /// Nothing: what a tool gave is all there is, and a program may read it.
    Nothing,
    /// Lines of the command line's own, which no content may pass for.
    OwnLines,
}

/// A result in one line, for lists of them: the outcome of which call, and the beginning of what it gave or of why it
/// failed.
pub(crate) fn one_line(place: &str, tool: &str, result: &v1::ToolResult) -> String {
    const MOST: usize = 100;
    // Its end often says what to do.
    const MOST_OF_ERROR: usize = 160;
    let mark = if result.is_error { "✘" } else { "✔" };
    let said = match &result.error {
        Some(error) => error.message.as_str(),
        None => result.content.iter().find_map(text_of).unwrap_or_default(),
    };
    let mut lines = said.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default().trim();
    let first =
        if result.error.is_some() { visible::both_ends(first, MOST_OF_ERROR) } else { visible::excerpt(first, MOST) };
    let more = if lines.next().is_some() { " …" } else { "" };
    format!("{place} {mark} {tool}  {}  {}  {first}{more}", result.status, result.invocation_id).trim_end().to_owned()
}

/// Prints a result with what the record of its call knows of what it keeps by reference; or the JSON record.
pub(crate) async fn show(
    result: &v1::ToolResult,
    beside: Beside,
    connection: &Connection,
    out: &mut Output,
) -> Result<(), Failure> {
    let kept = if out.json() { KeptOutputs::default() } else { KeptOutputs::of(result, connection).await };
    print(result, beside, &kept, out)
}

/// Prints a result: content on standard output, the rest around it on standard error; or the JSON record.
pub(crate) fn print(
    result: &v1::ToolResult,
    beside: Beside,
    kept: &KeptOutputs,
    out: &mut Output,
) -> Result<(), Failure> {
    if out.json() {
        return out.record::<toolplane_records::result::ToolResult, _>(result.clone());
    }
    let mark = if result.is_error { "✘" } else { "✔" };
    let summary = match result.summary.as_str() {
        "" => result.ui_facing_summary.as_str(),
        summary => summary,
    };
    // What follows anyway is not said here first.
    let texts = || result.content.iter().filter_map(text_of);
    let summary = if result.error.is_some() || texts().any(|text| text.contains(summary)) { "" } else { summary };
    out.note(format!("{mark} {}  {}  {summary}", result.status, result.invocation_id).trim_end())?;
    let shown = result.content.iter().filter(|block| !repeats_the_error(block, result.error.as_ref()));
    for block in shown {
        content(block, (kept, &result.invocation_id), beside, out)?;
    }
    structured(result, beside, out)?;
    for link in &result.resource_refs {
        out.note(&format!("resource {}  {}", link.resource_id, link.uri))?;
    }
    let shown = |artifact: &v1::ArtifactRef| {
        let of_it =
            |block: &v1::ContentBlock| matches!(&block.block, Some(Block::ArtifactRef(told)) if told == artifact);
        result.content.iter().any(of_it)
    };
    for told in result.artifact_refs.iter().filter(|told| !shown(told)) {
        artifact(told, (kept, &result.invocation_id), out)?;
    }
    if let Some(error) = &result.error {
        failure(error, out)?;
    }
    Ok(())
}

fn text_of(block: &v1::ContentBlock) -> Option<&str> {
    match &block.block {
        Some(Block::Text(text)) => Some(&text.text),
        _ => None,
    }
}

/// Whether the content says nothing but what is said of the error anyway.
fn repeats_the_error(block: &v1::ContentBlock, error: Option<&v1::ToolError>) -> bool {
    let (Some(text), Some(error)) = (text_of(block), error) else { return false };
    let text = text.trim();
    text == error.message.trim() || text == format!("{} [{}]", error.message, error.error_code)
}

fn content(
    block: &v1::ContentBlock,
    of: (&KeptOutputs, &str),
    beside: Beside,
    out: &mut Output,
) -> Result<(), Failure> {
    match &block.block {
        Some(Block::Text(text)) => given(&text.text, beside, out),
        Some(Block::Diff(diff)) => given(&diff.text, beside, out),
        Some(Block::Log(log)) => {
            out.note(&format!("[{}]", log.stream))?;
            out.block_note(log.text.trim_end_matches('\n'))
        }
        Some(Block::Empty(_)) => out.note("(the tool had nothing to say)"),
        Some(Block::ResourceLink(link)) => out.note(&format!("resource {}  {}", link.resource_id, link.uri)),
        Some(Block::ArtifactRef(told)) => artifact(told, of, out),
        Some(Block::HandoffRef(handoff)) => {
            out.note(&format!("handed on to {}  {}  {}", handoff.target, handoff.handoff_id, handoff.uri))
        }
        Some(Block::EmbeddedResource(resource)) => {
            out.note(&format!("resource {}", resource.uri))?;
            match (&resource.text, &resource.payload) {
                (Some(text), _) => given(text, beside, out),
                (None, Some(kept)) => reference(kept, of, out),
                (None, None) => out.note("(it was not kept)"),
            }
        }
        Some(Block::File(_) | Block::PersistedOutputRef(_) | Block::Image(_) | Block::Audio(_) | Block::Video(_)) => {
            match block.kept() {
                Some(kept) => reference(kept, of, out),
                None => out.note("(it was not kept)"),
            }
        }
        None => out.note("(content of a kind this version does not know)"),
    }
}

/// What the tool gave.
fn given(text: &str, beside: Beside, out: &mut Output) -> Result<(), Failure> {
    let text = text.trim_end_matches('\n');
    match beside {
        Beside::Nothing => out.content(text),
        Beside::OwnLines => out.block(text),
    }
}

/// A deliverable, and how to read it where the cluster keeps it.
fn artifact(told: &v1::ArtifactRef, (known, invocation_id): (&KeptOutputs, &str), out: &Output) -> Result<(), Failure> {
    let v1::ArtifactRef { artifact_id, uri, payload, .. } = told;
    let Some(kept) = payload else { return out.note(&format!("artifact {artifact_id}  {uri}")) };
    let size = bytes(kept.size_bytes);
    out.note(&format!("artifact {artifact_id}  {size}, {}, {}", kept.media_type, kept.digest))?;
    if let Some(since) = known.gone_since(kept) {
        return out.note(&format!("  not kept any more since {}", instant(Some(&since))));
    }
    // Behind a sign of equality no name is taken for an option.
    let name = if artifact_id.starts_with('-') { "=" } else { " " }.to_owned() + &advised::word(artifact_id);
    let fetch = advised::command(format_args!("fetch {invocation_id} --ref{name}"));
    out.note(&format!("  read it with `{fetch}` (--offset, --limit, -O FILE)"))
}

fn reference(kept: &v1::PayloadRef, (known, invocation_id): (&KeptOutputs, &str), out: &Output) -> Result<(), Failure> {
    known.lines(kept, invocation_id).iter().try_for_each(|line| out.note(line))
}

fn structured(result: &v1::ToolResult, beside: Beside, out: &mut Output) -> Result<(), Failure> {
    let Some(text) = payload_text(result.structured_content.as_ref()) else { return Ok(()) };
    // A reader of the content does not want the same again in another form; `-o json` has both.
    let has_content = result.content.iter().any(|block| !matches!(block.block, Some(Block::Empty(_)) | None));
    if has_content {
        return Ok(());
    }
    let text = pretty(&text);
    let lines = text.lines().count();
    out.note("structured content:")?;
    let shown: Vec<String> = text.lines().take(STRUCTURED_LINES).map(shortened).collect();
    given(&shown.join("\n"), beside, out)?;
    if lines > STRUCTURED_LINES {
        out.note(&format!("... {} more lines; `-o json` shows all", lines - STRUCTURED_LINES))?;
    }
    Ok(())
}

/// A line of at most 400 characters; one string can be a whole file.
fn shortened(line: &str) -> String {
    const LIMIT: usize = 400;
    match line.char_indices().nth(LIMIT) {
        Some((end, _)) => format!("{} ... ({} more bytes)", &line[..end], line.len() - end),
        None => line.to_owned(),
    }
}

fn failure(error: &v1::ToolError, out: &Output) -> Result<(), Failure> {
    out.note(&format!("{} ({}): {}", error.error_class, error.error_code, error.message))?;
    for wrong in &error.field_violations {
        let place = if wrong.field.is_empty() { "the input" } else { &wrong.field };
        out.note(&format!("  {place}: {}", wrong.description))?;
    }
    if let Some(path) = &error.blocked_path {
        out.note(&format!("  blocked path: {path}"))?;
    }
    for line in advice(error) {
        out.note(&format!("  {line}"))?;
    }
    if let Some(wait) = error.retry_after_ms {
        out.note(&format!("  not before {wait} ms from now"))?;
    }
    if let Some(code) = Code::find(&error.error_code) {
        out.note(&format!("  {}", code.place()))?;
    }
    Ok(())
}

/// What is known of effects and what to do, in words that agree: a caller that is told that something may have happened
/// is also told why repeating is safe all the same, or that it is not.
fn advice(error: &v1::ToolError) -> Vec<String> {
    use v1::Recoverability as R;
    let recoverability = error.recoverability_code();
    let repeats = matches!(recoverability, R::RetrySafe | R::RetryLater);
    let effects = match error.side_effects.as_deref() {
        Some("unknown") if repeats => Some("whether it had its effect before it failed is not known"),
        Some("unknown") => Some("it may have had effects before it failed"),
        Some("completed") => Some("its effect is done"),
        _ => None,
    };
    let step = match (recoverability, effects) {
        (R::Unspecified, _) => None,
        (R::RetrySafe, Some(_)) => Some("repeat the call: the effect is the same when the tool runs twice"),
        (R::RetryLater, Some(_)) => Some("repeat the call later: the effect is the same when the tool runs twice"),
        (R::RetrySafe, None) => Some("repeat the call; that is safe"),
        // The record says what would be needed; a caller that was just refused is not told to ask the same again.
        (R::RequestApprovalAgain, _) if error.error_code == codes::APPROVAL_REJECTED.as_str() => {
            Some("a person rejected the call: go on without it")
        }
        (R::DiscoverToolFirst, _) if error.error_code == codes::SURFACE_RETIRED.as_str() => {
            Some("the tool was retired for good: find another one with `toolplane search`")
        }
        (R::DiscoverToolFirst, _) if error.error_code == "surface.not_selected" => {
            Some("call it in a surface that has it: `toolplane surface extend`, or `toolplane surface create`")
        }
        (other, _) => exact(error).or(next_step(other)),
    };
    let step = step.map(|step| format!("what to do: {}", advised::in_text(step)));
    effects.map(str::to_owned).into_iter().chain(step).collect()
}

/// What the error itself says to do, where that is more than its kind of advice says.
fn exact(error: &v1::ToolError) -> Option<&str> {
    let general = error.recoverability.parse().map(|advice| codes::cure_of("", advice)).unwrap_or_default();
    error.recovery_suggestion.as_deref().filter(|said| !said.trim().is_empty() && *said != general)
}

fn next_step(recoverability: v1::Recoverability) -> Option<&'static str> {
    use v1::Recoverability as R;
    Some(match recoverability {
        R::Unspecified | R::RetrySafe => return None,
        R::NotRetryable => "repeating the same call will not help",
        R::RetryLater => "repeat the call later",
        R::ChangeArguments => "change the arguments",
        R::ChangeArgumentsOrPolicy => "change the arguments, or have the policy changed",
        R::DiscoverToolFirst => "find and load the tool first: `toolplane search`, `toolplane load`",
        R::RequestApprovalAgain => "ask again: repeat the call and have it approved",
        R::CompleteSetup => "complete the setup of the tool",
        R::VerifyBeforeRetry => "check what happened before you repeat the call",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_fits_a_line() {
        let text = |text: &str| v1::ContentBlock { block: Some(Block::Text(v1::TextBlock { text: text.to_owned() })) };
        let mut result = v1::ToolResult {
            status: "succeeded".to_owned(),
            invocation_id: "inv_1".to_owned(),
            content: vec![text("\nfirst\u{202e}\nsecond\n")],
            ..Default::default()
        };
        let line = one_line("[3]", "a.b", &result);
        assert!(line.starts_with("[3] ✔ a.b  succeeded  inv_1  first") && line.ends_with(" …"), "{line}");
        assert!(!line.contains('\u{202e}'));
        result.content = vec![text(&"x".repeat(5_000))];
        assert!(one_line("[3]", "a.b", &result).chars().count() < 150);
        result.is_error = true;
        result.error = Some(v1::ToolError { message: "no such file".to_owned(), ..Default::default() });
        assert_eq!(one_line("[3]", "a.b", &result), "[3] ✘ a.b  succeeded  inv_1  no such file");
        let message = format!("the batch of `{}` is refused: send it alone", "x".repeat(500));
        result.error = Some(v1::ToolError { message, ..Default::default() });
        let line = one_line("[3]", "a.b", &result);
        assert!(line.contains("the batch of `x") && line.ends_with("is refused: send it alone"), "{line}");
        assert!(line.chars().count() < 200, "{line}");
    }

    #[test]
    fn an_error_is_told_once() {
        let block = |text: &str| v1::ContentBlock { block: Some(Block::Text(v1::TextBlock { text: text.to_owned() })) };
        let error = v1::ToolError { message: "no".to_owned(), error_code: "a.b".to_owned(), ..Default::default() };
        assert!(repeats_the_error(&block("no"), Some(&error)));
        assert!(repeats_the_error(&block("no [a.b]"), Some(&error)));
        assert!(!repeats_the_error(&block("no, and what the tool wrote"), Some(&error)));
        assert!(!repeats_the_error(&block("no"), None));
    }

    fn advised(step: v1::Recoverability, side_effects: &str) -> Vec<String> {
        let side_effects = Some(side_effects.to_owned());
        advice(&v1::ToolError { recoverability_code: step.into(), side_effects, ..Default::default() })
    }

    #[test]
    fn whoever_was_refused_by_a_person_is_not_told_to_ask_again() {
        let ended = |code: &str| v1::ToolError {
            error_code: code.to_owned(),
            recoverability_code: v1::Recoverability::RequestApprovalAgain.into(),
            ..Default::default()
        };
        assert_eq!(
            advice(&ended(codes::APPROVAL_REJECTED.as_str())),
            ["what to do: a person rejected the call: go on without it"]
        );
        let expired = advice(&ended("approval.expired")).join("\n");
        assert!(expired.contains("repeat the call and have it approved"), "{expired}");
    }

    #[test]
    fn what_the_error_itself_advises_stands_for_the_general_words() {
        let ended = |code: codes::Code, suggestion: &str| {
            let (_, advice) = code.of_call();
            let error = toolplane_records::error::ToolError {
                recovery_suggestion: Some(suggestion.to_owned()),
                ..toolplane_records::error::ToolError::of(code, "no")
            };
            let general = codes::cure_of("", advice);
            (super::advice(&(&error).into()).join("\n"), general)
        };
        let (said, general) = ended(codes::SURFACE_NO_MOMENT, "Name the moment.");
        assert_eq!(said, "what to do: Name the moment.");
        let (said, _) = ended(codes::SURFACE_NO_MOMENT, general);
        assert_eq!(said, "what to do: change the arguments");
        let (said, _) = ended(codes::SURFACE_RENAMED, "Call `files.fetch`.");
        assert_eq!(said, "what to do: Call `files.fetch`.");
    }

    #[test]
    fn whoever_hears_of_effects_is_not_told_that_nothing_can_go_wrong() {
        use v1::Recoverability as R;
        for step in (0..=9).filter_map(|number| R::try_from(number).ok()) {
            for side_effects in ["unknown", "completed"] {
                let said = advised(step, side_effects).join("\n");
                assert!(said.contains("effect") && !said.contains("that is safe"), "{said}");
            }
        }
        assert_eq!(advised(R::RetrySafe, "none"), ["what to do: repeat the call; that is safe"]);
        let harmless = [
            "whether it had its effect before it failed is not known",
            "what to do: repeat the call: the effect is the same when the tool runs twice",
        ];
        assert_eq!(advised(R::RetrySafe, "unknown"), harmless);
    }

    #[test]
    fn long_lines_are_cut_between_characters() {
        let line = "é".repeat(500);
        let cut = shortened(&line);
        assert!(cut.starts_with(&"é".repeat(400)) && cut.ends_with("(200 more bytes)"));
        assert_eq!(shortened("short"), "short");
    }
}
