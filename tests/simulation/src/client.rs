//! The simulated client: it asks until it is answered, and never believes silence.

use std::collections::BTreeMap;

use toolplane_records::ids::InvocationId;

use crate::calls::{WantedBatch, WantedCall};
use crate::env::{Alarm, Env};
use crate::message::{Address, Message};

/// Milliseconds between two rounds.
const ROUND_MS: i64 = 400;

/// What the client wants, and what it has seen.
#[derive(Debug, Default)]
pub struct Client {
    /// Single calls by the instant they are wanted at.
    pub calls: Vec<(i64, WantedCall)>,
    /// Batches by the instant they are wanted at.
    pub batches: Vec<(i64, WantedBatch)>,
    /// Calls whose acceptance was acknowledged.
    pub accepted: BTreeMap<InvocationId, i64>,
    /// Every result that was seen, and one difference between two sightings if there was any.
    pub results: BTreeMap<InvocationId, Vec<u8>>,
    /// Calls whose result changed between two looks.
    pub changed: Vec<InvocationId>,
}

impl Client {
    /// Every call that is wanted, alone or in a batch.
    pub fn wanted(&self) -> impl Iterator<Item = &WantedCall> {
        let in_batches = self.batches.iter().flat_map(|(_, batch)| batch.calls.iter().map(|(call, _)| call));
        self.calls.iter().map(|(_, call)| call).chain(in_batches)
    }

    /// Starts asking.
    pub fn start(&self, env: &mut Env) {
        env.wake(1, Address::Client, Alarm::Round);
    }

    /// Asks for everything that is wanted by now and not accepted, and looks at some of the rest.
    pub fn round(&mut self, env: &mut Env) {
        env.wake(ROUND_MS, Address::Client, Alarm::Round);
        for (at, call) in &self.calls {
            if *at <= env.now() && !self.accepted.contains_key(&call.id) {
                ask(Message::Submit(call.clone()), env);
            }
        }
        for (at, batch) in &self.batches {
            let open = batch.calls.iter().any(|(call, _)| !self.accepted.contains_key(&call.id));
            if *at <= env.now() && open {
                ask(Message::SubmitBatch(batch.clone()), env);
            }
        }
        let known: Vec<InvocationId> = self.accepted.keys().cloned().collect();
        for id in known {
            let seen = self.results.contains_key(&id);
            if env.random.once_in(if seen { 12 } else { 3 }) {
                ask(Message::Look(id.clone()), env);
            }
            if !seen && env.random.once_in(60) {
                ask(Message::Cancel(id), env);
            }
        }
    }

    /// A message arrives.
    pub fn take(&mut self, message: Message, env: &mut Env) {
        match message {
            Message::Accepted(id) => {
                self.accepted.entry(id).or_insert(env.now());
            }
            Message::DecisionWanted(id) => {
                let yes = !env.random.once_in(4);
                ask(Message::Decide(id, yes), env);
            }
            Message::InputWanted(id, question) => ask(Message::ProvideInput(id, question), env),
            Message::Stands(id, _, Some(result)) => match self.results.get(&id) {
                Some(seen) if *seen != result => self.changed.push(id),
                _ => drop(self.results.insert(id, result)),
            },
            _ => {}
        }
    }
}

/// To either scheduler: any of them serves any request.
fn ask(message: Message, env: &mut Env) {
    let scheduler = Address::Scheduler(env.random.index(2));
    env.send(Address::Client, scheduler, message);
}
