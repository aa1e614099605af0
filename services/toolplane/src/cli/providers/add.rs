//! `toolplane providers add`: a provider from what is typed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use toolplane_proto::v1;
use toolplane_proto::v1::credential_placement::Place as Spot;
use toolplane_proto::v1::openapi_source::Document;
use toolplane_proto::v1::provider::Source;
use toolplane_records::provider::{Provider, ProviderStatus};

use super::super::connection::Connection;
use super::super::failure::Failure;
use super::super::outcome::CommandOutcome;
use super::super::output::Output;
use super::{both, difference, refresh};

/// Bytes of each part of a document that is handed in.
const PART: usize = 512 * 1024;

/// Where a provider is.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
struct Place {
    /// An MCP server that is a program: the program and its arguments follow after `--`.
    #[arg(long)]
    stdio: bool,
    /// An MCP server at this address.
    #[arg(long, value_name = "URL")]
    mcp: Option<String>,
    /// The operations of this OpenAPI document: a file here, which is handed in, or an address that workers fetch.
    #[arg(long, value_name = "FILE|URL")]
    openapi: Option<String>,
    /// A file of registrations, where the surface role sees it.
    #[arg(long, value_name = "PATH")]
    file: Option<String>,
    /// The native tools of workers that begin with this, e.g. `acme.`; one of them, `acme.list_tools`, says what there is.
    #[arg(long, value_name = "PREFIX")]
    worker: Option<String>,
}

/// A provider.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// Its name: part of the id of each of its tools.
    name: String,
    #[command(flatten)]
    place: Place,
    /// The namespace of its tools; its name when absent.
    #[arg(long, default_value = "")]
    namespace: String,
    /// For people.
    #[arg(long, default_value = "")]
    title: String,
    /// Which of its tools may be called before somebody has looked at them.
    #[arg(long, value_enum, default_value_t = Trust::None)]
    trust: Trust,
    /// A credential of the workers, and where it is put: `env:VARIABLE=NAME`, `file:FILE=NAME`, `proxy:HOST,HEADER=NAME` (more hosts
    /// before the header), `header:HEADER=NAME`, `authorization=NAME`, `query:FIELD=NAME`, `cookie:COOKIE=NAME`, `scheme:SCHEME=NAME`.
    #[arg(long = "credential", value_name = "PLACE=NAME")]
    credentials: Vec<String>,
    /// A host it may reach; may be given several times.
    #[arg(long = "host")]
    hosts: Vec<String>,
    /// A port it may reach there.
    #[arg(long = "port")]
    ports: Vec<u16>,
    /// An environment variable of the program, with a value that is not secret.
    #[arg(long = "env", value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// An environment variable of the worker that is passed on.
    #[arg(long = "pass-env", value_name = "NAME")]
    pass_env: Vec<String>,
    /// A path outside of the workspace that the program may read.
    #[arg(long = "read", value_name = "PATH")]
    read: Vec<String>,
    /// What the program may do in the workspace.
    #[arg(long, value_enum, default_value_t = Workspace::None)]
    workspace: Workspace,
    /// A header of every request, with a value that is not secret.
    #[arg(long = "header", value_name = "NAME=VALUE")]
    headers: Vec<String>,
    /// Only operations with this tag.
    #[arg(long = "tag")]
    tags: Vec<String>,
    /// Only these operations: an id or `METHOD /path`, in which `*` stands for any text.
    #[arg(long = "operation")]
    operations: Vec<String>,
    /// Only operations with this method.
    #[arg(long = "method")]
    methods: Vec<String>,
    /// Leave these operations out, written as in `--operation`.
    #[arg(long = "except")]
    except: Vec<String>,
    /// The server of the operations, in place of the one the document names.
    #[arg(long, default_value = "")]
    server: String,
    /// Ask it again after so many seconds; only when told to when absent.
    #[arg(long, value_name = "SECONDS")]
    every: Option<u64>,
    /// Which calls share one session with it.
    #[arg(long, value_enum, default_value_t = Sessions::Tenant)]
    sessions: Sessions,
    /// Change nothing: only check it, ask it what it has, and tell what that would change. A document is handed in all the same, and
    /// forgotten after a day.
    #[arg(long)]
    dry_run: bool,
    /// Do not wait for its first answer.
    #[arg(long)]
    no_wait: bool,
    /// The program and its arguments, after `--`.
    #[arg(last = true)]
    argv: Vec<String>,
}

/// Which tools of a provider may be called at once.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Trust {
    /// None.
    None,
    /// New ones.
    New,
    /// New and changed ones.
    All,
}

impl Trust {
    pub(super) const fn of_wire(self) -> v1::ProviderTrust {
        match self {
            Self::None => v1::ProviderTrust::Untrusted,
            Self::New => v1::ProviderTrust::NewTools,
            Self::All => v1::ProviderTrust::AllTools,
        }
    }
}

