//! The roles behind the gateway, asked on behalf of its callers.

use std::sync::Arc;

use tonic::client::Grpc;
use toolplane_proto::v1::invocation_service_client::InvocationServiceClient;
use toolplane_proto::v1::permission_service_client::PermissionServiceClient;
use toolplane_proto::v1::surface_service_client::SurfaceServiceClient;
use toolplane_records::cluster::ClusterRole;
use toolplane_runtime::Caller;
use toolplane_runtime::client::{OnBehalf, Peer};

/// The ways to the roles.
#[derive(Clone, Debug)]
pub(crate) struct Roles {
    pub(crate) surface: Peer,
    pub(crate) permission: Peer,
    pub(crate) scheduler: Peer,
    /// Most bytes of an answer.
    pub(crate) max_message_bytes: usize,
}

impl Roles {
    /// The way to a role. Executors are asked by nobody but their schedulers, which stand for them.
    pub(crate) fn of(&self, role: ClusterRole) -> &Peer {
        match role {
            ClusterRole::Surface => &self.surface,
            ClusterRole::Permission => &self.permission,
            ClusterRole::Scheduler | ClusterRole::Executor | ClusterRole::Gateway => &self.scheduler,
        }
    }

    /// The roles as one caller reaches them.
    pub(crate) fn serving(&self, caller: Arc<Caller>) -> Upstream {
        Upstream { roles: self.clone(), caller }
    }
}

/// The roles as one caller reaches them: what is asked here is asked by that caller.
#[derive(Clone, Debug)]
pub(crate) struct Upstream {
    roles: Roles,
    /// Who asks.
    pub(crate) caller: Arc<Caller>,
}

impl Upstream {
    /// A role itself, for messages as bytes.
    pub(crate) fn raw(&self, role: ClusterRole) -> Grpc<OnBehalf> {
        let client = Grpc::new(self.roles.of(role).clone().serving(Arc::clone(&self.caller)));
        client.max_decoding_message_size(self.roles.max_message_bytes)
    }

    /// Declarations, surfaces, search.
    pub(crate) fn surfaces(&self) -> SurfaceServiceClient<OnBehalf> {
        let peer = self.roles.surface.clone().serving(Arc::clone(&self.caller));
        SurfaceServiceClient::new(peer).max_decoding_message_size(self.roles.max_message_bytes)
    }

    /// Rules and approvals.
    pub(crate) fn permissions(&self) -> PermissionServiceClient<OnBehalf> {
        let peer = self.roles.permission.clone().serving(Arc::clone(&self.caller));
        PermissionServiceClient::new(peer).max_decoding_message_size(self.roles.max_message_bytes)
    }

    /// Calls and their results.
    pub(crate) fn invocations(&self) -> InvocationServiceClient<OnBehalf> {
        let peer = self.roles.scheduler.clone().serving(Arc::clone(&self.caller));
        InvocationServiceClient::new(peer).max_decoding_message_size(self.roles.max_message_bytes)
    }
}
