//! Taking in what a provider says it has.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;
use toolplane_catalog::Registration;
use toolplane_metrics::{names, table};
use toolplane_providers::health::{self, Jitter, Policy};
use toolplane_providers::review::{self, Tool};
use toolplane_providers::{Difference, Listing, Outcome, counts, difference};
use toolplane_records::ids::{ProviderId, TenantId, ToolId};
use toolplane_records::payload::JsonPayload;
use toolplane_records::provider::{FaultReport, ProvidedTool, ProviderStatus, ToolRefusal};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{EventClass, RefusalCode, ReviewState};
use toolplane_runtime::ApiError;

use super::Providers;
use super::change::{Change, PutTool, ToolChange};
use super::enter::Entered;
use super::held::Held;
use super::look::{Look, ServerSaid};
use super::turn::{Try, there};
use crate::events::facts;

/// Most tools each list of an event names.
const NAMED: usize = 100;

/// What a look at a provider came to.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    /// The provider from then on; as it was, when nothing was to be changed.
    pub(crate) held: Arc<Held>,
    /// What has changed; nothing when the provider did not say what it has.
    pub(crate) difference: Option<Arc<Difference>>,
    /// What is known of the tools that are known in another way then.
    pub(crate) records: Arc<Vec<ProvidedTool>>,
    /// What went wrong with this look.
    pub(crate) fault: Option<FaultReport>,
}

/// Takes in what a look at a provider came to. With `dry_run`, only says what would change. Answered when schedulers know.
pub(super) async fn take_in(
    providers: &Providers,
    (tenant, id): (&TenantId, &ProviderId),
    look: Look,
    policy: Policy,
    now: Timestamp,
    dry_run: bool,
) -> Result<Taken, ApiError> {
    let outcome = if look.listing().is_some() { "answered" } else { "failed" };
    table::PROVIDER_TRIES.add([names::PROVIDERS.name(id.as_str()), outcome], 1);
    let (own, by, look) = (id.clone(), providers.clone(), Arc::new((look, policy)));
    let take = move |held: Option<Arc<Held>>| -> Try<Taken> {
        let (providers, held, look) = (by.clone(), there(held, &own), Arc::clone(&look));
        Box::pin(async move {
            let taking = Taking { providers: &providers, held: held?, look: &look.0, policy: &look.1, now };
            if dry_run { Ok(Some(taking.looked())) } else { taking.done().await }
        })
    };
    providers.in_turn(tenant, id, take).await
}

/// What would change by a look at a provider that need not be stored.
pub(super) fn would_take_in(
    providers: &Providers,
    held: Arc<Held>,
    look: &Look,
    policy: &Policy,
    now: Timestamp,
) -> Taken {
    Taking { providers, held, look, policy, now }.looked()
}

struct Taking<'a> {
    providers: &'a Providers,
    held: Arc<Held>,
    look: &'a Look,
    policy: &'a Policy,
    now: Timestamp,
}

