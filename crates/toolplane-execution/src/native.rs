//! Tools inside this program.

use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use toolplane_records::payload::JsonPayload;
use toolplane_records::result::ContentBlock;

use crate::adapter::Adapter;
use crate::ask::{Answer, InputQuestion};
use crate::call::{Call, Context};
use crate::deadline::bounded;
use crate::failure::{canceled, invalid_input};
use crate::input;
use crate::outcome::Outcome;
use crate::progress::{Counts, Meter, final_status};

/// Longest `native.sleep`.
const MAX_SLEEP_MS: u64 = 600_000;
/// Longest question of `native.ask`.
const MAX_PROMPT_BYTES: usize = 4096;

/// `native.echo`: gives back its input, byte for byte, as text and as structured content.
#[derive(Debug)]
pub(crate) struct Echo;

impl Adapter for Echo {
    fn pool(&self) -> &'static str {
        "native"
    }

    fn needs_sandbox(&self) -> bool {
        false
    }

    fn execute<'a>(&'a self, call: &'a Call, _context: &'a Context) -> BoxFuture<'a, Outcome> {
        let mut outcome = Outcome::text(call.input.text().to_owned());
        outcome.structured_content = Some(call.input.clone());
        Box::pin(std::future::ready(outcome))
    }
}

/// `native.noop`: does nothing and says nothing. For measuring what everything around a tool costs.
#[derive(Debug)]
pub(crate) struct Noop;

impl Adapter for Noop {
    fn pool(&self) -> &'static str {
        "native"
    }

    fn needs_sandbox(&self) -> bool {
        false
    }

    fn execute<'a>(&'a self, _call: &'a Call, _context: &'a Context) -> BoxFuture<'a, Outcome> {
        Box::pin(std::future::ready(Outcome::blocks(vec![ContentBlock::Empty])))
    }
}

/// What `native.sleep` takes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SleepInput {
    /// Milliseconds; up to ten minutes.
    ms: u64,
}

/// `native.sleep`: waits, tells how far it is, and can be canceled at any time.
#[derive(Debug)]
pub(crate) struct Sleep {
    pub(crate) default_timeout: Duration,
}

impl Adapter for Sleep {
    fn pool(&self) -> &'static str {
        "native"
    }

    fn needs_sandbox(&self) -> bool {
        false
    }

    fn execute<'a>(&'a self, call: &'a Call, context: &'a Context) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let ms = match input::read::<SleepInput>(&call.input) {
                Ok(SleepInput { ms }) if ms <= MAX_SLEEP_MS => ms,
                Ok(_) => return Outcome::failure(invalid_input("ms", format!("must be at most {MAX_SLEEP_MS}"))),
                Err(error) => return Outcome::failure(error),
            };
            let mut meter = Meter::start(&context.progress);
            let timeout = call.limits.timeout.unwrap_or(self.default_timeout);
            let outcome = bounded(timeout, context, sleep(ms, &mut meter)).await;
            meter.finish(
                Counts { percent: outcome.is_success().then_some(100.0), ..Counts::default() },
                final_status(&outcome),
            );
            outcome
        })
    }
}

/// What `native.ask` takes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AskInput {
    /// The question; up to 4 KiB.
    prompt: String,
    /// JSON Schema the answer has to fit.
    schema: Option<JsonPayload>,
    /// How long to wait for an answer, in milliseconds.
    ttl_ms: Option<u32>,
}

/// What `native.ask` gives.
#[derive(Debug, Serialize)]
struct AskOutput {
    /// `answered`, `declined` or `expired`.
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<JsonPayload>,
}

/// `native.ask`: puts a question to the caller, and gives back the answer. That there was no answer is an answer too.
#[derive(Debug)]
pub(crate) struct Ask;

impl Adapter for Ask {
    fn pool(&self) -> &'static str {
        "native"
    }

    fn needs_sandbox(&self) -> bool {
        false
    }

    fn execute<'a>(&'a self, call: &'a Call, context: &'a Context) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let AskInput { prompt, schema, ttl_ms } = match input::read(&call.input) {
                Ok(input) => input,
                Err(error) => return Outcome::failure(error),
            };
            if prompt.trim().is_empty() || prompt.len() > MAX_PROMPT_BYTES {
                return Outcome::failure(invalid_input("prompt", format!("must hold 1 to {MAX_PROMPT_BYTES} bytes")));
            }
            let ttl = ttl_ms.map(|ms| Duration::from_millis(ms.into()));
            match context.ask(InputQuestion { prompt, schema, ttl }).await {
                Some(Answer::Provided(answer)) => {
                    let text = answer.text().to_owned();
                    Outcome::text(text).structured(&AskOutput { outcome: "answered", answer: Some(answer) })
                }
                Some(Answer::Declined) => unanswered("declined", "the question was declined"),
                Some(Answer::Expired) => unanswered("expired", "no person answered the question in time"),
                None => Outcome::failure(canceled()),
            }
        })
    }
}

fn unanswered(outcome: &'static str, text: &str) -> Outcome {
    Outcome::text(text.to_owned()).structured(&AskOutput { outcome, answer: None })
}

async fn sleep(ms: u64, meter: &mut Meter) -> Outcome {
    let begin = tokio::time::Instant::now();
    let end = begin + Duration::from_millis(ms);
    loop {
        tokio::select! {
            biased;
            () = tokio::time::sleep_until(end) => return Outcome::text(format!("slept for {ms} ms")),
            () = meter.due() => {
                let percent = begin.elapsed().as_secs_f64() * 100_000.0 / ms as f64;
                meter.note(Counts { percent: Some(percent), ..Counts::default() });
            }
        }
    }
}
