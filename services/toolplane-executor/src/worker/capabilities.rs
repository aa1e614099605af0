//! What this worker serves: what the machine can run, narrowed by the configuration.

use toolplane_execution as execution;
use toolplane_records::payload::JsonPayload;

use super::egress::Egress;
use crate::error::ExecutorError;

#[cfg(test)]
mod tests;

/// A pool a worker would serve if something were not missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolGap {
    /// The pool, e.g. `shell`.
    pub pool: String,
    /// Stable reason, e.g. `sandbox_unavailable`.
    pub reason_code: String,
    /// For people: what to do about it.
    pub message: String,
}

/// What a worker tells a scheduler about itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Capabilities {
    /// Pools it serves.
    pub pools: Vec<String>,
    /// Built-in tools it serves, by name: those of its pools.
    pub native_tools: Vec<String>,
    /// Pools it was meant to serve and cannot, and why.
    pub gaps: Vec<PoolGap>,
    /// What its sandbox was found to hold; a JSON object.
    pub posture: JsonPayload,
}

impl Capabilities {
    /// What is left of `found` when only the pools `wanted` are to be served. A pool that is not wanted here is no gap.
    ///
    /// Fails with [`ExecutorError::Option`] when `wanted` names a pool that does not exist.
    pub(crate) fn of(
        found: &execution::Capabilities,
        egress: &Egress,
        wanted: Option<&[String]>,
    ) -> Result<Self, ExecutorError> {
        let gaps = found.gaps.iter().map(|gap| PoolGap {
            pool: gap.pool.to_owned(),
            reason_code: gap.reason_code.to_owned(),
            message: gap.message.clone(),
        });
        let mut all = Self {
            native_tools: found.native_tools.iter().map(|name| (*name).to_owned()).collect(),
            pools: found.pools.iter().map(|pool| (*pool).to_owned()).collect(),
            gaps: gaps.collect(),
            posture: JsonPayload::of(&found.posture),
        };
        for (pool, who, key) in egress.closed() {
            if !all.pools.iter().any(|served| served == pool) {
                continue;
            }
            all.pools.retain(|served| served != pool);
            all.gaps.push(PoolGap {
                pool: pool.to_owned(),
                reason_code: "egress_not_configured".to_owned(),
                message: format!("{who} may reach no host: list the hosts they may reach in `{key}`"),
            });
        }
        match wanted {
            Some(wanted) => all.only(wanted),
            None => Ok(all),
        }
    }

    fn only(mut self, wanted: &[String]) -> Result<Self, ExecutorError> {
        let known = |pool: &String| self.pools.contains(pool) || self.gaps.iter().any(|gap| gap.pool == *pool);
        if let Some(unknown) = wanted.iter().find(|pool| !known(pool)) {
            let mut names: Vec<_> = self.pools.into_iter().chain(self.gaps.into_iter().map(|gap| gap.pool)).collect();
            names.sort();
            let rule = format!("names `{unknown}`, which is not a pool; pools are: {}", names.join(", "));
            return Err(ExecutorError::Option { key: "executor.pools", rule });
        }
        self.pools.retain(|pool| wanted.contains(pool));
        // Built-in tools that came later than their pool go with the pool their name begins with.
        let pool_of = |tool: &str| tool.split('.').next().unwrap_or_default().to_owned();
        let served = |tool: &String| wanted.contains(&pool_of(tool));
        self.native_tools.retain(served);
        self.gaps.retain(|gap| wanted.contains(&gap.pool));
        Ok(self)
    }
}
