//! Reading many texts, of which some may be refused: those are found, and hold back no other.

use std::ops::Range;

use toolplane_meaning::Quantised;

use super::source::{MeaningSource, Purpose, Unread};

/// What no model refuses. Whoever refuses it refuses everything, and the text that was refused before is not at fault.
const HARMLESS: &str = "tool";

/// What came out of one text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Made {
    /// Its vector; none where it says nothing to the model.
    Vector(Option<Quantised>),
    /// It is refused, whatever is read beside it.
    Refused(String),
}

/// What came out of texts, in their order.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// None of those that were not come to.
    pub(super) made: Vec<Option<Made>>,
    /// Why not all of them were.
    pub(super) away: Option<Unread>,
}

/// Reads texts together; where that is refused, each half by itself, down to the texts that are at fault.
pub(super) async fn each(source: &dyn MeaningSource, texts: &[String]) -> Outcome {
    let mut outcome = Outcome { made: vec![None; texts.len()], away: None };
    let mut ranges = Vec::from([Range { start: 0, end: texts.len() }]);
    let mut takes_any = false;
    while let Some(range) = ranges.pop() {
        let some = texts.get(range.clone()).unwrap_or_default().to_vec();
        let reason = match source.read(some, Purpose::Tools).await {
            Ok(vectors) => {
                takes_any = true;
                let places = outcome.made.get_mut(range).into_iter().flatten();
                places.zip(vectors).for_each(|(place, vector)| *place = Some(Made::Vector(vector)));
                continue;
            }
            Err(Unread::Refused { reason }) => reason,
            Err(away) => return Outcome { away: Some(away), ..outcome },
        };
        if !takes_any {
            match source.read(vec![HARMLESS.to_owned()], Purpose::Tools).await {
                Ok(_) => takes_any = true,
                Err(Unread::Refused { reason }) => {
                    return Outcome { away: Some(Unread::Away { reason, after: None }), ..outcome };
                }
                Err(away) => return Outcome { away: Some(away), ..outcome },
            }
        }
        let middle = range.start + range.len() / 2;
        match range.len() {
            0 | 1 => {
                let places = outcome.made.get_mut(range).into_iter().flatten();
                places.for_each(|place| *place = Some(Made::Refused(reason.clone())));
            }
            _ => ranges.extend([middle..range.end, range.start..middle]),
        }
    }
    outcome
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use toolplane_meaning::{EmbedError, Embedder, ModelId};

    use super::super::source::Computed;
    use super::*;

    /// Reads all but texts with one of these words.
    #[derive(Debug)]
    struct Picky(ModelId, &'static [&'static str]);

    impl Embedder for Picky {
        fn model(&self) -> &ModelId {
            &self.0
        }

        fn dimension(&self) -> usize {
            1
        }

        fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
            match texts.iter().any(|text| self.1.iter().any(|word| text.contains(word))) {
                true => Err(EmbedError("takes no such text".to_owned())),
                false => Ok(vec![vec![1.0]; texts.len()]),
            }
        }
    }

    async fn refused(words: &'static [&'static str], texts: &[&str]) -> (Vec<usize>, bool) {
        let source = Computed::new(Arc::new(Picky(ModelId::new("picky", "1"), words)));
        let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let outcome = each(&source, &texts).await;
        let refused = |made: &Option<Made>| matches!(made, Some(Made::Refused(_)));
        let places = (0..texts.len()).filter(|at| refused(&outcome.made[*at]));
        assert!(outcome.away.is_some() || outcome.made.iter().all(Option::is_some));
        (places.collect(), outcome.away.is_some())
    }

    #[tokio::test]
    async fn texts_at_fault_are_found_and_hold_back_no_other() {
        let texts = ["a", "bad", "c", "d", "e", "bad too", "g"];
        assert_eq!(refused(&["bad"], &texts).await, (vec![1, 5], false));
        assert_eq!(refused(&["bad"], &["bad"]).await, (vec![0], false));
        assert_eq!(refused(&["bad"], &[]).await, (vec![], false));
    }

    #[tokio::test]
    async fn who_refuses_everything_is_away_and_no_text_is_at_fault() {
        assert_eq!(refused(&[""], &["a", "b", "c"]).await, (vec![], true));
    }
}
