//! A call and a batch as the cluster shows them at the end.

use serde::{Deserialize, Serialize};

/// A call at the end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FinalCall {
    /// Which call it is.
    #[serde(flatten)]
    pub name: CallName,
    /// What became of it.
    #[serde(flatten)]
    pub course: CallCourse,
    /// Leases granted.
    pub lease_no: u32,
    /// A lease is still held.
    pub leased: bool,
    /// Its one result.
    pub result: Option<FinalResult>,
    /// When it was accepted.
    pub created_ms: u64,
    /// When it ended.
    pub ended_ms: Option<u64>,
    /// A caller asked to cancel it.
    #[serde(default)]
    pub cancel_asked: bool,
    /// The locks it had.
    #[serde(flatten)]
    pub locks: LockTicket,
}

/// Which call it is, and whose.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallName {
    /// The call.
    pub invocation: String,
    /// Its idempotency key.
    pub key: String,
    /// Owner.
    pub tenant: String,
    /// Its priority band.
    #[serde(default)]
    pub band: String,
}

/// What became of a call: its status, and everything that led there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallCourse {
    /// Its status.
    pub status: String,
    /// Its recorded changes of status.
    pub steps: Vec<Step>,
    /// Its whole log.
    pub events: Vec<FinalEvent>,
    /// The last sequence, as the record says.
    pub last_seq: u64,
}

/// The place of a call among those that want its locks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LockTicket {
    /// Its number; absent when the call has no locks.
    #[serde(default)]
    pub ticket: Option<u64>,
    /// When the locks were granted.
    #[serde(default)]
    pub granted_ms: Option<u64>,
}

impl FinalCall {
    /// It has ended.
    pub fn is_terminal(&self) -> bool {
        matches!(
            self.course.status.as_str(),
            "schema_parse_failed"
                | "validation_failed"
                | "denied"
                | "blocked"
                | "succeeded"
                | "failed"
                | "canceled"
                | "timed_out"
        )
    }

    /// The code of its error.
    pub fn error_code(&self) -> &str {
        self.result.as_ref().map_or("", |result| result.error_code.as_str())
    }

    /// It is not known whether its effect happened.
    pub fn outcome_unknown(&self) -> bool {
        self.error_code() == "exec.outcome_unknown"
    }

    /// Executions it was given, each with its lease, its worker and when.
    pub fn starts(&self) -> impl Iterator<Item = &FinalEvent> {
        self.course.events.iter().filter(|event| event.class == "tool.invocation.started")
    }
}

/// A change of status.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Before; empty for the first.
    pub from: String,
    /// After.
    pub to: String,
    /// The log event it belongs to.
    pub seq: u64,
}

/// An event of a log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FinalEvent {
    /// Its place.
    pub seq: u64,
    /// Its class.
    pub class: String,
    /// When.
    pub at_ms: u64,
    /// The lease it tells of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_no: Option<u32>,
    /// The worker it tells of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// The reason it gives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The result of a call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FinalResult {
    /// Digest of the whole of it.
    pub digest: String,
    /// How it ended.
    pub status: String,
    /// Code of its error; empty when there is none.
    #[serde(default)]
    pub error_code: String,
    /// Class of its error.
    #[serde(default)]
    pub error_class: String,
    /// Its error's message.
    #[serde(default)]
    pub message: String,
    /// What the test's own tool says of the execution that made it.
    #[serde(default)]
    pub report: Option<Report>,
}

/// What the test's own tool says of its execution.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The lease it ran under.
    pub lease_no: u32,
    /// Its fence.
    pub fence: u64,
    /// The worker.
    pub worker: String,
}

/// A batch at the end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FinalBatch {
    /// The batch.
    pub batch: String,
    /// Results are handed out in declared order.
    pub ordered: bool,
    /// A failure cancels the siblings.
    pub cancels_siblings: bool,
    /// Its calls in declared order.
    pub members: Vec<Member>,
}

/// A call of a batch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// The call.
    pub invocation: String,
    /// Its place among the results handed out, from 1.
    pub yield_seq: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The keys lie side by side on the line, however the fields are grouped here.
    #[test]
    fn a_line_says_everything_of_a_call_side_by_side() {
        let call = FinalCall {
            name: CallName { invocation: "inv_1".into(), key: "k".into(), tenant: "t".into(), band: "b".into() },
            course: CallCourse { status: "failed".into(), last_seq: 3, ..CallCourse::default() },
            locks: LockTicket { ticket: Some(7), granted_ms: Some(8) },
            ..FinalCall::default()
        };
        let line = r#"{"invocation":"inv_1","key":"k","tenant":"t","band":"b","status":"failed","steps":[],"events":[],"last_seq":3,"lease_no":0,"leased":false,"result":null,"created_ms":0,"ended_ms":null,"cancel_asked":false,"ticket":7,"granted_ms":8}"#;
        assert_eq!(serde_json::to_string(&call).unwrap(), line);
        assert_eq!(serde_json::from_str::<FinalCall>(line).unwrap(), call);
    }

    #[test]
    fn a_line_of_an_earlier_recorder_is_read() {
        let line = r#"{"invocation":"inv_1","key":"k","tenant":"t","status":"failed","steps":[],"events":[],"last_seq":3,"lease_no":0,"leased":false,"result":null,"created_ms":0,"ended_ms":null}"#;
        let call: FinalCall = serde_json::from_str(line).unwrap();
        assert_eq!((call.name.band.as_str(), call.locks, call.cancel_asked), ("", LockTicket::default(), false));
    }
}
