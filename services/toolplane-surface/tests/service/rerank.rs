//! Searching with a service that puts what was found into order: what it may do, pages, and when it does not answer.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio_stream::wrappers::TcpListenerStream;
use tonic::transport::{Identity, ServerTlsConfig};
use tonic::{Request, Response, Status};
use toolplane_proto::v1;
use toolplane_proto::v1::rerank_service_server::{RerankService, RerankServiceServer};
use toolplane_runtime::Config;
use toolplane_testkit::redis::Certificates;
use toolplane_testkit::{binary, polyglot};

use crate::role::{Role, changed, tool};

/// What it answers.
type Rule = Box<dyn Fn(&v1::RerankRequest) -> Result<Vec<String>, Status> + Send>;

/// A reranker in this process.
#[derive(Clone)]
struct Fake(Arc<Inner>);

struct Inner {
    asked: Mutex<Vec<v1::RerankRequest>>,
    rule: Mutex<Rule>,
}

impl Fake {
    async fn start() -> (Self, String) {
        Self::listening(tonic::transport::Server::builder(), "http").await
    }

    /// The same over TLS.
    async fn over_tls(files: &Certificates) -> (Self, String) {
        let read = |file| std::fs::read(file).unwrap();
        let identity = Identity::from_pem(read(&files.server_cert), read(&files.server_key));
        let server = tonic::transport::Server::builder().tls_config(ServerTlsConfig::new().identity(identity));
        Self::listening(server.unwrap(), "https").await
    }

    async fn listening(mut server: tonic::transport::Server, scheme: &str) -> (Self, String) {
        let fake = Self(Arc::new(Inner { asked: Mutex::default(), rule: Mutex::new(Box::new(backwards)) }));
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let url = format!("{scheme}://{}", listener.local_addr().unwrap());
        let serving = server.add_service(RerankServiceServer::new(fake.clone()));
        tokio::spawn(serving.serve_with_incoming(TcpListenerStream::new(listener)));
        (fake, url)
    }

    fn rule(&self, rule: impl Fn(&v1::RerankRequest) -> Result<Vec<String>, Status> + Send + 'static) {
        *self.0.rule.lock() = Box::new(rule);
    }

    fn asked(&self) -> Vec<v1::RerankRequest> {
        self.0.asked.lock().clone()
    }
}

#[tonic::async_trait]
impl RerankService for Fake {
    async fn rerank(&self, request: Request<v1::RerankRequest>) -> Result<Response<v1::RerankResponse>, Status> {
        let request = request.into_inner();
        let order = (self.0.rule.lock())(&request);
        self.0.asked.lock().push(request);
        let ranked =
            order?.into_iter().zip(1..).map(|(tool_id, n)| v1::RankedTool { tool_id, score: 1.0 / f64::from(n) });
        Ok(Response::new(v1::RerankResponse { ranked: ranked.collect() }))
    }
}

fn backwards(request: &v1::RerankRequest) -> Result<Vec<String>, Status> {
    Ok(request.candidates.iter().rev().map(|tool| tool.tool_id.clone()).collect())
}

fn config(dir: &Path, url: &str, more: &str) -> Config {
    let text = format!(
        "[server]\ndata_dir = {dir:?}\n[surface.search.reranker]\nendpoint = {url:?}\npatience_ms = 20000\n{more}"
    );
    let config: Config = toml::from_str(&text).unwrap();
    config.check().unwrap();
    config
}

/// Tools that are found by `report`, the first ones by more of it.
async fn with_tools(config: &Config, count: usize) -> Role {
    let role = Role::configured(config).await;
    let about = |n: usize| {
        changed(tool("book", &format!("t{n}")), |declaration| {
            declaration.description = format!("report{}", " and much else that says nothing".repeat(n));
            declaration.search_hint = format!("hint {n}");
        })
    };
    role.register((0..count).map(about).collect()).await.unwrap();
    role
}

async fn ask(role: &Role, request: v1::SearchToolsRequest) -> v1::SearchResult {
    role.client.clone().search_tools(request).await.unwrap().into_inner().result.unwrap()
}

fn query(text: &str, limit: u32) -> v1::SearchToolsRequest {
    v1::SearchToolsRequest { query: text.to_owned(), limit, ..Default::default() }
}

fn names(result: &v1::SearchResult) -> Vec<&str> {
    result.found.iter().map(|tool| tool.name.as_str()).collect()
}

fn how(tool: &v1::FoundTool) -> Vec<&str> {
    tool.why.iter().map(|why| why.how.as_str()).collect()
}

#[tokio::test]
async fn it_orders_what_it_is_given_and_can_do_nothing_else() {
    let (dir, (fake, url)) = (tempfile::tempdir().unwrap(), Fake::start().await);
    let role = with_tools(&config(dir.path(), &url, "top = 4\n"), 6).await;
    let found = ask(&role, query("+report", 0)).await;
    assert_eq!(names(&found), ["book.t3", "book.t2", "book.t1", "book.t0", "book.t4", "book.t5"]);
    assert_eq!((found.reranked.as_str(), found.matches.len(), found.refs.len()), ("complete", 6, 6));
    assert_eq!((how(&found.found[1]), found.found[1].why[1].score), (vec!["word", "reranked"], 500));
    assert_eq!(how(&found.found[5]), ["word"], "it was not given");
    let asked = fake.asked().remove(0);
    assert_eq!((asked.query.as_str(), asked.candidates.len()), ("report", 4));
    assert_eq!((asked.candidates[2].name.as_str(), asked.candidates[2].hint.as_str()), ("book.t2", "hint 2"));
    // What it was not given, names twice, or leaves out.
    fake.rule(|request| {
        let third = request.candidates[2].tool_id.clone();
        Ok(vec!["tool_nobody".to_owned(), third.clone(), third])
    });
    let found = ask(&role, query("report", 0)).await;
    assert_eq!(names(&found), ["book.t2", "book.t0", "book.t1", "book.t3", "book.t4", "book.t5"]);
    assert_eq!(how(&found.found[1]), ["word"]);
    // A name that is asked for stays in front, and what there is to choose by name is not put into order.
    let found = ask(&role, query("book.t5 report", 3)).await;
    assert_eq!((names(&found)[0], found.reranked.as_str()), ("book.t5", "complete"));
    let before = fake.asked().len();
    for text in ["select:book.t1,book.t0", "namespace:book"] {
        assert_eq!(ask(&role, query(text, 0)).await.reranked, "", "{text}");
    }
    assert_eq!(fake.asked().len(), before);
    role.stop().await;
}

