//! Who a configuration says knows what texts mean.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use toolplane_credentials::Broker;
use toolplane_egress::SystemLookup;
use toolplane_meaning::{Embedder, Weights};
use toolplane_runtime::Config;
use toolplane_runtime::config::MeaningConfig;

use super::endpoint::Endpoint;
use super::source::{Computed, MeaningSource};
use crate::error::SurfaceError;
use crate::options::MeaningOptions;

/// Reads what a start reads, and lets it go again; so a check says all that a start would. No endpoint is asked.
pub(crate) fn check(config: &Config) -> Result<(), SurfaceError> {
    read(config).map(drop)
}

/// Who knows what texts mean, when the configuration names somebody.
pub(crate) async fn open(config: &Config) -> Result<Option<MeaningOptions>, SurfaceError> {
    let whole = config.clone();
    let read = tokio::task::spawn_blocking(move || read(&whole)).await;
    let Some(source) = read.unwrap_or_else(|error| Err(refused("model", &error)))? else { return Ok(None) };
    tracing::info!(model = %source.model(), "tools are found by their meaning too");
    let config = &config.surface.search.meaning;
    Ok(Some(MeaningOptions {
        source,
        weights: Weights { words: config.words_weight, meaning: config.meaning_weight },
        least_similarity: config.least_similarity as f32 / 100.0,
        patience: Duration::from_millis(config.patience_ms.into()),
    }))
}

fn read(whole: &Config) -> Result<Option<Arc<dyn MeaningSource>>, SurfaceError> {
    let config = &whole.surface.search.meaning;
    if config.endpoint.is_some() {
        return endpoint(whole, config).map(Some).map_err(|(key, reason)| refused(key, &reason));
    }
    let Some(folder) = &config.model else { return Ok(None) };
    if cfg!(feature = "embedding-model") && !folder.is_dir() {
        return Err(refused("model", &format!("`{}` is not a folder", folder.display())));
    }
    let model = model(folder, config.threads()).map_err(|reason| refused("model", &reason))?;
    Ok(Some(Arc::new(Computed::new(model))))
}

/// The endpoint, with the one credential that is for it: no other is in this process for it.
fn endpoint(whole: &Config, config: &MeaningConfig) -> Result<Arc<dyn MeaningSource>, (&'static str, String)> {
    let broker = config.credential.as_ref().map(|name| {
        let named = whole.credentials.iter().filter(|known| known.name == *name).cloned();
        Broker::of_process(named.collect()).map_err(|fault| ("credential", fault.to_string()))
    });
    Ok(Arc::new(Endpoint::of(config, broker.transpose()?, Arc::new(SystemLookup))?))
}

fn refused(key: &'static str, reason: &impl ToString) -> SurfaceError {
    SurfaceError::Meaning { key, reason: reason.to_string() }
}

#[cfg(feature = "embedding-model")]
fn model(folder: &Path, threads: u32) -> Result<Arc<dyn Embedder>, String> {
    match toolplane_meaning::FolderModel::open(folder, threads) {
        Ok(model) => Ok(Arc::new(model)),
        Err(fault) => Err(format!("`{}`: {fault}", folder.display())),
    }
}

#[cfg(not(feature = "embedding-model"))]
fn model(folder: &Path, _: u32) -> Result<Arc<dyn Embedder>, String> {
    Err(format!("`{}` needs a build with the feature `embedding-model`", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Result<(), String> {
        let config: Config = toml::from_str(text).map_err(|error| error.to_string())?;
        config.check().map_err(|error| error.to_string())?;
        check(&config).map_err(|error| error.to_string())
    }

    #[test]
    fn a_folder_that_is_no_model_is_refused_with_its_key_and_file() {
        let dir = tempfile::tempdir().unwrap();
        let of = |folder: &Path| told(&format!("[surface.search.meaning]\nmodel = {folder:?}\n")).unwrap_err();
        assert_eq!(told(""), Ok(()));
        assert!(of(dir.path()).starts_with("`surface.search.meaning.model`: "), "{}", of(dir.path()));
        if cfg!(feature = "embedding-model") {
            assert!(of(dir.path()).contains("`config.json` is not in the folder"));
            assert!(of(&dir.path().join("nowhere")).contains("is not a folder"));
        } else {
            assert!(of(dir.path()).contains("needs a build with the feature"));
        }
    }

    #[test]
    fn an_endpoint_that_cannot_be_used_is_refused_with_its_key() {
        let endpoint = "[surface.search.meaning]\nendpoint = \"https://api.example.com/v1/embeddings\"\n";
        let named = format!("{endpoint}endpoint_model = \"m\"\n");
        let credential = |scope: &str| {
            format!(
                "{named}credential = \"key\"\n[[credentials]]\nname = \"key\"\nkind = \"bearer\"\n\
                 source = {{ env = \"KEY\" }}\n{scope}\n"
            )
        };
        assert_eq!(told(&named), Ok(()));
        assert_eq!(told(&credential("providers = [\"toolplane:embeddings\"]")), Ok(()));
        assert_eq!(told(&credential("tools = [\"*\"]")), Ok(()));
        for (text, key, rule) in [
            (endpoint.to_owned(), "endpoint_model", "is needed"),
            (endpoint.replace("https", "http"), "endpoint", "must start with `https://`"),
            (endpoint.replace("https://", "https://u:p@"), "endpoint", "must hold no user"),
            (format!("{named}model = \"/m\"\n"), "endpoint", "stands beside `model`"),
            (format!("{named}threads = 2\n"), "threads", "is for a `model`"),
            (format!("{named}endpoint_addresses = [\"ten\"]\n"), "endpoint_addresses", "is not an IP address"),
            (format!("{named}credential_header = \"api-key\"\n"), "credential_header", "is for a `credential`"),
            (format!("{named}credential_header = \"Host\"\n"), "credential_header", "header of the connection"),
            (format!("{named}credential_header = \"Transfer-encoding\"\n"), "credential_header", "of the connection"),
            (format!("{named}credential_header = \"api key\"\n"), "credential_header", "is not the name of a header"),
            (format!("{named}credential = \"key\"\n"), "credential", "is the name of no"),
            (credential("providers = [\"github\"]"), "credential", "has to fit the provider `toolplane:embeddings`"),
            (credential("tools = [\"*\"]\ntenants = [\"acme\"]"), "credential", "no tenant"),
            ("[surface.search.meaning]\ndimensions = 3\n".to_owned(), "dimensions", "is for an `endpoint`"),
            (format!("{named}batch = 0\n"), "batch", "is not between"),
        ] {
            let told = told(&text).unwrap_err();
            assert!(told.contains(&format!("`surface.search.meaning.{key}`: ")) && told.contains(rule), "{told}");
            assert!(!told.contains("u:p"), "{told}");
        }
    }
}
