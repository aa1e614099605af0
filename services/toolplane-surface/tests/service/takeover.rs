//! What the role kept in a directory before it used Redis.

use std::path::Path;

use toolplane_proto::v1;
use toolplane_proto::v1::list_events_request::Subject;
use toolplane_runtime::{Config, Shutdown, Tasks};
use toolplane_surface::{SurfaceError, start};
use toolplane_testkit::redis::{RedisOptions, RedisServer};

use crate::role::{Role, changed, options, tool};
use crate::several::on;

/// A directory with a tool of three revisions and a surface that has loaded it; the surface.
async fn filled(dir: &Path) -> String {
    let role = Role::start(dir).await;
    for title in ["one", "two", "three"] {
        let newer = changed(tool("files", "read"), |tool| tool.title = title.to_owned());
        role.register(vec![newer]).await.unwrap();
    }
    let deferred = v1::CreateSurfaceRequest { defer_policy: v1::DeferPolicy::All.into(), ..Default::default() };
    let surface = role.surface(deferred).await.surface_id;
    role.load(&surface, &["files.read"]).await;
    role.stop().await;
    surface
}

async fn started(config: &Config) -> Result<(), SurfaceError> {
    let tasks = Tasks::new(Shutdown::new());
    let service = start(config, &tasks).await?;
    service.close().await?;
    Ok(())
}

#[tokio::test]
async fn a_directory_of_before_is_moved_once() {
    let (dir, server) = (tempfile::tempdir().unwrap(), RedisServer::start(RedisOptions::default()).await.unwrap());
    let surface = filled(dir.path()).await;
    let mut config = on(&server);
    config.server.data_dir = dir.path().to_owned();
    started(&config).await.unwrap();
    assert!(!dir.path().join("surface").exists() && dir.path().join("surface.moved-to-redis").is_dir());
    started(&config).await.unwrap();

    let backend = toolplane_backend::Backend::open(&config, toolplane_backend::Keeper::Surface).await.unwrap();
    let role = Role::start_on(backend, options()).await;
    assert_eq!(role.resolved(&surface, "files.read").await.revision, 3);
    let events = role.events(Subject::ToolId("tool_files_read".to_owned())).await;
    assert_eq!(events.iter().map(|event| event.sequence).collect::<Vec<_>>(), [1, 2, 3]);
    assert!(role.events(Subject::SurfaceId(surface.clone())).await.len() >= 3);
    let listed = role.client.clone().list_surfaces(v1::ListSurfacesRequest::default()).await.unwrap().into_inner();
    assert_eq!(listed.surfaces[0].surface_id, surface);
    // It goes on where it was.
    let newer = changed(tool("files", "read"), |tool| tool.title = "four".to_owned());
    assert_eq!(role.register(vec![newer]).await.unwrap().tools[0].revision, 4);
    role.stop().await;
}

#[tokio::test]
async fn tools_in_both_places_are_no_matter_of_chance() {
    let (dir, server) = (tempfile::tempdir().unwrap(), RedisServer::start(RedisOptions::default()).await.unwrap());
    let mut config = on(&server);
    let backend = toolplane_backend::Backend::open(&config, toolplane_backend::Keeper::Surface).await.unwrap();
    let role = Role::start_on(backend, options()).await;
    role.register(vec![tool("mail", "send")]).await.unwrap();
    role.stop().await;
    filled(dir.path()).await;
    config.server.data_dir = dir.path().to_owned();
    let refused = started(&config).await.unwrap_err();
    assert_eq!(refused.code(), "SURFACE_NOT_MOVED");
    let (text, place) = (refused.to_string(), dir.path().join("surface"));
    assert!(text.contains(&place.display().to_string()) && text.contains("move the directory away"), "{text}");
    std::fs::rename(&place, dir.path().join("away")).unwrap();
    started(&config).await.unwrap();
}
