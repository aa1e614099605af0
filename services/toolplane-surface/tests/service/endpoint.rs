//! Searching by what questions mean, asked of an endpoint over HTTP: its credential, texts it refuses, and when it is busy or away.

#[path = "endpoint/fake.rs"]
mod fake;

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use toolplane_proto::v1;
use toolplane_runtime::Config;
use toolplane_wait::eventually;

use crate::role::{PATIENCE, Role, changed, tool};
use fake::Fake;

fn config(dir: &Path, fake: &Fake, more: &str) -> Config {
    let text = format!(
        "[server]\ndata_dir = {dir:?}\n[surface.search.meaning]\nendpoint = \"{}?key=of-the-query\"\n\
         endpoint_model = \"small\"\nleast_similarity = 50\npatience_ms = 60000\n{more}",
        fake.url()
    );
    let config: Config = toml::from_str(&text).unwrap();
    config.check().unwrap();
    config
}

async fn ask(role: &Role, query: &str) -> v1::SearchResult {
    role.search("default", query).await
}

async fn complete(role: &Role) {
    let read = async || (ask(role, "anything").await.meaning == "complete").then_some(());
    eventually("all tools are read", PATIENCE, read).await;
}

fn names(result: &v1::SearchResult) -> Vec<&str> {
    result.found.iter().map(|tool| tool.name.as_str()).collect()
}

fn about(namespace: &str, name: &str, text: &str) -> v1::ToolRegistration {
    changed(tool(namespace, name), |declaration| declaration.description = text.to_owned())
}

fn tools() -> Vec<v1::ToolRegistration> {
    vec![
        about("weather", "get", "forecast for a city"),
        about("books", "bill", "writes an invoice"),
        about("disk", "list", "lists files"),
    ]
}

fn put(file: &Path, secret: &str) {
    let beside = file.with_extension("new");
    std::fs::write(&beside, secret).unwrap();
    std::fs::set_permissions(&beside, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::fs::rename(beside, file).unwrap();
}

#[tokio::test]
async fn it_is_asked_with_its_credential_and_nothing_is_asked_twice() {
    let (dir, fake) = (tempfile::tempdir().unwrap(), Fake::start().await);
    let key = dir.path().join("key");
    put(&key, "first-secret");
    let config = config(
        dir.path(),
        &fake,
        &format!(
            "dimensions = 4\ncredential = \"embeddings\"\n[[credentials]]\nname = \"embeddings\"\nkind = \"bearer\"\n\
             source = {{ file = {key:?} }}\nproviders = [\"toolplane:embeddings\"]\n"
        ),
    );
    let role = Role::configured(&config).await;
    role.register(tools()).await.unwrap();
    complete(&role).await;
    let found = ask(&role, "umbrella today").await;
    assert_eq!((names(&found), found.meaning.as_str()), (vec!["weather.get"], "complete"));
    let asked = fake.asked();
    assert!(asked.iter().all(|one| one.authorization == "Bearer first-secret"), "{asked:?}");
    assert!(asked.iter().all(|one| one.body.model == "small" && one.body.dimensions == Some(4)));
    assert!(asked[0].line.starts_with("POST /v1/embeddings?key=of-the-query "), "{}", asked[0].line);
    // A question that was asked before is not asked again, and a new secret is taken when the old one is refused.
    assert_eq!(names(&ask(&role, "umbrella today").await), ["weather.get"]);
    assert_eq!(fake.asked().len(), asked.len());
    fake.rule(|asked| (asked.authorization != "Bearer second-secret").then_some((401, "")));
    put(&key, "second-secret");
    assert_eq!(names(&ask(&role, "money").await), ["books.bill"]);
    role.stop().await;
    // A new start reads no tool again.
    let before = fake.asked().len();
    let role = Role::configured(&config).await;
    complete(&role).await;
    let texts: Vec<String> = fake.asked().split_off(before).into_iter().flat_map(|one| one.body.input).collect();
    assert_eq!(texts, ["anything"]);
    role.stop().await;
}

#[tokio::test]
async fn a_text_that_is_refused_holds_back_no_other_one() {
    let (dir, fake) = (tempfile::tempdir().unwrap(), Fake::start().await);
    fake.rule(|asked| asked.body.input.iter().any(|text| text.contains("poison")).then_some((400, "")));
    let role = Role::configured(&config(dir.path(), &fake, "")).await;
    let some = tools().into_iter().chain([about("garden", "spray", "poison for rain forests")]);
    role.register(some.collect()).await.unwrap();
    complete(&role).await;
    assert_eq!(names(&ask(&role, "umbrella").await), ["weather.get"]);
    assert_eq!(names(&ask(&role, "poison").await), ["garden.spray"], "by its words");
    assert_eq!(ask(&role, "poison").await.meaning, "away", "the question is refused too");
    // Its new text is read.
    role.register(vec![about("garden", "spray", "a picture")]).await.unwrap();
    let read = async || (names(&ask(&role, "photo").await) == ["garden.spray"]).then_some(());
    eventually("the new text is read", PATIENCE, read).await;
    role.stop().await;
}

#[tokio::test]
async fn who_is_busy_or_away_is_asked_again_and_words_answer_meanwhile() {
    let (dir, fake) = (tempfile::tempdir().unwrap(), Fake::start().await);
    let times = AtomicUsize::new(0);
    fake.rule(move |asked| match asked.body.input.iter().any(|text| text.contains("files")) {
        true if times.fetch_add(1, Ordering::Relaxed) == 0 => Some((429, "retry-after: 1\r\n")),
        _ => None,
    });
    let role = Role::configured(&config(dir.path(), &fake, "")).await;
    role.register(tools()).await.unwrap();
    complete(&role).await;
    fake.rule(|_| Some((503, "retry-after: 3600\r\n")));
    let found = ask(&role, "umbrella forecast").await;
    assert_eq!((names(&found), found.meaning.as_str()), (vec!["weather.get"], "away"));
    // It wants to be left alone, and is.
    let before = fake.asked().len();
    assert_eq!(ask(&role, "money").await.meaning, "away");
    assert_eq!(fake.asked().len(), before);
    role.stop().await;
}

#[tokio::test]
async fn vectors_that_are_not_as_they_were_are_not_believed() {
    let (dir, fake) = (tempfile::tempdir().unwrap(), Fake::start().await);
    let role = Role::configured(&config(dir.path(), &fake, "dimensions = 3\n")).await;
    role.register(tools()).await.unwrap();
    let found = ask(&role, "umbrella forecast").await;
    assert_eq!((names(&found), found.meaning.as_str()), (vec!["weather.get"], "away"));
    role.stop().await;
}
