//! What a name means in a surface, by the surface and the catalog, in words for the caller.

use toolplane_catalog::catalog::CatalogEntry;
use toolplane_catalog::{
    Catalog, Effort, Meant, Moment, NameIndex, NotChosen, Resolution, Shortage, resolve, resolve_at, said_above,
    similar_in,
};
use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::ids::ToolId;
use toolplane_records::payload::Digest;
use toolplane_records::surface::{HiddenTool, LoadedTool};
use toolplane_records::vocabulary::HiddenReason;
use toolplane_runtime::ApiError;

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

/// Adds to an unknown name what may have been meant. Not to be called while the catalog is held.
pub(super) fn suggest(view: &View, names: &NameIndex, name: &str, meaning: &mut Meaning, effort: &mut Effort) {
    if let Meaning::Refused(refusal) = meaning
        && refusal.kind == RefusalKind::Unknown
    {
        refusal.similar = similar_in(view.indexed(), names, name, effort);
    }
}

/// What a name means to a caller that goes by a declaration, or by what the surface loaded.
pub(super) fn meaning(view: &View, catalog: &Catalog, name: &str, known: Option<&Digest>) -> Meaning {
    let since = if known.is_some() { "since the declaration you go by" } else { "since it was loaded here" };
    told(view, resolve(view.indexed(), catalog, name, known), since)
}

/// What a name means to a caller that goes by a moment of the surface. What cannot be called says when it is about.
pub(super) fn meaning_at(
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
        && now != moment.with_shut(now.shut)
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
                uncallable: None,
                message: None,
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
