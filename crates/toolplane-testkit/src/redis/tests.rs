use std::time::Duration;

use super::{Fsync, RedisCluster, RedisOptions, RedisSentinel, RedisServer};

#[tokio::test]
async fn a_killed_server_comes_back_with_what_it_answered() {
    let mut server = RedisServer::start(RedisOptions::default()).await.unwrap();
    assert_eq!(server.command(&["SET", "a", "1"]).unwrap(), "OK");
    assert_eq!(server.command(&["CONFIG", "GET", "appendfsync"]).unwrap(), "appendfsync\nalways");
    server.kill();
    assert!(server.command(&["GET", "a"]).is_err());
    server.restart().await.unwrap();
    assert_eq!(server.command(&["GET", "a"]).unwrap(), "1");
    server.config_set("appendfsync", Fsync::Everysec.as_str()).unwrap();
    assert_eq!(server.command(&["CONFIG", "GET", "appendfsync"]).unwrap(), "appendfsync\neverysec");
}

#[tokio::test]
async fn tls_passwords_and_users_are_asked_for() {
    let options = RedisOptions {
        tls: true,
        password: Some("secret".to_owned()),
        users: vec!["agent on >word ~{ns}:* +@all".to_owned()],
        ..RedisOptions::default()
    };
    let server = RedisServer::start(options).await.unwrap();
    assert_eq!(server.command(&["ACL", "WHOAMI"]).unwrap(), "default");
    assert!(server.command(&["ACL", "LIST"]).unwrap().contains("user agent on"));
    assert!(server.url().starts_with("rediss://localhost:"));
    assert!(server.certificates().is_some_and(|files| files.client_key.exists()));
}

#[tokio::test]
async fn three_nodes_share_the_slots() {
    let cluster = RedisCluster::start(RedisOptions::default()).await.unwrap();
    let owner = cluster.owner("{ns}:a").unwrap();
    for (at, node) in cluster.nodes.iter().enumerate() {
        assert_eq!(node.command(&["SET", "{ns}:a", "1"]).is_ok(), at == owner, "node {at}");
    }
}

#[tokio::test]
async fn sentinels_promote_the_replica() {
    let mut set = RedisSentinel::start(RedisOptions::default()).await.unwrap();
    set.servers[0].kill();
    let replica = set.servers[1].port();
    set.promoted(replica).await.unwrap();
    // A sentinel cuts the connections of a server's clients after it has told it that it is the master.
    let set_a = async || set.servers[1].command(&["SET", "a", "1"]).ok();
    assert_eq!(toolplane_wait::eventually("the master takes writes", Duration::from_secs(10), set_a).await, "OK");
}
