//! Ids and digests that are made from what a caller said: the same request, the same call.

use sha2::{Digest as _, Sha256};
use toolplane_faultpoint::{Mutant, mutant};
use toolplane_records::ids::{InvocationId, TenantId};
use toolplane_records::payload::Digest;
use uuid::Uuid;

/// The namespace of ids made from idempotency keys.
const KEY_NAMESPACE: Uuid = Uuid::from_u128(0x7f0c_9a52_6d1b_4e0e_9f6e_2a1d_0b7c_51e4);

/// The id of a call without one of its own.
pub(crate) fn new_id(tenant: &TenantId, key: Option<&str>) -> InvocationId {
    let id = match key {
        Some(key) if !mutant(Mutant::SkipDedupe) => id_of(tenant, key),
        _ => Uuid::now_v7(),
    };
    InvocationId::from_trusted(format!("inv_{}", id.simple()))
}

/// An id made from a text: the same text of the same tenant, the same id.
pub(super) fn id_of(tenant: &TenantId, text: &str) -> Uuid {
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
