//! Finding tools in a surface, and what a name means there.

use std::sync::Arc;

use serde_json::json;
use toolplane_catalog::catalog::CatalogEntry;
use toolplane_catalog::search::{Answer, Question, Seen, search};
use toolplane_catalog::{
    Catalog, Effort, Meant, Moment, NameIndex, NotChosen, Resolution, ScopeRules, Shortage, Unloaded, resolve,
    resolve_at, said_above, similar_in,
};
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::ids::{SurfaceId, TenantId, ToolId};
use toolplane_records::payload::Digest;
use toolplane_records::search::SearchResult;
use toolplane_records::surface::{HiddenTool, LoadedTool};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{HiddenReason, LoadingState};
use toolplane_runtime::ApiError;

use super::found::Find;
use crate::cache::Held;
use crate::events::facts;
use crate::providers::Passage;
use crate::registry::Registry;
use crate::view::View;

/// What a name means in a surface.
#[derive(Debug)]
pub(crate) enum Meaning {
    /// A tool that can be called.
    Callable(CatalogEntry, LoadedTool),
    /// Nothing that can be called.
    Refused(Refusal),
}

/// Why a name cannot be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RefusalKind {
    Unknown,
    NotLoaded,
    Blocked,
    Excluded,
    Retired,
    Changed,
    /// The caller goes by a moment at which it had another name.
    Renamed,
    /// The caller goes by a moment at which it was not there.
    Later,
    /// The surface lets nothing be called.
    NoCalls,
    /// What the surface says about choosing leaves it out.
    NotChosen,
    /// The caller names no moment, and the surface wants one.
    NoMoment,
    /// Its provider, or that nobody has looked at it.
    Provider,
}

/// Why a name cannot be called, and what would help.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) kind: RefusalKind,
    pub(crate) reason: Option<HiddenReason>,
    pub(crate) message: String,
    pub(crate) tool_id: Option<ToolId>,
    pub(crate) similar: Vec<String>,
    /// What a caller is told, where it is the provider or a rule that keeps the tool from being called.
    pub(crate) error: Option<ToolError>,
    /// What it lacks of the budget, where it was to be loaded.
    pub(crate) shortage: Option<Shortage>,
}

impl Refusal {
    /// Of a tool that is known.
    fn of_tool(kind: RefusalKind, tool_id: &ToolId, message: String) -> Self {
        let (tool_id, similar) = (Some(tool_id.clone()), Vec::new());
        Self { kind, reason: None, message, tool_id, similar, error: None, shortage: None }
    }

    /// Of a tool that its provider keeps from being called, or a rule.
    pub(super) fn of_obstacle(tool_id: ToolId, error: ToolError) -> Self {
        let (kind, reason) = if error.error_code == codes::PERMISSION_DENIED_BY_RULE.as_str() {
            (RefusalKind::Blocked, Some(HiddenReason::PolicyBlocked))
        } else {
            (RefusalKind::Provider, None)
        };
        let of_tool = Self::of_tool(kind, &tool_id, error.message.clone());
        Self { error: Some(error), reason, ..of_tool }
    }
}

/// What a caller knows of the tool it names.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known {
    /// The declaration it goes by.
    pub(crate) digest: Option<Digest>,
    /// The moment of the surface it goes by.
    pub(crate) moment: Option<Moment>,
}

/// What a name means, and for which declarations.
#[derive(Debug)]
pub(crate) struct Resolved {
    pub(crate) meaning: Meaning,
    /// The answer holds for one call alone.
    pub(crate) once: bool,
    /// A batch has to run its calls in the surface one after the other.
    pub(crate) one_at_a_time: bool,
    /// The policies the surface names.
    pub(crate) policy_refs: Vec<String>,
    /// What its scope holds calls to.
    pub(crate) scope: ScopeRules,
    /// The surfaces it is within, each with what its scope holds calls to.
    pub(crate) above: Vec<(SurfaceId, ScopeRules)>,
    /// Revision of the surface the answer is about.
    pub(crate) surface_revision: u64,
    /// Revision of the catalog the answer is about.
    pub(crate) catalog_revision: u64,
}

/// What names mean in a surface after it was changed.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// What each name means now, in the order they were given.
    pub(crate) meanings: Vec<(String, Meaning)>,
    /// Revision of the surface now.
    pub(crate) revision: u64,
    /// The moment the surface is at now.
    pub(crate) moment: Moment,
    /// What was unloaded for the budget.
    pub(crate) unloaded: Vec<Unloaded>,
}

