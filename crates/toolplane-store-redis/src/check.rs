//! Going through everything a namespace holds.

use std::collections::BTreeSet;

use redis::Value;
use toolplane_store::{Damage, DamageLocation, Family, RecordKey, Store, StoreError};

use crate::reply;
use crate::store::RedisStore;

/// Events read at once.
const PAGE: usize = 200;

/// What a namespace holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// Records that are as they were written.
    pub records: u64,
    /// Events that are.
    pub events: u64,
    /// What is damaged.
    pub damage: Vec<Damage>,
}

impl RedisStore {
    /// Reads every record and every event and holds each to its checksum. The store may be in use; what is written
    /// meanwhile may be seen or not. Values of versions without checksums count as they are.
    ///
    /// Damage is no error: it is in the report. Fails with [`StoreError::Unavailable`] when the server does not answer,
    /// with [`StoreError::Unsafe`] when it does not hold the store any more that was opened, and with
    /// [`StoreError::Corrupt`] when a key is of another type than it should be.
    pub async fn prove(&self) -> Result<CheckReport, StoreError> {
        let mut report = CheckReport::default();
        for family in Family::ALL {
            report.records += self.count(family).await?;
        }
        for stream in self.streams().await? {
            report.events += self.check_stream(&stream).await?;
        }
        report.damage = self.damage();
        Ok(report)
    }

    /// Reads again what is known to be damaged, and forgets what is so no longer: another process has dealt with it.
    pub async fn look_again(&self) {
        for Damage { place, .. } in self.known().all() {
            // What cannot be read now is as damaged as it was.
            let sound = match &place {
                DamageLocation::Record(key) => self.get(key).await.is_ok(),
                DamageLocation::Stream { stream, from_seq } => self.events(stream, *from_seq, 1).await.is_ok(),
                DamageLocation::Index(_) | DamageLocation::Part(_) => false,
            };
            if sound {
                self.known().forget(&place);
            }
        }
    }

    /// The values of these records and streams as they lie in the server, damaged or not, each with its key: for a
    /// caller that backs up what is about to be deleted. Returns an error as [`prove`](Self::prove) does.
    pub async fn raw(&self, records: &[RecordKey], streams: &[String]) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        let mut found = Vec::new();
        for key in records.iter().map(|key| RedisStore::keys(self).record(key)) {
            let answer = self.read(&redis::cmd("GET").arg(&key).to_owned()).await?;
            if answer != Value::Nil {
                found.push((key, reply::bytes(Some(answer))?));
            }
        }
        for key in streams.iter().map(|stream| RedisStore::keys(self).stream(stream)) {
            let answer = self.read(&redis::cmd("LRANGE").arg(&key).arg(0).arg(-1).to_owned()).await?;
            for event in reply::list(answer)? {
                found.push((key.clone(), reply::bytes(Some(event))?));
            }
        }
        Ok(found)
    }

    async fn check_stream(&self, stream: &str) -> Result<u64, StoreError> {
        let (mut next, mut good) = (1, 0);
        loop {
            match self.events(stream, next, PAGE).await {
                Ok(page) if page.events.is_empty() => return Ok(good),
                Ok(page) => {
                    good += page.events.len() as u64;
                    next += page.events.len() as u64;
                }
                // The page up to it is read again, and then what is behind it.
                Err(StoreError::Damaged(Damage { place: DamageLocation::Stream { from_seq, .. }, .. })) => {
                    if from_seq > next {
                        let limit = usize::try_from(from_seq - next).unwrap_or(PAGE);
                        good += self.events(stream, next, limit).await?.events.len() as u64;
                    }
                    next = from_seq + 1;
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn streams(&self) -> Result<BTreeSet<String>, StoreError> {
        let (prefix, mut found) = (RedisStore::keys(self).stream(""), BTreeSet::new());
        self.each_name(&prefix, "list", &mut |stream| found.extend([stream.to_owned()])).await?;
        Ok(found)
    }
}
