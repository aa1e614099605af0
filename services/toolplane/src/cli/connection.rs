//! The way to a cluster: endpoint, credential, trust, and the clients of its services.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Request, Status};
use toolplane_proto::v1::invocation_service_client::InvocationServiceClient;
use toolplane_proto::v1::permission_service_client::PermissionServiceClient;
use toolplane_proto::v1::provider_service_client::ProviderServiceClient;
use toolplane_proto::v1::surface_service_client::SurfaceServiceClient;
use toolplane_runtime::tls::{Probe, TlsFault};

use super::failure::Failure;

/// How long a port may take to show whether it speaks TLS.
const PROBE: Duration = Duration::from_millis(500);
/// Largest answer taken; a listener sends at most 4 MiB unless it was configured otherwise.
pub(crate) const MAX_ANSWER_BYTES: usize = 64 * 1024 * 1024;

/// Where the cluster is and who asks.
#[derive(Clone, Args)]
#[command(next_help_heading = "Connection")]
pub struct ConnectionArgs {
    /// The cluster.
    #[arg(long, global = true, env = "TOOLPLANE_ENDPOINT", default_value = "http://127.0.0.1:7420")]
    endpoint: String,
    /// The API key, JSON Web Token or bearer token; better given by file or environment, where other users of the machine do
    /// not see it.
    #[arg(long, global = true, env = "TOOLPLANE_TOKEN", hide_env_values = true, conflicts_with = "token_file")]
    token: Option<String>,
    /// A file that holds the API key, JSON Web Token or bearer token.
    #[arg(long, global = true, env = "TOOLPLANE_TOKEN_FILE")]
    token_file: Option<PathBuf>,
    /// A PEM file with the certificates to trust, for `https` endpoints.
    #[arg(long, global = true, env = "TOOLPLANE_CA_FILE")]
    ca_file: Option<PathBuf>,
    /// A PEM file with this client's certificate, for clusters that know callers by it.
    #[arg(long, global = true, env = "TOOLPLANE_CERT_FILE", requires = "key_file")]
    cert_file: Option<PathBuf>,
    /// A PEM file with the private key of the certificate.
    #[arg(long, global = true, env = "TOOLPLANE_KEY_FILE", requires = "cert_file")]
    key_file: Option<PathBuf>,
    /// The name in the cluster's certificate, when it is not the host of the endpoint.
    #[arg(long, global = true, env = "TOOLPLANE_SERVER_NAME")]
    server_name: Option<String>,
}

impl fmt::Debug for ConnectionArgs {
    /// Without the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConnectionArgs").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

/// Says with every request who asks, and continues the trace of the environment (`TRACEPARENT`), when there is one.
#[derive(Clone, Default)]
pub(crate) struct Caller {
    headers: Vec<(&'static str, MetadataValue<Ascii>)>,
}

impl Interceptor for Caller {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        for (name, value) in &self.headers {
            request.metadata_mut().insert(*name, value.clone());
        }
        Ok(request)
    }
}

/// The transport under every client.
pub(crate) type Transport = InterceptedService<Channel, Caller>;

/// An open connection to one cluster.
pub(crate) struct Connection {
    transport: Transport,
}

impl Connection {
    /// Connects, so that a cluster that is not there is noticed before anything else.
    pub(crate) async fn open(args: &ConnectionArgs) -> Result<Self, Failure> {
        let endpoint = endpoint(args)?;
        let caller = caller(args)?;
        let channel = endpoint.connect().await.map_err(|error| unreachable(args, &error))?;
        Ok(Self { transport: InterceptedService::new(channel, caller) })
    }

    /// For clients of services that are not ours.
    pub(crate) fn transport(&self) -> Transport {
        self.transport.clone()
    }

    /// Declarations, surfaces, search.
    pub(crate) fn surfaces(&self) -> SurfaceServiceClient<Transport> {
        SurfaceServiceClient::new(self.transport.clone()).max_decoding_message_size(MAX_ANSWER_BYTES)
    }

    /// Where tools come from.
    pub(crate) fn providers(&self) -> ProviderServiceClient<Transport> {
        ProviderServiceClient::new(self.transport.clone()).max_decoding_message_size(MAX_ANSWER_BYTES)
    }

    /// Rules and approvals.
    pub(crate) fn permissions(&self) -> PermissionServiceClient<Transport> {
        PermissionServiceClient::new(self.transport.clone()).max_decoding_message_size(MAX_ANSWER_BYTES)
    }

