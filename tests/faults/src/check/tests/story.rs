//! A small run in which everything was kept, to be broken in one place at a time.

use crate::history::*;

/// A history under construction.
pub(super) struct Story {
    pub(super) history: History,
}

impl Story {
    /// Seven accepted calls: one that must not run twice, one that ran twice as it may, one whose outcome is unknown because
    /// its worker was killed, one canceled, two behind one lock in a batch, one plain; and a refusal.
    pub(super) fn good() -> Self {
        let mut story = Self { history: History::default() };
        for key in ["once", "again", "unknown", "canceled", "locked-1", "locked-2", "plain"] {
            story.plan(key, matches!(key, "again" | "plain"));
            let invocation = format!("inv_{key}");
            story.answer(key, Answer::Accepted { invocation, duplicate: false });
        }
        story.plan("refused", true);
        story.answer("refused", Answer::Exhausted { retry_info: true });
        let (verb, target) = ("kill".to_owned(), "worker-1".to_owned());
        story.add(Record::Fault(Fault { verb, target, from_ms: 1_300, until_ms: 1_900 }));
        story.add(Record::Call(Box::new(call("once"))));
        story.add(Record::Call(Box::new(repeated("again"))));
        story.add(Record::Call(Box::new(unknown("unknown"))));
        story.add(Record::Call(Box::new(canceled("canceled"))));
        story.add(Record::Call(Box::new(locked("locked-1", 1, 1_050))));
        story.add(Record::Call(Box::new(locked("locked-2", 2, 1_060))));
        story.add(Record::Call(Box::new(call("plain"))));
        for key in ["once", "locked-1", "locked-2", "plain"] {
            story.add(Record::Ledger(effect(key, 1, Edge::Start)));
            story.add(Record::Ledger(effect(key, 1, Edge::End)));
        }
        story.add(Record::Ledger(effect("unknown", 1, Edge::Start)));
        story.add(Record::Ledger(effect("again", 1, Edge::Start)));
        story.add(Record::Ledger(effect("again", 2, Edge::Start)));
        story.add(Record::Ledger(effect("again", 2, Edge::End)));
        for (key, fence) in [("locked-1", 701), ("locked-2", 702)] {
            for step in [AccessStep::Enter, AccessStep::Write, AccessStep::Leave] {
                story.add(entered(key, fence, step));
            }
        }
        let place = |key: &str, place| Member { invocation: format!("inv_{key}"), yield_seq: Some(place) };
        story.add(Record::Batch(FinalBatch {
            batch: "batch-1".to_owned(),
            ordered: true,
            cancels_siblings: true,
            members: vec![place("locked-1", 1), place("locked-2", 2)],
        }));
        let (invocation, via) = ("inv_once".to_owned(), "watch".to_owned());
        story.add(Record::Observed { invocation, via, digest: "digest of once".to_owned() });
        story.watched(1, "again", 1, vec![1, 2, 3], false);
        story.watched(1, "again", 4, vec![4, 5, 6], true);
        story.add(Record::Healed);
        story.add(Record::Probe { client: 1, ok: true });
        story.add(Record::Left { index: "timers/lease".to_owned(), members: 0 });
        story.add(Record::Object { invocation: "inv_once".to_owned(), problem: None });
        story
    }

    pub(super) fn add(&mut self, record: Record) {
        let at_ms = 1_000 + 10 * self.history.entries.len() as u64;
        self.history.entries.push(Entry { at_ms, record });
    }

    pub(super) fn plan(&mut self, key: &str, idempotent: bool) {
        let locks = if key.starts_with("locked") { vec![("door".to_owned(), true)] } else { Vec::new() };
        let plan = Plan { key: key.to_owned(), idempotent, ledger: true, locks, ..Plan::default() };
        self.add(Record::Planned(plan));
    }

    /// The call asked for this lock, for itself alone.
    pub(super) fn lock(&mut self, key: &str, lock: &str) {
        for entry in &mut self.history.entries {
            match &mut entry.record {
                Record::Planned(plan) if plan.key == key => plan.locks.push((lock.to_owned(), true)),
                _ => {}
            }
        }
    }

    pub(super) fn answer(&mut self, key: &str, answer: Answer) {
        self.add(Record::Submit { key: key.to_owned(), answer });
    }

    pub(super) fn watched(&mut self, watcher: u64, key: &str, from_seq: u64, seqs: Vec<u64>, ended: bool) {
        self.add(Record::Watched { watcher, invocation: format!("inv_{key}"), from_seq, seqs, ended });
    }

    pub(super) fn change_call(&mut self, key: &str, change: impl Fn(&mut FinalCall)) {
        for entry in &mut self.history.entries {
            match &mut entry.record {
                Record::Call(call) if call.name.key == key => change(call),
                _ => {}
            }
        }
    }

    pub(super) fn remove_call(&mut self, key: &str) {
        self.history.entries.retain(|entry| !matches!(&entry.record, Record::Call(call) if call.name.key == key));
    }

    pub(super) fn change_fault(&mut self, change: impl Fn(&mut Fault)) {
        for entry in &mut self.history.entries {
            if let Record::Fault(fault) = &mut entry.record {
                change(fault);
            }
        }
    }

