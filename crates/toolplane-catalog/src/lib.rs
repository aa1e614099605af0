//! The tool catalog as pure values: what a declaration must satisfy, which names lead to it, what a surface shows of it,
//! how it is found and whether an input fits it.
//!
//! Values come in, values go out. This crate knows no store, no network, no clock (`now` is handed in) and no async
//! runtime; it never follows a reference that leaves the schema it is in.

pub mod catalog;
pub mod difference;
pub mod filter;
#[cfg(test)]
mod fixtures;
pub mod history;
pub mod input;
pub mod limits;
pub mod registration;
pub mod safety;
pub mod schema;
pub mod search;
pub mod similar;
pub mod surface;
pub mod traits;
pub mod validate;
pub mod values;
mod violations;

pub use catalog::{Catalog, CatalogChange, ChangeKind, Lookup, RetireRefusal};
pub use difference::difference;
pub use filter::{Criteria, Filter, FilterKind, QueryFault};
pub use history::{Drift, History, Since};
pub use input::{AnswerValidator, InputValidator, SensitiveFields, changed_fields};
pub use limits::{CatalogLimits, DeclarationLimits, InputLimits, SchemaLimits};
pub use registration::{MutableBy, Registration};
pub use safety::{SafetyEvaluation, SafetyFactName, evaluate_safety};
pub use search::{Question, SearchIndex, Thesaurus, search};
pub use similar::{Effort, NameIndex};
pub use surface::{
    Above, Amount, AskedFor, BlockedName, Budget, CatalogDifference, Choosing, ChoosingFault, Counting, DeferPolicy,
    DifferenceKind, DifferencePart, Extension, IndexedSurface, LiveSurface, LoadOutcome, Loading, MAX_DEPTH,
    MAX_LOADED, Meant, Misnamed, ModelCapabilities, Moment, NoMoment, NoOtherBudget, NotChosen, NotExtended, NotedTool,
    OutOfScope, Parent, Position, Progress, Resolution, RoleConstraints, ScopeFacts, ScopeRules, Selection, Shortage,
    ShownTool, Shut, ShutChange, ShutThen, Sight, SurfaceCounts, SurfaceRequest, SurfaceTool, SurfaceWatcher,
    ToolDifference, Uncallable, Unloaded, Unmatched, Why, WrongMoment, broken_ref, filled, load, not_shown, outdated,
    resolve, resolve_at, said_above, select, similar_in, slipped_refs, unload, unmatched,
};
pub use traits::Traits;
pub use validate::MAX_TAG_CHARS;
pub use validate::{Checked, Findings, PERSISTENCE_POLICIES, validate, validate_stored};
