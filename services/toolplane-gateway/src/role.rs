//! The role as a whole: its listener, its doors, its place in a process.

use std::sync::Arc;

use toolplane_records::cluster::ClusterRole;
use toolplane_runtime::process::{Process, Role, RoleError, RoleProgram};
use toolplane_runtime::server::{self, Services};
use toolplane_runtime::web::WebServer;

use crate::door::{self, Door};
use crate::error::GatewayError;
use crate::options::GatewayOptions;
use crate::upstream::Roles;

/// The gateway role, as every process that runs it does.
pub const PROGRAM: RoleProgram = RoleProgram {
    role: ClusterRole::Gateway,
    check: |config| Ok(GatewayOptions::from_config(config).map(drop)?),
    prepare: |_| Ok(()),
    start: |process, services| Box::pin(async move { role(&process, services).await }),
};

/// Starts the gateway in its process, where the configuration has one. It adds no gRPC service.
async fn role(process: &Process, services: Services) -> Result<Role, RoleError> {
    let unchanged = Role { services: Some(services), ..Role::default() };
    let Some(options) = GatewayOptions::from_config(&process.config)? else {
        return Ok(unchanged);
    };
    let peers = &process.config.peers;
    let roles = Roles {
        surface: process.peer(ClusterRole::Surface, &peers.surface)?,
        permission: process.peer(ClusterRole::Permission, &peers.permission)?,
        scheduler: process.peer(ClusterRole::Scheduler, &peers.scheduler)?,
        max_message_bytes: options.max_message_bytes,
    };
    let bound = server::bind(options.listener.listen).await.map_err(GatewayError::from)?;
    let server = WebServer::new(bound, options.web.clone()).map_err(GatewayError::from)?;
    let door = Door::new(&options, server.callers(), server.address(), server.is_encrypted(), roles);
    println!("http on {}", server.address());
    let (service, shutdown) = (door::service(Arc::new(door)), process.tasks.shutdown().clone());
    process.tasks.spawn("http", async move {
        server.run(service, shutdown).await;
    });
    Ok(unchanged)
}
