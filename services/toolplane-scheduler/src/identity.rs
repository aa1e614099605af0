//! Ids and digests that are made from what a caller said: the same request, the same call.
//!
//! Where the store has several shards, an id also says where its call lies. It is made again, by a counted rule, until it
//! lies with the session or lock domain of the call: so the same key within the same session is the same call.

use sha2::{Digest as _, Sha256};
use toolplane_faultpoint::{Mutant, mutant};
use toolplane_records::ids::{BatchId, InvocationId, InvocationKey, TenantId};
use toolplane_records::payload::Digest;
use uuid::Uuid;

use crate::storage::Shards;

/// The namespace of ids made from idempotency keys.
const KEY_NAMESPACE: Uuid = Uuid::from_u128(0x7f0c_9a52_6d1b_4e0e_9f6e_2a1d_0b7c_51e4);

/// Where calls that share a session, a lock domain or a batch have to lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Home<'a> {
    shards: Shards,
    tenant: &'a TenantId,
    /// `None` where any place will do.
    place: Option<usize>,
}

impl<'a> Home<'a> {
    /// The place of a lock domain of `tenant`; calls without one lie where their ids say.
    pub(crate) fn of(shards: Shards, tenant: &'a TenantId, domain: Option<&str>) -> Self {
        Self { shards, tenant, place: domain.map(|domain| shards.of_domain(tenant, domain)) }
    }

    /// The place of a batch, for its calls.
    pub(crate) fn of_batch(shards: Shards, tenant: &'a TenantId, batch: &BatchId) -> Self {
        Self { shards, tenant, place: Some(shards.of_name(&tenant.scoped(batch))) }
    }

    /// One of the shards.
    fn at(shards: Shards, tenant: &'a TenantId, place: usize) -> Self {
        Self { shards, tenant, place: Some(place) }
    }

    /// The id of the call that a caller calls `own`, under this key: that one where it lies here and with its key, else the one its key
    /// makes, else one that is made of it and found by it, too ([`ids_of_own`]).
    pub(crate) fn call_of_own(&self, own: InvocationId, key: Option<&str>) -> InvocationId {
        let of_key = key.map(|key| self.new_call(Some(key)));
        match self.takes(own.as_str(), of_key.as_ref().map(InvocationId::as_str)) {
            true => own,
            false => of_key.unwrap_or_else(|| self.new_call(Some(&as_key(own.as_str())))),
        }
    }

    /// The same of a batch.
    pub(crate) fn batch_of_own(&self, own: BatchId, key: Option<&str>) -> BatchId {
        let of_key = key.map(|key| self.new_batch(Some(key)));
        match self.takes(own.as_str(), of_key.as_ref().map(BatchId::as_str)) {
            true => own,
            false => of_key.unwrap_or_else(|| self.new_batch(Some(&as_key(own.as_str())))),
        }
    }

    /// Whether what a caller calls `id` can lie here, and with `of_key`, the id that its key makes.
    fn takes(&self, id: &str, of_key: Option<&str>) -> bool {
        let place = |id: &str| self.shards.of_name(&self.tenant.scoped(id));
        match self.place {
            Some(wanted) => place(id) == wanted,
            None => of_key.is_none_or(|of_key| place(id) == place(of_key)),
        }
    }

    /// The id of a call without one of its own.
    pub(crate) fn new_call(&self, key: Option<&str>) -> InvocationId {
        let key = key.filter(|_| !mutant(Mutant::SkipDedupe));
        InvocationId::from_trusted(format!("inv_{}", self.made("inv_", key).simple()))
    }

    /// The id of the call at `index` of a batch.
    pub(crate) fn new_member(&self, batch: &BatchId, index: u32) -> InvocationId {
        InvocationId::from_trusted(format!("inv_{}", self.made("inv_", Some(&format!("{batch}\0{index}"))).simple()))
    }

    /// The id of a batch without one of its own.
    pub(crate) fn new_batch(&self, key: Option<&str>) -> BatchId {
        let text = key.map(|key| format!("batch\0{key}"));
        BatchId::from_trusted(format!("batch_{}", self.made("batch_", text.as_deref()).simple()))
    }

    fn made(&self, before: &str, text: Option<&str>) -> Uuid {
        let name = |id: &Uuid| self.tenant.scoped(format_args!("{before}{}", id.simple()));
        self.shards.made(self.place, name, |attempt| match text {
            // The first is what it was before there were shards.
            Some(text) if attempt == 0 => id_of(self.tenant, text),
            Some(text) => id_of(self.tenant, &format!("{text}\0\0{attempt}")),
            None => Uuid::now_v7(),
        })
    }
}

/// Every id that a call of this key can have: one in each shard, as its session may lie in any.
pub(crate) fn ids_of_key(shards: Shards, tenant: &TenantId, key: &str) -> Vec<InvocationId> {
    (0..shards.count()).map(|place| Home::at(shards, tenant, place).new_call(Some(key))).collect()
}

/// Every id that the call a caller calls `own` may have instead: none where there is one shard.
pub(crate) fn ids_of_own(shards: Shards, tenant: &TenantId, own: &str) -> Vec<InvocationId> {
    match shards.count() {
        1 => Vec::new(),
        _ => ids_of_key(shards, tenant, &as_key(own)),
    }
}

/// The same of a batch.
pub(crate) fn batches_of_own(shards: Shards, tenant: &TenantId, own: &str) -> Vec<BatchId> {
    match shards.count() {
        1 => Vec::new(),
        count => (0..count).map(|place| Home::at(shards, tenant, place).new_batch(Some(&as_key(own)))).collect(),
    }
}

