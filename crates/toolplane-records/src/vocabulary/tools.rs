//! Declarations, interfaces, surfaces and how tools are run.

vocabulary! {
    /// Lifecycle of a declaration (specification, "Lifecycle").
    ToolLifecycle {
        Draft = "draft",
        Available = "available",
        Disabled = "disabled",
        RequiresSetup = "requires_setup",
        Deferred = "deferred",
        Deprecated = "deprecated",
        Retired = "retired",
    }

    /// What kind of capability a tool is (specification, "Tool kinds").
    ToolKind {
        Function = "function",
        McpTool = "mcp_tool",
        OpenapiOperation = "openapi_operation",
        NativeTool = "native_tool",
        BrowserAction = "browser_action",
        ShellCommand = "shell_command",
        CodeExecution = "code_execution",
        FileOperation = "file_operation",
        WebSearch = "web_search",
        Retrieval = "retrieval",
        ModelTask = "model_task",
        SkillTool = "skill_tool",
        PeerAgentTool = "peer_agent_tool",
        PolicyCheck = "policy_check",
        ArtifactOperation = "artifact_operation",
        EvidenceExport = "evidence_export",
        Custom = "custom",
    }

    /// How a tool is run (execution profile, "Execution kinds").
    ExecutionKind {
        McpServer = "mcp_server",
        HttpApi = "http_api",
        NativeApp = "native_app",
        LocalProcess = "local_process",
        Shell = "shell",
        Browser = "browser",
        ModelService = "model_service",
        PeerAgent = "peer_agent",
        EmbeddedRuntime = "embedded_runtime",
        Hybrid = "hybrid",
    }

    /// How arguments are given (input contract).
    ArgumentMode {
        Json = "json",
        Text = "text",
        File = "file",
        Multipart = "multipart",
        Stream = "stream",
        Custom = "custom",
    }

    /// Where a surface applies (tool surface, "scope").
    SurfaceScope {
        Turn = "turn",
        Task = "task",
        Session = "session",
        Tenant = "tenant",
        Skill = "skill",
        PeerAgent = "peer_agent",
        Workspace = "workspace",
        Role = "role",
        ModelRequest = "model_request",
    }

    /// Whether a tool's schema is visible (interface, deferred ref).
    SchemaVisibility {
        Loaded = "loaded",
        Deferred = "deferred",
        Internal = "internal",
        NativeRef = "native_ref",
    }

    /// How far a deferred tool is from being callable.
    LoadingState {
        Loaded = "loaded",
        Deferred = "deferred",
        Discoverable = "discoverable",
        PendingProvider = "pending_provider",
        Unavailable = "unavailable",
    }

    /// Machine-readable reason why a tool is hidden from a surface.
    HiddenReason {
        PolicyBlocked = "policy_blocked",
        CredentialMissing = "credential_missing",
        SetupRequired = "setup_required",
        ModelUnsupported = "model_unsupported",
        RecursiveToolForbidden = "recursive_tool_forbidden",
        RoleNotAllowed = "role_not_allowed",
        FeatureDisabled = "feature_disabled",
        DeferredUntilDiscovered = "deferred_until_discovered",
        Retired = "retired",
        NotSelected = "not_selected",
        CapabilityMissing = "capability_missing",
    }

    /// Where the one start of a call that must not start twice is recorded (ours).
    StartGuard {
        Store = "store",
        Object = "object",
    }
}

#[expect(clippy::derivable_impls, reason = "the vocabulary macro makes the enum, so there is nothing to derive on")]
impl Default for StartGuard {
    fn default() -> Self {
        Self::Store
    }
}

impl StartGuard {
    /// Whether this is the default guard.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