impl Loaded {
    /// Whether a tool that was loaded is declared otherwise by now.
    pub(super) fn is_behind(&self) -> bool {
        let is_behind = |refusal: &Refusal| refusal.kind == RefusalKind::Changed && refusal.shortage.is_none();
        self.meanings.iter().any(|(_, meaning)| matches!(meaning, Meaning::Refused(refusal) if is_behind(refusal)))
    }

    /// What is so after another load, with what was unloaded for both.
    pub(super) fn then(self, next: Self) -> Self {
        let unloaded = [self.unloaded, next.unloaded].concat();
        Self { unloaded, ..next }
    }
}

impl Registry {
    /// What `name` means to a caller that goes by what is `known`, or by what the surface loaded; with the revisions of the
    /// surface and of the catalog the answer is about.
    pub(crate) async fn resolve(
        &self,
        tenant: &TenantId,
        id: &SurfaceId,
        name: &str,
        known: Known,
    ) -> Result<Resolved, ApiError> {
        // Taken before anything is looked at: the answer is at least as new as what it says.
        let catalog_revision = self.revision();
        let owner = self.tenant(tenant);
        let held = match known.moment {
            Some(moment) => self.held_at(tenant, id, moment).await?,
            None => self.held(tenant, id).await?,
        };
        let view = held.view();
        let (mut meaning, surface_revision, names) = {
            let catalog = owner.catalog.read();
            let meaning = match known.moment {
                Some(moment) => meaning_at(&view, &catalog, name, moment, known.digest.as_ref())?,
                None => meaning(&view, &catalog, name, known.digest.as_ref()),
            };
            let meaning = chosen(&view, meaning, known.moment.is_some());
            (meaning, view.indexed().revision(&catalog), Arc::clone(catalog.similar()))
        };
        suggest(&view, &names, name, &mut meaning, &mut Effort::of_one_request());
        let (meaning, once) = self.passed(tenant, name, meaning).await?;
        if let Meaning::Callable(entry, _) = &meaning
            && view.indexed().may_have_budget()
        {
            held.note_use_of(entry.tool_id());
        }
        let surface = view.indexed();
        let (one_at_a_time, policy_refs) = (surface.one_at_a_time(), surface.policy_refs());
        let scope = surface.scope_rules();
        let above = surface.parents().map(|above| (above.id().clone(), above.scope_rules())).collect();
        Ok(Resolved { meaning, once, one_at_a_time, policy_refs, scope, above, surface_revision, catalog_revision })
    }

    /// What a name means when providers have had their say, and whether that holds for one call alone.
    async fn passed(&self, tenant: &TenantId, name: &str, meaning: Meaning) -> Result<(Meaning, bool), ApiError> {
        match meaning {
            Meaning::Callable(entry, tool) => Ok(match self.passage(tenant, &entry).await? {
                Passage::Open => (Meaning::Callable(entry, tool), false),
                Passage::Once => (Meaning::Callable(entry, tool), true),
                Passage::Shut(error) => {
                    (Meaning::Refused(Refusal::of_obstacle(entry.tool_id().clone(), *error)), false)
                }
            }),
            Meaning::Refused(refusal) if refusal.kind == RefusalKind::Unknown => {
                let waiting = self.waiting(tenant, name).map(|(tool_id, error)| Refusal::of_obstacle(tool_id, error));
                Ok((Meaning::Refused(waiting.unwrap_or(refusal)), false))
            }
            Meaning::Refused(refusal) if matches!(refusal.kind, RefusalKind::NotLoaded | RefusalKind::Changed) => {
                // To load it, which would have to be done first, is refused as well.
                let denied = refusal.tool_id.as_ref().and_then(|id| Some((id.clone(), self.denial(tenant, id)?)));
                let denied = denied.map(|(tool_id, error)| Refusal::of_obstacle(tool_id, error));
                Ok((Meaning::Refused(denied.unwrap_or(refusal)), false))
            }
            refused => Ok((refused, false)),
        }
    }

    /// Searches a surface.
    pub(crate) async fn look(
        &self,
        tenant: &TenantId,
        id: &SurfaceId,
        question: &Question<'_>,
    ) -> Result<Answer, ApiError> {
        let held = self.held(tenant, id).await?;
        let now = self.now().await?;
        let view = held.view();
        // Whoever changes tools does not wait for the search.
        let owner = self.tenant(tenant);
        let denied;
        let (seen, index) = {
            let catalog = owner.catalog.read();
            denied = owner.denied();
            (Seen::of(view.indexed(), &catalog, &denied), catalog.index().snapshot())
        };
        let answer = search(&seen, &index, question);
        let Answer { mut result, next } = answer.map_err(|fault| ApiError::invalid_argument("query", fault.message))?;
        self.mark_search(tenant, &mut result, now);
        Ok(Answer { result, next })
    }

