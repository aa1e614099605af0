use super::*;

fn of(text: &str) -> Result<ToolAnswer, Failure> {
    read(&Bytes::copy_from_slice(text.as_bytes()), &Limits::default())
}

#[test]
fn every_kind_of_content_is_read() {
    let answer = of(r#"{"content":[
        {"type":"text","text":"hi","annotations":{"priority":1}},
        {"type":"image","data":"AAEC","mimeType":"image/png"},
        {"type":"audio","data":"_-8","mimeType":"nonsense"},
        {"type":"resource_link","uri":"file:///a","name":"a","size":3,"mimeType":"text/plain"},
        {"type":"resource","resource":{"uri":"file:///b","text":"t"}},
        {"type":"resource","resource":{"uri":"file:///c","blob":"AA\nEC","mimeType":"x/y"}},
        {"type":"hologram","depth": 1.0},
        {"type":"image","data":"%%%"},
        7
    ],"isError":true,"structuredContent": {"n": 1e2, "big":12345678901234567890123}}"#)
    .unwrap();
    let image = |bytes: &'static [u8]| Bytes::from_static(bytes);
    assert!(answer.is_error);
    assert_eq!(answer.structured.unwrap().text(), r#"{"n": 1e2, "big":12345678901234567890123}"#);
    assert_eq!(answer.content[0], Content::Text("hi".to_owned()));
    assert_eq!(answer.content[1], Content::Image { media_type: "image/png".to_owned(), bytes: image(&[0, 1, 2]) });
    assert_eq!(answer.content[2], Content::Audio { media_type: BYTES.to_owned(), bytes: image(&[0xff, 0xef]) });
    assert!(matches!(&answer.content[3], Content::ResourceLink { size: Some(3), .. }));
    assert!(matches!(&answer.content[4], Content::Resource { body: ResourceBody::Text(text), .. } if text == "t"));
    let Content::Resource { body: ResourceBody::Blob(blob), .. } = &answer.content[5] else { panic!("a blob") };
    assert_eq!(blob, &image(&[0, 1, 2]));
    assert!(
        matches!(&answer.content[6], Content::Other { json, .. } if json.text() == r#"{"type":"hologram","depth": 1.0}"#)
    );
    assert!(matches!(&answer.content[7], Content::Other { kind, .. } if kind == "image"));
    assert!(matches!(&answer.content[8], Content::Other { .. }));
    assert_eq!(answer.notes.len(), 3);
}

#[test]
fn a_result_that_is_none_is_no_answer() {
    for (result, why) in [
        ("null", "not an object"),
        ("[]", "not an object"),
        ("{}", "no content"),
        (r#"{"content":7}"#, "not a list"),
        (r#"{"content":[],"isError":"no"}"#, "error"),
        (r#"{"content":[],"content":[]}"#, "twice"),
    ] {
        let Err(Failure::Unreadable(told)) = of(result) else { panic!("{result}") };
        assert!(told.contains(why), "{result}: {told}");
    }
    assert_eq!(of(r#"{"structuredContent":[1]}"#).unwrap().structured.unwrap().text(), "[1]");
}

#[test]
fn a_result_of_many_parts_is_cut() {
    let parts = [r#"{"type":"text","text":"x"}"#; 5].join(",");
    let limits = Limits { contents: 3, ..Limits::default() };
    let answer = read(&Bytes::from(format!(r#"{{"content":[{parts}]}}"#)), &limits).unwrap();
    assert_eq!((answer.content.len(), answer.notes.len()), (3, 1));
}

#[test]
fn results_of_both_generations_say_what_they_are() {
    for (result, expected) in [
        (r#"{"content":[]}"#, ResultKind::Complete),
        (r#"{"resultType":"complete"}"#, ResultKind::Complete),
        (r#"{"resultType":"input_required"}"#, ResultKind::InputRequired),
        (r#"{"resultType":"task"}"#, ResultKind::Other("task".to_owned())),
    ] {
        assert_eq!(kind(&Bytes::from_static(result.as_bytes())), expected);
    }
}
