//! The embedded store on a real disk, as its users see it.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
)]

#[cfg(test)]
#[path = "store/crash.rs"]
mod crash;
#[cfg(test)]
#[path = "store/damage.rs"]
mod damage;
#[cfg(test)]
#[path = "store/differential.rs"]
mod differential;
#[cfg(test)]
#[path = "store/formats.rs"]
mod formats;
#[cfg(test)]
#[path = "store/lifecycle.rs"]
mod lifecycle;
#[cfg(test)]
#[path = "store/memory.rs"]
mod memory;

#[cfg(test)]
use toolplane_store_embedded::EmbeddedOptions;

#[cfg(test)]
/// Options under which a checkpoint is nearly always under way.
fn restless() -> EmbeddedOptions {
    EmbeddedOptions { checkpoint_bytes: 16 * 1024, checkpoint_interval_ms: 20, ..EmbeddedOptions::default() }
}
