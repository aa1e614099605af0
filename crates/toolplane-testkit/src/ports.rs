//! Ports that stay free while a test kills and restarts what listens on them.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::net::{Ipv4Addr, TcpListener};

/// Below the range from which systems take the ports of outgoing connections: a port that is free for a moment, while its
/// server restarts, is not given to a client.
const RANGE: std::ops::Range<u16> = 10_240..32_000;

/// A port of the loopback address on which nothing listens. Tests that run side by side get different ones, all but surely.
pub fn free() -> u16 {
    let width = u64::from(RANGE.end - RANGE.start);
    loop {
        // Every `RandomState` has its own keys: randomness without a further dependency.
        let random = RandomState::new().build_hasher().finish() % width;
        let port = RANGE.start + u16::try_from(random).unwrap_or_default();
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return port;
        }
    }
}
