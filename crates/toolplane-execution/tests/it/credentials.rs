//! Credentials in calls: put in at the last moment, and never shown.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolplane_credentials::{Broker, BrokerOptions, CredentialConfig, HttpTokens};
use toolplane_execution::{Answer, Asker, Context, CredentialSource, InputQuestion, Outcome, Toolbox, ToolboxOptions};
use toolplane_openapi::bind_credentials;
use toolplane_records::credential::{CredentialPlacement, CredentialUse};
use toolplane_records::operation::OperationBinding;
use toolplane_records::profile::{ExecutionBinding, HttpBinding, ProcessBinding};

use crate::api::{Api, Reply};
use crate::http::Names;
use crate::operation::{asking, at, binding_with};
use crate::support::{Seen, call, execute, failure, origin, text, toolbox_with};

const SECRET: &str = "hunter2-swordfish/+=~";

pub(crate) fn secret(folder: &Path, name: &str, value: &str) -> String {
    use std::os::unix::fs::PermissionsExt as _;
    let path = folder.join(name);
    std::fs::write(&path, value).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    path.display().to_string()
}

pub(crate) fn configured(value: Value) -> CredentialConfig {
    serde_json::from_value(value).unwrap()
}

fn in_file(name: &str, kind: &str, path: &str) -> CredentialConfig {
    configured(json!({ "name": name, "kind": kind, "source": { "file": path }, "tools": ["*"] }))
}

pub(crate) fn broker(credentials: Vec<CredentialConfig>) -> Broker {
    let tokens = HttpTokens::new(reqwest::Client::builder().no_proxy(), |_| true).unwrap();
    Broker::new(BrokerOptions::new(credentials, Arc::new(tokens))).unwrap()
}

/// A toolbox with these credentials; what they are is known from the start.
async fn toolbox(workspace: &Path, credentials: Vec<CredentialConfig>) -> (Toolbox, Arc<CredentialSource>) {
    let broker = broker(credentials);
    broker.load().await;
    let source = Arc::new(CredentialSource::new(Arc::new(broker)));
    let mut options = ToolboxOptions::new(workspace);
    options.credentials = Arc::clone(&source);
    (toolbox_with(options, Arc::new(Names)).await, source)
}

fn schemes() -> Value {
    json!({ "securitySchemes": {
        "key": { "type": "apiKey", "in": "header", "name": "X-Key" }, "query": { "type": "apiKey", "in": "query", "name": "key" },
        "sid": { "type": "apiKey", "in": "cookie", "name": "sid" }, "login": { "type": "http", "scheme": "basic" },
        "token": { "type": "oauth2", "flows": { "clientCredentials": { "tokenUrl": "https://t.test/", "scopes": {} } } } } })
}

/// An operation that shows who asks by this scheme, bound to the credential of that name.
fn secured(server: &str, method: &str, scheme: &str, credential: &str) -> OperationBinding {
    let mut binding = binding_with(server, "/x", method, json!({ "security": [{ scheme: [] }] }), schemes());
    bind_credentials(&mut binding, &[(scheme.to_owned(), credential.to_owned())].into()).unwrap();
    binding
}

/// Everything of an outcome, as one text.
fn everything(outcome: &Outcome) -> String {
    let exact: Vec<_> = outcome.exact.iter().map(|exact| String::from_utf8_lossy(&exact.bytes).into_owned()).collect();
    let payloads = [&outcome.structured_content, &outcome.evidence];
    let payloads: Vec<_> = payloads.into_iter().flatten().map(|payload| payload.text().to_owned()).collect();
    format!("{outcome:?} {exact:?} {payloads:?}")
}

fn without(outcome: &Outcome, secret: &str) {
    let all = everything(outcome);
    let escaped: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    for form in [secret.to_owned(), STANDARD.encode(secret), escaped, STANDARD.encode(format!("bot:{secret}"))] {
        assert!(!all.contains(&form), "`{form}` is in {all}");
    }
}

