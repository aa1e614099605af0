//! How fast calls are accepted, and when a refused caller should come back.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use dashmap::DashMap;
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultDirectRateLimiter, DefaultKeyedRateLimiter, Quota, RateLimiter};
use toolplane_records::ids::{TenantId, ToolId};
use toolplane_records::invocation::Invocation;

use super::bounds::{Bounds, Limits};
use super::pushback::Pushback;
use crate::environment::Environment;
use crate::plan::DispatchPlan;
use crate::storage::{RecordError, keys};

/// Tools whose rates are counted at once; beyond it counting starts anew.
const MAX_TOOLS: usize = 10_000;

/// Counts calls that ask to be accepted.
#[derive(Debug)]
pub(crate) struct Rates {
    limits: Arc<Limits>,
    pushback: Pushback,
    tenants: Option<DefaultKeyedRateLimiter<TenantId>>,
    tools: DashMap<ToolId, Arc<DefaultDirectRateLimiter>>,
    clock: DefaultClock,
}

impl Rates {
    /// The rates of `bounds`; `limits` say which tool has which.
    pub(crate) fn new(bounds: &Bounds, limits: Arc<Limits>, environment: Environment) -> Self {
        let tenants = NonZeroU32::new(bounds.rate_per_tenant).map(|rate| {
            let burst = NonZeroU32::new(bounds.rate_burst).unwrap_or(rate);
            RateLimiter::keyed(Quota::per_second(rate).allow_burst(burst))
        });
        Self {
            limits,
            pushback: Pushback::new(environment),
            tenants,
            tools: DashMap::new(),
            clock: DefaultClock::default(),
        }
    }

    /// Counts a call that asks to be accepted. Fails with [`RecordError::TooFast`] when it comes too early.
    pub(crate) fn admit(&self, record: &Invocation, plan: Option<&DispatchPlan>) -> Result<(), RecordError> {
        // Only calls that are to run are counted: a refused one costs nothing worth counting.
        if record.status.is_terminal() {
            return Ok(());
        }
        self.count_tenant(&record.tenant)?;
        plan.map_or(Ok(()), |plan| self.count_tool(plan))
    }

    fn count_tenant(&self, tenant: &TenantId) -> Result<(), RecordError> {
        let Some(tenants) = &self.tenants else { return Ok(()) };
        let Err(early) = tenants.check_key(tenant) else { return Ok(()) };
        Err(self.too_fast(format!("tenant/{tenant}"), early.wait_time_from(self.clock.now())))
    }

    fn count_tool(&self, plan: &DispatchPlan) -> Result<(), RecordError> {
        let rate = self.limits.of_tool(&plan.tool_name).and_then(|bound| NonZeroU32::new(bound.rate_per_s));
        let Some(rate) = rate else { return Ok(()) };
        if self.tools.len() >= MAX_TOOLS {
            self.tools.clear();
        }
        let quota = || Arc::new(RateLimiter::direct(Quota::per_second(rate)));
        let limiter = self.tools.entry(plan.tool_id.clone()).or_insert_with(quota).clone();
        let Err(early) = limiter.check() else { return Ok(()) };
        Err(self.too_fast(format!("tool/{}", plan.tool_id), early.wait_time_from(self.clock.now())))
    }

    fn too_fast(&self, subject: String, wait: Duration) -> RecordError {
        RecordError::TooFast { subject, retry_after: self.pushback.spread(wait) }
    }

    /// Why a call of `tenant` is refused when too many of it wait.
    pub(crate) fn queue_full(&self, tenant: &TenantId) -> RecordError {
        let retry_after = self.pushback.refused(tenant);
        RecordError::QueueFull { tenant: tenant.clone(), waiting: self.limits.max_waiting(), retry_after }
    }

    /// Why a commit that accepts `records` is refused when this counted index is full.
    pub(crate) fn full<'a>(&self, index: String, records: impl IntoIterator<Item = &'a Invocation>) -> RecordError {
        let of = records.into_iter().find(|record| keys::waiting(&record.tenant) == index);
        of.map_or(RecordError::Full { index }, |record| self.queue_full(&record.tenant))
    }

    /// A waiting call of `tenant` was claimed.
    pub(crate) fn claimed(&self, tenant: &TenantId) {
        self.pushback.claimed(tenant);
    }

    /// Forgets tenants that were quiet, so that memory does not grow with every tenant ever seen.
    pub(crate) fn tidy(&self) {
        if let Some(tenants) = &self.tenants {
            tenants.retain_recent();
        }
        self.pushback.tidy();
    }
}
