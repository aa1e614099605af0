//! The methods that are answered, found in the descriptors of the contract: every one that some caller from outside may use.

use std::sync::{Arc, LazyLock};

use http::uri::PathAndQuery;
use prost_reflect::{DescriptorPool, Kind, MessageDescriptor, MethodDescriptor};
use toolplane_proto::FILE_DESCRIPTOR_SET;
use toolplane_records::cluster::ClusterRole;
use toolplane_runtime::server::access;

/// The services that are answered for, and the roles that serve them.
const SERVICES: [(&str, ClusterRole); 4] = [
    ("toolplane.v1.SurfaceService", ClusterRole::Surface),
    ("toolplane.v1.ProviderService", ClusterRole::Surface),
    ("toolplane.v1.PermissionService", ClusterRole::Permission),
    ("toolplane.v1.InvocationService", ClusterRole::Scheduler),
];

/// How the parts of a call travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A message, and a message.
    Unary,
    /// A message, and many: events.
    Stream,
    /// A message, and the bytes of something in pieces.
    Download,
    /// The bytes of something in pieces, and a message.
    Upload,
}

/// One method.
#[derive(Clone, Debug)]
pub(crate) struct Method {
    /// `toolplane.v1.InvocationService/Call`.
    pub(crate) name: String,
    /// `/v1/call`.
    pub(crate) route: String,
    /// `/toolplane.v1.InvocationService/Call`.
    pub(crate) path: PathAndQuery,
    /// Which role answers it.
    pub(crate) role: ClusterRole,
    pub(crate) shape: Shape,
    pub(crate) input: MessageDescriptor,
    pub(crate) output: MessageDescriptor,
}

impl Method {
    /// `InvocationService`.
    pub(crate) fn service(&self) -> &str {
        let service = self.name.split_once('/').map_or("", |(service, _)| service);
        service.rsplit_once('.').map_or(service, |(_, short)| short)
    }

    /// `Call`.
    pub(crate) fn short_name(&self) -> &str {
        self.name.split_once('/').map_or("", |(_, method)| method)
    }
}

/// All of them.
pub(crate) fn all() -> &'static [Arc<Method>] {
    static ALL: LazyLock<Vec<Arc<Method>>> = LazyLock::new(|| {
        // The descriptors are part of the program; a test reads them.
        let pool = DescriptorPool::decode(FILE_DESCRIPTOR_SET).unwrap_or_default();
        public(&pool).into_iter().map(Arc::new).collect()
    });
    &ALL
}

/// The methods of a set of descriptors that some caller from outside may use, service by service.
pub(crate) fn public(pool: &DescriptorPool) -> Vec<Method> {
    let services = SERVICES.into_iter().filter_map(|(name, role)| Some((pool.get_service_by_name(name)?, role)));
    let methods =
        services.flat_map(|(service, role)| service.methods().map(move |method| (method, role)).collect::<Vec<_>>());
    methods.filter_map(|(method, role)| one(&method, role)).collect()
}

fn one(method: &MethodDescriptor, role: ClusterRole) -> Option<Method> {
    let name = format!("{}/{}", method.parent_service().full_name(), method.name());
    if access::open_to(&name).is_empty() {
        return None;
    }
    Some(Method {
        path: PathAndQuery::try_from(format!("/{name}")).ok()?,
        route: format!("/v1/{}", kebab(method.name())),
        name,
        role,
        shape: shape(method)?,
        input: method.input(),
        output: method.output(),
    })
}

/// Nothing where both sides send many messages: no single request can carry that.
fn shape(method: &MethodDescriptor) -> Option<Shape> {
    match (method.is_client_streaming(), method.is_server_streaming()) {
        (false, false) => Some(Shape::Unary),
        (false, true) if pieces(&method.output()) => Some(Shape::Download),
        (false, true) => Some(Shape::Stream),
        (true, false) if pieces(&method.input()) => Some(Shape::Upload),
        (true, _) => None,
    }
}

/// Whether messages like this are pieces of something: their first field is `bytes data`.
fn pieces(message: &MessageDescriptor) -> bool {
    message.get_field(1).is_some_and(|first| first.name() == "data" && first.kind() == Kind::Bytes)
}

/// `GetTool` as `get-tool`.
fn kebab(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    for (at, letter) in name.chars().enumerate() {
        if letter.is_ascii_uppercase() && at > 0 {
            out.push('-');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_public_method_has_a_path_of_its_own() {
        let methods = all();
        let routes: HashSet<&str> = methods.iter().map(|method| method.route.as_str()).collect();
        assert_eq!(routes.len(), methods.len(), "two methods of one name cannot both be a path");
        let open = access::TABLE.iter().filter(|(name, _)| !access::open_to(name).is_empty());
        let names: HashSet<&str> = methods.iter().map(|method| method.name.as_str()).collect();
        assert_eq!(names, open.map(|(name, _)| *name).collect(), "every method that is open has a path");
        assert!(routes.contains("/v1/call") && routes.contains("/v1/list-surface-tools"), "{routes:?}");
    }

    #[test]
    fn nothing_of_the_clusters_own_is_there() {
        for own in ["ResolveTool", "SyncCatalog", "TellProviders", "Decide", "WithdrawApproval", "WatchPolicy", "Work"]
        {
            let found = all().iter().find(|method| method.name.ends_with(&format!("/{own}")));
            assert!(found.is_none(), "{found:?}");
        }
    }

    #[test]
    fn what_comes_in_pieces_is_known_by_its_messages() {
        let shape = |route: &str| all().iter().find(|method| method.route == route).map(|method| method.shape);
        assert_eq!(shape("/v1/call"), Some(Shape::Unary));
        assert_eq!(shape("/v1/watch-invocation"), Some(Shape::Stream));
        assert_eq!(shape("/v1/read-payload"), Some(Shape::Download));
        assert_eq!(shape("/v1/upload-document"), Some(Shape::Upload));
    }
}
