//! What a server says about itself, and what follows from it for a commit that it answered.

use redis::aio::MultiplexedConnection;
use redis::{RedisError, Value};
use toolplane_store::Durability;

use crate::open_error::OpenError;
use crate::options::RedisOptions;
use crate::reply;

/// The first version with `#!lua` scripts that say whether they may run when memory is full.
const OLDEST: (u32, u32) = (7, 0);
/// The first version that can wait for the flush of replicas.
const WAITS_FOR_FLUSH: (u32, u32) = (7, 2);

/// A server that may be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Facts {
    /// What an answered commit survives.
    pub(crate) durability: Durability,
    /// Whether `WAITAOF` is known, which waits for flushes and not only for memory.
    pub(crate) waits_for_flush: bool,
    /// The policy by which it would drop records when its memory is full, if it has one.
    pub(crate) evicts: Option<String>,
}

impl Facts {
    /// Refuses a server that may drop records, before there are any. One that changes later is [`Trouble`](crate::Trouble).
    pub(crate) fn check(&self) -> Result<(), OpenError> {
        self.evicts.clone().map_or(Ok(()), |policy| Err(OpenError::Evicts { policy }))
    }
}

/// The settings that decide about durability; not every user may read them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Settings {
    appends: bool,
    flushes_always: bool,
}

/// Asks the server behind `connection`, and refuses one that follows another or cannot run the scripts.
pub(crate) async fn inspect(
    connection: &mut MultiplexedConnection,
    options: &RedisOptions,
) -> Result<Facts, OpenError> {
    let refused = |error: RedisError| OpenError::of(&error);
    let strange = |failure: crate::failure::Failure| OpenError::Unreachable { reason: failure.reason };
    let mut command = redis::cmd("INFO");
    let answer = command.arg("server").arg("memory").arg("replication").query_async(connection).await;
    let info = String::from_utf8(reply::bytes(Some(answer.map_err(refused)?)).map_err(strange)?).unwrap_or_default();
    let mut command = redis::cmd("CONFIG");
    let asked = command.arg("GET").arg("appendonly").arg("appendfsync").query_async(connection).await;
    let settings = match asked {
        Ok(answer) => Some(settings(answer)),
        Err(error) if matches!(OpenError::of(&error), OpenError::Denied { .. }) => None,
        // Hosted servers answer that they do not know the command.
        Err(error) if error.code() == Some("ERR") => None,
        Err(error) => return Err(refused(error)),
    };
    judge(&info, settings, options.replicas, options.assume_durability)
}

fn judge(
    info: &str,
    settings: Option<Settings>,
    replicas: u32,
    assumed: Option<Durability>,
) -> Result<Facts, OpenError> {
    let field = |name: &str| {
        let mut lines = info.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(found, _)| *found == name).map(|(_, value)| value.trim()).unwrap_or_default()
    };
    let version = field("redis_version");
    let mut numbers = version.split('.').map(|number| number.parse().unwrap_or(0));
    let numbers: (u32, u32) = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if numbers < OLDEST {
        return Err(OpenError::TooOld { version: version.to_owned() });
    }
    if field("role") != "master" {
        return Err(OpenError::NotPrimary);
    }
    let policy = field("maxmemory_policy");
    let evicts = (policy != "noeviction").then(|| policy.to_owned());
    let waits_for_flush = numbers >= WAITS_FOR_FLUSH && settings.is_none_or(|known| known.appends);
    let durability = match settings {
        Some(known) if known.appends && replicas > 0 && waits_for_flush => Durability::FsyncedReplicated,
        // Older servers can only say that replicas have a commit in memory, which is on no disk of theirs yet.
        Some(known) if known.appends && known.flushes_always => Durability::Fsynced,
        Some(_) => Durability::Buffered,
        None => assumed.unwrap_or(Durability::Buffered),
    };
    Ok(Facts { durability, waits_for_flush, evicts })
}

fn settings(answer: Value) -> Settings {
    let words: Vec<String> = match answer {
        Value::Map(pairs) => pairs.into_iter().flat_map(|(name, value)| [name, value]).filter_map(word).collect(),
        Value::Array(values) => values.into_iter().filter_map(word).collect(),
        _ => Vec::new(),
    };
    let is = |name: &str, value: &str| words.chunks(2).any(|pair| pair == [name, value]);
    Settings { appends: is("appendonly", "yes"), flushes_always: is("appendfsync", "always") }
}

fn word(value: Value) -> Option<String> {
    reply::text(value).ok()
}

#[cfg(test)]
mod tests {
    use toolplane_store::Durability::{Buffered, Fsynced, FsyncedReplicated};

    use super::{Settings, judge};

    fn info(version: &str, role: &str, policy: &str) -> String {
        format!("# Server\r\nredis_version:{version}\r\nrole:{role}\r\nmaxmemory_policy:{policy}\r\n")
    }

    #[test]
    fn durability_is_never_more_than_what_the_server_does() {
        let always = Some(Settings { appends: true, flushes_always: true });
        let everysec = Some(Settings { appends: true, flushes_always: false });
        let off = Some(Settings { appends: false, flushes_always: true });
        let table = [
            ("7.0.15", always, 0, None, Fsynced),
            ("7.0.15", everysec, 0, None, Buffered),
            ("7.0.15", off, 0, None, Buffered),
            // Waiting for a replica's memory is no flush.
            ("7.0.15", always, 1, None, Fsynced),
            ("7.0.15", everysec, 1, None, Buffered),
            ("7.2.4", always, 1, None, FsyncedReplicated),
            // Waiting for the flush is one, whenever it happens.
            ("7.2.4", everysec, 1, None, FsyncedReplicated),
            ("7.2.4", everysec, 0, None, Buffered),
            ("8.0.0", off, 1, None, Buffered),
            // Settings that can be read are trusted more than what is assumed.
            ("7.0.15", off, 0, Some(Fsynced), Buffered),
            ("7.0.15", None, 0, Some(Fsynced), Fsynced),
            ("7.0.15", None, 0, None, Buffered),
        ];
        for (version, settings, replicas, assumed, expected) in table {
            let facts = judge(&info(version, "master", "noeviction"), settings, replicas, assumed).unwrap();
            assert_eq!(facts.durability, expected, "{version} {settings:?} {replicas} {assumed:?}");
        }
    }

    #[test]
    fn servers_that_would_lose_records_are_refused() {
        for (version, role, policy, code) in [
            ("6.2.14", "master", "noeviction", "store.redis.too_old"),
            ("", "master", "noeviction", "store.redis.too_old"),
            ("7.0.15", "slave", "noeviction", "store.redis.not_primary"),
            ("7.0.15", "master", "allkeys-lru", "store.redis.evicts"),
            ("7.0.15", "master", "", "store.redis.evicts"),
        ] {
            let facts = judge(&info(version, role, policy), None, 0, None);
            let error = facts.and_then(|facts| facts.check()).unwrap_err();
            assert_eq!(error.code(), code);
        }
    }
}
