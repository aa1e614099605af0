//! From the end of a process to an outcome, on evidence only.

use serde::Serialize;
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::json::JsonLimits;
use toolplane_records::payload::JsonPayload;
use toolplane_records::result::ContentBlock;
use toolplane_sandbox::{Exit, LimitHit, ProcessEnd, ResourceUse, RunLimits, Usage, Violation};

use crate::failure;
use crate::outcome::{BYTES, Exact, Outcome};
use crate::text;

mod modifiers;

/// The log beside the answer.
const STDERR: &str = "stderr";
/// Most bytes of each stream in the structured content. All that was kept is in the content blocks.
const MAX_STRUCTURED_BYTES: usize = 32 * 1024;

/// Most bytes of an output that is one JSON value.
const MAX_JSON_BYTES: u64 = 16 * 1024 * 1024;

/// What an adapter expects of a process; nothing special by default.
#[derive(Default)]
pub(crate) struct Rules<'a> {
    /// Exit codes that mean success; only 0 when empty.
    pub(crate) success: &'a [i32],
    /// The standard output is one JSON value and becomes the structured content.
    pub(crate) json_output: bool,
    /// Changes to the context of the conversation are taken out of that value.
    pub(crate) context_modifiers: bool,
}

/// The structured content of a process result.
#[derive(Debug, Serialize)]
struct ProcessReport<'a> {
    exit_code: Option<i32>,
    signal: Option<i32>,
    /// The streams as text, abridged when long.
    stdout: &'a str,
    stderr: &'a str,
    stdout_bytes: u64,
    stderr_bytes: u64,
    /// `utf-8`; `lossy` when the text has U+FFFD for bytes that are none. The bytes themselves are kept beside it.
    stdout_encoding: &'static str,
    stderr_encoding: &'static str,
    /// Bytes of a stream were left out, or the process was killed for writing too much.
    truncated: bool,
    timed_out: bool,
    canceled: bool,
    duration_ms: u64,
    /// The text looks as if the sandbox had been in the way. A hint, never evidence.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    sandbox_suspected: bool,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    violations: &'a [String],
    #[serde(skip_serializing_if = "<[LimitHit]>::is_empty")]
    limits_hit: &'a [LimitHit],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    new_protected_paths: &'a [String],
    /// What was taken back in the workspace.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    mended: &'a [String],
}

/// What an auditor is given.
#[derive(Debug, Serialize)]
struct Evidence<'a> {
    ending: ProcessEnd,
    wall_ms: u64,
    resources: ResourceUse,
    violations: &'a [Violation],
    limits_hit: &'a [LimitHit],
    new_protected_paths: &'a [String],
    mended: &'a [String],
    workspace_usage: Option<Usage>,
    stdout_bytes: u64,
    stderr_bytes: u64,
}

/// The outcome of a process that ended.
pub(crate) fn report(exit: &Exit, limits: &RunLimits, rules: &Rules<'_>) -> Outcome {
    let (stdout, stderr) = (text::of_captured(&exit.stdout), text::of_captured(&exit.stderr));
    let exact = [text::exact(Exact::ANSWER, &exit.stdout), text::exact(STDERR, &exit.stderr)];
    let violations: Vec<_> = exit.violations.iter().map(Violation::evidence).collect();
    let error = error(exit, limits, rules, &violations);
    let (exit_code, signal) = match exit.ending {
        ProcessEnd::Code(code) => (Some(code), None),
        ProcessEnd::Signal(signal) => (None, Some(signal)),
    };
    let structured = JsonPayload::of(&ProcessReport {
        exit_code,
        signal,
        stdout: &text::abridged(&stdout, MAX_STRUCTURED_BYTES, exit.stdout.omitted_bytes()),
        stderr: &text::abridged(&stderr, MAX_STRUCTURED_BYTES, exit.stderr.omitted_bytes()),
        stdout_bytes: exit.stdout.total_bytes,
        stderr_bytes: exit.stderr.total_bytes,
        stdout_encoding: encoding(exact[0].as_ref()),
        stderr_encoding: encoding(exact[1].as_ref()),
        truncated: exit.stdout.truncated || exit.stderr.truncated,
        timed_out: exit.timed_out,
        canceled: exit.canceled,
        duration_ms: exit.wall.as_millis() as u64,
        sandbox_suspected: error.is_some() && looks_denied(&stderr),
        violations: &violations,
        limits_hit: &exit.limits_hit,
        new_protected_paths: &exit.new_protected_paths,
        mended: &exit.mended,
    });
    let mut context_modifiers = Vec::new();
    let (structured, stdout, error) = match (rules.json_output, error) {
        (true, None) => match json_output(exit).and_then(|value| modifiers::split(value, rules.context_modifiers)) {
            // What was taken out is not shown as output either.
            Ok((value, split)) if !split.is_empty() => {
                context_modifiers = split;
                let shown = value.text().to_owned();
                (value, shown, None)
            }
            Ok((value, _)) => (value, stdout, None),
            Err(error) => (structured, stdout, Some(error)),
        },
        (_, error) => (structured, stdout, error),
    };
    let log = ContentBlock::Log { text: stderr, stream: STDERR.to_owned() };
    let mut outcome = Outcome::blocks(vec![ContentBlock::Text { text: stdout }, log]);
    outcome.exact = exact.into_iter().flatten().collect();
    outcome.output_bytes = exit.stdout.total_bytes + exit.stderr.total_bytes;
    outcome.structured_content = Some(structured);
    outcome.context_modifiers = context_modifiers;
    outcome.evidence = Some(evidence(exit));
    match error {
        Some(error) => outcome.failed(error),
        None => outcome,
    }
}

