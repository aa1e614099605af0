//! The task that carries one run from its start to its end.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStderr, ChildStdout};
use tokio::time::{Instant, Sleep, sleep_until};

use super::observe::Ask;
use super::pace::Pace;
use super::reports::Reports;
use super::{Captures, Ears, HostResources, Listening, OutputTap, Progress, Started, Wish};
use crate::capture::{Capture, Captured, OutputStream, Overflow};
use crate::error::SandboxError;
use crate::exit::{Exit, LimitHit, LimitKind, ProcessEnd, ResourceUse, UseNow, Violation};
use crate::limits::RunLimits;
use crate::network::Proxy;
use crate::wire::{self, LauncherReport, Order};
use crate::workspace::{Departure, Visit, WorkspaceWatch};

/// Most bytes read at once.
const CHUNK: usize = 64 * 1024;
/// Most bytes of standard error read at once where a run may last for hours.
const SMALL_CHUNK: usize = 8 * 1024;
/// How long process 1 may take to carry out a kill before bubblewrap is killed from outside.
const KILL_BOUND: Duration = Duration::from_secs(2);
/// How long output is still read after everything has ended.
const DRAIN_BOUND: Duration = Duration::from_secs(2);

/// How far the ending of the tree was pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Push {
    None,
    Terminated,
    Killed,
    KilledFromOutside,
}

/// The tool's own end, as process 1 reported it.
struct Reported {
    ending: ProcessEnd,
    resources: ResourceUse,
    scratch_full: Vec<String>,
    violations: Vec<Violation>,
}

/// What happened next.
enum Happened {
    Output(OutputStream, usize),
    Closed(OutputStream),
    Report(LauncherReport),
    ReportsClosed,
    Alarm,
    Wished,
    Asked(Ask),
    /// The workspace went over a bound.
    Full(LimitHit),
    Ended,
}

pub(super) struct Driver {
    child: Child,
    control: UnixStream,
    reports: Reports,
    held: HostResources,
    limits: RunLimits,
    tap: Option<OutputTap>,
    ears: Ears,
    /// Who waits for what the tree uses.
    asking: Vec<Ask>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    buffers: [Vec<u8>; 2],
    captures: Captures,
    /// What of them does not fit into memory.
    overflows: [Overflow; 2],
    /// How fast standard error is read, when its total is not bound.
    pace: Option<Pace>,
    /// Bytes of standard output that somebody else has read.
    read_elsewhere: Option<Arc<AtomicU64>>,
    started: Instant,
    alarm: Pin<Box<Sleep>>,
    push: Push,
    reported: Option<Reported>,
    reports_open: bool,
    ended: bool,
    wish: Wish,
    timed_out: bool,
    output_limit_hit: bool,
    tool_ended: Option<Instant>,
    watch: Option<WorkspaceWatch>,
    full: Option<LimitHit>,
}

impl Driver {
    pub(super) fn new(
        parts: Started,
        limits: RunLimits,
        listening: Listening,
        ears: Ears,
    ) -> Result<Self, SandboxError> {
        let started = Instant::now();
        let Started { mut child, control, reports, held } = parts;
        let unconnected = || SandboxError::Lost { detail: "the output of the tool is not connected".into() };
        let stderr = child.stderr.take().ok_or_else(unconnected)?;
        let (stdout, tap, pace, read_elsewhere, chunks, dir) = match listening {
            Listening::Both(tap, dir) => {
                (Some(child.stdout.take().ok_or_else(unconnected)?), tap, None, None, [CHUNK; 2], dir)
            }
            Listening::Errors(rate, count) => {
                (None, None, Some(Pace::new(rate, started)), Some(count), [0, SMALL_CHUNK], None)
            }
        };
        let [(first, in_memory), (second, _)] =
            [(); 2].map(|()| Overflow::new(dir.as_deref(), limits.output_kept_bytes));
        Ok(Self {
            child,
            control,
            reports,
            watch: held.writable.as_ref().map(Visit::watch),
            full: None,
            held,
            tap,
            ears,
            asking: Vec::new(),
            stdout,
            stderr: Some(stderr),
            buffers: chunks.map(|length| vec![0; length]),
            captures: Arc::new(Mutex::new([Capture::new(in_memory), Capture::new(in_memory)])),
            overflows: [first, second],
            pace,
            read_elsewhere,
            started,
            alarm: Box::pin(sleep_until(started + limits.wall)),
            limits,
            push: Push::None,
            reported: None,
            reports_open: true,
            ended: false,
            wish: Wish::GoOn,
            timed_out: false,
            output_limit_hit: false,
            tool_ended: None,
        })
    }

