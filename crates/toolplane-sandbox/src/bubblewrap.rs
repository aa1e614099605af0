//! The backend on bubblewrap: our launcher outside, bubblewrap for namespaces and mounts, our launcher inside.

mod arguments;
mod find;
mod options;
mod setup;

pub use options::BubblewrapOptions;

pub(crate) use setup::host_namespaces;

use crate::backend::{BoxFuture, SandboxBackend};
use crate::cgroup::ControlGroups;
use crate::error::SandboxError;
use crate::limits::StreamRates;
use crate::posture::Posture;
use crate::probe;
use crate::running::{Listening, OutputTap, Running};
use crate::session::Session;
use crate::spec::SandboxSpec;

/// Sandboxes made by bubblewrap (Debian and Ubuntu package `bubblewrap`, 0.8 or newer).
#[derive(Debug)]
pub struct Bubblewrap {
    programs: Result<find::SandboxPrograms, find::MissingProgram>,
    control_groups: ControlGroups,
}

impl Bubblewrap {
    /// Looks for the programs. A missing one is no error yet: it makes the posture unavailable and every run fail.
    pub fn new(options: &BubblewrapOptions) -> Self {
        let programs = find::programs(options);
        let control_groups = if options.without_control_groups || programs.is_err() {
            ControlGroups::default()
        } else {
            ControlGroups::detect()
        };
        Self { programs, control_groups }
    }

    /// The control groups runs are put in.
    pub fn control_groups(&self) -> &ControlGroups {
        &self.control_groups
    }

    /// Name and version, for people.
    pub(crate) fn describe(&self) -> String {
        match &self.programs {
            Ok(programs) => find::version(&programs.bwrap).unwrap_or_else(|| "bubblewrap (version unknown)".into()),
            Err(_) => "bubblewrap".into(),
        }
    }

    fn programs(&self) -> Result<&find::SandboxPrograms, SandboxError> {
        self.programs.as_ref().map_err(|missing| SandboxError::Unavailable(missing.to_string()))
    }

    /// Why nothing can be run, if that is already known.
    pub(crate) fn missing(&self) -> Option<find::MissingProgram> {
        self.programs.as_ref().err().copied()
    }
}

impl SandboxBackend for Bubblewrap {
    fn probe(&self) -> BoxFuture<'_, Posture> {
        Box::pin(probe::probe(self))
    }

    fn spawn(&self, spec: SandboxSpec, tap: Option<OutputTap>) -> BoxFuture<'_, Result<Running, SandboxError>> {
        Box::pin(async move {
            let (limits, outputs) = (spec.limits.clone(), spec.outputs.clone());
            let started = setup::start(self.programs()?, &self.control_groups, spec).await?;
            Running::start(started, limits, Listening::Both(tap, outputs))
        })
    }

    fn open(&self, spec: SandboxSpec, rates: StreamRates) -> BoxFuture<'_, Result<Session, SandboxError>> {
        Box::pin(async move {
            let limits = spec.limits.clone();
            let (started, input) = setup::open(self.programs()?, &self.control_groups, spec).await?;
            Session::start(started, input, limits, &rates)
        })
    }
}
