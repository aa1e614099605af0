//! Nothing is shown before it is known which tools are denied.

use std::time::Duration;

use tokio::net::TcpListener;
use toolplane_proto::v1;
use toolplane_runtime::client::{PeerSettings, connect, own_url};
use toolplane_surface::{DenialOptions, SurfaceOptions};

use crate::role::{Role, options};

/// A role whose permission service takes connections and says nothing.
async fn unanswered(dir: &std::path::Path, patience: Duration) -> (Role, TcpListener) {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let permission = connect(&own_url(silent.local_addr().unwrap(), false), &PeerSettings::default()).unwrap();
    let denials = Some(DenialOptions { permission, patience });
    (Role::start_with(dir, SurfaceOptions { denials, ..options() }).await, silent)
}

#[tokio::test]
async fn what_is_shown_waits_for_the_first_word_and_what_is_not_does_not() {
    let dir = tempfile::tempdir().unwrap();
    let (role, _silent) = unanswered(dir.path(), Duration::from_secs(3_600)).await;
    let mut shown = tokio::task::JoinSet::new();
    let client = || role.client.clone();
    let mut one = client();
    shown.spawn(async move { one.list_surface_tools(v1::ListSurfaceToolsRequest::default()).await.map(drop) });
    let mut one = client();
    shown.spawn(async move { one.list_surfaces(v1::ListSurfacesRequest::default()).await.map(drop) });
    let mut one = client();
    shown.spawn(async move { one.watch_surface(v1::WatchSurfaceRequest::default()).await.map(drop) });
    // What comes after them is answered, again and again.
    for _ in 0..20 {
        let name = v1::ResolveToolRequest { name: "files.read".to_owned(), ..Default::default() };
        let resolved = client().resolve_tool(name).await.unwrap().into_inner();
        assert!(resolved.resolution.is_some(), "{resolved:?}");
    }
    assert!(shown.try_join_next().is_none(), "something was shown");
    shown.shutdown().await;
    role.stop().await;
}

#[tokio::test]
async fn where_no_word_comes_all_is_shown() {
    let dir = tempfile::tempdir().unwrap();
    let (role, _silent) = unanswered(dir.path(), Duration::ZERO).await;
    role.client.clone().list_surface_tools(v1::ListSurfaceToolsRequest::default()).await.unwrap();
    role.stop().await;
}
