use super::*;

fn evidence() -> Evidence {
    Evidence {
        native_ids: NativeIds::default(),
        server: ServerShown { name: "s".to_owned(), version: "1".to_owned() },
        protocol: "2025-06-18".to_owned(),
        era: Era::Initialized,
        session_id: None,
        refs: refs("s a", "1", Some("x"), &[2, 3]),
        request_ids: vec![3],
        progress: 0,
        progress_left_out: 0,
        questions: 0,
        retried: false,
        ended: None,
        violations: Vec::new(),
        notes: Vec::new(),
    }
}

fn text(text: &str) -> Content {
    Content::Text(text.to_owned())
}

fn image(bytes: &'static [u8]) -> Content {
    Content::Image { media_type: "image/png".to_owned(), bytes: Bytes::from_static(bytes) }
}

fn of(content: Vec<Content>) -> Outcome {
    outcome(ToolAnswer { content, ..ToolAnswer::default() }, None, evidence())
}

fn texts(outcome: &Outcome) -> Vec<&str> {
    let mut texts = Vec::new();
    for block in &outcome.content {
        if let ContentBlock::Text { text } = block {
            texts.push(text.as_str());
        }
    }
    texts
}

#[test]
fn texts_alone_need_no_bytes_beside_them() {
    let outcome = of(vec![text("a"), text(""), text("b")]);
    assert_eq!((texts(&outcome), outcome.exact.len(), outcome.output_bytes), (vec!["a", "b"], 0, 2));
    let evidence = outcome.evidence.as_ref().unwrap().text();
    assert_eq!(
        evidence,
        r#"{"server":{"name":"s","version":"1"},"protocol":"2025-06-18","era":"initialized","refs":["mcp.server:s_a/1","mcp.session:x","mcp.request:3"],"request_ids":[3],"progress":0}"#
    );
    assert_eq!(of(Vec::new()).content, [ContentBlock::Empty]);
}

/// The reporter gives each exact part to the first text that is left, so there is one for every text, in order.
#[test]
fn bytes_stand_beside_the_text_they_belong_to() {
    let outcome = of(vec![text("before"), text(""), image(b"\x89PNG"), text("after"), image(b"2")]);
    assert_eq!(texts(&outcome), ["before", "[image: image/png, 4 bytes]", "after", "[image: image/png, 1 bytes]"]);
    let exact: Vec<_> =
        outcome.exact.iter().map(|exact| (exact.media_type.as_str(), &exact.bytes[..], exact.is_text)).collect();
    let plain = "text/plain; charset=utf-8";
    assert_eq!(
        exact,
        [
            (plain, &b"before"[..], true),
            ("image/png", b"\x89PNG", false),
            (plain, b"after", true),
            ("image/png", b"2", false),
        ]
    );
}

#[test]
fn resources_are_links_and_what_is_in_them() {
    let uri = || "file:///a".to_owned();
    let outcome = of(vec![
        Content::ResourceLink {
            uri: uri(),
            name: "a".to_owned(),
            title: None,
            description: Some("what".to_owned()),
            media_type: None,
            size: Some(7),
        },
        Content::Resource { uri: uri(), media_type: None, body: ResourceBody::Text("hello".to_owned()) },
        Content::Resource { uri: uri(), media_type: None, body: ResourceBody::Blob(Bytes::from_static(b"\0")) },
    ]);
    let links: Vec<_> = outcome
        .content
        .iter()
        .filter_map(|block| match block {
            ContentBlock::ResourceLink { resource } => Some((resource.uri.as_str(), resource.size_bytes)),
            _ => None,
        })
        .collect();
    assert_eq!(links, [("file:///a", Some(7))]);
    assert_eq!(texts(&outcome), ["a: what"]);
    let embedded = |media_type: &str, text: Option<&str>| ContentBlock::EmbeddedResource {
        uri: uri(),
        media_type: media_type.to_owned(),
        text: text.map(str::to_owned),
        payload: None,
    };
    assert_eq!(outcome.content[2..], [embedded("", Some("hello")), embedded("application/octet-stream", None)]);
    assert_eq!(outcome.exact[1].bytes, Bytes::from_static(b"\0"));
}

#[test]
fn a_tool_that_failed_keeps_what_it_said() {
    let structured = Some(JsonPayload::from_checked(r#"{"a": 1e2}"#));
    let answer = ToolAnswer { is_error: true, content: vec![text("no such file")], structured, notes: Vec::new() };
    let outcome = outcome(answer, None, evidence());
    let error = outcome.error.as_ref().unwrap();
    assert_eq!((error.error_code.as_str(), error.error_class.as_str()), ("mcp.tool_failed", "execution_failed"));
    assert_eq!(error.message, "the tool says that it failed: no such file");
    assert_eq!(texts(&outcome), ["no such file"]);
    assert_eq!(outcome.structured_content.unwrap().text(), r#"{"a": 1e2}"#);
}

#[test]
fn structured_content_alone_is_shown_as_it_is() {
    let structured = Some(JsonPayload::from_checked(r#"{"b":1,"a":2}"#));
    let outcome = outcome(ToolAnswer { structured, ..ToolAnswer::default() }, None, evidence());
    assert_eq!(texts(&outcome), [r#"{"b":1,"a":2}"#]);
}

#[test]
fn more_than_is_taken_is_a_failure() {
    let content = vec![text("abcdef")];
    let outcome = outcome(ToolAnswer { content, ..ToolAnswer::default() }, Some(5), evidence());
    assert_eq!(outcome.error.unwrap().error_class.as_str(), "result_too_large");
    assert_eq!((outcome.content.len(), outcome.output_bytes), (0, 6));
}
