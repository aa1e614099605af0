//! The records of a family, in the order of their ids: from the set of its ids, or by looking at all keys where there is none.

use std::collections::BTreeSet;

use redis::Value;
use toolplane_store::{Family, RecordKey, StoreError, Versioned};

use crate::keys::KeySpace;
use crate::reply;
use crate::scripts::KEYS;
use crate::store::RedisStore;
use crate::value::VERSION_BYTES;

/// Keys asked for at once.
const SCAN: usize = 1_000;
/// Records read at once.
const PAGE: usize = 500;

/// Records with their ids.
type Page = Vec<(String, Versioned)>;

impl RedisStore {
    /// A page of a family whose ids are kept.
    pub(crate) async fn listed(&self, family: Family, after: &str, limit: usize) -> Result<Page, StoreError> {
        let (key, mut after) = (self.keys().family(family), after.to_owned());
        let mut found = Page::new();
        loop {
            let wanted = limit - found.len();
            let encode = |by| {
                let mut command = KEYS.call(by, 1);
                command.arg(&key).arg(&after).arg(wanted);
                command
            };
            let answer = self.read_script(&encode).await?;
            self.learn(&answer, VERSION_BYTES).await?;
            let page = reply::records(answer, family, self.patterns())?;
            let is_last = page.len() < wanted;
            if let Some((id, _)) = page.last() {
                after.clone_from(id);
            }
            for (id, record) in page {
                match record {
                    Ok(record) => found.push((id, record)),
                    Err(damage) => drop(self.known().note(damage)),
                }
            }
            // Damaged ones make no page shorter: a short page is the last.
            if is_last || found.len() == limit {
                return Ok(found);
            }
        }
    }

    /// A page of a family whose ids are not kept: each page costs a look at all keys of the server.
    pub(crate) async fn looked_for(&self, family: Family, after: &str, limit: usize) -> Result<Page, StoreError> {
        let (prefix, mut after) = (self.keys().record(&RecordKey::new(family, "")), after.to_owned());
        let mut found = Page::new();
        while found.len() < limit {
            let wanted = limit - found.len();
            let mut ids = BTreeSet::new();
            let mut take = |id: &str| {
                if id > after.as_str() && ids.insert(id.to_owned()) && ids.len() > wanted {
                    ids.pop_last();
                }
            };
            self.each_name(&prefix, "string", &mut take).await?;
            let is_last = ids.len() < wanted;
            let keys: Vec<_> = ids.into_iter().map(|id| RecordKey::new(family, id)).collect();
            found.extend(self.those_there(&keys).await?);
            match keys.into_iter().next_back() {
                Some(last) if !is_last => after = last.id,
                _ => break,
            }
        }
        Ok(found)
    }

    /// How many records of a family are as they were written. Damaged ones are noted.
    pub(crate) async fn count(&self, family: Family) -> Result<u64, StoreError> {
        let mut good = 0;
        if KeySpace::is_listed(family) {
            let mut after = String::new();
            loop {
                let page = self.listed(family, &after, PAGE).await?;
                good += page.len() as u64;
                match page.into_iter().next_back() {
                    Some((id, _)) => after = id,
                    None => return Ok(good),
                }
            }
        }
        let (prefix, mut ids) = (self.keys().record(&RecordKey::new(family, "")), BTreeSet::new());
        self.each_name(&prefix, "string", &mut |id| ids.extend([id.to_owned()])).await?;
        let keys: Vec<_> = ids.into_iter().map(|id| RecordKey::new(family, id)).collect();
        for keys in keys.chunks(PAGE) {
            good += self.those_there(keys).await?.len() as u64;
        }
        Ok(good)
    }

    /// Those of these records that are there and as they were written; what is damaged is noted.
    async fn those_there(&self, keys: &[RecordKey]) -> Result<Page, StoreError> {
        let mut found = Page::new();
        for keys in keys.chunks(PAGE) {
            let read = toolplane_store::Store::get_each(self, keys).await?;
            let there = keys.iter().zip(read).filter_map(|(key, read)| Some((key.id.clone(), read.ok()??)));
            found.extend(there);
        }
        Ok(found)
    }

    /// What follows `prefix` in each key of this type that begins so, in no order; some may come twice.
    pub(crate) async fn each_name(
        &self,
        prefix: &str,
        kind: &str,
        each: &mut (dyn FnMut(&str) + Send),
    ) -> Result<(), StoreError> {
        // The braces of the namespace mean nothing to a pattern, and a namespace has no other characters that do.
        let pattern = format!("{prefix}*");
        let mut cursor = "0".to_owned();
        loop {
            let mut command = redis::cmd("SCAN");
            command.arg(&cursor).arg("MATCH").arg(&pattern).arg("COUNT").arg(SCAN).arg("TYPE").arg(kind);
            let mut answer = reply::list(self.read(&command).await?)?.into_iter();
            cursor = reply::text(answer.next().unwrap_or_default())?;
            for key in reply::list(answer.next().unwrap_or(Value::Array(Vec::new())))? {
                let key = reply::text(key)?;
                key.strip_prefix(prefix).into_iter().for_each(&mut *each);
            }
            if cursor == "0" {
                return Ok(());
            }
        }
    }
}
