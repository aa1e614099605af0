//! Clients of one endpoint.

use std::time::Duration;

use bytes::Bytes;
use tonic::transport::{Channel, Endpoint};
use toolplane_proto::v1::JsonPayload;
use toolplane_proto::v1::invocation_service_client::InvocationServiceClient;
use toolplane_proto::v1::json_payload::Body;
use toolplane_proto::v1::permission_service_client::PermissionServiceClient;
use toolplane_proto::v1::surface_service_client::SurfaceServiceClient;

use crate::Problem;

/// Clients that share one connection, which is made on first use and made again when it breaks.
#[derive(Clone, Debug)]
pub struct Clients {
    channel: Channel,
}

impl Clients {
    /// Clients of `endpoint`, e.g. `http://127.0.0.1:7420`.
    pub fn of(endpoint: &str) -> Result<Self, Problem> {
        let channel = Endpoint::from_shared(endpoint.to_owned())?
            .connect_timeout(Duration::from_secs(5))
            .tcp_nodelay(true)
            .connect_lazy();
        Ok(Self { channel })
    }

    /// The connection.
    pub fn channel(&self) -> Channel {
        self.channel.clone()
    }

    /// Declarations, surfaces, search.
    pub fn surfaces(&self) -> SurfaceServiceClient<Channel> {
        SurfaceServiceClient::new(self.channel())
    }

    /// Rules and approvals.
    pub fn permissions(&self) -> PermissionServiceClient<Channel> {
        PermissionServiceClient::new(self.channel())
    }

    /// Calls and their results.
    pub fn invocations(&self) -> InvocationServiceClient<Channel> {
        InvocationServiceClient::new(self.channel())
    }
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
