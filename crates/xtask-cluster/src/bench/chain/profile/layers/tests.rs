use super::*;

#[test]
fn a_function_belongs_to_the_layer_of_its_path() {
    let cases = [
        ("toolplane_scheduler::rpc::encode::events", Scheduler),
        ("<toolplane_scheduler::rpc::invocations::InvocationApi as a::b::C>::invoke::{{closure}}", Scheduler),
        (
            "<toolplane_proto::v1::invocation_service_server::InvocationServiceServer<T> as tower_service::Service<R>>::call",
            Http,
        ),
        ("<toolplane_proto::v1::Event as prost::message::Message>::encoded_len", Protobuf),
        (
            "toolplane_records::persistence::_::<impl serde_core::ser::Serialize for toolplane_records::X>::serialize",
            Json,
        ),
        ("toolplane_records::ids::InvocationId::parse", Records),
        ("<&mut serde_json::ser::Serializer<W,F> as a::Serializer>::serialize_str", Json),
        ("<Q as hashbrown::Equivalent<K>>::equivalent", Maps),
        ("<[T] as tonic::Some>::thing", Http),
        ("<toolplane_policy::set::Set as core::clone::Clone>::clone", Policy),
        ("core::ptr::drop_in_place<core::option::Option<toolplane_executor::messages::call::Call>>", Executor),
        ("core::ptr::drop_in_place<alloc::vec::Vec<u8>>", Standard),
        ("alloc::vec::Vec<T,A>::extend_from_slice", Standard),
        ("toolplane_runtime::telemetry::spans::open", Tracing),
        ("toolplane_runtime::tasks::spawn::{{closure}}", Runtime),
        ("_mi_page_malloc_zero", Allocator),
        ("alloc::raw_vec::RawVecInner<A>::finish_grow", Allocator),
        ("__memmove_avx512_unaligned_erms", Memory),
        ("<bytes::bytes_mut::BytesMut as bytes::buf::buf_mut::BufMut>::put_slice", Memory),
        ("redb::tree_store::page_store::xxh3::hash128_large_avx2", Hashing),
        ("redb::tree_store::btree_mutator::MutateHelper<K,V>::insert_helper", StoreOfCalls),
        ("tokio::net::tcp::stream::TcpStream::poll_write_priv", Sockets),
        ("tokio::runtime::task::harness::Harness<T,S>::poll", Tokio),
        ("", Others),
    ];
    for (symbol, layer) in cases {
        assert_eq!(of_function(symbol), layer, "{symbol}");
    }
}

#[test]
fn the_kernel_is_told_by_what_it_was_asked_for() {
    let sync = ["finish_task_switch", "schedule", "io_schedule", "ext4_sync_file", "do_fsync", "do_syscall_64"];
    assert_eq!(of_kernel(sync.into_iter()), KernelDisk, "it sleeps because of the disk");
    assert_eq!(of_kernel(["memcpy", "tcp_sendmsg", "sock_write_iter", "ksys_write"].into_iter()), KernelNetwork);
    assert_eq!(of_kernel(["clear_page_erms", "handle_mm_fault", "exc_page_fault"].into_iter()), KernelMemory);
    assert_eq!(of_kernel(["schedule", "futex_wait", "do_futex", "__x64_sys_futex"].into_iter()), KernelScheduling);
    assert_eq!(of_kernel(["native_write_msr"].into_iter()), KernelOther);
}

#[test]
fn every_layer_has_a_name_and_something_in_it() {
    for (layer, name, _) in LAYERS {
        let lines = FUNCTIONS.iter().chain(&KERNEL).chain(&THREADS);
        let has_lines = lines.into_iter().any(|(_, known)| *known == layer);
        assert!(has_lines || matches!(layer, KernelOther | Others), "{name}");
        assert_eq!(LAYERS.iter().filter(|(known, ..)| *known == layer).count(), 1, "{name}");
    }
    assert_eq!(of_thread("store-checkpoin"), Some(StoreCheckpoints));
    assert_eq!(of_thread("tokio-rt-worker"), None);
}
