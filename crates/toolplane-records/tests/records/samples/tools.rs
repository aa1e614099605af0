//! Declarations, interfaces, profiles, surfaces and searches.

use std::collections::BTreeMap;

use toolplane_records::contract::{InputContract, OutputContract};
use toolplane_records::credential::{CredentialPlacement, CredentialUse};
use toolplane_records::declaration::ToolDeclaration;
use toolplane_records::interface::{SafetyFact, ToolInterface};
use toolplane_records::mapping::ExternalMapping;
use toolplane_records::mcp::{
    McpBinding, McpHeaderParameter, McpSandbox, McpServer, McpSharing, McpStdioServer, McpWorkspace,
};
use toolplane_records::operation::{
    BodyEncoding, BodyPart, CredentialRequirement, OperationBinding, OperationBody, OperationParameter, ParameterPlace,
    ParameterStyle, TokenSource,
};
use toolplane_records::payload::Digest;
use toolplane_records::profile::{
    ExecutionBinding, ExecutionProfile, HttpBinding, PermissionProfile, ProcessBinding, ProcessStdin,
};
use toolplane_records::search::{AmbiguousName, FoundTool, MatchReason, ProviderStanding, SearchResult};
use toolplane_records::surface::{
    BudgetTool, DeferredToolRef, HiddenTool, LoadedTool, OutdatedTool, SurfaceBudget, SurfaceOutdated, ToolSurface,
};
use toolplane_records::vocabulary::{
    AccessKind, ArgumentMode, ExecutionKind, HiddenReason, InterruptBehavior, LoadingState, ProviderState, RiskLevel,
    SchemaVisibility, StartGuard, SurfaceScope, ToolKind, ToolLifecycle, WriteEffect,
};

use super::{Sample, at, id, json, ours, published, some, strings};

const VERSION: &str = "0.2.0";
const SCHEMA: &str = r#"{"type":"object","properties":{"n":{"type":"integer","maximum":18446744073709551617}}}"#;

pub(super) fn samples() -> Vec<Sample> {
    vec![
        published("tool-declaration", &declaration(), DECLARATION),
        published("tool-interface", &interface(), r#"{"interface_id":"if-1","tool_id":"t-1"}"#),
        published("execution-profile", &process_profile(), r#"{"execution_profile_id":"p","execution_kind":"shell"}"#),
        ours("execution-profile-http", &profile(http()), EXECUTION_SHELL),
        ours("execution-profile-operation", &profile(operation()), EXECUTION_OPERATION),
        ours("execution-profile-mcp", &profile(mcp()), EXECUTION_MCP),
        ours("execution-profile-native", &profile(native()), EXECUTION_NATIVE),
        published("permission-profile", &permission(), r#"{"permission_profile_id":"p","risk_level":"low"}"#),
        published("deferred-tool", &deferred(), r#"{"tool_id":"t-1","name":"a.b","loading_state":"deferred"}"#),
        published("tool-surface", &surface(), r#"{"surface_id":"s-1","scope":"turn","tenant":"default"}"#),
        ours("search-result", &search(), SEARCH),
    ]
}

const DECLARATION: &str = r#"{"tool_id":"t-1","namespace":"files","name":"read","description":"Reads a file.",
    "lifecycle":"draft","tool_kind":"function"}"#;
const EXECUTION_SHELL: &str = r#"{"execution_profile_id":"p","execution_kind":"shell","binding":{"type":"shell"}}"#;
const EXECUTION_NATIVE: &str = r#"{"execution_profile_id":"p","execution_kind":"local_process",
    "binding":{"type":"process","argv":["true"]}}"#;
const EXECUTION_OPERATION: &str = r#"{"execution_profile_id":"p","execution_kind":"http_api","binding":{"type":"operation",
    "operation":"GET /","method":"GET","server":"https://a.org","path":"/","allowed_host":"a.org","allowed_port":443}}"#;
const EXECUTION_MCP: &str = r#"{"execution_profile_id":"p","execution_kind":"mcp_server","binding":{"type":"mcp","provider_id":"p",
    "server":{"transport":"stdio","argv":["a"]}}}"#;
const SEARCH: &str = r#"{"query":"x","query_type":"keyword","matches":[],"total_deferred_tools":0,
    "next_action":"refine_query"}"#;

