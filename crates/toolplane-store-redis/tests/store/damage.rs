//! Values that change in the server while no process reads them.

use std::pin::Pin;
use std::sync::Arc;

use toolplane_store::conformance::{DamageTarget, damage_is_named_and_hides_nothing_else};
use toolplane_store::{Commit, CommitOutcome, DamageLocation, Store};

use super::support::{server, store_on};

#[tokio::test]
async fn damage_is_refused_by_name() {
    let server = server().await;
    let store = Arc::new(store_on(&server).await);
    let client = redis::Client::open(server.url()).unwrap();
    let hook = |store: Arc<dyn Store>, target| {
        let client = client.clone();
        let spoiled = async move {
            let mut connection = client.get_multiplexed_async_connection().await.unwrap();
            match target {
                DamageTarget::Record(key, _) => {
                    let name = format!("{{toolplane}}:r:i:{}", key.id);
                    let mut value: Vec<u8> = redis::cmd("GET").arg(&name).query_async(&mut connection).await.unwrap();
                    let at = value.len() - 4;
                    value[at] ^= 0x20;
                    let _: () = redis::cmd("SET").arg(&name).arg(value).query_async(&mut connection).await.unwrap();
                }
                DamageTarget::Event(stream, seq, _) => {
                    let (name, at) = (format!("{{toolplane}}:s:{stream}"), seq - 1);
                    let read = redis::cmd("LINDEX").arg(&name).arg(at).to_owned();
                    let mut value: Vec<u8> = read.query_async(&mut connection).await.unwrap();
                    let last = value.len() - 1;
                    value[last] ^= 0x20;
                    let write = redis::cmd("LSET").arg(&name).arg(at).arg(value).to_owned();
                    let _: () = write.query_async(&mut connection).await.unwrap();
                }
            }
            store
        };
        Box::pin(spoiled) as Pin<Box<dyn Future<Output = Arc<dyn Store>> + Send>>
    };
    damage_is_named_and_hides_nothing_else(store, &hook).await;
    // A process that was not there finds the same by looking at everything.
    let other = store_on(&server).await;
    let found = other.prove().await.unwrap();
    assert_eq!((found.records, found.events, found.damage.len()), (3, 4, 1), "{found:?}");
    // It is damaged until some process deals with it.
    other.look_again().await;
    assert_eq!(*other.damaged().borrow(), 1);
    let DamageLocation::Stream { stream, .. } = found.damage[0].place.clone() else { panic!("{found:?}") };
    let commit = Commit { forget: vec![stream], ..Commit::default() };
    assert_eq!(store_on(&server).await.commit(commit).await, Ok(CommitOutcome::Applied));
    other.look_again().await;
    assert_eq!((*other.damaged().borrow(), other.damage()), (0, Vec::new()));
}
