//! Callers: each asks for a call until it is accepted, follows it for a while, and goes on to the next.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use toolplane_proto::v1;

use self::asking::{PATIENCE, PAUSE, is_doubtful};
use crate::bed::{AGAIN, ASK, ONCE, SHELL};
use crate::history::Plan;

mod approver;
mod asking;
mod batches;
mod follow;

pub use asking::{Load, Mix};
pub(crate) use batches::final_batch;
pub(crate) use follow::digest_of;

/// Resources that locked calls fight for.
const DOORS: u64 = 4;

impl Load {
    /// Runs callers until every call was asked for, or [`Load::stop`].
    pub async fn run(self: Arc<Self>, callers: u64) {
        let approver = (self.mix.asked > 0).then(|| tokio::spawn(approver::run(self.clone())));
        let callers: Vec<_> = (0..callers).map(|number| tokio::spawn(self.clone().caller(number))).collect();
        for caller in callers {
            let _ = caller.await;
        }
        if let Some(approver) = approver {
            approver.abort();
        }
    }

    async fn caller(self: Arc<Self>, number: u64) {
        loop {
            let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
            if taken.is_err() || self.stopped.load(Ordering::Relaxed) {
                return;
            }
            let call = self.next.fetch_add(1, Ordering::Relaxed);
            self.one(number, call).await;
        }
    }

    async fn one(&self, caller: u64, call: u64) {
        // Spread over the hundred, so that every stretch of the run has a little of everything.
        let place = call.wrapping_mul(37) % 100;
        let mix = &self.mix;
        let mut bounds = [mix.once, mix.locked, mix.batches, mix.asked, mix.canceled, mix.shell, mix.large].into_iter();
        let mut upto = 0;
        let kind = bounds.position(|part| {
            upto += part;
            place < upto
        });
        let key = format!("{}-{call}", self.name);
        let ms = mix.effect_ms;
        let usual = format!(r#"{{"ms":{ms},"busy_ms":{}}}"#, mix.busy_ms);
        let plain = |idempotent| Plan { key: key.clone(), idempotent, ledger: true, ..Plan::default() };
        match kind {
            Some(0) => self.follow_one(caller, plain(false), ONCE, usual).await,
            Some(1) => self.locked(caller, call, plain(call.is_multiple_of(2)), ms).await,
            Some(2) => self.batch(caller, &key).await,
            Some(3) => self.follow_one(caller, plain(false), ASK, usual).await,
            Some(4) => self.canceled(caller, plain(call.is_multiple_of(2))).await,
            Some(5) => self.follow_one(caller, plain(true), SHELL, format!(r#"{{"mark":"{key}"}}"#)).await,
            Some(6) => self.follow_one(caller, plain(true), AGAIN, r#"{"bytes":100000}"#.to_owned()).await,
            _ => self.follow_one(caller, plain(true), AGAIN, usual).await,
        }
    }

    async fn follow_one(&self, caller: u64, plan: Plan, tool: &str, input: String) {
        let spec = self.spec(&plan.key, tool, input);
        if let Some(invocation) = self.ask_for(caller, plan, &spec).await {
            self.follow(caller, &invocation).await;
        }
    }

    /// Fights for a door, sometimes to share it.
    async fn locked(&self, caller: u64, call: u64, plan: Plan, ms: u64) {
        let (door, alone) = (format!("door-{}", call % DOORS), !call.is_multiple_of(3));
        let tool = if plan.idempotent { AGAIN } else { ONCE };
        let mut spec = self.spec(&plan.key, tool, format!(r#"{{"ms":{ms},"door":"{door}","alone":{alone}}}"#));
        let mode = if alone { "exclusive" } else { "shared" }.to_owned();
        spec.resource_locks.push(v1::ResourceLock { key: door.clone(), mode, ..Default::default() });
        spec.lock_domain = "doors".to_owned();
        let plan = Plan { locks: vec![(door, alone)], ..plan };
        if let Some(invocation) = self.ask_for(caller, plan, &spec).await {
            self.follow(caller, &invocation).await;
        }
    }

    async fn canceled(&self, caller: u64, plan: Plan) {
        let tool = if plan.idempotent { AGAIN } else { ONCE };
        let at_once = self.mix.cancel_at_once;
        let ms = if at_once { caller % 8 * 4 } else { 150 };
        let spec = self.spec(&plan.key, tool, format!(r#"{{"ms":{ms}}}"#));
        let Some(invocation) = self.ask_for(caller, plan, &spec).await else { return };
        toolplane_wait::pause(
            Duration::from_millis(if at_once { caller % 5 * 7 } else { caller % 4 * 25 }),
            "cancellations come at different moments of a call",
        )
        .await;
        let request = v1::CancelInvocationRequest {
            invocation_id: invocation.clone(),
            reason: "the storm".to_owned(),
            requested_by: format!("caller-{caller}"),
            request_id: uuid::Uuid::new_v4().to_string(),
            ..Default::default()
        };
        for attempt in 0..20 {
            let mut client = self.client(caller + attempt).invocations();
            let asked = client.cancel_invocation(request.clone());
            match tokio::time::timeout(PATIENCE, asked).await {
                Ok(Err(status)) if is_doubtful(&status) => {
                    toolplane_wait::pause(PAUSE, "callers come back after a while").await
                }
                Err(_) => {}
                Ok(_) => break,
            }
        }
        self.follow(caller, &invocation).await;
    }
}
