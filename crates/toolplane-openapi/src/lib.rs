//! OpenAPI documents as tools: a document becomes operations, an operation and an input become one HTTP request, and a
//! response becomes what it means for the call.
//!
//! - [`Document::read`] takes OpenAPI 3.0, 3.1 and 3.2 in JSON or YAML, and Swagger 2.0, which it converts to 3.0.
//! - [`Document::operations`] makes an [`Operation`] of each selected one, or a [`Refusal`]: one bad operation is never the
//!   end of the others.
//! - [`request()`] and [`response()`] work from an [`OperationBinding`](toolplane_records::operation::OperationBinding)
//!   alone, without the document.
//!
//! Documents are walked as JSON values, not read into types: four versions and the liberties real documents take are
//! tolerated place by place, and what is wrong is told with its JSON pointer. Values come in, values go out: this crate
//! knows no socket, no file, no clock (`now` is handed in), no chance (the boundary of parts is handed in) and no async
//! runtime. A reference that leaves the document is never followed.

mod bind;
mod document;
mod error;
#[cfg(test)]
mod fuzz;
mod limits;
mod operations;
mod read;
mod request;
mod response;
mod schema;
#[cfg(test)]
pub(crate) mod tests;

pub use bind::{Unbound, add_credentials, bind_credentials};
pub use document::{Document, Version};
pub use error::{DocumentError, Refusal};
pub use limits::DocumentLimits;
pub use operations::{Facts, Import, ImportOptions, Operation, Overrides, Selection, SelectionError};
pub use request::{HttpRequest, is_reserved_header, request};
pub use response::{Answer, Content, Meaning, NextPage, response, retry_after_ms, status_error};
