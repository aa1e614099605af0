//! How fast calls are accepted, and when a refused caller should come back.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use toolplane_records::ids::{TenantId, ToolId};
use toolplane_records::invocation::Invocation;

use super::bounds::{CallLimits, ConfiguredBounds};
use super::bucket::{Buckets, Pace};
use super::pushback::Pushback;
use crate::environment::Environment;
use crate::plan::DispatchPlan;
use crate::storage::{RecordError, keys};

/// Tools whose rates are counted at once; beyond it counting starts anew.
const MAX_TOOLS: usize = 10_000;

/// Counts calls that ask to be accepted.
#[derive(Debug)]
pub(crate) struct Rates {
    limits: Arc<CallLimits>,
    pushback: Pushback,
    pace_of_tenants: Option<Pace>,
    tenants: Buckets<TenantId>,
    tools: Buckets<ToolId>,
}

impl Rates {
    /// The rates of `bounds`; `limits` say which tool has which.
    pub(crate) fn new(bounds: &ConfiguredBounds, limits: Arc<CallLimits>, environment: Environment) -> Self {
        let pace_of_tenants = NonZeroU32::new(bounds.rate_per_tenant)
            .map(|rate| Pace::new(rate, NonZeroU32::new(bounds.rate_burst).unwrap_or(rate)));
        let pushback = Pushback::new(environment);
        Self { limits, pushback, pace_of_tenants, tenants: Buckets::new(), tools: Buckets::new() }
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
        let Some(pace) = self.pace_of_tenants else { return Ok(()) };
        let counted = self.tenants.take(tenant, pace, Instant::now());
        counted.map_err(|wait| self.too_fast(format!("tenant/{tenant}"), wait))
    }

    fn count_tool(&self, plan: &DispatchPlan) -> Result<(), RecordError> {
        let rate = self.limits.of_tool(&plan.tool.full_name).and_then(|bound| NonZeroU32::new(bound.rate_per_s));
        let Some(rate) = rate else { return Ok(()) };
        if self.tools.len() >= MAX_TOOLS {
            self.tools.clear();
        }
        let counted = self.tools.take(&plan.tool.tool_id, Pace::new(rate, rate), Instant::now());
        counted.map_err(|wait| self.too_fast(format!("tool/{}", plan.tool.tool_id), wait))
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
        let now = Instant::now();
        self.tenants.tidy(now);
        self.tools.tidy(now);
        self.pushback.tidy();
    }
}
