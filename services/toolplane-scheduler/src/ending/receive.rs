//! Taking the report of a worker in: once, however often it is said, and to its end whatever comes of it.

use std::sync::Arc;

use toolplane_lifecycle::{Command, LeaseKey, Refusal, ReportedOutcome, ResultQuestion};
use toolplane_proto::v1;
use toolplane_records::evidence::ExecutionSite;
use toolplane_records::invocation::{Invocation, Lease};

use super::effects::Effects;
use super::taking::Turn;
use super::{Endings, StoredReport, facing, question, report};
use crate::calls::Attached;
use crate::originals::{self, Keeping};
use crate::storage::RecordError;

/// What a worker is told about its report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReportReceipt {
    /// It is durable, or known before: forget it.
    Stored,
    /// The lease was no longer the worker's; the report is kept as evidence at most.
    Fenced,
}

/// What is stored with an ending whose original is kept.
fn attached(original: &Keeping) -> Attached {
    let original = match original {
        Keeping::Kept(original) => Some(original.clone()),
        Keeping::Unwanted | Keeping::Not(_) => None,
    };
    Attached { original, ..Attached::default() }
}

/// Where an execution under the lease `held` ran that a worker at `site` reports.
fn who_ran_it(site: Option<Arc<ExecutionSite>>, held: &Lease) -> Arc<ExecutionSite> {
    let is_it = |site: &Arc<ExecutionSite>| site.worker_id == held.worker_id && site.incarnation == held.incarnation;
    // What this start of the worker says of itself may not be so of an earlier one.
    site.filter(is_it).unwrap_or_else(|| Arc::new(ExecutionSite::of(held.worker_id.clone(), held.incarnation.clone())))
}

impl Endings {
    /// Takes the report of the execution under `lease` that a worker at `site` sends, of whose progress so many reports were left out.
    /// One that is in work already is not taken beside itself: what becomes of it is waited for.
    /// An error means that it is neither stored nor known to change nothing.
    pub(crate) async fn take(
        &self,
        lease: &LeaseKey,
        reported: Option<Box<v1::ExecutionOutcome>>,
        site: Option<Arc<ExecutionSite>>,
        progress_left_out: u64,
    ) -> Result<ReportReceipt, RecordError> {
        loop {
            match self.0.taking.begin(lease) {
                Turn::First(taken) => {
                    let receipt = Box::pin(self.take_once(lease, reported, site, progress_left_out)).await?;
                    taken.answered(receipt);
                    return Ok(receipt);
                }
                // Whoever had it in work may have failed; this one is still here then.
                Turn::Again(elsewhere) => match elsewhere.answer().await {
                    Some(receipt) => return Ok(receipt),
                    None => continue,
                },
            }
        }
    }