#[tokio::test]
async fn each_place_gets_its_credential_and_no_output_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let key = secret(folder.path(), "key", SECRET);
    let login = secret(folder.path(), "login", &format!("bot:{SECRET}"));
    let credentials =
        vec![in_file("key", "api_key", &key), in_file("login", "basic", &login), in_file("token", "bearer", &key)];
    let (toolbox, _) = toolbox(folder.path(), credentials).await;
    // Gives back all it was sent: in the body, in headers, in Base64, with percent escapes.
    let api = Api::start(|asked, _| {
        let all = format!("{} {} {}", asked.target, asked.header("x-key"), asked.header("authorization"));
        let body = json!({ "asked": asked.headers, "all": all, "base64": STANDARD.encode(&all), SECRET: SECRET });
        let mut reply = Reply::json("200 OK", &body);
        reply.1.push(("X-Echo", asked.header("x-key").to_owned()));
        reply.1.push(("X-Echo-2", all.replace(['\r', '\n'], "")));
        reply
    })
    .await;
    let encoded = url::form_urlencoded::byte_serialize(SECRET.as_bytes()).collect::<String>();
    for (scheme, credential, header, sent) in [
        ("key", "key", "x-key", SECRET.to_owned()),
        ("token", "token", "authorization", format!("Bearer {SECRET}")),
        ("login", "login", "authorization", format!("Basic {}", STANDARD.encode(format!("bot:{SECRET}")))),
        ("sid", "key", "cookie", format!("sid={SECRET}")),
        ("query", "key", "", format!("/v1/x?key={encoded}")),
    ] {
        let outcome = execute(&toolbox, &asking(secured(&at(&api), "get", scheme, credential), "{}")).await;
        assert!(outcome.is_success(), "{scheme}: {:?}", outcome.error);
        let asked = api.last();
        let got = if header.is_empty() { &asked.target } else { asked.header(header) };
        assert_eq!(got, sent, "{scheme}");
        assert!(text(&outcome).contains("[credential "), "{}", text(&outcome));
        without(&outcome, SECRET);
    }
}

#[tokio::test]
async fn what_a_call_lacks_sends_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let key = secret(folder.path(), "key", SECRET);
    let scoped = |name: &str, scope: &str, of: &str| {
        configured(json!({ "name": name, "kind": "api_key", "source": { "file": key }, scope: [of] }))
    };
    let credentials = vec![
        in_file("gone", "api_key", &folder.path().join("gone").display().to_string()),
        scoped("other-tenant", "tenants", "acme"),
        scoped("other-actor", "actors", "bob"),
        scoped("other-tool", "tools", "test.other"),
        scoped("other-provider", "providers", "github"),
        scoped("own", "providers", "pets"),
    ];
    let (toolbox, _) = toolbox(folder.path(), credentials).await;
    let api = Api::echo().await;
    for (name, class, code) in [
        ("gone", "credential_missing", "credential.missing"),
        ("unknown", "credential_missing", "credential.missing"),
        ("other-tenant", "policy_blocked", "credential.out_of_scope"),
        ("other-actor", "policy_blocked", "credential.out_of_scope"),
        ("other-tool", "policy_blocked", "credential.out_of_scope"),
        ("other-provider", "policy_blocked", "credential.out_of_scope"),
        ("own", "policy_blocked", "credential.out_of_scope"),
    ] {
        let outcome = execute(&toolbox, &asking(secured(&at(&api), "get", "key", name), "{}")).await;
        assert_eq!(failure(&outcome), (class, code), "{name}");
        assert_eq!(outcome.error.unwrap().side_effects.as_deref(), Some("none"), "{name}");
    }
    let unbound = binding_with(&at(&api), "/x", "get", json!({ "security": [{ "key": [] }] }), schemes());
    let outcome = execute(&toolbox, &asking(unbound, "{}")).await;
    assert_eq!(failure(&outcome), ("credential_missing", "credential.missing"));
    assert_eq!(api.asked().len(), 0);
    // The id of a provider's tool says whose it is.
    let mut call = asking(secured(&at(&api), "get", "key", "own"), "{}");
    call.origin = origin("provider:pets/x", "pets.x");
    assert!(execute(&toolbox, &call).await.is_success());
}