    /// Calls and their results.
    pub(crate) fn invocations(&self) -> InvocationServiceClient<Transport> {
        InvocationServiceClient::new(self.transport.clone()).max_decoding_message_size(MAX_ANSWER_BYTES)
    }
}

fn endpoint(args: &ConnectionArgs) -> Result<Endpoint, Failure> {
    let wrong = |reason: String| Failure::Usage(format!("`{}` is not an endpoint: {reason}", args.endpoint));
    let address = match args.endpoint.contains("://") {
        true => args.endpoint.clone(),
        false => format!("http://{}", args.endpoint),
    };
    let endpoint = Endpoint::from_shared(address.clone()).map_err(|error| wrong(root_cause(&error)))?;
    let uri = endpoint.uri();
    if !matches!(uri.scheme_str(), Some("http" | "https")) || !matches!(uri.path(), "" | "/") || uri.query().is_some() {
        return Err(wrong("it is `http://` or `https://`, a host and a port, and nothing after it".to_owned()));
    }
    let mut endpoint = endpoint
        .connect_timeout(Duration::from_secs(5))
        .http2_keep_alive_interval(Duration::from_secs(20))
        .tcp_nodelay(true);
    if address.starts_with("https://") {
        endpoint = endpoint.tls_config(tls(args)?).map_err(|error| match (&args.cert_file, &args.key_file) {
            (Some(certificate), Some(key)) => {
                let (certificate, key) = (certificate.display(), key.display());
                Failure::Usage(format!("cannot use `{certificate}` with the key `{key}`: {}", root_cause(&error)))
            }
            _ => wrong(root_cause(&error)),
        })?;
    } else if args.ca_file.is_some() || args.cert_file.is_some() {
        return Err(Failure::Usage("certificates need an `https://` endpoint".to_owned()));
    }
    Ok(endpoint)
}

/// Whom to trust, and which certificate to show.
fn tls(args: &ConnectionArgs) -> Result<ClientTlsConfig, Failure> {
    let read = |file: &PathBuf| std::fs::read(file).map_err(|error| Failure::file(file, &error));
    let mut tls = ClientTlsConfig::new();
    if let Some(file) = &args.ca_file {
        let pem = read(file)?;
        if !toolplane_runtime::tls::holds_certificate(&pem) {
            let rule = "it holds no certificate (PEM), so it names no authority to trust";
            return Err(Failure::Usage(format!("cannot use `{}` as --ca-file: {rule}", file.display())));
        }
        tls = tls.ca_certificate(Certificate::from_pem(pem));
    }
    if let (Some(certificate), Some(key)) = (&args.cert_file, &args.key_file) {
        tls = tls.identity(Identity::from_pem(read(certificate)?, read(key)?));
    }
    if let Some(name) = &args.server_name {
        tls = tls.domain_name(name);
    }
    Ok(tls)
}

fn caller(args: &ConnectionArgs) -> Result<Caller, Failure> {
    let mut caller = Caller::default();
    let token = match (&args.token, &args.token_file) {
        (Some(token), _) => Some(token.clone()),
        (None, Some(file)) => Some(std::fs::read_to_string(file).map_err(|error| Failure::file(file, &error))?),
        (None, None) => None,
    };
    if let Some(token) = token {
        if token.trim().is_empty() {
            let place = args.token_file.as_ref().map_or("--token".to_owned(), |file| format!("`{}`", file.display()));
            return Err(Failure::Usage(format!("there is no token in {place}: it is empty")));
        }
        let mut value = format!("Bearer {}", token.trim())
            .parse::<MetadataValue<Ascii>>()
            .map_err(|_| Failure::Usage("the token holds characters a header cannot carry".to_owned()))?;
        value.set_sensitive(true);
        caller.headers.push(("authorization", value));
    }
    for (name, variable) in [("traceparent", "TRACEPARENT"), ("tracestate", "TRACESTATE")] {
        if let Some(value) = std::env::var(variable).ok().and_then(|value| value.parse().ok()) {
            caller.headers.push((name, value));
        }
    }
    Ok(caller)
}

/// A better message for a connection that broke: the port speaks TLS, or does not take our certificate. How such a
/// connection breaks is a matter of moments, so the port is asked once more, by itself.
pub(crate) async fn diagnose(args: &ConnectionArgs, failure: Failure) -> Failure {
    let broke = matches!(&failure, Failure::Api(status) if toolplane_runtime::status::reason(status).is_none());
    let Ok(endpoint) = endpoint(args) else { return failure };
    if !broke {
        return failure;
    }
    let fault = match endpoint.uri().scheme_str() {
        Some("https") => of_certificates(args, endpoint.uri()).await,
        _ => match tokio::time::timeout(PROBE, speaks_tls(endpoint.uri())).await {
            Ok(Ok(true)) => Some(TlsFault::TlsPort),
            _ => None,
        },
    };
    fault.map_or(failure, |fault| Failure::Encryption { endpoint: Some(args.endpoint.clone()), fault })
}

/// What TLS says against a connection of ours.
async fn of_certificates(args: &ConnectionArgs, at: &http::Uri) -> Option<TlsFault> {
    let read = |file: &Option<PathBuf>| file.as_ref().and_then(|file| std::fs::read(file).ok());
    let probe = Probe {
        host: bare_host(at).to_owned(),
        port: at.port_u16().unwrap_or(443),
        server_name: args.server_name.clone(),
        ca: read(&args.ca_file).unwrap_or_default(),
        identity: read(&args.cert_file).zip(read(&args.key_file)),
    };
    tokio::task::spawn_blocking(move || probe.run()).await.ok().flatten()
}

fn bare_host(at: &http::Uri) -> &str {
    at.host().unwrap_or_default().trim_start_matches('[').trim_end_matches(']')
}

/// Whether a port answers the beginning of HTTP/2 with what a TLS server says to it: an alert, or our own words.
async fn speaks_tls(at: &http::Uri) -> std::io::Result<bool> {
    let mut stream = tokio::net::TcpStream::connect((bare_host(at), at.port_u16().unwrap_or(80))).await?;
    stream.write_all(toolplane_runtime::tls::HTTP2_PREFACE).await?;
    let mut said = Vec::new();
    while said.len() < 64 && stream.read_buf(&mut said).await? > 0 {}
    Ok(toolplane_runtime::tls::is_of_tls(&said))
}

/// Why there is no connection: encryption told apart from a cluster that is not there.
fn unreachable(args: &ConnectionArgs, error: &tonic::transport::Error) -> Failure {
    let endpoint = args.endpoint.clone();
    match TlsFault::find(error) {
        Some(fault) => Failure::Encryption { endpoint: Some(endpoint), fault },
        None => Failure::Unreachable { endpoint, reason: root_cause(error) },
    }
}

/// The innermost cause of an error: what the operating system or the TLS library said.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// What the command line calls itself in records.
pub(crate) const PRODUCER: &str = "toolplane-cli";
