//! Following a call to its end, over every break of the connection.

use std::time::{Duration, Instant};

use prost::Message as _;
use sha2::{Digest as _, Sha256};
use toolplane_proto::v1;

use super::asking::{Load, PAUSE};
use crate::history::Record;

/// How long a caller follows one call before it goes on to the next; the judge looks at all of them.
const FOLLOW: Duration = Duration::from_secs(10);

/// Digest of a whole result.
pub(crate) fn digest_of(result: &v1::ToolResult) -> String {
    hex::encode(Sha256::digest(result.encode_to_vec()))
}

impl Load {
    /// Follows a call: some by watching its events, others by waiting for its end.
    pub(super) async fn follow(&self, caller: u64, invocation: &str) {
        let until = Instant::now() + FOLLOW;
        let told = if caller.is_multiple_of(4) {
            self.watch(caller, invocation, until).await.map(|result| ("watch", result))
        } else {
            self.wait(caller, invocation, until).await.map(|result| ("wait", result))
        };
        if let Some((via, result)) = told {
            let (invocation, via) = (invocation.to_owned(), via.to_owned());
            self.recorder.record(Record::Observed { invocation, via, digest: digest_of(&result) });
        }
    }

    async fn wait(&self, caller: u64, invocation: &str, until: Instant) -> Option<v1::ToolResult> {
        for attempt in 0.. {
            if Instant::now() > until {
                return None;
            }
            let request = v1::WaitInvocationRequest {
                invocation_id: invocation.to_owned(),
                timeout_ms: 1_500,
                ..Default::default()
            };
            let mut client = self.client(caller + attempt).invocations();
            let asked = client.wait_invocation(request);
            match tokio::time::timeout(Duration::from_secs(3), asked).await {
                Ok(Ok(answer)) => {
                    if let Some(result) = answer.into_inner().result {
                        return Some(*result);
                    }
                }
                _ => toolplane_wait::pause(PAUSE, "callers come back after a while").await,
            }
        }
        None
    }

    /// Watches from the first event to the result, coming back wherever the connection broke.
    pub(crate) async fn watch(&self, caller: u64, invocation: &str, until: Instant) -> Option<v1::ToolResult> {
        let watcher = u64::from_be_bytes(*uuid::Uuid::new_v4().as_bytes().first_chunk::<8>()?);
        let mut next = 1;
        for attempt in 0.. {
            if Instant::now() > until {
                return None;
            }
            let (seqs, result) = self.stretch(caller + attempt, invocation, next, until).await;
            let from_seq = next;
            next = seqs.last().map_or(next, |last| last + 1);
            let (invocation, ended) = (invocation.to_owned(), result.is_some());
            if ended || !seqs.is_empty() {
                self.recorder.record(Record::Watched { watcher, invocation, from_seq, seqs, ended });
            }
            if result.is_some() {
                return result;
            }
            toolplane_wait::pause(PAUSE, "callers come back after a while").await;
        }
        None
    }

    /// One connected stretch: the sequences it was sent, and the result if it came.
    pub(crate) async fn stretch(
        &self,
        turn: u64,
        invocation: &str,
        from_seq: u64,
        until: Instant,
    ) -> (Vec<u64>, Option<v1::ToolResult>) {
        let mut seqs = Vec::new();
        let request =
            v1::WatchInvocationRequest { invocation_id: invocation.to_owned(), from_seq, ..Default::default() };
        let followed = async {
            let mut stream = self.client(turn).invocations().watch_invocation(request).await.ok()?.into_inner();
            while let Ok(Some(message)) = stream.message().await {
                seqs.extend(message.events.iter().map(|event| event.sequence));
                if message.result.is_some() {
                    return message.result;
                }
            }
            None
        };
        let patience = until.saturating_duration_since(Instant::now());
        let result = tokio::time::timeout(patience, followed).await.ok().flatten();
        (seqs, result.map(|result| *result))
    }
}

impl Load {
    /// One message of a watch, and then the connection is left: its sequences, and whether it brought the result.
    pub(crate) async fn one_message(&self, turn: u64, invocation: &str, from_seq: u64) -> (Vec<u64>, bool) {
        let request =
            v1::WatchInvocationRequest { invocation_id: invocation.to_owned(), from_seq, ..Default::default() };
        let mut client = self.client(turn).invocations();
        let asked = async {
            let mut stream = client.watch_invocation(request).await.ok()?.into_inner();
            stream.message().await.ok()?
        };
        let Ok(Some(message)) = tokio::time::timeout(Duration::from_secs(3), asked).await else {
            return (Vec::new(), false);
        };
        (message.events.iter().map(|event| event.sequence).collect(), message.result.is_some())
    }
}
