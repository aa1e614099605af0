//! What an agent sees of the catalog in one context, and what it may call.

pub(crate) mod budget;
mod choosing;
mod copied;
mod difference;
mod extend;
mod indexed;
mod lineage;
mod live;
mod load;
mod meant;
mod misnamed;
mod moment;
mod noted;
mod record;
mod request;
mod resolve;
mod scope;
mod selection;
#[cfg(test)]
mod tests;
mod tools;
mod visibility;
mod watching;

pub use budget::{Amount, Budget, Counting, MAX_LOADED, NoOtherBudget, Shortage, Unloaded};
pub use choosing::{Choosing, ChoosingFault, NotChosen, SelectionRules, ToolChoice};
pub use difference::{DifferenceKind, ShownTool, Sight, ToolDifference};
pub use extend::{Extension, NotExtended};
pub use indexed::IndexedSurface;
pub use lineage::{Above, MAX_DEPTH, Parent, said_above};
pub(crate) use live::Deferral;
pub use live::{LiveSurface, select};
pub use load::{LoadOutcome, Loading, load, unload};
pub use meant::{Meant, resolve_at};
pub use misnamed::Misnamed;
pub use moment::{Moment, NoMoment, WrongMoment};
pub use noted::{CatalogDifference, NotedTool, outdated};
pub(crate) use record::deferred_ref;
pub use request::{BlockedName, DeferPolicy, ModelCapabilities, RoleConstraints, SurfaceRequest};
pub(crate) use resolve::Availability;
pub use resolve::{Resolution, resolve, similar_in};
pub use scope::{OutOfScope, ScopeFacts, ScopeRules};
pub use selection::{AskedFor, Selection, Unmatched, not_shown_above, unmatched};
pub use tools::{List, NoPosition, Position, Shut, SurfaceCounts, SurfaceTool, filled};
pub(crate) use visibility::{hidden_now, hidden_tool};
pub use watching::{DifferencePart, Progress, SurfaceWatcher};
