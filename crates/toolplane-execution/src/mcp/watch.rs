//! What a server says while a call runs, and what it asks.

use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use tokio::sync::Notify;
use toolplane_mcp::{Progress, Question, QuestionKind, Reply, Watch};
use toolplane_records::payload::JsonPayload;
use toolplane_records::visible;

use crate::ask::{Answer, InputQuestion};
use crate::call::Context;
use crate::progress::Counts;

/// Longest question, in characters as it is shown.
const MAX_PROMPT_CHARS: usize = 4096;
/// What a person says about a page that was to be visited.
const VISITED: &str = r#"{"type":"boolean","description":"true when you have been there, false to refuse"}"#;

/// Follows one call.
pub(super) struct CallWatch<'a> {
    context: &'a Context,
    seen: Mutex<Seen>,
    changed: Notify,
}

/// What was heard of a call.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// Requests that were made of the server, by their ids; the newest 16.
    pub(super) requests: Vec<u64>,
    /// Reports of progress.
    pub(super) progress: u64,
    /// Those that were not told.
    pub(super) left_out: u64,
    /// Questions that were put to a person.
    pub(super) questions: u64,
    counts: Counts,
    asking: bool,
}

impl<'a> CallWatch<'a> {
    pub(super) fn new(context: &'a Context) -> Self {
        Self { context, seen: Mutex::default(), changed: Notify::new() }
    }

    /// Waits for news.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    pub(super) fn counts(&self) -> Counts {
        self.seen.lock().counts.clone()
    }

    pub(super) fn is_asking(&self) -> bool {
        self.seen.lock().asking
    }

    pub(super) fn seen(&self) -> Seen {
        self.seen.lock().clone()
    }

    fn note(&self, change: impl FnOnce(&mut Seen)) {
        change(&mut self.seen.lock());
        self.changed.notify_one();
    }
}

/// A question that is with a person, for as long as this lives.
struct Asking<'a, 'b>(&'a CallWatch<'b>);

impl Drop for Asking<'_, '_> {
    fn drop(&mut self) {
        self.0.note(|seen| seen.asking = false);
    }
}

impl Watch for CallWatch<'_> {
    fn request(&self, id: u64) {
        let mut seen = self.seen.lock();
        if seen.requests.len() == 16 {
            seen.requests.remove(0);
        }
        seen.requests.push(id);
    }

    fn progress(&self, progress: Progress) {
        let percent = progress.total.filter(|total| *total > 0.0).map(|total| progress.progress * 100.0 / total);
        self.note(|seen| {
            seen.progress += 1;
            let message = progress.message.unwrap_or_else(|| std::mem::take(&mut seen.counts.message));
            let percent = percent.filter(|percent| percent.is_finite()).map(|percent| percent.clamp(0.0, 100.0));
            seen.counts = Counts { message, percent, ..Counts::default() };
        });
    }

    fn progress_left_out(&self, reports: u64) {
        self.seen.lock().left_out += reports;
    }

    fn answers(&self) -> bool {
        self.context.asker.answers()
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Reply> {
        Box::pin(async move {
            self.note(|seen| {
                seen.asking = true;
                seen.questions += 1;
            });
            let _asking = Asking(self);
            let Question { message, kind } = question;
            let (prompt, schema, form) = match kind {
                QuestionKind::Form { schema } => (message, schema, true),
                QuestionKind::Url { url } => {
                    (format!("{message}\n\nOpen this page: {url}"), JsonPayload::from_checked(VISITED), false)
                }
            };
            let prompt = visible::text(&prompt).chars().take(MAX_PROMPT_CHARS).collect();
            match self.context.ask(InputQuestion { prompt, schema: Some(schema), ttl: None }).await {
                Some(Answer::Provided(content)) if form => Reply::Accept { content: Some(content) },
                Some(Answer::Provided(visited)) if visited.text() == "true" => Reply::Accept { content: None },
                Some(Answer::Provided(_) | Answer::Declined) => Reply::Decline,
                Some(Answer::Expired) | None => Reply::Cancel,
            }
        })
    }
}
