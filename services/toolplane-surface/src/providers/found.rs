//! From what a provider says it has to registrations, or to the reason why there can be none.

mod adopted;
pub(super) mod file;
pub(super) mod mcp;
pub(super) mod openapi;
pub(super) mod worker;

use toolplane_catalog::Registration;
use toolplane_providers::ToolNames;
use toolplane_records::declaration::ToolDeclaration;
use toolplane_records::interface::{SafetyFact, ToolInterface};
use toolplane_records::profile::{ExecutionProfile, PermissionProfile};
use toolplane_records::provider::Provider;
use toolplane_records::vocabulary::{ExecutionKind, RiskLevel, ToolKind, ToolLifecycle};

/// A registration of that tool that says nothing yet but its names; its facts are for who knows them.
pub(super) fn named(provider: &Provider, names: &ToolNames, kind: ToolKind, execution: ExecutionKind) -> Registration {
    let declaration = ToolDeclaration {
        schema_version: toolplane_records::schema_version(),
        tool_id: names.tool_id.clone(),
        namespace: provider.namespace.clone(),
        name: names.name.clone(),
        aliases: Vec::new(),
        search_hint: String::new(),
        search_examples: Vec::new(),
        tags: Vec::new(),
        title: String::new(),
        description: String::new(),
        lifecycle: ToolLifecycle::Available,
        tool_kind: kind,
        capability_refs: Vec::new(),
        input_contract: None,
        output_contract: None,
        interface_ref: Some(names.interface_id.to_string()),
        execution_profile_ref: Some(names.execution_profile_id.to_string()),
        permission_profile_ref: Some(names.permission_profile_id.to_string()),
        external_mappings: Vec::new(),
        annotations: None,
    };
    Registration {
        declaration,
        interface: Some(Box::new(interface(names))),
        execution_profile: Some(Box::new(execution_profile(names, execution))),
        permission_profile: Some(Box::new(permission_profile(names))),
    }
}

/// What a tool does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct World {
    pub(super) read_only: bool,
    pub(super) idempotent: bool,
    pub(super) destructive: bool,
    pub(super) open: bool,
}

impl World {
    /// What a tool does of which nobody knows it.
    pub(super) const WORST: Self = Self { read_only: false, idempotent: false, destructive: true, open: true };
}

/// Says what a tool does to the world.
pub(super) fn say(interface: &mut ToolInterface, world: World) {
    let fact = |fact| Some(SafetyFact::Known(fact));
    interface.is_read_only = fact(world.read_only);
    interface.is_idempotent = fact(world.idempotent);
    interface.is_destructive = fact(world.destructive);
    interface.is_open_world = fact(world.open);
    // What changes nothing is in nobody's way.
    interface.is_concurrency_safe = fact(world.read_only);
}

fn interface(names: &ToolNames) -> ToolInterface {
    ToolInterface {
        schema_version: toolplane_records::schema_version(),
        interface_id: names.interface_id.clone(),
        tool_id: names.tool_id.clone(),
        name: String::new(),
        aliases: Vec::new(),
        search_hint: String::new(),
        model_input_schema: None,
        runtime_input_schema: None,
        output_schema: None,
        strict: None,
        schema_visibility: None,
        should_defer: None,
        always_load: None,
        is_enabled: None,
        is_read_only: None,
        is_concurrency_safe: None,
        is_destructive: None,
        is_open_world: None,
        is_idempotent: None,
        requires_user_interaction: None,
        classifier_input: None,
        permission_matcher: None,
        execution_profile_ref: None,
        permission_profile_ref: None,
        persistence_policy_ref: None,
        max_inline_chars: None,
        interrupt_behavior: None,
        required_credentials: Vec::new(),
        feature_gate_refs: Vec::new(),
        rendering: None,
        external_mappings: Vec::new(),
    }
}

fn permission_profile(names: &ToolNames) -> PermissionProfile {
    PermissionProfile::new(names.permission_profile_id.clone(), RiskLevel::High)
}

fn execution_profile(names: &ToolNames, execution_kind: ExecutionKind) -> ExecutionProfile {
    ExecutionProfile {
        schema_version: toolplane_records::schema_version(),
        execution_profile_id: names.execution_profile_id.clone(),
        execution_kind,
        supports_progress: false,
        supports_cancel: true,
        supports_resume: false,
        supports_retries: false,
        supports_partial_results: false,
        supports_background: false,
        supports_artifacts: false,
        supports_context_modifiers: false,
        sandboxed: false,
        sandbox_profile: None,
        timeout_ms: None,
        external_mappings: Vec::new(),
        binding: None,
        start_guard: toolplane_records::vocabulary::StartGuard::default(),
        retry_on_timeout: false,
    }
}
