//! Searching by what questions mean: tools are read in the background, once, and words alone answer where the model does not.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use toolplane_meaning::{EmbedError, Embedder, ModelId, Weights};
use toolplane_proto::v1;
use toolplane_surface::{Computed, MeaningOptions, MeaningSource, SurfaceOptions};
use toolplane_wait::eventually;

use crate::role::{PATIENCE, Role, changed, options, tool};

/// Knows which of a few things a text is about.
#[derive(Debug)]
struct Topics {
    model: ModelId,
    read: AtomicUsize,
    fails: AtomicBool,
}

const TOPICS: [&[&str]; 3] = [&["umbrella", "forecast", "rain"], &["invoice", "money", "pay"], &["picture", "photo"]];

impl Embedder for Topics {
    fn model(&self) -> &ModelId {
        &self.model
    }

    fn dimension(&self) -> usize {
        TOPICS.len() + 1
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if self.fails.load(Ordering::Relaxed) {
            return Err(EmbedError("is away".to_owned()));
        }
        self.read.fetch_add(texts.len(), Ordering::Relaxed);
        let about = |text: &str, topic: &[&str]| if topic.iter().any(|word| text.contains(word)) { 1.0 } else { 0.0 };
        let vector = |text: &&str| TOPICS.iter().map(|topic| about(text, topic)).chain([0.01]).collect();
        Ok(texts.iter().map(vector).collect())
    }
}

fn topics(revision: &str) -> Arc<Topics> {
    let model = ModelId::new("topics", revision);
    Arc::new(Topics { model, read: AtomicUsize::new(0), fails: AtomicBool::new(false) })
}

async fn start(dir: &Path, embedder: &Arc<Topics>) -> Role {
    let embedder: Arc<dyn Embedder> = embedder.clone();
    let source: Arc<dyn MeaningSource> = Arc::new(Computed::new(embedder));
    let meaning =
        Some(MeaningOptions { source, weights: Weights::default(), least_similarity: 0.5, patience: PATIENCE });
    Role::start_with(dir, SurfaceOptions { meaning, ..options() }).await
}

async fn ask(role: &Role, query: &str) -> v1::SearchResult {
    let request = v1::SearchToolsRequest { query: query.to_owned(), ..Default::default() };
    role.client.clone().search_tools(request).await.unwrap().into_inner().result.unwrap()
}

/// Waits until the model has read all tools.
async fn complete(role: &Role) {
    let read = async || (ask(role, "anything").await.meaning == "complete").then_some(());
    eventually("all tools are read", PATIENCE, read).await;
}

fn names(result: &v1::SearchResult) -> Vec<&str> {
    result.found.iter().map(|tool| tool.name.as_str()).collect()
}

fn tools() -> Vec<v1::ToolRegistration> {
    [("weather", "get", "forecast for a city"), ("books", "bill", "writes an invoice"), ("disk", "list", "lists files")]
        .map(|(namespace, name, text)| {
            changed(tool(namespace, name), |declaration| declaration.description = text.to_owned())
        })
        .to_vec()
}

#[tokio::test]
async fn a_tool_is_found_by_what_it_does_without_a_word_in_common() {
    let (dir, model) = (tempfile::tempdir().unwrap(), topics("1"));
    let role = start(dir.path(), &model).await;
    role.register(tools()).await.unwrap();
    complete(&role).await;
    let found = ask(&role, "umbrella today").await;
    assert_eq!(names(&found), ["weather.get"]);
    assert_eq!((found.found[0].why[0].how.as_str(), found.meaning.as_str()), ("meaning", "complete"));
    // Words and meaning together come before either alone, a name before both, and what is excluded stays so.
    assert_eq!(names(&ask(&role, "umbrella files").await)[0], "disk.list", "its words, and equal ones in order");
    assert_eq!(names(&ask(&role, "pay with books").await)[0], "books.bill");
    assert_eq!(names(&ask(&role, "umbrella -forecast").await), [""; 0]);
    assert_eq!(names(&ask(&role, "umbrella namespace:books").await), [""; 0]);
    let selected = ask(&role, "select:weather.get").await;
    assert_eq!((names(&selected), selected.meaning.as_str()), (vec!["weather.get"], ""));
    role.stop().await;
}

