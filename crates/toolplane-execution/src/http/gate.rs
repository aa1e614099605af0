//! Hosts a sandboxed program may reach: the allow list of HTTP tools, asked for every connection.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::net::TcpStream;
use toolplane_catalog::values::Egress;
use toolplane_egress::{DeniedAddress, Lookup, allows_address};
use toolplane_matching::host::one_spelling;
use toolplane_sandbox::{Gate, GateError, Target};

/// How long finding the addresses of a name and connecting to one may take together.
const CONNECT_BOUND: Duration = Duration::from_secs(10);

/// Connects sandboxed programs to the hosts and ports of an allow list, as [`toolplane_sandbox::SandboxSpec::network`].
///
/// What a name stands for is decided as for HTTP tools: one address that is neither public nor listed itself refuses the name, so
/// loopback, private networks and the metadata services of clouds are out of reach unless their address is listed. Only an address that
/// was decided on is connected to. Methods are not looked at: most connections are tunnels, and nothing of them is read.
#[derive(Debug)]
pub struct EgressGate {
    egress: Egress,
    lookup: Arc<dyn Lookup>,
}

impl EgressGate {
    /// A gate for `egress`; names are looked up by `lookup`.
    pub fn new(egress: Egress, lookup: Arc<dyn Lookup>) -> Self {
        Self { egress, lookup }
    }

    /// The addresses of `target` that may be connected to: at least one.
    async fn addresses(&self, target: &Target) -> Result<Vec<SocketAddr>, GateError> {
        let refused = |error: Box<toolplane_records::error::ToolError>| GateError::Refused(error.message);
        self.egress.check_place(&target.host, target.port).map_err(refused)?;
        let found = match one_spelling(&target.host) {
            Some((_, Some(address))) => vec![address],
            Some((name, None)) => self.resolve(&name).await?,
            // What is no host was refused above.
            None => Vec::new(),
        };
        match found.is_empty() {
            true => Err(io::Error::new(io::ErrorKind::NotFound, "the name stands for no address").into()),
            false => Ok(found.into_iter().map(|address| SocketAddr::new(address, target.port)).collect()),
        }
    }

    async fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, GateError> {
        let found = self.lookup.lookup(name).await?;
        match found.iter().find(|address| !allows_address(&self.egress, name, **address)) {
            Some(denied) => Err(GateError::Refused(DeniedAddress(*denied).to_string())),
            None => Ok(found),
        }
    }

    async fn reach(&self, target: &Target) -> Result<TcpStream, GateError> {
        let addresses = self.addresses(target).await?;
        // Tries one after the other, and tells of the last.
        Ok(TcpStream::connect(addresses.as_slice()).await?)
    }
}

impl Gate for EgressGate {
    fn connect(&self, target: Target) -> BoxFuture<'_, Result<TcpStream, GateError>> {
        Box::pin(async move {
            let late = || io::Error::new(io::ErrorKind::TimedOut, "not connected within 10 s");
            tokio::time::timeout(CONNECT_BOUND, self.reach(&target)).await.unwrap_or_else(|_| Err(late().into()))
        })
    }
}
