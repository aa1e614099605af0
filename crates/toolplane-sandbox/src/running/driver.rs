//! The task that carries one run from its start to its end.

use std::pin::Pin;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::process::{Child, ChildStderr, ChildStdout};
use tokio::sync::watch;
use tokio::time::{Instant, Sleep, sleep_until};

use super::reports::Reports;
use super::{HostResources, OutputTap, Progress, Wish};
use crate::capture::{Capture, OutputStream};
use crate::error::SandboxError;
use crate::exit::{Exit, LimitHit, LimitKind, ProcessEnd, ResourceUse, Violation};
use crate::limits::RunLimits;
use crate::wire::{self, LauncherReport, Order};
use crate::workspace::{Departure, Visit, WorkspaceWatch};

/// Most bytes read at once.
const CHUNK: usize = 64 * 1024;
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
    wished: watch::Receiver<Wish>,
    progress: watch::Sender<Progress>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    buffers: [Vec<u8>; 2],
    captures: [Capture; 2],
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
    #[expect(clippy::too_many_arguments, reason = "the parts of one run, put together in one place")]
    pub(super) fn new(
        mut child: Child,
        control: UnixStream,
        reports: Reports,
        held: HostResources,
        limits: RunLimits,
        tap: Option<OutputTap>,
        wished: watch::Receiver<Wish>,
        progress: watch::Sender<Progress>,
    ) -> Result<Self, SandboxError> {
        let started = Instant::now();
        let (Some(stdout), Some(stderr)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(SandboxError::Lost { detail: "the output of the tool is not connected".into() });
        };
        let capture = || Capture::new(limits.output_kept_bytes);
        Ok(Self {
            child,
            control,
            reports,
            watch: held.writable.as_ref().map(Visit::watch),
            full: None,
            held,
            tap,
            wished,
            progress,
            stdout: Some(stdout),
            stderr: Some(stderr),
            buffers: [vec![0; CHUNK], vec![0; CHUNK]],
            captures: [capture(), capture()],
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

    pub(super) async fn run(mut self) -> Result<Exit, SandboxError> {
        loop {
            match self.next().await {
                Happened::Output(stream, length) => self.take_output(stream, length).await,
                Happened::Closed(OutputStream::Stdout) => self.stdout = None,
                Happened::Closed(OutputStream::Stderr) => self.stderr = None,
                Happened::Report(report) => self.take_report(report),
                Happened::ReportsClosed => self.reports_open = false,
                Happened::Wished => self.take_wish().await,
                Happened::Full(hit) => {
                    self.full = Some(hit);
                    self.kill().await;
                }
                Happened::Ended => {
                    self.ended = true;
                    self.alarm.as_mut().reset(Instant::now() + DRAIN_BOUND);
                }
                Happened::Alarm if self.ended => break,
                Happened::Alarm => {
                    if self.push == Push::None {
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
            read = read_some(&mut self.stdout, out) => match read {
                0 => Happened::Closed(OutputStream::Stdout),
                length => Happened::Output(OutputStream::Stdout, length),
            },
            read = read_some(&mut self.stderr, err) => match read {
                0 => Happened::Closed(OutputStream::Stderr),
                length => Happened::Output(OutputStream::Stderr, length),
            },
            report = self.reports.next(&mut self.control), if self.reports_open => match report {
                Ok(Some(report)) => Happened::Report(report),
                Ok(None) | Err(_) => Happened::ReportsClosed,
            },
            () = self.alarm.as_mut() => Happened::Alarm,
            changed = self.wished.changed(), if self.wish != Wish::Abandon => {
                self.wish = changed.map_or(Wish::Abandon, |()| *self.wished.borrow_and_update());
                Happened::Wished
            }
            hit = reached(&mut self.watch), if self.full.is_none() => Happened::Full(hit),
            _ = self.child.wait(), if !self.ended => Happened::Ended,
        }
    }

    async fn take_output(&mut self, stream: OutputStream, length: usize) {
        let at = usize::from(stream == OutputStream::Stderr);
        let chunk = &self.buffers[at][..length];
        self.captures[at].push(chunk);
        if let Some(tap) = &mut self.tap {
            tap(stream, chunk);
        }
        let [out, err] = &self.captures;
        self.progress.send_replace(Progress {
            stdout_bytes: out.total_bytes(),
            stdout_lines: out.total_lines(),
            stderr_bytes: err.total_bytes(),
            stderr_lines: err.total_lines(),
            elapsed: self.started.elapsed(),
        });
        if self.captures[at].total_bytes() > self.limits.output_max_bytes {
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
        if let LauncherReport::Exited { ending, resources, scratch_full, violations } = report {
            self.tool_ended = Some(Instant::now());
            self.reported = Some(Reported { ending, resources, scratch_full, violations });
            // Process 1 is ending; if it does not end in time, it is killed.
            self.push = self.push.max(Push::Killed);
            self.alarm.as_mut().reset(Instant::now() + KILL_BOUND);
        }
    }

    async fn take_wish(&mut self) {
        match self.wish {
            Wish::GoOn => {}
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
        let Some(reported) = self.reported.take() else {
            let evidence: Vec<_> = limits_hit.iter().map(|hit| hit.evidence.as_str()).collect();
            let detail = match evidence.is_empty() {
                true => "process 1 ended without a report".to_owned(),
                false => format!("process 1 ended without a report after {}", evidence.join(", ")),
            };
            return Err(SandboxError::Lost { detail });
        };
        limits_hit.extend(limits_shown_by(&reported, &self.limits));
        let [stdout, stderr] = self.captures;
        Ok(Exit {
            ending: reported.ending,
            stdout: stdout.finish(self.output_limit_hit),
            stderr: stderr.finish(self.output_limit_hit),
            wall,
            timed_out: self.timed_out,
            canceled: self.wish != Wish::GoOn && !self.timed_out && !self.output_limit_hit,
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

/// Reads into `buffer`; 0 at the end of the stream. Never ends when there is no stream.
async fn read_some<R: AsyncRead + Unpin>(stream: &mut Option<R>, buffer: &mut [u8]) -> usize {
    match stream {
        Some(stream) => stream.read(buffer).await.unwrap_or(0),
        None => std::future::pending().await,
    }
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
