//! Which layer a function belongs to: one table, by the path a symbol starts with.

/// What the CPU time of a call goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Layer {
    Http,
    Protobuf,
    Tracing,
    Runtime,
    Surface,
    Permission,
    Policy,
    Scheduler,
    Executor,
    StoreOfCalls,
    StoreWriter,
    StoreCheckpoints,
    Tokio,
    Records,
    Json,
    Hashing,
    Maps,
    Allocator,
    Memory,
    Sockets,
    KernelNetwork,
    KernelDisk,
    KernelMemory,
    KernelScheduling,
    KernelOther,
    Standard,
    Others,
}

use Layer::{
    Allocator, Executor, Hashing, Http, Json, KernelDisk, KernelMemory, KernelNetwork, KernelOther, KernelScheduling,
    Maps, Memory, Others, Permission, Policy, Protobuf, Records, Runtime, Scheduler, Sockets, Standard,
    StoreCheckpoints, StoreOfCalls, StoreWriter, Surface, Tokio, Tracing,
};

/// Every layer with its name, in the order of the table that is printed; whether it works for the layer that calls it, and its time
/// is also counted there.
pub(super) const LAYERS: [(Layer, &str, bool); 27] = [
    (Http, "HTTP/2 and tonic", false),
    (Protobuf, "protobuf", false),
    (Tracing, "tracing and OTLP", false),
    (Runtime, "runtime plumbing", false),
    (Surface, "surface", false),
    (Permission, "permission", false),
    (Policy, "policy and matching", false),
    (Scheduler, "scheduler", false),
    (Executor, "executor", false),
    (StoreOfCalls, "store, on calls' threads", false),
    (StoreWriter, "store, writer", false),
    (StoreCheckpoints, "store, checkpoints", false),
    (Tokio, "tokio", false),
    (Records, "records", true),
    (Json, "JSON", true),
    (Hashing, "hashing", true),
    (Maps, "maps", true),
    (Allocator, "allocator", true),
    (Memory, "memory: copies, compares", true),
    (Sockets, "sockets", true),
    (KernelNetwork, "kernel: network", true),
    (KernelDisk, "kernel: disk", true),
    (KernelMemory, "kernel: memory", true),
    (KernelScheduling, "kernel: scheduling", true),
    (KernelOther, "kernel: others", true),
    (Standard, "standard library", true),
    (Others, "others", true),
];

/// The first line whose text a symbol starts with says where it belongs; a `*` in front: whose text it holds anywhere.
const FUNCTIONS: [(&str, Layer); 85] = [
    ("*_service_server::", Http),
    ("*_service_client::", Http),
    ("*serde_core::", Json),
    ("*prost::", Protobuf),
    ("mi_", Allocator),
    ("_mi_", Allocator),
    ("__rustc::__r", Allocator),
    ("malloc", Allocator),
    ("calloc", Allocator),
    ("realloc", Allocator),
    ("cfree", Allocator),
    ("alloc::raw_vec", Allocator),
    ("alloc::alloc", Allocator),
    ("__mem", Memory),
    ("mem", Memory),
    ("core::slice::memchr", Memory),
    ("bytes", Memory),
    ("core::hash", Hashing),
    ("std::hash", Hashing),
    ("foldhash", Hashing),
    ("ahash", Hashing),
    ("sha2", Hashing),
    ("crc32c", Hashing),
    ("redb::tree_store::page_store::xxh3", Hashing),
    ("twox_hash", Hashing),
    ("http::header::map::hash", Hashing),
    ("alloc::collections::btree", Maps),
    ("std::collections", Maps),
    ("hashbrown", Maps),
    ("indexmap", Maps),
    ("dashmap", Maps),
    ("serde", Json),
    ("jsonschema", Json),
    ("itoa", Json),
    ("zmij", Json),
    ("toolplane_records::json", Json),
    ("toolplane_records", Records),
    ("uuid", Records),
    ("jiff", Records),
    ("tonic", Http),
    ("h2", Http),
    ("http", Http),
    ("hyper", Http),
    ("axum", Http),
    ("tower", Http),
    ("matchit", Http),
    ("rustls", Http),
    ("toolplane_proto", Protobuf),
    ("tracing", Tracing),
    ("opentelemetry", Tracing),
    ("sharded_slab", Tracing),
    ("toolplane_runtime::telemetry", Tracing),
    ("toolplane_runtime", Runtime),
    ("toolplane_backend", Runtime),
    ("toolplane_surface", Surface),
    ("toolplane_catalog", Surface),
    ("toolplane_permission", Permission),
    ("toolplane_policy", Policy),
    ("toolplane_matching", Policy),
    ("toolplane_cedar", Policy),
    ("cedar_policy", Policy),
    ("toolplane_scheduler", Scheduler),
    ("toolplane_lifecycle", Scheduler),
    ("toolplane_results", Scheduler),
    ("toolplane_hooks", Scheduler),
    ("toolplane_executor", Executor),
    ("toolplane_execution", Executor),
    ("toolplane_sandbox", Executor),
    ("toolplane_store", StoreOfCalls),
    ("redb", StoreOfCalls),
    ("redis", StoreOfCalls),
    ("lz4_flex", StoreOfCalls),
    ("mio::net", Sockets),
    ("tokio::net", Sockets),
    ("tokio::io", Sockets),
    ("tokio::runtime::io::registration", Sockets),
    ("std::sys::net", Sockets),
    ("std::net", Sockets),
    ("tokio_stream", Others),
    ("tokio_util", Others),
    ("mio", Tokio),
    ("tokio", Tokio),
    ("core::", Standard),
    ("alloc::", Standard),
    ("std::", Standard),
];

