//! What an endpoint answers, and whether it can be believed.

use reqwest::Response;
use serde::Deserialize;
use toolplane_meaning::Quantised;

/// Most numbers of a vector.
const MOST_NUMBERS: usize = 8_192;
/// Bytes a number takes at most, with what stands between it and the next one.
const NUMBER_BYTES: usize = 32;
/// Bytes beside the numbers.
const SLACK: usize = 64 * 1024;
/// Largest answer.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// What was answered.
#[derive(Debug)]
pub(super) struct Answer {
    /// A vector of each text, in their order.
    pub(super) vectors: Vec<Option<Quantised>>,
    /// Tokens it counts.
    pub(super) tokens: u64,
}

/// Why an answer is of no use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum BadAnswer {
    #[error("broke off")]
    BrokeOff,
    #[error("gives an answer that is larger than vectors of {MOST_NUMBERS} numbers")]
    TooLarge,
    #[error("gives an answer that is not a list of vectors")]
    NotVectors,
    #[error("gives {given} vectors for {asked} texts")]
    Count { given: usize, asked: usize },
    #[error("does not say which vector is of which text")]
    Order,
    #[error("gives a number that is none")]
    NotANumber,
    #[error("gives vectors of {0} numbers and of {1}")]
    Uneven(usize, usize),
    #[error("gives vectors of {given} numbers, and `dimensions` is {asked}")]
    Dimensions { given: usize, asked: u32 },
}

#[derive(Deserialize)]
struct Told {
    data: Vec<One>,
    #[serde(default)]
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct One {
    #[serde(default)]
    index: Option<usize>,
    embedding: Vec<f32>,
}

#[derive(Default, Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    total_tokens: Option<u64>,
}

/// Reads the answer about so many texts.
pub(super) async fn read(mut response: Response, texts: usize, dimensions: Option<u32>) -> Result<Answer, BadAnswer> {
    let numbers = dimensions.map_or(MOST_NUMBERS, |count| count as usize);
    let most = (texts * numbers * NUMBER_BYTES + SLACK).min(MOST_BYTES);
    let mut body = Vec::new();
    while let Some(part) = response.chunk().await.map_err(|_| BadAnswer::BrokeOff)? {
        if body.len() + part.len() > most {
            return Err(BadAnswer::TooLarge);
        }
        body.extend_from_slice(&part);
    }
    check(&body, texts, dimensions)
}

fn check(body: &[u8], texts: usize, dimensions: Option<u32>) -> Result<Answer, BadAnswer> {
    let told: Told = serde_json::from_slice(body).map_err(|_| BadAnswer::NotVectors)?;
    if told.data.len() != texts {
        return Err(BadAnswer::Count { given: told.data.len(), asked: texts });
    }
    let first = told.data.first().map_or(0, |one| one.embedding.len());
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; texts];
    for (place, one) in told.data.into_iter().enumerate() {
        if one.embedding.len() != first {
            return Err(BadAnswer::Uneven(first, one.embedding.len()));
        }
        if one.embedding.iter().any(|number| !number.is_finite()) {
            return Err(BadAnswer::NotANumber);
        }
        let free = vectors.get_mut(one.index.unwrap_or(place)).filter(|vector| vector.is_none());
        *free.ok_or(BadAnswer::Order)? = Some(one.embedding);
    }
    match dimensions {
        Some(asked) if texts > 0 && first != asked as usize => {
            return Err(BadAnswer::Dimensions { given: first, asked });
        }
        _ if texts > 0 && !(1..=MOST_NUMBERS).contains(&first) => return Err(BadAnswer::NotVectors),
        _ => {}
    }
    let usage = told.usage.unwrap_or_default();
    let tokens = usage.total_tokens.or(usage.prompt_tokens).unwrap_or_default();
    Ok(Answer { vectors: vectors.iter().map(|one| Quantised::of(one.as_deref()?)).collect(), tokens })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_believed_is_refused() {
        let fault = |body: &str, texts, dimensions| check(body.as_bytes(), texts, dimensions).unwrap_err();
        assert_eq!(fault("[]", 1, None), BadAnswer::NotVectors);
        assert_eq!(
            fault(r#"{"data":[{"embedding":"AAAA"}]}"#, 1, None),
            BadAnswer::NotVectors,
            "base64 was not asked for"
        );
        assert_eq!(fault(r#"{"data":[{"embedding":[]}]}"#, 1, None), BadAnswer::NotVectors);
        assert_eq!(fault(r#"{"data":[]}"#, 2, None), BadAnswer::Count { given: 0, asked: 2 });
        let large = fault(r#"{"data":[{"embedding":[1e39]}]}"#, 1, None);
        assert!(matches!(large, BadAnswer::NotANumber | BadAnswer::NotVectors), "{large}");
        assert_eq!(fault(r#"{"data":[{"embedding":[1]},{"embedding":[1,2]}]}"#, 2, None), BadAnswer::Uneven(1, 2));
        let two = |one: u32, other: u32| {
            format!(r#"{{"data":[{{"index":{one},"embedding":[1]}},{{"index":{other},"embedding":[2]}}]}}"#)
        };
        assert_eq!(fault(&two(0, 0), 2, None), BadAnswer::Order);
        assert_eq!(fault(&two(0, 2), 2, None), BadAnswer::Order);
        assert_eq!(fault(&two(0, 1), 2, Some(3)), BadAnswer::Dimensions { given: 1, asked: 3 });
    }

    #[test]
    fn vectors_are_in_the_order_of_their_index_and_tokens_are_counted() {
        let body =
            r#"{"data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[3,0]}],"usage":{"prompt_tokens":7}}"#;
        let answer = check(body.as_bytes(), 2, Some(2)).unwrap();
        assert_eq!(answer.vectors, [Quantised::of(&[1.0, 0.0]), Quantised::of(&[0.0, 1.0])]);
        assert_eq!(answer.tokens, 7);
        assert_eq!(check(br#"{"data":[{"embedding":[0,0]}]}"#, 1, None).unwrap().vectors, [None], "says nothing");
    }
}