impl Taking<'_> {
    fn fault(&self) -> Option<FaultReport> {
        let Outcome::Badly { fault, message } = self.look.outcome() else { return None };
        let message = message.chars().take(health::MAX_MESSAGE).collect();
        Some(FaultReport { code: fault, message, at: self.now })
    }

    /// What would change.
    fn looked(&self) -> Taken {
        let (known, provider) = (self.providers.known(&self.held), &self.held.provider);
        let difference = self.look.listing().map(|listing| difference(&known, listing));
        let records = difference.as_ref().map(|difference| difference.records(provider, &known, self.now));
        Taken {
            held: Arc::clone(&self.held),
            difference: difference.map(Arc::new),
            records: Arc::new(records.unwrap_or_default()),
            fault: self.fault(),
        }
    }

    /// Takes it in; nothing when another process was faster.
    async fn done(&self) -> Result<Option<Taken>, ApiError> {
        let Taken { difference, records, fault, .. } = self.looked();
        let Some((listing, difference)) = self.look.listing().zip(difference) else {
            let held = self.changed(Vec::new(), Vec::new(), None).await?;
            return Ok(held.map(|held| Taken { held, difference: None, records: Arc::default(), fault }));
        };
        let mut records: BTreeMap<ToolId, ProvidedTool> =
            records.iter().map(|record| (record.tool_id.clone(), record.clone())).collect();
        let entered = self.enter(listing, &records).await?;
        for (tool_id, why) in &entered.refused {
            let known = self.held.tools.get(tool_id).map(|tool| &tool.record);
            let native_id = match (records.get(tool_id), known.and_then(|record| record.read())) {
                (Some(record), _) | (None, Some(record)) => record.native_id.clone(),
                (None, None) => continue,
            };
            let tool = Tool::new(&self.held.provider, tool_id, &native_id);
            let refusal = ToolRefusal { code: RefusalCode::NameTaken, reason: why.clone() };
            records.insert(tool_id.clone(), review::refused(known, tool, &refusal, self.now));
        }
        let told = told(&difference, &records);
        let changes = self.tool_changes(listing, &records, &entered);
        let held = self.changed(changes, told, Some(listing)).await?;
        Ok(held.map(|held| Taken {
            held,
            difference: Some(difference),
            records: Arc::new(records.into_values().collect()),
            fault: None,
        }))
    }

    /// Enters what may be called and is not in the catalogue as it was approved.
    async fn enter(&self, listing: &Listing, records: &BTreeMap<ToolId, ProvidedTool>) -> Result<Entered, ApiError> {
        let mut wanted: Vec<Arc<Registration>> = Vec::new();
        {
            let owner = self.providers.owner(&self.held);
            let catalog = owner.catalog.read();
            let approved = |tool_id: &ToolId| {
                let after = records.get(tool_id);
                let before = self.held.tools.get(tool_id).and_then(|tool| tool.record.read());
                after.or(before).is_some_and(|record| record.state == ReviewState::Approved)
            };
            let is_there = |tool_id: &ToolId| {
                let known = self.held.tools.get(tool_id);
                let registered = known.and_then(|tool| tool.registered);
                registered.is_some() && catalog.get(tool_id).map(|entry| entry.tool.digest()) == registered
            };
            let same = |tool_id: &ToolId| {
                let before = self.held.tools.get(tool_id).and_then(|tool| tool.record.read());
                before.is_some_and(|before| {
                    before.digest == listing.definition(tool_id).map(|definition| definition.digest)
                })
            };
            for tool_id in listing.tool_ids() {
                if approved(tool_id)
                    && !(same(tool_id) && is_there(tool_id))
                    && let Some(definition) = listing.definition(tool_id)
                {
                    wanted.push(Arc::clone(&definition.registration));
                }
            }
        }
        self.providers.enter(&self.held.provider.tenant, wanted).await
    }

    fn tool_changes(
        &self,
        listing: &Listing,
        records: &BTreeMap<ToolId, ProvidedTool>,
        entered: &Entered,
    ) -> Vec<ToolChange> {
        let known = |tool_id: &ToolId| self.held.tools.get(tool_id);
        let mut changes = Vec::new();
        for (tool_id, record) in records {
            if review::may_be_forgotten(record) {
                if known(tool_id).is_some() {
                    changes.push(ToolChange::Forget(tool_id.clone()));
                }
                continue;
            }
            let before = known(tool_id).and_then(|tool| tool.registered);
            let registered = entered.registered.get(tool_id).copied().or(before);
            let waits = matches!(record.state, ReviewState::New | ReviewState::Changed | ReviewState::Rejected);
            let definition = listing.definition(tool_id).filter(|_| waits);
            let definition = definition.map(|definition| Arc::clone(&definition.registration));
            changes.push(ToolChange::Put(Box::new(PutTool { tool: record.clone(), registered, definition })));
        }
        // Entered anew without another record: the catalogue did not have it as it was approved.
        for (tool_id, digest) in entered.registered.iter().filter(|(tool_id, _)| !records.contains_key(*tool_id)) {
            if let Some(record) = known(tool_id).and_then(|tool| tool.record.read()) {
                let put = PutTool { tool: record.clone(), registered: Some(*digest), definition: None };
                changes.push(ToolChange::Put(Box::new(put)));
            }
        }
        changes
    }

    async fn changed(
        &self,
        tools: Vec<ToolChange>,
        mut told: Vec<(EventClass, JsonPayload)>,
        listing: Option<&Listing>,
    ) -> Result<Option<Arc<Held>>, ApiError> {
        let Held { provider, status: before, .. } = &*self.held;
        let mut status =
            self.policy.tried(before, &self.look.outcome(), provider.refresh_interval_ms, self.now, jitter());
        status.tools = self.counted(&tools);
        if let Some(listing) = listing {
            status.list_digest = Some(listing.digest());
            let ServerSaid { name, version, protocol } = self.look.server();
            (status.server_name, status.server_version, status.protocol_version) = (name, version, protocol);
        }
        let is_told = !tools.is_empty()
            || (before.state, before.circuit, before.tools) != (status.state, status.circuit, status.tools);
        if (before.state, before.circuit) != (status.state, status.circuit) {
            told.push(state_fact(&status));
        }
        let change = Change { provider: provider.clone(), status, tools, facts: told, is_told };
        self.providers.change(Some(&self.held), change, self.now).await
    }

    fn counted(&self, changes: &[ToolChange]) -> toolplane_records::provider::ToolCounts {
        let mut records: BTreeMap<&ToolId, toolplane_providers::Record> =
            self.held.tools.iter().map(|(tool_id, tool)| (tool_id, tool.record.clone())).collect();
        for change in changes {
            match change {
                ToolChange::Put(put) => drop(records.insert(&put.tool.tool_id, put.tool.clone().into())),
                ToolChange::Forget(tool_id) => drop(records.remove(tool_id)),
            }
        }
        counts(records.values(), self.held.provider.trust)
    }
}