fn encoding(exact: Option<&Exact>) -> &'static str {
    if exact.is_some_and(|exact| exact.media_type == BYTES) { "lossy" } else { "utf-8" }
}

fn evidence(exit: &Exit) -> JsonPayload {
    JsonPayload::of(&Evidence {
        ending: exit.ending,
        wall_ms: exit.wall.as_millis() as u64,
        resources: exit.resources,
        violations: &exit.violations,
        limits_hit: &exit.limits_hit,
        new_protected_paths: &exit.new_protected_paths,
        mended: &exit.mended,
        workspace_usage: exit.workspace_usage,
        stdout_bytes: exit.stdout.total_bytes,
        stderr_bytes: exit.stderr.total_bytes,
    })
}

/// Why the call failed, if it did. The first that holds: ended from outside, over a bound of output, denied, over a bound
/// of resources, its own failure.
fn error(exit: &Exit, limits: &RunLimits, rules: &Rules<'_>, violations: &[String]) -> Option<ToolError> {
    let evidence_refs = violations.to_vec();
    if exit.canceled {
        return Some(failure::canceled());
    }
    if exit.timed_out {
        return Some(ToolError { evidence_refs, ..failure::timed_out(limits.wall.as_secs_f64()) });
    }
    if exit.output_limit_hit {
        let message = format!("the tool wrote more than {} bytes and was ended", limits.output_max_bytes);
        return Some(failure::something_may_be_done(failure::too_large(message)));
    }
    let code = match exit.ending {
        ProcessEnd::Code(0) if rules.success.is_empty() => return None,
        ProcessEnd::Code(code) if rules.success.contains(&code) => return None,
        ProcessEnd::Code(code) => Ok(code),
        ProcessEnd::Signal(signal) => Err(signal),
    };
    let how = code.map_or_else(|signal| format!("was ended by signal {signal}"), |code| format!("exit code {code}"));
    let serious: Vec<_> =
        exit.violations.iter().filter(|violation| !violation.probe).map(Violation::evidence).collect();
    if !serious.is_empty() {
        let message = format!("the tool tried what its sandbox denies ({}) and failed: {how}", serious.join(", "));
        let error = ToolError::of(codes::SANDBOX_VIOLATION, message);
        return Some(ToolError { evidence_refs, ..error });
    }
    if let Some(hit) = exit.limits_hit.first() {
        let limit = hit.limit.as_str();
        let message = format!("the tool reached its bound of {} for {limit} ({}): {how}", hit.allowed, hit.evidence);
        let evidence_refs =
            exit.limits_hit.iter().map(|hit| format!("{}:{}", hit.limit.as_str(), hit.evidence)).collect();
        return Some(ToolError { evidence_refs, ..failure::execution_failed(codes::RESOURCE_LIMIT, message) });
    }
    let error = match code {
        Ok(_) => failure::execution_failed(codes::EXIT_CODE, format!("the tool failed: {how}")),
        Err(_) => failure::execution_failed(codes::SIGNAL, format!("the tool {how}")),
    };
    Some(ToolError { evidence_refs, ..error })
}

fn json_output(exit: &Exit) -> Result<JsonPayload, ToolError> {
    let refuse = |rule: String| {
        failure::execution_failed(codes::OUTPUT_INVALID, format!("the output of the tool {rule}, and it declares JSON"))
    };
    if exit.stdout.truncated {
        return Err(refuse("is larger than what is kept of it".to_owned()));
    }
    let bytes = match &exit.stdout.file {
        Some(file) if file.size_bytes() > MAX_JSON_BYTES => {
            return Err(refuse(format!("is larger than {MAX_JSON_BYTES} bytes")));
        }
        Some(file) => std::fs::read(file.path()).map_err(|error| refuse(format!("cannot be read again: {error}")))?,
        None => exit.stdout.kept(),
    };
    let limits = JsonLimits { max_bytes: bytes.len(), ..JsonLimits::default() };
    JsonPayload::ingest(bytes.trim_ascii().to_vec(), &limits).map_err(|refusal| refuse(refusal.to_string()))
}

fn looks_denied(stderr: &str) -> bool {
    ["Permission denied", "Operation not permitted", "Read-only file system", "Network is unreachable"]
        .iter()
        .any(|phrase| stderr.contains(phrase))
}
