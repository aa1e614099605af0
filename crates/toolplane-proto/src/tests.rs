use prost::Message as _;
use prost_types::FileDescriptorSet;

/// The descriptor set is whole: the six services, and every file that is imported.
#[test]
fn descriptor_set_is_complete() {
    let set = FileDescriptorSet::decode(crate::FILE_DESCRIPTOR_SET).unwrap();
    let mut services: Vec<&str> = set.file.iter().flat_map(|file| &file.service).map(|one| one.name()).collect();
    services.sort_unstable();
    assert_eq!(
        services,
        [
            "HookService",
            "InvocationService",
            "PermissionService",
            "ProviderService",
            "RerankService",
            "SurfaceService",
            "WorkerService"
        ]
    );
    for file in &set.file {
        for import in &file.dependency {
            assert!(set.file.iter().any(|other| other.name() == import), "{import} is missing");
        }
    }
}