fn mapping() -> ExternalMapping {
    ExternalMapping {
        source: "mcp".to_owned(),
        native_id: "read_file".to_owned(),
        fields: Some(json(r#"{"server":"fs","protocolVersion":"2026-07-28"}"#)),
    }
}

fn declaration() -> ToolDeclaration {
    ToolDeclaration {
        schema_version: VERSION.into(),
        tool_id: id("tool:files/read"),
        namespace: "files".to_owned(),
        name: "read_file".to_owned(),
        aliases: strings(&["cat"]),
        search_hint: "read a text file".to_owned(),
        search_examples: strings(&["what is in this file?"]),
        tags: strings(&["Files", "reading"]),
        title: "Read file".to_owned(),
        description: "Reads a file of the workspace.".to_owned(),
        lifecycle: ToolLifecycle::Available,
        tool_kind: ToolKind::FileOperation,
        capability_refs: strings(&["files.read"]),
        input_contract: Some(InputContract {
            model_input_schema: Some(json(SCHEMA)),
            runtime_input_schema: Some(json(r#"{"type":"object"}"#)),
            strict: Some(true),
            defaults: Some(json(r#"{"limit":100}"#)),
            examples: vec![json(r#"{"path":"a.txt"}"#), json(r#"{"path":"b.txt"}"#)],
            sensitive_fields: strings(&["/token"]),
            internal_only_fields: strings(&["tenant"]),
            argument_mode: Some(ArgumentMode::Json),
            mutation_policy: some("hooks_allowed"),
        }),
        output_contract: Some(Box::new(OutputContract {
            structured_schema: Some(json(r#"{"type":"object"}"#)),
            content_types: strings(&["text"]),
            artifact_expectations: strings(&["report"]),
            max_inline_bytes: Some(65_536),
            max_inline_chars: Some(20_000),
            persistence_policy_ref: some("default"),
            rendering_boundary: Some(json(r#"{"ui":"code"}"#)),
            redaction_rules: strings(&["secrets"]),
            fallback_summary: some("content withheld"),
        })),
        interface_ref: some("if:files/read"),
        execution_profile_ref: some("exec:files"),
        permission_profile_ref: some("perm:files"),
        external_mappings: vec![mapping()],
        annotations: Some(json(r#"{"readOnlyHint":true}"#)),
    }
}

fn interface() -> ToolInterface {
    ToolInterface {
        schema_version: VERSION.into(),
        interface_id: id("if:files/read"),
        tool_id: id("tool:files/read"),
        name: "read_file".to_owned(),
        aliases: strings(&["cat"]),
        search_hint: "read a text file".to_owned(),
        model_input_schema: Some(json(SCHEMA)),
        runtime_input_schema: Some(json(r#"{"type":"object"}"#)),
        output_schema: Some(json(r#"{"type":"object"}"#)),
        strict: Some(false),
        schema_visibility: Some(SchemaVisibility::Deferred),
        should_defer: Some(true),
        always_load: Some(false),
        is_enabled: Some(SafetyFact::Known(true)),
        is_read_only: Some(SafetyFact::Rule("classifier:command_read_only".to_owned())),
        is_concurrency_safe: Some(SafetyFact::Rule("same_as:is_read_only".to_owned())),
        is_destructive: Some(SafetyFact::Known(false)),
        is_open_world: Some(SafetyFact::Known(false)),
        is_idempotent: Some(SafetyFact::Known(true)),
        requires_user_interaction: Some(false),
        classifier_input: Some(json(r#""input.command""#)),
        permission_matcher: some("path"),
        execution_profile_ref: some("exec:files"),
        permission_profile_ref: some("perm:files"),
        persistence_policy_ref: some("default"),
        max_inline_chars: Some(20_000),
        interrupt_behavior: Some(InterruptBehavior::Cancel),
        required_credentials: strings(&["cred:fs"]),
        feature_gate_refs: strings(&["files"]),
        rendering: Some(json(r#"{"as":"code"}"#)),
        external_mappings: vec![mapping()],
    }
}

fn process_profile() -> ExecutionProfile {
    profile(ExecutionBinding::Process(ProcessBinding {
        argv: strings(&["/usr/bin/wc", "-l", "{path}"]),
        stdin: ProcessStdin::Json,
        env: BTreeMap::from([("LANG".to_owned(), "C.UTF-8".to_owned())]),
        success_exit_codes: vec![0, 1, -1],
        json_output: true,
        credentials: vec![credential(CredentialPlacement::Env { name: "TOKEN".to_owned() })],
    }))
}

fn http() -> ExecutionBinding {
    ExecutionBinding::Http(HttpBinding {
        allowed_hosts: strings(&["127.0.0.1", "*.example.org"]),
        allowed_ports: vec![0, 65_535],
        allowed_methods: strings(&["GET"]),
        max_response_bytes: Some(1_048_576),
        credentials: vec![credential(CredentialPlacement::authorization())],
    })
}

fn credential(placement: CredentialPlacement) -> CredentialUse {
    CredentialUse { credential: "github_token".to_owned(), field: Some("token".to_owned()), placement }
}

fn mcp() -> ExecutionBinding {
    let proxied =
        CredentialPlacement::Proxy { hosts: strings(&["api.example.org"]), name: "X-Key".to_owned(), prefix: None };
    ExecutionBinding::Mcp(McpBinding {
        provider_id: "git".into(),
        server: McpServer::Stdio(McpStdioServer {
            argv: strings(&["mcp-server-git", "--repository", "."]),
            env: BTreeMap::from([("LANG".to_owned(), "C.UTF-8".to_owned())]),
            env_names: strings(&["TZ"]),
            credentials: BTreeMap::from([("TOKEN".to_owned(), "github_token".to_owned())]),
            placed_credentials: vec![
                credential(CredentialPlacement::File { name: "key.pem".to_owned() }),
                credential(proxied),
            ],
            sandbox: McpSandbox {
                allowed_hosts: strings(&["*.example.org"]),
                allowed_ports: vec![443],
                workspace: McpWorkspace::Read,
                read_paths: strings(&["/opt/mcp"]),
            },
        }),
        tool: some("git status"),
        header_parameters: vec![McpHeaderParameter { path: strings(&["a", "b"]), header: "B".to_owned() }],
        sharing: McpSharing::Session,
    })
}

fn operation() -> ExecutionBinding {
    ExecutionBinding::Operation(OperationBinding {
        operation: "addPet".to_owned(),
        method: "POST".to_owned(),
        server: "https://pets.example.org/v1".to_owned(),
        path: "/pets/{id}".to_owned(),
        parameters: vec![OperationParameter {
            place: ParameterPlace::Path,
            name: "id".to_owned(),
            input: strings(&["path", "id"]),
            required: true,
            style: ParameterStyle::Simple,
            explode: true,
            allow_reserved: true,
            media_type: some("text/plain"),
        }],
        body: Some(OperationBody {
            media_type: "multipart/form-data".to_owned(),
            encoding: BodyEncoding::Multipart,
            required: true,
            input: strings(&["body"]),
            parts: vec![BodyPart {
                name: "photo".to_owned(),
                field: some("picture"),
                style: Some(ParameterStyle::Form),
                explode: true,
                media_type: some("image/png"),
                file: true,
            }],
        }),
        credentials: vec![vec![CredentialRequirement {
            scheme: "oauth".to_owned(),
            placement: CredentialPlacement::authorization(),
            source: Some(TokenSource::ClientCredentials { token_url: "https://id.example.org/token".to_owned() }),
            scopes: strings(&["pets.write"]),
            credential: some("pets"),
            field: some("token"),
        }]],
        accept: strings(&["application/json"]),
        response_schema: some(r#"{"type":"object"}"#),
        allowed_host: "pets.example.org".to_owned(),
        allowed_port: 443,
        idempotent: true,
        max_response_bytes: Some(65_536),
    })
}

fn native() -> ExecutionBinding {
    ExecutionBinding::Native { name: "files.read_file".to_owned() }
}

fn profile(binding: ExecutionBinding) -> ExecutionProfile {
    ExecutionProfile {
        schema_version: VERSION.into(),
        execution_profile_id: id("exec:files"),
        execution_kind: ExecutionKind::LocalProcess,
        supports_progress: true,
        supports_cancel: true,
        supports_resume: false,
        supports_retries: true,
        supports_partial_results: false,
        supports_background: false,
        supports_artifacts: true,
        supports_context_modifiers: false,
        sandboxed: true,
        sandbox_profile: some("workspace_read_only"),
        timeout_ms: Some(30_000),
        external_mappings: vec![mapping()],
        binding: Some(binding),
        start_guard: StartGuard::Object,
        retry_on_timeout: true,
    }
}

fn permission() -> PermissionProfile {
    PermissionProfile {
        schema_version: VERSION.into(),
        permission_profile_id: id("perm:files"),
        risk_level: RiskLevel::Critical,
        access_kinds: vec![AccessKind::FileRead, AccessKind::Network],
        write_effects: vec![WriteEffect::None, WriteEffect::LocalDraft],
        network_scope: some("none"),
        tenant_scope: some("own"),
        credential_refs: strings(&["cred:fs"]),
        sandbox_profile: some("workspace_read_only"),
        approval_required: Some(true),
        approval_reason: some("reads private files"),
        permission_channel: some("ui"),
        rule_matching_fields: strings(&["path"]),
        data_sensitivity: some("internal"),
        retention_hint: some("session"),
        redaction_required: Some(false),
        policy_refs: strings(&["policy:files"]),
        sensitive_sink: Some(false),
    }
}

fn deferred() -> DeferredToolRef {
    DeferredToolRef {
        schema_version: VERSION.into(),
        tool_id: id("tool:mcp/search"),
        name: "mcp.search".to_owned(),
        namespace: "mcp".to_owned(),
        search_hint: "search issues".to_owned(),
        source: "mcp".to_owned(),
        schema_visibility: Some(SchemaVisibility::NativeRef),
        loading_state: LoadingState::PendingProvider,
        reason: "catalog_above_threshold".to_owned(),
        pending_provider_or_server: "tracker".to_owned(),
        selection_ref: "select:mcp.search".to_owned(),
        native_ref: Some(json(r#"{"server":"tracker","name":"search"}"#)),
    }
}

fn hidden(reason: HiddenReason) -> HiddenTool {
    HiddenTool { tool_id: id("tool:x"), name: "x.y".to_owned(), reason, message: "not for this role".to_owned() }
}

fn surface() -> ToolSurface {
    ToolSurface {
        schema_version: VERSION.into(),
        surface_id: id("srf-1"),
        scope: SurfaceScope::Session,
        created_at: at(0),
        producer: "toolplane".to_owned(),
        tool_refs: strings(&["tool:files/read", "tool:mcp/search"]),
        loaded_tools: vec![LoadedTool {
            tool_id: id("tool:files/read"),
            name: "files.read_file".to_owned(),
            loaded_at: Some(at(1)),
            digest: Some(Digest::of(b"registration")),
            changed: Some("`/limit` is gone".to_owned()),
            uncallable: Some("provider.away".to_owned()),
            message: Some("the provider `files` is away".to_owned()),
        }],
        deferred_tools: vec![deferred()],
        blocked_tools: vec![hidden(HiddenReason::PolicyBlocked)],
        excluded_tools: vec![hidden(HiddenReason::RoleNotAllowed)],
        selection_policy: Some(json(r#"{"threshold":20}"#)),
        default_tool_choice: Some(json(r#""auto""#)),
        capability_requirements: strings(&["files.read"]),
        model_capabilities: Some(json(r#"{"parallel":true}"#)),
        role_constraints: Some(json(r#"{"role":"agent"}"#)),
        surface_reason: "session start".to_owned(),
        policy_refs: strings(&["policy:files"]),
        runtime_refs: strings(&["session:1"]),
        tenant: id("acme"),
        revision: 7,
        moment: "3.12".to_owned(),
        pinned: true,
        parent_surface_id: Some(id("surf_above")),
        outdated: Some(SurfaceOutdated {
            added: 1,
            removed: 0,
            changed: 0,
            more: true,
            tools: vec![OutdatedTool {
                tool_id: id("tool:files/list"),
                name: "files.list".to_owned(),
                change: "added".to_owned(),
            }],
        }),
        budget: Some(SurfaceBudget {
            max_tools: 20,
            max_schema_tokens: 8_000,
            max_schema_bytes: 64_000,
            tools: 2,
            schema_tokens: 340,
            schema_bytes: 1_200,
            deferred: 1,
            deferred_tools: vec![BudgetTool { tool_id: id("tool:files/list"), name: "files.list".to_owned() }],
        }),
    }
}

fn search() -> SearchResult {
    SearchResult {
        schema_version: VERSION.into(),
        query: "search".to_owned(),
        query_type: "keyword".to_owned(),
        matches: vec![id("tool:mcp/search")],
        total_deferred_tools: 1,
        pending_providers: strings(&["tracker"]),
        missing_names: strings(&["nope"]),
        next_action: "load_schema_then_call".to_owned(),
        refs: vec![deferred()],
        found: vec![FoundTool {
            tool_id: id("tool:mcp/search"),
            name: "mcp.tracker.search".to_owned(),
            title: "Search issues".to_owned(),
            description: "Finds issues by their words.".to_owned(),
            score: 12_345,
            why: vec![MatchReason {
                asked: "serach".to_owned(),
                found: "search".to_owned(),
                how: "typo".to_owned(),
                fields: strings(&["name", "description"]),
                times: 3,
                score: -250,
            }],
            loading_state: LoadingState::Discoverable,
            next_action: "load_schema_then_call".to_owned(),
        }],
        ambiguous_names: vec![AmbiguousName { name: "get".to_owned(), candidates: strings(&["a.get", "b.get"]) }],
        total_matches: 500,
        more_matches: true,
        next_page_token: "00ff".to_owned(),
        provider_states: vec![ProviderStanding { provider_id: "tracker".to_owned(), state: ProviderState::Pending }],
        meaning: "partial".to_owned(),
        reranked: "complete".to_owned(),
    }
}
