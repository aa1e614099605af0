//! What can be read of what a result keeps by reference: in whole or cut, until when, under which name.

use prost_types::Timestamp;
use toolplane_proto::v1;
use toolplane_runtime::clock;

use super::advised;
use super::connection::Connection;
use super::output::{bytes, instant};

/// The class of records that kept outputs are.
const OUTPUTS: &str = "outputs";

/// What the record of a call knows of what its result refers to.
#[derive(Debug, Default)]
pub(crate) struct KeptOutputs {
    /// The address of what `fetch` reads where nothing is named.
    first: String,
    decisions: Vec<v1::ResultPersistence>,
    /// All of them are removed, since then.
    removed_at: Option<Timestamp>,
    /// A legal hold keeps them beyond their time.
    held: bool,
    now: Timestamp,
}

impl KeptOutputs {
    /// What the record of the call says of `result`; nothing is asked for a result that refers to nothing.
    pub(crate) async fn of(result: &v1::ToolResult, connection: &Connection) -> Self {
        let beside = result.artifact_refs.iter().any(|artifact| artifact.payload.is_some());
        if first(result).is_none() && !beside {
            return Self::default();
        }
        let request = v1::GetInvocationRequest {
            invocation_id: result.invocation_id.clone(),
            include_trail: true,
            ..v1::GetInvocationRequest::default()
        };
        // The result is there and is told, also where what is known of it besides cannot be asked for.
        let told = connection.invocations().get_invocation(request).await.ok();
        let trail = told.and_then(|told| told.into_inner().trail).unwrap_or_default();
        Self::told(result, &trail, now())
    }

    /// The same where the record of the call is not asked.
    pub(crate) fn unasked(result: &v1::ToolResult) -> Self {
        Self::told(result, &v1::InvocationTrail::default(), Timestamp::default())
    }

    /// The same by a `trail` that is there, at `now`.
    pub(crate) fn told(result: &v1::ToolResult, trail: &v1::InvocationTrail, now: Timestamp) -> Self {
        let outputs = trail.kept_until.iter().find(|stay| stay.class == OUTPUTS);
        Self {
            first: first(result).map(|kept| kept.uri.clone()).unwrap_or_default(),
            decisions: trail.persistence.clone(),
            removed_at: outputs.and_then(|stay| stay.removed_at),
            held: trail.kept_until.iter().any(|stay| !stay.held.is_empty()),
            now,
        }
    }

    /// Since when `kept` cannot be read any more, as far as the record knows it.
    pub(crate) fn gone_since(&self, kept: &v1::PayloadRef) -> Option<Timestamp> {
        let until = self.decision(kept).and_then(|decision| decision.expires_at).filter(|_| !self.held);
        let over = until.filter(|until| (until.seconds, until.nanos) <= (self.now.seconds, self.now.nanos));
        self.removed_at.or(over)
    }

    /// How many bytes there were in all, where only the beginning is kept.
    pub(crate) fn cut_from(&self, kept: &v1::PayloadRef) -> Option<u64> {
        let all = self.decision(kept)?.original_size_bytes;
        (kept.size_bytes < all).then_some(all)
    }

    /// What is kept, and how it is read.
    pub(crate) fn lines(&self, kept: &v1::PayloadRef, invocation_id: &str) -> Vec<String> {
        let (size, what) = (bytes(kept.size_bytes), format!("{}, {}", kept.media_type, kept.digest));
        if let Some(since) = self.gone_since(kept) {
            return vec![format!("not kept any more since {}: {size}, {what}", instant(Some(&since)))];
        }
        let said = match self.cut_from(kept) {
            Some(all) => format!("the beginning is kept, {} of {all} bytes: {size}, {what}", kept.size_bytes),
            None if self.decision(kept).is_some() => format!("kept in full: {size}, {what}"),
            None => format!("kept: {size}, {what}"),
        };
        vec![said, format!("  read it with `{}` (--offset, --limit, -O FILE)", self.fetch(kept, invocation_id))]
    }

    /// The command that reads it.
    pub(crate) fn fetch(&self, kept: &v1::PayloadRef, invocation_id: &str) -> String {
        let named = if self.first == kept.uri { String::new() } else { format!(" --ref {}", kept.digest) };
        advised::command(format_args!("fetch {invocation_id}{named}"))
    }

