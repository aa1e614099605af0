//! What calls must agree in to share a session.

use std::path::PathBuf;

use toolplane_records::SmolStr;
use toolplane_records::decision::DeniedPaths;
use toolplane_records::mcp::{McpServer, McpSharing};
use toolplane_sandbox::Masks;

use crate::call::Call;

/// Calls with the same key may share a session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) tenant: String,
    /// The provider the tools are of; empty for a tool that was declared by hand.
    pub(super) provider_id: SmolStr,
    pub(super) scope: Scope,
    /// What its program sees of the workspace; nothing when it sees none.
    pub(super) view: Option<View>,
    pub(super) server: McpServer,
    /// Differs where the values of its credentials do; says nothing about them.
    pub(super) secrets: u64,
}

impl Key {
    /// Whether this is `other` but for what there is to be kept from the program in the same workspace: files have come or gone.
    pub(super) fn replaces(&self, other: &Self) -> bool {
        let (Some(own), Some(before)) = (&self.view, &other.view) else { return false };
        own.masks != before.masks
            && own.workspace == before.workspace
            && own.denied == before.denied
            && (&self.tenant, &self.provider_id) == (&other.tenant, &other.provider_id)
            && (&self.scope, &self.server) == (&other.scope, &other.server)
    }
}

/// Who shares a session.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Scope {
    Tenant,
    Session(String),
    /// One execution of one call.
    Call(String, u64),
}

impl Scope {
    pub(super) fn of(call: &Call, sharing: McpSharing) -> Self {
        let alone = || Self::Call(call.invocation_id.to_string(), call.attempt.fence);
        match sharing {
            McpSharing::Tenant => Self::Tenant,
            // A call that belongs to no session shares with no other one.
            McpSharing::Session => call.place.session_ref.clone().map_or_else(alone, Self::Session),
            McpSharing::Call => alone(),
        }
    }

    /// Whether no later call has this scope.
    pub(super) fn is_over_with_its_call(&self) -> bool {
        matches!(self, Self::Call(..))
    }
}

/// A workspace as a program sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct View {
    pub(super) workspace: PathBuf,
    pub(super) denied: DeniedPaths,
    /// What `denied` covers there now.
    pub(super) masks: Masks,
}
