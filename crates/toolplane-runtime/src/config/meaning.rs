//! `[surface.search.meaning]`: who knows what texts mean.

use std::net::IpAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use toolplane_credentials::{CredentialConfig, is_private};
use toolplane_records::credential::check_header;
use url::Url;

/// Largest weight of an order, in percent.
const MAX_WEIGHT: u32 = 1_000;
/// A question waits for a model at most so long.
const MAX_PATIENCE_MS: u32 = 60_000;
/// Most threads of a model. With more, it takes longer to share out the work than to do it.
const MAX_THREADS: u32 = 64;
/// Most numbers of a vector.
const MAX_DIMENSIONS: u32 = 8_192;
/// Most texts of one request; what endpoints take.
const MAX_BATCH: u32 = 256;
/// A request about tools may take so long.
const MAX_TIMEOUT_MS: u32 = 300_000;
/// Longest name of a model, and of a header.
const MAX_NAME: usize = 200;

/// Who knows what texts mean: a model in a folder (which needs a build with the feature `embedding-model`), or an endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct MeaningConfig {
    /// Folder with `config.json`, `tokenizer.json` and `model.safetensors` of a sentence encoder of the BERT family. Nothing is
    /// downloaded.
    pub model: Option<PathBuf>,
    /// Instead of `model`: address of an embedding endpoint that speaks as OpenAI's does (`https://api.example.com/v1/embeddings`). Plain
    /// `http` only on loopback. What tools are called and do, and what is asked, is sent there.
    pub endpoint: Option<String>,
    /// What the endpoint calls the model.
    pub endpoint_model: Option<String>,
    /// How many numbers the endpoint is to give, from 1 to 8,192, where its model can give fewer; all, when it is not set.
    pub dimensions: Option<u32>,
    /// The name of a `[[credentials]]` that is shown to the endpoint. Its scope has to fit the provider `toolplane:embeddings`.
    pub credential: Option<String>,
    /// The header it is shown in; `Authorization` when it is not set.
    pub credential_header: Option<String>,
    /// Addresses that the endpoint's name may stand for although they are not public.
    pub endpoint_addresses: Vec<String>,
    /// Most texts of one request to the endpoint, from 1 to 256.
    pub batch: u32,
    /// How long a request about tools may take, in milliseconds, from 1 to 300,000.
    pub timeout_ms: u32,
    /// What the order by words counts, in percent; at most 1,000.
    pub words_weight: u32,
    /// What the order by meaning counts, in percent; at most 1,000.
    pub meaning_weight: u32,
    /// Tools that are less near a question than this, in percent, are not found by its meaning. Models differ in what is near.
    pub least_similarity: u32,
    /// How long a question waits, in milliseconds, from 1 to 60,000; it is answered by words alone then.
    pub patience_ms: u32,
    /// Threads the model of a folder computes with, from 1 to 64: a quarter of the processors, and at least one, when it is not set.
    pub threads: Option<u32>,
}

impl Default for MeaningConfig {
    fn default() -> Self {
        Self {
            model: None,
            endpoint: None,
            endpoint_model: None,
            dimensions: None,
            credential: None,
            credential_header: None,
            endpoint_addresses: Vec::new(),
            batch: 64,
            timeout_ms: 30_000,
            words_weight: 100,
            meaning_weight: 100,
            least_similarity: 20,
            patience_ms: 1_000,
            threads: None,
        }
    }
}

/// A key of the section, and the rule it breaks.
type Fault = (&'static str, String);

fn fault(key: &'static str, rule: impl Into<String>) -> Result<(), Fault> {
    Err((key, rule.into()))
}

impl MeaningConfig {
    /// Threads the model computes with.
    pub fn threads(&self) -> u32 {
        self.threads.unwrap_or_else(|| {
            let processors = std::thread::available_parallelism().map_or(1, usize::from);
            u32::try_from(processors / 4).unwrap_or(MAX_THREADS).clamp(1, MAX_THREADS)
        })
    }

    /// Checks this section, and that the credential it names is one of `credentials`; the first broken rule.
    pub(super) fn check(&self, credentials: &[CredentialConfig]) -> Result<(), Fault> {
        self.check_ranges()?;
        match (&self.model, &self.endpoint) {
            (Some(_), Some(_)) => fault("endpoint", "stands beside `model`: who knows what texts mean is one of them"),
            (_, None) => self.check_without_endpoint(),
            (None, Some(url)) => self.check_endpoint(url, credentials),
        }
    }

    fn check_ranges(&self) -> Result<(), Fault> {
        let ranges = [
            ("words_weight", Some(self.words_weight), 0, MAX_WEIGHT),
            ("meaning_weight", Some(self.meaning_weight), 0, MAX_WEIGHT),
            ("least_similarity", Some(self.least_similarity), 0, 100),
            ("patience_ms", Some(self.patience_ms), 1, MAX_PATIENCE_MS),
            ("threads", self.threads, 1, MAX_THREADS),
            ("dimensions", self.dimensions, 1, MAX_DIMENSIONS),
            ("batch", Some(self.batch), 1, MAX_BATCH),
            ("timeout_ms", Some(self.timeout_ms), 1, MAX_TIMEOUT_MS),
        ];
        for (key, value, least, most) in ranges {
            if let Some(value) = value.filter(|value| !(least..=most).contains(value)) {
                return fault(key, format!("`{value}` is not between {least} and {most}"));
            }
        }
        Ok(())
    }

    fn check_without_endpoint(&self) -> Result<(), Fault> {
        let given = [
            ("endpoint_model", self.endpoint_model.is_some()),
            ("dimensions", self.dimensions.is_some()),
            ("credential", self.credential.is_some()),
            ("credential_header", self.credential_header.is_some()),
            ("endpoint_addresses", !self.endpoint_addresses.is_empty()),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((key, _)) => fault(key, "is for an `endpoint`, and there is none"),
            None => Ok(()),
        }
    }

    fn check_endpoint(&self, url: &str, credentials: &[CredentialConfig]) -> Result<(), Fault> {
        // The address may have a key in its query, so it is not repeated.
        let Ok(url) = Url::parse(url) else { return fault("endpoint", "is not a URL") };
        if url.host_str().is_none_or(str::is_empty) {
            return fault("endpoint", "names no host");
        }
        if !is_private(&url) {
            return fault("endpoint", "must start with `https://`, or with `http://` on loopback");
        }
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return fault("endpoint", "must hold no user, password or fragment; secrets are `[[credentials]]`");
        }
        let is_name = |name: &String| !name.trim().is_empty() && name.len() <= MAX_NAME;
        if !self.endpoint_model.as_ref().is_some_and(is_name) {
            return fault("endpoint_model", format!("is needed with `endpoint`: 1 to {MAX_NAME} characters"));
        }
        if self.threads.is_some() {
            return fault("threads", "is for a `model` in a folder");
        }
        if let Some(wrong) = self.endpoint_addresses.iter().find(|address| address.parse::<IpAddr>().is_err()) {
            return fault("endpoint_addresses", format!("`{wrong}` is not an IP address"));
        }
        if let Some(header) = &self.credential_header
            && let Err(why) = check_header(header)
        {
            return fault("credential_header", format!("{header:?} {why}"));
        }
        match &self.credential {
            None if self.credential_header.is_some() => fault("credential_header", "is for a `credential`"),
            Some(name) if !credentials.iter().any(|known| known.name == *name) => {
                fault("credential", format!("`{name}` is the name of no `[[credentials]]`"))
            }
            _ => Ok(()),
        }
    }
}