/// A caller's id as a key: no key of a caller has such a character.
fn as_key(own: &str) -> String {
    format!("id\0{own}")
}

/// The id that `key` makes beside `call`, where that is another.
pub(crate) fn id_of_key(shards: Shards, call: &InvocationKey, key: &str) -> Option<InvocationKey> {
    let id = Home::at(shards, &call.tenant, shards.of_call(call)).new_call(Some(key));
    (id != call.id).then(|| InvocationKey::new(&call.tenant, &id))
}

/// The same of a batch.
pub(crate) fn batch_of_key(shards: Shards, tenant: &TenantId, batch: &BatchId, key: &str) -> Option<BatchId> {
    let place = shards.of_name(&tenant.scoped(batch));
    let id = Home::at(shards, tenant, place).new_batch(Some(key));
    (id != *batch).then_some(id)
}

/// An id made from a text: the same text of the same tenant, the same id.
fn id_of(tenant: &TenantId, text: &str) -> Uuid {
    Uuid::new_v5(&KEY_NAMESPACE, format!("{tenant}\0{text}").as_bytes())
}

/// One digest over several parts; lengths keep neighbouring parts apart.
pub(crate) fn digest_of(parts: &[impl AsRef<[u8]>]) -> Digest {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.as_ref().len() as u64).to_be_bytes());
        hash.update(part.as_ref());
    }
    Digest::from_bytes(hash.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(shards: usize, domain: Option<&str>) -> Home<'static> {
        static TENANT: std::sync::LazyLock<TenantId> = std::sync::LazyLock::new(|| TenantId::from_trusted("acme"));
        Home::of(Shards::new(shards), &TENANT, domain)
    }

    fn place(home: &Home<'_>, id: &InvocationId) -> usize {
        home.shards.of_call(&InvocationKey::new(home.tenant, id))
    }

    /// Ids of keys are what clients and stores of one shard already know.
    #[test]
    fn one_shard_gives_the_ids_it_always_gave() {
        let expected = format!("inv_{}", Uuid::new_v5(&KEY_NAMESPACE, b"acme\0k").simple());
        for domain in [None, Some("session:s")] {
            assert_eq!(of(1, domain).new_call(Some("k")).as_str(), expected);
        }
        assert_eq!(of(7, None).new_call(Some("k")).as_str(), expected, "any place will do");
        let batch = BatchId::from_trusted("batch_1");
        let expected = format!("inv_{}", Uuid::new_v5(&KEY_NAMESPACE, b"acme\0batch_1\x003").simple());
        assert_eq!(of(1, None).new_member(&batch, 3).as_str(), expected);
    }

    #[test]
    fn ids_lie_with_their_session_and_the_same_key_gives_the_same() {
        for session in 0..20 {
            let home = of(5, Some(&format!("session:{session}")));
            let wanted = home.place.unwrap();
            for id in [home.new_call(Some("k")), home.new_call(None), home.new_call(None)] {
                assert_eq!(place(&home, &id), wanted);
            }
            assert_eq!(home.new_call(Some("k")), home.new_call(Some("k")));
            assert!(ids_of_key(home.shards, home.tenant, "k").contains(&home.new_call(Some("k"))));
            // A batch lies with its session, and its calls with it.
            let batch = home.new_batch(Some("b"));
            let members = Home::of_batch(home.shards, home.tenant, &batch);
            assert_eq!(members.place, Some(wanted));
            assert_eq!(place(&home, &members.new_member(&batch, 2)), wanted);
            assert_eq!(of(5, Some(&format!("batch:{batch}"))).place, Some(wanted), "and so do the locks of its calls");
        }
    }

    #[test]
    fn an_id_lies_with_the_one_its_key_makes_or_gives_way_to_it() {
        let home = of(3, None);
        for number in 0..30 {
            let (id, of_key) = (format!("mine-{number}"), home.new_call(Some("k")));
            let call = InvocationKey::new(home.tenant, &InvocationId::from_trusted(&id));
            let found = id_of_key(home.shards, &call, "k").unwrap();
            assert_eq!(home.shards.of_call(&found), home.shards.of_call(&call));
            let given = InvocationId::from_trusted(&id);
            let call = home.call_of_own(given.clone(), Some("k"));
            assert_eq!(call, if found.id == of_key { given } else { of_key });
        }
        let own = InvocationKey::new(home.tenant, &home.new_call(Some("k")));
        assert_eq!(id_of_key(home.shards, &own, "k"), None, "it is its own");
    }

    #[test]
    fn a_chosen_id_lies_with_its_session_and_is_found_by_itself() {
        let mut taken = 0;
        for number in 0..30 {
            let own = InvocationId::from_trusted(format!("mine-{number}"));
            let home = of(2, Some("session:s"));
            let call = home.call_of_own(own.clone(), None);
            assert_eq!(place(&home, &call), home.place.unwrap());
            assert!(call == own || ids_of_own(home.shards, home.tenant, own.as_str()).contains(&call));
            assert_eq!(call, home.call_of_own(own.clone(), None), "each time");
            taken += usize::from(call == own);
            // Where its place says nothing, and where there is one, it stays.
            assert_eq!(of(2, None).call_of_own(own.clone(), None), own);
            assert_eq!(of(1, Some("session:s")).call_of_own(own.clone(), Some("k")), own);
            let batch = BatchId::from_trusted(format!("mine-{number}"));
            let made = home.batch_of_own(batch.clone(), None);
            assert!(made == batch || batches_of_own(home.shards, home.tenant, batch.as_str()).contains(&made));
        }
        assert!(taken > 0 && taken < 30, "{taken} of 30");
        assert!(ids_of_own(Shards::ONE, of(1, None).tenant, "mine").is_empty());
    }
}
