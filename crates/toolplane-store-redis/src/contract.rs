//! The store's contract, kept with scripts and plain commands.

use std::time::Instant;

use toolplane_records::time::Timestamp;
use toolplane_store::commit::MAX_SCORE;
use toolplane_store::page::MAX_PAGE;
use toolplane_store::{
    Commit, CommitOutcome, Damage, DamageLocation, Durability, EventPage, Family, Found, HintStream, IndexEntry,
    RecordKey, ScoreRange, Store, StoreError, StoreFuture, Versioned,
};

use crate::clock::TRUSTED_FOR;
use crate::keys::KeySpace;
use crate::reply;
use crate::scripts::{EVENTS, SCAN};
use crate::store::RedisStore;
use crate::value::VERSION_BYTES;

impl Store for RedisStore {
    fn commit(&self, commit: Commit) -> StoreFuture<'_, CommitOutcome> {
        Box::pin(async move {
            commit.validate()?;
            self.refuse_what_builds_on_damage(&commit).await?;
            let deleted: Vec<_> = commit.deleted().cloned().collect();
            let outcome = self.noted(self.settle(commit).await);
            if outcome == Ok(CommitOutcome::Applied) {
                deleted.into_iter().for_each(|key| self.known().forget(&DamageLocation::Record(key)));
            }
            outcome
        })
    }

    fn get<'a>(&'a self, key: &'a RecordKey) -> StoreFuture<'a, Option<Versioned>> {
        Box::pin(async move {
            let command = redis::cmd("GET").arg(self.keys().record(key)).to_owned();
            let answer = self.read(&command).await?;
            self.learn(&answer, VERSION_BYTES).await?;
            let found = reply::record(key, answer, self.patterns())?;
            self.noted(found.map_err(StoreError::Damaged))
        })
    }

    fn get_each<'a>(&'a self, keys: &'a [RecordKey]) -> StoreFuture<'a, Vec<Found>> {
        Box::pin(async move {
            if keys.is_empty() {
                return Ok(Vec::new());
            }
            let mut command = redis::cmd("MGET");
            for key in keys {
                command.arg(self.keys().record(key));
            }
            let answer = self.read(&command).await?;
            self.learn(&answer, VERSION_BYTES).await?;
            let found = reply::list(answer)?;
            let found = keys.iter().zip(found).map(|(key, found)| reply::record(key, found, self.patterns()));
            found.map(|found| Ok(found?.map_err(|damage| self.known().note(damage)))).collect()
        })
    }

    fn scan<'a>(&'a self, index: &'a str, range: ScoreRange, limit: usize) -> StoreFuture<'a, Vec<IndexEntry>> {
        Box::pin(async move {
            let Some(range) = within_scores(range) else { return Ok(Vec::new()) };
            let key = self.keys().index(index);
            let (score, member) = match &range.after {
                Some((score, member)) => (score.to_string(), member.as_str()),
                None => (String::new(), ""),
            };
            let encode = |by| {
                let mut command = SCAN.call(by, 1);
                command.arg(&key).arg(range.min).arg(range.max).arg(limit.min(MAX_PAGE));
                command.arg(u8::from(range.reverse)).arg(&score).arg(member);
                command
            };
            reply::entries(self.read_script(&encode).await?)
        })
    }

    fn indexes<'a>(&'a self, prefix: &'a str) -> StoreFuture<'a, Vec<String>> {
        Box::pin(async move {
            let mut command = redis::cmd("ZRANGEBYLEX");
            command.arg(self.keys().names());
            match prefix.is_empty() {
                true => command.arg("-").arg("+"),
                // No name has this byte, which is none of UTF-8.
                false => command.arg(format!("[{prefix}")).arg([b"[", prefix.as_bytes(), b"\xff"].concat()),
            };
            let names = reply::list(self.read(&command).await?)?;
            names.into_iter().map(|name| Ok(reply::text(name)?)).collect()
        })
    }

    fn index_len<'a>(&'a self, index: &'a str) -> StoreFuture<'a, u64> {
        Box::pin(async move {
            let command = redis::cmd("ZCARD").arg(self.keys().index(index)).to_owned();
            Ok(reply::number(Some(self.read(&command).await?))?)
        })
    }

    fn events<'a>(&'a self, stream: &'a str, from_seq: u64, limit: usize) -> StoreFuture<'a, EventPage> {
        Box::pin(async move {
            let (key, first) = (self.keys().stream(stream), from_seq.max(1));
            let encode = |by| {
                let mut command = EVENTS.call(by, 1);
                command.arg(&key).arg(first).arg(limit.min(MAX_PAGE));
                command
            };
            let answer = self.read_script(&encode).await?;
            self.learn(&answer, 0).await?;
            self.noted(reply::events(answer, stream, first, self.patterns()))
        })
    }

    fn keys<'a>(
        &'a self,
        family: Family,
        after: Option<&'a str>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<(String, Versioned)>> {
        Box::pin(async move {
            let (after, limit) = (after.unwrap_or_default(), limit.min(MAX_PAGE));
            match KeySpace::is_listed(family) {
                true => self.listed(family, after, limit).await,
                false => self.looked_for(family, after, limit).await,
            }
        })
    }

    fn now(&self) -> StoreFuture<'_, Timestamp> {
        Box::pin(async move {
            self.clock().at(Instant::now()).ok_or_else(|| StoreError::Unavailable {
                reason: format!("the server's clock was not read for {} s", TRUSTED_FOR.as_secs()),
            })
        })
    }

    fn durability(&self) -> Durability {
        self.standing()
    }

    fn damage(&self) -> Vec<Damage> {
        self.known().all()
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn hints(&self) -> HintStream {
        self.inbox().stream()
    }
}