    /// Notes deferred tools that somebody is told were found, for the surface's log.
    pub(crate) async fn note_search(
        &self,
        tenant: &TenantId,
        id: &SurfaceId,
        result: &SearchResult,
    ) -> Result<(), ApiError> {
        let deferred = |state| matches!(state, LoadingState::Discoverable | LoadingState::Deferred);
        let discovered: Vec<&ToolId> =
            result.refs.iter().filter(|found| deferred(found.loading_state)).map(|found| &found.tool_id).collect();
        if !discovered.is_empty() {
            let data = json!({ "query": result.query, "query_type": result.query_type, "tool_ids": discovered });
            let at = self.now().await?;
            self.note_found(tenant, id, Find { at, data: facts(&data) }).await?;
        }
        Ok(())
    }

    /// What a tool says about when it is to be looked for.
    pub(crate) fn hint(&self, tenant: &TenantId, id: &ToolId) -> String {
        let owner = self.tenant(tenant);
        let catalog = owner.catalog.read();
        catalog.get(id).map(|entry| entry.tool.registration().declaration.search_hint.clone()).unwrap_or_default()
    }

    /// What names mean in a surface, by the surface and the catalog.
    pub(super) fn meanings(&self, tenant: &TenantId, view: &View, names: Vec<String>) -> Loaded {
        let owner = self.tenant(tenant);
        let (mut meanings, similar, (revision, moment)): (Vec<_>, _, _) = {
            let catalog = owner.catalog.read();
            let meanings = names.into_iter().map(|name| (meaning(view, &catalog, &name, None), name));
            let meanings = meanings.map(|(meaning, name)| (name, meaning)).collect();
            let now = (view.indexed().revision(&catalog), view.indexed().moment(&catalog));
            (meanings, Arc::clone(catalog.similar()), now)
        };
        let mut effort = Effort::of_one_request();
        for (name, meaning) in &mut meanings {
            suggest(view, &similar, name, meaning, &mut effort);
        }
        Loaded { meanings, revision, moment, unloaded: Vec::new() }
    }

    /// What names mean in a surface after they were loaded, when providers have had their say.
    pub(super) fn loaded(&self, tenant: &TenantId, held: &Held, names: Vec<String>, now: Timestamp) -> Loaded {
        let owner = self.tenant(tenant);
        let mut loaded = self.meanings(tenant, &held.view(), names);
        for (name, meaning) in &mut loaded.meanings {
            let shut = match &*meaning {
                Meaning::Callable(entry, _) => {
                    self.obstacle(tenant, entry, now).map(|error| (entry.tool_id().clone(), error))
                }
                Meaning::Refused(refusal) if matches!(refusal.kind, RefusalKind::NotLoaded | RefusalKind::Changed) => {
                    let catalog = owner.catalog.read();
                    let entry = refusal.tool_id.as_ref().and_then(|id| catalog.get(id));
                    entry.and_then(|entry| Some((entry.tool_id().clone(), self.obstacle(tenant, entry, now)?)))
                }
                Meaning::Refused(refusal) if refusal.kind == RefusalKind::Unknown => self.waiting(tenant, name),
                Meaning::Refused(_) => None,
            };
            if let Some((tool_id, error)) = shut {
                *meaning = Meaning::Refused(Refusal::of_obstacle(tool_id, error));
            }
        }
        loaded
    }
}

/// Adds to an unknown name what may have been meant. Not to be called while the catalog is held.
fn suggest(view: &View, names: &NameIndex, name: &str, meaning: &mut Meaning, effort: &mut Effort) {
    if let Meaning::Refused(refusal) = meaning
        && refusal.kind == RefusalKind::Unknown
    {
        refusal.similar = similar_in(view.indexed(), names, name, effort);
    }
}

pub(super) fn meaning(view: &View, catalog: &Catalog, name: &str, known: Option<&Digest>) -> Meaning {
    let since = if known.is_some() { "since the declaration you go by" } else { "since it was loaded here" };
    told(view, resolve(view.indexed(), catalog, name, known), since)
}

