//! Batches of four calls, one of which fails and cancels its siblings.

use std::time::{Duration, Instant};

use tonic::Code;
use toolplane_proto::v1;

use super::asking::{Load, PATIENCE, PAUSE, answer_of};
use crate::bed::AGAIN;
use crate::history::{Answer, FinalBatch, Member, Plan, Record};

/// Calls of a batch.
const SIZE: u32 = 4;
/// The one that fails.
const FAILS: u32 = 1;
/// How long a batch is followed.
const FOLLOW: Duration = Duration::from_secs(20);

impl Load {
    /// Submits a batch until it is accepted, and follows it to its end.
    pub(super) async fn batch(&self, caller: u64, key: &str) {
        let plans: Vec<Plan> = (0..SIZE).map(|index| plan(key, index)).collect();
        plans.iter().for_each(|plan| self.recorder.record(Record::Planned(plan.clone())));
        let spec = self.batch_spec(key);
        let Some(batch_id) = self.ask_for_batch(caller, &plans, spec).await else { return };
        let until = Instant::now() + FOLLOW;
        for attempt in 0.. {
            if Instant::now() > until {
                return;
            }
            let request = v1::GetBatchRequest { batch_id: batch_id.clone(), ..Default::default() };
            let answer = self.client(caller + attempt).invocations().get_batch(request).await;
            let batch = answer.ok().and_then(|answer| answer.into_inner().batch);
            if batch.is_some_and(|batch| batch.ended_at.is_some()) {
                return;
            }
            toolplane_wait::pause(PAUSE, "callers come back after a while").await;
        }
    }

    fn batch_spec(&self, key: &str) -> v1::BatchSpec {
        let call = |index: u32| {
            let input = format!(r#"{{"ms":{},"fail":{}}}"#, 5 + 10 * index, index == FAILS);
            // The batch's key is the key of all its calls; the mark of each is its native id.
            let spec = v1::InvocationSpec {
                idempotency_key: String::new(),
                native_call_id: plan(key, index).key,
                ..self.spec(key, AGAIN, input)
            };
            v1::BatchCall { spec: Some(spec), ..Default::default() }
        };
        let policy = v1::SchedulerPolicy {
            scheduler_policy_id: "storm".to_owned(),
            scope: "batch".to_owned(),
            max_parallel: Some(2),
            ordering_policy: v1::OrderingPolicy::PreserveTerminalOrder.into(),
            yield_policy: v1::YieldPolicy::ProgressImmediateResultsOrdered.into(),
            sibling_failure_policy: v1::SiblingFailurePolicy::CancelSiblings.into(),
            ..Default::default()
        };
        v1::BatchSpec {
            calls: (0..SIZE).map(call).collect(),
            policy: Some(policy),
            idempotency_key: key.to_owned(),
            ..Default::default()
        }
    }

    async fn ask_for_batch(&self, caller: u64, plans: &[Plan], spec: v1::BatchSpec) -> Option<String> {
        for attempt in 0.. {
            let request = v1::SubmitBatchRequest { spec: Some(spec.clone()) };
            let mut client = self.client(caller + attempt).invocations();
            let asked = client.submit_batch(request);
            let answer = match tokio::time::timeout(PATIENCE, asked).await {
                Ok(Ok(answer)) => Ok(answer.into_inner()),
                Ok(Err(status)) if status.code() == Code::Unimplemented => return None,
                Ok(Err(status)) => Err(answer_of(&status)),
                Err(_) => Err(Answer::Unknown),
            };
            match answer {
                Ok(answer) => {
                    let duplicate = answer.accepted.as_ref().is_some_and(|accepted| accepted.duplicate);
                    for (plan, invocation) in plans.iter().zip(&answer.invocations) {
                        let (key, invocation) = (plan.key.clone(), invocation.invocation_id.clone());
                        self.recorder
                            .record(Record::Submit { key, answer: Answer::Accepted { invocation, duplicate } });
                    }
                    return answer.batch.map(|batch| batch.batch_id);
                }
                Err(answer) => {
                    let over = matches!(answer, Answer::Refused { .. });
                    for plan in plans {
                        self.recorder.record(Record::Submit { key: plan.key.clone(), answer: answer.clone() });
                    }
                    if over {
                        return None;
                    }
                    toolplane_wait::pause(PAUSE, "callers come back after a while").await;
                }
            }
        }
        None
    }
}

fn plan(key: &str, index: u32) -> Plan {
    Plan {
        key: format!("{key}/{index}"),
        idempotent: true,
        ledger: true,
        batch: Some((key.to_owned(), index)),
        fails: index == FAILS,
        ..Plan::default()
    }
}

/// A batch of the storm as the cluster shows it at the end.
pub(crate) fn final_batch(batch: &v1::Batch) -> FinalBatch {
    let policy = batch.policy.clone().unwrap_or_default();
    let member =
        |member: &v1::BatchMember| Member { invocation: member.invocation_id.clone(), yield_seq: member.yield_seq };
    FinalBatch {
        batch: batch.batch_id.clone(),
        ordered: policy.ordering_policy() != v1::OrderingPolicy::AllowUnordered,
        cancels_siblings: policy.sibling_failure_policy() == v1::SiblingFailurePolicy::CancelSiblings,
        members: batch.members.iter().map(member).collect(),
    }
}
