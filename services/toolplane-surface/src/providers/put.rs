//! Making, changing and taking out providers.

use std::sync::Arc;

use serde_json::json;
use toolplane_providers::{check, counts, health};
use toolplane_records::error::FieldViolation;
use toolplane_records::ids::{ProviderId, TenantId};
use toolplane_records::provider::{Provider, ProviderDocument, ProviderSource, ProviderStatus};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::EventClass;
use toolplane_runtime::ApiError;

use super::Providers;
use super::change::Change;
use super::held::Held;
use super::take_in::state_fact;
use super::turn::there;
use crate::error::of_violations;
use crate::events::facts;

/// Most providers of one tenant that are in use.
const MAX_PROVIDERS: usize = 1_000;

/// What putting a provider does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Putting {
    Created,
    Changed,
    Unchanged,
}

impl Putting {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
        }
    }
}

impl Providers {
    /// Makes a provider, or changes it. With `dry_run`, only checks. Answered when schedulers know.
    pub(crate) async fn put(
        &self,
        provider: Provider,
        by: String,
        dry_run: bool,
    ) -> Result<(Provider, ProviderStatus, Putting), ApiError> {
        let (providers, asked) = (self.clone(), Arc::new((provider.clone(), by)));
        self.in_turn(&provider.tenant, &provider.provider_id, move |before| {
            let (providers, asked) = (providers.clone(), Arc::clone(&asked));
            Box::pin(async move { providers.put_once(before.as_deref(), &asked.0, &asked.1, dry_run).await })
        })
        .await
    }

    async fn put_once(
        &self,
        before: Option<&Held>,
        provider: &Provider,
        by: &str,
        dry_run: bool,
    ) -> Result<Option<(Provider, ProviderStatus, Putting)>, ApiError> {
        self.check(provider).await?;
        let now = self.registry.now().await?;
        let (after, status, putting) = put(before, provider, by, now);
        if dry_run || putting == Putting::Unchanged {
            return Ok(Some((after, status, putting)));
        }
        let data = json!({
            "change": putting.as_str(), "by": by, "revision": after.revision, "kind": after.source.kind(),
            "namespace": after.namespace, "trust": after.trust,
        });
        let facts = vec![(EventClass::ExtProviderChanged, facts(&data))];
        let change = Change { provider: after, status, tools: Vec::new(), facts, is_told: true };
        let made = self.change(before, change, now).await?;
        Ok(made.map(|made| (made.provider.clone(), made.status.clone(), putting)))
    }

    /// Takes a provider out of use; once more changes nothing. Answered when schedulers know.
    pub(crate) async fn remove(
        &self,
        tenant: TenantId,
        id: ProviderId,
        by: String,
        reason: String,
    ) -> Result<Arc<Held>, ApiError> {
        let (providers, own, said) = (self.clone(), id.clone(), Arc::new((by, reason)));
        self.in_turn(&tenant, &id, move |held| {
            let (providers, held, said) = (providers.clone(), there(held, &own), Arc::clone(&said));
            Box::pin(async move { providers.retire(held?, &said.0, &said.1).await })
        })
        .await
    }

    async fn retire(&self, held: Arc<Held>, by: &str, reason: &str) -> Result<Option<Arc<Held>>, ApiError> {
        if held.is_retired() {
            return Ok(Some(held));
        }
        let now = self.registry.now().await?;
        let status = health::retired(&held.status);
        let data = json!({ "change": "retired", "by": by, "reason": reason, "revision": held.provider.revision });
        let facts = vec![(EventClass::ExtProviderChanged, facts(&data)), state_fact(&status)];
        let change = Change { provider: held.provider.clone(), status, tools: Vec::new(), facts, is_told: true };
        self.change(Some(&held), change, now).await
    }

    async fn check(&self, provider: &Provider) -> Result<(), ApiError> {
        let mut faults = check::check(provider);
        let mut add = |field: &str, rule: String| {
            faults.push(FieldViolation { field: field.to_owned(), description: rule });
        };
        let others = self.shelf.of(&provider.tenant);
        let others =
            || others.iter().filter(|held| held.provider.provider_id != provider.provider_id && !held.is_retired());
        if let Some(other) = others().find(|held| held.provider.namespace == provider.namespace) {
            add("namespace", format!("is that of the provider `{}`", other.provider.provider_id));
        }
        if let Some(other) = others().find(|held| check::overlaps(&held.provider.source, &provider.source)) {
            let rule = format!("overlaps with that of the provider `{}`", other.provider.provider_id);
            add("source.native_prefix", rule);
        }
        if others().count() >= MAX_PROVIDERS {
            add("provider_id", format!("is one more than {MAX_PROVIDERS} providers"));
        }
        match &provider.source {
            ProviderSource::Openapi { document: ProviderDocument::Uploaded { digest }, .. }
                if !self.documents.has(&provider.tenant, digest).await? =>
            {
                add("source.document", format!("`{digest}` is not kept here: hand it in with UploadDocument"));
            }
            _ => {}
        }
        if faults.is_empty() {
            return Ok(());
        }
        faults.iter_mut().for_each(|fault| fault.field.insert_str(0, "provider."));
        Err(of_violations(faults))
    }
}

/// What a provider becomes, and how it is then.
fn put(before: Option<&Held>, wanted: &Provider, by: &str, now: Timestamp) -> (Provider, ProviderStatus, Putting) {
    let Some(before) = before else {
        let provider = Provider {
            created_by: by.to_owned(),
            created_at: now,
            changed_by: String::new(),
            changed_at: None,
            revision: 1,
            ..wanted.clone()
        };
        let status = health::fresh(&provider, now);
        return (provider, status, Putting::Created);
    };
    let old = &before.provider;
    // Taken into use again, it is that one's who does it: what the configuration made is taken out of use with its entry.
    let maker = if before.is_retired() { by } else { old.created_by.as_str() };
    let same = Provider {
        created_by: maker.to_owned(),
        created_at: old.created_at,
        changed_by: old.changed_by.clone(),
        changed_at: old.changed_at,
        revision: old.revision,
        schema_version: old.schema_version.clone(),
        ..wanted.clone()
    };
    if same == *old && !before.is_retired() {
        return (old.clone(), before.status.clone(), Putting::Unchanged);
    }
    let provider = Provider { changed_by: by.to_owned(), changed_at: Some(now), revision: old.revision + 1, ..same };
    let records = before.tools.values().map(|tool| &tool.record);
    let status = ProviderStatus { tools: counts(records, provider.trust), ..health::fresh(&provider, now) };
    (provider, status, if before.is_retired() { Putting::Created } else { Putting::Changed })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use toolplane_records::vocabulary::ProviderState;

    use super::super::tests::provider;
    use super::*;

    #[test]
    fn a_provider_is_that_ones_who_made_it_and_of_the_next_one_once_it_is_out_of_use() {
        let (wanted, now) = (provider("acme", "tools", None), Timestamp::from_millis(1));
        let (made, status, _) = put(None, &wanted, "ann", now);
        assert_eq!(made.created_by, "ann");
        let mut held = Held { provider: made, status, version: 1, tools: BTreeMap::new() };
        let changed = Provider { title: "x".to_owned(), ..wanted.clone() };
        let (provider, ..) = put(Some(&held), &changed, "bob", now);
        assert_eq!((provider.created_by.as_str(), provider.changed_by.as_str()), ("ann", "bob"));
        held.status.state = ProviderState::Retired;
        assert_eq!(put(Some(&held), &wanted, "bob", now).0.created_by, "bob");
    }
}
