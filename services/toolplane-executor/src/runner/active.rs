//! What metrics say of executions while they run, and of sandboxes that did not hold one.

use toolplane_metrics::{names, table};
use toolplane_records::codes::{self, Code};
use toolplane_records::error::ToolError;

/// Errors that say that a sandbox stopped an execution, or could not hold it.
const SANDBOX: [Code; 5] = [
    codes::SANDBOX_UNAVAILABLE,
    codes::SANDBOX_SETUP_FAILED,
    codes::SANDBOX_LOST,
    codes::SANDBOX_VIOLATION,
    codes::NO_SANDBOX_FOR_KIND,
];

/// One execution that runs; no longer when it is dropped.
#[derive(Debug)]
pub(super) struct ActiveExecution {
    tool: &'static str,
}

impl ActiveExecution {
    pub(super) fn begin(tool: &str) -> Self {
        let tool = names::TOOLS.name(tool);
        table::EXECUTIONS_ACTIVE.add([tool], 1);
        Self { tool }
    }

    /// It ended with this error, or without one.
    pub(super) fn ended(self, error: Option<&ToolError>) {
        let Some(error) = error else { return };
        if let Some(code) = SANDBOX.iter().find(|code| code.as_str() == error.error_code) {
            table::SANDBOX_FAILURES.add([self.tool, code.as_str()], 1);
        }
    }
}

impl Drop for ActiveExecution {
    fn drop(&mut self) {
        table::EXECUTIONS_ACTIVE.add([self.tool], -1);
    }
}

#[cfg(test)]
mod tests {
    use toolplane_metrics::{Value, collect};

    use super::*;

    fn told(metric: &str, labels: &[&str]) -> Option<Value> {
        let families = collect();
        let mut points = families.iter().filter(|family| family.about.name == metric).flat_map(|family| &family.points);
        points.find(|point| point.labels == labels).map(|point| point.value.clone())
    }

    #[test]
    fn an_execution_is_active_until_it_ends_or_is_dropped_and_only_sandboxes_are_blamed_for_their_own() {
        const TOOL: &str = "active.tool";
        let level = || told("toolplane.worker.executions.active", &[TOOL]);
        let (one, other) = (ActiveExecution::begin(TOOL), ActiveExecution::begin(TOOL));
        assert_eq!(level(), Some(Value::Level(2)));
        drop(one);
        other.ended(Some(&ToolError::of(codes::SANDBOX_VIOLATION, "it wrote elsewhere")));
        ActiveExecution::begin(TOOL).ended(Some(&ToolError::of(codes::EXEC_TIMEOUT, "slow")));
        assert_eq!(level(), Some(Value::Level(0)));
        let blamed = told("toolplane.sandbox.failures", &[TOOL, "sandbox.violation"]);
        assert_eq!(blamed, Some(Value::Count(1)));
        assert_eq!(told("toolplane.sandbox.failures", &[TOOL, "exec.timeout"]), None);
    }
}
