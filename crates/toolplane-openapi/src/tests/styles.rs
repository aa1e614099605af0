//! The table of styles of the OpenAPI Specification (3.1.1, "Style Examples"), as facts.

use serde_json::json;

use super::{ask, get, header, url};

const EMPTY: &str = r#""""#;
const TEXT: &str = r#""blue""#;
const LIST: &str = r#"["blue","black","brown"]"#;
const MAP: &str = r#"{"R":100,"G":200,"B":150}"#;

fn in_path(style: &str, explode: bool, value: &str) -> Result<String, String> {
    let parameter = json!([{ "name": "color", "in": "path", "required": true, "style": style, "explode": explode }]);
    let asked = ask(&get("/x/{color}", parameter), &format!(r#"{{"color":{value}}}"#))?;
    Ok(asked.url.path().strip_prefix("/v1/x/").unwrap().to_owned())
}

fn in_query(style: &str, explode: bool, value: &str) -> String {
    let parameter = json!([{ "name": "color", "in": "query", "style": style, "explode": explode }]);
    let url = url(&get("/x", parameter), &format!(r#"{{"color":{value}}}"#));
    url.strip_prefix("https://api.test/v1/x").unwrap().trim_start_matches('?').to_owned()
}

#[test]
fn styles_of_paths() {
    for (style, explode, text, list, map) in [
        ("matrix", false, ";color=blue", ";color=blue,black,brown", ";color=R,100,G,200,B,150"),
        ("matrix", true, ";color=blue", ";color=blue;color=black;color=brown", ";R=100;G=200;B=150"),
        ("label", false, ".blue", ".blue,black,brown", ".R,100,G,200,B,150"),
        ("label", true, ".blue", ".blue.black.brown", ".R=100.G=200.B=150"),
        ("simple", false, "blue", "blue,black,brown", "R,100,G,200,B,150"),
        ("simple", true, "blue", "blue,black,brown", "R=100,G=200,B=150"),
    ] {
        let written = [TEXT, LIST, MAP].map(|value| in_path(style, explode, value).unwrap());
        assert_eq!(written, [text, list, map], "{style} {explode}");
        // A path is one request and not another: what would make a segment disappear is refused.
        for nothing in [EMPTY, "[]", "{}", r#"[""]"#] {
            let nothing = in_path(style, explode, nothing);
            assert!(nothing.as_ref().is_err() || style != "simple", "{style} {nothing:?}");
        }
    }
}

#[test]
fn styles_of_queries() {
    for (style, explode, text, list, map) in [
        ("form", false, "color=blue", "color=blue,black,brown", "color=R,100,G,200,B,150"),
        ("form", true, "color=blue", "color=blue&color=black&color=brown", "R=100&G=200&B=150"),
        ("spaceDelimited", false, "color=blue", "color=blue%20black%20brown", "color=R%20100%20G%20200%20B%20150"),
        ("pipeDelimited", false, "color=blue", "color=blue%7Cblack%7Cbrown", "color=R%7C100%7CG%7C200%7CB%7C150"),
        (
            "deepObject",
            true,
            "color=blue",
            "color%5B0%5D=blue&color%5B1%5D=black&color%5B2%5D=brown",
            "color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150",
        ),
    ] {
        let written = [TEXT, LIST, MAP].map(|value| in_query(style, explode, value));
        assert_eq!(written, [text, list, map], "{style} {explode}");
    }
    assert_eq!(in_query("form", true, EMPTY), "color=");
    assert_eq!(in_query("form", true, "[]"), "");
    assert_eq!(in_query("form", false, "[]"), "");
    assert_eq!(
        in_query("deepObject", true, r#"{"a":{"b":[1,2]},"c":null}"#),
        "color%5Ba%5D%5Bb%5D%5B0%5D=1&color%5Ba%5D%5Bb%5D%5B1%5D=2"
    );
}

#[test]
fn styles_of_headers_and_cookies() {
    let of = |place: &str, explode: bool, style: Option<&str>, value: &str| {
        let mut parameter = json!([{ "name": "X-Color", "in": place, "explode": explode }]);
        if let Some(style) = style {
            parameter[0]["style"] = json!(style);
        }
        let asked = ask(&get("/x", parameter), &format!(r#"{{"X-Color":{value}}}"#)).unwrap();
        header(&asked, if place == "cookie" { "cookie" } else { "x-color" }).unwrap()
    };
    assert_eq!(of("header", false, None, LIST), "blue,black,brown");
    assert_eq!(of("header", false, None, MAP), "R,100,G,200,B,150");
    assert_eq!(of("header", true, None, MAP), "R=100,G=200,B=150");
    assert_eq!(of("header", false, None, r#""a b%/é""#.replace('é', "e").as_str()), "a b%/e", "nothing is encoded");
    assert_eq!(of("cookie", true, None, LIST), "X-Color=blue; X-Color=black; X-Color=brown");
    assert_eq!(of("cookie", false, None, LIST), "X-Color=blue,black,brown");
    assert_eq!(of("cookie", true, None, r#""a; b=c""#), "X-Color=a%3B%20b%3Dc");
    assert_eq!(of("cookie", true, Some("cookie"), r#""a%b""#), "X-Color=a%b");
}

#[test]
fn reserved_characters_stay_only_where_they_cannot_end_the_value() {
    let parameter = |place: &str, reserved: bool| {
        json!([{ "name": "q", "in": place, "required": true,
        "allowReserved": reserved }])
    };
    let input = r#"{"q":"a/b?c=d&e#f+g h%41:@[é"}"#;
    assert_eq!(
        url(&get("/x", parameter("query", false)), input),
        "https://api.test/v1/x?q=a%2Fb%3Fc%3Dd%26e%23f%2Bg%20h%2541%3A%40%5B%C3%A9"
    );
    assert_eq!(
        url(&get("/x", parameter("query", true)), input),
        "https://api.test/v1/x?q=a/b?c=d%26e%23f%2Bg%20h%2541:@%5B%C3%A9"
    );
    assert_eq!(
        url(&get("/x/{q}", parameter("path", true)), input),
        "https://api.test/v1/x/a%2Fb%3Fc=d%26e%23f%2Bg%20h%2541:@%5B%C3%A9"
    );
}

#[test]
fn the_whole_query_may_be_one_value() {
    let of = |kind: &str| json!([{ "name": "q", "in": "querystring", "content": { kind: { "schema": {} } } }]);
    let form = get("/x", of("application/x-www-form-urlencoded"));
    assert_eq!(url(&form, r#"{"q":{"a":"1 2","b":[1,2.50],"c":null}}"#), "https://api.test/v1/x?a=1%202&b=1&b=2.50");
    let json = get("/x", of("application/json"));
    assert_eq!(url(&json, r#"{"q":{"a":1}}"#), "https://api.test/v1/x?%7B%22a%22%3A1%7D");
    assert_eq!(url(&get("/x", of("text/plain")), r#"{"q":"a=b"}"#), "https://api.test/v1/x?a%3Db");
}

#[test]
fn a_parameter_may_be_written_as_a_media_type() {
    let parameter = json!([{ "name": "f", "in": "query", "content": { "application/json": { "schema": {} } } }]);
    let written = url(&get("/x", parameter), r#"{"f":{"a":[1, 1.0]}}"#);
    assert_eq!(written, "https://api.test/v1/x?f=%7B%22a%22%3A%5B1%2C%201.0%5D%7D");
}
