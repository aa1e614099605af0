//! How often a program asks for memory: an allocator around another one that counts, and how another process reads the count.
//!
//! Benches alone are built with it (`cargo xtask bench`); nothing of it is in a program that is shipped.

#![allow(unsafe_code, reason = "an allocator is unsafe by its trait; each call is handed on as it came")]

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::io::{Error, Read as _, Result, Write as _};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Threads that count for themselves, which costs about a nanosecond; those that come later share one counter.
const OWN_COUNTERS: usize = 256;
/// The counter of a thread that has not counted yet.
const NONE: usize = usize::MAX;

/// A counter with cache lines of its own, so that threads do not wait for each other.
#[repr(align(128))]
struct Counter(AtomicU64);

static COUNTERS: [Counter; OWN_COUNTERS] = [const { Counter(AtomicU64::new(0)) }; OWN_COUNTERS];
static SHARED: Counter = Counter(AtomicU64::new(0));
static NEXT: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static OWN: Cell<usize> = const { Cell::new(NONE) };
}

/// An allocator that counts how often memory is asked for; growing a piece of memory counts as asking.
#[derive(Clone, Copy, Debug)]
pub struct Counting<A>(pub A);

// SAFETY: every call is handed on to `A`, with the arguments and the promises it came with; counting does not allocate.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Counting<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add_one();
        // SAFETY: the caller's promises are those of `A`.
        unsafe { self.0.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add_one();
        // SAFETY: the caller's promises are those of `A`.
        unsafe { self.0.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add_one();
        // SAFETY: the caller's promises are those of `A`, and all memory of this allocator is memory of `A`.
        unsafe { self.0.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { self.0.dealloc(memory, layout) }
    }
}

#[inline]
fn add_one() {
    let own = OWN.with(|own| {
        if own.get() == NONE {
            own.set(NEXT.fetch_add(1, Ordering::Relaxed));
        }
        own.get()
    });
    match COUNTERS.get(own) {
        // No other thread writes here, so this needs no atomic addition.
        Some(Counter(count)) => count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed),
        None => drop(SHARED.0.fetch_add(1, Ordering::Relaxed)),
    }
}

/// How often this process has asked for memory, where its allocator is a [`Counting`] one.
pub fn count() -> u64 {
    COUNTERS.iter().chain([&SHARED]).map(|counter| counter.0.load(Ordering::Relaxed)).sum()
}

/// Answers [`ask`] for this process from now on, on a thread of its own. Fails when the socket or the thread cannot be made.
pub fn answer() -> Result<()> {
    let listener = UnixListener::bind_addr(&address(std::process::id())?)?;
    std::thread::Builder::new().name("allocations".to_owned()).spawn(move || {
        for asked in listener.incoming().flatten() {
            // Who asked and went away needs no answer.
            let _ = (&asked).write_all(count().to_string().as_bytes());
        }
    })?;
    Ok(())
}

/// How often another process has asked for memory. Fails when it does not run or does not count.
pub fn ask(process: u32) -> Result<u64> {
    let mut text = String::new();
    UnixStream::connect_addr(&address(process)?)?.read_to_string(&mut text)?;
    text.parse().map_err(Error::other)
}

/// Where a process answers: a name in the kernel alone, so that nothing is left in a folder.
fn address(process: u32) -> Result<SocketAddr> {
    SocketAddr::from_abstract_name(format!("toolplane-allocations-{process}"))
}

#[cfg(test)]
mod tests {
    use std::alloc::System;
    use std::hint::black_box;

    use super::*;

    #[global_allocator]
    static ALLOCATOR: Counting<System> = Counting(System);

    /// More threads than counters, so that the shared one counts too.
    #[test]
    fn every_thread_is_counted_and_another_process_can_ask() {
        const THREADS: u64 = OWN_COUNTERS as u64 + 50;
        const EACH: u64 = 1000;
        answer().unwrap();
        let before = ask(std::process::id()).unwrap();
        for _ in 0..THREADS {
            let allocate = || (0..EACH).for_each(|number| drop(black_box(Box::new(number))));
            std::thread::spawn(allocate).join().unwrap();
        }
        let counted = ask(std::process::id()).unwrap() - before;
        assert!((THREADS * EACH..THREADS * (EACH + 100)).contains(&counted), "{counted}");
        assert!(ask(u32::MAX).is_err(), "no such process");
    }

    #[test]
    fn growing_counts() {
        let before = count();
        let mut grown = Vec::<u8>::with_capacity(black_box(16));
        grown.reserve_exact(black_box(4096));
        black_box(&grown);
        assert!(count() - before >= 2);
    }
}