    /// What is kept of the output, as it grows.
    pub(super) fn captures(&self) -> Captures {
        Arc::clone(&self.captures)
    }

    pub(super) async fn run(mut self) -> Result<Exit, SandboxError> {
        loop {
            match self.next().await {
                Happened::Output(stream, length) => self.take_output(stream, length).await,
                Happened::Closed(OutputStream::Stdout) => self.stdout = None,
                Happened::Closed(OutputStream::Stderr) => self.stderr = None,
                Happened::Report(report) => self.take_report(report),
                Happened::ReportsClosed => self.reports_open = false,
                Happened::Wished => self.take_wish().await,
                Happened::Asked(ask) => self.take_question(ask).await,
                Happened::Full(hit) => {
                    self.full = Some(hit);
                    self.kill().await;
                }
                Happened::Ended => {
                    self.ended = true;
                    self.pace = None;
                    self.alarm.as_mut().reset(Instant::now() + DRAIN_BOUND);
                }
                Happened::Alarm if self.ended => break,
                Happened::Alarm => {
                    if self.push == Push::None && self.wish != Wish::Close {
                        self.timed_out = true;
                    }
                    self.push_on().await;
                }
            }
            if self.ended && self.stdout.is_none() && self.stderr.is_none() && !self.reports_open {
                break;
            }
        }
        self.finish().await
    }

    async fn next(&mut self) -> Happened {
        let [out, err] = &mut self.buffers;
        tokio::select! {
            read = read_some(&mut self.stdout, out, None) => match read {
                0 => Happened::Closed(OutputStream::Stdout),
                length => Happened::Output(OutputStream::Stdout, length),
            },
            read = read_some(&mut self.stderr, err, self.pace.as_mut()) => match read {
                0 => Happened::Closed(OutputStream::Stderr),
                length => Happened::Output(OutputStream::Stderr, length),
            },
            report = self.reports.next(&mut self.control), if self.reports_open => match report {
                Ok(Some(report)) => Happened::Report(report),
                Ok(None) | Err(_) => Happened::ReportsClosed,
            },
            () = self.alarm.as_mut() => Happened::Alarm,
            changed = self.ears.wished.changed(), if self.wish != Wish::Abandon => {
                self.wish = changed.map_or(Wish::Abandon, |()| *self.ears.wished.borrow_and_update());
                Happened::Wished
            }
            Some(ask) = self.ears.asked.recv(), if self.reported.is_none() && self.reports_open => Happened::Asked(ask),
            hit = reached(&mut self.watch), if self.full.is_none() => Happened::Full(hit),
            _ = self.child.wait(), if !self.ended => Happened::Ended,
        }
    }

