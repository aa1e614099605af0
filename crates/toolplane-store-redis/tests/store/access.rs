//! Who may use a server, and which servers may be used.

use toolplane_store::{CommitOutcome, Durability, Store};
use toolplane_store_redis::{OpenError, RedisOptions, RedisStore, Secret, TlsFiles};
use toolplane_testkit::redis::{Fsync, RedisOptions as ServerOptions, RedisServer};

use super::support::{create, server};

async fn refused(options: RedisOptions) -> OpenError {
    RedisStore::open(options).await.map(drop).unwrap_err()
}

fn as_user(server: &RedisServer, name: &str, password: &str) -> RedisOptions {
    RedisOptions {
        username: Some(name.to_owned()),
        password: Some(Secret::new(password)),
        ..RedisOptions::standalone(server.url())
    }
}

#[tokio::test]
async fn a_user_with_rights_on_the_namespace_alone_is_enough() {
    let users = [
        "agent on >sesame resetkeys ~{toolplane}:* resetchannels &{toolplane}:h +@all -@admin -@dangerous +info +role",
        "stranger on >sesame resetkeys ~{other}:* resetchannels &{other}:h +@all",
    ];
    let users = users.map(str::to_owned).to_vec();
    let password = Some("root".to_owned());
    let server = RedisServer::start(ServerOptions { users, password, ..ServerOptions::default() }).await.unwrap();

    let store = RedisStore::open(as_user(&server, "agent", "sesame")).await.unwrap();
    assert_eq!(store.commit(create("a")).await, Ok(CommitOutcome::Applied));
    assert_eq!(store.index_len("all").await, Ok(1));
    // It may not read the settings, so nothing is promised beyond what its caller knows.
    assert_eq!(store.durability(), Durability::Buffered);
    let assume_durability = Some(Durability::Fsynced);
    let options = RedisOptions { assume_durability, ..as_user(&server, "agent", "sesame") };
    assert_eq!(RedisStore::open(options).await.unwrap().durability(), Durability::Fsynced);

    for options in [
        as_user(&server, "agent", "wrong"),
        as_user(&server, "stranger", "sesame"),
        RedisOptions::standalone(server.url()),
    ] {
        let error = refused(options).await;
        assert_eq!(error.code(), "store.redis.denied", "{error}");
    }
    assert!(!format!("{:?}", as_user(&server, "agent", "sesame")).contains("sesame"));
}

#[tokio::test]
async fn a_user_of_several_shards_needs_rights_on_the_names_of_each() {
    let rest = "+@all -@admin -@dangerous +info +role";
    let users = vec![
        format!(
            "both on >sesame ~{{toolplane}}:* ~{{toolplane/1}}:* resetchannels &{{toolplane}}:h &{{toolplane/1}}:h {rest}"
        ),
        format!("first on >sesame ~{{toolplane}}:* resetchannels &{{toolplane}}:h {rest}"),
    ];
    let server = RedisServer::start(ServerOptions { users, ..ServerOptions::default() }).await.unwrap();
    let open = |user| RedisStore::open_shards(vec![as_user(&server, user, "sesame"); 2]);
    let error = open("first").await.map(drop).unwrap_err();
    assert_eq!(error.code(), "store.redis.denied", "{error}");
    assert!(error.to_string().contains("`{namespace/1}:*` and `{namespace/1}:h`"), "{error}");
    for shard in open("both").await.unwrap() {
        assert_eq!(shard.commit(create("a")).await, Ok(CommitOutcome::Applied));
    }
}

#[tokio::test]
async fn tls_trusts_the_named_authority_and_shows_the_named_certificate() {
    let server = RedisServer::start(ServerOptions { tls: true, ..ServerOptions::default() }).await.unwrap();
    let files = server.certificates().unwrap();
    let with = |ca: bool, client: bool| RedisOptions {
        tls: TlsFiles {
            ca: ca.then(|| files.ca.clone()),
            client: client.then(|| (files.client_cert.clone(), files.client_key.clone())),
        },
        ..RedisOptions::standalone(server.url())
    };
    let store = RedisStore::open(with(true, true)).await.unwrap();
    assert_eq!(store.commit(create("a")).await, Ok(CommitOutcome::Applied));
    assert_eq!(store.durability(), Durability::Fsynced);

    // The server asks for a certificate, and its authority is known only where it is configured.
    assert_eq!(refused(with(true, false)).await.code(), "store.redis.unreachable");
    assert_eq!(refused(with(false, true)).await.code(), "store.redis.unreachable");
    let mut missing = with(true, true);
    missing.tls.ca = Some("/nowhere/ca.pem".into());
    assert_eq!(refused(missing).await.code(), "store.redis.file");
}

#[tokio::test]
async fn a_server_that_evicts_is_refused_with_the_fix() {
    let maxmemory_policy = "allkeys-lru".to_owned();
    let options = ServerOptions { maxmemory_policy, ..ServerOptions::default() };
    let server = RedisServer::start(options).await.unwrap();
    let error = refused(RedisOptions::standalone(server.url())).await;
    assert_eq!(error.code(), "store.redis.evicts");
    assert!(error.to_string().ends_with("set `maxmemory-policy noeviction`"), "{error}");
}

#[tokio::test]
async fn replicas_and_wrong_options_are_refused() {
    let server = server().await;
    let settings = vec![("replicaof".to_owned(), format!("127.0.0.1 {}", server.port()))];
    let replica = RedisServer::start(ServerOptions { settings, ..ServerOptions::default() }).await.unwrap();
    assert_eq!(refused(RedisOptions::standalone(replica.url())).await.code(), "store.redis.not_primary");
    assert_eq!(refused(RedisOptions::standalone("redis://127.0.0.1:1")).await.code(), "store.redis.unreachable");
    assert_eq!(refused(RedisOptions::standalone("http://x")).await.code(), "store.redis.invalid_option");
    let named = RedisOptions { namespace: "a:b".to_owned(), ..RedisOptions::standalone(server.url()) };
    assert_eq!(refused(named).await.code(), "store.redis.invalid_option");
}

#[tokio::test]
async fn durability_is_what_the_server_does_now() {
    let options = ServerOptions { fsync: Fsync::Everysec, ..ServerOptions::default() };
    let mut server = RedisServer::start(options).await.unwrap();
    let store = RedisStore::open(RedisOptions::standalone(server.url())).await.unwrap();
    assert_eq!(store.durability(), Durability::Buffered);
    server.config_set("appendfsync", "always").unwrap();
    reaches(&store, Durability::Fsynced).await;
    // A restart forgets the setting, and the store finds out.
    server.restart().await.unwrap();
    reaches(&store, Durability::Buffered).await;
}

async fn reaches(store: &RedisStore, durability: Durability) {
    for _ in 0..200 {
        if store.durability() == durability {
            return;
        }
        toolplane_wait::look_again().await;
    }
    panic!("the store still reports {}", store.durability());
}
