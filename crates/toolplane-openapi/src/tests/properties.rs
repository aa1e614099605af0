//! What holds for every value.

use proptest::prelude::*;
use serde_json::json;

use super::{ask, get};

proptest! {
    /// A text in a path is one segment that says exactly that text, or is refused.
    #[test]
    fn a_path_says_exactly_the_value(text in "\\PC{0,12}|[./%\\\\;=?#]{0,6}") {
        let operation = get("/a/{id}/b", json!([{ "name": "id", "in": "path", "required": true }]));
        let input = json!({ "id": text }).to_string();
        match ask(&operation, &input) {
            Ok(asked) => {
                let segments: Vec<String> = asked.url.path_segments().unwrap().map(str::to_owned).collect();
                prop_assert_eq!(segments.len(), 4);
                let said = percent_encoding::percent_decode_str(&segments[2]).decode_utf8().unwrap().into_owned();
                prop_assert_eq!(said, text);
                prop_assert_eq!(asked.url.query(), None);
            }
            Err(_) => prop_assert!(matches!(text.as_str(), "" | "." | ".."), "{}", text),
        }
    }

    /// Texts in a query come out again as any server reads them, in their order and no others.
    #[test]
    fn a_query_says_exactly_the_values(texts in proptest::collection::vec("\\PC{0,12}", 0..5),
        name in "[a-z\\[\\]&=#+ é]{1,8}") {
        let operation = get("/x", json!([{ "name": name, "in": "query" }]));
        let field = operation.binding.parameters[0].input[0].clone();
        let asked = ask(&operation, &json!({ field: texts }).to_string()).unwrap();
        let read: Vec<(String, String)> = asked.url.query_pairs().into_owned().collect();
        let expected: Vec<(String, String)> = texts.iter().map(|text| (name.clone(), text.clone())).collect();
        prop_assert_eq!(read, expected);
        prop_assert_eq!(asked.url.path(), "/v1/x");
    }

    /// A form comes out again as any server reads it.
    #[test]
    fn a_form_says_exactly_the_values(texts in proptest::collection::vec("\\PC{0,12}", 1..5)) {
        let schema = json!({ "type": "object", "properties": { "a b": { "type": "array" } } });
        let operation = super::post("application/x-www-form-urlencoded", json!({ "schema": schema }));
        let asked = ask(&operation, &json!({ "a b": texts }).to_string()).unwrap();
        let body = asked.body.unwrap();
        let read: Vec<(String, String)> = url::form_urlencoded::parse(&body).into_owned().collect();
        prop_assert_eq!(read, texts.into_iter().map(|text| ("a b".to_owned(), text)).collect::<Vec<_>>());
    }
}
