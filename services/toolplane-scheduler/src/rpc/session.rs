//! One worker's stream: what it reports, and what it is told.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::join_all;
use futures_util::{Stream, StreamExt};
use tonic::Status;
use toolplane_lifecycle::{Holder, LeaseMessage};
use toolplane_proto::convert::field;
use toolplane_proto::v1;
use toolplane_proto::v1::worker_report::Report;
use toolplane_records::ids::{ProviderId, TenantId};
use toolplane_runtime::Shutdown;
use toolplane_runtime::server::ConnectionLife;

use super::beat::{Beat, renew};
use super::hello;
use super::in_turn::{InTurn, Put};
use super::in_work::InWork;
use super::report::{CallReports, refuse};
use super::wire::{lease_key, lease_of, name_of};
use super::worker_parts::WorkerParts;
use crate::dispatch::{WorkerLink, WorkerMessage, receipts};

/// A connected worker.
pub(crate) struct Session {
    pub(super) parts: WorkerParts,
    pub(super) link: Arc<WorkerLink>,
    /// For whom the worker speaks: this start of it, and its earlier ones when it says that nothing of them is left.
    pub(super) holder: Holder,
    /// Takes reports of single calls.
    pub(super) reports: Arc<CallReports>,
    pub(super) in_turn: Arc<InTurn>,
    /// Reports that came with the hello.
    pub(super) backlog: Vec<v1::WorkerReport>,
    /// The worker ends on purpose.
    pub(super) goodbye: AtomicBool,
}

impl Session {
    /// Takes reports until the stream ends. The end of a stream is not the end of a worker: its leases go on.
    pub(crate) async fn run(
        mut self,
        mut reports: impl Stream<Item = Result<v1::WorkRequest, Status>> + Send + Unpin,
        shutdown: Shutdown,
        life: ConnectionLife,
    ) {
        let backlog = std::mem::take(&mut self.backlog);
        self.take(backlog);
        let mut leaving = false;
        let in_work = self.reports.in_work.clone();
        loop {
            let message = tokio::select! {
                biased;
                message = next(&in_work, &self.link, &mut reports) => message,
                // The worker is asked to leave: to another scheduler, or to a new connection in place of an old one.
                () = first_of(shutdown.requested(), life.leaving()), if !leaving => {
                    leaving = true;
                    self.link.drain();
                    self.link.send(WorkerMessage::GoAway { schedulers: self.parts.fleet.schedulers().others() });
                    continue;
                }
            };
            match message {
                Some(Ok(message)) => self.take(message.reports),
                Some(Err(_)) | None => break,
            }
        }
        self.parts.fleet.here().disconnect(&self.link);
        receipts::keep(&self.parts.calls, &self.link).await;
        self.parts.fleet.left(&self.link, self.goodbye.load(Ordering::Relaxed)).await;
        tracing::info!(worker_id = %self.link.info.worker_id, "a worker's stream ended");
    }

    /// Reports of one invocation are taken in order; those of different ones at the same time, so that one durable
    /// write serves many.
    fn take(&self, reports: Vec<v1::WorkerReport>) {
        let mut by_lease: BTreeMap<String, Vec<Report>> = BTreeMap::new();
        for report in reports {
            let Some(report) = report.report else {
                let rule = "must be one this scheduler knows".to_owned();
                refuse(&self.link, None, "", "report".to_owned(), rule);
                continue;
            };
            match lease_of(&report) {
                Some(lease) => by_lease.entry(lease.lease_id.clone()).or_default().push(report),
                None => self.take_own(report),
            }
        }
        let environment = self.parts.calls.storage().environment();
        for (lease, reports) in by_lease {
            let reports = self.put_in_turn(&lease, reports);
            if reports.is_empty() {
                continue;
            }
            let (call, working) = (Arc::clone(&self.reports), self.reports.in_work.begin());
            environment.spawn(async move {
                let _working = working;
                for report in reports {
                    call.take(report).await;
                }
            });
        }
    }

