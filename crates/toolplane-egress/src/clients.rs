//! From names to addresses a request may connect to.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use reqwest::Client;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect;
use toolplane_catalog::values::Egress;
use toolplane_matching::host::is_public;

/// Most clients kept; each is one connection pool for one allow list.
const MAX_CLIENTS: usize = 64;

/// Finds the addresses of a host name.
pub trait Lookup: Send + Sync + std::fmt::Debug {
    /// All addresses of `name`.
    fn lookup(&self, name: &str) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>>;
}

/// The resolver of the operating system.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemLookup;

impl Lookup for SystemLookup {
    fn lookup(&self, name: &str) -> BoxFuture<'static, std::io::Result<Vec<IpAddr>>> {
        let name = name.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// A name that resolves to an address its tool may not reach.
#[derive(Debug)]
pub struct DeniedAddress(pub IpAddr);

impl std::fmt::Display for DeniedAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the host stands for {}, which is not allowed for this tool", self.0)
    }
}

impl std::error::Error for DeniedAddress {}

/// The reason, if a request was not sent because its host stands for an address that is not allowed.
pub fn denied(error: &reqwest::Error) -> Option<String> {
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        if let Some(denied) = next.downcast_ref::<DeniedAddress>() {
            return Some(denied.to_string());
        }
        cause = next.source();
    }
    None
}

/// Whether `name`, which is allowed, may stand for `address`: a public one, or one that is listed itself, or loopback when
/// `localhost` is listed by name.
pub fn allows_address(egress: &Egress, name: &str, address: IpAddr) -> bool {
    is_public(address) || egress.lists_address(address) || (address.is_loopback() && egress.lists_as_localhost(name))
}

/// Resolves for one allow list. One address that is not allowed refuses the name: a mixed answer is an attack.
#[derive(Debug)]
struct Guard {
    egress: Egress,
    lookup: Arc<dyn Lookup>,
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let (egress, found) = (self.egress.clone(), self.lookup.lookup(name.as_str()));
        Box::pin(async move {
            let addresses = found.await?;
            if let Some(denied) = addresses.iter().find(|address| !allows_address(&egress, name.as_str(), **address)) {
                return Err(DeniedAddress(*denied).into());
            }
            let checked: Addrs = Box::new(addresses.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(checked)
        })
    }
}

/// One client for each allow list in use.
#[derive(Debug)]
pub struct Clients {
    lookup: Arc<dyn Lookup>,
    made: Mutex<BTreeMap<Egress, Client>>,
}

impl Clients {
    /// None yet; names are looked up by `lookup`.
    pub fn new(lookup: Arc<dyn Lookup>) -> Self {
        Self { lookup, made: Mutex::default() }
    }

    /// The client whose connections go only where `egress` allows. It looks at no URL: ask `egress` first.
    ///
    /// # Errors
    ///
    /// What `reqwest` says when TLS cannot be set up.
    pub fn of(&self, egress: &Egress) -> reqwest::Result<Client> {
        let mut made = self.made.lock();
        if let Some(client) = made.get(egress) {
            return Ok(client.clone());
        }
        let guard = Guard { egress: egress.clone(), lookup: Arc::clone(&self.lookup) };
        let client = Client::builder()
            .dns_resolver(Arc::new(guard))
            .redirect(redirect::Policy::none())
            .no_proxy()
            .referer(false)
            .connect_timeout(Duration::from_secs(10))
            .pool_idle_timeout(Duration::from_secs(30))
            .user_agent(concat!("toolplane/", env!("CARGO_PKG_VERSION")))
            .build()?;
        if made.len() >= MAX_CLIENTS {
            made.pop_first();
        }
        made.insert(egress.clone(), client.clone());
        Ok(client)
    }
}

/// What lies at the bottom of `error`: what the system or the protocol says. The outermost text has the URL, so nothing is told of an
/// error that is its own bottom.
pub fn innermost(error: &reqwest::Error) -> Option<String> {
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    (!std::ptr::eq(cause, error as &dyn std::error::Error)).then(|| cause.to_string())
}