impl RedisStore {
    /// A script knows versions and not sums, so what is known to be damaged is looked at here. A process that decides
    /// from a record has read it, so it is known; another process may have dealt with it since.
    async fn refuse_what_builds_on_damage(&self, commit: &Commit) -> Result<(), StoreError> {
        if self.known().is_empty() {
            return Ok(());
        }
        for key in commit.builds_on() {
            let place = DamageLocation::Record(key.clone());
            if self.known().knows(&place) {
                self.get(key).await?;
                self.known().forget(&place);
            }
        }
        Ok(())
    }
}

/// The part of a range in which scores lie, or nothing when none can.
fn within_scores(range: ScoreRange) -> Option<ScoreRange> {
    let ScoreRange { min, max, after, reverse } = range;
    if min > max || min > MAX_SCORE {
        return None;
    }
    let after = match after {
        Some((score, _)) if score > MAX_SCORE && !reverse => return None,
        Some((score, _)) if score > MAX_SCORE => None,
        other => other,
    };
    Some(ScoreRange { min, max: max.min(MAX_SCORE), after, reverse })
}

#[cfg(test)]
mod tests {
    use toolplane_store::ScoreRange;
    use toolplane_store::commit::MAX_SCORE;

    use super::within_scores;

    #[test]
    fn ranges_are_cut_to_the_scores_there_are() {
        let beyond = |reverse| ScoreRange { after: Some((u64::MAX, "m".to_owned())), reverse, ..ScoreRange::all() };
        let all = ScoreRange::between(0, MAX_SCORE);
        assert_eq!(within_scores(ScoreRange::all()), Some(all.clone()));
        assert_eq!(within_scores(beyond(true)), Some(all.reversed()));
        assert_eq!(within_scores(beyond(false)), None);
        assert_eq!(within_scores(ScoreRange::between(MAX_SCORE + 1, u64::MAX)), None);
        assert_eq!(within_scores(ScoreRange::between(3, 2)), None);
        let cursor = ScoreRange { after: Some((3, "m".to_owned())), ..ScoreRange::up_to(9) };
        assert_eq!(within_scores(cursor.clone()), Some(cursor));
    }
}
