//! How far a running call is, on its way to the scheduler.

use std::sync::Arc;

use toolplane_execution::{ProgressSink, ProgressUpdate};
use toolplane_records::progress::ToolProgress;
use toolplane_records::result::ContentBlock;
use toolplane_records::vocabulary::ProgressStatus;
use toolplane_runtime::clock;

use crate::assignments::Assignment;
use crate::outbox::Outbox;

/// Hands the updates of one execution to the outbox, where a newer one replaces one that was not sent yet.
#[derive(Debug)]
pub(super) struct ProgressReports {
    pub(super) outbox: Arc<Outbox>,
    pub(super) assignment: Arc<Assignment>,
}

impl ProgressSink for ProgressReports {
    fn report(&self, update: ProgressUpdate) {
        // That it started is what the scheduler knows best.
        if update.status == ProgressStatus::Started {
            return;
        }
        let lease = &self.assignment.lease;
        let progress = ToolProgress {
            schema_version: toolplane_records::schema_version(),
            progress_id: format!("{}:w{}", lease.invocation_id, update.sequence),
            invocation_id: lease.invocation_id.clone(),
            sequence: update.sequence,
            status: update.status,
            message: update.message,
            percent: update.percent,
            current_step: String::new(),
            total_steps: None,
            elapsed_ms: Some(u64::try_from(update.elapsed.as_millis()).unwrap_or(u64::MAX)),
            bytes_read: update.bytes_read,
            bytes_written: update.bytes_written,
            line_count: update.line_count,
            task_id: String::new(),
            partial_result_refs: Vec::new(),
            artifact_refs: Vec::new(),
            timestamp: clock::now(),
        };
        self.outbox.progress(lease.clone(), Box::new(progress));
    }

    fn show(&self, blocks: Vec<ContentBlock>) {
        self.outbox.partial(self.assignment.lease.clone(), blocks);
    }
}
