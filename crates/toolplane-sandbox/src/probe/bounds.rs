//! What the self-tests try to go beyond.

pub(super) const MIB: u64 = 1024 * 1024;

/// Bounds of the self-test, small enough to run into quickly.
pub(super) const FILES: u64 = 64;

pub(super) const PROCESSES: u64 = 24;

pub(super) const MEMORY: u64 = 64 * MIB;
