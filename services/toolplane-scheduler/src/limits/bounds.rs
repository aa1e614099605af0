//! How much one tenant and one tool may have at a time: running calls, waiting calls. The queues calls wait in follow from it.

use std::sync::Arc;

use crate::hash::DashMap;
use toolplane_lifecycle::Permit;
use toolplane_matching::glob::{InvalidGlob, TextGlob};
use toolplane_records::ids::TenantId;
use toolplane_records::invocation::Invocation;

use crate::plan::DispatchPlan;
use crate::storage::keys::{self, QueueName};

/// Bounds of the tools a pattern fits.
#[derive(Clone, Debug)]
pub(crate) struct ToolBound {
    /// Name of the tool, or a pattern with `*` and `?`.
    pub(crate) tool: String,
    /// Most calls that run at a time; 0 is no bound.
    pub(crate) max_running: u64,
    /// Calls accepted per second; 0 is no bound.
    pub(crate) rate_per_s: u32,
}

/// All bounds, as configured.
#[derive(Clone, Debug)]
pub(crate) struct ConfiguredBounds {
    /// Most calls of one tenant that wait to be run.
    pub(crate) max_waiting: u64,
    /// Most calls of one tenant that run at a time; 0 is no bound.
    pub(crate) max_running_per_tenant: u64,
    /// Calls of one tenant accepted per second; 0 is no bound.
    pub(crate) rate_per_tenant: u32,
    /// Calls of one tenant accepted at once after a quiet time; a second's worth when 0.
    pub(crate) rate_burst: u32,
    /// Bounds of tools; the first that fits applies.
    pub(crate) tools: Vec<ToolBound>,
}

impl Default for ConfiguredBounds {
    fn default() -> Self {
        Self { max_waiting: 10_000, max_running_per_tenant: 0, rate_per_tenant: 0, rate_burst: 0, tools: Vec::new() }
    }
}

/// Tools whose bounds are remembered by name; beyond it the memory starts anew.
const MAX_FOUND: usize = 10_000;

/// Bounds ready for use.
#[derive(Debug)]
pub(crate) struct CallLimits {
    bounds: ConfiguredBounds,
    patterns: Vec<(TextGlob, ToolBound)>,
    /// Bounds of tools by full name; `None` where no pattern fits.
    by_name: DashMap<String, Option<Arc<ToolBound>>>,
}

impl CallLimits {
    /// Bounds whose patterns are well formed. Returns an error on the first pattern that is not.
    pub(crate) fn new(bounds: ConfiguredBounds) -> Result<Self, InvalidGlob> {
        let compile = |bound: &ToolBound| Ok((TextGlob::parse(&bound.tool)?, bound.clone()));
        let patterns = bounds.tools.iter().map(compile).collect::<Result<_, InvalidGlob>>()?;
        Ok(Self { bounds, patterns, by_name: DashMap::default() })
    }

    /// Most calls of one tenant that wait to be run.
    pub(crate) fn max_waiting(&self) -> u64 {
        self.bounds.max_waiting
    }

    /// Whether running calls of any tool are counted: then plans are needed to name queues.
    pub(crate) fn cap_tools(&self) -> bool {
        self.bounds.tools.iter().any(|bound| bound.max_running > 0)
    }

    /// The bounds of the tool of that full name, when a pattern fits it.
    pub(super) fn of_tool(&self, name: &str) -> Option<Arc<ToolBound>> {
        if self.patterns.is_empty() {
            return None;
        }
        if let Some(known) = self.by_name.get(name) {
            return known.clone();
        }
        let fits = |(pattern, _): &&(TextGlob, ToolBound)| pattern.is_match(name);
        let found = self.patterns.iter().find(fits).map(|(_, bound)| Arc::new(bound.clone()));
        if self.by_name.len() >= MAX_FOUND {
            self.by_name.clear();
        }
        self.by_name.insert(name.to_owned(), found.clone());
        found
    }

    /// Whether running calls of the plan's tool are counted.
    fn is_capped(&self, plan: &DispatchPlan) -> bool {
        self.of_tool(&plan.tool.full_name).is_some_and(|bound| bound.max_running > 0)
    }

    /// Where `record` is ready, when it is; the plan says whether its tool has a queue of its own.
    pub(crate) fn queue_of(&self, record: &Invocation, plan: Option<&DispatchPlan>) -> Option<QueueName> {
        let dispatch = record.dispatch.as_ref()?;
        let capped = plan.is_some_and(|plan| self.is_capped(plan));
        Some(QueueName {
            pool: dispatch.pool.clone(),
            band: record.band,
            tenant: record.tenant.clone(),
            tool: capped.then(|| record.tool_id.clone()),
        })
    }

    /// The places a call of `tenant` with this plan takes while it runs.
    pub(crate) fn permits(&self, tenant: &TenantId, plan: &DispatchPlan) -> Vec<Permit> {
        let mut permits = Vec::new();
        if self.bounds.max_running_per_tenant > 0 {
            let below = self.bounds.max_running_per_tenant;
            permits.push(Permit { index: keys::running_of_tenant(tenant).into(), below });
        }
        if let Some(bound) = self.of_tool(&plan.tool.full_name).filter(|bound| bound.max_running > 0) {
            permits.push(Permit { index: keys::running_of_tool(&plan.tool.tool_id).into(), below: bound.max_running });
        }
        permits
    }
}
