//! Calls and batches stored under their bare ids, as all were before ids belonged to tenants, are moved under the names they
//! have now when a store is opened. Those of the tenant of unauthenticated callers have the name they always had.
//!
//! Each call is moved in one commit that is lost if anything about it changed meanwhile: several schedulers may do it at the
//! same time, and one that dies half way leaves the rest to the next.

use bytes::Bytes;
use toolplane_records::batch::Batch;
use toolplane_records::ids::{InvocationKey, TenantId};
use toolplane_records::invocation::Invocation;
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::StartGuard;
use toolplane_results::PayloadStore;
use toolplane_store::{Append, Commit, Expect, Family, RecordKey, Versioned};

use crate::calls::{CachedCall, Calls, places_of};
use crate::groups::batch_names;
use crate::storage::commit::{Builder, score};
use crate::storage::{RecordError, Written, keys};

/// Records read at once.
const PAGE: usize = 256;

/// Whose a record is.
#[derive(serde::Deserialize)]
struct Owner {
    tenant: TenantId,
}

impl Owner {
    fn is_named(&self) -> bool {
        !self.tenant.is_unauthenticated()
    }
}

/// Says that every record of the store is under its tenant's name.
fn done_mark() -> RecordKey {
    RecordKey::new(Family::Meta, "names-by-tenant")
}

/// Moves what an earlier version stored.
pub(crate) struct Migration<'a> {
    calls: &'a Calls,
    objects: &'a PayloadStore,
}

impl<'a> Migration<'a> {
    /// A migration of `calls`, and of the guards of their starts in `objects`.
    pub(crate) fn new(calls: &'a Calls, objects: &'a PayloadStore) -> Self {
        Self { calls, objects }
    }

    /// Moves what is stored under bare ids, unless that was done before. Returns an error when the store does.
    pub(crate) async fn name_by_tenant(&self, now: Timestamp) -> Result<(), RecordError> {
        if self.calls.storage().get(&done_mark()).await?.is_some() {
            return Ok(());
        }
        let (mut moved, mut left) = (0_usize, 0_usize);
        for family in [Family::Invocation, Family::Batch] {
            let mut after: Option<String> = None;
            loop {
                let page = self.calls.storage().keys(family, after.as_deref(), PAGE).await?;
                for (name, stored) in &page {
                    let change = match family {
                        Family::Batch => rename_batch(name, stored)?,
                        _ => self.rename_call(name, stored, now).await?,
                    };
                    let Some(commit) = change else { continue };
                    match self.calls.storage().write(commit).await? {
                        Written::Applied => moved += 1,
                        _ => left += 1,
                    }
                }
                match page.last() {
                    Some((last, _)) if page.len() == PAGE => after = Some(last.clone()),
                    _ => break,
                }
            }
        }
        if moved > 0 {
            tracing::info!(moved, left, "calls and batches of an earlier version are stored under their tenants now");
        }
        // What another process changed just now is moved with the next start, if that did not do it.
        if left == 0 {
            let mut builder = Builder::default();
            builder.put(done_mark(), Bytes::from_static(b"{}"));
            self.calls.storage().write(builder.done(true)).await?;
        }
        Ok(())
    }

    /// The commit that moves the call stored as `name`; nothing when it is where it belongs, or cannot be read.
    async fn rename_call(&self, name: &str, stored: &Versioned, now: Timestamp) -> Result<Option<Commit>, RecordError> {
        // Nearly every record is where it belongs: not all of it has to be read to see that.
        let owner = toolplane_records::stored::read::<Owner>(&stored.bytes);
        if !owner.is_ok_and(|owner| owner.is_named()) {
            return Ok(None);
        }
        let Ok(call) = CachedCall::read(stored) else { return Ok(None) };
        let record = &*call.record;
        let (bare, key) = (bare(&record.invocation_id), record.key());
        if bare.to_string() != name || key == bare {
            return Ok(None);
        }
        let mut builder = Builder::default();
        builder.compare(keys::invocation(&bare), Expect::Version(stored.version));
        builder.compare(keys::invocation(&key), Expect::Absent);
        for (from, to) in self.records_of(record, &bare, &key).await? {
            if let Some(stored) = self.calls.storage().get(&from).await? {
                builder.put(to, stored.bytes);
                builder.delete(from);
            }
        }
        self.rename_places(&mut builder, record, &bare, &key, now).await?;
        if record.dispatch.as_ref().is_some_and(|dispatch| dispatch.start_guard == StartGuard::Object) {
            self.objects.carry_start(&bare, &key).await?;
        }
        let events: Vec<Bytes> = self.events_of(&bare).await?;
        let mut commit = builder.done(true);
        if !events.is_empty() {
            commit.forget.push(keys::stream(&bare));
            commit.events.push(Append { stream: keys::stream(&key), first_seq: 1, events });
        }
        Ok(Some(commit))
    }

