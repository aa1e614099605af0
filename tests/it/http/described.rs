//! The description of the API: valid by a judge that is not ours, and readable as what it describes.

use std::process::Command;

use serde_json::json;
use toolplane_testkit::{Cluster, Options, polyglot};

use super::{Http, bed};
use crate::bed::RULES;
use crate::shell::Shell;

async fn document(http: &Http) -> String {
    let answer = http.client.get(format!("{}/v1/openapi.json", http.base)).send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 200);
    answer.text().await.unwrap()
}

#[tokio::test]
async fn the_document_is_valid_and_open_to_everybody() {
    let cluster = Cluster::start(Options::new(RULES).http()).await.unwrap();
    let http = Http::of(&cluster.http().unwrap());
    let file = cluster.folder().join("openapi.json");
    std::fs::write(&file, document(&http).await).unwrap();
    let validator = |file: &std::path::Path| {
        let mut command = Command::new(polyglot::python().unwrap());
        command.args(["-m", "openapi_spec_validator", "--schema", "3.1"]).arg(file).output().unwrap()
    };
    let judged = validator(&file);
    assert!(judged.status.success(), "{}", String::from_utf8_lossy(&judged.stdout));
    // The judge can say no.
    let broken = std::fs::read_to_string(&file).unwrap().replacen("\"responses\"", "\"answers\"", 1);
    std::fs::write(&file, broken.replacen("\"paths\"", "\"roads\": 1, \"paths\"", 1)).unwrap();
    assert!(!validator(&file).status.success(), "a document that is none");

    let post = http.request("openapi.json").send().await.unwrap();
    assert_eq!((post.status().as_u16(), post.headers()["allow"].as_bytes()), (405, &b"GET, HEAD"[..]));
    let hidden = format!("{RULES}\n[server]\nreflection = false\n");
    let cluster = Cluster::start(Options::new(hidden).http()).await.unwrap();
    let http = Http::of(&cluster.http().unwrap());
    let answer = http.client.get(format!("{}/v1/openapi.json", http.base)).send().await.unwrap();
    assert_eq!(answer.status().as_u16(), 404, "what is not reflected is not described");
}

/// A cluster whose tools are the methods of another one: whoever reads OpenAPI can call it.
#[tokio::test]
async fn our_own_importer_reads_it_and_calls_it() {
    let (_bed, http) = bed().await;
    let host = http.base.trim_start_matches("http://");
    let config = format!(
        "[executor.http]\nallow = [\"{host}\"]\n\n[[permission.rules]]\nbehavior = \"allow\"\ntool = \"*\"\nreason = \"a test\"\n"
    );
    let importing = Cluster::start(Options::new(config).http()).await.unwrap();
    let file = importing.folder().join("openapi.json");
    std::fs::write(&file, document(&http).await).unwrap();
    let shell = Shell::at(importing.endpoint());
    let file = file.display().to_string();
    let said =
        shell.says(0, &["providers", "add", "plane", "--openapi", &file, "--server", &http.base, "--trust", "all"]);
    assert!(said.contains("plane"), "{said}");
    let outer = Http::of(&importing.http().unwrap());
    let call = json!({ "spec": { "tool_name": "native.echo", "model_input": { "through": "two" } } });
    let spec = json!({ "spec": { "tool_name": "plane.Call", "model_input": call } });
    let answer = toolplane_wait::eventually("the tools of the provider", crate::bed::PATIENCE, async || {
        let answer = outer.good("call", spec.clone()).await;
        answer["result"]["status"].eq("succeeded").then_some(answer)
    })
    .await;
    assert!(answer.to_string().contains(r#""through":"two""#), "{answer}");
}
