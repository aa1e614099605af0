//! Providers of tools, and what is said about their tools (ours).

vocabulary! {
    /// What a provider is.
    ProviderKind {
        McpStdio = "mcp_stdio",
        McpHttp = "mcp_http",
        Openapi = "openapi",
        Worker = "worker",
        File = "file",
    }

    /// How a provider is.
    ProviderState {
        Pending = "pending",
        Ready = "ready",
        Degraded = "degraded",
        Failed = "failed",
        Retired = "retired",
    }

    /// Which tools of a provider may be called before somebody has looked at them: none, new ones, or new and changed ones.
    ProviderTrust {
        Untrusted = "untrusted",
        NewTools = "new_tools",
        AllTools = "all_tools",
    }

    /// Which calls may share one session with a provider.
    SessionSharing {
        None = "none",
        Session = "session",
        Tenant = "tenant",
    }

    /// Whether calls to a provider are let through: all, none, or one that tries.
    CircuitState {
        Closed = "closed",
        Open = "open",
        HalfOpen = "half_open",
    }

    /// What kind of thing went wrong with a provider.
    ProviderFault {
        Unreachable = "unreachable",
        TimedOut = "timed_out",
        Exited = "exited",
        ProtocolError = "protocol_error",
        Unauthorized = "unauthorized",
        CredentialMissing = "credential_missing",
        NotAllowed = "not_allowed",
        Misconfigured = "misconfigured",
        Overloaded = "overloaded",
        Flooded = "flooded",
        Lied = "lied",
        Internal = "internal",
    }

    /// Whether a tool of a provider may be used, and for what it waits.
    ReviewState {
        New = "new",
        Approved = "approved",
        Changed = "changed",
        Rejected = "rejected",
        Refused = "refused",
        Withdrawn = "withdrawn",
    }

    /// Why a definition counts as approved.
    ReviewBasis {
        Person = "person",
        Trust = "trust",
    }

    /// Why something a provider lists is no tool here.
    RefusalCode {
        Unsupported = "unsupported",
        InvalidDefinition = "invalid_definition",
        InvalidName = "invalid_name",
        NameTaken = "name_taken",
        ListedTwice = "listed_twice",
        TooMany = "too_many",
        WrongIdentity = "wrong_identity",
    }
}

#[expect(clippy::derivable_impls, reason = "the vocabulary macro makes the enum, so there is nothing to derive on")]
impl Default for ProviderTrust {
    fn default() -> Self {
        Self::Untrusted
    }
}

#[expect(clippy::derivable_impls, reason = "the vocabulary macro makes the enum, so there is nothing to derive on")]
impl Default for SessionSharing {
    fn default() -> Self {
        Self::None
    }
}

#[expect(clippy::derivable_impls, reason = "the vocabulary macro makes the enum, so there is nothing to derive on")]
impl Default for CircuitState {
    fn default() -> Self {
        Self::Closed
    }
}

impl ProviderTrust {
    /// Whether a tool that was never seen before passes.
    pub const fn lets_new_pass(self) -> bool {
        matches!(self, Self::NewTools | Self::AllTools)
    }

    /// Whether another definition of a known tool passes.
    pub const fn lets_changes_pass(self) -> bool {
        matches!(self, Self::AllTools)
    }
}
