//! What schedulers that share a store tell each other. Every hint may be lost: whoever waits for something also looks.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use toolplane_lifecycle::{Effect, Scope, Terminal, Transition};
use toolplane_records::event::LogEvent;
use toolplane_records::ids::{InvocationKey, WorkerId};
use toolplane_records::time::Timestamp;
use toolplane_store::Hint;

use super::Engine;
use super::commit::Builder;
use super::hub::Update;
use super::keys::QueueName;
use super::relay::Relay;

/// Topic: something is ready in a pool, and whoever said so cannot take it. The body is the name of the queue.
const READY: &str = "ready/";
/// Topic: an invocation changed. The body is the change, or empty when it is large.
const UPDATE: &str = "update/";
/// Topic: a message to a worker, for the scheduler it is connected to.
const WORKER: &str = "worker/";
/// Topic: a scope has to be settled, and whoever said so may be gone.
const SCOPE: &str = "scope/";

/// Topic: a place in a counted index was given back, and calls wait for one.
const PLACE: &str = "place/";
/// Topic: a key came under quarantine. The body is until when, in milliseconds.
const QUARANTINE: &str = "quarantine/";

/// Largest update that is carried by a hint; larger ones are read from the store.
const MAX_UPDATE_BYTES: usize = 4 * 1024;
/// Wait before listening again after the stream of hints ended.
const RELISTEN: Duration = Duration::from_secs(1);

#[derive(Serialize)]
struct UpdateBody<'a> {
    events: &'a [LogEvent],
    #[serde(skip_serializing_if = "Option::is_none")]
    terminal: Option<&'a Terminal>,
}

#[derive(Deserialize)]
struct UpdateRead {
    events: Vec<LogEvent>,
    #[serde(default)]
    terminal: Option<Terminal>,
}

impl Engine {
    /// Adds to a commit what other schedulers should know of `transition`. Nothing where nobody shares the store.
    pub(crate) fn hint_about(&self, builder: &mut Builder, transition: &Transition, queue: Option<&QueueName>) {
        if !self.0.shared {
            return;
        }
        let id = transition.key();
        // Before the news of the call itself: whoever has heard of its end is not to try another like it.
        for effect in &transition.effects {
            if let Effect::Quarantine { key, until } = effect {
                builder.hint(hint(QUARANTINE, &key.to_string(), until.as_millis().to_string().into()));
            }
        }
        // Nobody can wait elsewhere for a call that is just being accepted.
        let is_new = transition.events.first().is_none_or(|first| first.seq == 1);
        // And nobody is elsewhere when there is no other scheduler; one that has just come also looks by itself.
        if !is_new && !self.0.members.is_alone() {
            builder.hint(hint(UPDATE, &id.to_string(), update_body(transition)));
        }
        for effect in &transition.effects {
            match effect {
                Effect::Enqueue => {
                    let queue = queue.filter(|_| transition.invocation.lease.is_none());
                    if let Some(queue) = queue.filter(|queue| self.0.workers.free_slots(&queue.pool) == 0) {
                        builder.hint(hint(READY, &queue.pool, queue.to_string().into()));
                    }
                }
                Effect::ReturnPermit { index } if self.0.backlog.waits_for(index) => {
                    builder.hint(hint(PLACE, index, Bytes::new()));
                }
                Effect::Settle(scope) => builder.hint(hint(SCOPE, &scope.to_string(), Bytes::new())),
                effect => {
                    let relayed = Relay::of(effect).filter(|(worker_id, _)| !self.0.workers.is_here(worker_id));
                    if let Some((worker_id, relay)) = relayed
                        && let Ok(body) = serde_json::to_vec(&relay)
                        && body.len() <= toolplane_store::commit::MAX_HINT_BYTES
                    {
                        builder.hint(hint(WORKER, worker_id.as_str(), body.into()));
                    }
                }
            }
        }
    }

    /// Takes hints of other schedulers, for ever.
    pub(crate) async fn listen_loop(&self) {
        if !self.0.shared {
            return std::future::pending().await;
        }
        loop {
            let mut hints = self.0.store.hints();
            while let Some(hint) = hints.next().await {
                self.take_hint(&hint);
            }
            tokio::time::sleep(RELISTEN).await;
        }
    }

    /// Acts on one hint; unknown topics are of newer schedulers.
    fn take_hint(&self, hint: &Hint) {
        if hint.topic.starts_with(READY) {
            if let Some(queue) = std::str::from_utf8(&hint.body).ok().and_then(QueueName::parse) {
                self.0.backlog.note(&queue);
                self.0.bell.ring();
            }
        } else if let Some(id) = hint.topic.strip_prefix(UPDATE) {
            if let Ok(id) = InvocationKey::parse(id) {
                self.take_update(&id, &hint.body);
            }
        } else if let Some(id) = hint.topic.strip_prefix(WORKER) {
            if let (Ok(worker_id), Ok(relay)) = (WorkerId::parse(id), serde_json::from_slice::<Relay>(&hint.body)) {
                self.relay_here(&worker_id, relay);
            }
        } else if let Some(permit) = hint.topic.strip_prefix(PLACE) {
            self.0.backlog.given_back(permit);
            self.0.bell.ring();
        } else if let Some(key) = hint.topic.strip_prefix(QUARANTINE) {
            let until = std::str::from_utf8(&hint.body).ok().and_then(|millis| millis.parse().ok());
            if let (Ok(key), Some(until)) = (key.parse(), until) {
                self.0.quarantine.add(key, Timestamp::from_millis(until));
            }
        } else if let Some(scope) = hint.topic.strip_prefix(SCOPE)
            && let Ok(scope) = Scope::from_str(scope)
        {
            self.0.scopes.heard(scope);
        }
    }

    fn take_update(&self, id: &InvocationKey, body: &[u8]) {
        if !self.0.hub.is_watched(id) {
            return;
        }
        match serde_json::from_slice::<UpdateRead>(body) {
            Ok(UpdateRead { events, terminal }) => {
                self.0.hub.publish(id, Update { events: events.into(), terminal: terminal.map(Arc::new) });
            }
            Err(_) => self.0.hub.look(id),
        }
    }

    /// Passes a message on to a worker that is connected here.
    fn relay_here(&self, worker_id: &WorkerId, relay: Relay) {
        if !self.0.workers.is_here(worker_id) {
            return;
        }
        if let Relay::Fenced { lease } = &relay {
            self.0.workers.unassign_lease(lease);
            self.0.bell.ring();
        }
        self.0.workers.send(worker_id, relay.into());
    }
}

fn hint(topic: &str, about: &str, body: Bytes) -> Hint {
    Hint { topic: format!("{topic}{about}"), body }
}

fn update_body(transition: &Transition) -> Bytes {
    let body = UpdateBody { events: &transition.events, terminal: transition.terminal.as_ref() };
    match serde_json::to_vec(&body) {
        Ok(body) if body.len() <= MAX_UPDATE_BYTES => body.into(),
        _ => Bytes::new(),
    }
}