    async fn take_output(&mut self, stream: OutputStream, length: usize) {
        let chunk = &self.buffers[stream.index()][..length];
        if let Some(tap) = &mut self.tap {
            tap(stream, chunk);
        }
        let overflow = &mut self.overflows[stream.index()];
        let (total, before) = {
            let mut captures = self.captures.lock();
            let before = overflow.before(&captures[stream.index()], chunk);
            captures[stream.index()].push(chunk);
            let [out, err] = &*captures;
            self.ears.progress.send_replace(Progress {
                stdout_bytes: out.total_bytes(),
                stdout_lines: out.total_lines(),
                stderr_bytes: err.total_bytes(),
                stderr_lines: err.total_lines(),
                elapsed: self.started.elapsed(),
            });
            (captures[stream.index()].total_bytes(), before)
        };
        overflow.push(before, chunk).await;
        let bound = self.read_elsewhere.is_none();
        if bound && total > self.limits.output_max_bytes {
            if !self.output_limit_hit {
                self.output_limit_hit = true;
                self.kill().await;
            }
            // The bound is on what is read: what the pipe still holds stays there.
            match stream {
                OutputStream::Stdout => self.stdout = None,
                OutputStream::Stderr => self.stderr = None,
            }
        }
    }

    fn take_report(&mut self, report: LauncherReport) {
        match report {
            LauncherReport::Exited { ending, resources, scratch_full, violations } => {
                self.tool_ended = Some(Instant::now());
                self.asking.clear();
                self.reported = Some(Reported { ending, resources, scratch_full, violations });
                // Process 1 is ending; if it does not end in time, it is killed.
                self.push = self.push.max(Push::Killed);
                self.alarm.as_mut().reset(Instant::now() + KILL_BOUND);
            }
            LauncherReport::Uses(uses) => self.answer(uses),
            LauncherReport::Failed { .. } | LauncherReport::Inside | LauncherReport::Started => {}
        }
    }

    /// Questions that come while one is asked get the same answer.
    async fn take_question(&mut self, ask: Ask) {
        self.asking.push(ask);
        if self.asking.len() == 1 {
            self.order(Order::Tell).await;
        }
    }

    fn answer(&mut self, uses: UseNow) {
        for ask in self.asking.drain(..) {
            let _ = ask.send(uses);
        }
    }

    async fn take_wish(&mut self) {
        match self.wish {
            Wish::GoOn => {}
            Wish::Close if self.push == Push::None => {
                self.alarm.as_mut().reset(Instant::now() + self.limits.grace);
            }
            Wish::Close => {}
            Wish::Cancel if self.push == Push::None => self.push_on().await,
            Wish::Cancel => {}
            Wish::Abandon => self.kill().await,
        }
    }

    /// The next harder way to end the tree, and an alarm for the one after.
    async fn push_on(&mut self) {
        match self.push {
            Push::None => {
                self.push = Push::Terminated;
                self.alarm.as_mut().reset(Instant::now() + self.limits.grace);
                self.order(Order::Terminate).await;
            }
            Push::Terminated => self.kill().await,
            Push::Killed | Push::KilledFromOutside => {
                self.push = Push::KilledFromOutside;
                self.alarm.as_mut().reset(Instant::now() + KILL_BOUND);
                self.held.group.kill();
                let _ = self.child.start_kill();
            }
        }
    }

    async fn kill(&mut self) {
        if self.push < Push::Killed {
            self.push = Push::Killed;
            self.alarm.as_mut().reset(Instant::now() + KILL_BOUND);
            self.order(Order::Kill).await;
        }
    }

    async fn order(&mut self, order: Order) {
        // A launcher that does not listen is dealt with by the alarm.
        if let Ok(frame) = wire::encode(&order) {
            let _ = self.control.write_all(&frame).await;
        }
    }

