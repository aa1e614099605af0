//! The services of a server, their names and their descriptors.

use foldhash::HashSet;
use std::convert::Infallible;
use std::sync::Arc;

use prost::Message;
use prost_types::FileDescriptorSet;
use tonic::body::Body;
use tonic::server::NamedService;
use tonic::service::{Routes, RoutesBuilder};
use tower::Service;

use super::error::ServerError;

/// The generated services one process answers for.
#[derive(Debug, Default)]
pub struct Services {
    routes: RoutesBuilder,
    names: Vec<&'static str>,
    descriptors: Vec<FileDescriptorSet>,
    untraced: HashSet<&'static str>,
}

impl Services {
    /// No service yet. `descriptors` is an encoded `FileDescriptorSet` of the services to come. Fails with
    /// [`ServerError::Descriptors`] when they cannot be decoded.
    pub fn new(descriptors: &[u8]) -> Result<Self, ServerError> {
        let set =
            FileDescriptorSet::decode(descriptors).map_err(|error| ServerError::Descriptors(error.to_string()))?;
        Ok(Self { descriptors: vec![set], ..Self::default() })
    }

    /// Adds a generated service. Set its message limits before.
    #[must_use]
    pub fn with<S>(mut self, service: S) -> Self
    where
        S: Service<http::Request<Body>, Response = http::Response<Body>, Error = Infallible>
            + NamedService
            + Clone
            + Send
            + Sync
            + 'static,
        S::Future: Send + 'static,
    {
        self.routes.add_service(service);
        self.names.push(S::NAME);
        self
    }

    /// Makes no span for this method (`package.Service/Method`): streams that outlive any trace.
    #[must_use]
    pub fn without_span(mut self, method: &'static str) -> Self {
        self.untraced.insert(method);
        self
    }

    pub(super) fn names(&self) -> Vec<&'static str> {
        self.names.clone()
    }

    pub(super) fn catalog(&self) -> Catalog {
        let files = self.descriptors.iter().flat_map(|set| &set.file);
        let methods = files.flat_map(|file| {
            file.service.iter().flat_map(move |service| {
                let name = format!("{}.{}", file.package(), service.name());
                service.method.iter().map(move |method| format!("{name}/{}", method.name())).collect::<Vec<_>>()
            })
        });
        let served = Arc::new(self.names.iter().copied().collect());
        Catalog { methods: Arc::new(methods.collect()), served, untraced: Arc::new(self.untraced.clone()) }
    }

    pub(super) fn into_routes(self, reflection: bool) -> Result<Routes, ServerError> {
        let mut routes = self.routes.routes();
        if reflection {
            let builder = || {
                let mut builder = tonic_reflection::server::Builder::configure()
                    .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET);
                for set in &self.descriptors {
                    builder = builder.register_file_descriptor_set(set.clone());
                }
                builder
            };
            let broken = |error: tonic_reflection::server::Error| ServerError::Descriptors(error.to_string());
            routes = routes.add_service(builder().build_v1().map_err(broken)?);
            routes = routes.add_service(builder().build_v1alpha().map_err(broken)?);
        }
        Ok(routes)
    }
}

/// What a server knows about its methods. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Catalog {
    methods: Arc<HashSet<String>>,
    served: Arc<HashSet<&'static str>>,
    untraced: Arc<HashSet<&'static str>>,
}

impl Catalog {
    /// These methods are described, and these services served.
    #[cfg(test)]
    pub(super) fn of(methods: &[&str], served: &[&'static str]) -> Self {
        Self {
            methods: Arc::new(methods.iter().map(|method| (*method).to_owned()).collect()),
            served: Arc::new(served.iter().copied().collect()),
            untraced: Arc::default(),
        }
    }

    /// Whether `package.Service/Method` is described.
    pub(super) fn knows(&self, method: &str) -> bool {
        self.methods.contains(method)
    }

    /// Whether some service here may answer `package.Service/Method`: it is served, and its descriptor does not say that it has
    /// no such method.
    pub(super) fn serves(&self, method: &str) -> bool {
        let Some((service, _)) = method.split_once('/').filter(|(service, _)| self.served.contains(service)) else {
            return false;
        };
        let mut described = self.methods.iter().filter_map(|method| method.split_once('/'));
        self.knows(method) || !described.any(|(described, _)| described == service)
    }

    /// Whether a call of the method gets a span. Health checks and reflection do not: they say nothing about a call.
    pub(super) fn traces(&self, method: &str) -> bool {
        !method.starts_with("grpc.") && !self.untraced.contains(method)
    }
}
