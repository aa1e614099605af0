//! What the roles of this machine keep, looked at and copied while they do not run: the doing of `toolplane store`.

use std::path::PathBuf;

use toolplane_runtime::Config;
use toolplane_runtime::config::StoreBackend;

use crate::Keeper;

mod backup;
mod check;
mod error;
mod files;
mod forget;
mod objects;
mod restore;

pub use backup::backup;
pub use check::{Named, Objects, Part, Report, check};
pub use error::StoredError;
pub use files::Copied;
pub use forget::{Forgotten, Kept, forget};
pub use restore::restore;

/// The directories that are embedded stores in this configuration.
fn directories(config: &Config) -> Vec<(Keeper, PathBuf)> {
    let embedded = |keeper: &Keeper| keeper.backend(config) == StoreBackend::Embedded;
    Keeper::ALL.into_iter().filter(embedded).map(|keeper| (keeper, keeper.directory(config))).collect()
}

/// Those of them that are there.
fn present(config: &Config) -> Vec<(Keeper, PathBuf)> {
    directories(config).into_iter().filter(|(_, path)| path.exists()).collect()
}

/// The roles that keep something in Redis.
fn in_redis(config: &Config) -> impl Iterator<Item = Keeper> {
    Keeper::ALL.into_iter().filter(|keeper| keeper.backend(config) == StoreBackend::Redis)
}

#[cfg(test)]
mod tests;
