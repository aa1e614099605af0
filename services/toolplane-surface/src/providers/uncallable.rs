//! What providers keep from being called: their tools while they are away, which are shown with that, and those that are not shown, since no
//! call of them will be let through: tools of providers that are out of use, that a provider no longer has, or that wait for a person.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::watch;
use toolplane_catalog::{Traits, Uncallable, Why};
use toolplane_providers::Standing;
use toolplane_providers::names::of_tool_id;
use toolplane_records::codes;
use toolplane_records::ids::{ProviderId, TenantId, ToolId};
use toolplane_records::vocabulary::{CircuitState, HiddenReason};

use super::gate::stands;
use super::held::Held;
use crate::denied::mark;

/// What the providers of one tenant keep from being called. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct UncallableTools(
    /// Nothing where they keep nothing. The same one as long as it is the same.
    Option<Arc<Kept>>,
);

#[derive(Debug, Default, PartialEq, Eq)]
struct Kept {
    /// All tools of these.
    providers: BTreeMap<String, Provider>,
    tools: BTreeMap<ToolId, Why>,
    /// Stands for these: each answer about a surface has it.
    mark: u32,
}

/// A provider that keeps all of its tools, in words that stay the same as long as it does.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Provider {
    Retired(Why),
    Away(Uncallable),
}

impl Provider {
    fn of(held: &Held) -> Option<Self> {
        let id = &held.provider.provider_id;
        // Whether a call may try is a matter of the clock, and no news.
        match held.status.circuit {
            _ if held.is_retired() => Some(Self::Retired((
                HiddenReason::Retired,
                format!("is a tool of the provider `{id}`, which is retired"),
            ))),
            CircuitState::Closed => None,
            CircuitState::Open | CircuitState::HalfOpen => {
                let message = format!("the provider `{id}` is away: calls are refused until it answers again");
                Some(Self::Away(Uncallable { code: codes::PROVIDER_AWAY, message }))
            }
        }
    }

    fn word(&self) -> &str {
        match self {
            Self::Retired((reason, _)) => reason.as_str(),
            Self::Away(why) => why.code.as_str(),
        }
    }
}

impl Kept {
    fn marked(self) -> Self {
        let providers = self.providers.iter().map(|(id, why)| (id.as_str(), why.word()));
        let tools = self.tools.iter().map(|(id, (reason, _))| (id.as_str(), reason.as_str()));
        let mark = mark(providers.chain(tools).flat_map(|(id, word)| [id, word]));
        Self { mark, ..self }
    }
}

impl UncallableTools {
    /// Single tools that are not shown.
    pub(crate) fn withheld(&self) -> Option<&BTreeMap<ToolId, Why>> {
        self.0.as_ref().map(|kept| &kept.tools)
    }

    /// Why tools of these traits are not shown: their provider is out of use.
    pub(crate) fn retired(&self, traits: &Traits) -> Option<Why> {
        match self.provider(traits)? {
            Provider::Retired(why) => Some(why.clone()),
            Provider::Away(_) => None,
        }
    }

    /// Why no tool of these traits is called now: its provider is away.
    pub(crate) fn away(&self, traits: &Traits) -> Option<Uncallable> {
        match self.provider(traits)? {
            Provider::Away(why) => Some(why.clone()),
            Provider::Retired(_) => None,
        }
    }

    fn provider(&self, traits: &Traits) -> Option<&Provider> {
        self.0.as_ref()?.providers.get(traits.provider.as_deref()?)
    }

    /// Whether this is surely what `other` is.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }

    /// Stands for what this is: 0 where nothing is kept.
    pub(crate) fn mark(&self) -> u32 {
        self.0.as_ref().map_or(0, |kept| kept.mark)
    }

    /// The same where a provider is like this now; nothing where it was.
    fn with(&self, id: &ProviderId, held: Option<&Held>) -> Option<Self> {
        let before = self.0.as_deref();
        let others = |kept: &Kept| {
            let providers = kept.providers.iter().filter(|(provider, _)| *provider != id.as_str());
            let is_its = |tool: &ToolId| of_tool_id(tool).is_some_and(|(provider, _)| provider == *id);
            let tools = kept.tools.iter().filter(|(tool, _)| !is_its(tool));
            Kept { providers: of_each(providers), tools: of_each(tools), mark: 0 }
        };
        let mut kept = before.map(others).unwrap_or_default();
        if let Some(held) = held {
            kept.providers.extend(Provider::of(held).map(|why| (id.to_string(), why)));
            kept.tools.extend(some_of(held));
        }
        let is_nothing = kept == Kept::default();
        let kept = kept.marked();
        let is_new = before.map_or(!is_nothing, |before| *before != kept);
        is_new.then(|| Self((!is_nothing).then(|| Arc::new(kept))))
    }
}

fn of_each<'k, K: Clone + Ord + 'k, W: Clone + 'k>(kept: impl Iterator<Item = (&'k K, &'k W)>) -> BTreeMap<K, W> {
    kept.map(|(key, why)| (key.clone(), why.clone())).collect()
}

