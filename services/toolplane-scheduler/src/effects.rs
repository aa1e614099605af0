//! The only place that knows all parts: what a change of a call means for each of them is passed on here, inline and without a
//! decision of its own.

mod listen;
mod router;
mod topics;

pub(crate) use listen::Listener;
pub(crate) use router::Router;