#[tokio::test]
async fn a_new_start_reads_nothing_again_and_another_model_reads_everything() {
    let (dir, model) = (tempfile::tempdir().unwrap(), topics("1"));
    let role = start(dir.path(), &model).await;
    role.register(tools()).await.unwrap();
    complete(&role).await;
    role.stop().await;
    let read_by = async |model: Arc<Topics>| {
        let role = start(dir.path(), &model).await;
        complete(&role).await;
        let before = model.read.load(Ordering::Relaxed);
        assert_eq!(names(&ask(&role, "umbrella").await), ["weather.get"]);
        role.stop().await;
        before
    };
    let questions_alone = read_by(topics("1")).await;
    let everything = read_by(topics("2")).await;
    assert!(everything >= questions_alone.min(1) + tools().len(), "{questions_alone} {everything}");
    // A tool that changes is read again, and no other one.
    let model = topics("2");
    let role = start(dir.path(), &model).await;
    complete(&role).await;
    let photo = changed(tool("disk", "list"), |declaration| declaration.description = "shows a picture".to_owned());
    role.register(vec![photo]).await.unwrap();
    let read = async || (names(&ask(&role, "photo").await) == ["disk.list"]).then_some(());
    eventually("the new text is read", PATIENCE, read).await;
    role.stop().await;
}

#[tokio::test]
async fn without_the_model_words_answer_and_say_so() {
    let (dir, model) = (tempfile::tempdir().unwrap(), topics("1"));
    let role = start(dir.path(), &model).await;
    role.register(tools()).await.unwrap();
    complete(&role).await;
    let first =
        v1::SearchToolsRequest { query: "a".to_owned() + " forecast invoice files", limit: 1, ..Default::default() };
    let page = role.client.clone().search_tools(first.clone()).await.unwrap().into_inner().result.unwrap();
    role.stop().await;
    model.fails.store(true, Ordering::Relaxed);
    let role = start(dir.path(), &model).await;
    let found = ask(&role, "umbrella forecast").await;
    assert_eq!((names(&found), found.meaning.as_str()), (vec!["weather.get"], "away"));
    let more = v1::SearchToolsRequest { page_token: page.next_page_token, ..first };
    let refused = role.client.clone().search_tools(more).await.unwrap_err();
    assert!(refused.message().contains("another order"), "{}", refused.message());
    model.fails.store(false, Ordering::Relaxed);
    complete(&role).await;
    // What was asked before is known without the model.
    assert_eq!(ask(&role, "umbrella").await.meaning, "complete");
    model.fails.store(true, Ordering::Relaxed);
    assert_eq!(
        (ask(&role, "umbrella").await.meaning, ask(&role, "rain").await.meaning),
        ("complete".into(), "away".into())
    );
    role.stop().await;
}

#[tokio::test]
async fn what_meaning_found_and_somebody_loaded_is_found_without_the_model_from_then_on() {
    let (dir, model) = (tempfile::tempdir().unwrap(), topics("1"));
    let role = start(dir.path(), &model).await;
    role.register(tools()).await.unwrap();
    complete(&role).await;
    let deferred = v1::CreateSurfaceRequest { defer_policy: v1::DeferPolicy::All.into(), ..Default::default() };
    let surface = role.surface(deferred).await.surface_id;
    assert_eq!(names(&role.search(&surface, "umbrella").await), ["weather.get"]);
    role.load(&surface, &["weather.get"]).await;
    let how = |found: &v1::SearchResult| -> Vec<String> {
        found.found.iter().flat_map(|tool| &tool.why).map(|why| why.how.clone()).collect()
    };
    let both = async || (how(&role.search(&surface, "umbrella").await) == ["use", "meaning"]).then_some(());
    eventually("use and meaning both lead there", PATIENCE, both).await;
    model.fails.store(true, Ordering::Relaxed);
    // Not the very question that was asked before: its meaning is known.
    let found = role.search(&surface, "the umbrella").await;
    assert_eq!((how(&found), found.meaning.as_str()), (vec!["use".to_owned()], "away"));
    role.stop().await;
}
