//! Values that are like earlier ones are stored as what differs from a pattern. Patterns are kept in a hash of the namespace, each
//! twice, for all processes: whoever finds one keeps it there and uses it then, and whoever meets one it does not know reads them.

use redis::Value;
use toolplane_store::likeness::{Named, PatternId};

use crate::failure::{Class, Failure};
use crate::reply;
use crate::scripts::PATTERN;
use crate::store::RedisStore;
use crate::task;
use crate::value;

/// What the field of the second one has behind its name.
const AGAIN: u8 = b'+';

impl RedisStore {
    /// Reads all patterns of the namespace. What is damaged in both places is not known.
    pub(crate) async fn read_patterns(&self) -> Result<(), Failure> {
        let mut command = redis::cmd("HGETALL");
        command.arg(self.keys().patterns());
        let mut fields = reply::list(self.read(&command).await?)?.into_iter();
        while let (Some(field), sealed) = (fields.next(), fields.next()) {
            let (field, sealed) = (reply::bytes(Some(field))?, reply::bytes(sealed)?);
            let id = field.first_chunk().map(|id| PatternId::from_le_bytes(*id));
            if let Some(named) = id.and_then(|id| Named::open(id, &sealed)) {
                self.patterns().add(named);
            }
        }
        Ok(())
    }

    /// Reads the patterns again when `answer` holds a value that is told by one this process does not know. Stored values in it
    /// have `offset` bytes in front.
    pub(crate) async fn learn(&self, answer: &Value, offset: usize) -> Result<(), Failure> {
        match self.meets_unknown(answer, offset) {
            true => self.read_patterns().await,
            false => Ok(()),
        }
    }

    fn meets_unknown(&self, answer: &Value, offset: usize) -> bool {
        match answer {
            Value::Array(values) => values.iter().any(|value| self.meets_unknown(value, offset)),
            Value::BulkString(bytes) => {
                let pattern = bytes.get(offset..).and_then(value::pattern_of);
                pattern.is_some_and(|id| !self.patterns().knows(id))
            }
            _ => false,
        }
    }

    /// Keeps what the last commits found, beside them: until it is kept it is not used, and nobody waits.
    pub(crate) fn keep_found(&self) {
        for named in self.patterns().found() {
            let store = self.clone();
            task::beside(async move {
                match store.keep(&named).await {
                    Ok(true) => store.patterns().add(named),
                    // Something else has its name, or the server is not as it should be: others may be found.
                    Ok(false) => store.patterns().give_up(&named),
                    Err(failure) => {
                        tracing::debug!(reason = %failure.reason, "a pattern of stored values was not kept");
                        store.patterns().give_up(&named);
                    }
                }
            });
        }
    }

    /// Keeps what this process knows once more: the server has lost some of it, with its last writes or because it is another one.
    /// What cannot be kept is not used any more. Then the commit that met this can be sent again.
    pub(crate) async fn keep_again(&self) -> Failure {
        for named in self.patterns().all() {
            if self.keep(&named).await != Ok(true) {
                self.patterns().retire(&named);
            }
        }
        Failure { class: Class::Moving, reason: "the server has lost patterns of stored values".to_owned() }
    }

    /// Whether it is kept now, by this process or another.
    async fn keep(&self, named: &Named) -> Result<bool, Failure> {
        let id = named.id.to_le_bytes();
        let (again, sealed) = ([&id[..], &[AGAIN]].concat(), named.sealed());
        let encode = |by| {
            let mut command = PATTERN.call(by, 2);
            command.arg(self.keys().identity()).arg(self.keys().patterns()).arg(self.identity().as_bytes());
            command.arg(&id[..]).arg(&again).arg(&sealed);
            command
        };
        Ok(self.read_script(&encode).await? == Value::Int(1))
    }
}