    pub(super) fn change_batch(&mut self, change: impl Fn(&mut FinalBatch)) {
        for entry in &mut self.history.entries {
            if let Record::Batch(batch) = &mut entry.record {
                change(batch);
            }
        }
    }
}

fn steps(path: &[(&str, u64)]) -> Vec<Step> {
    let mut before = String::new();
    let mut steps = Vec::new();
    for (to, seq) in path {
        steps.push(Step { from: std::mem::replace(&mut before, (*to).to_owned()), to: (*to).to_owned(), seq: *seq });
    }
    steps
}

fn log(events: &[(&str, Option<u32>, u64)]) -> Vec<FinalEvent> {
    let event = |(index, (class, lease_no, at_ms)): (usize, &(&str, Option<u32>, u64))| FinalEvent {
        seq: index as u64 + 1,
        class: (*class).to_owned(),
        at_ms: *at_ms,
        lease_no: *lease_no,
        worker: lease_no.map(|lease_no| format!("worker-{lease_no}")),
        ..FinalEvent::default()
    };
    events.iter().enumerate().map(event).collect()
}

const STARTED: &str = "tool.invocation.started";
const RESULT: &str = "tool.result.created";

/// A call that succeeded under its first lease.
pub(super) fn call(key: &str) -> FinalCall {
    let worker = effect(key, 1, Edge::End).worker;
    FinalCall {
        name: CallName { invocation: format!("inv_{key}"), key: key.to_owned(), ..CallName::default() },
        course: CallCourse {
            status: "succeeded".to_owned(),
            steps: steps(&[("queued", 1), ("running", 2), ("succeeded", 3)]),
            events: log(&[("tool.invocation.queued", None, 1_000), (STARTED, Some(1), 1_100), (RESULT, None, 1_200)]),
            last_seq: 3,
        },
        lease_no: 1,
        result: Some(FinalResult {
            digest: format!("digest of {key}"),
            status: "succeeded".to_owned(),
            report: Some(Report { lease_no: 1, fence: effect(key, 1, Edge::End).fence, worker }),
            ..FinalResult::default()
        }),
        created_ms: 1_000,
        ended_ms: Some(1_200),
        ..FinalCall::default()
    }
}

/// A call that succeeded with locks.
fn locked(key: &str, ticket: u64, granted_ms: u64) -> FinalCall {
    FinalCall { locks: LockTicket { ticket: Some(ticket), granted_ms: Some(granted_ms) }, ..call(key) }
}

/// Its worker was killed; it succeeded under its second lease.
fn repeated(key: &str) -> FinalCall {
    let mut call = call(key);
    call.course.steps = steps(&[("queued", 1), ("running", 2), ("queued", 3), ("running", 5), ("succeeded", 6)]);
    call.course.events = log(&[
        ("tool.invocation.queued", None, 1_000),
        (STARTED, Some(1), 1_200),
        ("ext.invocation.requeued", None, 1_500),
        ("tool.invocation.queued", None, 1_700),
        (STARTED, Some(2), 1_700),
        (RESULT, None, 1_800),
    ]);
    (call.course.last_seq, call.lease_no) = (6, 2);
    if let Some(result) = &mut call.result {
        result.report =
            Some(Report { lease_no: 2, fence: effect(key, 2, Edge::End).fence, worker: "worker-2".to_owned() });
    }
    call
}

fn unknown(key: &str) -> FinalCall {
    let mut call = call(key);
    call.course.status = "failed".to_owned();
    call.course.steps[2].to = "failed".to_owned();
    call.course.events[1].at_ms = 1_290;
    call.course.events[2].at_ms = 1_400;
    call.ended_ms = Some(1_400);
    call.result = Some(FinalResult {
        digest: "digest of unknown".to_owned(),
        status: "synthetic_error".to_owned(),
        error_code: "exec.outcome_unknown".to_owned(),
        error_class: "execution_failed".to_owned(),
        ..FinalResult::default()
    });
    call
}

fn canceled(key: &str) -> FinalCall {
    let mut call = call(key);
    call.course.status = "canceled".to_owned();
    call.course.steps[2].to = "canceled".to_owned();
    call.result = Some(FinalResult {
        digest: "digest of canceled".to_owned(),
        status: "canceled".to_owned(),
        error_code: "cancel.canceled".to_owned(),
        error_class: "canceled".to_owned(),
        ..FinalResult::default()
    });
    call
}

/// A ledger line of the call `key` under a lease.
pub(super) fn effect(key: &str, lease_no: u32, edge: Edge) -> Effect {
    let keys = ["once", "again", "unknown", "canceled", "locked-1", "locked-2", "plain", "refused", "maybe"];
    let place = keys.iter().position(|known| *known == key).unwrap_or(keys.len()) as u64;
    Effect {
        invocation: format!("inv_{key}"),
        lease_no,
        fence: 100 * u64::from(lease_no) + place,
        attempt: lease_no,
        worker: format!("worker-{lease_no}"),
        edge,
    }
}

/// The call `key` at the guarded resource.
pub(super) fn entered(key: &str, fence: u64, step: AccessStep) -> Record {
    Record::Register(Access {
        key: "door".to_owned(),
        exclusive: true,
        invocation: format!("inv_{key}"),
        grant: 0,
        fence,
        worker: "worker-1".to_owned(),
        step,
        accepted: true,
    })
}
