//! Settings of the role.

use std::path::PathBuf;
use std::time::Duration;

use toolplane_runtime::Config;

/// Settings of the surface role.
#[derive(Clone, Debug)]
pub struct SurfaceOptions {
    /// A surface of more tools than this defers those not asked for by name, unless its request says otherwise.
    pub defer_threshold: u32,
    /// Tool files registered at start; see [`crate::declarations`].
    pub declarations: Vec<PathBuf>,
    /// How long a change waits for the schedulers to take it in.
    pub sync_patience: Duration,
    /// Largest gRPC message taken or sent.
    pub max_message_bytes: usize,
}

impl SurfaceOptions {
    /// The settings in a configuration.
    pub fn from_config(config: &Config) -> Self {
        Self {
            defer_threshold: config.surface.defer_threshold,
            declarations: config.surface.declarations.clone(),
            sync_patience: Duration::from_millis(500),
            max_message_bytes: config.server.max_message_bytes,
        }
    }
}
