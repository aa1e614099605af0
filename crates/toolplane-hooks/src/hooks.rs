//! The hooks of one process.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use toolplane_matching::subject::Workspace;
use toolplane_matching::{MatchTarget, Matchers, ToolFacts, ToolMatching as _};
use toolplane_records::codes;
use toolplane_records::vocabulary::{ClassifierAuthority, ErrorClass, HookEvent};
use toolplane_runtime::Config;
use toolplane_runtime::clock;
use toolplane_runtime::config::{HookAuthority, HookConfig};
use toolplane_runtime::telemetry::Instrument as _;
use toolplane_runtime::telemetry::spans::{self, CallFacts};

use crate::error::HooksError;
use crate::failure::HookFailure;
use crate::fold::{Folded, fold};
use crate::hook_meta::HookMeta;
use crate::input::HookInput;
use crate::output::HookOutput;
use crate::program::{Program, ProgramError, Sandbox};
use crate::run::HookRun;
use crate::service::{self, ServiceHook};

/// The hooks of one process for the points it is in charge of. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Hooks(Arc<LoadedHooks>);

#[derive(Debug, Default)]
struct LoadedHooks {
    hooks: Vec<Hook>,
    /// Where inputs are read: as rules read them.
    workspace: Workspace,
    sandbox: Option<Arc<Sandbox>>,
}

/// One hook, ready to be asked.
#[derive(Debug)]
struct Hook {
    meta: HookMeta,
    events: Vec<HookEvent>,
    matcher: Matchers,
    way: Way,
}

/// How a hook is asked.
#[derive(Debug)]
enum Way {
    Program(Box<Program>),
    Service(Box<ServiceHook>),
}

impl Hooks {
    /// No hooks.
    pub fn none() -> Self {
        Self::default()
    }

    /// Checks everything about the hooks of `config` that needs neither a sandbox nor a connection: matchers, programs and
    /// what they may read, token and certificate files. For all points, whichever process is in charge of them.
    ///
    /// Hooks that are not enabled are not checked.
    ///
    /// # Errors
    ///
    /// For the first hook that is wrong:
    ///
    /// - [`HooksError::Config`] when its matcher cannot be read, or its program, a path or a variable breaks a rule,
    ///   e.g. the program does not exist or cannot be seen in the sandbox.
    /// - [`HooksError::Service`] when its token or certificate file cannot be read, or the first line of the token file
    ///   is blank.
    pub fn check(config: &Config) -> Result<(), HooksError> {
        for (index, hook) in enabled(config) {
            prepare(index, hook)?;
            match &hook.grpc {
                Some(_) => drop(service::settings(hook, ca_of(config)).map_err(of_service(hook))?),
                None => drop(program(index, hook, config)?),
            }
        }
        Ok(())
    }

    /// Opens the hooks of `config` that are asked at one of `events`, and no others. Must be called within the runtime; takes
    /// about a second when one of them is a program, because the sandbox is tried out.
    ///
    /// Programs may read the workspace of the tenant they are asked for, where this machine has it.
    ///
    /// # Errors
    ///
    /// What [`Hooks::check`] finds in one of these hooks, and beside that:
    ///
    /// - [`HooksError::Service`] when the URL of a service is not valid, it begins with `https://` and no certificate
    ///   authority can be used for it, or its token cannot be sent in a header.
    /// - [`HooksError::NoSandbox`] when one of them is a program and this machine cannot run programs in a sandbox.
    pub async fn open(config: &Config, events: &[HookEvent]) -> Result<Self, HooksError> {
        let mut hooks = Vec::new();
        let mut first_program = None;
        for (index, hook) in enabled(config) {
            let of_ours: Vec<_> = hook.events.iter().copied().filter(|event| events.contains(event)).collect();
            if of_ours.is_empty() {
                continue;
            }
            let (meta, matcher) = prepare(index, hook)?;
            let way = match &hook.grpc {
                Some(_) => Way::Service(Box::new(ServiceHook::of(hook, ca_of(config)).map_err(of_service(hook))?)),
                None => {
                    first_program.get_or_insert_with(|| hook.id.clone());
                    Way::Program(Box::new(program(index, hook, config)?))
                }
            };
            hooks.push((hook.order, Hook { meta, events: of_ours, matcher, way }));
        }
        // Stable: hooks of the same order stay as they are written.
        hooks.sort_by_key(|(order, _)| *order);
        let sandbox = match first_program {
            None => None,
            Some(hook_id) => {
                let sandbox = Sandbox::of_process().await;
                if let Some(reason) = sandbox.missing() {
                    return Err(HooksError::NoSandbox { hook_id, reason });
                }
                Some(sandbox)
            }
        };
        let workspace = Workspace {
            root: config.permission.workspace.clone(),
            working_dirs: Vec::new(),
            trust_repositories: config.permission.trust_repositories,
        };
        Ok(Self(Arc::new(LoadedHooks { hooks: hooks.into_iter().map(|(_, hook)| hook).collect(), workspace, sandbox })))
    }

    /// Whether there are hooks at all.
    pub fn any(&self) -> bool {
        !self.0.hooks.is_empty()
    }

    /// Whether any hook may be asked about a call of this tool at this point: patterns in brackets are compared with
    /// the input only when it is there. Costs nothing without hooks.
    pub fn applies(&self, event: HookEvent, tool: &ToolFacts) -> bool {
        self.of(event, tool).next().is_some()
    }

