//! The launcher program: what runs between the worker and the tool. Single-threaded throughout.
//!
//! `outer` runs on the host: it joins the control groups, becomes a user of its own when it is root, and turns into
//! bubblewrap. `inner` runs as process 1 of the sandbox: it checks that every layer holds, starts the tool behind the
//! system call filter, and ends the tree. `self-test` and `linger` are tools for the posture probe.

mod filter;
mod inner;
mod outer;
mod reaper;
mod selftest;
mod sockets;
mod stage;
mod staging;
mod start;
mod sys;
mod uses;
mod verify;

use std::process::ExitCode;

use crate::wire::{self};

pub(crate) use selftest::Facts;

/// Runs the part named by the first argument.
pub fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    match arguments.next().as_deref() {
        Some(wire::PART_OUTER) => outer::run(),
        Some(wire::PART_INNER) => inner::run(),
        Some(wire::PART_SELF_TEST) => selftest::run(&arguments.collect::<Vec<_>>()),
        Some(wire::PART_LINGER) => selftest::linger(&arguments.collect::<Vec<_>>()),
        _ => {
            eprintln!("this program is started by toolplane workers, not by hand");
            ExitCode::from(64)
        }
    }
}