    /// Every record that belongs to the call: where it is, and where it belongs.
    async fn records_of(
        &self,
        record: &Invocation,
        bare: &InvocationKey,
        key: &InvocationKey,
    ) -> Result<Vec<(RecordKey, RecordKey)>, RecordError> {
        let both = |name: &dyn Fn(&InvocationKey) -> RecordKey| (name(bare), name(key));
        let mut moves = vec![both(&keys::invocation), both(&keys::result), both(&keys::facts)];
        for decision in &record.permission_decision_refs {
            moves.push(both(&|call| keys::decision(&call.tenant, decision.as_str())));
        }
        for hook_ref in &record.hook_refs {
            moves.push(both(&|call| keys::hook(&call.tenant, hook_ref)));
        }
        let inputs = &record.inputs;
        let optional = [&inputs.observable, &inputs.permission, &inputs.call].into_iter().flatten();
        for input in std::iter::once(&inputs.model).chain(optional) {
            moves.push(both(&|call| keys::payload(call, &input.digest)));
        }
        for mutation in self.calls.records().mutations_of(bare).await? {
            for uri in [&mutation.from_input_ref, &mutation.to_input_ref] {
                let places = keys::input_at(&bare.tenant, uri).zip(keys::input_at(&key.tenant, uri));
                moves.extend(places);
            }
        }
        moves.sort();
        moves.dedup();
        Ok(moves)
    }

    /// Moves the entries of the call in every index.
    async fn rename_places(
        &self,
        builder: &mut Builder,
        record: &Invocation,
        bare: &InvocationKey,
        key: &InvocationKey,
        now: Timestamp,
    ) -> Result<(), RecordError> {
        let created = score(record.created_at);
        let mut places = vec![(keys::listing(&record.tenant), created)];
        match record.ended_at {
            Some(ended_at) => places.push((keys::ENDED.to_owned(), score(ended_at))),
            None => {
                places.push((keys::LIVING.to_owned(), created));
                let queue = self.calls.queue_of(record).await?;
                let expected = places_of(record, queue.as_ref(), now);
                places.extend(expected.into_iter().map(|one| (one.index.clone(), one.score(record))));
            }
        }
        for timer in toolplane_lifecycle::Timer::ALL {
            builder.leave(keys::timers(*timer), bare.to_string());
        }
        for (index, score) in places {
            builder.leave(index.clone(), bare.to_string());
            builder.enter(index, key.to_string(), score);
        }
        // Whether there was a wish to settle is not known: one more does no harm.
        for scope in toolplane_lifecycle::scopes_of(record) {
            builder.enter(keys::coordination(&scope), key.to_string(), created);
        }
        for index in self.calls.storage().indexes(keys::COORDINATION).await? {
            builder.leave(index, bare.to_string());
        }
        Ok(())
    }

    async fn events_of(&self, call: &InvocationKey) -> Result<Vec<Bytes>, RecordError> {
        let mut events = Vec::new();
        loop {
            let page = self.calls.storage().events(&keys::stream(call), events.len() as u64 + 1, PAGE).await?;
            let read = page.events.len();
            events.extend(page.events.into_iter().map(|(_, bytes)| bytes));
            if read == 0 || events.len() as u64 >= page.head_seq {
                return Ok(events);
            }
        }
    }
}

/// The call of this id as the tenant of unauthenticated callers has it, and as every tenant had it before.
fn bare(id: &toolplane_records::ids::InvocationId) -> InvocationKey {
    InvocationKey::new(&TenantId::unauthenticated(), id)
}

/// The commit that moves the batch stored as `name`; nothing when it is where it belongs, or cannot be read.
fn rename_batch(name: &str, stored: &Versioned) -> Result<Option<Commit>, RecordError> {
    let Ok(batch) = serde_json::from_slice::<Batch>(&stored.bytes) else { return Ok(None) };
    let names = batch_names(&batch);
    if batch.batch_id.as_str() != name || names.member == name {
        return Ok(None);
    }
    let (from, to) = (RecordKey::new(Family::Batch, name), RecordKey::new(Family::Batch, names.member.as_str()));
    let mut builder = Builder::default();
    builder.compare(from.clone(), Expect::Version(stored.version));
    builder.compare(to.clone(), Expect::Absent);
    builder.put(to, stored.bytes.clone());
    builder.delete(from);
    for (index, score) in names.places {
        builder.leave(index.clone(), name);
        builder.enter(index, names.member.clone(), score);
    }
    Ok(Some(builder.done(true)))
}