    /// Until when `kept` stays, or since when it is gone; `None` where nothing says so, and where a hold keeps it.
    pub(crate) fn until(&self, kept: &v1::PayloadRef) -> Option<String> {
        if let Some(since) = self.gone_since(kept) {
            return Some(format!("gone since {}", instant(Some(&since))));
        }
        let until = self.decision(kept)?.expires_at.filter(|_| !self.held)?;
        Some(format!("until {}", instant(Some(&until))))
    }

    fn decision(&self, kept: &v1::PayloadRef) -> Option<&v1::ResultPersistence> {
        let of_it =
            |decision: &&v1::ResultPersistence| decision.persisted_ref.as_ref().is_some_and(|it| it.uri == kept.uri);
        self.decisions.iter().find(of_it)
    }
}

/// The time by this machine's clock.
pub(crate) fn now() -> Timestamp {
    Timestamp { seconds: i64::try_from(clock::since_epoch().as_secs()).unwrap_or_default(), nanos: 0 }
}

/// What `fetch` reads where nothing is named.
pub(crate) fn first(result: &v1::ToolResult) -> Option<&v1::PayloadRef> {
    result.content.iter().chain(&result.model_facing_content).find_map(v1::ContentBlock::kept)
}

#[cfg(test)]
mod tests {
    use toolplane_proto::v1::content_block::Block;

    use super::*;

    fn payload(name: &str) -> v1::PayloadRef {
        v1::PayloadRef {
            uri: format!("toolplane://payloads/{name}"),
            media_type: "text/plain".to_owned(),
            digest: format!("sha256:{name}"),
            size_bytes: 1_000,
        }
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp { seconds, nanos: 0 }
    }

    /// Two outputs, the second of which was cut and may be read until 10 s.
    fn told(now: i64, stays: Vec<v1::KeptUntil>) -> KeptOutputs {
        let block = |name| v1::ContentBlock { block: Some(Block::PersistedOutputRef(payload(name))) };
        let result = v1::ToolResult { content: vec![block("a"), block("b")], ..Default::default() };
        let decided = |name, original_size_bytes, expires_at| v1::ResultPersistence {
            persisted_ref: Some(payload(name)),
            original_size_bytes,
            expires_at,
            ..Default::default()
        };
        let trail = v1::InvocationTrail {
            persistence: vec![decided("b", 5_000, Some(at(10))), decided("a", 1_000, None)],
            kept_until: stays,
            ..Default::default()
        };
        KeptOutputs::told(&result, &trail, at(now))
    }

    fn stay(removed_at: Option<Timestamp>, held: &str) -> Vec<v1::KeptUntil> {
        vec![v1::KeptUntil { class: OUTPUTS.to_owned(), removed_at, held: held.to_owned(), ..Default::default() }]
    }

    #[test]
    fn each_output_is_read_by_a_command_that_reads_it() {
        let kept = told(9, Vec::new());
        let [first, second] = ["a", "b"].map(|name| kept.lines(&payload(name), "inv_1").join("\n"));
        assert!(first.starts_with("kept in full: "), "{first}");
        assert!(first.contains("`toolplane fetch inv_1`"), "{first}");
        assert!(second.starts_with("the beginning is kept, 1000 of 5000 bytes"), "{second}");
        assert!(second.contains("`toolplane fetch inv_1 --ref sha256:b`"), "{second}");
        let until = kept.until(&payload("b")).unwrap();
        assert!(until.starts_with("until 1970-01-01"), "{until}");
        assert!(kept.until(&payload("a")).is_none(), "nothing says until when");
    }

    #[test]
    fn what_is_gone_is_said_to_be_and_not_advised() {
        let over = told(10, Vec::new());
        assert!(over.gone_since(&payload("a")).is_none());
        let removed = told(9, stay(Some(at(5)), ""));
        for (kept, name) in [(&over, "b"), (&removed, "a"), (&removed, "b")] {
            let said = kept.lines(&payload(name), "inv_1").join("\n");
            assert!(said.starts_with("not kept any more since 1970-01-01") && !said.contains("fetch"), "{said}");
            let until = kept.until(&payload(name)).unwrap();
            assert!(until.starts_with("gone since 1970-01-01"), "{until}");
        }
        let held = told(10, stay(None, "case 17"));
        assert!(
            held.gone_since(&payload("b")).is_none() && held.until(&payload("b")).is_none(),
            "what is held may be read"
        );
    }
}
