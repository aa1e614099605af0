//! Which locks a call needs, and where they apply.

use toolplane_lifecycle::locks::of_context;
use toolplane_proto::v1;
use toolplane_records::SmolStr;
use toolplane_records::batch::BatchPlace;
use toolplane_records::invocation::{InputSafety, Invocation};
use toolplane_records::scheduling::ResourceLock;
use toolplane_records::vocabulary::LockMode;

use super::fields::Fields;

/// Longest name of a lock, a lock domain or a session, in bytes.
pub(super) const MAX_NAME: usize = 200;
/// The domain of locks without any narrower place: they hold in the whole tenant.
const TENANT: &str = "tenant";
/// Most locks of one list.
const MAX_LOCKS: usize = 16;

/// Reads the locks in `field`.
pub(super) fn read(field: &str, locks: Vec<v1::ResourceLock>, fields: &mut Fields) -> Vec<ResourceLock> {
    if locks.len() > MAX_LOCKS {
        fields.add(field, format!("must have at most {MAX_LOCKS} entries"));
        return Vec::new();
    }
    let mut read = Vec::new();
    for (index, lock) in locks.into_iter().enumerate() {
        let place = format!("{field}[{index}]");
        if lock.key.is_empty() {
            fields.add(&format!("{place}.key"), "must be given");
        }
        let key = fields.short_text(&format!("{place}.key"), lock.key.clone(), MAX_NAME);
        let converted = ResourceLock::try_from(lock)
            .map_err(|error| fields.add(&format!("{place}.{}", error.field), error.rule))
            .ok();
        if let (Some(_), Some(lock)) = (key, converted) {
            read.push(lock);
        }
    }
    merge(read)
}

/// The same locks with each key once; where one of several is exclusive, all of them are.
pub(super) fn merge(mut locks: Vec<ResourceLock>) -> Vec<ResourceLock> {
    locks.sort_by(|a, b| a.key.cmp(&b.key).then_with(|| is_shared(a).cmp(&is_shared(b))));
    locks.dedup_by(|later, earlier| later.key == earlier.key);
    locks
}

fn is_shared(lock: &ResourceLock) -> bool {
    lock.mode == LockMode::Shared
}

/// Where the locks of a call apply: where its caller says, else in its session, else in its batch.
fn domain(asked: Option<&str>, session: Option<&str>, batch: Option<&BatchPlace>) -> Option<SmolStr> {
    asked
        .map(SmolStr::from)
        .or_else(|| session.map(|session| format!("session:{session}").into()))
        .or_else(|| batch.map(|place| format!("batch:{}", place.batch_id).into()))
}

/// The domain a call of its own has, before anything is known of its tool; one in a batch has that of the batch. See [`of_call`].
pub(super) fn domain_of_call(asked: Option<&str>, session: Option<&str>, locks: &[ResourceLock]) -> Option<SmolStr> {
    domain(asked, session, None).or_else(|| (!locks.is_empty()).then(|| TENANT.into()))
}

/// The domain the calls of a batch have.
pub(super) fn domain_of_batch(asked: Option<&str>, session: Option<&str>) -> Option<SmolStr> {
    domain(asked, session, None)
}

/// The locks of a call and their domain: those asked for, and the one of the context it shares with the others of its
/// session, batch or domain. A call on its own takes no lock it did not ask for.
pub(super) fn of_call(
    asked: &[ResourceLock],
    lock_domain: Option<&str>,
    session: Option<&str>,
    batch: Option<&BatchPlace>,
    safety: InputSafety,
) -> (Vec<ResourceLock>, Option<SmolStr>) {
    let barges = toolplane_faultpoint::mutant(toolplane_faultpoint::Mutant::BargeLock);
    let mut locks = if barges { Vec::new() } else { asked.to_vec() };
    let domain = domain(lock_domain, session, batch);
    if domain.is_some() {
        locks.push(of_context(safety));
    }
    let locks = merge(locks);
    match (locks.is_empty(), domain) {
        (true, domain) => (locks, domain),
        (false, Some(domain)) => (locks, Some(domain)),
        // Locks without any narrower place hold in the whole tenant.
        (false, None) => (locks, Some(TENANT.into())),
    }
}

/// The locks of an accepted call for other facts about its input, and where they apply. None it had is given up.
pub(crate) fn locks_again(record: &Invocation, safety: InputSafety) -> (Vec<ResourceLock>, Option<SmolStr>) {
    let domain = record.lock_domain.as_deref();
    of_call(&record.resource_locks, domain, record.session_ref.as_deref(), record.batch.as_ref(), safety)
}

#[cfg(test)]
mod tests {
    use toolplane_records::ids::BatchId;

    use super::*;

    fn lock(key: &str, mode: LockMode) -> ResourceLock {
        ResourceLock { key: key.to_owned(), mode }
    }

    const SAFE: InputSafety = InputSafety {
        is_read_only: true,
        is_concurrency_safe: true,
        is_destructive: false,
        is_open_world: false,
        is_idempotent: true,
        requires_exclusive_context: false,
    };
    const ALONE: InputSafety = InputSafety { requires_exclusive_context: true, is_concurrency_safe: false, ..SAFE };

    #[test]
    fn a_key_is_locked_once_and_the_stronger_way() {
        let (shared, exclusive) = (lock("a", LockMode::Shared), lock("a", LockMode::Exclusive));
        for order in [[shared.clone(), exclusive.clone()], [exclusive.clone(), shared.clone()]] {
            assert_eq!(merge(order.to_vec()), std::slice::from_ref(&exclusive));
        }
        assert_eq!(merge(vec![shared.clone(), shared.clone()]), [shared]);
    }

    #[test]
    fn the_narrowest_place_that_is_known_is_the_domain() {
        let place = BatchPlace { batch_id: BatchId::from_trusted("batch_1"), index: 0 };
        let alone = [lock("context", LockMode::Exclusive)];
        let beside = [lock("context", LockMode::Shared)];
        let table = [
            (Some("d"), Some("s"), Some(&place), "d"),
            (None, Some("s"), Some(&place), "session:s"),
            (None, None, Some(&place), "batch:batch_1"),
        ];
        for (asked, session, batch, expected) in table {
            let (locks, found) = of_call(&[], asked, session, batch, ALONE);
            assert_eq!((&locks[..], found.as_deref()), (&alone[..], Some(expected)));
            let (locks, found) = of_call(&[], asked, session, batch, SAFE);
            assert_eq!((&locks[..], found.as_deref()), (&beside[..], Some(expected)));
        }
    }

    #[test]
    fn a_call_on_its_own_locks_only_what_it_asks_for_and_in_the_whole_tenant() {
        for safety in [ALONE, SAFE] {
            assert_eq!(of_call(&[], None, None, None, safety), (vec![], None));
        }
        let asked = [lock("db", LockMode::Shared)];
        let expected = (asked.to_vec(), Some("tenant".into()));
        assert_eq!(of_call(&asked, None, None, None, ALONE), expected);
    }
}
