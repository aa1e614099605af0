//! F46: questions that outlive all processes, and answers that race.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use toolplane_proto::v1;

use super::outcome::Outcome;
use super::under_load;
use super::under_load::Work;
use crate::bed::{ASK, Plan, StoreKind};
use crate::check::Check;
use crate::history::{Plan as Call, Record};
use crate::load::{Load, Mix};
use crate::trouble::Trouble;

/// Calls that wait for an answer.
const CALLS: u64 = 40;

/// Calls wait over restarts of every process; then each gets yes, no and a cancel at the same time.
pub(super) async fn approvals(store: StoreKind, restarts: u32) -> Result<Outcome, Trouble> {
    let work = Work { plan: Plan::on(store, 2), mix: Mix::PLAIN, callers: 4 };
    let mut outcome = under_load(work, async |bed, load| {
        let mut waiting = Vec::new();
        for number in 0..CALLS {
            let plan = Call { key: format!("asked-{number}"), ledger: true, ..Call::default() };
            let spec = load.spec(&plan.key, ASK, r#"{"ms":1}"#.to_owned());
            waiting.extend(load.ask_for(number, plan, &spec).await);
        }
        let mut kills = 0;
        for _ in 0..restarts {
            for name in [bed.scheduler_names(), vec!["permission".to_owned(), "surface".to_owned()]].concat() {
                bed.kill_and_restart(&name).await?;
                kills += 1;
            }
        }
        let pending = pending(load).await;
        let races = pending.iter().map(|(approval, invocation)| race(load, approval, invocation));
        join_all(races).await;
        for invocation in &waiting {
            load.watch(0, invocation, Instant::now() + Duration::from_secs(20)).await;
        }
        Ok(kills)
    })
    .await?;
    let ended = outcome.history.records().filter(|record| {
        matches!(record, Record::Call(call) if call.name.key.starts_with("asked-")
            && matches!(call.course.status.as_str(), "succeeded" | "denied" | "canceled"))
    });
    let ended = ended.count() as u64;
    outcome.expect(ended == CALLS, Check::C1, || format!("{ended} of {CALLS} questions came to an end"));
    Ok(outcome)
}

/// Every open question with its call.
async fn pending(load: &Load) -> Vec<(String, String)> {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(20) {
        let all = v1::ListApprovalsRequest {
            state: v1::ApprovalState::Pending.into(),
            page_size: 1_000,
            ..Default::default()
        };
        if let Ok(answer) = load.client(0).permissions().list_approvals(all).await {
            let approvals = answer.into_inner().approvals.into_iter();
            return approvals.map(|approval| (approval.approval_id, approval.invocation_id)).collect();
        }
        toolplane_wait::look_again().await;
    }
    Vec::new()
}

/// Two say yes, one says no, one cancels.
async fn race(load: &Arc<Load>, approval: &str, invocation: &str) {
    let decide = |turn: u64, behavior: v1::Behavior| async move {
        let request = v1::ResolveApprovalRequest {
            approval_id: approval.to_owned(),
            request_id: uuid::Uuid::new_v4().to_string(),
            behavior: behavior.into(),
            resolved_by: format!("person-{turn}"),
            ..Default::default()
        };
        // All but one come too late, and are told so.
        let _ = load.client(turn).permissions().resolve_approval(request).await;
    };
    let cancel = async {
        let request = v1::CancelInvocationRequest {
            invocation_id: invocation.to_owned(),
            requested_by: "caller".to_owned(),
            ..Default::default()
        };
        let _ = load.client(0).invocations().cancel_invocation(request).await;
    };
    let (yes, no) = (v1::Behavior::Allow, v1::Behavior::Deny);
    tokio::join!(decide(0, yes), decide(1, yes), decide(0, no), cancel);
}