/// Tools of a provider in the catalog that are not called whether it is there or not.
fn some_of(held: &Held) -> impl Iterator<Item = (ToolId, Why)> {
    let in_catalog = held.tools.iter().filter(|(_, tool)| tool.registered.is_some());
    in_catalog.filter_map(|(id, tool)| Some((id.clone(), withheld(stands(held, Some(tool)))?)))
}

/// Why a tool that stands like this is not shown, if it is not.
fn withheld(standing: Standing) -> Option<Why> {
    let (reason, message) = match standing {
        Standing::Callable => return None,
        Standing::New | Standing::Changed => (HiddenReason::SetupRequired, "waits until somebody has looked at it"),
        Standing::Refused => (HiddenReason::SetupRequired, "cannot be called as its provider defines it now"),
        Standing::Rejected => (HiddenReason::PolicyBlocked, "was looked at and is not wanted"),
        Standing::Withdrawn => (HiddenReason::Retired, "is no tool of its provider any more"),
    };
    Some((reason, message.to_owned()))
}

/// What the providers of all tenants keep from being called.
#[derive(Debug, Default)]
pub(super) struct Uncallables(watch::Sender<BTreeMap<TenantId, UncallableTools>>);

/// Changes with what a provider of anybody keeps from being called.
pub(crate) type UncallableChanges = watch::Receiver<BTreeMap<TenantId, UncallableTools>>;

impl Uncallables {
    pub(super) fn of(&self, tenant: &TenantId) -> UncallableTools {
        self.0.borrow().get(tenant).cloned().unwrap_or_default()
    }

    pub(super) fn changes(&self) -> UncallableChanges {
        self.0.subscribe()
    }

    /// Says how a provider is now; that it is none any more.
    pub(super) fn tell(&self, tenant: &TenantId, id: &ProviderId, held: Option<&Held>) {
        self.0.send_if_modified(|all| {
            let before = all.get(tenant).cloned().unwrap_or_default();
            let Some(now) = before.with(id, held) else { return false };
            match now.0.is_some() {
                true => all.insert(tenant.clone(), now),
                false => all.remove(tenant),
            };
            true
        });
    }

    /// Says which providers there are now, in the place of all.
    pub(super) fn tell_all(&self, held: &BTreeMap<TenantId, BTreeMap<ProviderId, Arc<Held>>>) {
        let now = held.iter().map(|(tenant, own)| {
            let none = UncallableTools::default();
            (tenant.clone(), own.iter().fold(none, |all, (id, held)| all.with(id, Some(held)).unwrap_or(all)))
        });
        let now: BTreeMap<TenantId, UncallableTools> = now.filter(|(_, kept)| kept.0.is_some()).collect();
        self.0.send_if_modified(|all| {
            let before = std::mem::replace(all, now);
            !before
                .iter()
                .map(|(tenant, kept)| (tenant, &kept.0))
                .eq(all.iter().map(|(tenant, kept)| (tenant, &kept.0)))
        });
    }
}

#[cfg(test)]
mod tests {
    use toolplane_providers::health::{fresh, retired};
    use toolplane_records::time::Timestamp;

    use super::super::tests::provider;
    use super::*;

    fn held(tenant: &str, id: &str, circuit: CircuitState) -> Held {
        let provider = provider(tenant, id, None);
        let mut status = fresh(&provider, Timestamp::from_millis(0));
        status.circuit = circuit;
        Held { provider, status, version: 1, tools: BTreeMap::new() }
    }

    /// What a tenant's providers keep, in words.
    fn kept(all: &Uncallables, tenant: &str) -> Vec<String> {
        let own = all.of(&TenantId::from_trusted(tenant));
        let kept = own.0.as_ref().map(|kept| kept.providers.iter().map(|(id, why)| format!("{id} {}", why.word())));
        assert_eq!(own.mark() == 0, kept.is_none());
        kept.map(Iterator::collect).unwrap_or_default()
    }

    #[test]
    fn who_is_away_or_out_of_use_is_told_once_and_of_its_tenant() {
        use CircuitState::{Closed, HalfOpen, Open};
        let all = Uncallables::default();
        let mut changes = all.changes();
        let mut tell = |held: Held| {
            all.tell(&held.provider.tenant, &held.provider.provider_id, Some(&held));
            let is_told = changes.has_changed().unwrap();
            changes.mark_unchanged();
            is_told
        };
        assert!(!tell(held("acme", "a", Closed)) && kept(&all, "acme").is_empty());
        assert!(tell(held("acme", "a", Open)) && tell(held("acme", "b", Open)) && tell(held("other", "a", Open)));
        let before = all.of(&TenantId::from_trusted("acme"));
        assert!(!tell(held("acme", "a", HalfOpen)), "a call that tries is no news");
        assert!(before.is(&all.of(&TenantId::from_trusted("acme"))));
        assert_eq!(kept(&all, "acme"), ["a provider.away", "b provider.away"]);
        let gone = held("acme", "b", Open);
        assert!(tell(Held { status: retired(&gone.status), ..gone }));
        assert!(tell(held("acme", "a", Closed)));
        assert_eq!(
            (kept(&all, "acme"), kept(&all, "other")),
            (vec!["b retired".to_owned()], vec!["a provider.away".to_owned()])
        );
        all.tell_all(&BTreeMap::new());
        assert!(kept(&all, "acme").is_empty() && kept(&all, "other").is_empty());
    }
}
