//! The tool catalog as pure values: what a declaration must satisfy, which names lead to it, what a surface shows of it,
//! how it is found and whether an input fits it.
//!
//! Values come in, values go out. This crate knows no store, no network, no clock (`now` is handed in) and no async
//! runtime; it never follows a reference that leaves the schema it is in.

pub mod catalog;
pub mod difference;
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
pub use history::{Drift, History, Since};
pub use input::{AnswerValidator, InputValidator, SensitiveFields, changed_fields};
pub use limits::{CatalogLimits, DeclarationLimits, InputLimits, SchemaLimits};
pub use registration::{MutableBy, Registration};
pub use safety::{SafetyEvaluation, SafetyFactName, evaluate_safety};
pub use search::{Question, SearchIndex, Thesaurus, search};
pub use similar::{Effort, NameIndex};
pub use surface::{
    BlockedName, CatalogDifference, DeferPolicy, DifferenceKind, DifferencePart, Extension, IndexedSurface,
    LiveSurface, LoadOutcome, Misnamed, ModelCapabilities, Moment, NoMoment, NotExtended, NotedTool, Position,
    Progress, Resolution, RoleConstraints, ShownTool, Shut, Sight, SurfaceCounts, SurfaceRequest, SurfaceTool,
    SurfaceWatcher, ToolDifference, filled, load, resolve, select, similar_in, unload,
};
pub use traits::Traits;
pub use validate::{Checked, PERSISTENCE_POLICIES, validate, validate_stored};
