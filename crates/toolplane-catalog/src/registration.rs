//! What a producer hands in to declare one tool.

use serde::{Deserialize, Serialize};
use toolplane_matching::ToolMatching as _;
use toolplane_records::alias;
use toolplane_records::contract::InputContract;
use toolplane_records::declaration::ToolDeclaration;
use toolplane_records::interface::ToolInterface;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::profile::{ExecutionProfile, PermissionProfile};
use toolplane_records::tool_facts::ToolFacts;
use toolplane_records::vocabulary::ToolLifecycle;

/// A declaration with the records it refers to. They are large, and many tools bring none: each is in a place of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registration {
    /// What can be called.
    pub declaration: ToolDeclaration,
    /// How it behaves at run time; absent facts take the standard's fail-closed defaults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<Box<ToolInterface>>,
    /// How it is run; without one the tool can be shown but not executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_profile: Option<Box<ExecutionProfile>>,
    /// What it may touch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_profile: Option<Box<PermissionProfile>>,
}

impl Registration {
    /// What is left of the full name behind the namespace: `exec` of `shell` and `shell.exec`. Mostly the declared name itself.
    pub fn bare_name(&self) -> String {
        let full = self.declaration.full_name();
        let behind = full.strip_prefix(self.declaration.namespace.as_str()).and_then(|rest| rest.strip_prefix('.'));
        behind.unwrap_or(&full).to_owned()
    }

    /// SHA-256 over the registration's JSON in the field order of the records; schemas count by their exact bytes.
    pub fn digest(&self) -> Digest {
        JsonPayload::of(self).digest()
    }

    /// The schema a model's arguments must satisfy: the interface's, else the declaration's. `None` means no arguments.
    pub fn model_schema(&self) -> Option<&JsonPayload> {
        let own = self.interface.as_ref().and_then(|interface| interface.model_input_schema.as_ref());
        own.or_else(|| self.contract().and_then(|contract| contract.model_input_schema.as_ref()))
    }

    /// The schema of the fields that only hooks, prompts and the runtime may set.
    pub fn runtime_schema(&self) -> Option<&JsonPayload> {
        let own = self.interface.as_ref().and_then(|interface| interface.runtime_input_schema.as_ref());
        own.or_else(|| self.contract().and_then(|contract| contract.runtime_input_schema.as_ref()))
    }

    /// The schema of structured results.
    pub fn output_schema(&self) -> Option<&JsonPayload> {
        let own = self.interface.as_ref().and_then(|interface| interface.output_schema.as_ref());
        let contract = self.declaration.output_contract.as_ref();
        own.or_else(|| contract.and_then(|contract| contract.structured_schema.as_ref()))
    }

    /// The input contract, when there is one.
    pub fn contract(&self) -> Option<&InputContract> {
        self.declaration.input_contract.as_ref()
    }

    /// Who may put another input in place of the caller's (`mutation_policy`). Unknown words allow both.
    pub fn mutable_by(&self) -> MutableBy {
        let policy = self.contract().and_then(|contract| contract.mutation_policy.as_deref());
        let (hooks, prompts) = match policy.unwrap_or_default() {
            "forbid" | "forbidden" | "none" => (false, false),
            "hooks_only" => (true, false),
            "prompts_only" => (false, true),
            _ => (true, true),
        };
        MutableBy { hooks, prompts }
    }

    /// The declared lifecycle state.
    pub fn lifecycle(&self) -> ToolLifecycle {
        self.declaration.lifecycle
    }

    /// The discovery phrase: the declaration's, else the interface's.
    pub fn search_hint(&self) -> &str {
        match (&self.declaration.search_hint, &self.interface) {
            (hint, Some(interface)) if hint.is_empty() => &interface.search_hint,
            (hint, _) => hint,
        }
    }

    /// Every alias, the declaration's before the interface's, each once.
    pub fn aliases(&self) -> Vec<&str> {
        let interface = self.interface.iter().flat_map(|interface| &interface.aliases);
        let mut aliases: Vec<&str> = Vec::new();
        for alias in self.declaration.aliases.iter().chain(interface) {
            if !aliases.contains(&alias.as_str()) {
                aliases.push(alias);
            }
        }
        aliases
    }

    /// The tool as rules, hooks and people know it, with every name that leads to it.
    pub fn tool_facts(&self) -> ToolFacts {
        let declaration = &self.declaration;
        let matcher = self.interface.as_ref().and_then(|interface| interface.permission_matcher.clone());
        let facts = ToolFacts {
            tool_id: declaration.tool_id.clone(),
            full_name: declaration.full_name(),
            namespace: declaration.namespace.clone(),
            aliases: self.aliases().into_iter().map(str::to_owned).collect(),
            kind: Some(declaration.tool_kind),
            permission_matcher: matcher.unwrap_or_default(),
            profile: self.permission_profile.as_deref().cloned(),
        };
        facts.with_every_name()
    }

    /// What the tool is called where full names cannot be used: see [`toolplane_records::alias`].
    pub fn alias(&self) -> String {
        alias::of(&self.declaration.full_name(), self.declaration.tool_id.as_str())
    }
}

/// Who may put another input in place of the caller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MutableBy {
    /// Hooks before the call.
    pub hooks: bool,
    /// The people who answer a question about it.
    pub prompts: bool,
}
