//! What lies where when the store has several shards: a pure function from names to places.
//!
//! A call lies with its lock domain, which is that of its session or batch when it says no other, and else where its own id
//! says; its id is made so, so whoever has the id knows the place. Everything that belongs to a call lies with it, so each
//! change of a call is one commit in one shard. Indexes over all calls are in every shard, each with the calls that lie
//! there. What is counted over all shards is kept exact by [`loans`](super::loans). What the schedulers know of each other, and
//! workers, lie in the first shard.
//!
//! These rules are what stored records were placed by: they stay as they are.

use std::num::NonZeroUsize;

use toolplane_lifecycle::Scope;
use toolplane_records::ids::{InvocationKey, TenantId};
use toolplane_store::{Commit, Family, IndexOp, Place, Placement, RecordKey, Write};

use super::keys;

/// How often an id is made until it lies where it should. With 64 shards one in e^1000 is not found.
const TRIES: u32 = 65_536;

/// How many shards there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shards(NonZeroUsize);

impl Shards {
    /// Everything in one place.
    pub(crate) const ONE: Self = Self(NonZeroUsize::MIN);

    /// So many shards; none counts as one.
    pub(crate) fn new(count: usize) -> Self {
        Self(NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN))
    }

    /// How many.
    pub(crate) fn count(self) -> usize {
        self.0.get()
    }

    /// Whether there are several.
    pub(crate) fn are_several(self) -> bool {
        self.count() > 1
    }

    /// Where a call lies.
    pub(crate) fn of_call(self, call: &InvocationKey) -> usize {
        if self.are_several() { self.of_name(&call.to_string()) } else { 0 }
    }

    /// Where calls of this lock domain lie. That of a batch lies with the batch.
    pub(crate) fn of_domain(self, tenant: &TenantId, domain: &str) -> usize {
        match domain.strip_prefix("batch:") {
            Some(batch) => self.of_name(&tenant.scoped(batch)),
            None => self.of_name(&format!("{}/{domain}", tenant.as_str().replace('/', "%"))),
        }
    }

    /// Where a call or a batch of this name lies: the name of its record.
    pub(crate) fn of_name(self, name: &str) -> usize {
        usize::try_from(hash(name) % self.count() as u64).unwrap_or_default()
    }

    /// The shard that has all places of a counted index before any is lent.
    pub(crate) fn home_of(self, index: &str) -> usize {
        self.of_name(index)
    }

    /// The first that `make` makes of the numbers from 0 on and that lies in `place`, as `name` says. One shard takes the first.
    pub(crate) fn made<T>(
        self,
        place: Option<usize>,
        name: impl Fn(&T) -> String,
        mut make: impl FnMut(u32) -> T,
    ) -> T {
        let fits = |made: &T| !self.are_several() || place.is_none_or(|place| self.of_name(&name(made)) == place);
        let first = make(0);
        if fits(&first) { first } else { (1..TRIES).map(make).find(fits).unwrap_or(first) }
    }

    /// Items in the shards they lie in.
    pub(crate) fn sorted<T>(self, items: impl IntoIterator<Item = T>, place: impl Fn(&T) -> usize) -> Vec<Vec<T>> {
        let mut sorted: Vec<Vec<T>> = (0..self.count()).map(|_| Vec::new()).collect();
        for item in items {
            let place = place(&item);
            if let Some(shard) = sorted.get_mut(place) {
                shard.push(item);
            }
        }
        sorted.retain(|shard| !shard.is_empty());
        sorted
    }

    /// Where `commit` is made, when anything of it says so.
    pub(super) fn of_commit(self, commit: &Commit) -> Option<usize> {
        let compared = commit.compare.iter().map(|(key, _)| self.record(key));
        let written = commit.writes.iter().map(|write| self.record(Write::key(write)));
        let entries = commit.index.iter().map(IndexOp::target).map(|(index, member)| self.entry(index, member));
        compared.chain(written).chain(entries).find_map(|place| match place {
            Place::At(number) => Some(number),
            Place::WithTheRest => None,
        })
    }

    fn at(self, name: &str) -> Place {
        Place::At(self.of_name(name))
    }

    /// Where a lock domain's record lies, by its name: see `groups/keys`.
    fn at_domain(self, record: &str) -> Place {
        match record.split_once('/') {
            Some((tenant, domain)) => match TenantId::parse(&tenant.replace('%', "/")) {
                Ok(tenant) => Place::At(self.of_domain(&tenant, domain)),
                Err(_) => self.at(record),
            },
            None => self.at(record),
        }
    }

    fn at_scope(self, index: &str) -> Option<Place> {
        let place = match index.strip_prefix(keys::COORDINATION)?.parse::<Scope>().ok()? {
            Scope::Batch { tenant, id } => self.of_name(&tenant.scoped(id)),
            Scope::Locks { tenant, domain } => self.of_domain(&tenant, &domain),
        };
        Some(Place::At(place))
    }
}

impl Placement for Shards {
    fn record(&self, key: &RecordKey) -> Place {
        match key.family {
            Family::Invocation | Family::Result | Family::Batch => self.at(&key.id),
            Family::Payload | Family::Evidence => self.at(&keys::call_of_payload(&key.id)),
            Family::LockDomain => self.at_domain(&key.id),
            // Written with a call that needs them: the name does not say which.
            Family::Decision | Family::Plan => Place::WithTheRest,
            Family::Meta => {
                let call = key.id.strip_prefix("dedupe/").or_else(|| keys::call_of_deleted(&key.id));
                if let Some(call) = call {
                    self.at(call)
                } else if let Some(number) = keys::shard_of_places(&key.id).or_else(|| keys::shard_of_holds(&key.id)) {
                    Place::At(number)
                } else if let Some(session) = keys::tainted_member(&key.id) {
                    self.at(session)
                } else if key.id.starts_with("quarantine/") {
                    Place::WithTheRest
                } else {
                    Place::At(0)
                }
            }
            Family::Declaration | Family::Surface | Family::Approval | Family::Worker => Place::At(0),
        }
    }

    fn entry(&self, index: &str, member: &str) -> Place {
        let index = index.strip_prefix(keys::UNDECODABLE).unwrap_or(index);
        match index {
            keys::SCHEDULERS => Place::At(0),
            keys::QUARANTINE => Place::WithTheRest,
            keys::IDLE_DOMAINS => self.at_domain(member),
            _ => self.at_scope(index).unwrap_or_else(|| self.at(member)),
        }
    }

    fn index(&self, index: &str) -> Place {
        match index {
            keys::SCHEDULERS => Place::At(0),
            _ => self.at_scope(index).unwrap_or(Place::WithTheRest),
        }
    }

    fn stream(&self, stream: &str) -> Place {
        keys::call_of_stream(stream).map_or(Place::At(0), |call| self.at(call))
    }
}

/// FNV-1a, and the last step of MurmurHash3, which spreads it over all bits.
fn hash(name: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let mut hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53] {
        hash = (hash ^ (hash >> 33)).wrapping_mul(factor);
    }
    hash ^ (hash >> 33)
}

#[cfg(test)]
mod tests;
