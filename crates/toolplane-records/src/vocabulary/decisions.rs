//! Permission, risk, approvals, and changes of an input.

vocabulary! {
    /// Outcome of a permission check.
    Behavior {
        Allow = "allow",
        Ask = "ask",
        Deny = "deny",
        Passthrough = "passthrough",
    }

    /// What decided (permission decision, "Decision reasons").
    ReasonType {
        Rule = "rule",
        Mode = "mode",
        Policy = "policy",
        Hook = "hook",
        Classifier = "classifier",
        WorkingDir = "working_dir",
        SandboxOverride = "sandbox_override",
        SafetyCheck = "safety_check",
        PermissionPromptTool = "permission_prompt_tool",
        AsyncAgent = "async_agent",
        SubcommandResults = "subcommand_results",
        Other = "other",
    }

    /// Where a permission rule came from (permission decision, "Rule sources").
    RuleSource {
        UserSettings = "user_settings",
        ProjectSettings = "project_settings",
        LocalSettings = "local_settings",
        FlagSettings = "flag_settings",
        PolicySettings = "policy_settings",
        CliArg = "cli_arg",
        Command = "command",
        Session = "session",
    }

    /// Risk of a tool (permission profile).
    RiskLevel {
        Low = "low",
        Medium = "medium",
        High = "high",
        Critical = "critical",
    }

    /// What a tool touches (permission profile, "access kinds").
    AccessKind {
        FileRead = "file_read",
        FileWrite = "file_write",
        Network = "network",
        Browser = "browser",
        Credential = "credential",
        Payment = "payment",
        ExternalSend = "external_send",
        CodeExecution = "code_execution",
    }

    /// What a tool leaves behind (permission profile, "write effects").
    WriteEffect {
        None = "none",
        LocalDraft = "local_draft",
        LocalPersistent = "local_persistent",
        RemoteMutation = "remote_mutation",
        Irreversible = "irreversible",
    }

    /// Hook points (hooks and input mutation).
    HookEvent {
        PreToolUse = "pre_tool_use",
        PostToolUse = "post_tool_use",
        PostToolUseFailure = "post_tool_use_failure",
        PermissionRequest = "permission_request",
        PermissionDecision = "permission_decision",
        ResultPersistence = "result_persistence",
    }

    /// Who changed an input (hooks and input mutation).
    MutationSource {
        Hook = "hook",
        PermissionPrompt = "permission_prompt",
        Adapter = "adapter",
        Migration = "migration",
        Runtime = "runtime",
    }

    /// The status of a parked question.
    ApprovalState {
        Pending = "pending",
        Approved = "approved",
        Rejected = "rejected",
        Expired = "expired",
        Withdrawn = "withdrawn",
    }

    /// What a person may answer to a question, in the order to offer it.
    PermissionOption {
        AllowOnce = "allow_once",
        AllowAlways = "allow_always",
        RejectOnce = "reject_once",
        RejectAlways = "reject_always",
    }

    /// What the operator lets a classifier decide (permission decision, "Classifier state").
    ClassifierAuthority {
        Approve = "approve",
        Deny = "deny",
        Recommend = "recommend",
    }

    /// How well a rule fits a call; a rule that does not fit at all is not spoken of.
    RuleFit {
        Yes = "yes",
        Maybe = "maybe",
    }
}

impl PermissionOption {
    /// Whether the call may run.
    pub const fn allows(self) -> bool {
        matches!(self, Self::AllowOnce | Self::AllowAlways)
    }

    /// Whether the answer is also to hold for later calls.
    pub const fn is_always(self) -> bool {
        matches!(self, Self::AllowAlways | Self::RejectAlways)
    }
}

impl ApprovalState {
    /// Whether the question has its one final answer.
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Pending)
    }
}
