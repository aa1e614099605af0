//! Bounds on how much one tenant and one tool may have: running calls, waiting calls, calls per second.

use std::sync::Arc;
use std::time::Duration;

use dashmap::DashMap;
use globset::{Glob, GlobMatcher};
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use std::num::NonZeroU32;
use toolplane_lifecycle::Permit;
use toolplane_records::ids::{TenantId, ToolId};

use super::keys;
use super::plan::DispatchPlan;
use super::pushback::Pushback;

/// Bounds of the tools a pattern fits.
#[derive(Clone, Debug)]
pub struct ToolBound {
    /// Name of the tool, or a pattern with `*` and `?`.
    pub tool: String,
    /// Most calls that run at a time; 0 is no bound.
    pub max_running: u64,
    /// Calls accepted per second; 0 is no bound.
    pub rate_per_s: u32,
}

/// All bounds, as configured.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Most calls of one tenant that wait to be run.
    pub max_waiting: u64,
    /// Most calls of one tenant that run at a time; 0 is no bound.
    pub max_running_per_tenant: u64,
    /// Calls of one tenant accepted per second; 0 is no bound.
    pub rate_per_tenant: u32,
    /// Calls of one tenant accepted at once after a quiet time; a second's worth when 0.
    pub rate_burst: u32,
    /// Bounds of tools; the first that fits applies.
    pub tools: Vec<ToolBound>,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { max_waiting: 10_000, max_running_per_tenant: 0, rate_per_tenant: 0, rate_burst: 0, tools: Vec::new() }
    }
}

/// Bounds ready for use.
pub(crate) struct Limits {
    pub(crate) bounds: Bounds,
    pub(crate) pushback: Pushback,
    patterns: Vec<(GlobMatcher, ToolBound)>,
    /// Bounds of tools by full name; `None` where no pattern fits.
    found: DashMap<String, Option<Arc<ToolBound>>>,
    tenants: Option<DefaultKeyedRateLimiter<TenantId>>,
    tools: DashMap<ToolId, Arc<governor::DefaultDirectRateLimiter>>,
    clock: DefaultClock,
}

/// A call comes too early.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooFast {
    pub(crate) subject: String,
    pub(crate) retry_after: Duration,
}

/// Tools whose bounds are remembered by name; beyond it the memory starts anew.
const MAX_FOUND: usize = 10_000;

impl Limits {
    /// Bounds whose patterns are well formed; others are refused by name.
    pub(crate) fn new(bounds: Bounds) -> Result<Self, globset::Error> {
        let compile = |bound: &ToolBound| Ok((Glob::new(&bound.tool)?.compile_matcher(), bound.clone()));
        let patterns = bounds.tools.iter().map(compile).collect::<Result<_, globset::Error>>()?;
        let tenants = NonZeroU32::new(bounds.rate_per_tenant).map(|rate| {
            let burst = NonZeroU32::new(bounds.rate_burst).unwrap_or(rate);
            RateLimiter::keyed(Quota::per_second(rate).allow_burst(burst))
        });
        let (found, tools) = (DashMap::new(), DashMap::new());
        let pushback = Pushback::default();
        Ok(Self { bounds, pushback, patterns, found, tenants, tools, clock: DefaultClock::default() })
    }

    /// Whether running calls of any tool are counted: then plans are needed to name queues.
    pub(crate) fn cap_tools(&self) -> bool {
        self.bounds.tools.iter().any(|bound| bound.max_running > 0)
    }

    fn of_tool(&self, name: &str) -> Option<Arc<ToolBound>> {
        if self.patterns.is_empty() {
            return None;
        }
        if let Some(found) = self.found.get(name) {
            return found.clone();
        }
        let fits = |(pattern, _): &&(GlobMatcher, ToolBound)| pattern.is_match(name);
        let found = self.patterns.iter().find(fits).map(|(_, bound)| Arc::new(bound.clone()));
        if self.found.len() >= MAX_FOUND {
            self.found.clear();
        }
        self.found.insert(name.to_owned(), found.clone());
        found
    }

    /// Whether running calls of the plan's tool are counted.
    pub(crate) fn is_capped(&self, plan: &DispatchPlan) -> bool {
        self.of_tool(&plan.tool_name).is_some_and(|bound| bound.max_running > 0)
    }

    /// The places a call of `tenant` with this plan takes while it runs.
    pub(crate) fn permits(&self, tenant: &TenantId, plan: &DispatchPlan) -> Vec<Permit> {
        let mut permits = Vec::new();
        if self.bounds.max_running_per_tenant > 0 {
            let below = self.bounds.max_running_per_tenant;
            permits.push(Permit { index: keys::running_of_tenant(tenant), below });
        }
        if let Some(bound) = self.of_tool(&plan.tool_name).filter(|bound| bound.max_running > 0) {
            permits.push(Permit { index: keys::running_of_tool(&plan.tool_id), below: bound.max_running });
        }
        permits
    }

    /// Counts a call that asks to be accepted.
    pub(crate) fn admit(&self, tenant: &TenantId, plan: Option<&DispatchPlan>) -> Result<(), TooFast> {
        if let Some(tenants) = &self.tenants
            && let Err(early) = tenants.check_key(tenant)
        {
            let retry_after = early.wait_time_from(self.clock.now());
            return Err(TooFast {
                subject: format!("tenant/{tenant}"),
                retry_after: self.pushback.spread(retry_after),
            });
        }
        let bound = plan.and_then(|plan| Some((plan, self.of_tool(&plan.tool_name)?)));
        if let Some((plan, rate)) = bound.and_then(|(plan, bound)| Some((plan, NonZeroU32::new(bound.rate_per_s)?))) {
            let quota = || Arc::new(RateLimiter::direct(Quota::per_second(rate)));
            let limiter = self.tools.entry(plan.tool_id.clone()).or_insert_with(quota).clone();
            if let Err(early) = limiter.check() {
                let retry_after = self.pushback.spread(early.wait_time_from(self.clock.now()));
                return Err(TooFast { subject: format!("tool/{}", plan.tool_id), retry_after });
            }
        }
        Ok(())
    }

    /// Forgets tenants that were quiet, so that memory does not grow with every tenant ever seen.
    pub(crate) fn tidy(&self) {
        if let Some(tenants) = &self.tenants {
            tenants.retain_recent();
        }
        self.pushback.tidy();
    }
}
