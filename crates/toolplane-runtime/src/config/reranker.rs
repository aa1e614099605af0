//! `[surface.search.reranker]`: a service that puts what was found into a better order.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::hooks::{ServiceFault, check_service};

/// A question waits for a reranker at most so long.
const MAX_PATIENCE_MS: u32 = 60_000;
/// Most tools it is given: more than a page can have are in front of nobody.
const MAX_TOP: u32 = 100;

/// A `RerankService`, asked about the best of what was found; off without an `endpoint`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct RerankerConfig {
    /// Where it is: `https://`, or `http://` on loopback.
    pub endpoint: Option<String>,
    /// File whose first line is the bearer token shown to it.
    pub token_file: Option<PathBuf>,
    /// Authority that signed its certificate (PEM); `peers.ca_file` when absent.
    pub ca_file: Option<PathBuf>,
    /// How long a question waits for it, in milliseconds, from 1 to 60,000; what was found stays in its order then.
    pub patience_ms: u32,
    /// Most tools it is given, from 2 to 100: the best ones. Those behind them stay behind them.
    pub top: u32,
}

impl Default for RerankerConfig {
    fn default() -> Self {
        Self { endpoint: None, token_file: None, ca_file: None, patience_ms: 500, top: 50 }
    }
}

impl RerankerConfig {
    /// How long a question waits for it.
    pub fn patience(&self) -> Duration {
        Duration::from_millis(self.patience_ms.into())
    }

    /// Checks this section: a key of it, and the rule that is broken.
    pub(super) fn check(&self, peers_ca: bool) -> Result<(), (&'static str, String)> {
        for (key, value, least, most) in
            [("patience_ms", self.patience_ms, 1, MAX_PATIENCE_MS), ("top", self.top, 2, MAX_TOP)]
        {
            if !(least..=most).contains(&value) {
                return Err((key, format!("`{value}` is not between {least} and {most}")));
            }
        }
        let Some(url) = &self.endpoint else {
            let given = [("token_file", self.token_file.is_some()), ("ca_file", self.ca_file.is_some())];
            let lost = given.into_iter().find(|(_, given)| *given);
            return lost.map_or(Ok(()), |(key, _)| Err((key, "is for an `endpoint`, and there is none".to_owned())));
        };
        check_service(url, self.ca_file.is_some() || peers_ca).map_err(|fault| match fault {
            ServiceFault::Url(rule) => ("endpoint", rule),
            ServiceFault::Ca(rule) => ("ca_file", rule),
        })
    }
}