/// What a name means to a caller that goes by a moment of the surface. What cannot be called says when it is about.
fn meaning_at(
    view: &View,
    catalog: &Catalog,
    name: &str,
    moment: Moment,
    known: Option<&Digest>,
) -> Result<Meaning, ApiError> {
    let surface = view.indexed();
    let meant = resolve_at(surface, catalog, name, moment, known)
        .map_err(|wrong| ApiError::invalid_argument("surface_moment", wrong.rule()))?;
    let since = if known.is_some() { "since the declaration you go by" } else { "since the moment you go by" };
    let mut meaning = match meant {
        Meant::Now(resolution) => told(view, resolution, since),
        Meant::Renamed(entry) => {
            let now = entry.tool.full_name();
            let message = format!("`{name}` is called `{now}` since the moment you go by: call it by that name");
            let refusal = Refusal::of_tool(RefusalKind::Renamed, entry.tool_id(), message);
            Meaning::Refused(Refusal { similar: vec![now.to_owned()], ..refusal })
        }
        Meant::Later { entry, loaded } => {
            let (tool, so) = (entry.tool.full_name(), if loaded { "loaded" } else { "deferred" });
            let message =
                format!("`{tool}` was not there at the moment you go by, and is {so} here now: read it first");
            Meaning::Refused(Refusal::of_tool(RefusalKind::Later, entry.tool_id(), message))
        }
    };
    let now = surface.moment(catalog);
    if let Meaning::Refused(refusal) = &mut meaning
        && now != moment
    {
        refusal.message.push_str(&format!(" (the call goes by the moment `{moment}`, and the surface is at `{now}`)"));
    }
    Ok(meaning)
}

/// What a name means to a call, by what the surface says about choosing.
pub(super) fn chosen(view: &View, meaning: Meaning, by_moment: bool) -> Meaning {
    let Meaning::Callable(entry, tool) = meaning else { return meaning };
    let Some((why, above)) = view.indexed().not_chosen(&entry, by_moment) else {
        return Meaning::Callable(entry, tool);
    };
    let kind = match &why {
        NotChosen::NoCalls => RefusalKind::NoCalls,
        NotChosen::OnlyOther(_) | NotChosen::NotAllowed | NotChosen::Denied(_) => RefusalKind::NotChosen,
        NotChosen::NoMoment => RefusalKind::NoMoment,
    };
    let message = why.message(entry.tool.full_name());
    let message = above.map_or_else(|| message.clone(), |above| said_above(&message, above));
    Meaning::Refused(Refusal::of_tool(kind, entry.tool_id(), message))
}

/// What a resolution says, with the words for since when a schema is another one.
fn told(view: &View, resolution: Resolution<'_>, since: &str) -> Meaning {
    let refused = match resolution {
        Resolution::Callable(entry) => {
            let loaded = view.indexed().loaded(entry).unwrap_or_else(|| LoadedTool {
                tool_id: entry.tool_id().clone(),
                name: entry.tool.full_name().to_owned(),
                loaded_at: None,
                digest: None,
                changed: None,
            });
            return Meaning::Callable(entry.clone(), loaded);
        }
        Resolution::Changed(entry, drift) => {
            let (tool, what) = (entry.tool.full_name(), drift.words().unwrap_or_default());
            let message = format!(
                "the schema of `{tool}` changed {since}: {what}; load it again and make the call for the schema it has now"
            );
            Refusal::of_tool(RefusalKind::Changed, entry.tool_id(), message)
        }
        Resolution::NotLoaded(deferred) => {
            let message = match deferred.pending_provider_or_server.as_str() {
                "" => format!("`{}` is deferred here: load it before calling it", deferred.name),
                provider => format!("`{}` waits for its provider `{provider}`; try again later", deferred.name),
            };
            let refusal = Refusal::of_tool(RefusalKind::NotLoaded, &deferred.tool_id, message);
            Refusal { reason: Some(HiddenReason::DeferredUntilDiscovered), ..refusal }
        }
        Resolution::Blocked(tool) => hidden(RefusalKind::Blocked, tool),
        Resolution::Excluded(tool) => hidden(RefusalKind::Excluded, tool),
        Resolution::Unknown => Refusal {
            kind: RefusalKind::Unknown,
            reason: None,
            message: "no tool of this surface has that name; search for one that does what is wanted".to_owned(),
            tool_id: None,
            similar: Vec::new(),
            error: None,
            shortage: None,
        },
    };
    Meaning::Refused(refused)
}

fn hidden(kind: RefusalKind, tool: HiddenTool) -> Refusal {
    let kind = if tool.reason == HiddenReason::Retired { RefusalKind::Retired } else { kind };
    let message = format!("`{}` {}", tool.name, tool.message);
    Refusal { reason: Some(tool.reason), ..Refusal::of_tool(kind, &tool.tool_id, message) }
}