/// What a program may do in the workspace.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Workspace {
    /// It does not see it.
    None,
    /// It reads it.
    Read,
    /// It reads and writes it.
    Write,
}

impl Workspace {
    pub(super) const fn of_wire(self) -> v1::McpWorkspace {
        match self {
            Self::None => v1::McpWorkspace::None,
            Self::Read => v1::McpWorkspace::Read,
            Self::Write => v1::McpWorkspace::Write,
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Sessions {
    /// Every call has its own.
    Call,
    /// The calls of one session.
    Session,
    /// The calls of one tenant.
    Tenant,
}

/// Who types, where the credential names nobody.
pub(super) fn user() -> String {
    std::env::var("USER").unwrap_or_default()
}

/// Makes the provider, waits for its first answer, and prints what it has.
pub(super) async fn run(args: AddArgs, connection: &Connection, out: &mut Output) -> Result<CommandOutcome, Failure> {
    let source = source(&args, connection).await?;
    let provider = provider(&args, source)?;
    put(provider, Put { dry_run: args.dry_run, waits: !args.no_wait }, connection, out).await
}

/// How a provider is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Put {
    /// Only tell what it would be, and what it has.
    pub(super) dry_run: bool,
    /// Wait for its first answer.
    pub(super) waits: bool,
}

/// Makes the provider, or changes it, and prints what it has.
pub(super) async fn put(
    provider: v1::Provider,
    how: Put,
    connection: &Connection,
    out: &mut Output,
) -> Result<CommandOutcome, Failure> {
    let name = provider.provider_id.clone();
    let request =
        v1::PutProviderRequest { provider: Some(provider), dry_run: how.dry_run, preview: how.dry_run, by: user() };
    let answer = connection.providers().put_provider(request).await?.into_inner();
    let (change, preview) = (answer.change.clone(), answer.preview);
    let (provider, status) = both(answer.provider, answer.status)?;
    if out.json() {
        out.record::<Provider, _>(provider)?;
        out.record::<ProviderStatus, _>(status)?;
    } else {
        let would = if how.dry_run { "would be " } else { "" };
        out.line(format!("{}  {would}{change}", provider.provider_id))?;
    }
    match preview {
        Some(preview) => difference::print(&name, preview, true, out),
        None if how.dry_run || !how.waits => Ok(CommandOutcome::Done),
        None => refresh(name, false, connection, out).await,
    }
}

fn provider(args: &AddArgs, source: Source) -> Result<v1::Provider, Failure> {
    let reach = v1::Reach { hosts: args.hosts.clone(), ports: args.ports.iter().copied().map(u32::from).collect() };
    let sessions = match args.sessions {
        Sessions::Call => v1::SessionSharing::None,
        Sessions::Session => v1::SessionSharing::Session,
        Sessions::Tenant => v1::SessionSharing::Tenant,
    };
    let (mut credentials, mut scheme_credentials) = (Vec::new(), BTreeMap::new());
    for text in &args.credentials {
        match credential(text)? {
            Given::Placed(used) => credentials.push(used),
            Given::Scheme(scheme, name) => drop(scheme_credentials.insert(scheme, name)),
        }
    }
    Ok(v1::Provider {
        provider_id: args.name.clone(),
        namespace: args.namespace.clone(),
        title: args.title.clone(),
        source: Some(source),
        reach: Some(reach),
        credentials,
        scheme_credentials,
        trust: args.trust.of_wire().into(),
        sessions: sessions.into(),
        refresh_interval_ms: args.every.map(|seconds| seconds.saturating_mul(1000)),
        ..Default::default()
    })
}

async fn source(args: &AddArgs, connection: &Connection) -> Result<Source, Failure> {
    if args.place.stdio == args.argv.is_empty() {
        let rule = "--stdio and a program after `--` go together: `... add git --stdio -- mcp-server-git`";
        return Err(Failure::Usage(rule.to_owned()));
    }
    if args.place.stdio {
        return Ok(Source::McpStdio(v1::McpStdioSource {
            argv: args.argv.clone(),
            env: pairs("--env", &args.env)?,
            pass_env: args.pass_env.clone(),
            read_only_paths: args.read.clone(),
            workspace: args.workspace.of_wire().into(),
        }));
    }
    if let Some(url) = &args.place.mcp {
        let headers = pairs("--header", &args.headers)?;
        return Ok(Source::McpHttp(v1::McpHttpSource { url: url.clone(), headers }));
    }
    if let Some(path) = &args.place.file {
        return Ok(Source::File(v1::FileSource { path: path.clone() }));
    }
    if let Some(prefix) = &args.place.worker {
        return Ok(Source::Worker(v1::WorkerSource { native_prefix: prefix.clone() }));
    }
    let place = args.place.openapi.clone().unwrap_or_default();
    let document = match place.contains("://") {
        true => Document::Url(place),
        false => Document::Uploaded(upload(&PathBuf::from(place), connection).await?),
    };
    Ok(Source::Openapi(v1::OpenapiSource {
        document: Some(document),
        selection: Some(v1::OperationSelection {
            operations: args.operations.clone(),
            tags: args.tags.clone(),
            methods: args.methods.clone(),
            except: args.except.clone(),
        }),
        server_url: args.server.clone(),
        server_variables: BTreeMap::default(),
    }))
}

/// Hands a document in; its digest.
async fn upload(file: &Path, connection: &Connection) -> Result<String, Failure> {
    let document = std::fs::read(file).map_err(|error| Failure::file(file, &error))?;
    let parts: Vec<v1::UploadDocumentRequest> =
        document.chunks(PART).map(|part| v1::UploadDocumentRequest { data: part.to_vec().into() }).collect();
    let answer = connection.providers().upload_document(futures_util::stream::iter(parts)).await?;
    Ok(answer.into_inner().digest)
}

fn pairs<C: FromIterator<(String, String)>>(option: &str, texts: &[String]) -> Result<C, Failure> {
    let pair = |text: &String| {
        let (name, value) =
            text.split_once('=').ok_or_else(|| Failure::Usage(format!("`{option} {text}` has no `=`")))?;
        Ok((name.to_owned(), value.to_owned()))
    };
    texts.iter().map(pair).collect()
}

/// What a credential is for.
#[derive(Debug, PartialEq)]
enum Given {
    Placed(v1::CredentialUse),
    Scheme(String, String),
}

/// Credentials with the places they go to, where no document says it.
pub(super) fn placed_credentials(texts: &[String]) -> Result<Vec<v1::CredentialUse>, Failure> {
    let placed = |text: &String| match credential(text)? {
        Given::Placed(used) => Ok(used),
        Given::Scheme(..) => Err(Failure::Usage(format!("`--credential {text}`: only documents have schemes"))),
    };
    texts.iter().map(placed).collect()
}

fn credential(text: &str) -> Result<Given, Failure> {
    let wrong = || Failure::Usage(format!("`--credential {text}` is no `PLACE=NAME`, e.g. `env:TOKEN=github`"));
    let (place, name) = text.split_once('=').ok_or_else(wrong)?;
    let named = |at: &str| v1::NamedPlacement { name: at.to_owned() };
    let header = |at: &str| Spot::Header(v1::HeaderPlacement { name: at.to_owned(), prefix: None });
    let place = match place.split_once(':') {
        None if place == "authorization" => header("Authorization"),
        Some(("env", at)) => Spot::Env(named(at)),
        Some(("file", at)) => Spot::File(named(at)),
        Some(("proxy", at)) => {
            let (hosts, header) = at.rsplit_once(',').ok_or_else(wrong)?;
            let hosts = hosts.split(',').map(str::to_owned).collect();
            Spot::Proxy(v1::ProxyPlacement { hosts, name: header.to_owned(), prefix: None })
        }
        Some(("header", at)) => header(at),
        Some(("query", at)) => Spot::Query(named(at)),
        Some(("cookie", at)) => Spot::Cookie(named(at)),
        Some(("scheme", at)) => return Ok(Given::Scheme(at.to_owned(), name.to_owned())),
        _ => return Err(wrong()),
    };
    let placement = Some(v1::CredentialPlacement { place: Some(place) });
    Ok(Given::Placed(v1::CredentialUse { credential: name.to_owned(), field: None, placement }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_read() {
        let placed = |text: &str| match credential(text) {
            Ok(Given::Placed(used)) => Some((used.credential, used.placement.unwrap().place.unwrap())),
            _ => None,
        };
        let token = v1::NamedPlacement { name: "TOKEN".to_owned() };
        assert_eq!(placed("env:TOKEN=github"), Some(("github".to_owned(), Spot::Env(token))));
        let header = v1::HeaderPlacement { name: "Authorization".to_owned(), prefix: None };
        assert_eq!(placed("authorization=x"), Some(("x".to_owned(), Spot::Header(header))));
        assert_eq!(credential("scheme:key=x").ok(), Some(Given::Scheme("key".to_owned(), "x".to_owned())));
        let file = v1::NamedPlacement { name: "key.pem".to_owned() };
        assert_eq!(placed("file:key.pem=x"), Some(("x".to_owned(), Spot::File(file))));
        let hosts = ["a.example", "[::1]"].map(str::to_owned).to_vec();
        let proxy = v1::ProxyPlacement { hosts, name: "Authorization".to_owned(), prefix: None };
        assert_eq!(placed("proxy:a.example,[::1],Authorization=x"), Some(("x".to_owned(), Spot::Proxy(proxy))));
        for wrong in ["x", "token=x", "env=x", "env:x", "proxy:a.example=x"] {
            assert!(credential(wrong).is_err(), "{wrong}");
        }
    }
}
