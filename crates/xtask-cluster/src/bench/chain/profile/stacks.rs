//! What `perf script` prints, sample by sample, and which layers a sample counts for.

use std::collections::BTreeMap;

use super::layers::{self, Layer};

/// One function on a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    pub(super) symbol: &'a str,
    /// The file it is in; the kernel and its modules have names in brackets.
    file: &'a str,
}

/// What a thread was doing at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sample<'a> {
    thread: &'a str,
    /// The innermost first.
    frames: Vec<Frame<'a>>,
}

/// Samples, counted by layers.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub(super) samples: u64,
    /// By the function that ran.
    pub(super) by_function: BTreeMap<Layer, u64>,
    /// By the nearest layer that called it, for functions that work for others.
    pub(super) by_caller: BTreeMap<Layer, u64>,
    /// Functions that belong to no layer.
    pub(super) unknown: BTreeMap<String, u64>,
}

/// Reads what `perf script -F comm,tid,ip,sym,dso` prints. A stack without any function is left out.
pub(super) fn samples(text: &str) -> impl Iterator<Item = Sample<'_>> {
    text.split("\n\n").filter_map(sample)
}

fn sample(text: &str) -> Option<Sample<'_>> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    // A name may hold spaces; the number of the thread is the last word.
    let (thread, _) = lines.next()?.trim().rsplit_once(' ')?;
    let frames: Vec<_> = lines.filter_map(frame).collect();
    (!frames.is_empty()).then_some(Sample { thread: thread.trim(), frames })
}

fn frame(line: &str) -> Option<Frame<'_>> {
    let (_, rest) = line.trim_start().split_once(' ')?;
    let rest = rest.trim_end().strip_suffix(')')?;
    // A program that was built again while it ran.
    let (symbol, file) = rest.strip_suffix(" (deleted)").unwrap_or(rest).rsplit_once(" (")?;
    Some(Frame { symbol, file })
}

impl Frame<'_> {
    fn is_kernel(&self) -> bool {
        self.file.starts_with('[') && !matches!(self.file, "[vdso]" | "[unknown]")
    }
}

impl Sample<'_> {
    /// The layer of the function that ran. What the store does is told apart by threads.
    fn by_function(&self) -> Layer {
        let first = self.frames.first().filter(|first| !first.is_kernel());
        let Some(first) = first else {
            let kernel = self.frames.iter().take_while(|frame| frame.is_kernel());
            return layers::of_kernel(kernel.map(|frame| frame.symbol).collect::<Vec<_>>().into_iter());
        };
        match (layers::of_function(first.symbol), layers::of_thread(self.thread)) {
            (Layer::StoreOfCalls, Some(of_thread)) => of_thread,
            (layer, _) => layer,
        }
    }

    /// The layer it ran for: that of its thread, or the nearest one that does not work for others.
    fn by_caller(&self) -> Layer {
        let own = self.by_function();
        if let Some(layer) = layers::of_thread(self.thread) {
            return layer;
        }
        let callers = self.frames.iter().filter(|frame| !frame.is_kernel());
        let mut callers = callers.map(|frame| layers::of_function(frame.symbol));
        callers.find(|layer| !layers::works_for_others(*layer)).unwrap_or(own)
    }
}

impl Counts {
    /// Counts these samples.
    pub(super) fn of<'a>(samples: impl Iterator<Item = Sample<'a>>) -> Self {
        let mut counts = Self::default();
        for sample in samples {
            counts.samples += 1;
            let own = sample.by_function();
            *counts.by_function.entry(own).or_default() += 1;
            *counts.by_caller.entry(sample.by_caller()).or_default() += 1;
            if let (Layer::Others, Some(frame)) = (own, sample.frames.first()) {
                *counts.unknown.entry(frame.symbol.to_owned()).or_default() += 1;
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
tokio-rt-worker 14297 
\t         2f06f82 _mi_malloc_generic (/target/release/toolplane)
\t         18ab352 alloc::raw_vec::RawVecInner<A>::finish_grow (/target/release/toolplane)
\t         1924128 toolplane_scheduler::rpc::encode::events (/target/release/toolplane)
\t         34da461 tokio::runtime::task::harness::Harness<T,S>::poll (/target/release/toolplane)

store-writer 14306 
\tffffffff815a17b6 __filemap_fdatawait_range ([kernel.kallsyms])
\tffffffff8172f38b do_fsync ([kernel.kallsyms])
\t           fed0a fdatasync (/usr/lib/x86_64-linux-gnu/libc.so.6)

a name of words 7 
\tffffffff8172f38b do_epoll_wait ([kernel.kallsyms])
\t         34da461 mio::poll::Poll::poll (/target/release/toolplane (deleted))

store-checkpoin 14307 
\t         24fed0a redb::tree_store::btree_base::BranchAccessor<T>::key (/target/release/toolplane)

tokio-rt-worker 14297 
\t         18ab352 slab::Slab<T>::insert_at (/target/release/toolplane)

tokio-rt-worker 14297 

";

    #[test]
    fn stacks_are_read() {
        let samples: Vec<_> = samples(TEXT).collect();
        let threads: Vec<_> = samples.iter().map(|sample| (sample.thread, sample.frames.len())).collect();
        let expected = [("tokio-rt-worker", 4), ("store-writer", 3), ("a name of words", 2), ("store-checkpoin", 1)];
        assert_eq!(threads[..4], expected);
        assert_eq!(threads.len(), 5, "a stack without functions says nothing");
        let frame = Frame { symbol: "mio::poll::Poll::poll", file: "/target/release/toolplane" };
        assert_eq!(samples[2].frames[1], frame);
    }

    #[test]
    fn a_sample_counts_for_its_function_and_for_who_wanted_it() {
        let counts = Counts::of(samples(TEXT));
        assert_eq!(counts.samples, 5);
        let by_function = [
            (Layer::StoreCheckpoints, 1),
            (Layer::Allocator, 1),
            (Layer::KernelDisk, 1),
            (Layer::KernelScheduling, 1),
            (Layer::Others, 1),
        ];
        assert_eq!(counts.by_function, by_function.into());
        let by_caller = [
            (Layer::Scheduler, 1),
            (Layer::StoreWriter, 1),
            (Layer::StoreCheckpoints, 1),
            (Layer::Tokio, 1),
            (Layer::Others, 1),
        ];
        assert_eq!(counts.by_caller, by_caller.into());
        assert_eq!(counts.unknown, [("slab::Slab<T>::insert_at".to_owned(), 1)].into());
    }
}