#[tokio::test]
async fn a_rotated_secret_is_used_and_the_old_one_stays_masked() {
    let folder = tempfile::tempdir().unwrap();
    let key = secret(folder.path(), "key", SECRET);
    let (toolbox, source) = toolbox(folder.path(), vec![in_file("key", "api_key", &key)]).await;
    let api = Api::start(|asked, _| {
        let mut body = asked.headers.clone();
        body.push((SECRET.to_owned(), "the old one".to_owned()));
        Reply::json("200 OK", &json!(body))
    })
    .await;
    let call = asking(secured(&at(&api), "get", "key", "key"), "{}");
    without(&execute(&toolbox, &call).await, SECRET);
    secret(folder.path(), "key", "another-secret-22");
    let outcome = execute(&toolbox, &call).await;
    assert_eq!(api.last().header("x-key"), "another-secret-22");
    without(&outcome, SECRET);
    without(&outcome, "another-secret-22");
    // The configuration is read again: the credential has another file, and is gone at last.
    let third = secret(folder.path(), "third", "third-secret-333");
    let reloaded = |credentials| Arc::new(source.broker().unwrap().with_credentials(credentials).unwrap());
    source.replace(reloaded(vec![in_file("key", "api_key", &third)]));
    let outcome = execute(&toolbox, &call).await;
    assert_eq!(api.last().header("x-key"), "third-secret-333");
    for value in [SECRET, "another-secret-22", "third-secret-333"] {
        without(&outcome, value);
    }
    source.replace(reloaded(Vec::new()));
    assert_eq!(failure(&execute(&toolbox, &call).await).1, "credential.missing");
    assert!(!format!("{:?}", source.mask().text("third-secret-333")).contains("third-secret"));
}

/// A token server that gives `token-<n>-...`, and the credential that is had from it.
async fn token_server(folder: &Path) -> (Api, CredentialConfig) {
    let tokens = Api::start(|_, before| {
        Reply::json(
            "200 OK",
            &json!({ "access_token": format!("token-{before}-swordfish"), "token_type": "Bearer", "expires_in": 600 }),
        )
    })
    .await;
    let client = secret(folder, "client", "the-clients-own-secret");
    let token = configured(json!({ "name": "token", "kind": "bearer", "tools": ["*"], "source": {
        "oauth2_client_credentials": { "token_url": format!("http://{}/token", tokens.address), "client_id": "us",
            "client_secret": { "file": client } } } }));
    (tokens, token)
}

/// The API takes only the second token.
#[tokio::test]
async fn a_refused_token_is_renewed_and_tried_once_more_where_that_is_safe() {
    let folder = tempfile::tempdir().unwrap();
    let (tokens, token) = token_server(folder.path()).await;
    let (toolbox, _) = toolbox(folder.path(), vec![token]).await;
    let api = Api::start(|asked, _| match asked.header("authorization") {
        "Bearer token-1-swordfish" => Reply::json("200 OK", &json!(asked.headers)),
        other => Reply::json("401 Unauthorized", &json!({ "message": format!("no: {other} the-clients-own-secret") })),
    })
    .await;
    let post = execute(&toolbox, &asking(secured(&at(&api), "post", "token", "token"), "{}")).await;
    assert_eq!(failure(&post), ("credential_missing", "http.status"));
    assert_eq!((api.asked().len(), tokens.asked().len()), (1, 1), "what does something is not sent again");
    without(&post, "token-0-swordfish");
    without(&post, "the-clients-own-secret");
    let get = execute(&toolbox, &asking(secured(&at(&api), "get", "token", "token"), "{}")).await;
    assert!(get.is_success(), "{:?}", get.error);
    assert_eq!((api.asked().len(), tokens.asked().len()), (2, 2), "the refused token was dropped");
    without(&get, "token-1-swordfish");
    assert_eq!(
        tokens.last().header("authorization"),
        format!("Basic {}", STANDARD.encode("us:the-clients-own-secret"))
    );
}

