use super::{Backend, Config, Keeper};

#[tokio::test]
async fn roles_of_one_process_keep_apart() {
    let dir = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.server.data_dir = dir.path().to_owned();
    let scheduler = Backend::open(&config, Keeper::Scheduler).await.unwrap();
    let permission = Backend::open(&config, Keeper::Permission).await.unwrap();
    assert!(dir.path().join("scheduler").is_dir() && dir.path().join("permission").is_dir());
    let twice = Backend::open(&config, Keeper::Permission).await.unwrap_err();
    assert_eq!(twice.code(), "store.embedded");
    scheduler.close().await.unwrap();
    permission.close().await.unwrap();
}

#[test]
fn every_configurable_namespace_leaves_room_for_the_role() {
    assert_eq!(Keeper::Scheduler.namespace("toolplane"), "toolplane");
    assert_eq!(Keeper::Permission.namespace("toolplane"), "toolplane-permission");
}
