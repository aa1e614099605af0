//! Words of the standard that real tools show and no other test does: what comes over HTTP, what files and commands leave, what is cut off.

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use toolplane_proto::v1;
use toolplane_proto::v1::content_block::Block;
use toolplane_testkit::{Options, tools};

use crate::bed::{Bed, register, surface};

/// Answers each path with what its name says.
async fn web() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut request = vec![0; 16 * 1024];
                let read = stream.read(&mut request).await.unwrap_or(0);
                let path = String::from_utf8_lossy(&request[..read]).split(' ').nth(1).unwrap_or("/").to_owned();
                let (status, headers) = match path.as_str() {
                    "/busy" => ("429 Too Many Requests", "content-type: text/plain\r\nretry-after: 0"),
                    "/film" => ("200 OK", "content-type: video/mp4"),
                    "/sound" => ("200 OK", "content-type: audio/mpeg"),
                    "/archive" => ("200 OK", "content-type: application/zip"),
                    _ => ("404 Not Found", "content-type: text/plain"),
                };
                let body = b"\x00\x01\xfe\xff not a text";
                let head = format!(
                    "HTTP/1.1 {status}\r\n{headers}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                    body.len()
                );
                let _ = stream.write_all(&[head.as_bytes(), body].concat()).await;
            });
        }
    });
    port
}

/// A tool made of an example, with another name and `change`d.
fn like(example: &str, name: &str, change: impl Fn(&mut serde_json::Value)) -> v1::ToolRegistration {
    let files = tools::example_files().unwrap();
    let file = files.into_iter().find(|file| file.ends_with(example)).unwrap();
    let own = example.trim_end_matches(".json").replace('.', "_");
    let text = std::fs::read_to_string(file).unwrap().replace(&format!("_{own}"), &format!("_{own}_{name}"));
    let mut tool: serde_json::Value = serde_json::from_str(&text).unwrap();
    tool["declaration"]["name"] = name.into();
    tool["declaration"]["aliases"] = json!([]);
    change(&mut tool);
    tools::registration(&tool.to_string()).unwrap()
}

async fn bed(port: u16) -> Bed {
    let config = format!(
        "[executor.http]\nallow = [\"127.0.0.1:{port}\", \"127.0.0.1:9\"]\n\n[objects]\nmax_bytes = 2000000\n\n\
         [[permission.rules]]\nbehavior = \"allow\"\ntool = \"*\"\nreason = \"the tests' own\"\n"
    );
    let bed = Bed::with(Options::new(config)).await;
    let retries = |tool: &mut serde_json::Value| tool["execution_profile"]["supports_retries"] = false.into();
    register(
        &bed.clients,
        vec![
            like("shell.exec.json", "kept_nowhere", |tool| {
                tool["interface"]["persistence_policy_ref"] = "never_persist".into();
                tool["interface"]["max_inline_chars"] = 1_000.into();
            }),
            like("shell.exec.json", "only_referred_to", |tool| {
                tool["interface"]["persistence_policy_ref"] = "ref_only".into();
            }),
            like("http.fetch.json", "fetch_once", retries),
        ],
    )
    .await;
    let surface_id = surface(&bed.clients).await;
    Bed { surface_id, ..bed }
}

fn class(result: &v1::ToolResult) -> &str {
    result.error.as_ref().map_or("", |error| &error.error_class)
}

#[tokio::test]
async fn what_comes_over_http_is_told_as_what_it_is() {
    let port = web().await;
    let bed = bed(port).await;
    let fetch = async |path: &str| {
        bed.call("http.fetch", json!({ "url": format!("http://127.0.0.1:{port}{path}") }).to_string()).await
    };
    let is = |result: &v1::ToolResult, wanted: fn(&Block) -> bool| {
        assert!(result.content.iter().filter_map(|block| block.block.as_ref()).any(wanted), "{:?}", result.content);
    };
    is(&fetch("/film").await, |block| matches!(block, Block::Video(_)));
    is(&fetch("/sound").await, |block| matches!(block, Block::Audio(_)));
    is(&fetch("/archive").await, |block| matches!(block, Block::File(_)));
    assert_eq!(class(&fetch("/busy").await), "rate_limited");
    let closed = bed.call("http.fetch", r#"{"url":"http://127.0.0.1:9/"}"#).await;
    assert_eq!(class(&closed), "dependency_unavailable", "{:?}", closed.error);
}

#[tokio::test]
async fn what_commands_and_files_leave_is_kept_as_their_tools_say() {
    let bed = bed(1).await;
    std::fs::write(bed.cluster.workspace().join("a.txt"), "one\ntwo\n").unwrap();
    let edit = json!({ "path": "a.txt", "old_string": "two", "new_string": "three" });
    let edited = bed.call("files.edit_file", edit.to_string()).await;
    assert!(edited.content.iter().any(|block| matches!(block.block, Some(Block::Diff(_)))), "{edited:?}");

    let many = json!({ "command": "seq 1 20000" }).to_string();
    for (tool, strategy) in [
        ("kept_nowhere", v1::PersistenceStrategy::NeverPersist),
        ("only_referred_to", v1::PersistenceStrategy::RefOnly),
    ] {
        let result = bed.call(tool, &many).await;
        let request = v1::GetPersistenceRequest { invocation_id: result.invocation_id.clone(), ..Default::default() };
        let decisions = bed.clients.invocations().get_persistence(request).await.unwrap().into_inner().decisions;
        let decision = decisions
            .iter()
            .find(|decision| decision.strategy() == strategy)
            .unwrap_or_else(|| panic!("{tool}: {decisions:?}"));
        assert_eq!(
            (decision.reason.as_str(), decision.persisted_ref.is_some()),
            ("persistence_policy", tool == "only_referred_to"),
            "{decision:?}"
        );
    }
    // However short it is, nothing of what is only referred to is shown: no summary repeats it.
    let short = bed.call("only_referred_to", &json!({ "command": "echo said to nobody" }).to_string()).await;
    assert!(!format!("{short:?}").contains("said to nobody"), "{short:?}");
    // More than the store takes: what the tool did is done.
    let large =
        bed.call("shell.exec", json!({ "command": "head -c 3000000 /dev/zero | tr '\\0' a" }).to_string()).await;
    assert_eq!(class(&large), "result_too_large", "{:?} {:?}", large.status, large.error);
}
