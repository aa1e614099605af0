//! The hostile corpus, case by case, against the real tools.
//!
//! One line of `tests/data/hostile.jsonl` is one case. Every case passes, fails, or is not applicable for a stated reason;
//! nothing is skipped silently. A case known to end differently from what the corpus expects is listed with the reason in
//! [`different`]; the test fails if any other case fails.

pub(crate) mod files;
mod http;
mod mcp;
mod shell;

use serde_json::Value;
use toolplane_execution::Outcome;

use crate::support::{structured, text};

pub(crate) struct Case {
    pub(crate) id: String,
    class: String,
    kind: String,
    pub(crate) input: Value,
    pub(crate) expect: Value,
}

impl Case {
    pub(crate) fn text(&self, field: &str) -> &str {
        self.input[field].as_str().unwrap_or("")
    }
}

pub(crate) enum Verdict {
    Passed,
    Failed(String),
    NotApplicable(&'static str),
}

impl From<Result<(), String>> for Verdict {
    fn from(result: Result<(), String>) -> Self {
        match result {
            Ok(()) => Self::Passed,
            Err(reason) => Self::Failed(reason),
        }
    }
}

fn cases() -> Vec<Case> {
    let lines = include_str!("../data/hostile.jsonl").lines();
    let field = |case: &Value, name: &str| case[name].as_str().unwrap().to_owned();
    lines
        .map(|line| {
            let case: Value = serde_json::from_str(line).unwrap();
            Case {
                id: field(&case, "id"),
                class: field(&case, "class"),
                kind: field(&case, "tool_kind"),
                input: case["input"].clone(),
                expect: case["expect"].clone(),
            }
        })
        .collect()
}

/// Cases the tools hold against, but with another answer than the corpus expects: that answer, and why.
fn different(id: &str) -> Option<(&'static str, &'static str)> {
    Some(match id {
        "esc-010" => (
            "error_class is none",
            "the program catches every denial and exits with 0: a success with the violations on record",
        ),
        "esc-024" => (
            "error_class is execution_failed",
            "process 1 hides its namespaces, so the attempt ends before the call that would be recorded",
        ),
        "esc-029" => (
            "reported and left where it is",
            "new protected paths are not moved away: `git init` and `git clone` make them as well",
        ),
        "res-001" => (
            "error_class is none",
            "the command itself ends with 0 at once; the bomb is killed, and its bound is in the evidence if it got there",
        ),
        "res-006" => (
            "error_class is result_too_large",
            "a read-only workspace takes no files at all, and the flood of errors is ended by the output bound",
        ),
        "mcp-002" => (
            "error_class is dependency_unavailable",
            "the line is over the bound of a message: the session ends, and what the call did is not known",
        ),
        "mcp-009" => (
            "error_class is none",
            "the server is refused each request by an error of the protocol; the call goes on and has its answer",
        ),
        "ssrf-057" => (
            "error_class is none",
            "what is no parameter of the operation goes nowhere; the schema of its input refuses it before a worker sees it",
        ),
        "http-004" => (
            "flood: error_class is result_too_large",
            "a body over the bound is too large before it can turn out not to be JSON",
        ),
        _ => return None,
    })
}

async fn judge(case: &Case) -> Verdict {
    let class = case.class.split('.').next().unwrap();
    match (class, case.kind.as_str()) {
        ("mcp" | "injection", _) => mcp::judge(case).await,
        ("failclosed", _) => shell::failclosed(case).await,
        ("path", _) => Verdict::NotApplicable("all of them are judged by a test of their own"),
        ("json", "file_operation") => files::judge(case).await,
        ("ssrf" | "http", "openapi_operation") => http::judge(case).await,
        ("http", _) => Verdict::NotApplicable("there is no sandbox profile with network"),
        ("secret", "openapi_operation") => http::error_path(case).await,
        ("secret", "native_tool") => Verdict::NotApplicable("the canary of `tests/it` looks through every log"),
        ("secret", _) if case.text("command").is_empty() || case.input.get("env").is_none() => {
            Verdict::NotApplicable("redaction is not part of executing a call")
        }
        ("json", _) => Verdict::NotApplicable("input is checked before it reaches an executor"),
        ("tty", _) if case.id == "tty-006" => Verdict::NotApplicable("permission prompts are made elsewhere"),
        _ => shell::judge(case).await,
    }
}

/// Compares the outcome with every expectation that can be read by a program.
pub(crate) fn compare(case: &Case, outcome: &Outcome) -> Result<(), String> {
    let expected = |name: &str| case.expect[name].as_str();
    let report = structured(outcome);
    let error = outcome.error.as_ref();
    let same = |what: &str, expected: Option<&str>, found: &str| match expected {
        Some(expected) if expected != found => Err(format!("{what} is {found}, expected {expected}: {report:.600}")),
        _ => Ok(()),
    };
    same("status", expected("status"), outcome.status.as_str())?;
    let class = error.map_or("none", |error| error.error_class.as_str());
    same("error_class", expected("error_class"), class)?;
    if let Some(code) = expected("code") {
        let found = error.map_or("none", |error| error.error_code.as_str());
        // The corpus names them without the part of the system they belong to.
        let short = code.trim_start_matches("sandbox_");
        if found.split('.').next_back() != Some(short) {
            return Err(format!("code is {found}, expected {code}"));
        }
    }
    if expected("signal") == Some("SIGSYS") && report["signal"] != 31 {
        return Err(format!("signal is {}", report["signal"]));
    }
    if let Some(code) = case.expect.get("exit_code")
        && report["exit_code"] != *code
    {
        return Err(format!("exit code is {}", report["exit_code"]));
    }
    evidence(case, outcome, &report)?;
    for forbidden in case.expect["must_not"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if let Some(word) = forbidden.strip_prefix("stdout contains ")
            && text(outcome).contains(word.trim_matches('\''))
        {
            return Err(format!("stdout holds {word}"));
        }
    }
    if case.expect["blocked_path"] == true && error.is_none_or(|error| error.blocked_path.is_none()) {
        return Err("no blocked path".into());
    }
    Ok(())
}

fn evidence(case: &Case, outcome: &Outcome, report: &Value) -> Result<(), String> {
    let recorded = outcome.error.as_ref().map(|error| error.evidence_refs.clone()).unwrap_or_default();
    if let Some(expected) = case.expect["evidence"].as_str().filter(|evidence| evidence.starts_with("seccomp_denied"))
        && !recorded.iter().any(|found| found == expected)
    {
        return Err(format!("evidence is {recorded:?}, expected {expected}; {report:.400}"));
    }
    for expected in case.expect["violations"].as_array().into_iter().flatten() {
        let line = format!("seccomp_denied:socket(family={})", expected["family"]);
        if !report["violations"].as_array().is_some_and(|found| found.iter().any(|found| *found == line)) {
            return Err(format!("violations are {}, expected {line}", report["violations"]));
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_case_is_held() {
    let (mut passed, mut failed, mut not_applicable) = (0, 0, 0);
    let mut wrong = Vec::new();
    for case in cases() {
        let begin = std::time::Instant::now();
        let verdict = judge(&case).await;
        let took = begin.elapsed().as_millis();
        let known = different(&case.id);
        let line = match (&verdict, known) {
            (Verdict::Passed, _) => "passed".to_owned(),
            (Verdict::Failed(reason), Some((answer, why))) if reason.contains(answer) => {
                format!("differs: {why} [{reason:.200}]")
            }
            (Verdict::Failed(reason), _) => {
                wrong.push(format!("{}: {reason}", case.id));
                format!("FAILED: {reason}")
            }
            (Verdict::NotApplicable(reason), _) => format!("not applicable: {reason}"),
        };
        match verdict {
            Verdict::Passed => passed += 1,
            Verdict::Failed(_) => failed += 1,
            Verdict::NotApplicable(_) => not_applicable += 1,
        }
        println!("{:10} {:28} {took:6} ms  {line}", case.id, case.class);
    }
    println!("hostile corpus: {passed} passed, {failed} differ or failed, {not_applicable} not applicable");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
