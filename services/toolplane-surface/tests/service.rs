//! The role behind its real listener, on the real store, spoken to over gRPC.

#[path = "service/catalog.rs"]
mod catalog;
#[path = "service/role.rs"]
mod role;
#[path = "service/surfaces.rs"]
mod surfaces;
#[path = "service/sync.rs"]
mod sync;