#[tokio::test]
async fn pages_go_on_in_the_order_of_the_first_one() {
    let (dir, (fake, url)) = (tempfile::tempdir().unwrap(), Fake::start().await);
    let role = with_tools(&config(dir.path(), &url, "top = 5\n"), 9).await;
    let all =
        |result: &v1::SearchResult| -> Vec<String> { names(result).iter().map(|name| name[6..].to_owned()).collect() };
    let mut told = Vec::new();
    let mut page = ask(&role, query("report", 2)).await;
    let second = v1::SearchToolsRequest { page_token: page.next_page_token.clone(), ..query("report", 2) };
    loop {
        told.extend(all(&page));
        assert_eq!(page.reranked, "complete");
        if page.next_page_token.is_empty() {
            break;
        }
        page = ask(&role, v1::SearchToolsRequest { page_token: page.next_page_token, ..query("report", 2) }).await;
    }
    assert_eq!(told, ["4", "3", "2", "1", "0", "5", "6", "7", "8"]);
    assert_eq!(fake.asked().len(), 1, "for the first page alone");
    // Another process goes on where one has begun, also when it has no reranker.
    role.stop().await;
    let config: Config = toml::from_str(&format!("[server]\ndata_dir = {:?}\n", dir.path())).unwrap();
    let role = Role::configured(&config).await;
    assert_eq!(all(&ask(&role, second).await), ["2", "1"]);
    assert_eq!(ask(&role, query("report", 2)).await.reranked, "");
    role.stop().await;
}

#[tokio::test]
async fn over_tls_it_has_to_be_signed_by_the_authority_that_is_configured() {
    let dir = tempfile::tempdir().unwrap();
    let files = Certificates::write(dir.path()).unwrap();
    let (fake, url) = Fake::over_tls(&files).await;
    let role = with_tools(&config(&dir.path().join("own"), &url, &format!("ca_file = {:?}\n", files.ca)), 3).await;
    assert_eq!(ask(&role, query("report", 0)).await.reranked, "complete");
    assert_eq!(fake.asked().len(), 1);
    role.stop().await;
    // Another authority has signed nothing of it.
    let other = dir.path().join("other");
    std::fs::create_dir(&other).unwrap();
    let ca = Certificates::write(&other).unwrap().ca;
    let role = with_tools(&config(&dir.path().join("else"), &url, &format!("ca_file = {ca:?}\n")), 3).await;
    assert_eq!(ask(&role, query("report", 0)).await.reranked, "away");
    assert_eq!(fake.asked().len(), 1, "nothing was sent");
    role.stop().await;
}

#[tokio::test]
async fn without_it_the_order_is_that_of_the_search() {
    let (dir, (fake, url)) = (tempfile::tempdir().unwrap(), Fake::start().await);
    fake.rule(|_| Err(Status::internal("not today")));
    let role = with_tools(&config(dir.path(), &url, ""), 4).await;
    let first = ask(&role, query("report", 2)).await;
    assert_eq!((names(&first), first.reranked.as_str()), (vec!["book.t0", "book.t1"], "away"));
    // It answers again, and the list that was begun without it goes on without it.
    fake.rule(backwards);
    let more = v1::SearchToolsRequest { page_token: first.next_page_token, ..query("report", 2) };
    let second = ask(&role, more).await;
    assert_eq!((names(&second), second.reranked.as_str()), (vec!["book.t2", "book.t3"], "away"));
    assert_eq!(ask(&role, query("report", 2)).await.reranked, "complete");
    role.stop().await;
}

/// The example in Python; killed when dropped.
struct Example(Child, String);

impl Example {
    fn start(token: &str) -> Self {
        let folder = binary::root().join("sdk/python");
        let mut command = Command::new(polyglot::python().unwrap());
        command.env("PYTHONPATH", folder.join("src")).arg(folder.join("examples/rerank.py")).args(["0", token]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").unwrap().to_owned();
        Self(child, format!("http://{address}"))
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn the_example_in_python_orders_with_the_token_it_wants() {
    let dir = tempfile::tempdir().unwrap();
    let token = dir.path().join("token");
    std::fs::write(&token, "a-token-of-the-example\n").unwrap();
    let example = Example::start("a-token-of-the-example");
    let role = with_tools(&config(dir.path(), &example.1, &format!("token_file = {token:?}\n")), 3).await;
    // Every word of it is on one tool alone, whose text is the longest.
    let found = ask(&role, query("report hint 2", 0)).await;
    assert_eq!((names(&found)[0], found.reranked.as_str()), ("book.t2", "complete"));
    assert_eq!(found.found[0].why.last().unwrap().score, 1_000);
    role.stop().await;
}
