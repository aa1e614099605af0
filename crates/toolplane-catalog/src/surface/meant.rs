//! What a name means to a caller that goes by a moment of a surface: the tool that had it then, as it is now.
//!
//! A name may lead to another tool by now, and a tool may have another name. Who calls by what a surface showed at a moment means what the
//! name led to at that moment, and made its arguments for the declaration of then.

use std::borrow::Cow;

use toolplane_records::alias;
use toolplane_records::payload::Digest;

use super::difference::{ShownTool, Sight};
use super::indexed::IndexedSurface;
use super::moment::{Moment, WrongMoment};
use super::record::deferred_ref;
use super::resolve::{Availability, Resolution, lookup};
use super::visibility::Hiding;
use crate::catalog::{Catalog, CatalogEntry, Lookup, Then};
use crate::history::Drift;

/// What a name means to a caller that goes by a moment.
#[derive(Clone, Debug)]
pub enum Meant<'a> {
    /// What it means now: the tool is the one the name led to then.
    Now(Resolution<'a>),
    /// The tool it led to then, which has another name now.
    Renamed(&'a CatalogEntry),
    /// A tool that the surface did not show then, and does now.
    Later {
        /// The tool.
        entry: &'a CatalogEntry,
        /// It is loaded here now; else it is deferred.
        loaded: bool,
    },
}

/// Resolves `name` as [`resolve`](super::resolve()) does, for a caller that knows the surface as it was at `moment`, and the tool by the
/// declaration `known` where it says one. Nothing of what is not known any more is taken for unchanged.
///
/// # Errors
///
/// A moment that the surface was never at.
pub fn resolve_at<'a>(
    surface: &IndexedSurface,
    catalog: &'a Catalog,
    name: &str,
    moment: Moment,
    known: Option<&Digest>,
) -> Result<Meant<'a>, WrongMoment> {
    let past = Past::of(surface, catalog, moment)?;
    let Some((entry, renamed)) = past.found(surface, catalog, name) else { return Ok(Meant::Now(Resolution::Unknown)) };
    let sight = past.sight(entry);
    Ok(Meant::Now(match surface.standing(entry) {
        Availability::Hidden(Hiding::Blocked, tool) => Resolution::Blocked(tool),
        Availability::Hidden(Hiding::Excluded, tool) => Resolution::Excluded(tool),
        _ if renamed => return Ok(Meant::Renamed(entry)),
        now if matches!(sight, Sight::Absent | Sight::NotShown { .. }) => {
            return Ok(Meant::Later { entry, loaded: !matches!(now, Availability::Deferred(_)) });
        }
        Availability::Deferred(provider) => Resolution::NotLoaded(Box::new(deferred_ref(entry, provider))),
        now => match drift(entry, now, &sight, known) {
            Drift::None => Resolution::Callable(entry),
            drift => Resolution::Changed(entry, drift),
        },
    }))
}

/// What happened to the schema of a tool that is loaded since what the caller goes by. What was deferred at its moment had no schema there:
/// it is known by the declaration it was loaded by since.
fn drift(entry: &CatalogEntry, now: Availability<'_>, sight: &Sight, known: Option<&Digest>) -> Drift {
    match (known, now, sight) {
        (Some(known), ..) => entry.since(known),
        (None, Availability::Stale(drift), _) => drift,
        (None, _, Sight::Shown(ShownTool { loaded: Some(by), digest, .. })) => entry.since(&by.unwrap_or(*digest)),
        (None, _, Sight::Shown(ShownTool { loaded: None, .. })) => Drift::None,
        (None, _, Sight::Absent | Sight::NotShown { .. } | Sight::Unknown) => Drift::Forgotten,
    }
}

/// A surface as it was at a moment.
struct Past<'s> {
    /// Absent where its own changes since are not remembered.
    surface: Option<Cow<'s, IndexedSurface>>,
    /// The revision of the catalog.
    at: u64,
}

impl<'s> Past<'s> {
    fn of(surface: &'s IndexedSurface, catalog: &Catalog, moment: Moment) -> Result<Self, WrongMoment> {
        let now = surface.moment(catalog);
        if moment.is_like(&now) && !now.reaches(&moment) {
            return Err(WrongMoment::Ahead);
        }
        if !surface.has_begun_at(&moment) {
            return Err(WrongMoment::Foreign);
        }
        let surface = match moment.changes == now.changes && moment.above == now.above {
            true => Some(Cow::Borrowed(surface)),
            false => surface.at(&moment).map(Cow::Owned),
        };
        Ok(Self { surface, at: moment.catalog })
    }

    /// What the surface made of the tool. Where it is not known what it made of it, the tool as it was declared.
    fn sight(&self, entry: &CatalogEntry) -> Sight {
        match (&self.surface, entry.at(self.at)) {
            (Some(surface), _) => surface.seen(entry, self.at),
            (None, Then::Absent) => Sight::Absent,
            (None, Then::Forgotten) => Sight::Unknown,
            (None, Then::There { digest, name, .. }) => {
                Sight::Shown(ShownTool { name: name.to_owned(), digest, loaded: Some(Some(digest)), uncallable: None })
            }
        }
    }

    /// The tool a name led to, and whether it has another one now.
    fn found<'a>(
        &self,
        surface: &IndexedSurface,
        catalog: &'a Catalog,
        name: &str,
    ) -> Option<(&'a CatalogEntry, bool)> {
        let now = match catalog.find(name) {
            Lookup::One(entry) => Some(entry),
            Lookup::Unknown => None,
            Lookup::Ambiguous(sharing) => {
                let mut then = sharing.entries().filter(|entry| self.knew(entry, name));
                match (then.next(), then.next()) {
                    (None, _) => lookup(surface, catalog, name),
                    (Some(one), None) => Some(one),
                    (Some(_), Some(_)) => return None,
                }
            }
        };
        if let Some(entry) = now.filter(|entry| self.knew(entry, name)) {
            return Some((entry, false));
        }
        // Whatever has another name by now was declared anew since.
        let others = catalog.declared_behind((self.at.saturating_add(1), None));
        let mut others = others.filter(|entry| self.had(entry, name));
        match (others.next(), others.next(), now) {
            (Some(one), None, _) => Some((one, true)),
            (None, _, Some(entry)) => Some((entry, false)),
            _ => None,
        }
    }

    /// Whether `name`, which leads to the tool now, led to it then; not where the surface did not show it, but by its id.
    fn knew(&self, entry: &CatalogEntry, name: &str) -> bool {
        let id = entry.tool_id().as_str();
        match self.sight(entry) {
            _ if name == id => true,
            Sight::Shown(then) => then.name == entry.tool.full_name() || led(name, &then.name, id),
            Sight::Unknown => true,
            Sight::Absent | Sight::NotShown { .. } => false,
        }
    }

    /// Whether the surface showed the tool by `name`, and it has another name now.
    fn had(&self, entry: &CatalogEntry, name: &str) -> bool {
        match self.sight(entry) {
            Sight::Shown(then) => {
                then.name != entry.tool.full_name() && led(name, &then.name, entry.tool_id().as_str())
            }
            Sight::Absent | Sight::NotShown { .. } | Sight::Unknown => false,
        }
    }
}

/// Whether `name` leads to a tool of this full name and id.
fn led(name: &str, full_name: &str, id: &str) -> bool {
    let bare = full_name.rsplit('.').next().unwrap_or(full_name);
    name == full_name || name == bare || name == alias::of(full_name, id) || name == full_name.replace('.', "__")
}
