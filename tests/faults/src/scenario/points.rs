//! F1 to F11: a process ends at exactly one place of one call, and the call ends as the contract says.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use toolplane_proto::v1;

use super::wrong;
use crate::bed::{AGAIN, ASK, Bed, ONCE, Plan, StoreKind};
use crate::check::{Check, Verdict};
use crate::dump;
use crate::history::{Edge, Record, now_ms};
use crate::load::{Load, Mix};
use crate::trouble::Trouble;

/// How long a call may take to come to the armed point.
const TO_THE_POINT: Duration = Duration::from_secs(10);
/// How long a call may take to end after that.
const TO_THE_END: Duration = Duration::from_secs(20);
/// How often a call is made to reach a point that another process may be faster at.
const STRIKES: u32 = 5;

/// Which process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    /// The scheduler that takes the submission.
    Front,
    /// The scheduler the worker is connected to.
    Back,
    /// The worker.
    Worker,
}

/// What is done with the call beside submitting it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Nothing,
    Cancel,
    Approve,
}

impl Deed {
    /// Whether a scheduler that is not armed may do this first. The armed one then finds it done and never comes to its point,
    /// and the call ends as if nothing had been tried: that says nothing of the promise, so it is tried with another call.
    fn is_raced(self) -> bool {
        self != Self::Nothing
    }
}

/// What follows a strike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// The process ended where it had to.
    Struck,
    /// Another call may reach the point.
    Again,
    /// The point cannot be reached.
    Missed,
}

impl Next {
    /// After the strike of this number, counted from 1.
    fn after(strike: u32, deed: Deed, died: bool) -> Self {
        match died {
            true => Self::Struck,
            false if deed.is_raced() && strike < STRIKES => Self::Again,
            false => Self::Missed,
        }
    }
}

/// How a call must end: its status, how often its effect begins, and how often it is completed.
#[derive(Clone, Copy, Debug)]
struct End(&'static [&'static str], Times, Times);

/// At least and at most.
type Times = (usize, usize);

const SUCCEEDED: &[&str] = &["succeeded"];
const UNKNOWN: &[&str] = &["failed exec.outcome_unknown"];
const STOPPED: &[&str] = &["canceled cancel.canceled", "canceled cancel.requested", "succeeded"];

/// One place where a process ends.
struct Point {
    id: &'static str,
    name: &'static str,
    victim: Victim,
    deed: Deed,
    input: &'static str,
    again: End,
    once: End,
}

