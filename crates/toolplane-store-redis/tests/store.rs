//! The store on real Redis servers, as its users see it.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests start tasks, lock and read clocks as they need; their sleeps are counted by `cargo xtask tidy`"
)]

#[cfg(test)]
#[path = "store/access.rs"]
mod access;
#[cfg(test)]
#[path = "store/alike.rs"]
mod alike;
#[cfg(test)]
#[path = "store/conformance.rs"]
mod conformance;
#[cfg(test)]
#[path = "store/damage.rs"]
mod damage;
#[cfg(test)]
#[path = "store/faults.rs"]
mod faults;
#[cfg(test)]
#[path = "store/groups.rs"]
mod groups;
#[cfg(test)]
#[path = "store/hints.rs"]
mod hints;
#[cfg(test)]
#[path = "store/listing.rs"]
mod listing;
#[cfg(test)]
#[path = "store/memory.rs"]
mod memory;
#[cfg(test)]
#[path = "store/restarts.rs"]
mod restarts;
#[cfg(test)]
#[path = "store/shards.rs"]
mod shards;
#[cfg(test)]
#[path = "store/support.rs"]
mod support;
#[cfg(test)]
#[path = "store/trouble.rs"]
mod trouble;
