//! News of one running call, on their way to the scheduler.

use std::sync::Arc;

use toolplane_execution::{ProgressSink, ProgressUpdate};
use toolplane_proto::convert::field;
use toolplane_proto::convert::word::Word as _;
use toolplane_proto::v1::ToolProgress;
use toolplane_records::vocabulary::ProgressStatus;
use toolplane_runtime::clock;

use crate::executor::Core;
use crate::outcome::millis;
use crate::seat::Seat;

/// Hands the updates of one execution to the outbox, where a newer one replaces one that was not sent yet.
#[derive(Debug)]
pub(crate) struct News {
    pub(crate) core: Arc<Core>,
    pub(crate) seat: Arc<Seat>,
}

impl ProgressSink for News {
    fn report(&self, update: ProgressUpdate) {
        // That it started is what the scheduler knows best.
        if update.status == ProgressStatus::Started {
            return;
        }
        let invocation_id = &self.seat.lease.invocation_id;
        let progress = ToolProgress {
            schema_version: toolplane_records::schema_version(),
            progress_id: format!("{invocation_id}:w{}", update.sequence),
            invocation_id: invocation_id.clone(),
            sequence: update.sequence,
            status: update.status.as_str().to_owned(),
            status_code: update.status.number(),
            message: update.message,
            percent: update.percent,
            elapsed_ms: Some(millis(update.elapsed)),
            bytes_read: update.bytes_read,
            bytes_written: update.bytes_written,
            line_count: update.line_count,
            timestamp: field::instant(clock::now()),
            ..ToolProgress::default()
        };
        self.core.outbox.progress(self.seat.lease.clone(), progress);
    }
}
