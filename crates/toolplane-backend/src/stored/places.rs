//! Where the roles of this machine keep what they keep.

use std::path::PathBuf;

use toolplane_runtime::Config;
use toolplane_runtime::config::StoreBackend;

use crate::Keeper;

/// The directories that are embedded stores in this configuration. With Redis, earlier versions still had one for the surface
/// role, which takes it over when it starts the next time: until then it is one of them, and a backup of it has its place.
pub(super) fn directories(config: &Config) -> Vec<(Keeper, PathBuf)> {
    let keepers = match config.store.backend {
        StoreBackend::Embedded => &Keeper::ALL[..],
        StoreBackend::Redis => &[Keeper::Surface],
    };
    keepers.iter().map(|keeper| (*keeper, keeper.directory(config))).collect()
}

/// Those of them that are there.
pub(super) fn present(config: &Config) -> Vec<(Keeper, PathBuf)> {
    directories(config).into_iter().filter(|(_, path)| path.exists()).collect()
}

/// The roles that keep something in Redis.
pub(super) fn in_redis(config: &Config) -> impl Iterator<Item = Keeper> {
    let all = Keeper::ALL.into_iter();
    all.filter(|_| config.store.backend == StoreBackend::Redis)
}