/// The same for functions of the kernel. The outermost one that is known says what the kernel was asked for.
const KERNEL: [(&str, Layer); 28] = [
    ("sock_", KernelNetwork),
    ("__sock_", KernelNetwork),
    ("__sys_send", KernelNetwork),
    ("__sys_recv", KernelNetwork),
    ("___sys_", KernelNetwork),
    ("tcp_", KernelNetwork),
    ("net_rx_action", KernelNetwork),
    ("vfs_fsync", KernelDisk),
    ("do_fsync", KernelDisk),
    ("ext4_", KernelDisk),
    ("xfs_", KernelDisk),
    ("btrfs_", KernelDisk),
    ("generic_file_", KernelDisk),
    ("generic_perform_write", KernelDisk),
    ("blk_", KernelDisk),
    ("__x64_sys_pwrite", KernelDisk),
    ("__x64_sys_pread", KernelDisk),
    ("exc_page_fault", KernelMemory),
    ("asm_exc_page_fault", KernelMemory),
    ("__x64_sys_m", KernelMemory),
    ("do_madvise", KernelMemory),
    ("do_futex", KernelScheduling),
    ("__x64_sys_futex", KernelScheduling),
    ("do_epoll", KernelScheduling),
    ("__x64_sys_epoll", KernelScheduling),
    ("eventfd_", KernelScheduling),
    ("__x64_sys_sched", KernelScheduling),
    ("schedule", KernelScheduling),
];

/// Threads whose whole work is for one layer. Linux keeps the first 15 characters of a name.
const THREADS: [(&str, Layer); 3] =
    [("store-writer", StoreWriter), ("store-checkpoin", StoreCheckpoints), ("OpenTelemetry", Tracing)];

/// The layer that all work of a thread is for, if there is one.
pub(super) fn of_thread(name: &str) -> Option<Layer> {
    THREADS.iter().find(|(known, _)| name.starts_with(known)).map(|(_, layer)| *layer)
}

/// The layer a function of a program belongs to, by its demangled symbol.
pub(super) fn of_function(symbol: &str) -> Layer {
    let path = path(symbol);
    let fits = |text: &str| match text.strip_prefix('*') {
        Some(part) => symbol.contains(part),
        None => path.starts_with(text),
    };
    FUNCTIONS.iter().find(|(text, _)| fits(text)).map_or(Others, |(_, layer)| *layer)
}

/// What the kernel was asked for, by its functions, the innermost first.
pub(super) fn of_kernel<'a>(symbols: impl DoubleEndedIterator<Item = &'a str>) -> Layer {
    let known = |symbol: &str| KERNEL.iter().find(|(text, _)| symbol.starts_with(text)).map(|(_, layer)| *layer);
    symbols.rev().find_map(known).unwrap_or(KernelOther)
}

/// Whether a layer works for the one that calls it.
pub(super) fn works_for_others(layer: Layer) -> bool {
    LAYERS.iter().any(|(known, _, works)| *known == layer && *works)
}

/// The path a symbol starts with: of the type in `<Type as Trait>::function`, of the trait where the type is a parameter, of
/// what is dropped in `drop_in_place`.
fn path(symbol: &str) -> &str {
    if let Some(dropped) = symbol.strip_prefix("core::ptr::drop_in_place<") {
        return of_somebody(dropped).unwrap_or(symbol);
    }
    let path = start(symbol);
    let word = path.find(|next: char| !next.is_alphanumeric() && next != '_').unwrap_or(path.len());
    match path[word..].split_once(" as ") {
        Some((_, trait_path)) if !path[word..].starts_with("::") => start(trait_path),
        _ => path,
    }
}

/// Without the signs before a path.
fn start(text: &str) -> &str {
    const SIGNS: [&str; 10] = ["<", "&", "*", "(", "[", " ", "mut ", "const ", "dyn ", "impl "];
    let mut text = text;
    while let Some(rest) = SIGNS.iter().find_map(|sign| text.strip_prefix(sign)) {
        text = rest;
    }
    text
}

/// The first path in a type that is not the standard library's.
fn of_somebody(text: &str) -> Option<&str> {
    let mut rest = start(text);
    while !rest.is_empty() {
        let is_path =
            rest.find("::").is_some_and(|end| rest[..end].chars().all(|one| one.is_alphanumeric() || one == '_'));
        if is_path && !["core::", "alloc::", "std::"].iter().any(|own| rest.starts_with(own)) {
            return Some(rest);
        }
        let next = rest.find(['<', ',', '(', ' ', '>'])?;
        rest = start(&rest[next + 1..]);
    }
    None
}

#[cfg(test)]
mod tests;
