//! How many streams follow calls: each costs memory and work with everything that happens, so there are only so many, and no
//! tenant takes all of them.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::{Stream, StreamExt};
use parking_lot::Mutex;
use toolplane_records::ids::TenantId;

use crate::error::CallError;

/// The streams of this process that follow calls.
#[derive(Debug)]
pub(crate) struct StreamLimit {
    most: usize,
    most_per_tenant: usize,
    open: Mutex<HashMap<TenantId, usize>>,
}

/// A stream's place; it is free again when this is dropped.
#[derive(Debug)]
pub(super) struct StreamPlace {
    limit: Arc<StreamLimit>,
    tenant: TenantId,
}

impl StreamLimit {
    /// At most `most` streams, and `most_per_tenant` of one tenant.
    pub(crate) fn new(most: usize, most_per_tenant: usize) -> Self {
        Self { most, most_per_tenant, open: Mutex::default() }
    }

    /// A place for one more stream of `tenant`.
    pub(super) fn admit(self: &Arc<Self>, tenant: &TenantId) -> Result<StreamPlace, CallError> {
        let mut open = self.open.lock();
        let (all, own) = (open.values().sum::<usize>(), open.get(tenant).copied().unwrap_or(0));
        if own >= self.most_per_tenant {
            return Err(CallError::TooManyWatchers { subject: format!("tenant/{tenant}"), most: self.most_per_tenant });
        }
        if all >= self.most {
            return Err(CallError::TooManyWatchers { subject: "scheduler".to_owned(), most: self.most });
        }
        open.insert(tenant.clone(), own + 1);
        drop(open);
        Ok(StreamPlace { limit: self.clone(), tenant: tenant.clone() })
    }
}

impl Drop for StreamPlace {
    fn drop(&mut self) {
        let mut open = self.limit.open.lock();
        match open.get_mut(&self.tenant) {
            Some(own) if *own > 1 => *own -= 1,
            _ => drop(open.remove(&self.tenant)),
        }
    }
}

/// `messages`, which keep `place` until they end or they are dropped.
pub(super) fn holding<T>(
    messages: impl Stream<Item = T> + Send + 'static,
    place: StreamPlace,
) -> std::pin::Pin<Box<dyn Stream<Item = T> + Send>>
where
    T: 'static,
{
    messages
        .map(move |message| {
            let _held = &place;
            message
        })
        .boxed()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(found: Result<StreamPlace, CallError>) -> String {
        match found {
            Err(CallError::TooManyWatchers { subject, most }) => format!("{subject} {most}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn no_tenant_takes_every_place_and_places_come_back() {
        let limit = Arc::new(StreamLimit::new(5, 3));
        let [a, b] = ["a", "b"].map(TenantId::from_trusted);
        let mut of_a: Vec<_> = (0..3).map(|_| limit.admit(&a).unwrap()).collect();
        assert_eq!(refused(limit.admit(&a)), "tenant/a 3");
        let of_b: Vec<_> = (0..2).map(|_| limit.admit(&b).unwrap()).collect();
        assert_eq!(refused(limit.admit(&b)), "scheduler 5");
        of_a.pop();
        drop(limit.admit(&b).unwrap());
        drop((of_a, of_b));
        assert!(limit.open.lock().is_empty(), "a tenant that watches nothing costs nothing");
    }

    #[tokio::test]
    async fn a_stream_gives_its_place_back_when_it_is_dropped() {
        let limit = Arc::new(StreamLimit::new(1, 1));
        let tenant = TenantId::unauthenticated();
        let place = limit.admit(&tenant).unwrap();
        let mut messages = holding(futures_util::stream::iter([1, 2, 3]), place);
        assert_eq!(messages.next().await, Some(1));
        assert_eq!(refused(limit.admit(&tenant)), "tenant/default 1");
        drop(messages);
        limit.admit(&tenant).unwrap();
    }
}
