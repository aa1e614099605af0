//! How far a call is, in numbers that only grow.

use serde_json::{Value, json};

/// The least a number grows by where a tool says something and is no further; sums of it are exact.
const LEAST: f64 = 1.0 / 512.0;
/// What a tool that counts in percent counts to.
const ALL: f64 = 100.0;

/// What was told last.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    last: Option<f64>,
    said: Option<String>,
    /// The tool says how much there is in all.
    in_percent: bool,
}

impl Progress {
    /// What is told of a progress record of a call; nothing where it says nothing new.
    pub(crate) fn next(&mut self, record: &Value) -> Option<Value> {
        let percent = record.get("percent").and_then(Value::as_f64);
        let said = record.get("message").and_then(Value::as_str).filter(|said| !said.is_empty());
        self.in_percent |= percent.is_some();
        let progress = match (percent, self.last) {
            (Some(percent), None) => percent,
            (Some(percent), Some(last)) if percent > last => percent,
            (None, None) => 0.0,
            (None, Some(last)) if !self.in_percent => last + 1.0,
            // It is no further, but it says something new; at its end there is no room for that.
            (_, Some(last)) if last + LEAST < ALL && said.is_some() && said != self.said.as_deref() => last + LEAST,
            _ => return None,
        };
        self.last = Some(progress);
        self.said = said.map(str::to_owned);
        let mut told = json!({ "progress": progress });
        if self.in_percent {
            told["total"] = ALL.into();
        }
        if let Some(said) = said {
            told["message"] = said.into();
        }
        Some(told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_only_grows() {
        let mut progress = Progress::default();
        let records = [
            json!({ "percent": 0 }),
            json!({ "percent": 50, "message": "half" }),
            json!({ "percent": 50, "message": "still half" }),
            json!({ "percent": 40 }),
            json!({ "message": "nearly" }),
            json!({ "message": "nearly" }),
            json!({ "percent": 100 }),
            json!({ "percent": 100, "message": "done" }),
        ];
        let told: Vec<Value> = records.iter().filter_map(|record| progress.next(record)).collect();
        let numbers: Vec<f64> = told.iter().map(|told| told["progress"].as_f64().unwrap()).collect();
        assert_eq!(numbers, [0.0, 50.0, 50.0 + LEAST, 50.0 + 2.0 * LEAST, 100.0]);
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(told.iter().all(|told| told["total"] == 100.0));
        let mut counted = Progress::default();
        assert_eq!(counted.next(&json!({ "message": "a" })), Some(json!({ "progress": 0.0, "message": "a" })));
        assert_eq!(counted.next(&json!({})), Some(json!({ "progress": 1.0 })));
    }
}
