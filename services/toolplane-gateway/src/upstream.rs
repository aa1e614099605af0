//! The roles behind the ways in, asked on behalf of their callers.

use std::sync::Arc;
use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use tonic::body::Body;
use tonic::client::Grpc;
use toolplane_proto::v1::invocation_service_client::InvocationServiceClient;
use toolplane_proto::v1::permission_service_client::PermissionServiceClient;
use toolplane_proto::v1::surface_service_client::SurfaceServiceClient;
use toolplane_records::cluster::ClusterRole;
use toolplane_runtime::client::{OnBehalf, Peer};
use toolplane_runtime::server::access;
use toolplane_runtime::{ApiError, Caller, caller};
use tower::util::BoxCloneSyncService;
use tower::{Service, ServiceExt as _};

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
        Upstream {
            ways: Ways::Served { roles: Box::new(self.clone()), caller },
            max_message_bytes: self.max_message_bytes,
        }
    }
}

/// A connection to a cluster that answers for all of its services, with whatever a caller shows of itself.
type Line = BoxCloneSyncService<http::Request<Body>, http::Response<Body>, Box<dyn std::error::Error + Send + Sync>>;

/// The roles as one caller reaches them: what is asked here is asked by that caller.
#[derive(Clone, Debug)]
pub struct Upstream {
    ways: Ways,
    max_message_bytes: usize,
}

#[derive(Clone, Debug)]
enum Ways {
    /// Asked by this process for a caller it knows.
    Served { roles: Box<Roles>, caller: Arc<Caller> },
    /// Asked by the caller itself.
    Own(Line),
}

impl Upstream {
    /// The roles behind a connection of the caller's own, which shows who asks. Answers have at most `max_message_bytes`.
    pub fn own<S, B>(line: S, max_message_bytes: usize) -> Self
    where
        S: Service<http::Request<Body>, Response = http::Response<B>> + Clone + Send + Sync + 'static,
        S::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
        S::Future: Send + 'static,
        B: http_body::Body<Data = bytes::Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let line = line.map_response(|response: http::Response<B>| response.map(Body::new)).map_err(Into::into);
        Self { ways: Ways::Own(Line::new(line)), max_message_bytes }
    }

    /// Whether the caller may use a method at all, where it is known here who that is; else the answer says so.
    pub(crate) fn check(&self, method: &str) -> Result<(), ApiError> {
        match &self.ways {
            Ways::Served { caller, .. } => access::check_outside(method, caller.roles),
            Ways::Own(_) => Ok(()),
        }
    }

    /// Who asks, as an identity that is the same in all processes; what is kept for one caller is bound to it.
    pub(crate) fn principal(&self) -> String {
        match &self.ways {
            Ways::Served { caller, .. } => format!("{} {}", caller.tenant, caller.caller_ref),
            Ways::Own(_) => String::new(),
        }
    }

    /// Who is to be named as the one who answers, where the credential names nobody.
    pub(crate) fn answers_as(&self) -> String {
        "mcp".to_owned()
    }

    /// Whether the caller may not answer approvals. What is not known here is found out by asking.
    pub(crate) fn never_approves(&self) -> bool {
        matches!(&self.ways, Ways::Served { caller, .. } if !caller.is(caller::Role::Approver))
    }

    fn way(&self, role: ClusterRole) -> Way {
        match &self.ways {
            Ways::Served { roles, caller } => Way::Served(roles.of(role).clone().serving(Arc::clone(caller))),
            Ways::Own(line) => Way::Own(line.clone()),
        }
    }

    /// A role itself, for messages as bytes.
    pub(crate) fn raw(&self, role: ClusterRole) -> Grpc<Way> {
        Grpc::new(self.way(role)).max_decoding_message_size(self.max_message_bytes)
    }

    /// Declarations, surfaces, search.
    pub(crate) fn surfaces(&self) -> SurfaceServiceClient<Way> {
        SurfaceServiceClient::new(self.way(ClusterRole::Surface)).max_decoding_message_size(self.max_message_bytes)
    }

    /// Rules and approvals.
    pub(crate) fn permissions(&self) -> PermissionServiceClient<Way> {
        let way = self.way(ClusterRole::Permission);
        PermissionServiceClient::new(way).max_decoding_message_size(self.max_message_bytes)
    }

    /// Calls and their results.
    pub(crate) fn invocations(&self) -> InvocationServiceClient<Way> {
        let way = self.way(ClusterRole::Scheduler);
        InvocationServiceClient::new(way).max_decoding_message_size(self.max_message_bytes)
    }
}

/// The way to one role.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    Served(OnBehalf),
    Own(Line),
}

impl Service<http::Request<Body>> for Way {
    type Response = http::Response<Body>;
    type Error = Box<dyn std::error::Error + Send + Sync>;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        match self {
            Self::Served(peer) => peer.poll_ready(cx).map_err(Into::into),
            Self::Own(line) => line.poll_ready(cx),
        }
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        match self {
            Self::Served(peer) => {
                let answer = peer.call(request);
                Box::pin(async move { Ok(answer.await?) })
            }
            Self::Own(line) => Box::pin(line.call(request)),
        }
    }
}
