//! What the holder of a lease is told about it, wherever it is connected.

use serde::{Deserialize, Serialize};
use toolplane_records::invocation::Invocation;
use toolplane_records::payload::JsonPayload;
use toolplane_records::vocabulary::AbortReason;

use crate::command::LeaseKey;

/// A message to the holder of a lease. It may be lost: what it says can be read off the record, and heartbeats say it
/// again ([`unheard`]). Its serde form is what schedulers pass on to each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaseMessage {
    /// Stop this execution, and report.
    Cancel {
        /// Under which lease it runs.
        lease: LeaseKey,
        /// Why.
        abort_reason: AbortReason,
    },
    /// The lease is void: stop, and do not report.
    Fenced {
        /// Which lease.
        lease: LeaseKey,
    },
    /// The answer to the tool's question.
    Input {
        /// Under which lease it asks.
        lease: LeaseKey,
        /// Which question.
        input_id: String,
        /// The answer; absent when the person asked chose not to answer, or there was none in time.
        #[serde(with = "one_or_none")]
        input: Option<JsonPayload>,
        /// There was no answer in time.
        expired: bool,
    },
}

impl LeaseMessage {
    /// The lease it is about; its holder is who is told.
    pub fn lease(&self) -> &LeaseKey {
        match self {
            Self::Cancel { lease, .. } | Self::Fenced { lease } | Self::Input { lease, .. } => lease,
        }
    }
}

/// What the holder of `lease` is told again until it reacts: a wish to cancel, and the answer to its question.
pub fn unheard(record: &Invocation, lease: &LeaseKey) -> impl Iterator<Item = LeaseMessage> {
    let cancel = record.cancel.as_ref().filter(|cancel| cancel.acknowledged_at.is_none() && cancel.failed.is_none());
    let cancel = cancel.map(|cancel| LeaseMessage::Cancel { lease: lease.clone(), abort_reason: cancel.abort_reason });
    let answered = record.pending_input.as_ref().and_then(|pending| Some((pending, pending.answer.as_ref()?)));
    let answer = answered.map(|(pending, answer)| LeaseMessage::Input {
        lease: lease.clone(),
        input_id: pending.input_id.clone(),
        input: answer.input.clone(),
        expired: answer.expired,
    });
    cancel.into_iter().chain(answer)
}

/// An answer as a list of none or one: it may be JSON's `null`, which an absent one must not be taken for.
mod one_or_none {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};
    use toolplane_records::payload::JsonPayload;

    pub(super) fn serialize<S: Serializer>(value: &Option<JsonPayload>, serializer: S) -> Result<S::Ok, S::Error> {
        value.as_slice().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<JsonPayload>, D::Error> {
        Ok(Vec::deserialize(deserializer)?.pop())
    }
}

#[cfg(test)]
mod tests {
    use toolplane_records::ids::{InvocationId, LeaseId, TenantId, WorkerId};

    use super::{JsonPayload, LeaseKey, LeaseMessage};
    use crate::command::Holder;

    #[test]
    fn an_answer_of_null_is_an_answer() {
        let lease = LeaseKey {
            tenant: TenantId::unauthenticated(),
            invocation_id: InvocationId::from_trusted("inv_1"),
            lease_no: 1,
            lease_id: LeaseId::from_trusted("lease_1"),
            holder: Holder { worker_id: WorkerId::from_trusted("w"), incarnation: None },
        };
        for input in [Some(JsonPayload::of(&())), Some(JsonPayload::of("yes")), None] {
            let message =
                LeaseMessage::Input { lease: lease.clone(), input_id: "in_1".to_owned(), input, expired: false };
            let travelled = serde_json::from_slice(&serde_json::to_vec(&message).unwrap()).unwrap();
            assert_eq!(message, travelled);
        }
    }
}