    async fn finish(mut self) -> Result<Exit, SandboxError> {
        let wall = self.tool_ended.unwrap_or_else(Instant::now) - self.started;
        self.watch = None;
        // Also of a run that was lost: what it left is still there.
        let departure = departure(self.held.writable.take()).await;
        let mut limits_hit = Vec::from_iter(self.full.take());
        limits_hit.extend(self.held.group.limits_hit(&self.limits));
        let proxy = self.held.proxy.take();
        let Some(mut reported) = self.reported.take() else {
            let evidence: Vec<_> = limits_hit.iter().map(|hit| hit.evidence.as_str()).collect();
            let detail = match evidence.is_empty() {
                true => "process 1 ended without a report".to_owned(),
                false => format!("process 1 ended without a report after {}", evidence.join(", ")),
            };
            return Err(SandboxError::Lost { detail });
        };
        limits_hit.extend(limits_shown_by(&reported, &self.limits));
        reported.violations.extend(proxy.iter().flat_map(Proxy::violations));
        let killed = self.output_limit_hit;
        let [mut stdout, mut stderr] = self.captures.lock().clone().map(|capture| capture.finish(killed));
        let [of_stdout, of_stderr] = self.overflows;
        of_stdout.finish(&mut stdout, killed).await;
        of_stderr.finish(&mut stderr, killed).await;
        let elsewhere = self.read_elsewhere.map(|count| count.load(Ordering::Relaxed));
        let stdout = elsewhere.map_or(stdout, Captured::of_others);
        Ok(Exit {
            ending: reported.ending,
            stdout,
            stderr,
            wall,
            timed_out: self.timed_out,
            canceled: self.wish > Wish::Close && !self.timed_out && !self.output_limit_hit,
            output_limit_hit: self.output_limit_hit,
            resources: reported.resources,
            limits_hit,
            violations: reported.violations,
            new_protected_paths: departure.new_protected_paths,
            mended: departure.mended,
            workspace_usage: departure.usage,
        })
    }
}

/// Reads into `buffer` when the time has come; 0 at the end of the stream. Never ends when there is no stream. Nothing is lost
/// when the future is dropped.
async fn read_some<R: AsyncRead + Unpin>(
    stream: &mut Option<R>,
    buffer: &mut [u8],
    mut pace: Option<&mut Pace>,
) -> usize {
    let Some(stream) = stream else { return std::future::pending().await };
    if let Some(until) = pace.as_ref().and_then(|pace| pace.wait(Instant::now())) {
        sleep_until(until).await;
    }
    let length = stream.read(buffer).await.unwrap_or(0);
    if let Some(pace) = &mut pace {
        pace.flowed(length as u64, Instant::now());
    }
    length
}

/// Bounds whose reaching shows in how the tool ended.
fn limits_shown_by(reported: &Reported, limits: &RunLimits) -> Vec<LimitHit> {
    let mut hits = Vec::new();
    let mut hit = |limit, allowed, evidence: String| hits.push(LimitHit { limit, allowed, evidence });
    // A shell tells of a child's signal by its exit code, which any program can return: then the time must fit as well.
    // The kernel counts in ticks and may be a little early.
    let cpu = reported.resources.user_cpu_us + reported.resources.system_cpu_us;
    let spent = cpu >= limits.cpu_seconds.saturating_mul(900_000);
    let told = reported.ending == ProcessEnd::Code(128 + libc::SIGXCPU) && spent;
    if reported.ending == ProcessEnd::Signal(libc::SIGXCPU) || told {
        hit(LimitKind::Cpu, limits.cpu_seconds, format!("ended by SIGXCPU after {} ms of CPU time", cpu / 1000));
    }
    if reported.ending == ProcessEnd::Signal(libc::SIGXFSZ) {
        hit(LimitKind::FileSize, limits.file_bytes, "ended by SIGXFSZ".into());
    }
    for path in &reported.scratch_full {
        hit(LimitKind::Scratch, limits.scratch_bytes, format!("`{path}` was full at the end"));
    }
    hits
}

/// Waits until the workspace goes over a bound; never ends when there is none to watch.
async fn reached(watch: &mut Option<WorkspaceWatch>) -> LimitHit {
    match watch {
        Some(watch) => watch.reached().await,
        None => std::future::pending().await,
    }
}

async fn departure(visit: Option<Visit>) -> Departure {
    let Some(visit) = visit else { return Departure::default() };
    tokio::task::spawn_blocking(move || visit.end()).await.unwrap_or_default()
}
