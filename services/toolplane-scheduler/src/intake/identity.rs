//! Ids and digests that are made from what a caller said: the same request, the same call.
//!
//! Where the store has several shards, an id also says where its call lies. It is made again, by a counted rule, until it
//! lies with the session or lock domain of the call: so the same key within the same session is the same call.

use sha2::{Digest as _, Sha256};
use toolplane_faultpoint::{Mutant, mutant};
use toolplane_records::ids::{BatchId, InvocationId, TenantId};
use toolplane_records::payload::Digest;
use uuid::Uuid;

use super::fields::Fields;
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
    pub(super) fn of_batch(shards: Shards, tenant: &'a TenantId, batch: &BatchId) -> Self {
        Self { shards, tenant, place: Some(shards.of_name(&tenant.scoped(batch))) }
    }

    /// One of the shards.
    fn at(shards: Shards, tenant: &'a TenantId, place: usize) -> Self {
        Self { shards, tenant, place: Some(place) }
    }

    /// Names `field` when the id its caller chose lies elsewhere.
    pub(super) fn check(&self, field: &str, id: &str, fields: &mut Fields) {
        let place = self.shards.of_name(&self.tenant.scoped(id));
        if self.place.is_some_and(|wanted| wanted != place) {
            fields.add(
                field,
                "lies in another shard than its session, lock domain or batch: leave it out and give an `idempotency_key`",
            );
        }
    }

    /// The id of a call without one of its own.
    pub(crate) fn new_call(&self, key: Option<&str>) -> InvocationId {
        let key = key.filter(|_| !mutant(Mutant::SkipDedupe));
        InvocationId::from_trusted(format!("inv_{}", self.made("inv_", key).simple()))
    }

    /// The id of the call at `index` of a batch.
    pub(super) fn new_member(&self, batch: &BatchId, index: u32) -> InvocationId {
        InvocationId::from_trusted(format!("inv_{}", self.made("inv_", Some(&format!("{batch}\0{index}"))).simple()))
    }

    /// The id of a batch without one of its own.
    pub(super) fn new_batch(&self, key: Option<&str>) -> BatchId {
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

/// An id made from a text: the same text of the same tenant, the same id.
fn id_of(tenant: &TenantId, text: &str) -> Uuid {
    Uuid::new_v5(&KEY_NAMESPACE, format!("{tenant}\0{text}").as_bytes())
}

/// One digest over several parts; lengths keep neighbouring parts apart.
pub(super) fn digest_of(parts: &[impl AsRef<[u8]>]) -> Digest {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.as_ref().len() as u64).to_be_bytes());
        hash.update(part.as_ref());
    }
    Digest::from_bytes(hash.finalize().into())
}

#[cfg(test)]
mod tests {
    use toolplane_records::ids::InvocationKey;

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
    fn a_chosen_id_is_checked_where_its_place_matters() {
        let faults = |home: Home<'_>| {
            let mut fields = Fields::within("spec");
            (0..30).for_each(|number| home.check("invocation_id", &format!("mine-{number}"), &mut fields));
            fields.into_result().is_err()
        };
        assert!(faults(of(2, Some("session:s"))));
        assert!(!faults(of(2, None)) && !faults(of(1, Some("session:s"))));
    }
}
