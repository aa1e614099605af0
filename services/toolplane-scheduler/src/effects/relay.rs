//! Messages to a worker that may be connected to another scheduler.

use serde::{Deserialize, Serialize};
use toolplane_lifecycle::{Effect, LeaseKey};
use toolplane_records::ids::WorkerId;
use toolplane_records::payload::JsonPayload;
use toolplane_records::vocabulary::AbortReason;

use crate::dispatch::WorkerMessage;

/// What a worker is told about a lease it holds, whoever it is connected to. Lost ones are made good by heartbeats.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Relay {
    /// Stop and report.
    Cancel { lease: LeaseKey, abort_reason: AbortReason },
    /// Stop; a report would change nothing.
    Fenced { lease: LeaseKey },
    /// The answer to the tool's question.
    Input {
        lease: LeaseKey,
        input_id: String,
        /// None or one: an answer may be JSON's `null`.
        input: Vec<JsonPayload>,
        expired: bool,
    },
}

impl Relay {
    /// The message in `effect`, when it is one, and to whom.
    pub(crate) fn of(effect: &Effect) -> Option<(&WorkerId, Self)> {
        match effect {
            Effect::SendCancel { worker_id, lease, abort_reason } => {
                Some((worker_id, Self::Cancel { lease: lease.clone(), abort_reason: *abort_reason }))
            }
            Effect::SendFenced { worker_id, lease } => Some((worker_id, Self::Fenced { lease: lease.clone() })),
            Effect::SendInput { worker_id, lease, input_id, input, expired } => Some((
                worker_id,
                Self::Input {
                    lease: lease.clone(),
                    input_id: input_id.clone(),
                    input: input.iter().cloned().collect(),
                    expired: *expired,
                },
            )),
            _ => None,
        }
    }
}

impl From<Relay> for WorkerMessage {
    fn from(relay: Relay) -> Self {
        match relay {
            Relay::Cancel { lease, abort_reason } => Self::Cancel { lease, abort_reason },
            Relay::Fenced { lease } => Self::Fenced { lease },
            Relay::Input { lease, input_id, input, expired } => {
                Self::Input { lease, input_id, input: input.into_iter().next(), expired }
            }
        }
    }
}