    async fn take_once(
        &self,
        lease: &LeaseKey,
        mut reported: Option<Box<v1::ExecutionOutcome>>,
        mut site: Option<Arc<ExecutionSite>>,
        progress_left_out: u64,
    ) -> Result<ReportReceipt, RecordError> {
        let inner = &self.0;
        let record = match inner.calls.cached(&lease.call()).await {
            Ok(record) => record,
            Err(RecordError::NotFound) => return Ok(ReportReceipt::Stored),
            Err(error) => return Err(error),
        };
        // A sender that names the current lease and is not its holder is not listened to at all.
        if record.lease.as_ref().is_some_and(|held| held.lease_no == lease.lease_no && !lease.names(held)) {
            return Ok(ReportReceipt::Fenced);
        }
        if let Some(known) = self.known(&record, lease).await? {
            return Ok(known);
        }
        let plan = inner.calls.plans().of(&record).await?;
        let now = inner.calls.now().await?;
        if let Some(outcome) = &mut reported {
            // The lease says who ran it, whatever the report does.
            outcome.site = None;
        }
        if let Some(held) = &record.lease {
            site = Some(who_ran_it(site, held));
        }
        let (cleaned, mut original) = match &mut reported {
            Some(outcome) => self.clean(&record, plan.as_deref(), lease.lease_no, outcome, now).await?,
            None => (Default::default(), Keeping::Unwanted),
        };
        let mut notes = Vec::new();
        let question = match &reported {
            Some(outcome) if question::is_asked(&cleaned.found) => {
                Box::pin(self.question(&record, outcome, &cleaned.found, &mut original, &mut notes)).await?
            }
            _ => None,
        };
        notes.extend(original.note());
        let mut ending = StoredReport { outcome: reported, progress_left_out, notes, ..Default::default() }
            .with_cleaned(&cleaned.found)
            .asked(question.as_ref());
        let kept = (inner.hooks.any() || question.is_some()).then(|| ending.encoded(site.as_deref()));
        let report = self.read(&record, plan.as_deref(), lease.lease_no, (ending, site), now).await?;
        // Before anybody can read it: what the session calls next is decided with this in mind.
        inner.taints.note(&record, &report.taints, now).await?;
        let asked = plan.as_deref().map(|plan| self.asked(plan, &report)).unwrap_or_default();
        let mut unnamed = cleaned.replaced;
        let (stored, ended) = match kept.filter(|_| !asked.is_empty() || question.is_some()) {
            Some(kept) => {
                let decisions = question.iter().map(|question| question.decision.clone()).collect();
                let attached = Attached { ending: Some(kept), decisions, ..attached(&original) };
                let waited = (asked, question.clone());
                let stored = Box::pin(self.wait_for_hooks(lease, &report, plan.as_deref(), waited, attached)).await;
                (stored, Box::new(facing::outcome(*report, Effects::default(), inner.max_inline_bytes)))
            }
            None => {
                let uploads = report.uploads.clone();
                let outcome = self.outcome(&record, plan.as_deref(), lease.lease_no, report, Effects::default(), now);
                let outcome = Box::pin(outcome).await;
                // What stays of an ending that waits is known when its hooks have answered.
                unnamed.extend(report::unnamed(uploads, &outcome));
                (Box::pin(self.complete(lease, &outcome, attached(&original))).await, outcome)
            }
        };
        if matches!(stored, Err(RecordError::Refused { .. } | RecordError::NotFound)) {
            Box::pin(self.not_stored(lease, question.as_ref(), &original)).await;
        }
        if stored.is_ok() {
            // What is durable names none of them; before that, a worker that reports again needs them.
            self.forget_all(&unnamed).await;
            let error = ended.error.as_ref().filter(|_| report::is_error(ended.status));
            inner.news.called(&record.tenant, &record.tool_id, &record.invocation_id, error);
        }
        match stored {
            Ok(()) | Err(RecordError::NotFound) => Ok(ReportReceipt::Stored),
            Err(RecordError::Refused { record, .. }) if toolplane_lifecycle::is_kept(&record, lease) => {
                let known = Box::pin(inner.calls.records().was_started_by(lease)).await?;
                Ok(if known { ReportReceipt::Stored } else { ReportReceipt::Fenced })
            }
            Err(RecordError::Refused { refusal, .. }) => {
                Box::pin(self.keep_late(lease, &ended)).await?;
                // A repeated report of an ended call has been stored before, or lost its race; either way it is over.
                Ok(if matches!(refusal, Refusal::Terminal(_)) { ReportReceipt::Stored } else { ReportReceipt::Fenced })
            }
            Err(error) => Err(error),
        }
    }

    pub(super) async fn forget_all(&self, uris: &[String]) {
        for uri in uris {
            Box::pin(self.forget(uri)).await;
        }
    }

    /// Nothing names what was sealed and asked for an ending that is not stored.
    async fn not_stored(&self, lease: &LeaseKey, question: Option<&ResultQuestion>, original: &Keeping) {
        if let Some(question) = question {
            self.not_waited_for(lease, question).await;
        }
        if let Keeping::Kept(original) = original {
            for part in &original.parts {
                originals::forget(&self.0.payloads, part).await;
            }
        }
    }

    /// What is said of a report that was taken before: it changes nothing, so it is not cleaned once more.
    async fn known(&self, record: &Invocation, lease: &LeaseKey) -> Result<Option<ReportReceipt>, RecordError> {
        if !toolplane_lifecycle::is_taken(record, lease) {
            return Ok(None);
        }
        let known = Box::pin(self.0.calls.records().was_started_by(lease)).await?;
        Ok(Some(if known { ReportReceipt::Stored } else { ReportReceipt::Fenced }))
    }

    /// Ends the call with a report no hook is asked about.
    async fn complete(
        &self,
        lease: &LeaseKey,
        outcome: &ReportedOutcome,
        attached: Attached,
    ) -> Result<(), RecordError> {
        let command = |_: &_| Command::Complete { lease: lease.clone(), outcome: Box::new(outcome.clone()) };
        self.0.calls.command_with(&lease.call(), attached, command).await.map(drop)
    }

    /// Keeps a report that came too late as evidence; it changes nothing else.
    async fn keep_late(&self, lease: &LeaseKey, outcome: &ReportedOutcome) -> Result<(), RecordError> {
        if !self.0.calls.records().was_started_by(lease).await? {
            return Ok(());
        }
        let late = |record: &Invocation, now| {
            toolplane_lifecycle::late_report(record, lease, outcome, now).ok_or(Refusal::NothingToDo)
        };
        match self.0.calls.change(&lease.call(), Attached::default(), late).await {
            Ok(_) | Err(RecordError::Refused { .. } | RecordError::NotFound) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