#[tokio::test]
async fn a_read_is_sent_again_with_the_new_token() {
    let folder = tempfile::tempdir().unwrap();
    let (tokens, token) = token_server(folder.path()).await;
    let (toolbox, _) = toolbox(folder.path(), vec![token]).await;
    let api = Api::start(|asked, _| match asked.header("authorization") {
        "Bearer token-1-swordfish" => Reply::json("200 OK", &json!("in")),
        _ => Reply::json("401 Unauthorized", &json!({})),
    })
    .await;
    let get = execute(&toolbox, &asking(secured(&at(&api), "get", "token", "token"), "{}")).await;
    assert!(get.is_success(), "{:?}", get.error);
    assert_eq!((api.asked().len(), tokens.asked().len()), (2, 2));
}

#[tokio::test]
async fn requests_and_processes_are_given_theirs() {
    let folder = tempfile::tempdir().unwrap();
    let key = secret(folder.path(), "key", SECRET);
    let (toolbox, _) = toolbox(folder.path(), vec![in_file("key", "bearer", &key)]).await;
    let api = Api::echo().await;
    let http = HttpBinding {
        allowed_hosts: vec!["127.0.0.1".into()],
        allowed_ports: vec![api.address.port()],
        credentials: vec![CredentialUse::whole("key", CredentialPlacement::authorization())],
        ..HttpBinding::default()
    };
    let input = json!({ "url": format!("http://{}/?q={SECRET}", api.address) });
    let outcome = execute(&toolbox, &call(ExecutionBinding::Http(http), input)).await;
    assert_eq!(api.last().header("authorization"), format!("Bearer {SECRET}"));
    assert!(text(&outcome).contains("Bearer [credential key]"), "{}", text(&outcome));
    without(&outcome, SECRET);

    let variable = CredentialUse::whole("key", CredentialPlacement::Env { name: "TOKEN".into() });
    let script =
        "printf %s \"$TOKEN\" | wc -c; echo \"$TOKEN\" | tee /dev/stderr; printf %s \"$TOKEN\" | base64; exit 3";
    let argv = ["sh", "-c", script].map(str::to_owned).to_vec();
    let process = ProcessBinding { argv, credentials: vec![variable], ..ProcessBinding::default() };
    let outcome = execute(&toolbox, &call(ExecutionBinding::Process(process.clone()), json!({}))).await;
    assert!(
        text(&outcome).starts_with(&format!("{}\n[credential key]\n[credential key]", SECRET.len())),
        "{}",
        text(&outcome)
    );
    without(&outcome, SECRET);

    // What was left out begins and ends within it.
    let script = "printf %s \"$TOKEN\" > t; for i in $(seq 1 3000); do cat t; printf ' %d ' $i; done";
    let argv = ["sh", "-c", script].map(str::to_owned).to_vec();
    let long = call(ExecutionBinding::Process(ProcessBinding { argv, ..process }), json!({}));
    let mut long = long;
    long.place.sandbox_profile = Some("workspace_shell_sandbox".into());
    for kept in [4000, 4007, 4013, 4020] {
        let mut options = ToolboxOptions::new(folder.path());
        options.limits.output_kept_bytes = kept;
        let broker = broker(vec![in_file("key", "bearer", &key)]);
        options.credentials = Arc::new(CredentialSource::new(Arc::new(broker)));
        let toolbox = toolbox_with(options, Arc::new(Names)).await;
        let outcome = execute(&toolbox, &long).await;
        assert!(outcome.is_success(), "{:?}", outcome.error);
        let all = everything(&outcome);
        assert!(all.contains("bytes left out"), "{all}");
        let parts: Vec<&str> = (0..SECRET.len() - 8).map(|at| &SECRET[at..at + 8]).collect();
        assert!(!parts.iter().any(|part| all.contains(part)), "{kept}: {all}");
    }
}

