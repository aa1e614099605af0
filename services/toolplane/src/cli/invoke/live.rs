//! A running call on the terminal: one moving line; or plain lines without a person at the terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use tokio::sync::watch;
use toolplane_proto::v1;
use toolplane_records::partial::PartialResult;
use toolplane_records::progress::ToolProgress;
use toolplane_records::visible;

use crate::cli::advised;
use crate::cli::follow::CallUpdate;
use crate::cli::output::{self, bytes, duration, payload_bytes};
use crate::cli::waiting::{WaitArgs, WaitTimer};

/// Least time between two plain progress lines.
const PLAIN_PAUSE: Duration = Duration::from_secs(1);

/// What is shown while a call runs.
pub(crate) struct Live {
    tool: String,
    call: watch::Sender<String>,
    bar: ProgressBar,
    plain: bool,
    state: String,
    progress: String,
    last_plain: Option<Instant>,
    waiting: WaitTimer,
}

impl Live {
    /// Starts showing a call of `tool`, on standard error.
    pub(crate) fn new(tool: &str, wait: WaitArgs) -> Self {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed_precise} {msg}") {
            bar.set_style(style);
        }
        let plain = bar.is_hidden();
        bar.enable_steady_tick(Duration::from_millis(120));
        let (call, _) = watch::channel(String::new());
        let tool = visible::line(tool).into_owned();
        let waiting = WaitTimer::new(wait.bound(!plain));
        Self { tool, call, bar, plain, state: "asking".to_owned(), progress: String::new(), last_plain: None, waiting }
    }

    /// Whether a person is waited for.
    pub(crate) fn waiting(&self) -> WaitTimer {
        self.waiting.clone()
    }

    /// The id of the call, once it is known.
    pub(crate) fn call(&self) -> watch::Sender<String> {
        self.call.clone()
    }

    /// Shows one step.
    pub(crate) fn step(&mut self, step: &CallUpdate<'_>) {
        match step {
            CallUpdate::Accepted(acceptance) => self.accepted(acceptance),
            CallUpdate::Event(event) => self.event(event),
            CallUpdate::Formed(_) => {}
            CallUpdate::Broken(status) => {
                self.say(&format!("connection lost ({}); following again", status.message()));
            }
        }
    }

    /// Takes the moving line away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn accepted(&mut self, acceptance: &v1::Acceptance) {
        self.call.send_replace(acceptance.invocation_id.clone());
        let again = if acceptance.duplicate { ", accepted before under this key" } else { "" };
        self.say(&format!("{} accepted ({}{again})", acceptance.invocation_id, acceptance.durability));
    }

    fn event(&mut self, event: &v1::Event) {
        if event.event_class() == v1::EventClass::ToolInvocationProgress {
            self.progress(event);
            return;
        }
        if event.event_class() == v1::EventClass::ToolInvocationPartialResult {
            self.partial(event);
        }
        self.state = visible::line(state(&event.event_type)).into_owned();
        let call = self.call.borrow().clone();
        let mut waits = waits_for_a_person(event, &call);
        self.waiting.set(!waits.is_empty());
        if waits.is_empty() && self.plain {
            self.say(&self.state.clone());
        }
        if !waits.is_empty() {
            waits.extend(self.waiting.notice());
        }
        for line in waits {
            self.say(&line);
        }
        self.refresh();
    }

    fn progress(&mut self, event: &v1::Event) {
        let parsed = payload_bytes(event.data.as_ref());
        let Some(progress) = parsed.and_then(|bytes| serde_json::from_slice::<ToolProgress>(&bytes).ok()) else {
            return;
        };
        self.progress = describe(&progress);
        let due = self.last_plain.is_none_or(|last| last.elapsed() >= PLAIN_PAUSE);
        if self.plain && due {
            self.last_plain = Some(Instant::now());
            self.say(&format!("{} {}", self.state, self.progress));
        }
        self.refresh();
    }

    /// What the tool shows so far, line by line.
    fn partial(&self, event: &v1::Event) {
        let parsed = payload_bytes(event.data.as_ref());
        let shown = parsed.and_then(|bytes| serde_json::from_slice::<PartialResult>(&bytes).ok());
        for block in shown.iter().flat_map(|shown| &shown.content) {
            for line in block.text().unwrap_or_default().lines() {
                self.say(&format!("| {}", visible::line(line)));
            }
        }
    }

    fn refresh(&self) {
        self.bar.set_message(format!("{}: {} {}", self.tool, self.state, self.progress));
    }

    /// One line that stays.
    fn say(&self, line: &str) {
        // Progress that cannot be shown stops no call.
        let _ = self.bar.suspend(|| output::note(line));
    }
}

/// An event class as the state it leads to: `tool.invocation.queued` is `queued`.
pub(crate) fn state(event_type: &str) -> &str {
    let prefixes = ["tool.invocation.", "ext.invocation.", "tool.", "ext."];
    prefixes.iter().find_map(|prefix| event_type.strip_prefix(prefix)).unwrap_or(event_type)
}

/// Progress in one line: message, share, time, bytes, lines.
pub(crate) fn describe(progress: &ToolProgress) -> String {
    let mut parts = Vec::new();
    parts.extend(progress.percent.map(|percent| format!("{percent:.0} %")));
    parts.extend(progress.elapsed_ms.map(|ms| duration(Duration::from_millis(ms))));
    parts.extend(progress.bytes_read.filter(|&size| size > 0).map(|size| format!("{} read", bytes(size))));
    parts.extend(progress.bytes_written.filter(|&size| size > 0).map(|size| format!("{} written", bytes(size))));
    parts.extend(progress.line_count.filter(|&lines| lines > 0).map(|lines| format!("{lines} lines")));
    if !progress.message.is_empty() {
        parts.push(visible::line(&progress.message).into_owned());
    }
    parts.join(" · ")
}

/// What a person has to do before the call goes on, and how; nothing when the event says nothing of the kind.
pub(crate) fn waits_for_a_person(event: &v1::Event, call: &str) -> Vec<String> {
    match event.event_class() {
        v1::EventClass::ExtInvocationAwaitingApproval => {
            let approval = data_field(event, "approval_id").unwrap_or_else(|| "ID".to_owned());
            let until = data_field(event, "expires_at").map(|at| format!(", until {at}")).unwrap_or_default();
            let how = advised::command(format_args!("approvals approve {approval}"));
            vec![format!("waits for a person who may approve it{until}: `{how}` or `... reject {approval}`")]
        }
        v1::EventClass::ExtInvocationNeedsInput => {
            let prompt = data_field(event, "prompt").unwrap_or_default();
            let how = advised::command(format_args!("input {call} JSON"));
            let how = format!("answer it with `{how}` or `... --decline`");
            vec![format!("asks: {prompt}"), how]
        }
        _ => Vec::new(),
    }
}

/// A text member of an event's data.
pub(crate) fn data_field(event: &v1::Event, name: &str) -> Option<String> {
    let data: serde_json::Value = serde_json::from_slice(&payload_bytes(event.data.as_ref())?).ok()?;
    Some(data.get(name)?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_named_by_the_state_they_lead_to() {
        for (event, name) in [
            ("tool.invocation.queued", "queued"),
            ("ext.invocation.awaiting_approval", "awaiting_approval"),
            ("tool.permission.decided", "permission.decided"),
            ("something.else", "something.else"),
        ] {
            assert_eq!(state(event), name);
        }
    }
}
