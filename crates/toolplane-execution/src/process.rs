//! A declared program, started in the sandbox without a shell.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use toolplane_catalog::values;
use toolplane_records::error::ToolError;
use toolplane_records::profile::{ExecutionBinding, ProcessBinding, ProcessStdin};
use toolplane_sandbox::{Profile, SandboxSpec};

use crate::adapter::Adapter;
use crate::call::{Call, Context};
use crate::credentials::Injections;
use crate::failure::invalid_binding;
use crate::outcome::Outcome;
use crate::sandboxed::{Rules, Sandboxed};

/// Runs declared programs.
#[derive(Debug)]
pub(crate) struct Process(pub(crate) Arc<Sandboxed>);

impl Process {
    fn prepare(
        &self,
        call: &Call,
        binding: &ProcessBinding,
        injections: &Injections,
    ) -> Result<SandboxSpec, ToolError> {
        let argv = values::fill(&binding.argv, &call.input).map_err(|error| *error)?;
        let mut spec = self.0.spec(call, argv, Profile::ComputeOnly)?;
        if binding.stdin == ProcessStdin::Json {
            spec.stdin = Some(call.input.bytes().to_vec());
        }
        spec.declared_env = binding.env.keys().cloned().collect();
        // Ours last: a declaration cannot take another call's place.
        let ours = std::mem::replace(&mut spec.env, binding.env.clone());
        injections.of_run()?.put_into(&mut spec);
        spec.env.extend(ours);
        Ok(spec)
    }
}

impl Adapter for Process {
    fn pool(&self) -> &'static str {
        "process"
    }

    fn needs_sandbox(&self) -> bool {
        true
    }

    fn execute<'a>(&'a self, call: &'a Call, context: &'a Context) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let ExecutionBinding::Process(binding) = &call.binding else {
                return Outcome::failure(invalid_binding("the tool is not bound to a process"));
            };
            // Held until the process has ended: until then its output is masked.
            let injections = match self.0.credentials.place(call, &binding.credentials).await {
                Ok(injections) => injections,
                Err(error) => return Outcome::failure(error),
            };
            match self.prepare(call, binding, &injections) {
                Ok(spec) => {
                    let rules = Rules {
                        success: &binding.success_exit_codes,
                        json_output: binding.json_output,
                        context_modifiers: call.context_modifiers,
                    };
                    self.0.run(spec, call, context, &rules).await
                }
                Err(error) => Outcome::failure(error),
            }
        })
    }
}
