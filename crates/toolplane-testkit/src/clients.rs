//! Clients of a cluster: of one process, or of one for each role.

use std::time::Duration;

use bytes::Bytes;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status, TimeoutExpired};
use toolplane_proto::v1::JsonPayload;
use toolplane_proto::v1::invocation_service_client::InvocationServiceClient;
use toolplane_proto::v1::json_payload::Body;
use toolplane_proto::v1::permission_service_client::PermissionServiceClient;
use toolplane_proto::v1::surface_service_client::SurfaceServiceClient;
use toolplane_records::cluster::ClusterRole;

use crate::problem::Problem;

/// A connection that shows a credential with every call.
pub type Transport = InterceptedService<Channel, Credential>;

/// What every call of a client shows: a bearer token, an API key, or nothing.
#[derive(Clone, Default)]
pub struct Credential(Option<MetadataValue<Ascii>>);

impl std::fmt::Debug for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "Credential" } else { "no credential" })
    }
}

impl Interceptor for Credential {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(value) = &self.0 {
            request.metadata_mut().insert("authorization", value.clone());
        }
        Ok(request)
    }
}

/// Clients of a cluster. Connections are made on first use and made again when they break.
#[derive(Clone, Debug)]
pub struct Clients {
    surface: Channel,
    permission: Channel,
    scheduler: Channel,
    credential: Credential,
}

impl Clients {
    /// Clients of one process, e.g. `http://127.0.0.1:7420`, that share one connection.
    pub fn of(endpoint: &str) -> Result<Self, Problem> {
        let channel = channel(endpoint)?;
        let credential = Credential::default();
        Ok(Self { surface: channel.clone(), permission: channel.clone(), scheduler: channel, credential })
    }

    /// Clients of three processes, one for each role that is called.
    pub fn of_roles(surface: &str, permission: &str, scheduler: &str) -> Result<Self, Problem> {
        let (surface, permission, scheduler) = (channel(surface)?, channel(permission)?, channel(scheduler)?);
        Ok(Self { surface, permission, scheduler, credential: Credential::default() })
    }

    /// The same connections with this bearer token, API key or JSON Web Token.
    pub fn with_token(&self, token: &str) -> Result<Self, Problem> {
        let value = format!("Bearer {token}").parse();
        let value = value.map_err(|_| Problem::Missing("a token that can be sent".to_owned()))?;
        Ok(Self { credential: Credential(Some(value)), ..self.clone() })
    }

    /// The connection to the scheduler, without any credential.
    pub fn channel(&self) -> Channel {
        self.scheduler.clone()
    }

    /// The connection to a role; of an executor or a gateway, which answer no gRPC, the scheduler's.
    pub fn channel_of(&self, role: ClusterRole) -> Channel {
        match role {
            ClusterRole::Surface => self.surface.clone(),
            ClusterRole::Permission => self.permission.clone(),
            ClusterRole::Scheduler | ClusterRole::Executor | ClusterRole::Gateway => self.scheduler.clone(),
        }
    }

    /// Declarations, surfaces, search.
    pub fn surfaces(&self) -> SurfaceServiceClient<Transport> {
        SurfaceServiceClient::new(self.with_credential(&self.surface))
    }

    /// Rules and approvals.
    pub fn permissions(&self) -> PermissionServiceClient<Transport> {
        PermissionServiceClient::new(self.with_credential(&self.permission))
    }

    /// Calls and their results.
    pub fn invocations(&self) -> InvocationServiceClient<Transport> {
        InvocationServiceClient::new(self.with_credential(&self.scheduler))
    }

    fn with_credential(&self, channel: &Channel) -> Transport {
        InterceptedService::new(channel.clone(), self.credential.clone())
    }
}

fn channel(endpoint: &str) -> Result<Channel, Problem> {
    let endpoint = Endpoint::from_shared(endpoint.to_owned())?;
    Ok(endpoint.connect_timeout(Duration::from_secs(5)).tcp_nodelay(true).connect_lazy())
}

/// Whether a failed call may be tried again as it is: the process was away or its connection broke, which other clients
/// report as `UNAVAILABLE` and this one under several names.
pub fn is_away(status: &Status) -> bool {
    // A status that came from a server was caused by nothing here.
    let broke = std::error::Error::source(status).is_some_and(|cause| !cause.is::<TimeoutExpired>());
    status.code() == Code::Unavailable || broke
}

/// A JSON value to send, as its exact bytes.
pub fn payload(json: impl Into<Bytes>) -> JsonPayload {
    JsonPayload { body: Some(Body::Inline(json.into())), ..Default::default() }
}

/// The bytes of an inline JSON value; empty when there is none.
pub fn payload_bytes(payload: Option<&JsonPayload>) -> Bytes {
    match payload.and_then(|payload| payload.body.as_ref()) {
        Some(Body::Inline(bytes)) => bytes.clone(),
        Some(Body::Ref(_)) | None => Bytes::new(),
    }
}