#[tokio::test]
async fn a_process_finds_its_file_and_no_other_trace() {
    let folder = tempfile::tempdir().unwrap();
    let key = secret(folder.path(), "key", &format!("-----{SECRET}\n{SECRET}-----\n"));
    let login = secret(folder.path(), "login", "bot:another-swordfish");
    let (toolbox, _) =
        toolbox(folder.path(), vec![in_file("key", "raw", &key), in_file("login", "basic", &login)]).await;
    let placed = |credential: &str, name: &str, field: Option<&str>| CredentialUse {
        field: field.map(str::to_owned),
        ..CredentialUse::whole(credential, CredentialPlacement::File { name: name.into() })
    };
    let script = "cd \"$CREDENTIALS_DIRECTORY\" && pwd && ls && wc -c < key.pem && cat password; echo; cat key.pem; \
        (env; cat /proc/*/environ) 2>/dev/null | grep -c swordfish; grep -rl swordfish /tmp /workspace /dev/shm; \
        cp key.pem /workspace/copy 2>&1; touch /run/credentials/more 2>&1";
    let process = ProcessBinding {
        argv: ["sh", "-c", script].map(str::to_owned).to_vec(),
        credentials: vec![placed("key", "key.pem", None), placed("login", "password", Some("password"))],
        success_exit_codes: vec![1],
        ..ProcessBinding::default()
    };
    let workspace = tempfile::tempdir().unwrap();
    let mut asked = call(ExecutionBinding::Process(process.clone()), json!({}));
    asked.place.sandbox_profile = Some("workspace_read_only".into());
    asked.place.workspace = Some(workspace.path().to_owned());
    let outcome = execute(&toolbox, &asked).await;
    let said = text(&outcome);
    let expected = format!(
        "/run/credentials\nkey.pem\npassword\n{}\n[credential login]\n[credential key]0\n",
        2 * SECRET.len() + 12
    );
    assert!(outcome.is_success() && said.starts_with(&expected), "{said} {:?}", outcome.error);
    assert_eq!(said.matches("Read-only file system").count(), 2, "{said}");
    without(&outcome, SECRET);
    assert_eq!(std::fs::read_dir(workspace.path()).unwrap().count(), 0, "nothing of it is in the workspace");

    // A new secret is in the next run, and one that does not fit starts nothing.
    secret(folder.path(), "key", "another-secret-22");
    let argv = ["sh", "-c", "wc -c < /run/credentials/key.pem; cat /run/credentials/key.pem"].map(str::to_owned);
    let newer = ProcessBinding { argv: argv.to_vec(), success_exit_codes: Vec::new(), ..process.clone() };
    let outcome = execute(&toolbox, &call(ExecutionBinding::Process(newer), json!({}))).await;
    assert_eq!(text(&outcome), "17\n[credential key]");
    let unfit = ProcessBinding { credentials: vec![placed("key", "../key", None)], ..process };
    let outcome = execute(&toolbox, &call(ExecutionBinding::Process(unfit), json!({}))).await;
    assert_eq!(failure(&outcome).1, "credential.unfit");
}

/// Keeps what it is asked, and answers nothing.
#[derive(Default)]
struct Questions(Mutex<Vec<String>>);

impl Asker for Questions {
    fn ask(&self, question: InputQuestion) -> BoxFuture<'_, Answer> {
        self.0.lock().push(question.prompt);
        std::future::ready(Answer::Declined).boxed()
    }
}

#[tokio::test]
async fn questions_are_masked_too() {
    let folder = tempfile::tempdir().unwrap();
    let key = secret(folder.path(), "key", SECRET);
    let (toolbox, _) = toolbox(folder.path(), vec![in_file("key", "bearer", &key)]).await;
    let asked = Arc::new(Questions::default());
    let mut context = Context::new(Arc::new(Seen::default()), CancellationToken::new());
    context.asker = Arc::clone(&asked) as _;
    let input = json!({ "prompt": format!("is {SECRET} right?") });
    let call = call(crate::support::native("native.ask"), input);
    let outcome = tokio::time::timeout(Duration::from_secs(20), toolbox.execute(&call, &context)).await.unwrap();
    without(&outcome, SECRET);
    assert_eq!(*asked.0.lock(), ["is [credential key] right?"]);
}