    /// The names of the hooks of this point that may be asked about a call of this tool, in the order they are asked.
    pub fn ids(&self, event: HookEvent, tool: &ToolFacts) -> Vec<String> {
        self.of(event, tool).map(|hook| hook.meta.hook_id.clone()).collect()
    }

    /// How long the hooks of this point may take together for a call of this tool.
    pub fn patience(&self, event: HookEvent, tool: &ToolFacts) -> Duration {
        self.of(event, tool).map(Hook::timeout).sum()
    }

    /// Asks every hook of this point that is, or may be, about the call of `input`, one after the other, and folds what they say. A later
    /// hook sees the input or output an earlier one left. After a hook that failed or stopped the call no further one is
    /// asked.
    ///
    /// Each run is a span `agenttool.hook` below the current one. Never fails: failures are folded.
    pub async fn run(&self, event: HookEvent, input: &HookInput) -> Folded {
        let mut seen = input.clone();
        let mut runs = Vec::new();
        for hook in self.of(event, &input.tool) {
            // A hook before it may have made the input into one it is about, or is not about any more.
            let subjects = seen.tool.subjects(&seen.input.to_value(), &self.0.workspace);
            if !hook.matcher.fit(&MatchTarget::new(&seen.tool, &subjects)) {
                continue;
            }
            // In a box: most calls have no hook, and a client's future would make theirs larger by 13 KB.
            let run = Box::pin(self.ask(hook, event, &seen)).await;
            if let Ok(output) = &run.outcome {
                carry(&mut seen, output);
            }
            let last = run.is_last_word();
            runs.push(run);
            if last {
                break;
            }
        }
        fold(event, input, runs)
    }

    fn of<'a>(&'a self, event: HookEvent, tool: &'a ToolFacts) -> impl Iterator<Item = &'a Hook> {
        self.0.hooks.iter().filter(move |hook| hook.events.contains(&event) && hook.matcher.may_fit(tool))
    }

    async fn ask(&self, hook: &Hook, event: HookEvent, input: &HookInput) -> HookRun {
        let facts = CallFacts {
            invocation_id: input.invocation_id.as_str(),
            tool_name: &input.tool.full_name,
            tool_id: input.tool.tool_id.as_str(),
            tenant: input.caller.tenant.as_str(),
            native_call_id: &input.native_call_id,
        };
        let span = spans::step("agenttool.hook", &facts);
        spans::attribute(&span, "agenttool.hook.id", hook.meta.hook_id.clone());
        spans::attribute(&span, "agenttool.hook.event", event.as_str());
        let started_at = clock::now();
        let outcome = match (&hook.way, &self.0.sandbox) {
            (Way::Program(program), Some(sandbox)) => {
                program.ask(sandbox, event, &hook.meta, input).instrument(&span).await
            }
            (Way::Program(_), None) => Err(HookFailure::NotRun { reason: codes::SANDBOX_MISSING.into() }),
            (Way::Service(service), _) => service.ask(event, &hook.meta, input).instrument(&span).await,
        };
        if let Err(failure) = &outcome {
            spans::attribute(&span, "agenttool.hook.failure", failure.code());
            spans::end_execution(&span, Some(ErrorClass::HookBlocked));
            let (hook_id, invocation_id) = (&hook.meta.hook_id, &input.invocation_id);
            tracing::warn!(hook_id, %invocation_id, %event, code = failure.code(), %failure, "a hook failed");
        }
        HookRun { hook: hook.meta.clone(), started_at, ended_at: clock::now(), outcome }
    }
}

impl Hook {
    fn timeout(&self) -> Duration {
        match &self.way {
            Way::Program(program) => program.timeout(),
            Way::Service(service) => service.timeout(),
        }
    }
}

/// What the next hook sees of an answer.
fn carry(seen: &mut HookInput, output: &HookOutput) {
    if let Some(input) = &output.updated_input {
        seen.input = input.clone();
    }
    if let (Some(replacement), Some(outcome)) = (&output.updated_output, &mut seen.outcome) {
        outcome.content = replacement.content.clone();
        outcome.structured_content = replacement.structured_content.clone();
    }
}

fn enabled(config: &Config) -> impl Iterator<Item = (usize, &HookConfig)> {
    config.hooks.iter().enumerate().filter(|(_, hook)| hook.enabled)
}

fn prepare(index: usize, hook: &HookConfig) -> Result<(HookMeta, Matchers), HooksError> {
    let matcher: Matchers = hook
        .matcher
        .as_deref()
        .unwrap_or_default()
        .parse()
        .map_err(|error| HooksError::config(index, "matcher", format!("{error}")))?;
    let meta = HookMeta {
        hook_id: hook.id.clone(),
        matcher: matcher.to_string(),
        authoritative: hook.authoritative,
        classifier_authority: hook.classifier_authority.map(|authority| match authority {
            HookAuthority::Approve => ClassifierAuthority::Approve,
            HookAuthority::Deny => ClassifierAuthority::Deny,
            HookAuthority::Recommend => ClassifierAuthority::Recommend,
        }),
    };
    Ok((meta, matcher))
}

fn program(index: usize, hook: &HookConfig, config: &Config) -> Result<Program, HooksError> {
    Program::of(hook, config.workspaces()).map_err(|ProgramError { key, rule }| HooksError::config(index, key, rule))
}

fn of_service(hook: &HookConfig) -> impl FnOnce(toolplane_runtime::server::ServerError) -> HooksError + '_ {
    move |source| HooksError::Service { hook_id: hook.id.clone(), source }
}

fn ca_of(config: &Config) -> Option<&Path> {
    config.peers.ca_file.as_deref()
}