    /// Partial results, and what comes while some are being taken, are taken one after the other, whichever messages they came in; gives
    /// back the others. Progress needs no turn: the newest counts.
    fn put_in_turn(&self, lease: &str, reports: Vec<Report>) -> Vec<Report> {
        let partial = |report: &Report| matches!(report, Report::Partial(_));
        if !reports.iter().any(partial) && !self.in_turn.any(lease) {
            return reports;
        }
        let (progress, reports): (Vec<_>, Vec<_>) =
            reports.into_iter().partition(|report| matches!(report, Report::Progress(_)));
        for report in reports {
            let (name, told) = (name_of(&report), lease_of(&report).cloned());
            match self.in_turn.put(lease, report) {
                Put::Waits | Put::Known => {}
                Put::Full => refuse(&self.link, told, name, String::new(), "came too fast after others".to_owned()),
                Put::Begin => {
                    let (call, in_turn, lease) = (Arc::clone(&self.reports), self.in_turn.clone(), lease.to_owned());
                    let working = call.in_work.begin();
                    self.parts.calls.storage().environment().spawn(async move {
                        let _working = working;
                        while let Some(report) = in_turn.next(&lease) {
                            call.take(report).await;
                        }
                    });
                }
            }
        }
        progress
    }

    /// Reports about the worker itself.
    fn take_own(&self, report: Report) {
        match report {
            Report::Heartbeat(beat) => {
                let (parts, link) = (self.parts.clone(), self.link.clone());
                let (holder, working) = (self.holder.clone(), self.reports.in_work.begin());
                self.parts.calls.storage().environment().spawn(async move {
                    let _working = working;
                    take_beat(&parts, &link, &holder, beat.leases).await;
                });
            }
            Report::Goodbye(_) => {
                self.goodbye.store(true, Ordering::Relaxed);
                self.link.drain();
            }
            Report::Hello(_) => {
                refuse(&self.link, None, "hello", String::new(), "must come once, first".to_owned());
            }
            Report::Ready(_) => {}
            Report::ProviderChanged(changed) => {
                let read = field::id::<TenantId>("tenant", &changed.tenant)
                    .and_then(|tenant| Ok((tenant, field::id::<ProviderId>("provider_id", &changed.provider_id)?)));
                match read {
                    Ok((tenant, id)) => self.parts.news.tools_changed(&tenant, id.as_str()),
                    Err(error) => refuse(&self.link, None, "provider_changed", error.field, error.rule),
                }
            }
            Report::Credentials(told) => match hello::read_credentials("names", told) {
                Ok(names) => {
                    self.link.has_credentials(names);
                    let (fleet, link) = (self.parts.fleet.clone(), self.link.clone());
                    let (environment, working) =
                        (self.parts.calls.storage().environment(), self.reports.in_work.begin());
                    environment.spawn(async move {
                        let _working = working;
                        fleet.record_anew(&link).await;
                    });
                }
                Err(error) => refuse(&self.link, None, "credentials", error.field, error.rule),
            },
            // Every other report is about a call, and does not say which.
            report => refuse(&self.link, None, name_of(&report), "lease".to_owned(), "must be given".to_owned()),
        }
    }
}

/// The next message, once there is room for the work it brings: what is not read waits at the worker. `None` when the stream is over.
async fn next<R>(in_work: &InWork, link: &WorkerLink, reports: &mut R) -> Option<Result<v1::WorkRequest, Status>>
where
    R: Stream<Item = Result<v1::WorkRequest, Status>> + Unpin,
{
    tokio::select! {
        biased;
        () = in_work.room() => reports.next().await,
        // Nothing is read meanwhile, so nothing else would tell that the worker has gone.
        () = link.closed() => None,
    }
}

/// The worker is alive and holds these leases.
async fn take_beat(parts: &WorkerParts, link: &WorkerLink, holder: &Holder, leases: Vec<v1::LeaseRef>) {
    let Ok(now) = parts.calls.now().await else { return };
    link.seen(now);
    let mut read = Vec::with_capacity(leases.len());
    for lease in leases {
        match lease_key(Some(lease.clone()), holder) {
            Ok(lease) => read.push(lease),
            Err(error) => refuse(link, Some(lease), "heartbeat", error.field, error.rule),
        }
    }
    let beats = read.into_iter().map(|lease| renew(&parts.calls, lease, i64::from(parts.terms.lease_ms), now));
    for beat in join_all(beats).await {
        match beat {
            Beat::Renewed(messages) => messages.into_iter().for_each(|message| link.send(message.into())),
            Beat::Fenced(lease) => link.send(LeaseMessage::Fenced { lease }.into()),
            Beat::Unsure(_) => {}
        }
    }
}

async fn first_of(one: impl Future<Output = ()>, other: impl Future<Output = ()>) {
    tokio::select! {
        () = one => {}
        () = other => {}
    }
}
