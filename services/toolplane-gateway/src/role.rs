//! The role as a whole: its listener, its doors, its place in a process.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolplane_records::cluster::ClusterRole;
use toolplane_runtime::process::{Process, Role, RoleError, RoleProgram};
use toolplane_runtime::server::{self, Services};
use toolplane_runtime::web::WebServer;
use toolplane_runtime::{Shutdown, health};

use crate::door::{self, Door};
use crate::error::GatewayError;
use crate::mcp::{self, Front};
use crate::options::GatewayOptions;
use crate::upstream::Roles;

/// Before the bound of a drain, the moment at which streams that go on are ended in words.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// What has to be there for it, and the name by which health checks ask for it.
const NEEDS: [(ClusterRole, &str); 3] = [
    (ClusterRole::Surface, "toolplane.v1.SurfaceService"),
    (ClusterRole::Permission, "toolplane.v1.PermissionService"),
    (ClusterRole::Scheduler, "toolplane.v1.InvocationService"),
];

/// The gateway role, as every process that runs it does.
pub const PROGRAM: RoleProgram = RoleProgram {
    role: ClusterRole::Gateway,
    check: |config| Ok(GatewayOptions::from_config(config).map(drop)?),
    rehearse: |_| Ok(Vec::new()),
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
    follow(process, &roles);
    let bound = server::bind(options.listener.listen).await.map_err(GatewayError::from)?;
    let server = WebServer::new(bound, options.web.clone()).map_err(GatewayError::from)?;
    let drains = process.tasks.shutdown().token();
    let front = Front::new(Arc::clone(&options.mcp), mcp::seals(&process.config)?, drains);
    let door = Door::new(&options, server.callers(), server.address(), server.is_encrypted(), roles, front);
    println!("http on {}", server.address());
    let (ends, shutdown) = (door.ends.clone(), process.tasks.shutdown().clone());
    let service = door::service(Arc::new(door));
    process.tasks.spawn("http", async move {
        let ending = end_streams(ends, options.web.drain_timeout, shutdown.clone());
        let mut serving = std::pin::pin!(server.run(service, shutdown));
        // What has nothing to end is not waited for.
        tokio::select! {
            _ = &mut serving => return,
            () = ending => {}
        }
        serving.await;
    });
    Ok(unchanged)
}

/// Says what the role needs of others, and keeps it up to date.
fn follow(process: &Process, roles: &Roles) {
    for (role, service) in NEEDS {
        let need = process.readiness.need(format!("the {role} service"), &["gateway"]);
        let peer = roles.of(role).clone();
        // A role of this process is there when the process is, and says itself what it lacks.
        if peer.is_inside() {
            need.there();
            continue;
        }
        let stop = process.tasks.shutdown().token();
        process.tasks.spawn("gateway peer health", health::follow(need, peer, service, stop));
    }
}

/// Once a stop was asked for: lets what cannot be come back to go on for a while, and ends it while it can still be told why.
async fn end_streams(ends: CancellationToken, drain: Duration, shutdown: Shutdown) {
    shutdown.requested().await;
    let patience = drain.saturating_sub(LAST_WORDS.min(drain / 2));
    tokio::select! {
        () = tokio::time::sleep(patience) => {}
        () = shutdown.forced() => {}
    }
    ends.cancel();
}