/// How a provider is, for its log.
pub(super) fn state_fact(status: &ProviderStatus) -> (EventClass, JsonPayload) {
    let fault = status.fault.as_ref().map(|fault| fault.code);
    let data = json!({
        "state": status.state, "circuit": status.circuit, "fault": fault, "next_try_at": status.next_try_at,
        "consecutive_failures": status.consecutive_failures,
    });
    (EventClass::ExtProviderState, facts(&data))
}

/// A difference for the provider's log; nothing when there is none.
fn told(difference: &Difference, records: &BTreeMap<ToolId, ProvidedTool>) -> Vec<(EventClass, JsonPayload)> {
    if records.is_empty() {
        return Vec::new();
    }
    let state = |tool_id: &ToolId| records.get(tool_id).map(|record| record.state);
    let one = |tool_id: &ToolId, digest| json!({ "tool_id": tool_id, "digest": digest, "state": state(tool_id) });
    let added: Vec<_> =
        difference.added.iter().take(NAMED).map(|added| one(&added.tool_id, added.definition.digest)).collect();
    let changed: Vec<_> =
        difference.changed.iter().take(NAMED).map(|changed| one(&changed.tool_id, changed.definition.digest)).collect();
    let refused: Vec<_> = difference
        .refused
        .iter()
        .take(NAMED)
        .map(|refused| json!({ "tool_id": refused.tool_id, "code": refused.refusal.code }))
        .collect();
    let withdrawn: Vec<&ToolId> = difference.withdrawn.iter().take(NAMED).collect();
    let counts = json!({
        "added": difference.added.len(), "changed": difference.changed.len(), "unchanged": difference.unchanged.len(),
        "withdrawn": difference.withdrawn.len(), "refused": difference.refused.len(),
    });
    let data = json!({
        "counts": counts, "added": added, "changed": changed, "withdrawn": withdrawn, "refused": refused,
        "list_digest": difference.list_digest,
    });
    vec![(EventClass::ExtProviderListed, facts(&data))]
}

/// Chance.
pub(super) fn jitter() -> Jitter {
    let random = uuid::Uuid::new_v4().as_u128() & u128::from(u32::MAX);
    Jitter(u32::try_from(random).unwrap_or_default())
}
