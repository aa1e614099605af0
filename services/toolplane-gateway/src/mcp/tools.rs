//! Tools as clients of MCP see them: which there are, what they are called, what they say of themselves.

mod builtin;
mod definition;
mod list;
mod listing;

pub(crate) use builtin::{Builtin, arguments, failed, load, loaded_surface, search};
pub(crate) use definition::Definitions;
pub(crate) use list::{door, list};
pub(crate) use listing::Listings;
