//! What workers report.

use std::collections::BTreeSet;

use toolplane_lifecycle::{Command, InputRequest, LeaseKey, Outcome, Refusal, Timer};
use toolplane_records::error::ToolError;
use toolplane_records::ids::InvocationId;
use toolplane_records::invocation::Invocation;
use toolplane_records::vocabulary::{ErrorClass, Recoverability, ResultStatus};
use toolplane_store::ScoreRange;

use super::dispatch::{life_name, worker_id};
use super::{Failed, LEASE_MS, Link, Scheduler, has_ended};
use crate::env::{Env, Mutant};
use crate::message::{Address, Ending, Message};
use crate::storage;

/// How long a tool's question waits.
const INPUT_MS: u64 = 3_000;

impl Scheduler {
    /// A worker connects: first what it finished, then what it holds, then the end of its earlier life.
    pub(super) fn hello(
        &mut self,
        worker: usize,
        life: u64,
        held: Vec<LeaseKey>,
        finished: Vec<(LeaseKey, Ending)>,
        env: &mut Env,
    ) {
        if env.lives.get(&Address::Worker(worker)).is_none_or(|now| now.number != life) {
            return;
        }
        for (lease, ending) in finished {
            self.done(lease, ending, env);
            if self.died {
                return;
            }
        }
        let mut busy = BTreeSet::new();
        for lease in held {
            let valid = env.storage.invocation(&lease.invocation_id).is_some_and(|(_, record)| holds(&record, &lease));
            if valid {
                busy.insert(lease.invocation_id);
            } else {
                self.tell(Address::Worker(worker), Message::Fenced(lease), env);
            }
        }
        for entry in env.storage.scan(&storage::timers(Timer::Lease), ScoreRange::all(), 1_000) {
            let id = InvocationId::from_trusted(&entry.member);
            let Some((_, record)) = env.storage.invocation(&id) else { continue };
            let Some(lease) = record.lease else { continue };
            if lease.worker_id == worker_id(worker) && lease.incarnation != life_name(life) {
                if env.is_broken(Mutant::RepeatNonIdempotent) {
                    self.repeat_whatever_it_is(&id, env);
                }
                let gone = Command::WorkerGone { worker_id: lease.worker_id, incarnation: lease.incarnation };
                if matches!(self.command(&id, |_| gone.clone(), env), Err(Failed::Died)) {
                    return;
                }
            }
        }
        self.links.insert(worker, Link { life, busy });
    }

    pub(super) fn start_requested(&mut self, lease: LeaseKey, env: &mut Env) {
        let command = |_: &Invocation| Command::Start { lease: lease.clone(), lease_ms: LEASE_MS };
        let Some(worker) = self.holder(&lease, env) else { return };
        match self.command(&lease.invocation_id, command, env) {
            Ok(_) => self.tell(worker, Message::StartGranted(lease), env),
            Err(Failed::Died) => {}
            Err(_) => self.tell(worker, Message::StartRefused(lease), env),
        }
    }

    pub(super) fn asked(&mut self, lease: &LeaseKey, question: String, env: &mut Env) {
        let Some(worker) = self.holder(lease, env) else { return };
        let known = env.storage.invocation(&lease.invocation_id).and_then(|(_, record)| record.pending_input);
        if let Some(known) = known.filter(|known| known.input_id == question) {
            if known.answer.is_some() {
                self.tell(worker, Message::Answer(lease.clone(), question), env);
            }
            return;
        }
        let input = InputRequest { input_id: question, prompt: String::new(), schema: None, ttl_ms: INPUT_MS };
        let _ = self.command(
            &lease.invocation_id,
            |_| Command::RequestInput { lease: lease.clone(), input: input.clone() },
            env,
        );
    }

    pub(super) fn done(&mut self, lease: LeaseKey, ending: Ending, env: &mut Env) {
        let Some(worker) = self.holder(&lease, env) else { return };
        let broken = env.is_broken(Mutant::DropFence);
        let command = |record: &Invocation| {
            let current = record.lease.as_ref().filter(|_| broken);
            let lease = current.map_or_else(|| lease.clone(), |current| LeaseKey::of(record, current));
            Command::Complete { lease, outcome: Box::new(outcome(ending)) }
        };
        match self.command(&lease.invocation_id, command, env) {
            Ok(_) => self.tell(worker, Message::Acknowledged(lease), env),
            Err(Failed::Died) => {}
            Err(failed) if has_ended(&failed) => self.tell(worker, Message::Acknowledged(lease), env),
            Err(Failed::Refused(Refusal::Fenced)) => self.tell(worker, Message::Fenced(lease), env),
            Err(_) => {}
        }
    }

    pub(super) fn cancel_seen(&mut self, lease: &LeaseKey, env: &mut Env) {
        let command = |record: &Invocation| Command::AcknowledgeCancel {
            lease: lease.clone(),
            supported: record.dispatch.as_ref().is_some_and(|dispatch| dispatch.supports_cancel),
        };
        let _ = self.command(&lease.invocation_id, command, env);
    }

    pub(super) fn beat(&mut self, worker: usize, leases: Vec<LeaseKey>, env: &mut Env) {
        let to = Address::Worker(worker);
        let mut renewed = Vec::new();
        for lease in leases {
            let Some((_, record)) = env.storage.invocation(&lease.invocation_id) else { continue };
            if !holds(&record, &lease) {
                self.tell(to, Message::Fenced(lease), env);
                continue;
            }
            let renew = |_: &Invocation| Command::Renew { lease: lease.clone(), lease_ms: LEASE_MS };
            match self.command(&lease.invocation_id, renew, env) {
                Ok(_) => renewed.push(lease.clone()),
                Err(Failed::Died) => return,
                Err(_) => continue,
            }
            // A cancel request is repeated until it is answered.
            let open = record.cancel.is_some_and(|cancel| cancel.acknowledged_at.is_none() && cancel.failed.is_none());
            if open {
                self.tell(to, Message::Stop(lease), env);
            }
        }
        self.tell(to, Message::Renewed(renewed), env);
    }

    /// The worker behind a lease, by what its lease id says.
    fn holder(&self, lease: &LeaseKey, env: &Env) -> Option<Address> {
        let number = lease.lease_id.as_str().rsplit('_').next()?.parse().ok()?;
        env.lives.contains_key(&Address::Worker(number)).then_some(Address::Worker(number))
    }
}

fn holds(record: &Invocation, lease: &LeaseKey) -> bool {
    record.lease.as_ref().is_some_and(|current| lease.names(current))
}

fn outcome(ending: Ending) -> Outcome {
    let failed = |class, code: &str| ToolError::new(code, class, Recoverability::NotRetryable, "it did not work");
    let (status, error) = match ending {
        Ending::Succeeded => (ResultStatus::Succeeded, None),
        Ending::Failed => (ResultStatus::Failed, Some(failed(ErrorClass::ExecutionFailed, "tool.failed"))),
        Ending::Unavailable => {
            (ResultStatus::Failed, Some(failed(ErrorClass::DependencyUnavailable, "tool.unavailable")))
        }
        Ending::Canceled => (ResultStatus::Canceled, Some(failed(ErrorClass::Canceled, "tool.canceled"))),
    };
    Outcome {
        status,
        content: Vec::new(),
        model_facing_content: Vec::new(),
        structured_content: None,
        ui_facing_summary: String::new(),
        error,
        persistence: None,
        resource_refs: Vec::new(),
        artifact_refs: Vec::new(),
        evidence_refs: Vec::new(),
        context_modifiers: Vec::new(),
        hooks: Vec::new(),
        undeclared_modifiers: 0,
        redaction_state: None,
    }
}
