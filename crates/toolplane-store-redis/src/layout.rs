//! Which shards a namespace has, and that each is where it is looked for.
//!
//! A store of one shard has its name and nothing else, as it always had. The first shard of one with several holds how many
//! there are, and each other one the number, its own, and the name of the first: so that servers in another order, an emptied
//! one and a configuration with another number are noticed before anything is written. While the shards are being made for
//! the first time, the first one says so; a process that ends half way leaves the rest to the next.

use redis::Value;
use redis::aio::MultiplexedConnection;
use uuid::Uuid;

use crate::identity::StoreIdentity;
use crate::keys::KeySpace;
use crate::open_error::OpenError;
use crate::options::Servers;
use crate::reply;

const CLAIM: &str = include_str!("scripts/claim.lua");
/// What follows the number while not every shard is known to be there.
const BEGUN: &str = " begun";

/// One shard that is about to be opened.
#[derive(Debug)]
pub(crate) struct Opening {
    pub(crate) keys: KeySpace,
    pub(crate) servers: Servers,
    pub(crate) connection: MultiplexedConnection,
}

/// What is written of one shard.
#[derive(Debug, PartialEq, Eq)]
struct Written {
    name: String,
    shards: String,
}

/// Checks that `shards` are all shards of their namespace in their order, makes those of a new store, and returns their names.
pub(crate) async fn claim(shards: &mut [Opening]) -> Result<Vec<StoreIdentity>, OpenError> {
    let count = shards.len();
    look_for_strangers(shards).await?;
    let Some((first, others)) = shards.split_first_mut() else { return Ok(Vec::new()) };
    let (whole, begun) = match count {
        1 => (String::new(), String::new()),
        _ => (count.to_string(), format!("{count}{BEGUN}")),
    };
    let found = first.claim(&begun, &whole, true).await?;
    if found.shards != whole && found.shards != begun {
        return Err(OpenError::Shards { reason: other_number(&found.shards, count) });
    }
    if found.name.is_empty() {
        let reason = format!("it is written that there are {count} shards, and what the first of them held is gone");
        return Err(OpenError::Shards { reason });
    }
    let is_new = found.shards != whole;
    let mut names = vec![StoreIdentity::of(&found.name)];
    for (number, other) in (1..).zip(others) {
        let mark = format!("{count} {number} {}", found.name);
        let held = other.claim(&mark, &mark, is_new).await?;
        if held.shards != mark || held.name.is_empty() {
            return Err(OpenError::Shards { reason: misplaced(number, &held) });
        }
        names.push(StoreIdentity::of(&held.name));
    }
    if is_new {
        let written: Result<(), _> =
            redis::cmd("SET").arg(first.keys.shards()).arg(&whole).query_async(&mut first.connection).await;
        written.map_err(|error| OpenError::of(&error))?;
        tracing::info!(shards = count, "the store has its shards");
    }
    Ok(names)
}

fn other_number(found: &str, wanted: usize) -> String {
    let found = found.split(' ').next().filter(|found| !found.is_empty()).unwrap_or("1");
    format!("it was made with `shards = {found}`, and cannot be opened with {wanted}: the number of a namespace stays")
}

fn misplaced(number: usize, held: &Written) -> String {
    match held.shards.is_empty() && held.name.is_empty() {
        true => format!(
            "shard {number} is not there: its server was emptied, or `urls` name others, or in another order, than before"
        ),
        false => format!("what is in the place of shard {number} belongs to another store"),
    }
}

/// Refuses servers on which other shards lie than those that are looked for there: then `urls` are in another order. In a
/// cluster and behind sentinels, shards are found wherever they are.
async fn look_for_strangers(shards: &mut [Opening]) -> Result<(), OpenError> {
    let places: Vec<(Servers, String)> =
        shards.iter().map(|shard| (shard.servers.clone(), shard.keys.identity())).collect();
    for (at, shard) in shards.iter_mut().enumerate() {
        if !matches!(shard.servers, Servers::Standalone { .. }) {
            continue;
        }
        for (number, (servers, identity)) in places.iter().enumerate() {
            if *servers == shard.servers {
                continue;
            }
            let asked = redis::cmd("EXISTS").arg(identity).query_async(&mut shard.connection).await;
            if asked.map_err(|error| OpenError::of(&error)).map(|count: u64| count > 0)? {
                let reason = format!(
                    "the server of shard {at} holds shard {number}: name the servers of `urls` in the order they always had"
                );
                return Err(OpenError::Shards { reason });
            }
        }
    }
    Ok(())
}

impl Opening {
    async fn claim(&mut self, mark: &str, or: &str, may_make: bool) -> Result<Written, OpenError> {
        let made = Uuid::new_v4().simple().to_string();
        let mut command = redis::cmd("EVAL");
        command.arg(CLAIM).arg(2).arg(self.keys.identity()).arg(self.keys.shards());
        command.arg(&made).arg(mark).arg(or).arg(u8::from(may_make));
        let answer: Value = command.query_async(&mut self.connection).await.map_err(|error| OpenError::of(&error))?;
        let strange = |failure: crate::failure::Failure| OpenError::Unreachable { reason: failure.reason };
        let mut words = reply::list(answer).map_err(strange)?.into_iter();
        let mut word = || reply::text(words.next().unwrap_or_default()).map_err(strange);
        let written = Written { name: word()?, shards: word()? };
        if written.name == made {
            tracing::info!(key = self.keys.identity(), "gave the store a name; it had none");
        }
        Ok(written)
    }
}