const fn point(id: &'static str, name: &'static str, victim: Victim, again: End, once: End) -> Point {
    Point { id, name, victim, deed: Deed::Nothing, input: r#"{"ms":5}"#, again, once }
}

const DONE: End = End(SUCCEEDED, (1, 1), (1, 1));

/// The points, with how calls that may run twice and calls that must not have to end.
const POINTS: &[Point] = &[
    point("F1", "scheduler.before_admit", Victim::Front, DONE, DONE),
    point("F2", "scheduler.after_admit", Victim::Front, End(SUCCEEDED, (1, 2), (1, 2)), DONE),
    point("F3", "scheduler.before_offer", Victim::Back, End(SUCCEEDED, (1, 1), (1, 1)), DONE),
    point("F4", "scheduler.before_done", Victim::Back, DONE, DONE),
    point("F5", "scheduler.after_done", Victim::Back, DONE, DONE),
    point("F6", "scheduler.mid_prepare", Victim::Front, DONE, DONE),
    Point {
        deed: Deed::Cancel,
        input: r#"{"ms":400}"#,
        ..point("F6", "scheduler.mid_cancel", Victim::Front, End(STOPPED, (0, 2), (0, 1)), End(STOPPED, (0, 1), (0, 1)))
    },
    Point { deed: Deed::Approve, ..point("F6", "scheduler.mid_decide", Victim::Front, DONE, DONE) },
    point("F7", "worker.before_start", Victim::Worker, End(SUCCEEDED, (1, 1), (1, 1)), DONE),
    point("F8", "worker.before_effect", Victim::Worker, End(SUCCEEDED, (1, 1), (1, 1)), End(UNKNOWN, (0, 0), (0, 0))),
    point("F9", "worker.mid_effect", Victim::Worker, End(SUCCEEDED, (2, 2), (1, 1)), End(UNKNOWN, (1, 1), (0, 0))),
    point("F10", "worker.after_effect", Victim::Worker, End(SUCCEEDED, (2, 2), (2, 2)), End(UNKNOWN, (1, 1), (1, 1))),
    Point {
        input: r#"{"bytes":100000}"#,
        ..point(
            "F10",
            "worker.after_upload",
            Victim::Worker,
            End(SUCCEEDED, (2, 2), (2, 2)),
            End(UNKNOWN, (1, 1), (1, 1)),
        )
    },
    point("F11", "worker.after_done", Victim::Worker, End(SUCCEEDED, (1, 2), (1, 2)), DONE),
];

/// A call and how it must end.
struct Expected {
    key: String,
    at: String,
    end: &'static End,
}

/// Ends a process at each point, `hits` times with a call that may run twice and as often with one that must not. Answers with
/// the verdict, and with how many processes ended.
pub async fn kill_points(store: StoreKind, hits: u32, only: &[String]) -> Result<(Verdict, u64), Trouble> {
    let mut bed = Bed::start(Plan { points: true, ..Plan::on(store, 1) }).await?;
    let mut expected = Vec::new();
    let mut early = Verdict::default();
    let mut kills = 0;
    for point in POINTS.iter().filter(|point| only.is_empty() || only.iter().any(|id| id == point.id)) {
        for hit in 0..hits {
            for idempotent in [true, false] {
                for number in 1..=STRIKES {
                    let key = format!("{}-{}-{hit}-{number}-{idempotent}", point.id, point.name);
                    let died = strike(&mut bed, point, &key, idempotent).await?;
                    let next = Next::after(number, point.deed, died);
                    kills += u64::from(died);
                    if next == Next::Missed {
                        wrong(&mut early, Check::C9, format!("{}: the point was not reached by {key}", point.name));
                    }
                    let end = if idempotent { &point.again } else { &point.once };
                    expected.push(Expected { key, at: point.name.to_owned(), end });
                    if next != Next::Again {
                        break;
                    }
                }
            }
        }
    }
    let mut verdict = dump::finish(&mut bed).await?;
    compare(&bed, &expected, &mut verdict)?;
    verdict.add(early);
    Ok((verdict, kills))
}

/// One call, and the end of one process in the middle of it; false when the point was not reached.
async fn strike(bed: &mut Bed, point: &Point, key: &str, idempotent: bool) -> Result<bool, Trouble> {
    let victim = match point.victim {
        Victim::Front => bed.scheduler_names().remove(0),
        Victim::Back => bed.scheduler_of("worker-1").await?,
        Victim::Worker => "worker-1".to_owned(),
    };
    let front = bed.scheduler_names().iter().position(|name| *name == victim).unwrap_or_default() as u64;
    let load = Load::new(bed, "points", Mix::PLAIN, 0)?;
    if point.deed == Deed::Nothing {
        bed.arm(&victim, &format!("{}:1", point.name))?;
    }
    let tool = match point.deed {
        Deed::Approve => ASK,
        _ if idempotent => AGAIN,
        _ => ONCE,
    };
    let plan = crate::history::Plan {
        key: key.to_owned(),
        idempotent: idempotent && tool != ASK,
        ledger: true,
        ..Default::default()
    };
    let spec = load.spec(key, tool, point.input.to_owned());
    let (asking, patience) = (load.clone(), Instant::now() + TO_THE_POINT + TO_THE_END);
    let call = tokio::spawn(async move {
        let invocation = asking.ask_for(front, plan, &spec).await?;
        asking.watch(front, &invocation, patience).await
    });
    if point.deed != Deed::Nothing {
        // Armed once the call is there: what is to be interrupted is the deed.
        let invocation = wait_for_call(bed, key).await?;
        bed.arm(&victim, &format!("{}:1", point.name))?;
        tokio::spawn(deed(load.clone(), point.deed, invocation, front));
    }
    let died = bed.died(&victim, TO_THE_POINT).await?;
    let from_ms = now_ms();
    bed.arm(&victim, "")?;
    match died {
        true => bed.restart(&victim, "abort", from_ms).await?,
        // Of a call that is in nobody's way the end is waited for all the same, so that it can be judged.
        false if point.deed.is_raced() => {}
        false => return Ok(false),
    }
    if tokio::time::timeout(TO_THE_END, call).await.is_err() {
        let ended = if died { "ended" } else { "did not end" };
        return Err(Trouble::Said(format!("{key} does not end after {victim} {ended} at {}", point.name)));
    }
    Ok(died)
}

/// Waits until a call was accepted and, where it asks, waits for its answer.
async fn wait_for_call(bed: &Bed, key: &str) -> Result<String, Trouble> {
    use crate::history::Answer;
    let start = Instant::now();
    while start.elapsed() < TO_THE_POINT {
        let history = bed.recorder().history();
        let found = history.records().find_map(|record| match record {
            Record::Submit { key: of, answer: Answer::Accepted { invocation, .. } } if of == key => {
                Some(invocation.clone())
            }
            _ => None,
        });
        if let Some(invocation) = found {
            return Ok(invocation);
        }
        toolplane_wait::look_again().await;
    }
    Err(Trouble::Said(format!("{key} was not accepted")))
}

/// Does the deed until it is done: over the end of the process it interrupts.
async fn deed(load: std::sync::Arc<Load>, deed: Deed, invocation: String, front: u64) {
    let request_id = uuid::Uuid::new_v4().to_string();
    for turn in front..front + 100 {
        let done = match deed {
            Deed::Nothing => true,
            Deed::Cancel => {
                let request = v1::CancelInvocationRequest {
                    invocation_id: invocation.clone(),
                    reason: "a fault test".to_owned(),
                    requested_by: "faults".to_owned(),
                    request_id: request_id.clone(),
                    ..Default::default()
                };
                load.client(turn).invocations().cancel_invocation(request).await.is_ok()
            }
            Deed::Approve => approve(&load, turn, &invocation, &request_id).await,
        };
        if done {
            return;
        }
        toolplane_wait::look_again().await;
    }
}

async fn approve(load: &Load, turn: u64, invocation: &str, request_id: &str) -> bool {
    let pending =
        v1::ListApprovalsRequest { state: v1::ApprovalState::Pending.into(), page_size: 100, ..Default::default() };
    let Ok(answer) = load.client(turn).permissions().list_approvals(pending).await else { return false };
    let Some(approval) = answer.into_inner().approvals.into_iter().find(|one| one.invocation_id == invocation) else {
        return false;
    };
    let request = v1::ResolveApprovalRequest {
        approval_id: approval.approval_id,
        request_id: request_id.to_owned(),
        behavior: v1::Behavior::Allow.into(),
        resolved_by: "faults".to_owned(),
        ..Default::default()
    };
    load.client(turn).permissions().resolve_approval(request).await.is_ok()
}

/// Compares each call with how it had to end.
fn compare(bed: &Bed, expected: &[Expected], verdict: &mut Verdict) -> Result<(), Trouble> {
    let (history, ledgers) = (bed.recorder().history(), bed.ledgers()?);
    let mut ends: BTreeMap<&str, (&str, String)> = BTreeMap::new();
    for record in history.records() {
        if let Record::Call(call) = record {
            let how = format!("{} {}", call.course.status, call.error_code()).trim_end().to_owned();
            ends.insert(&call.name.key, (&call.name.invocation, how));
        }
    }
    let count = |invocation: &str, edge: Edge| {
        let of = |record: &&Record| matches!(record, Record::Ledger(line) if line.invocation == invocation && line.edge == edge);
        ledgers.records().filter(of).count()
    };
    for Expected { key, at, end: End(statuses, starts, completed) } in expected {
        let Some((invocation, how)) = ends.get(key.as_str()) else { continue };
        let (begun, done) = (count(invocation, Edge::Start), count(invocation, Edge::End));
        let within = |(least, most): &Times, count: usize| (*least..=*most).contains(&count);
        if !statuses.contains(&how.as_str()) || !within(starts, begun) || !within(completed, done) {
            let text = format!("{key} at {at}: ended as `{how}` with {begun} starts and {done} ends");
            wrong(verdict, Check::C4, format!("{text}; expected {statuses:?}, {starts:?} and {completed:?}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_point_that_others_may_pass_first_is_tried_again_and_not_for_ever() {
        for deed in [Deed::Cancel, Deed::Approve] {
            let tried: Vec<_> = (1..=STRIKES).map(|strike| Next::after(strike, deed, false)).collect();
            let (last, earlier) = tried.split_last().unwrap();
            assert!(earlier.iter().all(|next| *next == Next::Again) && *last == Next::Missed, "{tried:?}");
            assert_eq!(Next::after(STRIKES, deed, true), Next::Struck);
        }
        assert_eq!(Next::after(1, Deed::Nothing, false), Next::Missed);
        assert_eq!(Next::after(1, Deed::Nothing, true), Next::Struck);
    }
}
